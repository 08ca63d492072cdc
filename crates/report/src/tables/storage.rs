//! Traffic to and from the storage, as the reports on databases larger than memory count it.

use kvdyno_results::Phase;

use super::fields::{ENGINE, Field, WORKLOAD};
use super::run::{by_engine, grouped};
use crate::figures::declared;
use crate::grid::{ColumnGroup, Grid, TableNote};
use crate::study::Study;

const TITLE: &str = "to and from the storage";

/// The inputs for each operation from which on the storage has a part in the rates.
const WORTH_A_TABLE: f64 = 0.01;

/// Whether the storage was what the experiment is about: the memory was limited, the storage was made for it, or reads
/// went to it.
pub(crate) fn matters(study: &Study<'_>) -> bool {
    study.results.iter().any(|result| {
        let environment = &result.environment;
        let reads = result.trial.phase == Phase::Run && result.fs_in_per_operation() >= Some(WORTH_A_TABLE);
        reads || environment.memory_limit.is_some() || !matches!(environment.storage.as_str(), "" | "folder")
    })
}

/// The storage of the load; none if it does not matter.
pub(crate) fn load_storage(study: &Study<'_>) -> Option<Grid> {
    let cells = study.cells(Phase::Load);
    (matters(study) && !cells.is_empty()).then(|| Grid::of_cells(TITLE, &cells, &[ENGINE, WORKLOAD], figures()))
}

/// The storage of a workload; none if it does not matter.
pub(crate) fn run_storage(study: &Study<'_>, workload: &str) -> Option<Grid> {
    let cells = by_engine(study, workload);
    (matters(study) && !cells.is_empty()).then(|| {
        let mut grid = grouped(TITLE, &cells, figures());
        grid.notes = vec![TableNote::Words(NOTE.to_owned())];
        grid
    })
}

/// The columns, with the size of the database at the end.
fn figures() -> impl Iterator<Item = Field> {
    let size = declared::COSTS.into_iter().filter(|figure| figure.key == "db_kib");
    declared::STORAGE.into_iter().chain(size).map(|figure| Field::figure(figure, ColumnGroup::Rates))
}

const NOTE: &str = "in/op and out/op: blocks of 512 bytes that the process caused to be read and written (what `time` \
                    calls filesystem inputs and outputs), for each operation; device: what its counters said.";
