//! Cells that compete: those of setups that were asked for the same work.

use kvdyno_results::{Phase, RequestedWork};

use crate::Cell;

/// The cells of setups that were asked for the same work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SameWork {
    /// Loading or running.
    pub phase: Phase,
    /// Two or more, by index.
    pub cells: Vec<usize>,
}

/// The cells of an experiment that compete, in the order of the first of each work. This one rule is that of a report's
/// verdicts and of the decision whether a run has repeats enough: cells compete if every key of their work is the same.
/// The null engine, whose figures are the driver's, takes no part beside others.
pub fn same_work(cells: &[&Cell<'_>]) -> Vec<SameWork> {
    let mut works: Vec<(RequestedWork, Vec<usize>)> = Vec::new();
    for (index, cell) in cells.iter().enumerate().filter(|(_, cell)| !is_driver(cell, cells.iter().copied())) {
        let Some(work) = cell.work() else { continue };
        match works.iter_mut().find(|(other, _)| *other == work) {
            Some((_, of_work)) => of_work.push(index),
            None => works.push((work, vec![index])),
        }
    }
    let competing = |(work, cells): (RequestedWork, Vec<usize>)| SameWork { phase: work.phase, cells };
    works.into_iter().filter(|(_, cells)| cells.len() > 1).map(competing).collect()
}

/// Whether a cell is of the null engine, and so its figures the driver's, and some of all cells is not.
pub fn is_driver<'c, 'r: 'c>(cell: &Cell<'_>, all: impl IntoIterator<Item = &'c Cell<'r>>) -> bool {
    let is_null = |cell: &Cell<'_>| cell.first().is_some_and(|result| result.engine.name == "null");
    is_null(cell) && !all.into_iter().all(is_null)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use kvdyno_results::latency_log::LatencyLog;
    use kvdyno_results::{ClientKind, TrialKey, TrialResult};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::result;
    use crate::{Series, cells};

    /// The engines that compete.
    fn competing(results: &[TrialResult]) -> Vec<Vec<String>> {
        let none = |_: &TrialKey| Ok::<_, Infallible>(LatencyLog::new());
        let Ok(cells) = cells(results, &Series::new(), none);
        let cells: Vec<&Cell<'_>> = cells.iter().collect();
        let name = |index: &usize| cells[*index].key.engine.clone();
        same_work(&cells).iter().map(|same| same.cells.iter().map(name).collect()).collect()
    }

    fn requested(engine: &str, run: Value) -> TrialResult {
        TrialResult { experiment: json!({ "data": { "records": 1000 }, "run": [run] }), ..result(engine, 1, 1, 100.0) }
    }

    #[test]
    fn two_runs_of_one_workload_do_not_compete() {
        let both = |engine: &str| [1, 100].map(|batch| requested(engine, json!({ "batch": batch })));
        let results = [both("lmdb"), both("bdb")].concat();
        assert_eq!(competing(&results), [["lmdb", "bdb"], ["lmdb", "bdb"]]);
    }

    #[test]
    fn the_null_engine_competes_with_itself_alone() {
        let of = |named: &str, name: &str| {
            let mut one = result(named, 1, 1, 100.0);
            one.engine.name = name.into();
            one
        };
        let others = [of("null", "null"), of("lmdb", "lmdb"), of("bdb", "bdb")];
        assert_eq!(competing(&others), [["lmdb", "bdb"]]);
        assert_eq!(competing(&[of("one", "null"), of("other", "null")]), [["one", "other"]]);
    }

    /// It has no threads, and was asked for what the others were.
    #[test]
    fn an_engine_of_processes_competes_with_engines_of_threads() {
        let mut processes = requested("gtm", json!({ "clients": "threads" }));
        processes.trial.clients = ClientKind::Processes;
        let threads = || requested("lmdb", json!({ "clients": "threads" }));
        assert_eq!(competing(&[threads(), processes.clone()]), [["lmdb", "gtm"]]);
        processes.experiment["run"][0]["clients"] = "processes".into();
        assert_eq!(competing(&[threads(), processes]), Vec::<Vec<String>>::new());
    }

    /// Keys of a run, which mostly have the same value.
    fn run() -> impl Strategy<Value = Value> {
        let keys = ["batch", "distribution", "isolation", "warmup", "read_rate", "seek_nexts"];
        let value = prop::sample::select(vec![0_u8, 0, 0, 0, 1, 2]);
        let run = move |values: Vec<u8>| keys.iter().zip(values).map(|(key, value)| (*key, value)).collect();
        prop::collection::vec(value, keys.len()).prop_map(run)
    }

    proptest! {
        #[test]
        fn those_compete_that_were_asked_for_the_same(runs in prop::collection::vec(run(), 1..8)) {
            let engine = |index: usize| format!("engine-{index}");
            let result = |(index, run): (usize, &Value)| requested(&engine(index), run.clone());
            let results: Vec<_> = runs.iter().enumerate().map(result).collect();
            let groups = competing(&results);
            for (one, run) in runs.iter().enumerate() {
                let with = groups.iter().find(|group| group.contains(&engine(one)));
                for (other, _) in runs.iter().enumerate().filter(|(other, _)| *other != one) {
                    let compete = with.is_some_and(|group| group.contains(&engine(other)));
                    prop_assert_eq!(compete, runs[other] == *run);
                }
            }
        }
    }
}
