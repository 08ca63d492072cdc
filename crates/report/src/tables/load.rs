//! Loading, an engine a row.

use kvdyno_results::{Phase, Side};

use super::fields::{ENGINE, Field, WORKLOAD, costs};
use crate::figures::declared::{LOADED, WRITE_AMPLIFICATION};
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
    if cells.iter().any(|cell| WRITE_AMPLIFICATION.median(cell).is_some()) {
        fields.push(Field::figure(WRITE_AMPLIFICATION, ColumnGroup::Extras));
    }
    (!cells.is_empty()).then(|| Grid::of_cells("Load".to_owned(), &cells, &fields, names))
}
