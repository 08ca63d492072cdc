//! What the reports print, as grids of text that know nothing of the format they will have.

mod cpu;
mod crossing;
mod environment;
mod fields;
mod load;
mod matrix;
mod relative;
mod run;
mod settings;
mod storage;
mod workload_figures;

use kvdyno_analysis::Cell;
use kvdyno_results::{Failure, TrialResult};

use crate::study::{distinct, failure, reason};
use crossing::crossings;
use fields::Field;

pub(crate) use fields::{main_reads, main_writes};

pub(crate) use cpu::run_cpu;
pub(crate) use load::load;
pub(crate) use matrix::matrices;
pub(crate) use relative::{Relative, relative_grids, relatives};
pub(crate) use run::{latencies, run_by_engine, run_by_workload, run_grouped};
pub(crate) use storage::{load_storage, matters, run_storage};

pub(crate) use environment::{environment, smt};
pub(crate) use settings::{engine_settings, key_facts, machine_facts, processors, versions};
pub(crate) use workload_figures::workload_figures;

/// A table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grid {
    /// What it shows.
    pub(crate) title: String,
    /// Heads, from the left.
    pub(crate) columns: Vec<Column>,
    /// From the top.
    pub(crate) rows: Vec<Row>,
    /// Lines beneath; may be empty.
    pub(crate) note: String,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Its head.
    pub(crate) head: String,
    /// Numbers stand to the right, words to the left.
    pub(crate) number: bool,
}

/// How wide a table may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// A terminal's width.
    Screen,
    /// As wide as it needs.
    Page,
}

/// A row of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// One for each column; fewer in the row of a failure.
    pub(crate) cells: Vec<Text>,
    /// Stands in the place of the figures that are not there: `failed`, and why.
    pub(crate) failure: Option<String>,
    /// The name of the group of rows that it begins.
    pub(crate) group: Option<String>,
}

/// What stands in a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    /// The text.
    pub(crate) text: String,
    /// How it stands out.
    pub(crate) mark: Mark,
}

/// How a text stands out from the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It does not.
    #[default]
    Plain,
    /// The highest of its column.
    Best,
    /// Its interval reaches that of the highest.
    Near,
    /// No figure, for a reason.
    Missing,
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text { text, mark: Mark::Plain }
    }
}

impl Column {
    fn number(head: &str) -> Column {
        Column { head: head.to_owned(), number: true }
    }

    fn words(head: &str) -> Column {
        Column { head: head.to_owned(), number: false }
    }
}

impl Grid {
    /// Whether its rows stand in named groups.
    pub(crate) fn is_grouped(&self) -> bool {
        self.rows.iter().any(|row| row.group.is_some())
    }

    /// A row for each cell that has figures, and one for each way in which its trials failed. The first `names` fields
    /// tell which cell it is, and stand in the rows of failures too.
    fn of_cells(title: String, cells: &[&Cell<'_>], fields: &[Field], names: usize) -> Grid {
        let rows = cells.iter().flat_map(|cell| cell_rows(cell, fields, names)).collect();
        let rates = fields.iter().any(|field| field.head.ends_with("/s"));
        let mark = if rates { disturbed(cells) } else { "" };
        let lines = [repeats(cells), memory(cells, fields), mark.to_owned()];
        let note = notes(cells, lines.join(" ").trim().to_owned());
        let mut grid = Grid { title, columns: fields.iter().map(Field::column).collect(), rows, note };
        grid.leave_out_empty_columns(names);
        grid
    }
}

impl Grid {
    /// Such as the intervals of short trials. The first columns are names, and stay.
    fn leave_out_empty_columns(&mut self, names: usize) {
        for place in (names..self.columns.len()).rev() {
            let mut texts = self.rows.iter().filter_map(|row| row.cells.get(place)).peekable();
            if texts.peek().is_some() && texts.all(|text| text.text.is_empty()) {
                self.columns.remove(place);
                let whole = self.rows.iter_mut().filter(|row| row.failure.is_none());
                whole.for_each(|row| drop(row.cells.remove(place)));
            }
        }
    }
}

/// What stands beneath a table of these cells: `first`, and what every call into some of the engines pays.
fn notes(cells: &[&Cell<'_>], first: String) -> String {
    let lines = std::iter::once(first).chain(crossings(cells));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// What the mark beside a rate means, if there is one.
fn disturbed(cells: &[&Cell<'_>]) -> &'static str {
    let any = cells.iter().any(|cell| fields::has_interference(cell));
    if any { "! a trial of it was disturbed: the notes say by what." } else { "" }
}

/// What must be known of memory where several processes shared the database.
fn memory(cells: &[&Cell<'_>], fields: &[Field]) -> String {
    let shown = fields.iter().any(|field| field.head == fields::PROCESS_KB) && cells.iter().any(|cell| shares(cell));
    let told =
        shown.then_some("Of several processes, process KiB is what they hold together, shared pages counted once.");
    told.unwrap_or_default().to_owned()
}

/// Whether several processes shared the database, and it is known what they held together.
fn shares(cell: &Cell<'_>) -> bool {
    cell.finished.iter().any(|result| result.os.peak_pss_kib.is_some())
}

fn repeats(cells: &[&Cell<'_>]) -> String {
    let repeats = || cells.iter().map(|cell| cell.finished.len()).filter(|repeats| *repeats > 0);
    let (fewest, most) = (repeats().min().unwrap_or(0), repeats().max().unwrap_or(0));
    let repeats = if fewest == most { format!("{most} repeats") } else { format!("{fewest} to {most} repeats") };
    match most {
        0 | 1 => String::new(),
        _ => format!("{repeats}: rates are means, ± half of the 95 % interval; other figures are medians."),
    }
}

fn cell_rows(cell: &Cell<'_>, fields: &[Field], names: usize) -> Vec<Row> {
    let text = |field: &Field| Text::from((field.value)(cell));
    let mut rows = Vec::new();
    if !cell.finished.is_empty() {
        rows.push(Row { cells: fields.iter().map(text).collect(), ..Row::default() });
    }
    for failed in failures(cell) {
        let failure = Some(told(&failed, cell.finished.len() + cell.failed.len()));
        rows.push(Row { cells: fields.iter().take(names).map(text).collect(), failure, ..Row::default() });
    }
    rows
}

/// The failed trials of a cell, those with the same reason together.
fn failures<'a>(cell: &Cell<'a>) -> Vec<Vec<(&'a TrialResult, &'a Failure)>> {
    let all: Vec<_> = cell.failed.iter().filter_map(|result| failure(result).map(|why| (*result, why))).collect();
    let reasons = distinct(all.iter().map(|(_, why)| *why));
    reasons.into_iter().map(|reason| all.iter().copied().filter(|(_, why)| *why == reason).collect()).collect()
}

/// `failed in repeat 2, crashed: …`; the repeat is not told where there is only one.
fn told(failed: &[(&TrialResult, &Failure)], trials: usize) -> String {
    let reason = failed.first().map(|(_, failure)| reason(failure)).unwrap_or_default();
    let repeats: Vec<String> = failed.iter().map(|(result, _)| result.trial.repeat.to_string()).collect();
    let plural = if repeats.len() == 1 { "" } else { "s" };
    match repeats.len() {
        1 if trials == 1 => format!("failed, {reason}"),
        all if all == trials => format!("failed in all {trials} repeats, {reason}"),
        _ => format!("failed in repeat{plural} {}, {reason}", repeats.join(", ")),
    }
}
