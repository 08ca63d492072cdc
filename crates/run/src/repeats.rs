//! How often everything is done: so often as was ordered, or until the results are enough.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use kvdyno_experiment::LabSection;
use kvdyno_results::{Enough, SavedPlan, TrialResult};

/// Somebody who can tell from results whether they are enough. The same results always give the same answer, so that a
/// run that is resumed ends where it would have.
pub trait StoppingRule {
    /// Why they are; `None` if they are not.
    fn enough(&self, results: &[&TrialResult]) -> Option<String>;
}

/// How often everything is done.
pub(crate) struct Repeats<'a> {
    lab: &'a LabSection,
    rule: &'a dyn StoppingRule,
    begun: Instant,
    /// The time that ended runs took.
    before: Duration,
    /// The last repeat that was looked after.
    looked_after: u32,
    /// An ended run found that it was enough.
    enough: Option<Enough>,
}

impl<'a> Repeats<'a> {
    pub(crate) fn begin<'b>(
        lab: &'a LabSection,
        rule: &'a dyn StoppingRule,
        results: impl Iterator<Item = &'b TrialResult>,
        plan: Option<SavedPlan>,
    ) -> Self {
        let before = results.map(own_time).sum();
        let enough = plan.and_then(|plan| plan.enough);
        Repeats { lab, rule, begun: Instant::now(), before, looked_after: 0, enough }
    }

    /// The end, if it comes before the first trial of this repeat.
    pub(crate) fn enough_before(&mut self, repeat: u32, results: &HashMap<u32, TrialResult>) -> Option<Enough> {
        if let Some(enough) = self.enough.clone().filter(|enough| enough.repeat < repeat) {
            return Some(enough);
        }
        let done = repeat - 1;
        if !self.lab.repeat.is_auto() || done <= self.looked_after {
            return None;
        }
        self.looked_after = done;
        let mut so_far: Vec<&TrialResult> = results.values().filter(|result| result.trial.repeat <= done).collect();
        so_far.sort_by_key(|result| result.trial.number);
        let why = self.rule.enough(&so_far).or_else(|| self.out_of_budget(done))?;
        Some(Enough { repeat: done, why })
    }

    /// Why the budget has no time for another repeat.
    fn out_of_budget(&self, done: u32) -> Option<String> {
        let budget = self.lab.budget?;
        let spent = self.before + self.begun.elapsed();
        (spent + spent / done > budget.0).then(|| format!("the budget of {budget} has no time for another"))
    }
}

/// The part of a trial's time that is its own: it may have been open beside others.
fn own_time(result: &TrialResult) -> Duration {
    let beside = result.design.as_ref().map_or(0, |design| design.beside.len());
    Duration::try_from_secs_f64(result.os.wall_s / (1 + beside) as f64).unwrap_or_default()
}
