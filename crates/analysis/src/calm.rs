//! Repeats without too much interference.

use std::collections::BTreeSet;

use crate::interference::is_too_much;
use crate::{Cell, SameWork, same_work};

/// Repeats, told apart by interference. Verdicts, tables and intervals all drop the same ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CalmRepeats {
    /// The repeats that count.
    kept: BTreeSet<u32>,
    /// Number of repeats that do not count.
    pub(crate) dropped: usize,
    /// Whether interference was in half of the repeats or more: none is dropped then, and nothing can be said.
    pub(crate) are_too_few: bool,
}

impl CalmRepeats {
    /// Tells `repeats` apart; `interfered` are those with too much interference.
    pub(crate) fn of(repeats: impl IntoIterator<Item = u32>, interfered: &BTreeSet<u32>) -> CalmRepeats {
        let (with, calm): (BTreeSet<u32>, BTreeSet<u32>) =
            repeats.into_iter().partition(|repeat| interfered.contains(repeat));
        match !with.is_empty() && with.len() >= calm.len() {
            true => CalmRepeats { kept: with.into_iter().chain(calm).collect(), dropped: 0, are_too_few: true },
            false => CalmRepeats { kept: calm, dropped: with.len(), are_too_few: false },
        }
    }

    /// Tells the repeats of one cell apart for figures of its own: by the interference with its work, or by that with
    /// itself alone where that with its work is in too many. Rates of tables and comparisons without pairs are made of
    /// these.
    pub(crate) fn of_cell(repeats: &BTreeSet<u32>, with_work: &BTreeSet<u32>, with_itself: &BTreeSet<u32>) -> Self {
        let by_work = CalmRepeats::of(repeats.iter().copied(), with_work);
        if by_work.are_too_few { CalmRepeats::of(repeats.iter().copied(), with_itself) } else { by_work }
    }

    /// Whether a repeat counts.
    pub(crate) fn keep(&self, repeat: u32) -> bool {
        self.kept.contains(&repeat)
    }
}

/// The repeats of each cell in which a trial of it, or of a cell that it competes with, had too much interference.
/// Such a repeat counts for none of them: they were measured beside each other.
pub(crate) fn interfered_repeats(cells: &[Cell<'_>]) -> Vec<BTreeSet<u32>> {
    let of_itself = |cell: &Cell<'_>| -> BTreeSet<u32> {
        cell.finished.iter().filter(|result| is_too_much(result)).map(|result| result.trial.repeat).collect()
    };
    let mut interfered: Vec<BTreeSet<u32>> = cells.iter().map(of_itself).collect();
    for SameWork { cells, .. } in same_work(&cells.iter().collect::<Vec<_>>()) {
        let of_any: BTreeSet<u32> = cells.iter().flat_map(|index| interfered[*index].iter().copied()).collect();
        cells.into_iter().for_each(|index| interfered[index].clone_from(&of_any));
    }
    interfered
}

#[cfg(test)]
mod tests {

    use kvdyno_results::{ClientKind, Interference, TrialResult};
    use serde_json::{Value, json};

    use super::*;
    use crate::cells_of_results;
    use crate::testing::{failed, result};

    #[test]
    fn repeats_with_interference_are_dropped_while_most_are_without() {
        let of = |interfered: &[u32]| CalmRepeats::of(1..=5, &interfered.iter().copied().collect());
        assert_eq!((of(&[]).dropped, of(&[]).are_too_few), (0, false));
        let two = of(&[2, 5, 9]);
        assert_eq!([1, 2, 3, 4, 5].map(|repeat| two.keep(repeat)), [true, false, true, true, false]);
        assert_eq!((two.dropped, two.are_too_few), (2, false));
        let three = of(&[2, 3, 5]);
        assert!((1..=5).all(|repeat| three.keep(repeat)));
        assert_eq!((three.dropped, three.are_too_few), (0, true));
    }

