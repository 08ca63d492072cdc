//! What the 3n+1 workload found.

use kvdyno_analysis::Cell;
use kvdyno_results::{Cycles, Phase};

use super::fields::{ENGINE, Field, LOAD_THREADS, NONE, WORKLOAD};
use crate::grid::{Grid, Note};
use crate::numbers::{grouped, rate};
use crate::order::distinct;
use crate::study::Study;

const FOUND: [Field; 6] = [
    Field::number("N", |cell| cycles(cell, |c| c.starts as f64)),
    Field::number("longest", |cell| cycles(cell, |c| c.longest as f64)),
    Field::number("highest", |cell| cycles(cell, |c| c.highest as f64)),
    Field::number("puts", |cell| cycles(cell, |c| c.puts as f64)),
    Field::number("gets", |cell| cycles(cell, |c| c.gets as f64)),
    Field::number("ops/s", |cell| {
        cell.median(|result| result.cycles.as_ref().map(|c| c.operations_per_s)).map_or(NONE.to_owned(), rate)
    }),
];

/// The answers and operations of each engine; none if nothing computed cycles.
pub(crate) fn cycles_found(study: &Study<'_>) -> Option<Grid> {
    let mut cells = study.cells(Phase::Load);
    cells.retain(|cell| cell.finished.iter().any(|result| result.cycles.is_some()));
    let mut fields = vec![ENGINE];
    if distinct(cells.iter().map(|cell| &cell.label.workload)).len() > 1 {
        fields.push(WORKLOAD);
    }
    fields.push(LOAD_THREADS);
    let names = fields.len();
    fields.extend(FOUND);
    let mut grid = Grid::of_cells("3n+1".to_owned(), &cells, &fields, names);
    let note = "Every answer was held against the same problem solved without a database.";
    grid.notes = vec![Note::Words(note.to_owned())];
    // What failed stands in the table of loads.
    grid.rows.retain(|row| row.failure.is_none());
    (!cells.is_empty()).then_some(grid)
}

fn cycles(cell: &Cell<'_>, figure: fn(&Cycles) -> f64) -> String {
    cell.median(|result| result.cycles.as_ref().map(figure)).map_or(NONE.to_owned(), grouped)
}
