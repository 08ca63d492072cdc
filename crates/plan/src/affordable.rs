//! The repeats that a budget has time for, before anything is measured.

use std::time::Duration;

use kvdyno_model::Design;
use kvdyno_results::Phase;

use crate::check::Checked;
use crate::design::{DesignMachine, load_rounds, times_measured};
use crate::fit::{OVERHEAD, load_seconds};
use crate::plan::PlannedTrial;

/// The time before the first trial and after the last.
const ENDS: Duration = Duration::from_secs(1);

/// The repeats that a budget has time for, and their use for a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AffordableRepeats {
    /// Their number, about.
    pub repeats: u32,
    /// Repeats that make one independent value: as many as setups that cross over, else one.
    pub of_a_value: u32,
    /// The design of the runs that come out least precisely; `auto` for probable duets.
    pub design: Design,
    /// Whether clients write.
    pub writes: bool,
    /// Setups that are compared.
    pub setups: usize,
}

impl AffordableRepeats {
    /// Of an experiment whose results decide how often it is repeated. Absent without a budget, with variants, where
    /// nothing is to be compared or searched, or where runs take as long as their operations do.
    pub fn of(checked: &Checked) -> Option<AffordableRepeats> {
        let lab = &checked.experiment.lab;
        let budget = lab.budget.filter(|_| lab.repeat.is_auto())?.0;
        let [one] = &checked.variants[..] else { return None };
        let setups = one.setups.len();
        let (experiment, machine) = (&one.variant.experiment, DesignMachine::of(&one.environment));
        let is_known = |_: &Design| setups > 1 || experiment.searches();
        let design = checked.designs.iter().copied().max_by_key(|design| precision(*design)).filter(is_known)?;
        let times = times_measured(experiment);
        let run_time = |trial: &PlannedTrial| Some(trial.planned_time()? * times + OVERHEAD);
        let load_time = Duration::from_secs_f64(load_seconds(experiment)) + OVERHEAD;
        let time = |step: &[PlannedTrial]| match step[0].key.phase {
            Phase::Load => Some(load_time * load_rounds(experiment, step, &machine)),
            Phase::Run => step.iter().map(run_time).sum(),
        };
        let all: Duration = checked.plan.ordered_steps().map(time).sum::<Option<Duration>>()?;
        let each = all.as_secs_f64() / f64::from(lab.repeat.most());
        let repeats = (budget.saturating_sub(ENDS).as_secs_f64() / each) as u32;
        let crosses = checked.plan.ordered().any(|trial| trial.copied && trial.copy > 0);
        let of_a_value = if crosses { setups as u32 } else { 1 };
        let runs = checked.plan.ordered().filter(|trial| trial.key.phase == Phase::Run);
        let writes = runs.map(|trial| trial.key.writers).max().unwrap_or(0) > 0;
        Some(AffordableRepeats { repeats: repeats.min(lab.repeat.most()), of_a_value, design, writes, setups })
    }

    /// The independent values that these repeats make.
    pub fn values(&self) -> usize {
        (self.repeats / self.of_a_value) as usize
    }
}

/// The order of designs, the most precise first.
fn precision(design: Design) -> u8 {
    match design {
        Design::Duet | Design::Auto => 0,
        Design::Slices => 1,
        Design::Turns => 2,
    }
}
