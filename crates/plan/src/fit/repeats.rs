//! Number of repeats of a fitted experiment that does not set it: a figure without an interval decides nothing.

use std::time::Duration;

use kvdyno_experiment::{Experiment, FileError, LabKey};
use kvdyno_model::{KeyPath, LeaveOut, Repeat};
use toml::Table;

use super::change::FitChange;
use super::thin::estimate;
use super::time::run_time;
use super::{MachineCapacity, fitted_table, scale_of};

/// The least that gives intervals.
const LEAST: u32 = 3;
/// Beyond these a further one narrows an interval by less than a longer run would.
const MOST: u32 = 8;
/// Run time beyond this is spent on another repeat: most of the variation from trial to trial comes from the database.
const LONG_RUN: Duration = Duration::from_secs(2);

/// The experiment, which is to be done once, with as many repeats as the budget has room for, and what changes by that.
/// `None` where one is all that fits without more engines or variants being left out.
pub(super) fn with_repeats(
    experiment: &Experiment,
    machine: &MachineCapacity,
) -> Result<Option<(Table, Vec<FitChange>)>, FileError> {
    // If only loads are measured, each repeat would shrink all of them.
    let Some(budget) = machine.budget.filter(|_| !experiment.run.is_empty()) else { return Ok(None) };
    let left_out = left_out(&fitted_table(experiment, machine)?.1);
    let least_scale = scale_of(&repeated(experiment, LEAST), machine)?;
    for repeats in (LEAST..=MOST).rev() {
        let repeated = repeated(experiment, repeats);
        if scale_of(&repeated, machine)? < least_scale {
            continue;
        }
        let (table, mut changes) = fitted_table(&repeated, machine)?;
        let least = if repeats > LEAST { LONG_RUN } else { Duration::ZERO };
        let fits = estimate(&table, &machine.engines.missing)? <= budget
            && run_time(&Experiment::from_table(&table)?, machine, budget)? >= least;
        if fits && self::left_out(&changes) == left_out {
            changes.push(FitChange::Value {
                variant: String::new(),
                key: KeyPath::from(LabKey::Repeat),
                old: experiment.lab.repeat.to_string(),
                new: repeated.lab.repeat.to_string(),
            });
            return Ok(Some((table, changes)));
        }
    }
    Ok(None)
}

fn repeated(experiment: &Experiment, repeats: u32) -> Experiment {
    let mut repeated = experiment.clone();
    repeated.lab.repeat = Repeat::times(repeats);
    repeated
}

/// The engines and variants that are left out.
fn left_out(changes: &[FitChange]) -> Vec<(LeaveOut, Vec<String>)> {
    let left_out = changes.iter().filter_map(|change| match change {
        FitChange::LeftOut { what, names } => Some((*what, names.clone())),
        _ => None,
    });
    left_out.collect()
}
