//! The size of an experiment, before it is run.

use std::fmt;
use std::time::Duration;

use kvdyno_model::Repeat;
use kvdyno_model::text::counted;
use kvdyno_results::Phase;

use crate::check::Checked;
use crate::design::{DesignMachine, load_rounds};
use crate::fit::load_seconds;
use crate::plan::PlannedTrial;

/// Number of trials of an experiment, and their duration. Its `Display` is a line for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Loads.
    pub loads: usize,
    /// Their time, as far as an average over engines can tell.
    pub load_time: Duration,
    /// Runs.
    pub runs: usize,
    /// Their time, warm-ups included.
    pub run_time: Duration,
    /// The number of those runs that end after their operations: their duration is unknown.
    pub unknown: usize,
    /// All of this is repeated until the comparisons are decided.
    pub is_auto: bool,
    /// And until the searched rates are known.
    pub searches: bool,
}

impl Extent {
    /// The extent of an experiment.
    pub fn of(checked: &Checked) -> Extent {
        let is_auto = checked.experiment.lab.repeat.is_auto();
        let machines: Vec<DesignMachine> =
            checked.variants.iter().map(|one| DesignMachine::of(&one.environment)).collect();
        let steps = checked.plan.ordered_steps().filter(|step| !is_auto || step[0].key.repeat == 1);
        let (loads, runs): (Vec<_>, Vec<_>) = steps.partition(|step| step[0].key.phase == Phase::Load);
        let load_time = |step: &&[PlannedTrial]| {
            let variant = step[0].variant;
            let experiment = &checked.variants[variant].variant.experiment;
            load_seconds(experiment) * f64::from(load_rounds(experiment, step, &machines[variant]))
        };
        let runs: Vec<&PlannedTrial> = runs.into_iter().flatten().collect();
        let times: Vec<Duration> = runs.iter().filter_map(|trial| trial.expected_time()).collect();
        Extent {
            loads: loads.iter().map(|step| step.len()).sum(),
            load_time: Duration::from_secs(loads.iter().map(load_time).sum::<f64>() as u64),
            runs: runs.len(),
            run_time: Duration::from_secs(times.iter().sum::<Duration>().as_secs()),
            unknown: runs.len() - times.len(),
            is_auto,
            searches: checked.variants.iter().any(|one| one.variant.experiment.searches()),
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |time: Duration| match time {
            Duration::ZERO => "a second".to_owned(),
            time => humantime::format_duration(time).to_string(),
        };
        let (trials, loads) = (counted(self.loads + self.runs, "trial"), counted(self.loads, "load"));
        write!(f, "{trials}: {loads} of about {} in all", time(self.load_time))?;
        let timed = self.runs - self.unknown;
        if timed > 0 {
            write!(f, ", {} of {} in all", counted(timed, "run"), time(self.run_time))?;
        }
        if self.unknown > 0 {
            write!(f, ", {} as long as their operations take", counted(self.unknown, "run"))?;
        }
        if self.is_auto {
            let rates = if self.searches { " and the highest rates known" } else { "" };
            write!(f, "; again until the comparisons are decided{rates}, {} times at the most", Repeat::MOST_AUTO)?;
        }
        Ok(())
    }
}
