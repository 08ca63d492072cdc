//! Amplification: the excess of reading, writing and space over what engines were asked for.

use kvdyno_results::Phase;

use super::fields::{ENGINE, Field, SYNCS, WORKLOAD, has_commits};
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
    let syncs = cells.iter().any(|cell| has_commits(cell)).then_some(SYNCS);
    let figures = AMPLIFICATION.into_iter().chain(kinds).chain(counted);
    figures.map(|figure| Field::figure(figure, ColumnGroup::Rates)).chain(syncs)
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
    if grid.columns.iter().any(|column| column.head == SYNCS.head) {
        grid.notes.push(TableNote::Words(OF_SYNCS.to_owned()));
    }
    grid
}

const OF_SYNCS: &str = "syncs/commit: flushes of the device's write cache, by whomever, or else syncs that the \
                        filesystem did for the engine, for each commit that was acknowledged as durable; not checked: \
                        neither is counted.";

const OF_THE_ENGINE: &str = "flushed, compacted, stalled: by the engine's own counters, in the measured part.";

const OF_KINDS: &str = "data, log, preallocated: the blocks of the database; preallocated ones are reserved and not \
                        yet written.";

const NOTE: &str = "Bytes for each byte of keys and values, from opening the database to closing it. calls: through \
                    read and write calls; if the engine maps its files, pages read in and pages made dirty. amp.: on \
                    the database's own device; where it has none, what the kernel charged to the worker. space, \
                    apparent: blocks and lengths of the files for each byte of the records in them.";

#[cfg(test)]
mod tests {
    use kvdyno_experiment::Experiment;
    use kvdyno_model::Durability;
    use kvdyno_results::{Device, OpKind, Space, TrialResult};

    use super::*;
    use crate::study::Contents;
    use crate::testing::{only_trial, result};

    /// 1000 puts at a durability, and what the device counted.
    fn wrote(engine: &str, durability: Durability, flushes: Option<u64>) -> TrialResult {
        let mut result = result(only_trial(engine, "overwrite"), 100.0);
        result.operations[0].kind = OpKind::Put;
        result.workload.durability = durability;
        result.space = Space { db_kib: 100, live_bytes: Some(51_200), ..Space::default() };
        result.os.device = Some(Device { flushes, ..Device::default() });
        result
    }

    fn syncs(results: Vec<TrialResult>) -> Vec<String> {
        let engines: Vec<String> = results.iter().map(|result| format!("{:?}", result.trial.engine)).collect();
        let experiment = Experiment::parse(&format!("engines = [{}]", engines.join(", "))).unwrap();
        let contents = Contents::made_up(experiment, results);
        let study = Study::of(&contents).unwrap();
        let grid = run_amplification(&study, "overwrite").unwrap();
        let Some(column) = grid.columns.iter().position(|column| column.head == "syncs/commit") else {
            return Vec::new();
        };
        assert!(grid.notes.iter().any(|note| matches!(note, TableNote::Words(words) if words == OF_SYNCS)));
        grid.rows.iter().map(|row| row.cells[column].content.to_string()).collect()
    }

    #[test]
    fn commits_that_no_syncs_tell_of_are_not_checked() {
        use Durability::{Commit, Process};
        assert!(syncs(vec![wrote("lmdb", Process, Some(7))]).is_empty());
        let mut by_worker = wrote("mdbx", Commit, None);
        by_worker.os.syncs = Some(1020);
        let told = syncs(vec![wrote("lmdb", Commit, Some(1010)), wrote("bdb", Commit, None), by_worker]);
        assert_eq!(told, ["1.01", "not checked", "1.02"]);
    }
}
