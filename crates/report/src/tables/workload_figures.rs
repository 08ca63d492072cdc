//! Figures that only one workload has, a table for each such workload.

use kvdyno_results::{FigureValue, NamedFigure, Phase, TrialResult, WorkloadFigures};

use super::fields::{ENGINE, LOAD_THREADS, THREADS, WORKLOAD};
use crate::figures::Unit;
use crate::grid::{ColumnGroup, Content, Grid, GridCell, GridColumn, TableNote};
use crate::order::distinct;
use crate::study::{Study, StudyCell};

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
fn own<'a>(cell: &'a StudyCell<'_>) -> Option<&'a WorkloadFigures> {
    cell.finished.iter().find_map(|result| result.figures.as_ref())
}

fn grid(cells: &[&StudyCell<'_>], phase: Phase) -> Option<Grid> {
    let first = own(cells.first()?)?;
    let mut names = vec![ENGINE];
    if distinct(cells.iter().map(|cell| &cell.label.workload)).len() > 1 {
        names.push(WORKLOAD);
    }
    names.push(if phase == Phase::Load { LOAD_THREADS } else { THREADS });
    let mut grid = Grid::of_cells(&first.heading, cells, &names, []);
    let notes = distinct(cells.iter().filter_map(|cell| Some(&own(cell)?.note)));
    grid.notes = notes.into_iter().cloned().map(TableNote::Words).collect();
    // The table of its phase has what failed. Here a row is left for each cell.
    grid.rows.retain(|row| row.failure.is_none());
    for (figure, title) in first.figures.iter().filter_map(|figure| Some((figure, figure.title.as_ref()?))) {
        grid.columns.push(GridColumn { group: ColumnGroup::Costs, ..GridColumn::numbers(title) });
        for (row, cell) in grid.rows.iter_mut().zip(cells) {
            row.cells.push(GridCell::from(content(cell, figure)));
        }
    }
    Some(grid)
}

/// The median over a cell's trials; of words the first one's.
fn content(cell: &StudyCell<'_>, figure: &NamedFigure) -> Content {
    let value = |result: &TrialResult| result.figures.as_ref()?.of(&figure.column)?.number();
    let number = |unit: Unit| cell.median(value).map_or(Content::Absent, |median| Content::Number(median, unit));
    match own(cell).and_then(|own| own.of(&figure.column)) {
        None => Content::Absent,
        Some(FigureValue::Text(text)) => Content::Words(text.clone()),
        Some(FigureValue::Count(_)) => number(Unit::Count),
        Some(FigureValue::Rate(_)) => number(Unit::PerSecond),
        Some(FigureValue::Factor(_)) => number(Unit::Factor),
    }
}
