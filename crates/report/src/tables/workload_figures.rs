//! Figures that only one workload has, a table for each such workload.

use kvdyno_analysis::Cell;
use kvdyno_results::{FigureValue, Phase, TrialResult, WorkloadFigure, WorkloadFigures};

use super::fields::{ENGINE, LOAD_THREADS, NONE, THREADS, WORKLOAD};
use super::{Column, Grid};
use crate::numbers::{grouped, rate};
use crate::study::{Study, distinct};

/// The figures of workloads' own, for each such workload and phase.
pub(crate) fn workload_figures(study: &Study<'_>) -> Vec<Grid> {
    [Phase::Load, Phase::Run].into_iter().flat_map(|phase| of_phase(study, phase)).collect()
}

fn of_phase(study: &Study<'_>, phase: Phase) -> Vec<Grid> {
    let cells = study.cells(phase);
    let headings = cells.iter().filter_map(|cell| Some(own(cell)?.heading.as_str()));
    let of_heading = |heading: &str| {
        let cells = cells.iter().copied().filter(|cell| own(cell).is_some_and(|own| own.heading == heading));
        grid(&cells.collect::<Vec<_>>(), phase)
    };
    distinct(headings).into_iter().filter_map(of_heading).collect()
}

/// The figures of a cell's first finished trial; those of the others have the same columns.
fn own<'a>(cell: &'a Cell<'_>) -> Option<&'a WorkloadFigures> {
    cell.finished.iter().find_map(|result| result.figures.as_ref())
}

fn grid(cells: &[&Cell<'_>], phase: Phase) -> Option<Grid> {
    let first = own(cells.first()?)?;
    let mut names = vec![ENGINE];
    if distinct(cells.iter().map(|cell| &cell.key.workload)).len() > 1 {
        names.push(WORKLOAD);
    }
    names.push(if phase == Phase::Load { LOAD_THREADS } else { THREADS });
    let mut grid = Grid::of_cells(first.heading.clone(), cells, &names, names.len());
    grid.note.clone_from(&first.note);
    // What failed stands in the table of its phase; a row is left for each cell.
    grid.rows.retain(|row| row.failure.is_none());
    for (figure, title) in first.figures.iter().filter_map(|figure| Some((figure, figure.title.as_ref()?))) {
        grid.columns.push(Column::number(title));
        for (row, cell) in grid.rows.iter_mut().zip(cells) {
            row.cells.push(printed(cell, figure).into());
        }
    }
    Some(grid)
}

/// The median over a cell's trials; of words the first one's.
fn printed(cell: &Cell<'_>, figure: &WorkloadFigure) -> String {
    let value = |result: &TrialResult| result.figures.as_ref()?.of(&figure.column)?.number();
    match &figure.value {
        FigureValue::Text(text) => text.clone(),
        FigureValue::Count(_) => cell.median(value).map_or(NONE.to_owned(), grouped),
        FigureValue::Rate(_) => cell.median(value).map_or(NONE.to_owned(), rate),
    }
}
