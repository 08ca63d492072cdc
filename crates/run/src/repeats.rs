//! The number of repeats: as many as were ordered, or as many as the results need; and which trials of each repeat run.
//!
//! Trials are numbered beforehand; the results decide which of them run. Decisions that depend on the remaining time
//! are kept in `plan.json`, so that a resumed run makes the same ones.

mod budget;
mod interfered;

use std::collections::{HashMap, HashSet};
use std::mem;

use kvdyno_experiment::LabSection;
use kvdyno_model::DatabaseOrigin;
use kvdyno_model::text::counted;
use kvdyno_plan::PlannedTrial;
use kvdyno_results::{Enough, Phase, Repeated, SavedPlan, Skipped, TrialKey, TrialResult, WorkKey};

use budget::{RunClock, StepCosts, within};
use interfered::{Interfered, interfered, owed};

/// Repeats in which everything is done: fewer give no interval.
const FULL_ROUND: u32 = 3;

/// Decides from results whether they are enough. The same results always give the same answer, so that a resumed run
/// ends where it would have ended.
pub trait StoppingRule {
    /// Whether the results are enough, and what is still open.
    fn look(&self, results: &[&TrialResult]) -> Look;

    /// The runs whose figures describe other processes, in the order of the results, each with the interference in
    /// words.
    fn interfered<'r>(&self, results: &[&'r TrialResult]) -> Vec<(&'r TrialKey, String)>;

    /// The width of intervals to be expected of `growth` times as many repeats as these results have, in words for
    /// people. `None` if that is not known.
    fn outlook(&self, results: &[&TrialResult], growth: f64) -> Option<String>;
}

/// The consequence of results for the repeats to come.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Why they are enough; `None` if they are not.
    pub enough: Option<String>,
    /// The steps whose comparisons more repeats may decide.
    pub open: Vec<OpenStep>,
}

/// A step whose comparisons are not all decided.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenStep {
    /// Which.
    pub step: WorkKey,
    /// Half of the widest interval of the logarithm of a ratio; absent if one has none.
    pub half_width: Option<f64>,
}

/// Decides how often everything is repeated.
pub(crate) struct Repeats<'a> {
    lab: &'a LabSection,
    rule: &'a dyn StoppingRule,
    clock: RunClock,
    /// The last repeat that was decided about.
    looked_at: u32,
    outlook: Outlook,
    /// All that was decided, now and by ended runs.
    saved: SavedPlan,
}

/// The width of intervals to be expected at the end of the budget, in words.
#[derive(Debug)]
enum Outlook {
    /// It is not known yet.
    Unknown,
    /// It is to be told.
    Known(String),
    Told,
}

/// The decision about a repeat, before its first trial.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RepeatDecision {
    /// All of it is done that [`Repeats::is_skipped`] does not name.
    Done,
    /// It was decided already.
    Known,
    /// It is not done, nor any after it. With words for people, if that is news.
    End(Option<Enough>),
}

