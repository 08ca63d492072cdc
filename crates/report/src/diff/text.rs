//! The diff for people: a sentence for each cell, the worse ones last, and the outcome where a terminal shows it.

use kvdyno_analysis::verdicts::Verdict;
use kvdyno_model::text::{capital, plain};

use super::cells::DiffCell;
use super::{Diff, SidesOf};
use crate::order::distinct;
use crate::verdicts::{but, closing, per_cent, procedure, reservations, sentence_of_change};

pub(super) fn render(diff: &Diff) -> String {
    let mut lines = sides(diff);
    lines.push(diff.setting.join(" · "));
    lines.extend([String::new(), interval(diff)]);
    lines.extend(diff.notes.iter().map(|note| format!("- {note}")));
    lines.push(String::new());
    let mut cells: Vec<&DiffCell> = diff.cells.iter().collect();
    cells.sort_by_key(|cell| (cell.compared.figure() == diff.figure, weight(cell)));
    lines.extend(cells.into_iter().map(|cell| line(diff, cell)));
    lines.extend([String::new(), format!("{}.", outcome(diff))]);
    lines.extend(diff.help().map(|help| format!("{}.", capital(&help))));
    lines.push(format!("again: {}", diff.again));
    lines.iter().map(|line| plain(line) + "\n").collect()
}

/// How much a verdict weighs with a reader who looks for what became worse.
fn weight(cell: &DiffCell) -> u8 {
    match cell.comparison.verdict {
        Verdict::Same => 0,
        Verdict::CannotTell => 1,
        Verdict::Faster => 2,
        Verdict::Slower => 3,
    }
}

/// Both, in the order in which they came.
pub(super) fn sides(diff: &Diff) -> Vec<String> {
    let before = distinct(diff.cells.iter().map(|cell| cell.before.described()));
    let after = distinct(diff.cells.iter().map(|cell| cell.after.described()));
    let line =
        |word: &str, all: Vec<String>| all.into_iter().map(move |one| format!("{word} {one}")).collect::<Vec<_>>();
    [line("before:", before), line("after: ", after)].concat()
}

/// The outcome in a few words, with the figure that it is of: `Worse in 1 of 2 cells by throughput`.
pub(super) fn outcome(diff: &Diff) -> String {
    let cells = diff.deciding().count();
    format!("{} by {}", capital(&diff.outcome().words(cells)), diff.figure.name())
}

fn line(diff: &Diff, cell: &DiffCell) -> String {
    let end = match cell.comparison.verdict {
        Verdict::CannotTell => String::new(),
        _ if cell.compared.figure() != diff.figure => String::new(),
        _ => format!(": {}", cell.verdict()),
    };
    format!("{}, by {}: {}{end}", cell.work, cell.figure, said(cell))
}

/// The comparison in a sentence, with what speaks against it.
pub(super) fn said(cell: &DiffCell) -> String {
    let sides = [&cell.after, &cell.before].map(|side| (side.name.as_str(), &side.weaknesses[..]));
    let against = cell.against.as_deref().unwrap_or_default();
    let put_off = [&cell.after, &cell.before].map(|side| (side.name.as_str(), side.put_off));
    let closing = closing(cell.compared, put_off, &cell.comparison);
    let procedure = procedure(&cell.comparison);
    format!("{}{against}{procedure}{closing}{}", sentence(cell), reservations(cell.compared, sides))
}

fn sentence(cell: &DiffCell) -> String {
    sentence_of_change(cell.predicate, (&cell.after.name, &cell.before.name), &cell.comparison)
}

/// The end of the sentence about `cell`, which the verdict on `other` contradicts.
pub(super) fn against(cell: &DiffCell, other: &DiffCell) -> String {
    but(&sentence(other), (cell.compared, other.compared))
}

/// The meaning of an interval here.
pub(super) fn interval(diff: &Diff) -> String {
    let over = match diff.sides {
        SidesOf::OneRun => "over repeats that were measured beside each other",
        SidesOf::TwoRuns => {
            "over repeats of either run; they were not measured beside each other, so the ratio includes whatever \
             else changed between the two runs"
        }
        SidesOf::TwoMachines => {
            "over repeats of either machine; it is of these two and says nothing of others like them"
        }
    };
    let many = if diff.cells.len() > 1 { ", adjusted for the number of cells (Holm)" } else { "" };
    let often = if diff.terms.looks.are_many() { " It is valid although the run could end early." } else { "" };
    let detect = per_cent(diff.terms.detect);
    let same = format!("A difference of less than {detect} % counts as the same.");
    format!("In brackets the 95 % interval of the ratio {over}{many}.{often} {same}")
}
