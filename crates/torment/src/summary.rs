//! The outcome: a table, in the terminal and in the document.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use jiff::Zoned;
use kvdyno_model::text::of_the_rest;
use serde::{Deserialize, Serialize};

/// Misses that are shown of a line; the others are counted.
const MOST_SHOWN: usize = 10;
const BEGIN: &str = "<!-- last run: begin, written by make torment -->\n";
const END: &str = "<!-- last run: end -->\n";

/// One sort of torment.
#[derive(Serialize, Deserialize)]
pub struct TormentLine {
    /// The torment.
    pub what: String,
    /// How often.
    pub done: u64,
    /// A remark beside the numbers.
    pub remark: String,
    /// The misses, each in a sentence.
    pub misses: Vec<String>,
}

/// All of it.
pub struct TormentSummary {
    lines: Vec<TormentLine>,
    seed: u64,
    day: String,
}

impl TormentSummary {
    /// The summary of these lines, with today's date.
    pub fn new(lines: Vec<TormentLine>, seed: u64) -> TormentSummary {
        TormentSummary { lines, seed, day: Zoned::now().strftime("%Y-%m-%d").to_string() }
    }

    /// Whether nothing was missed.
    pub fn is_clean(&self) -> bool {
        self.lines.iter().all(|line| line.misses.is_empty())
    }

    /// Puts it between the two marks of a document.
    ///
    /// # Errors
    /// If the document is not there, or has no marks.
    pub fn write_into(&self, document: &Path) -> io::Result<()> {
        let text = fs::read_to_string(document)?;
        let parts = text.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
        let Some((head, tail)) = parts else {
            return Err(io::Error::other(format!("{} has no marks for the last run", document.display())));
        };
        fs::write(document, format!("{head}{BEGIN}\n{self}\n{END}{tail}"))
    }
}

/// In Markdown, which is legible as it is.
impl fmt::Display for TormentSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, kvdyno {}, seed {}:\n", self.day, env!("CARGO_PKG_VERSION"), self.seed)?;
        writeln!(f, "| torment | times | missed | |")?;
        writeln!(f, "| --- | ---: | ---: | --- |")?;
        for line in &self.lines {
            writeln!(f, "| {} | {} | {} | {} |", line.what, line.done, line.misses.len(), line.remark)?;
        }
        for line in self.lines.iter().filter(|line| !line.misses.is_empty()) {
            writeln!(f, "\n{}:\n", line.what)?;
            line.misses.iter().take(MOST_SHOWN).try_for_each(|miss| writeln!(f, "- {miss}"))?;
            f.write_str(&of_the_rest(line.misses.len(), MOST_SHOWN, |more| format!("- and {more} more\n")))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(misses: &[&str]) -> TormentLine {
        let misses = misses.iter().map(|miss| (*miss).to_owned()).collect();
        TormentLine { what: "files".to_owned(), done: 5, remark: "sound".to_owned(), misses }
    }

    #[test]
    fn a_miss_is_told_and_not_clean() {
        let summary = TormentSummary::new(vec![line(&[]), line(&["number 3 panicked"])], 1);
        assert!(!summary.is_clean() && TormentSummary::new(vec![line(&[])], 1).is_clean());
        let text = summary.to_string();
        assert!(text.contains("| files | 5 | 1 | sound |") && text.contains("- number 3 panicked"), "{text}");
    }

    #[test]
    fn the_last_run_replaces_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let document = folder.path().join("x.md");
        fs::write(&document, format!("head\n{BEGIN}old\n{END}tail\n")).unwrap();
        let summary = TormentSummary::new(vec![line(&[])], 1);
        summary.write_into(&document).unwrap();
        summary.write_into(&document).unwrap();
        let text = fs::read_to_string(&document).unwrap();
        assert!(text.starts_with("head\n") && text.ends_with("tail\n") && !text.contains("old"), "{text}");
        assert_eq!(text.matches("| files | 5 |").count(), 1);
        fs::write(&document, "no marks").unwrap();
        assert!(summary.write_into(&document).is_err());
    }
}
