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
    let mut fields = if workloads > 1 { vec![ENGINE, WORKLOAD] } else { vec![ENGINE] };
    let names = fields.len();
    fields.extend(costs());
    fields.extend(Field::rate(LOADED, Side::Writes));
    fields.push(Field::figure(SETTLING, ColumnGroup::Rates));
    (!cells.is_empty()).then(|| {
        let mut grid = Grid::of_cells("Load".to_owned(), &cells, &fields, names);
        note_settling(&mut grid);
        grid
    })
}
