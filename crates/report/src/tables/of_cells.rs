//! A table of cells: a row for each cell that has figures, and one for each way in which its trials failed.

use kvdyno_results::{Failure, TrialResult};

use super::crossing::crossings;
use super::fields::{Field, has_interference};
use crate::figures::declared;
use crate::grid::{ColumnGroup, Grid, GridCell, GridRow, TableNote};
use crate::order::distinct;
use crate::remarks::{failure, reason};
use crate::study::StudyCell;

impl Grid {
    /// `names` tell which cell it is, and stand in the rows of failures too.
    pub(super) fn of_cells(
        title: &str,
        cells: &[&StudyCell<'_>],
        names: &[Field],
        figures: impl IntoIterator<Item = Field>,
    ) -> Grid {
        let fields: Vec<Field> = names.iter().cloned().chain(figures).collect();
        let mut columns: Vec<_> = fields.iter().map(Field::column).collect();
        columns.iter_mut().take(names.len()).for_each(|column| column.group = ColumnGroup::Names);
        let rows = cells.iter().flat_map(|cell| cell_rows(cell, &fields, names.len())).collect();
        let mut grid = Grid { title: title.to_owned(), columns, rows, notes: notes(cells) };
        grid.leave_out_empty_columns();
        grid
    }
}

fn notes(cells: &[&StudyCell<'_>]) -> Vec<TableNote> {
    let mut notes = vec![TableNote::Repeats];
    if cells.iter().any(|cell| shares_memory(cell)) {
        notes.push(TableNote::OfColumn(declared::PROCESS_KIB.head, SHARED_MEMORY));
    }
    notes.extend(marks(cells));
    notes.extend(crossings(cells));
    notes
}

/// The explanations of the marks beside rates, as far as there are any.
pub(super) fn marks(cells: &[&StudyCell<'_>]) -> impl Iterator<Item = TableNote> {
    let interference = cells.iter().any(|cell| has_interference(cell)).then_some(TableNote::Interference);
    let unsteady = cells.iter().any(|cell| cell.is_unsteady()).then_some(TableNote::Unsteady);
    interference.into_iter().chain(unsteady)
}

const SHARED_MEMORY: &str = "Of several processes, process KiB is what they hold together, shared pages counted once.";

/// Whether several processes shared the database, and it is known what they held together.
fn shares_memory(cell: &StudyCell<'_>) -> bool {
    cell.finished.iter().any(|result| result.os.peak_pss_kib.is_some())
}

fn cell_rows(cell: &StudyCell<'_>, fields: &[Field], names: usize) -> Vec<GridRow> {
    let content = |field: &Field| GridCell::from(field.content(cell));
    let mut rows = Vec::new();
    if !cell.finished.is_empty() {
        let cells = fields.iter().map(content).collect();
        rows.push(GridRow { cells, trials: cell.finished.len(), ..GridRow::default() });
    }
    for failed in failures(cell) {
        let failure = Some(failure_in_words(&failed, cell.finished.len() + cell.failed.len()));
        rows.push(GridRow { cells: fields.iter().take(names).map(content).collect(), failure, ..GridRow::default() });
    }
    rows
}

/// The failed trials of a cell, those with the same reason together.
fn failures<'a>(cell: &StudyCell<'a>) -> Vec<Vec<(&'a TrialResult, &'a Failure)>> {
    let all: Vec<_> = cell.failed.iter().filter_map(|result| failure(result).map(|why| (*result, why))).collect();
    let reasons = distinct(all.iter().map(|(_, why)| *why));
    reasons.into_iter().map(|reason| all.iter().copied().filter(|(_, why)| *why == reason).collect()).collect()
}

/// `failed in repeat 2, crashed: …`; the repeat is not named where there is only one.
fn failure_in_words(failed: &[(&TrialResult, &Failure)], trials: usize) -> String {
    let reason = failed.first().map(|(_, failure)| reason(failure)).unwrap_or_default();
    let repeats: Vec<String> = failed.iter().map(|(result, _)| result.trial.repeat.to_string()).collect();
    match repeats.as_slice() {
        [_] if trials == 1 => format!("failed, {reason}"),
        all if all.len() == trials => format!("failed in all {trials} repeats, {reason}"),
        [one] => format!("failed in repeat {one}, {reason}"),
        some => format!("failed in repeats {}, {reason}", some.join(", ")),
    }
}
