//! Loading, an engine a row.

use kvdyno_results::{Phase, Side};

use super::cpu::note_settling;
use super::fields::{ENGINE, Field, WORKLOAD, costs};
use crate::figures::declared::{LOADED, SETTLING};
use crate::grid::{ColumnGroup, Grid};
use crate::order::distinct;
use crate::study::Study;

/// The load table; none if nothing was loaded.
pub(crate) fn load(study: &Study<'_>) -> Option<Grid> {
    let cells = study.cells(Phase::Load);
    let workloads = distinct(cells.iter().map(|cell| &cell.label.workload)).len();
    let names: &[Field] = if workloads > 1 { &[ENGINE, WORKLOAD] } else { &[ENGINE] };
    let settling = Field::figure(SETTLING, ColumnGroup::Rates);
    (!cells.is_empty()).then(|| {
        let figures = costs().chain(Field::rate(LOADED, Side::Writes)).chain([settling]);
        let mut grid = Grid::of_cells("Load", &cells, names, figures);
        note_settling(&mut grid);
        grid
    })
}
