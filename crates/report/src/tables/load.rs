//! Loading, an engine a row.

use kvdyno_analysis::Cell;
use kvdyno_results::{Phase, TrialResult};

use super::fields::{COSTS, ENGINE, LOADED, WORKLOAD, WRITE_AMPLIFICATION};
use super::{Grid, Room};
use crate::study::{Study, distinct};

/// The load table; none if nothing was loaded.
pub(crate) fn load(study: &Study<'_>, room: Room) -> Option<Grid> {
    let cells = study.cells(Phase::Load);
    let workloads = distinct(cells.iter().map(|cell| &cell.key.workload)).len();
    let mut fields = if workloads > 1 { vec![ENGINE, WORKLOAD] } else { vec![ENGINE] };
    let names = fields.len();
    fields.extend(COSTS);
    fields.extend(LOADED);
    let amplified = |cell: &&Cell<'_>| cell.median(TrialResult::write_amplification).is_some();
    if room == Room::Page && cells.iter().any(amplified) {
        fields.push(WRITE_AMPLIFICATION);
    }
    (!cells.is_empty()).then(|| Grid::of_cells("Load".to_owned(), &cells, &fields, names))
}
