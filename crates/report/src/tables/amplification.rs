//! Amplification: the excess of reading, writing and space over what engines were asked for.

use kvdyno_results::Phase;

use super::fields::{ENGINE, Field, WORKLOAD};
use super::run::{by_engine, grouped};
use crate::figures::amplification::{AMPLIFICATION, COUNTERS};
use crate::figures::declared::KINDS;
use crate::grid::{ColumnGroup, Grid, TableNote};
use crate::study::{Study, StudyCell};

const TITLE: &str = "amplification";

/// The amplification of the load; none if nothing of it is known.
pub(crate) fn load_amplification(study: &Study<'_>) -> Option<Grid> {
    let cells = study.cells(Phase::Load);
    is_known(&cells).then(|| noted(Grid::of_cells(TITLE, &cells, &[ENGINE, WORKLOAD], figures(&cells))))
}

/// The amplification of a workload; none if nothing of it is known.
pub(crate) fn run_amplification(study: &Study<'_>, workload: &str) -> Option<Grid> {
    let cells = by_engine(study, workload);
    is_known(&cells).then(|| noted(grouped(TITLE, &cells, figures(&cells))))
}

/// The columns, with the counters that some engine has.
fn figures(cells: &[&StudyCell<'_>]) -> impl Iterator<Item = Field> {
    let counted = COUNTERS.into_iter().filter(|figure| cells.iter().any(|cell| figure.median(cell).is_some()));
    // The size of a database that is all data says it already.
    let is_mixed = |cell: &&StudyCell<'_>| KINDS[1..].iter().any(|kind| kind.median(cell).is_some_and(|kib| kib > 0.0));
    let kinds = KINDS.into_iter().filter(move |_| cells.iter().any(is_mixed));
    AMPLIFICATION.into_iter().chain(kinds).chain(counted).map(|figure| Field::figure(figure, ColumnGroup::Rates))
}

fn is_known(cells: &[&StudyCell<'_>]) -> bool {
    cells.iter().any(|cell| AMPLIFICATION.iter().any(|figure| figure.median(cell).is_some()))
}

fn noted(mut grid: Grid) -> Grid {
    grid.notes = vec![TableNote::Words(NOTE.to_owned())];
    if grid.columns.iter().any(|column| KINDS.iter().any(|figure| figure.head == column.head)) {
        grid.notes.push(TableNote::Words(OF_KINDS.to_owned()));
    }
    if grid.columns.iter().any(|column| COUNTERS.iter().any(|figure| figure.head == column.head)) {
        grid.notes.push(TableNote::Words(OF_THE_ENGINE.to_owned()));
    }
    grid
}

const OF_THE_ENGINE: &str = "flushed, compacted, stalled: by the engine's own counters, in the measured part.";

const OF_KINDS: &str = "data, log, preallocated: the blocks of the database; preallocated ones are reserved and not \
                        yet written.";

const NOTE: &str = "Bytes for each byte of keys and values, from opening the database to closing it. calls: through \
                    read and write calls; if the engine maps its files, pages read in and pages made dirty. amp.: on \
                    the database's own device; where it has none, what the kernel charged to the worker. space, \
                    apparent: blocks and lengths of the files for each byte of the records in them.";