    #[test]
    fn a_cell_drops_its_own_repeats_where_those_of_its_work_are_too_many() {
        let of = |with_work: &[u32], with_itself: &[u32]| {
            let [with_work, with_itself] = [with_work, with_itself].map(|repeats| repeats.iter().copied().collect());
            CalmRepeats::of_cell(&(1..=5).collect(), &with_work, &with_itself)
        };
        assert_eq!(of(&[1, 2], &[1]), CalmRepeats::of(1..=5, &BTreeSet::from([1, 2])));
        assert_eq!(of(&[1, 2, 3], &[1]), CalmRepeats::of(1..=5, &BTreeSet::from([1])));
        assert_eq!(of(&[1, 2, 3], &[1, 2, 3]), CalmRepeats::of(1..=5, &BTreeSet::from([1, 2, 3])));
        assert!(of(&[1, 2, 3], &[1, 2, 3]).are_too_few);
    }

    #[test]
    fn half_of_all_is_too_many_and_no_repeat_is_none() {
        assert!(CalmRepeats::of(1..=4, &BTreeSet::from([1, 2])).are_too_few);
        assert!(!CalmRepeats::of([], &BTreeSet::from([1])).are_too_few);
    }

    fn paused(result: TrialResult) -> TrialResult {
        let mut result = result;
        result.environment.interference = vec![Interference::StoodStill { seconds: 4.0 }];
        result
    }

    fn requested(engine: &str, repeat: u32, run: Value) -> TrialResult {
        let experiment = json!({ "data": { "records": 1000 }, "run": [run] });
        TrialResult { experiment, ..result(engine, 1, repeat, 100.0) }
    }

    /// The repeats of each cell that have interference, by the name of its engine.
    fn interfered(results: &[TrialResult]) -> Vec<(String, Vec<u32>)> {
        let cells = cells_of_results(results);
        let of = |cell: &Cell<'_>| (cell.key.engine.clone(), cell.interfered.iter().copied().collect());
        cells.iter().map(of).collect()
    }

    fn named(expected: &[(&str, &[u32])]) -> Vec<(String, Vec<u32>)> {
        expected.iter().map(|(engine, repeats)| ((*engine).to_owned(), repeats.to_vec())).collect()
    }

    #[test]
    fn a_pause_of_an_engine_of_processes_is_one_of_engines_of_threads_beside_it() {
        let threads = json!({ "clients": "threads" });
        let mut results = [1, 2, 3].map(|repeat| requested("gtm", repeat, threads.clone()));
        results.iter_mut().for_each(|result| result.trial.clients = ClientKind::Processes);
        results[1] = paused(results[1].clone());
        let beside = [1, 2, 3].map(|repeat| requested("lmdb", repeat, threads.clone()));
        assert_eq!(interfered(&[results, beside].concat()), named(&[("gtm", &[2]), ("lmdb", &[2])]));
    }

    #[test]
    fn two_runs_of_one_workload_have_interference_of_their_own() {
        let of = |batch: u32| {
            ["lmdb", "bdb"].map(|engine| [1, 2, 3].map(|repeat| requested(engine, repeat, json!({ "batch": batch }))))
        };
        let mut results = [of(1), of(100)].concat().concat();
        results[2] = paused(results[2].clone());
        assert_eq!(interfered(&results), named(&[("lmdb", &[3]), ("bdb", &[3]), ("lmdb", &[]), ("bdb", &[])]));
    }

    #[test]
    fn a_pause_of_the_driver_is_nobody_elses() {
        let null = |repeat: u32| {
            let mut null = result("null", 1, repeat, 100.0);
            null.engine.name = "null".into();
            null
        };
        let beside = [result("lmdb", 1, 1, 100.0), paused(result("lmdb", 1, 2, 100.0)), result("bdb", 1, 1, 100.0)];
        let results = [vec![paused(null(1)), null(2)], beside.to_vec()].concat();
        assert_eq!(interfered(&results), named(&[("null", &[1]), ("lmdb", &[2]), ("bdb", &[2])]));
    }

    #[test]
    fn a_trial_that_failed_drops_no_repeat() {
        let results = [paused(failed("bdb", 1, 1)), result("bdb", 1, 2, 100.0), result("lmdb", 1, 1, 100.0)];
        assert_eq!(interfered(&results), named(&[("bdb", &[]), ("lmdb", &[])]));
    }
}
