//! `plan.json`: what a run set out to do.

use kvdyno_model::TimeSpan;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{HostFacts, MergedPart, PartFacts, Phase, TrialKey};

/// The experiment and its trials, as they were when the run began. Later steps compare against them: a report states
/// which trials are missing, and a run does not continue with another experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedPlan {
    /// Every key, defaults included, by section; null without a value.
    pub experiment: Value,
    /// Its trials, in order: all that it may do.
    pub trials: Vec<TrialKey>,
    /// Present once the results were enough before all of them were done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enough: Option<Enough>,
    /// The repeats that were ordered. Further repeats only replace those with too much interference. Absent where the
    /// results decide how many there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered: Option<u32>,
    /// The most values of a comparison that count where the results decide how many repeats there are: the budget has
    /// no time for more. Absent for as many as a run can have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_values: Option<u32>,
    /// The repeats so far that were done again because of interference, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeated: Vec<Repeated>,
    /// Trials that are left out of repeats, in order. It is decided before a repeat begins, and stays so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// The time that it took so far.
    #[serde(default)]
    pub spent: Spent,
    /// The time limit that a later command gave it; absent where that of the experiment holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<TimeSpan<1>>,
    /// The machines that it was measured on, in order: more than one if another resumed it. Empty in older results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostFacts>,
    /// The part of a plan whose trials these are; absent for a whole plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartFacts>,
    /// The parts whose results were merged, in order; empty for results that were measured as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<MergedPart>,
}

/// A repeat that was done again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeated {
    /// The one with interference.
    pub repeat: u32,
    /// The one that was done for it.
    pub by: u32,
    /// The interference with it.
    pub why: String,
}

/// Trials of a repeat that are not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The repeat that they belong to.
    pub repeat: u32,
    /// Their numbers.
    pub trials: Vec<u32>,
    /// Why not.
    pub why: String,
}

