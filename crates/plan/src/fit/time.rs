//! A budget of time, divided over the runs.

use std::time::Duration;

use kvdyno_experiment::{Experiment, FileError, LabKey, RoleKey, RunKey};
use kvdyno_model::{Arrival, KeyPath, Phase, TimeSpan};
use kvdyno_worker::workloads::Workload;
use serde::Deserialize;
use toml::{Table, Value};

use super::REPEATS_OF_AUTO;
use super::capacity::{MachineCapacity, RUN_SHARE};
use super::change::FitChange;
use super::tables::{runs, tell};
use crate::design::{are_duets, times_measured};
use crate::plan::{Plan, PlannedTrial};

/// The fraction of a run's time that is its warm-up.
pub(super) const WARMUP_SHARE: f64 = 0.1;
/// No run is shorter.
pub(super) const LEAST_RUN: Duration = Duration::from_millis(500);

/// The time that the budget leaves for each run.
pub(super) fn run_time(
    experiment: &Experiment,
    machine: &MachineCapacity,
    budget: Duration,
) -> Result<Duration, FileError> {
    let variants = experiment.variants()?;
    let plan = Plan::of(&variants);
    let is_here = |trial: &&PlannedTrial| !machine.engines.missing.contains(&trial.key.engine);
    let runs = plan.trials.iter().filter(|trial| trial.planned_time().is_some()).filter(is_here);
    let runs: u32 = runs.map(|trial| times_measured(&variants[trial.variant].experiment)).sum();
    Ok((budget.mul_f64(RUN_SHARE) / runs.max(1)).max(LEAST_RUN))
}

/// The shortest run of a comparison that has to end in a budget.
const SHORTEST_COMPARED: Duration = Duration::from_millis(200);
/// The same of duets. Each of the two has slices of this length to itself, and works twice as long beside the other.
const SHORTEST_DUET: Duration = Duration::from_millis(100);
/// The same of a search. Each of its rates has as long: with less, the machine's pauses break the promise by chance.
const SHORTEST_SEARCHED: Duration = Duration::from_millis(500);
/// Duets that are wanted for each repeat of other designs: setups that cross over give a value in two.
const DUETS_OF_A_VALUE: u32 = 2;
/// The warm-up of such a run as a part of its duration.
const WARMUP_OF_COMPARED: f64 = 0.2;

/// Shortens the runs of an experiment, so that its budget has time for ten repeats of them: many short
/// repeats decide more than few long ones. The interval of three repeats is some ten standard errors wide to either
/// side, that of ten repeats two to three. A warm-up that was given stays as it is, and a period of an arrival fits.
///
/// # Errors
/// If its variants do not hold together.
pub fn shorten_for_repeats(
    experiment: &mut Experiment,
    budget: Duration,
    warmup_is_given: bool,
) -> Result<(), FileError> {
    let variants = experiment.variants()?;
    let plan = Plan::of(&variants);
    let first = plan.trials.iter().filter(|trial| trial.key.repeat == 1 && trial.key.phase == Phase::Run);
    let runs: u32 = first.map(|trial| times_measured(&variants[trial.variant].experiment)).sum();
    let are_duets = variants.iter().all(|variant| are_duets(&variant.experiment));
    let repeats = if are_duets { DUETS_OF_A_VALUE * REPEATS_OF_AUTO } else { REPEATS_OF_AUTO };
    let each = budget.mul_f64(RUN_SHARE) / (runs.max(1) * repeats);
    let whole_ms = |time: Duration| Duration::from_millis(time.as_millis() as u64);
    for run in &mut experiment.run {
        let shortest = match (are_duets, run.searches()) {
            (true, _) => SHORTEST_DUET,
            (false, true) => SHORTEST_SEARCHED,
            (false, false) => SHORTEST_COMPARED,
        };
        let Some(duration) = &mut run.duration else { continue };
        let most = match warmup_is_given {
            true => each.saturating_sub(run.warmup.0),
            false => each.div_f64(1.0 + WARMUP_OF_COMPARED),
        };
        let period = run.arrival.and_then(Arrival::period).unwrap_or_default();
        duration.0 = duration.0.min(whole_ms(most.max(shortest).max(period)));
        if !warmup_is_given {
            run.warmup.0 = run.warmup.0.min(whole_ms(duration.0.mul_f64(WARMUP_OF_COMPARED)));
        }
    }
    Ok(())
}