impl<'a> Repeats<'a> {
    pub(crate) fn begin<'b>(
        lab: &'a LabSection,
        rule: &'a dyn StoppingRule,
        results: impl Iterator<Item = &'b TrialResult>,
        saved: SavedPlan,
    ) -> Self {
        let clock = RunClock::resumed(&saved.spent, results);
        Repeats { lab, rule, clock, looked_at: 0, outlook: Outlook::Unknown, saved }
    }

    /// The decisions so far, and the time that was spent on `trials` results.
    pub(crate) fn saved(&mut self, trials: usize) -> &SavedPlan {
        self.saved.spent = self.clock.spent(trials);
        &self.saved
    }

    /// The width of intervals to be expected at the end of the budget, in words: once, when that is known.
    pub(crate) fn take_outlook(&mut self) -> Option<String> {
        let Outlook::Known(words) = &mut self.outlook else { return None };
        let words = mem::take(words);
        self.outlook = Outlook::Told;
        Some(words)
    }

    /// Whether a trial is not done.
    pub(crate) fn is_skipped(&self, number: u32) -> bool {
        self.saved.skipped.iter().any(|skipped| skipped.trials.contains(&number))
    }

    /// Why a repeat is done, if it replaces one with interference.
    pub(crate) fn repeated(&self, repeat: u32) -> Option<&Repeated> {
        self.saved.repeated.iter().find(|repeated| repeated.by == repeat)
    }

    /// Decides about a repeat with these `trials`.
    pub(crate) fn before(
        &mut self,
        repeat: u32,
        trials: &[&PlannedTrial],
        results: &HashMap<u32, TrialResult>,
    ) -> RepeatDecision {
        if let Some(enough) = self.saved.enough.clone().filter(|enough| enough.repeat < repeat) {
            return RepeatDecision::End(Some(enough));
        }
        if repeat <= self.looked_at {
            return RepeatDecision::Known;
        }
        self.looked_at = repeat;
        if trials.iter().any(|trial| results.contains_key(&trial.key.number)) {
            // An earlier run began it, and its decision holds, whatever time is left now.
            return RepeatDecision::Done;
        }
        let done = repeat - 1;
        let mut so_far: Vec<&TrialResult> = results.values().filter(|result| result.trial.repeat <= done).collect();
        so_far.sort_by_key(|result| result.trial.number);
        let interfered = interfered(&self.rule.interfered(&so_far));
        match self.lab.repeat.is_auto() {
            true if done == 0 => RepeatDecision::Done,
            true => self.auto(repeat, &interfered, trials, (&so_far, results)),
            false => self.ordered(repeat, &interfered, trials, results),
        }
    }

    /// Decides where the number of repeats was ordered.
    fn ordered(
        &mut self,
        repeat: u32,
        interfered: &[Interfered],
        trials: &[&PlannedTrial],
        results: &HashMap<u32, TrialResult>,
    ) -> RepeatDecision {
        let ordered = self.lab.repeat.most();
        if repeat <= ordered {
            return RepeatDecision::Done;
        }
        let Some(again) = self.again(repeat, interfered) else { return RepeatDecision::End(None) };
        self.repeat(again, repeat);
        self.skip(repeat, trials, &again.steps, results, |_| "there was no interference".to_owned());
        RepeatDecision::Done
    }

    /// Decides where the results determine the number of repeats.
    fn auto(
        &mut self,
        repeat: u32,
        interfered: &[Interfered],
        trials: &[&PlannedTrial],
        (so_far, results): (&[&TrialResult], &HashMap<u32, TrialResult>),
    ) -> RepeatDecision {
        let done = repeat - 1;
        let look = self.rule.look(so_far);
        let again = self.again(repeat, interfered);
        if let (Some(why), None) = (&look.enough, again) {
            return self.end(done, why.clone());
        }
        let mut wanted: Vec<OpenStep> = if look.enough.is_some() { Vec::new() } else { look.open };
        for step in again.iter().flat_map(|again| &again.steps) {
            if !wanted.iter().any(|open| open.step == *step) {
                wanted.push(OpenStep { step: step.clone(), half_width: None });
            }
        }
        if done < FULL_ROUND {
            let runs = trials.iter().filter(|trial| trial.key.phase == Phase::Run);
            let all: HashSet<WorkKey> = runs.map(|trial| WorkKey::from(&trial.key)).collect();
            wanted = all.into_iter().map(|step| OpenStep { step, half_width: None }).collect();
        }
        let decided: HashSet<WorkKey> = wanted.iter().map(|open| open.step.clone()).collect();
        let chosen = match self.lab.budget {
            None => decided.clone(),
            Some(budget) => {
                let left = budget.0.saturating_sub(self.clock.so_far()).saturating_sub(budget::for_report(budget.0));
                let loads_again = trials.iter().any(|trial| trial.key.phase == Phase::Load);
                let costs = StepCosts::of(so_far, self.clock.so_far(), loads_again);
                if matches!(self.outlook, Outlook::Unknown) {
                    let all = decided.iter().flat_map(|step| self.with_what_it_needs(trials, step)).collect();
                    let more = (left.as_secs_f64() / costs.of_steps(&all).as_secs_f64().max(1e-3)).trunc();
                    if let Some(words) = self.rule.outlook(so_far, 1.0 + more / f64::from(done)) {
                        self.outlook = Outlook::Known(format!("after {} {words}", counted(done, "repeat")));
                    }
                }
                within(left, &wanted, &costs, |step| self.with_what_it_needs(trials, step), done < FULL_ROUND)
            }
        };
        if let (true, Some(budget)) = (chosen.is_empty(), self.lab.budget) {
            return self.end(done, format!("the budget of {budget} has no time for another"));
        }
        if let Some(again) = again {
            self.repeat(again, repeat);
        }
        let budget = self.lab.budget.map(|budget| budget.to_string()).unwrap_or_default();
        self.skip(repeat, trials, &chosen, results, |step| match decided.contains(step) {
            true => format!("the budget of {budget} has no time for it"),
            false => "its comparisons are decided".to_owned(),
        });
        RepeatDecision::Done
    }

    /// The repeat that this one does again. At most a third of all repeats, but at least one, replace others with
    /// interference: a machine that is never idle is reported, not waited for.
    fn again<'b>(&self, repeat: u32, interfered: &'b [Interfered]) -> Option<&'b Interfered> {
        if let Some(known) = self.repeated(repeat) {
            return interfered.iter().find(|one| one.repeat == known.repeat);
        }
        let most = (repeat as usize / 3).max(1);
        owed(interfered, &self.saved.repeated).filter(|_| self.saved.repeated.len() < most)
    }

    fn end(&mut self, repeat: u32, why: String) -> RepeatDecision {
        let enough = Enough { repeat, why };
        self.saved.enough = Some(enough.clone());
        RepeatDecision::End(Some(enough))
    }

    fn repeat(&mut self, again: &Interfered, by: u32) {
        if self.repeated(by).is_none() {
            self.saved.repeated.push(Repeated { repeat: again.repeat, by, why: again.why.clone() });
        }
    }

    /// A step, with the earlier steps that it needs to get the same database as in a full repeat.
    fn with_what_it_needs(&self, trials: &[&PlannedTrial], step: &WorkKey) -> HashSet<WorkKey> {
        let mut needed = HashSet::from([step.clone()]);
        if self.lab.database == DatabaseOrigin::Kept {
            let runs = trials.iter().filter(|trial| trial.key.phase == Phase::Run && trial.key.variant == step.variant);
            let before = runs.map(|trial| WorkKey::from(&trial.key)).take_while(|before| before != step);
            needed.extend(before.filter(|before| before.writers > 0));
        }
        needed
    }

    /// Leaves out of a repeat all trials but those of these steps and of the steps they need. Trials that have a result
    /// stay.
    fn skip(
        &mut self,
        repeat: u32,
        trials: &[&PlannedTrial],
        steps: &HashSet<WorkKey>,
        results: &HashMap<u32, TrialResult>,
        why: impl Fn(&WorkKey) -> String,
    ) {
        if self.saved.skipped.iter().any(|skipped| skipped.repeat == repeat) {
            return;
        }
        let needed: HashSet<WorkKey> = steps.iter().flat_map(|step| self.with_what_it_needs(trials, step)).collect();
        let is_done = |trial: &PlannedTrial| results.contains_key(&trial.key.number);
        let is_left_out = |trial: &PlannedTrial| !needed.contains(&WorkKey::from(&trial.key)) && !is_done(trial);
        let runs = || trials.iter().filter(|trial| trial.key.phase == Phase::Run);
        let in_use: HashSet<_> = runs().filter(|trial| !is_left_out(trial)).map(|trial| trial.origin).collect();
        let mut by_reason: Vec<(String, Vec<u32>)> = Vec::new();
        let mut leave_out = |reason: String, number: u32| match by_reason.iter_mut().find(|(why, _)| *why == reason) {
            Some((_, numbers)) => numbers.push(number),
            None => by_reason.push((reason, vec![number])),
        };
        for trial in trials {
            match trial.key.phase {
                Phase::Run if is_left_out(trial) => leave_out(why(&WorkKey::from(&trial.key)), trial.key.number),
                Phase::Load if !in_use.contains(&trial.origin) && !is_done(trial) => {
                    leave_out("no run needs its database".to_owned(), trial.key.number);
                }
                _ => {}
            }
        }
        let skipped = by_reason.into_iter().map(|(why, trials)| Skipped { repeat, trials, why });
        self.saved.skipped.extend(skipped);
    }
}

#[cfg(test)]
mod tests;
