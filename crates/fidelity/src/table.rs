//! The outcome of a row: a table, in the terminal and in the document.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use jiff::Zoned;
use kvdyno_model::text::counted_as;

use crate::tries::RowProgress;

/// One target, held against what was measured.
#[derive(Clone, Debug)]
pub struct FidelityLine {
    /// The target.
    pub target: String,
    /// How many tries the figure is from.
    pub tries: usize,
    /// The figure, in words.
    pub figure: String,
    /// Its bound, in words; empty where there is no target.
    pub bound: String,
    /// Whether it is met.
    pub is_met: bool,
}

impl FidelityLine {
    /// A figure that nothing is held against.
    pub fn without_target(target: String, tries: usize, figure: String) -> FidelityLine {
        FidelityLine { target, tries, figure, bound: String::new(), is_met: true }
    }
}

/// All targets of a row, with the program that they are of.
#[derive(Debug)]
pub struct FidelityTable {
    lines: Vec<FidelityLine>,
    day: String,
    /// As the program names it.
    commit: String,
    progress: RowProgress,
}

impl FidelityTable {
    /// A table of these lines, dated today, of the program of a commit.
    pub fn new(lines: Vec<FidelityLine>, commit: &str, progress: RowProgress) -> FidelityTable {
        let day = Zoned::now().strftime("%Y-%m-%d").to_string();
        FidelityTable { lines, day, commit: commit.to_owned(), progress }
    }

    /// Whether all tries are there.
    pub fn is_complete(&self) -> bool {
        self.progress.left == 0
    }

    /// Whether every target is met.
    pub fn is_met(&self) -> bool {
        self.lines.iter().all(|line| line.is_met)
    }

    /// Puts it between the two marks that a document has for the row `name`. A table that is not complete says so, and
    /// replaces none that is; returns whether it was written.
    pub fn write_into(&self, document: &Path, name: &str) -> io::Result<bool> {
        let begin = format!("<!-- {name}: begin, written by make fidelity -->\n");
        let end = format!("<!-- {name}: end -->\n");
        let text = fs::read_to_string(document)?;
        let parts = text.split_once(&begin).and_then(|(head, rest)| Some((head, rest.split_once(&end)?)));
        let Some((head, (before, tail))) = parts else {
            return Err(io::Error::other(format!("{} has no marks for {name}", document.display())));
        };
        let may_replace = self.is_complete() || before.trim().is_empty() || before.contains(PARTIAL);
        if may_replace && self.progress.there() > 0 {
            fs::write(document, format!("{head}{begin}\n{self}\n{end}{tail}"))?;
            return Ok(true);
        }
        Ok(false)
    }

    /// How many tries there are.
    fn tries(&self) -> String {
        let there = self.progress.there();
        match self.progress.left {
            0 => counted_as(there, "try", "tries"),
            left => format!("{PARTIAL}{there} of {} tries", there + left),
        }
    }

    fn met(&self, line: &FidelityLine) -> &'static str {
        match (self.is_complete(), line.is_met) {
            _ if line.bound.is_empty() => "",
            (true, true) => "yes",
            (true, false) => "**no**",
            (false, true) => "so far",
            (false, false) => "not so far",
        }
    }
}

/// The mark of a table that is not complete.
const PARTIAL: &str = "partial: ";

/// In Markdown, which is legible as it is.
impl fmt::Display for FidelityTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = env!("CARGO_PKG_VERSION");
        writeln!(f, "{}, kvdyno {version}, commit {}, {}:\n", self.day, self.commit, self.tries())?;
        writeln!(f, "| target | tries | figure | bound | met |")?;
        writeln!(f, "| --- | ---: | --- | --- | --- |")?;
        self.lines.iter().try_for_each(|line| {
            let met = self.met(line);
            writeln!(f, "| {} | {} | {} | {} | {met} |", line.target, line.tries, line.figure, line.bound)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(is_met: bool) -> FidelityLine {
        let (target, figure, bound) = ("mean".to_owned(), "1 ns".to_owned(), "3 ns".to_owned());
        FidelityLine { target, tries: 5, figure, bound, is_met }
    }

    const COMMIT: &str = "1a2b3c4d5e6f-changed";

    fn table(left: u32) -> FidelityTable {
        FidelityTable::new(vec![line(true), line(false)], COMMIT, RowProgress { kept: 3, done: 4, left })
    }

    #[test]
    fn a_figure_without_a_target_is_neither_met_nor_missed() {
        let figure = FidelityLine::without_target("of these bdb".to_owned(), 25, "5 of 25".to_owned());
        let table = FidelityTable::new(vec![figure], COMMIT, RowProgress { kept: 1, done: 0, left: 0 });
        assert!(table.is_met());
        let row = "| of these bdb | 25 | 5 of 25 |  |  |\n";
        assert!(table.to_string().ends_with(row), "{table}");
    }

    #[test]
    fn a_table_replaces_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let document = folder.path().join("x.md");
        let marks = "<!-- accuracy: begin, written by make fidelity -->\nold\n<!-- accuracy: end -->\n";
        fs::write(&document, format!("head\n{marks}tail\n")).unwrap();
        let table = table(0);
        assert!(table.write_into(&document, "accuracy").unwrap());
        assert!(table.write_into(&document, "accuracy").unwrap());
        let text = fs::read_to_string(&document).unwrap();
        assert!(text.starts_with("head\n") && text.ends_with("tail\n") && !text.contains("old"), "{text}");
        assert_eq!(text.matches("| mean | 5 | 1 ns | 3 ns | yes |").count(), 1, "{text}");
        assert!(text.contains("**no**") && !table.is_met() && table.write_into(&document, "other").is_err());
    }

    #[test]
    fn its_line_names_the_commit_and_the_tries() {
        let said = |left| table(left).to_string().lines().next().unwrap().to_owned();
        let line = format!(", kvdyno {}, commit {COMMIT}, 7 tries:", env!("CARGO_PKG_VERSION"));
        assert!(said(0).ends_with(&line));
        assert!(said(5).ends_with(", partial: 7 of 12 tries:"));
    }

    #[test]
    fn a_partial_table_says_so_and_replaces_no_complete_one() {
        let folder = tempfile::tempdir().unwrap();
        let document = folder.path().join("x.md");
        fs::write(&document, "<!-- x: begin, written by make fidelity -->\n<!-- x: end -->\n").unwrap();
        let text = || fs::read_to_string(&document).unwrap();
        let none = FidelityTable { progress: RowProgress { left: 9, ..RowProgress::default() }, ..table(9) };
        assert!(!none.write_into(&document, "x").unwrap());
        assert!(table(2).write_into(&document, "x").unwrap() && table(1).write_into(&document, "x").unwrap());
        assert!(text().contains("partial: 7 of 8 tries") && text().contains("| so far |") && !text().contains("yes"));
        assert!(text().contains("| not so far |") && !table(1).is_complete());
        assert!(table(0).write_into(&document, "x").unwrap() && !text().contains("partial"));
        assert!(!table(1).write_into(&document, "x").unwrap() && !text().contains("partial"));
    }
}