/// Shortens the runs of `table`, which is that of a variant or of the experiment, and periods of arrivals that would
/// then be longer than any run.
pub(super) fn shorten(table: &mut Table, variant: &str, time: Duration, changes: &mut Vec<FitChange>) {
    let longest = Duration::from_millis(time.mul_f64(1.0 - WARMUP_SHARE).as_millis() as u64);
    for run in runs(table) {
        if ends_by_itself(run) {
            continue;
        }
        shorten_period(run, variant, RunKey::Arrival.into(), longest, changes);
        let roles = run.get_mut("role").and_then(Value::as_array_mut).into_iter().flatten();
        for (index, role) in roles.enumerate().filter_map(|(index, role)| Some((index, role.as_table_mut()?))) {
            shorten_period(role, variant, RoleKey::Arrival.of_role(index), longest, changes);
        }
        let old = run.get(RunKey::Duration.name()).and_then(|time| TimeSpan::<1>::deserialize(time.clone()).ok());
        // A variant that says nothing of it has what the experiment has.
        if !variant.is_empty() && old.is_none() {
            continue;
        }
        let old = old.unwrap_or(TimeSpan(kvdyno_experiment::DURATION));
        let new = TimeSpan(longest.min(old.0));
        tell(changes, variant, RunKey::Duration, (&old, &new));
        run.insert(RunKey::Duration.name().to_owned(), Value::String(new.to_string()));
        let warmup: TimeSpan = TimeSpan(Duration::from_millis(time.mul_f64(WARMUP_SHARE).as_millis() as u64));
        run.insert(RunKey::Warmup.name().to_owned(), Value::String(warmup.to_string()));
        shorten_roles(run, variant, new.0.as_secs_f64() / old.0.as_secs_f64(), changes);
    }
}

/// Shortens the parts of the run in which its roles work, by the same factor as the run.
fn shorten_roles(run: &mut Table, variant: &str, factor: f64, changes: &mut Vec<FitChange>) {
    let roles = run.get_mut("role").and_then(Value::as_array_mut).into_iter().flatten();
    for (index, role) in roles.enumerate() {
        for key in [RoleKey::From, RoleKey::Until] {
            let Some(time) = role.get_mut(key.name()) else { continue };
            let Ok(old) = TimeSpan::<0>::deserialize(time.clone()) else { continue };
            // To the nearest millisecond, as the run.
            let new = TimeSpan(Duration::from_millis((1e3 * old.0.mul_f64(factor).as_secs_f64()).round() as u64));
            tell(changes, variant, key.of_role(index), (&old, &new));
            *time = Value::String(new.to_string());
        }
    }
}

/// Shortens the period of the arrival in the table of a run or of a role. If it fitted into the run before, and runs
/// are not longer than `longest`, it fits again.
fn shorten_period(table: &mut Table, variant: &str, key: KeyPath, longest: Duration, changes: &mut Vec<FitChange>) {
    let Some(value) = table.get_mut(RunKey::Arrival.name()) else { return };
    let Ok(old) = Arrival::deserialize(value.clone()) else { return };
    let new = old.within(longest);
    tell(changes, variant, key, (&old, &new));
    *value = Value::String(new.to_string());
}

/// Whether a run ends after a number of operations rather than after a time.
pub(super) fn ends_by_itself(run: &Table) -> bool {
    let has = |key: RunKey| run.contains_key(key.name());
    let kind = run.get(RunKey::Workload.name()).and_then(|kind| Workload::deserialize(kind.clone()).ok());
    let by_itself = kind.is_some_and(|kind| kind.profile().ends_by_part) && !has(RunKey::Duration);
    by_itself || has(RunKey::Operations) || has(RunKey::RecordsFraction)
}

/// The largest fraction of a budget that one trial may take: it bounds the cost of a pathologically slow engine.
const TRIAL_SHARE: f64 = 0.1;
/// The shortest limit on a trial: opening and closing take their time.
const LEAST_LIMIT: Duration = Duration::from_secs(30);

/// Ends trials that would eat the budget.
pub(super) fn limit_trials(table: &mut Table, budget: Duration, changes: &mut Vec<FitChange>) {
    let timeout = TimeSpan(Duration::from_secs(budget.mul_f64(TRIAL_SHARE).max(LEAST_LIMIT).as_secs()));
    let key = LabKey::TrialTimeout.name();
    let lab = table.entry("lab").or_insert_with(|| Value::Table(Table::new()));
    let Some(lab) = lab.as_table_mut().filter(|lab| !lab.contains_key(key)) else { return };
    changes.push(FitChange::TrialTimeout(timeout));
    lab.insert(key.to_owned(), Value::String(timeout.to_string()));
}
