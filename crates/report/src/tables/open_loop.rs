//! Operations at a rate: the rate that was asked for and the one that was reached, and where their time went.

use std::collections::BTreeMap;

use kvdyno_results::{OpKind, Operations, TrialResult};

use super::run::{finished_by_engine, medians};
use crate::figures::Unit;
use crate::grid::{Grid, TableNote};
use crate::study::{Study, StudyCell};

/// A figure of the operations of a trial that came at a rate, of the kind that it did most.
type OpenFigure = fn(&TrialResult, &Operations) -> Option<f64>;

const COLUMNS: [(&str, OpenFigure, Unit); 6] = [
    ("asked/s", |result, main| result.requested_per_s(main.side()), Unit::PerSecond),
    ("reached/s", |result, main| Some(result.reached_per_s(main.side())), Unit::PerSecond),
    ("response", |_, main| Some(main.latency.mean_ns as f64), Unit::Nanos),
    ("service", |_, main| main.service_ns(), Unit::Nanos),
    ("behind", |_, main| Some(1e9 * main.pacing?.behind_s), Unit::Nanos),
    ("spinning %", |result, main| spinning_pct(result, main), Unit::Percent),
];

const NOTE: &str = "response: from the moment at which it was due \
                    to its answer; service: from its beginning, unknown where most of the response is waiting. behind: \
                    the client furthest behind its schedule at the end. spinning: the part of the clients' time in \
                    which they kept a processor to meet the moment.";

/// The operations of a workload that came at a rate; none if none did.
pub(crate) fn open_loop(study: &Study<'_>, workload: &str) -> Option<Grid> {
    let cells = finished_by_engine(study, workload);
    let kind = main_kind(&cells)?;
    let of_main = |(head, figure, unit): (_, OpenFigure, _)| {
        (head, move |result: &TrialResult| figure(result, result.at_rate().find(|one| one.kind == kind)?), unit)
    };
    let mut grid = medians("At a rate", &cells, COLUMNS.map(of_main));
    let of_kind = format!("Means of the kind of operation that came most often, {kind}. {NOTE}");
    grid.notes.push(TableNote::Words(of_kind));
    Some(grid)
}

/// Whether a rate that was asked for was not kept in some trial. A searched one was not asked for.
pub(crate) fn misses_rate(study: &Study<'_>, workload: &str) -> bool {
    let cells = study.running(workload);
    let requested = cells.iter().flat_map(|cell| &cell.finished).filter(|result| result.search.is_none());
    requested.flat_map(|result| result.at_rate()).any(|one| one.pacing.is_some_and(|pacing| !pacing.kept))
}

/// The kind of operation at a rate that all trials together did most.
fn main_kind(cells: &[&StudyCell<'_>]) -> Option<OpKind> {
    let mut counts: BTreeMap<OpKind, u64> = BTreeMap::new();
    for one in cells.iter().flat_map(|cell| &cell.finished).flat_map(|result| result.at_rate()) {
        *counts.entry(one.kind).or_default() += one.operations;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(kind, _)| kind)
}

fn spinning_pct(result: &TrialResult, main: &Operations) -> Option<f64> {
    let spinning_s: f64 = result.sharing_rate(main.side()).filter_map(|one| Some(one.pacing?.spinning_s)).sum();
    Some(100.0 * spinning_s / result.window.as_ref()?.seconds / f64::from(main.threads))
}

#[cfg(test)]
mod tests {
    use kvdyno_experiment::Experiment;
    use kvdyno_results::{Failure, FailureKind, Pacing, TrialOutcome};

    use super::*;
    use crate::study::Contents;
    use crate::testing::{only_trial, result};

    /// A second of reads that wait 2 µs each, on average, of a latency of so many nanoseconds.
    fn at_rate(engine: &str, mean_ns: u64) -> TrialResult {
        let mut result = result(only_trial(engine, "readrandom"), 1000.0);
        result.workload.read_rate = Some(1000.0);
        let reads = &mut result.operations[0];
        reads.latency.mean_ns = mean_ns;
        let waited_s = 1e-6 * reads.operations as f64;
        reads.pacing =
            Some(Pacing { queued_s: Some(waited_s), overslept_s: waited_s, kept: true, ..Pacing::default() });
        result
    }

    #[test]
    fn each_engine_has_its_own_times_beside_one_that_failed() {
        let failure = Failure { kind: FailureKind::Crashed, reason: "segmentation fault".into() };
        let mut failed = at_rate("a", 1);
        (failed.outcome, failed.operations) = (TrialOutcome::Failed(failure), Vec::new());
        let experiment = Experiment::parse("engines = [\"a\", \"b\", \"c\"]").unwrap();
        let contents = Contents::made_up(experiment, vec![failed, at_rate("b", 5_000), at_rate("c", 9_000)]);
        let study = Study::of(&contents).unwrap();
        let grid = open_loop(&study, "readrandom").unwrap();
        let of_row = |row: usize| {
            let cells = grid.rows[row].cells.iter().map(|cell| cell.content.to_string()).collect::<Vec<_>>();
            (grid.rows[row].group.clone().unwrap(), cells[4].clone(), cells[5].clone())
        };
        assert_eq!(grid.rows.len(), 2);
        assert_eq!(of_row(0), ("b".to_owned(), "5.00 µs".to_owned(), "3.00 µs".to_owned()));
        assert_eq!(of_row(1), ("c".to_owned(), "9.00 µs".to_owned(), "7.00 µs".to_owned()));
    }

    #[test]
    fn a_rate_is_missed_where_one_trial_did_not_keep_it() {
        let misses = |is_kept: bool| {
            let experiment = Experiment::parse("engines = [\"a\", \"b\"]").unwrap();
            let mut other = at_rate("b", 5_000);
            other.operations[0].pacing.as_mut().unwrap().kept = is_kept;
            let contents = Contents::made_up(experiment, vec![at_rate("a", 5_000), other]);
            misses_rate(&Study::of(&contents).unwrap(), "readrandom")
        };
        assert_eq!([true, false].map(misses), [false, true]);
    }
}
