//! Labels of cells. A cell's identity, its [`CellKey`], says which setup, variant and workload it is of, and stays as
//! it is; a label is the name that people read. Cells that share an engine, a workload and numbers of threads and
//! differ in something else, such as the size of values, have that in their labels.

use std::collections::{BTreeMap, BTreeSet};

use kvdyno_analysis::Cell;
use kvdyno_results::{CellKey, ClientKind, Phase, RequestedWork, TrialResult};
use schemars::JsonSchema;
use serde::Serialize;

/// The names of a cell for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Label {
    /// The engine, with whatever tells its cells from others of the same name: `bdb, processes TAINTED`.
    pub(crate) engine: String,
    /// The workload, with whatever tells its cells from others of the same name: `readrandom, batch 100`.
    pub(crate) workload: String,
}

/// A cell whose label is being made.
struct Draft<'c, 'r> {
    key: &'c CellKey,
    first: Option<&'r TrialResult>,
    label: Label,
}

impl<'c, 'r> Draft<'c, 'r> {
    fn of(cell: &'c Cell<'r>) -> Self {
        Draft { key: &cell.key, first: cell.first(), label: plain(&cell.key) }
    }

    /// Equal for cells that no label tells apart.
    fn name(&self) -> (&CellKey, &Label) {
        (self.key, &self.label)
    }

    fn version(&self) -> &str {
        self.first.map_or("", |result| &result.engine.version)
    }
}

