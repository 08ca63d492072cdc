//! Cells that compete: those of setups that were asked for the same work.

use kvdyno_results::{Phase, RequestedWork, TrialResult};

use crate::Cell;
use crate::verdicts::{Aspect, Rivals, measured};

/// The cells of setups that were asked for the same work.
#[derive(Clone, Debug, PartialEq)]
pub struct SameWork {
    /// Loading or running.
    pub phase: Phase,
    /// Two or more, or one that searched, by index, in the order of their keys: whose turn came first decides nothing.
    pub cells: Vec<usize>,
}

impl SameWork {
    /// Its cells in their order; `all` are the cells that its indices are of.
    pub fn of<'c, 'r>(&self, all: &[&'c Cell<'r>]) -> Vec<&'c Cell<'r>> {
        self.cells.iter().map(|index| all[*index]).collect()
    }

    /// Its cells as they are compared by one aspect of their work.
    pub fn rivals(&self, all: &[&Cell<'_>], compared: Aspect) -> Rivals {
        Rivals { cells: self.of(all).into_iter().map(|cell| measured(cell, compared)).collect() }
    }
}

/// The cells of an experiment that compete, in the order of the first of each work. This one rule is that of a report's
/// verdicts and of the decision whether a run has repeats enough: cells compete if every key of their work is the same.
/// The null engine, whose figures are the driver's, takes no part beside others.
pub fn same_work(cells: &[&Cell<'_>]) -> Vec<SameWork> {
    works(cells).into_iter().filter(|same| same.cells.len() > 1).collect()
}

/// The same, with each cell that searched a rate: that is an answer by itself.
pub fn works_with_answers(cells: &[&Cell<'_>]) -> Vec<SameWork> {
    let searched = |cell: &Cell<'_>| cell.first().is_some_and(|first| first.workload.find_max_rate.is_some());
    let has_answer = |same: &SameWork| same.cells.len() > 1 || same.of(cells).into_iter().any(searched);
    works(cells).into_iter().filter(has_answer).collect()
}

/// The same, with all other cells that have no competitor.
fn works(cells: &[&Cell<'_>]) -> Vec<SameWork> {
    let mut works: Vec<(RequestedWork, Vec<usize>)> = Vec::new();
    for (index, cell) in cells.iter().enumerate().filter(|(_, cell)| !is_driver(cell, cells.iter().copied())) {
        let Some(work) = cell.work() else { continue };
        match works.iter_mut().find(|(other, _)| *other == work) {
            Some((_, of_work)) => of_work.push(index),
            None => works.push((work, vec![index])),
        }
    }
    let sorted = |(work, mut of_work): (RequestedWork, Vec<usize>)| {
        of_work.sort_by_key(|index| &cells[*index].key);
        SameWork { phase: work.phase, cells: of_work }
    };
    works.into_iter().map(sorted).collect()
}

/// Whether a cell is of the null engine, and so its figures the driver's, and some of all cells is not.
pub fn is_driver<'c, 'r: 'c>(cell: &Cell<'_>, all: impl IntoIterator<Item = &'c Cell<'r>>) -> bool {
    let is_of_null = |cell: &Cell<'_>| cell.first().is_some_and(is_null);
    is_of_null(cell) && !all.into_iter().all(is_of_null)
}

/// Whether a trial is of the null engine.
pub(crate) fn is_null(result: &TrialResult) -> bool {
    result.engine.name == "null"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kvdyno_results::{ClientKind, TrialResult};
    use proptest::prelude::*;
    use proptest::sample::{select, subsequence};
    use serde_json::{Value, json};

    use super::*;
    use crate::cells_of_results;
    use crate::testing::result;

    /// The engines that compete.
    fn competing(results: &[TrialResult]) -> Vec<Vec<String>> {
        let cells = cells_of_results(results);
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
        assert_eq!(competing(&results), [["bdb", "lmdb"], ["bdb", "lmdb"]]);
    }

    #[test]
    fn the_null_engine_competes_with_itself_alone() {
        let of = |named: &str, name: &str| {
            let mut one = result(named, 1, 1, 100.0);
            one.engine.name = name.into();
            one
        };
        let others = [of("null", "null"), of("lmdb", "lmdb"), of("bdb", "bdb")];
        assert_eq!(competing(&others), [["bdb", "lmdb"]]);
        assert_eq!(competing(&[of("one", "null"), of("other", "null")]), [["one", "other"]]);
    }

    /// An engine of processes has no threads, and was asked for what the others were.
    #[test]
    fn an_engine_of_processes_competes_with_engines_of_threads() {
        let mut processes = requested("gtm", json!({ "clients": "threads" }));
        processes.trial.clients = ClientKind::Processes;
        let threads = || requested("lmdb", json!({ "clients": "threads" }));
        assert_eq!(competing(&[threads(), processes.clone()]), [["gtm", "lmdb"]]);
        processes.experiment["run"][0]["clients"] = "processes".into();
        assert_eq!(competing(&[threads(), processes]), Vec::<Vec<String>>::new());
    }

    /// A trial, and all by which others were asked for other work.
    #[derive(Clone, Debug)]
    struct Trial {
        engine: &'static str,
        /// Fields that have another value than those of [`base`].
        other: Vec<(&'static str, Value)>,
        /// Keys of the experiment that only some trials have.
        keys: BTreeMap<String, u8>,
        /// Fields that are not of the work, each with a value.
        beside: Vec<(&'static str, Value)>,
    }

    fn trial() -> impl Strategy<Value = Trial> {
        let other = vec![
            ("/trial/phase", json!("load")),
            ("/trial/variant", json!("warm")),
            ("/trial/readers", json!(9)),
            ("/trial/writers", json!(9)),
            ("/workload/name", json!("readseq")),
            ("/workload/records", json!(9)),
            ("/workload/durability", json!("commit")),
            ("/workload/read_rate", json!(9.0)),
            ("/experiment/data/records", json!(9)),
            ("/experiment/data/value_size", json!({ "histogram": [[1, 9]] })),
            ("/experiment/settings/cache", json!("9MiB")),
            ("/experiment/environment/memory", json!("9MiB")),
            ("/experiment/run/0/role/1/mix", json!("get 9")),
            ("/experiment/run/0/role/1/from", json!("9s")),
            ("/experiment/run/0/role/0/until", json!("9s")),
            ("/experiment/run/0/clients", json!("processes")),
        ];
        let beside = |value: u8| {
            vec![
                ("/trial/repeat", json!(value)),
                ("/trial/clients", json!(["threads", "processes"][usize::from(value % 2)])),
                ("/workload/seed", json!(value)),
                ("/engine/version", json!(value.to_string())),
                ("/engine/settings", json!([{ "topic": "cache", "name": "pages", "value": value.to_string() }])),
                ("/experiment/engines", json!([value])),
                ("/experiment/lab/seed", json!(value)),
                ("/experiment/run/0/readers", json!([value])),
            ]
        };
        let section = select(vec!["data", "settings", "load", "run/0", "environment"]);
        let key = (section, select(vec!["a", "b"])).prop_map(|(section, key)| format!("/experiment/{section}/{key}"));
        let few = |most: usize| prop_oneof![3 => Just(0), 1 => 0..=most];
        (
            select(vec!["lmdb", "bdb", "rocksdb"]),
            few(2).prop_flat_map(move |count| subsequence(other.clone(), count)),
            few(2).prop_flat_map(move |count| prop::collection::btree_map(key.clone(), 1_u8..3, count)),
            (1_u8..4).prop_flat_map(move |value| subsequence(beside(value), 0..=8)),
        )
            .prop_map(|(engine, other, keys, beside)| Trial { engine, other, keys, beside })
    }

    /// The result of a trial as a file has it.
    fn base(engine: &str) -> Value {
        let experiment = json!({
            "engines": [],
            "lab": { "seed": 1 },
            "data": { "records": 1000, "value_size": null },
            "settings": { "cache": null },
            "load": {},
            "environment": { "memory": null },
            "run": [{ "readers": [1], "clients": "threads", "role": [{ "mix": "get 1" }, { "mix": "put 1" }] }],
        });
        serde_json::to_value(TrialResult { experiment, ..result(engine, 1, 1, 100.0) }).unwrap()
    }

    impl Trial {
        fn result(&self, number: usize) -> TrialResult {
            let mut result = base(self.engine);
            let keys = self.keys.iter().map(|(path, value)| (path.as_str(), json!(value)));
            let number = ("/trial/number", json!(number));
            for (path, value) in
                self.other.iter().cloned().chain(self.beside.iter().cloned()).chain(keys).chain([number])
            {
                let (parent, field) = path.rsplit_once('/').unwrap();
                result.pointer_mut(parent).unwrap()[field] = value;
            }
            serde_json::from_value(result).unwrap()
        }
    }

    proptest! {
        /// Whatever else differs: trials of one engine are then of one cell, or of two that compete.
        #[test]
        fn trials_are_compared_where_no_key_of_their_work_differs(trials in prop::collection::vec(trial(), 2..8)) {
            let results: Vec<_> = trials.iter().enumerate().map(|(number, trial)| trial.result(number)).collect();
            let cells = cells_of_results(&results);
            let cells: Vec<&Cell<'_>> = cells.iter().collect();
            let of = |number: usize| {
                let is_of = |cell: &&Cell<'_>| cell.finished.iter().any(|one| one.trial.number == number as u32);
                cells.iter().position(is_of).unwrap()
            };
            let works = same_work(&cells);
            for (one, other) in (0..trials.len()).flat_map(|one| (0..one).map(move |other| (one, other))) {
                let both = [of(one), of(other)];
                let competes = |same: &SameWork| both.iter().all(|cell| same.cells.contains(cell));
                let compared = both[0] == both[1] || works.iter().any(competes);
                let [one, other] = [&trials[one], &trials[other]];
                let is_same = (&one.other, &one.keys) == (&other.other, &other.keys);
                prop_assert_eq!(compared, is_same, "{:?} {:?}", one, other);
            }
        }
    }
}
