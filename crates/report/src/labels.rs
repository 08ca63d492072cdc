//! Labels of cells. A cell's identity, its [`CellKey`], says which setup, variant and workload it is of, and stays as
//! it is; a label is the name that people read. Cells that share an engine, a workload and numbers of threads and
//! differ in something else, such as the size of values, have that in their labels.

use std::collections::BTreeMap;

use kvdyno_analysis::{Cell, CellKey};
use kvdyno_model::text::{bytes, grouped};
use kvdyno_results::{ClientKind, Phase, RequestedWork, RoleFacts, TrialResult, WorkloadFacts};
use serde::Serialize;

use crate::order::distinct;

/// The names of a cell for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Label {
    /// The engine, with whatever tells its cells from others of the same name: `bdb, processes TAINTED`.
    pub(crate) engine: String,
    /// The workload, with whatever tells its cells from others of the same name: `readrandom, 16 + 24 bytes`.
    pub(crate) workload: String,
}

/// A property in which cells can differ, in words; empty where a cell has none.
type Property = fn(&TrialResult) -> String;

const OF_WORKLOADS: [Property; 17] = [
    |r| format!("{} records", grouped(r.workload.records as f64)),
    |r| r.workload.sizes(|bytes| bytes.to_string()),
    |r| format!("keys in {}", r.workload.keys()),
    |r| format!("batches of {}", grouped(r.workload.batch as f64)),
    |r| format!("{} reads a transaction", r.workload.reads_per_transaction),
    |r| r.workload.seek_nexts.map_or(String::new(), |steps| format!("{} steps a range", grouped(steps as f64))),
    |r| r.workload.seek_within.map_or(String::new(), |within| format!("seek_within {}", grouped(within as f64))),
    |r| r.workload.keys_per_multiget.map_or(String::new(), |keys| format!("{} keys a multiget", grouped(keys as f64))),
    |r| format!("durability {}", r.workload.durability),
    |r| format!("cache {}", bytes(r.workload.cache_bytes as f64)),
    |r| format!("write buffer {}", bytes(r.workload.write_buffer_bytes as f64)),
    |r| format!("compression {}", r.workload.compression),
    |r| r.workload.write_rate.map_or("writes not limited".to_owned(), |rate| format!("{} writes/s", grouped(rate))),
    |r| r.workload.read_rate.map_or("reads in a closed loop".to_owned(), |rate| format!("{} reads/s", grouped(rate))),
    |r| r.workload.rate.map_or(String::new(), |rate| format!("{} operations/s", grouped(rate))),
    |r| r.workload.arrival.map(|arrival| arrival.to_string()).unwrap_or_default(),
    |r| roles(&r.workload),
];

/// The roles of clients in words; empty where these are all alike.
pub(crate) fn roles(workload: &WorkloadFacts) -> String {
    workload.roles.iter().map(role).collect::<Vec<_>>().join("; ")
}

/// `front: 4 x get 95, put 5, zipf 0.99, 100 a second`.
fn role(role: &RoleFacts) -> String {
    let rate = role.rate.map_or(String::new(), |rate| format!(", {} a second", grouped(rate)));
    let durability = role.durability.as_ref().map_or(String::new(), |level| format!(", durability {level}"));
    format!("{}: {} x {}, {}{rate}{durability}", role.name, role.clients, role.mix, role.distribution)
}

const OF_ENGINES: Property = |r| r.engine.version.clone();

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
}

/// A label for each cell, no two the same for one number of threads.
pub(crate) fn labels(cells: &[Cell<'_>]) -> Vec<Label> {
    let mut drafts: Vec<Draft<'_, '_>> = cells.iter().map(Draft::of).collect();
    add_processes(&mut drafts);
    for property in OF_WORKLOADS {
        add_where_cells_differ(&mut drafts, property, |label| &mut label.workload);
    }
    add_differing_keys(&mut drafts);
    add_where_cells_differ(&mut drafts, OF_ENGINES, |label| &mut label.engine);
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

/// Where some clients were threads and others processes, the engines of the latter say so.
fn add_processes(drafts: &mut [Draft<'_, '_>]) {
    if !drafts.iter().any(|draft| draft.key.clients == ClientKind::Threads) {
        return;
    }
    for draft in drafts.iter_mut().filter(|draft| draft.key.clients == ClientKind::Processes) {
        draft.label.engine.push_str(", processes");
    }
}

/// Adds a property to names where cells of the same name differ in it. Every cell that shares the affected part of the
/// name gets its own property in that part.
fn add_where_cells_differ(drafts: &mut [Draft<'_, '_>], property: Property, part: fn(&mut Label) -> &mut String) {
    let words: Vec<String> = drafts.iter().map(|draft| draft.first.map(property).unwrap_or_default()).collect();
    let differs = |index: &usize| {
        (0..*index).any(|other| drafts[other].name() == drafts[*index].name() && words[other] != words[*index])
    };
    let ambiguous = (0..drafts.len()).filter(differs);
    let names =
        distinct(ambiguous.map(|index| (drafts[index].key.phase, part(&mut drafts[index].label.clone()).clone())));
    for (draft, word) in drafts.iter_mut().zip(words).filter(|(_, word)| !word.is_empty()) {
        let phase = draft.key.phase;
        let own = part(&mut draft.label);
        if names.iter().any(|(other, name)| *other == phase && name == own) {
            own.push_str(", ");
            own.push_str(&word);
        }
    }
}

/// Adds keys to names where cells of the same name did different work: the keys in which the work differs, as the
/// experiment file calls them, such as `isolation snapshot`.
fn add_differing_keys(drafts: &mut [Draft<'_, '_>]) {
    let works: Vec<BTreeMap<String, String>> = drafts
        .iter()
        .map(|draft| draft.first.map(RequestedWork::of).map(|work| work.key_words()).unwrap_or_default())
        .collect();
    let name = |draft: &Draft<'_, '_>| (draft.key.phase, draft.label.workload.clone());
    let column = |draft: &Draft<'_, '_>| (name(draft), draft.key.readers, draft.key.writers);
    let mut differing: Vec<((Phase, String), Vec<&String>)> = Vec::new();
    for (index, draft) in drafts.iter().enumerate() {
        let before = (0..index).find(|other| column(&drafts[*other]) == column(draft));
        let Some(other) = before.map(|other| &works[other]).filter(|other| **other != works[index]) else { continue };
        let keys = other.keys().chain(works[index].keys()).filter(|key| other.get(*key) != works[index].get(*key));
        match differing.iter_mut().find(|(same, _)| *same == name(draft)) {
            Some((_, all)) => all.extend(keys),
            None => differing.push((name(draft), keys.collect())),
        }
    }
    for (draft, work) in drafts.iter_mut().zip(&works) {
        let Some((_, keys)) = differing.iter().find(|(same, _)| *same == name(draft)) else { continue };
        for key in distinct(keys.iter()) {
            if let Some(value) = work.get(*key) {
                let own = key.rsplit('.').next().unwrap_or(key);
                draft.label.workload.push_str(&format!(", {own} {value}"));
            }
        }
    }
}

/// The last resort: the engine was set up in another way that no property tells.
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
