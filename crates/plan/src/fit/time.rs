//! A budget of time, divided over the runs.

use std::time::Duration;

use kvdyno_worker::workloads::WorkloadName;
use toml::{Table, Value};

use super::parts::{runs, tell};
use super::{RUN_PART, Room};
use crate::plan::Plan;
use kvdyno_experiment::Span;
use kvdyno_experiment::{Experiment, FileError};

/// Of a run's time, its warm-up.
pub(super) const WARMUP_PART: f64 = 0.1;
/// No run is shorter.
pub(super) const LEAST_RUN: Duration = Duration::from_millis(500);

/// What is left of the budget for each run.
pub(super) fn run_time(experiment: &Experiment, room: &Room, budget: Duration) -> Result<Duration, FileError> {
    let plan = Plan::of(&experiment.variants()?);
    let runs = plan
        .trials
        .iter()
        .filter(|trial| trial.planned_time().is_some() && !room.missing.contains(&trial.key.engine))
        .count();
    Ok((budget.mul_f64(RUN_PART) / runs.max(1) as u32).max(LEAST_RUN))
}

pub(super) fn shorten(part: &mut Table, name: &str, time: Duration, changes: &mut Vec<String>) {
    let of_variant = !name.is_empty();
    for run in runs(part) {
        let old = run.get("duration").and_then(Value::as_str).and_then(|text| text.parse::<Span>().ok());
        // A variant that says nothing of it has what the experiment has.
        if ends_by_itself(run) || (of_variant && old.is_none()) {
            continue;
        }
        let old = old.unwrap_or(Span(kvdyno_experiment::DURATION));
        let new = Span(Duration::from_millis(time.mul_f64(1.0 - WARMUP_PART).as_millis() as u64).min(old.0));
        tell(changes, &format!("{name}duration"), &old, &new);
        run.insert("duration".to_owned(), Value::String(new.to_string()));
        let warmup = Span(Duration::from_millis(time.mul_f64(WARMUP_PART).as_millis() as u64));
        run.insert("warmup".to_owned(), Value::String(warmup.to_string()));
    }
}

/// After a number of operations, not after a time.
pub(super) fn ends_by_itself(run: &Table) -> bool {
    let workload = run.get("workload").and_then(Value::as_str).and_then(|name| name.parse::<WorkloadName>().ok());
    let by_part = workload.is_some_and(|one| one.ends_by_part()) && !run.contains_key("duration");
    by_part || run.contains_key("operations") || run.contains_key("part")
}

/// Of a budget, the most that one trial may take: an engine that is pathologically slow costs no more than that.
const TRIAL_PART: f64 = 0.1;
/// And the least that it may: opening and closing take their time.
const LEAST_LIMIT: Duration = Duration::from_secs(30);

/// Ends trials that would eat the budget.
pub(super) fn limit_trials(table: &mut Table, budget: Duration, changes: &mut Vec<String>) {
    let longest = Span(Duration::from_secs(budget.mul_f64(TRIAL_PART).max(LEAST_LIMIT).as_secs()));
    let lab = table.entry("lab").or_insert_with(|| Value::Table(Table::new()));
    let Some(lab) = lab.as_table_mut().filter(|lab| !lab.contains_key("longest")) else { return };
    changes.push(format!("longest: a trial that is not done after {longest} is ended"));
    lab.insert("longest".to_owned(), Value::String(longest.to_string()));
}
