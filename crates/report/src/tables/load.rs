//! Loading, an engine a row.

use kvdyno_record::{Phase, Record};
use kvdyno_verdict::Cell;

use super::fields::{COSTS, ENGINE, LOADED, WRITE_AMPLIFICATION};
use super::{Grid, Room};
use crate::study::Study;

/// The load table; none if nothing was loaded.
pub(crate) fn load(study: &Study, room: Room) -> Option<Grid> {
    let cells = study.cells(Phase::Load);
    let cells: Vec<_> = cells.iter().collect();
    let mut fields = vec![ENGINE];
    fields.extend(COSTS);
    fields.extend(LOADED);
    let amplified = |cell: &&Cell<'_>| cell.median(Record::write_amplification).is_some();
    if room == Room::Page && cells.iter().any(amplified) {
        fields.push(WRITE_AMPLIFICATION);
    }
    (!cells.is_empty()).then(|| Grid::of_cells("Load".to_owned(), &cells, &fields, 1))
}
