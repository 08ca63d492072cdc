//! No line is wider than `CONTRIBUTING.md` says.

#![allow(clippy::unwrap_used)]

use kvdyno_gates::repository::{File, files};

/// Columns, of characters.
const WIDTH: usize = 120;

/// Files that are not laid out by hand: figures and texts that programs print or read, drawings, licences, and the
/// page's templates, whose white space is the page's.
const DATA: [&str; 9] = ["snap", "csv", "svg", "json", "lock", "sum", "html", "css", "mod"];

/// Files that `make docs-tables` writes.
const WRITTEN: [&str; 2] = ["docs/engines/checks.md", "docs/engines/settings.md"];

fn is_laid_out(file: &File) -> bool {
    !file.is_any_of(&DATA)
        && !WRITTEN.contains(&file.path.as_str())
        && !file.path.starts_with("LICENSE")
        && !file.path.starts_with("tests/inputs/")
}

/// A row of a table, a line with an address, and what a program printed, in an inline snapshot.
fn cannot_be_broken(file: &File, line: &str) -> bool {
    let start = line.trim_start();
    let is_row = file.is_any_of(&["md"]) && start.starts_with('|');
    let is_snapshot = file.is_any_of(&["rs"]) && (start.starts_with('×') || line.contains("assert_snapshot!("));
    is_row || is_snapshot || line.contains("://")
}

#[test]
fn no_line_is_wider_than_the_style_allows() {
    let mut wide = Vec::new();
    for file in files().iter().filter(|file| is_laid_out(file)) {
        let lines = file.lines().filter(|(_, line)| line.chars().count() > WIDTH && !cannot_be_broken(file, line));
        wide.extend(lines.map(|(number, line)| format!("{}:{number}: {} columns", file.path, line.chars().count())));
    }
    assert!(
        wide.is_empty(),
        "lines of more than {WIDTH} columns; tables, addresses and data may:\n{}",
        wide.join("\n")
    );
}