/// A label for each cell, no two the same for one number of threads.
pub(crate) fn labels(cells: &[Cell<'_>]) -> Vec<Label> {
    let mut drafts: Vec<Draft<'_, '_>> = cells.iter().map(Draft::of).collect();
    let works: Vec<Option<RequestedWork>> = cells.iter().map(Cell::work).collect();
    add_processes(&mut drafts);
    // Results of before have no keys of the experiment: facts tell their work.
    for words in [RequestedWork::key_words, RequestedWork::fact_words] {
        let words: Vec<_> = works.iter().map(|work| work.as_ref().map(words).unwrap_or_default()).collect();
        add_where_works_differ(&mut drafts, &words);
    }
    add_versions(&mut drafts);
    number_the_rest(&mut drafts);
    mark_tainted(&mut drafts);
    drafts.into_iter().map(|draft| draft.label).collect()
}

/// The engine as the user named it; the workload with the variant, if there is one.
fn plain(key: &CellKey) -> Label {
    let workload = match key.variant.as_str() {
        "" => key.workload.clone(),
        variant => format!("{}, {variant}", key.workload),
    };
    Label { engine: key.engine.clone(), workload }
}

/// Adds that clients were processes to the names of engines, where those of others were threads.
fn add_processes(drafts: &mut [Draft<'_, '_>]) {
    if !drafts.iter().any(|draft| draft.key.clients == ClientKind::Threads) {
        return;
    }
    for draft in drafts.iter_mut().filter(|draft| draft.key.clients == ClientKind::Processes) {
        draft.label.engine.push_str(", processes");
    }
}

/// Adds to the names of workloads that stand for different works the keys in which these differ, as the experiment
/// file calls them: `isolation snapshot`. `works` has the keys of each cell's work, and their values.
fn add_where_works_differ(drafts: &mut [Draft<'_, '_>], works: &[BTreeMap<String, String>]) {
    let name = |draft: &Draft<'_, '_>| (draft.key.phase, draft.label.workload.clone());
    let column = |draft: &Draft<'_, '_>| (name(draft), draft.key.readers, draft.key.writers);
    let mut differing: BTreeMap<(Phase, String), BTreeSet<&String>> = BTreeMap::new();
    for (index, draft) in drafts.iter().enumerate() {
        let before = (0..index).find(|other| column(&drafts[*other]) == column(draft));
        let Some(other) = before.map(|other| &works[other]).filter(|other| **other != works[index]) else { continue };
        let keys = other.keys().chain(works[index].keys()).filter(|key| other.get(*key) != works[index].get(*key));
        differing.entry(name(draft)).or_default().extend(keys);
    }
    for (draft, work) in drafts.iter_mut().zip(works) {
        let keys = differing.get(&name(draft)).into_iter().flatten();
        for (key, value) in keys.clone().filter_map(|key| Some((*key, work.get(*key)?))) {
            let is_alone = keys.clone().filter(|other| own_name(other) == own_name(key)).count() == 1;
            let key = if is_alone { own_name(key) } else { key };
            draft.label.workload.push_str(&format!(", {key} {value}"));
        }
    }
}

/// A key without its section: `batch` of `run.batch`.
fn own_name(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// Adds its version to the name of an engine where cells of that name have different ones.
fn add_versions(drafts: &mut [Draft<'_, '_>]) {
    let differs = |index: &usize| {
        let (draft, before) = (&drafts[*index], &drafts[..*index]);
        before.iter().any(|other| other.name() == draft.name() && other.version() != draft.version())
    };
    let name = |draft: &Draft<'_, '_>| (draft.key.phase, draft.label.engine.clone());
    let ambiguous: BTreeSet<_> = (0..drafts.len()).filter(differs).map(|index| name(&drafts[index])).collect();
    for draft in drafts.iter_mut().filter(|draft| ambiguous.contains(&name(draft)) && !draft.version().is_empty()) {
        let version = format!(", {}", draft.version());
        draft.label.engine.push_str(&version);
    }
}

/// The last resort: the engine was set up in another way that nothing else tells.
fn number_the_rest(drafts: &mut [Draft<'_, '_>]) {
    let alike = |index: usize| (0..index).filter(|other| drafts[*other].name() == drafts[index].name()).count();
    let before: Vec<usize> = (0..drafts.len()).map(alike).collect();
    for (draft, before) in drafts.iter_mut().zip(before).filter(|(_, before)| *before > 0) {
        draft.label.engine.push_str(&format!(" #{}", before + 1));
    }
}

/// Settings that promise less durability than they seem to are marked wherever the engine stands; the notes say why.
fn mark_tainted(drafts: &mut [Draft<'_, '_>]) {
    let is_tainted = |draft: &Draft<'_, '_>| draft.first.is_some_and(|result| result.taints().next().is_some());
    for draft in drafts.iter_mut().filter(|draft| is_tainted(draft)) {
        draft.label.engine.push_str(" TAINTED");
    }
}

#[cfg(test)]
mod tests {

    use kvdyno_analysis::cells_of_results;
    use kvdyno_results::TrialKey;
    use proptest::prelude::*;
    use proptest::sample::{select, subsequence};
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{only_trial, result};

    fn experiment() -> impl Strategy<Value = Value> {
        let run = select(vec![
            json!({}),
            json!({ "batch": 1 }),
            json!({ "batch": 100 }),
            json!({ "batch": 100, "isolation": "snapshot" }),
            json!({ "role": [{ "rate": 5 }, { "mix": "get 1" }] }),
            json!({ "role": [{ "mix": "get 1" }, { "rate": 5 }] }),
            json!({ "role": [{ "mix": "get 1" }, { "from": "5s", "until": "6s" }] }),
            json!({ "role": [{ "mix": "get 1" }, { "from": "4s", "until": "6s" }] }),
        ]);
        let load = select(vec![json!({}), json!({ "batch": 100 })]);
        (run, load).prop_map(|(run, load)| json!({ "run": [run], "load": load, "data": {} }))
    }

    fn trial() -> impl Strategy<Value = TrialResult> {
        let engine = select(vec!["lmdb", "bdb"]);
        let clients = select(vec![ClientKind::Threads, ClientKind::Processes]);
        let facts = subsequence(vec!["records", "read_rate"], 0..=1);
        (engine, clients, 1_u32..3, experiment(), facts, select(vec!["1", "2"])).prop_map(
            |(engine, clients, readers, experiment, facts, version)| {
                let trial = TrialKey { readers, clients, ..only_trial(engine, "mix") };
                let mut result = TrialResult { experiment, ..result(trial, 100.0) };
                result.engine.version = version.into();
                result.workload.records = if facts.contains(&"records") { 9 } else { 1000 };
                result.workload.read_rate = facts.contains(&"read_rate").then_some(9.0);
                result
            },
        )
    }

    proptest! {
        /// A column of a table has one work, and a line of it one cell.
        #[test]
        fn cells_of_one_label_did_one_work(
            results in prop::collection::vec(trial(), 2..10),
            has_keys in prop::bool::weighted(0.7),
        ) {
            let mut results = results;
            // Results of before have none.
            results.iter_mut().filter(|_| !has_keys).for_each(|result| result.experiment = Value::Null);
            let cells = cells_of_results(&results);
            let labels = labels(&cells);
            for (one, other) in (0..cells.len()).flat_map(|one| (0..one).map(move |other| (one, other))) {
                let column = |cell: usize| (cells[cell].key.readers, &labels[cell].workload);
                if column(one) == column(other) {
                    prop_assert_eq!(cells[one].work(), cells[other].work(), "{:?}", labels);
                    prop_assert_ne!(&labels[one], &labels[other]);
                }
            }
        }
    }
}
