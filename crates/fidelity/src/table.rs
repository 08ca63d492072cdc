//! The outcome of a row: a table, in the terminal and in the document.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use jiff::Zoned;

/// One target, held against what was measured.
#[derive(Clone, Debug)]
pub struct FidelityLine {
    /// The target.
    pub target: String,
    /// How many tries the figure is from.
    pub tries: usize,
    /// The figure, in words.
    pub figure: String,
    /// Its bound, in words.
    pub bound: String,
    /// Whether it is met.
    pub is_met: bool,
}

/// All targets of a row.
#[derive(Debug)]
pub struct FidelityTable {
    lines: Vec<FidelityLine>,
    day: String,
}

impl FidelityTable {
    /// A table of these lines, dated today.
    pub fn new(lines: Vec<FidelityLine>) -> FidelityTable {
        FidelityTable { lines, day: Zoned::now().strftime("%Y-%m-%d").to_string() }
    }

    /// Whether every target is met.
    pub fn is_met(&self) -> bool {
        self.lines.iter().all(|line| line.is_met)
    }

    /// Puts it between the two marks that a document has for the row `name`.
    pub fn write_into(&self, document: &Path, name: &str) -> io::Result<()> {
        let begin = format!("<!-- {name}: begin, written by make fidelity -->\n");
        let end = format!("<!-- {name}: end -->\n");
        let text = fs::read_to_string(document)?;
        let parts = text.split_once(&begin).and_then(|(head, rest)| Some((head, rest.split_once(&end)?.1)));
        let Some((head, tail)) = parts else {
            return Err(io::Error::other(format!("{} has no marks for {name}", document.display())));
        };
        fs::write(document, format!("{head}{begin}\n{self}\n{end}{tail}"))
    }
}

/// In Markdown, which is legible as it is.
impl fmt::Display for FidelityTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, kvdyno {}:\n", self.day, env!("CARGO_PKG_VERSION"))?;
        writeln!(f, "| target | tries | figure | bound | met |")?;
        writeln!(f, "| --- | ---: | --- | --- | --- |")?;
        self.lines.iter().try_for_each(|line| {
            let met = if line.is_met { "yes" } else { "**no**" };
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

    #[test]
    fn a_table_replaces_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let document = folder.path().join("x.md");
        let marks = "<!-- accuracy: begin, written by make fidelity -->\nold\n<!-- accuracy: end -->\n";
        fs::write(&document, format!("head\n{marks}tail\n")).unwrap();
        let table = FidelityTable::new(vec![line(true), line(false)]);
        table.write_into(&document, "accuracy").unwrap();
        table.write_into(&document, "accuracy").unwrap();
        let text = fs::read_to_string(&document).unwrap();
        assert!(text.starts_with("head\n") && text.ends_with("tail\n") && !text.contains("old"), "{text}");
        assert_eq!(text.matches("| mean | 5 | 1 ns | 3 ns | yes |").count(), 1, "{text}");
        assert!(text.contains("**no**") && !table.is_met() && table.write_into(&document, "other").is_err());
    }
}
