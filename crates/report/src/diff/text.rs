//! The diff for people: a sentence for each cell.

use kvdyno_analysis::verdicts::{Looks, Verdict};
use kvdyno_model::text::{capital, plain};

use super::{Diff, DiffCell};
use crate::order::distinct;
use crate::verdicts::{per_cent, reservations, sentence_of_change};

pub(super) fn render(diff: &Diff) -> String {
    let mut lines = sides(diff);
    lines.push(String::new());
    lines.extend(diff.cells.iter().map(line));
    lines.extend([String::new(), interval(diff)]);
    lines.extend(diff.notes.iter().map(|note| format!("- {note}")));
    lines.push(format!("{}.", capital(&diff.outcome().words(diff.cells.len()))));
    lines.iter().map(|line| plain(line) + "\n").collect()
}

/// Both, in the order in which they came.
pub(super) fn sides(diff: &Diff) -> Vec<String> {
    let before = distinct(diff.cells.iter().map(|cell| cell.before.described()));
    let after = distinct(diff.cells.iter().map(|cell| cell.after.described()));
    let line =
        |word: &str, all: Vec<String>| all.into_iter().map(move |one| format!("{word} {one}")).collect::<Vec<_>>();
    [line("before:", before), line("after: ", after)].concat()
}

fn line(cell: &DiffCell) -> String {
    let end = match cell.comparison.verdict {
        Verdict::CannotTell => String::new(),
        _ => format!(": {}", cell.verdict()),
    };
    format!("{}: {}{end}", cell.work, said(cell))
}

/// The comparison in a sentence, with what was not steady.
pub(super) fn said(cell: &DiffCell) -> String {
    let sides = [&cell.after, &cell.before].into_iter().filter(|side| side.is_unsteady);
    let names: Vec<&str> = sides.map(|side| side.name.as_str()).collect();
    let sentence = sentence_of_change(cell.verb, (&cell.after.name, &cell.before.name), &cell.comparison);
    sentence + &reservations(&cell.comparison, &names)
}

/// The meaning of an interval here.
pub(super) fn interval(diff: &Diff) -> String {
    let over = match diff.is_paired {
        true => "over repeats that were measured beside each other",
        false => {
            "over repeats of either run; they were not measured beside each other, so that whatever else changed \
                  between the two runs is in the ratio"
        }
    };
    let many = if diff.cells.len() > 1 { ", adjusted for the number of cells (Holm)" } else { "" };
    let often = if diff.terms.looks == Looks::AfterEach { " It holds however often one looked." } else { "" };
    let detect = per_cent(diff.terms.detect);
    let same = format!("What differs by less than {detect} % is the same.");
    format!("In brackets the 95 % interval of the ratio {over}{many}.{often} {same}")
}
