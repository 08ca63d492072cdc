//! The work that a trial was asked for.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{Phase, TrialResult, WorkloadFacts};

/// Sections of the experiment that say what is done, and how it is surrounded. The others say how often, how long it
/// may take, and which setups do it.
const SECTIONS: [&str; 5] = ["data", "settings", "load", "run", "environment"];

/// The work requested of a trial, whichever setup does it. The requested kind of clients is a key of it; an engine that
/// has only processes does the same work as others with threads.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestedWork {
    /// Loading or running.
    pub phase: Phase,
    /// Which of the experiment's variants; empty if it has none.
    pub variant: String,
    /// Clients that read.
    pub readers: u32,
    /// Clients that write.
    pub writers: u32,
    /// The work in words, without the trial's own seed.
    pub facts: WorkloadFacts,
    /// The keys of the experiment by section, as far as they concern the trial; none in results that do not have them.
    pub keys: Map<String, Value>,
}

impl RequestedWork {
    /// The work of a trial.
    pub fn of(result: &TrialResult) -> RequestedWork {
        let trial = &result.trial;
        RequestedWork {
            phase: trial.phase,
            variant: trial.variant.clone(),
            readers: trial.readers,
            writers: trial.writers,
            facts: WorkloadFacts { seed: 0, ..result.workload.clone() },
            keys: keys(&result.experiment),
        }
    }

    /// Each key that has a value, as the experiment file calls it, with that value in words: `run.batch` and `100`.
    pub fn key_words(&self) -> BTreeMap<String, String> {
        let mut words = BTreeMap::new();
        self.keys.iter().for_each(|(section, value)| flatten(section.clone(), value, &mut words));
        words
    }

    /// The same of each fact, as a result calls it: `workload.batch` and `100`.
    pub fn fact_words(&self) -> BTreeMap<String, String> {
        let mut words = BTreeMap::new();
        flatten("workload".to_owned(), &serde_json::to_value(&self.facts).unwrap_or_default(), &mut words);
        words
    }
}

/// The keys of a trial's experiment that are of its work. The numbers of readers are a list, and the trial's own is
/// known.
fn keys(experiment: &Value) -> Map<String, Value> {
    let section = |name: &str| Some((name.to_owned(), experiment.get(name)?.clone()));
    let mut keys: Map<String, Value> = SECTIONS.into_iter().filter_map(section).collect();
    let runs = keys.get_mut("run").and_then(Value::as_array_mut).into_iter().flatten();
    runs.filter_map(Value::as_object_mut).for_each(|run| drop(run.remove("readers")));
    keys.values_mut().for_each(drop_nulls);
    keys
}

/// Drops keys without a value: a version of the lab that does not know a key leaves it out.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(values) => values.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

fn flatten(path: String, value: &Value, words: &mut BTreeMap<String, String>) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| flatten(format!("{path}.{key}"), value, words));
        }
        // A trial is of one run.
        Value::Array(values) if values.len() == 1 => flatten(path, &values[0], words),
        Value::Array(values) => {
            (1..).zip(values).for_each(|(nth, value)| flatten(format!("{path}.{nth}"), value, words));
        }
        Value::String(text) => drop(words.insert(path, text.clone())),
        other => drop(words.insert(path, other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_those_of_the_work_and_not_of_the_lab() {
        let experiment = json!({
            "engines": ["lmdb"],
            "lab": { "repeat": 3 },
            "data": { "records": 1000, "value_size": null },
            "run": [{
                "workload": "mix", "batch": 100, "arrival": null, "readers": [1, 2],
                "role": [{ "mix": "a", "rate": null }, { "mix": "b" }],
            }],
        });
        let keys = keys(&experiment);
        let (run, role) = (&keys["run"][0], &keys["run"][0]["role"][0]);
        assert_eq!((run.get("readers"), run.get("arrival"), role.get("rate")), (None, None, None));
        let mut words = BTreeMap::new();
        keys.iter().for_each(|(section, value)| flatten(section.clone(), value, &mut words));
        let said: Vec<String> = words.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        assert_eq!(
            said,
            [
                "data.records = 1000",
                "run.batch = 100",
                "run.role.1.mix = a",
                "run.role.2.mix = b",
                "run.workload = mix",
            ]
        );
    }
}