/// The wall time of a run, of everything in all its parts: checks, loads, runs, audits, the cost of the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Seconds.
    pub seconds: f64,
    /// Trials that had ended then.
    pub trials: usize,
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
    /// The plan of a run that begins.
    pub fn new(experiment: Value, trials: Vec<TrialKey>, ordered: Option<u32>) -> SavedPlan {
        SavedPlan {
            experiment,
            trials,
            enough: None,
            ordered,
            most_values: None,
            repeated: Vec::new(),
            skipped: Vec::new(),
            spent: Spent::default(),
            budget: None,
            hosts: Vec::new(),
            part: None,
            merged: Vec::new(),
        }
    }

    /// Gives it another time limit, so that it goes on if it ended for want of time, with as many values as there can
    /// be.
    pub fn lengthen(&mut self, budget: TimeSpan<1>) {
        (self.budget, self.enough, self.most_values) = (Some(budget), None, None);
    }

    /// Gives the keys that there were not when it was saved their values in `defaults`.
    pub fn complete(&mut self, defaults: &Value) {
        fill(&mut self.experiment, defaults);
    }

    /// The changes in another state of the experiment, a clause for each key: `data.records was 5 and is 6`.
    pub fn changes_of_experiment(&self, now: &Value) -> Vec<String> {
        let mut changes = Vec::new();
        collect("", &self.experiment, now, &mut changes);
        changes
    }

    /// The trials that it did, or still has to do.
    pub fn expected(&self) -> impl Iterator<Item = &TrialKey> {
        let ordered = self.ordered.map_or(u32::MAX, |ordered| ordered + self.repeated.len() as u32);
        let last = self.enough.as_ref().map_or(ordered, |enough| enough.repeat);
        let is_skipped = |trial: &TrialKey| self.skipped.iter().any(|skipped| skipped.trials.contains(&trial.number));
        self.trials.iter().filter(move |trial| trial.repeat <= last && !is_skipped(trial))
    }

    /// Whether the results decide how many repeats there will be, and have not decided it yet.
    pub fn is_open(&self) -> bool {
        self.ordered.is_none() && self.enough.is_none() && self.merged.is_empty()
    }

    /// [`SavedPlan::expected`], or if it is open, of that the repeats of which a trial `has_begun`, and the first.
    pub fn expected_so_far(&self, has_begun: impl Fn(&TrialKey) -> bool) -> impl Iterator<Item = &TrialKey> {
        let last = match self.is_open() {
            true => self.expected().filter(|trial| has_begun(trial)).map(|trial| trial.repeat).max().unwrap_or(1),
            false => u32::MAX,
        };
        self.expected().filter(move |trial| trial.repeat <= last)
    }

    /// The numbers of the parts that merged results do not have.
    pub fn absent_parts(&self) -> Vec<u32> {
        let Some(first) = self.merged.first() else { return Vec::new() };
        let is_there = |number: &u32| self.merged.iter().any(|merged| merged.facts.part.number() == *number);
        (1..=first.facts.part.of()).filter(|number| !is_there(number)).collect()
    }

    /// The first difference of another list of trials, as a clause; `None` if it is the same.
    pub fn change_of_trials<'a>(&self, now: impl IntoIterator<Item = &'a TrialKey>) -> Option<String> {
        let now: Vec<&TrialKey> = now.into_iter().collect();
        let differs = |index: &usize| self.trials.get(*index) != now.get(*index).copied();
        let first = (0..self.trials.len().max(now.len())).find(differs)?;
        let words = |trial: Option<&TrialKey>| trial.map_or("none".to_owned(), shown);
        let (before, after) = (words(self.trials.get(first)), words(now.get(first).copied()));
        let number = self.trials.get(first).or(now.get(first).copied()).map_or(0, |trial| trial.number);
        Some(format!("trial {number} was {before} and is {after}"))
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

/// Adds what only `defaults` has.
fn fill(experiment: &mut Value, defaults: &Value) {
    let (Value::Object(experiment), Value::Object(defaults)) = (experiment, defaults) else { return };
    for (key, value) in defaults {
        match experiment.get_mut(key) {
            Some(own) => fill(own, value),
            None => drop(experiment.insert(key.clone(), value.clone())),
        }
    }
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
        SavedPlan::new(experiment, Vec::new(), None)
    }

    #[test]
    fn what_is_expected_is_what_was_ordered_what_is_repeated_and_not_what_is_skipped() {
        let key = |number: u32| TrialKey {
            number,
            engine: "lmdb".into(),
            variant: String::new(),
            phase: Phase::Run,
            workload: "readrandom".into(),
            readers: 1,
            writers: 0,
            clients: Default::default(),
            repeat: number.div_ceil(2),
        };
        let mut plan = SavedPlan::new(Value::Null, (1..=10).map(key).collect(), Some(3));
        let numbers = |plan: &SavedPlan| plan.expected().map(|trial| trial.number).collect::<Vec<_>>();
        assert_eq!(numbers(&plan), [1, 2, 3, 4, 5, 6]);
        plan.repeated = vec![Repeated { repeat: 2, by: 4, why: "stolen".into() }];
        plan.skipped = vec![Skipped { repeat: 4, trials: vec![7], why: "there was no interference".into() }];
        assert_eq!(numbers(&plan), [1, 2, 3, 4, 5, 6, 8]);
        plan.enough = Some(Enough { repeat: 1, why: "enough".into() });
        assert_eq!(numbers(&plan), [1, 2]);
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
        let mut older = before.clone();
        older.complete(&json!({"data": {"records": 1, "checksum": false}, "lab": {"profile": false}}));
        let now = json!({"data": {"records": 5, "key_size": null, "checksum": false}, "run": [{"readers": [1]}],
                         "engine": {}, "lab": {"profile": true}});
        assert_eq!(older.changes_of_experiment(&now), ["lab.profile was false and is true"]);
        let more = json!({"data": {"records": 5, "key_size": null}, "run": [{}, {}], "engine": {}});
        assert_eq!(before.changes_of_experiment(&more), ["run was 1 sections and is 2 sections"]);
    }
}
