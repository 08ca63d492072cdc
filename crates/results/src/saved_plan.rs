//! `plan.json`: what a run set out to do.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Phase, TrialKey};

/// The experiment and its trials, as they were when the run began. What is done later is held against it: a report that
/// misses trials says so, and a run does not go on with another experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedPlan {
    /// Every key, defaults included, by section; null without a value.
    pub experiment: Value,
    /// Its trials, in order: all that it may come to.
    pub trials: Vec<TrialKey>,
    /// Present once the results were enough before all of them were done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enough: Option<Enough>,
}

/// The end of a run whose results were enough.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enough {
    /// After this repeat.
    pub repeat: u32,
    /// Why.
    pub why: String,
}

impl SavedPlan {
    /// The changes in another state of the experiment, a clause for each key: `data.records was 5 and is 6`.
    pub fn changes_of_experiment(&self, now: &Value) -> Vec<String> {
        let mut changes = Vec::new();
        collect("", &self.experiment, now, &mut changes);
        changes
    }

    /// The trials that it came to, or still has to.
    pub fn expected(&self) -> impl Iterator<Item = &TrialKey> {
        let last = self.enough.as_ref().map_or(u32::MAX, |enough| enough.repeat);
        self.trials.iter().filter(move |trial| trial.repeat <= last)
    }

    /// The first difference of another list of trials, as a clause; `None` if it is the same.
    pub fn change_of_trials<'a>(&self, now: impl IntoIterator<Item = &'a TrialKey>) -> Option<String> {
        let now: Vec<&TrialKey> = now.into_iter().collect();
        let differs = |index: &usize| self.trials.get(*index) != now.get(*index).copied();
        let first = (0..self.trials.len().max(now.len())).find(differs)?;
        let words = |trial: Option<&TrialKey>| trial.map_or("none".to_owned(), shown);
        let (before, after) = (words(self.trials.get(first)), words(now.get(first).copied()));
        Some(format!("trial {} was {before} and is {after}", first + 1))
    }
}

fn shown(trial: &TrialKey) -> String {
    let variant = if trial.variant.is_empty() { String::new() } else { format!(" of variant `{}`", trial.variant) };
    let threads = match trial.phase {
        Phase::Load => format!("{} writers", trial.writers),
        Phase::Run => format!("{} readers and {} writers", trial.readers, trial.writers),
    };
    let clients = &trial.clients;
    format!("{} {} with {threads} ({clients}), repeat {}{variant}", trial.engine, trial.workload, trial.repeat)
}

/// The values that differ, each by its path.
fn collect(path: &str, before: &Value, now: &Value, changes: &mut Vec<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            let mut keys: Vec<&String> =
                before.keys().chain(now.keys().filter(|key| !before.contains_key(*key))).collect();
            keys.sort();
            for key in keys {
                let value = |of: &serde_json::Map<String, Value>| of.get(key).cloned().unwrap_or_default();
                collect(&below(key), &value(before), &value(now), changes);
            }
        }
        (Value::Array(before), Value::Array(now)) if before.len() == now.len() => {
            for (index, (before, now)) in before.iter().zip(now).enumerate() {
                collect(&format!("{path}[{}]", index + 1), before, now, changes);
            }
        }
        (before, now) if before == now => (),
        (before, now) => changes.push(format!("{path} was {} and is {}", brief(before), brief(now))),
    }
}

/// A value for people: of a section no more than that it is there.
fn brief(value: &Value) -> String {
    match value {
        Value::Null => "absent".to_owned(),
        Value::Object(_) => "there".to_owned(),
        Value::Array(all) if all.iter().any(Value::is_object) => format!("{} sections", all.len()),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plan(experiment: Value) -> SavedPlan {
        SavedPlan { experiment, trials: Vec::new(), enough: None }
    }

    #[test]
    fn what_changed_is_told_by_its_key() {
        let before = plan(json!({"data": {"records": 5, "key_size": null}, "run": [{"readers": [1]}], "engine": {}}));
        let now = json!({"data": {"records": 6, "key_size": 8}, "run": [{"readers": [2]}], "engine": {"x": {"a": 1}}});
        let changes = before.changes_of_experiment(&now).join("; ");
        let expected = "data.key_size was absent and is 8; data.records was 5 and is 6; engine.x was absent and is \
                        there; run[1].readers[1] was 1 and is 2";
        assert_eq!(changes, expected);
        assert!(before.changes_of_experiment(&before.experiment).is_empty());
        let more = json!({"data": {"records": 5, "key_size": null}, "run": [{}, {}], "engine": {}});
        assert_eq!(before.changes_of_experiment(&more), ["run was 1 sections and is 2 sections"]);
    }
}
