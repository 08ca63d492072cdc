//! Work on loaded databases.

use kvdyno_results::{Side, TrialResult};

use super::fields::{CLIENTS, ENGINE, Field, READERS, THREADS, all_percentiles, costs, main_percentiles};
use crate::figures::Unit;
use crate::figures::declared::{READS, WRITES};
use crate::grid::{ColumnGroup, Content, Grid, GridCell, GridColumn};
use crate::study::{Study, StudyCell};

/// The figures of the published reports and ours, the rows of an engine together.
pub(crate) fn run(study: &Study<'_>, workload: &str) -> Grid {
    let cells = by_engine(study, workload);
    grouped("", &cells, costs().chain(rate_fields(&cells)))
}

/// The percentiles of both sides with their intervals, the rows of an engine together; none if nothing was timed.
pub(crate) fn latencies(study: &Study<'_>, workload: &str) -> Option<Grid> {
    let cells = by_engine(study, workload);
    let sides: Vec<Side> = Side::ALL.into_iter().filter(|side| does(&cells, *side)).collect();
    (!sides.is_empty()).then(|| grouped("all latencies", &cells, sides.into_iter().flat_map(all_percentiles)))
}

/// A table whose rows are grouped by engine.
pub(super) fn grouped(title: &str, cells: &[&StudyCell<'_>], figures: impl IntoIterator<Item = Field>) -> Grid {
    let mut grid = Grid::of_cells(title, cells, &names(cells), figures);
    grid.group_rows();
    grid
}

/// Whether any of the cells does a side's work.
fn does(cells: &[&StudyCell<'_>], side: Side) -> bool {
    cells.iter().any(|cell| cell.rate(side).is_some())
}

/// The cells of a workload, those of an engine together.
pub(super) fn by_engine<'a, 'b>(study: &'a Study<'b>, workload: &str) -> Vec<&'a StudyCell<'b>> {
    let engines = study.engines();
    let mut cells = study.running(workload);
    cells.sort_by_key(|cell| engines.iter().position(|engine| *engine == cell.label.engine));
    cells
}

/// The cells of a workload that have finished trials, those of an engine together.
pub(super) fn finished_by_engine<'a, 'b>(study: &'a Study<'b>, workload: &str) -> Vec<&'a StudyCell<'b>> {
    by_engine(study, workload).into_iter().filter(|cell| !cell.finished.is_empty()).collect()
}

/// A table of medians: for each head a figure of finished trials with its unit. All cells have finished trials; the
/// table of rates has those that failed.
pub(super) fn medians<F: Fn(&TrialResult) -> Option<f64>>(
    title: &str,
    cells: &[&StudyCell<'_>],
    columns: impl IntoIterator<Item = (&'static str, F, Unit)>,
) -> Grid {
    let mut grid = of_finished(title, cells);
    add_medians(&mut grid, cells, columns);
    grid
}

/// A table of cells that have finished trials, a row each, with nothing but their names.
pub(super) fn of_finished(title: &str, cells: &[&StudyCell<'_>]) -> Grid {
    let mut grid = grouped(title, cells, []);
    // One row of each cell is left.
    grid.rows.retain(|row| row.failure.is_none());
    grid
}

/// Adds columns of medians to a table [`of_finished`] trials.
pub(super) fn add_medians<F: Fn(&TrialResult) -> Option<f64>>(
    grid: &mut Grid,
    cells: &[&StudyCell<'_>],
    columns: impl IntoIterator<Item = (&'static str, F, Unit)>,
) {
    for (head, figure, unit) in columns {
        add_column(grid, cells, (head, |cell: &StudyCell<'_>| cell.median(&figure), unit));
    }
}

/// Adds a column to a table [`of_finished`] trials: its head, the figure of a cell, and its unit.
pub(super) fn add_column(
    grid: &mut Grid,
    cells: &[&StudyCell<'_>],
    (head, figure, unit): (&'static str, impl Fn(&StudyCell<'_>) -> Option<f64>, Unit),
) {
    grid.columns.push(GridColumn { group: ColumnGroup::Rates, ..GridColumn::numbers(head) });
    for (row, cell) in grid.rows.iter_mut().zip(cells) {
        let content = figure(cell).map_or(Content::Absent, |figure| Content::Number(figure, unit));
        row.cells.push(GridCell::from(content));
    }
}

/// The engine; readers where there are any; else clients; in words where both vary.
fn names(cells: &[&StudyCell<'_>]) -> [Field; 2] {
    let reads = cells.iter().any(|cell| cell.key.readers > 0);
    let writers_vary = cells.windows(2).any(|pair| pair[0].key.writers != pair[1].key.writers);
    match (reads, writers_vary) {
        (true, true) => [ENGINE, THREADS],
        (true, false) => [ENGINE, READERS],
        (false, _) => [ENGINE, CLIENTS],
    }
}

/// Only of the sides that the workload has.
fn rate_fields(cells: &[&StudyCell<'_>]) -> Vec<Field> {
    let (writes, reads) = (does(cells, Side::Writes), does(cells, Side::Reads));
    let mut fields = Vec::new();
    fields.extend(writes.then(|| Field::rate(WRITES, Side::Writes)).into_iter().flatten());
    fields.extend(reads.then(|| Field::rate(READS, Side::Reads)).into_iter().flatten());
    fields.extend(reads.then(|| main_percentiles(Side::Reads)).into_iter().flatten());
    fields.extend(writes.then(|| main_percentiles(Side::Writes)).into_iter().flatten());
    fields
}
