//! Time: what a run has taken, and which steps of a repeat are worth what is left.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use kvdyno_environment::process_age;
use kvdyno_results::{Phase, Spent, TrialResult, WorkKey};

use super::OpenStep;

/// The wall time of a run: since the command that runs it began, and of the commands that did before.
pub(super) struct RunClock {
    pub(super) before: Duration,
    age: fn() -> Duration,
}

impl RunClock {
    /// The clock of a run with the time that it saved and its results. A run that was killed did not save the time of
    /// its last trials, so their own times are added.
    pub(super) fn resumed<'a>(spent: &Spent, results: impl Iterator<Item = &'a TrialResult>) -> RunClock {
        let mut results: Vec<&TrialResult> = results.collect();
        results.sort_by_key(|result| result.trial.number);
        let unsaid: Duration = results.into_iter().skip(spent.trials).map(own_time).sum();
        let said = Duration::try_from_secs_f64(spent.seconds).unwrap_or_default();
        RunClock { before: said + unsaid, age: process_age }
    }

    /// One that stands still.
    #[cfg(test)]
    pub(super) fn fixed(at: Duration) -> RunClock {
        RunClock { before: at, age: || Duration::ZERO }
    }

    pub(super) fn so_far(&self) -> Duration {
        self.before + (self.age)()
    }

    pub(super) fn spent(&self, trials: usize) -> Spent {
        Spent { seconds: self.so_far().as_secs_f64(), trials }
    }
}

/// The part of a budget that is kept for the end: databases are removed and the report is written.
pub(super) fn for_report(budget: Duration) -> Duration {
    (budget / 100).max(Duration::from_millis(500))
}

/// The part of a trial's time that is its own: others may have run beside it.
fn own_time(result: &TrialResult) -> Duration {
    let beside = result.design.as_ref().map_or(0, |design| design.beside.len());
    Duration::try_from_secs_f64(result.os.wall_s / (1 + beside) as f64).unwrap_or_default()
}

/// The overhead of a repeat without loads, while none of those was over.
const USUAL: f64 = 1.3;

/// The time of repeats in which nothing was loaded over that of their trials: the middle one. A load has the time of
/// its audit and of its copies, which such a repeat does not take again.
fn overhead_without_loads(results: &[&TrialResult]) -> Option<f64> {
    let mut repeats: BTreeMap<u32, Vec<&TrialResult>> = BTreeMap::new();
    results.iter().for_each(|result| repeats.entry(result.trial.repeat).or_default().push(result));
    let begun = |trials: &[&TrialResult]| trials.iter().map(|result| result.started).min();
    let overhead = |trials: &[&TrialResult], next: &[&TrialResult]| {
        let own: Duration = trials.iter().map(|result| own_time(result)).sum();
        let took = begun(next)?.duration_since(begun(trials)?).as_secs_f64();
        let is_bare = trials.iter().all(|result| result.trial.phase == Phase::Run);
        (is_bare && !own.is_zero()).then(|| (took / own.as_secs_f64()).max(1.0))
    };
    let pairs = repeats.values().zip(repeats.values().skip(1));
    let mut overheads: Vec<f64> = pairs.filter_map(|(trials, next)| overhead(trials, next)).collect();
    overheads.sort_by(f64::total_cmp);
    overheads.get(overheads.len() / 2).copied()
}

/// The cost of a repeat of each step, and of the loads of each variant.
pub(super) struct StepCosts {
    steps: HashMap<WorkKey, Duration>,
    loads: HashMap<String, Duration>,
    /// All time over that of trials: audits, copies, checks.
    overhead: f64,
}

impl StepCosts {
    /// The costs of steps in a repeat, which loads or not, from their results so far.
    pub(super) fn of(results: &[&TrialResult], spent: Duration, loads_again: bool) -> StepCosts {
        let (mut steps, mut loads) = (HashMap::new(), HashMap::new());
        for result in results {
            let repeat = result.trial.repeat;
            let sums: &mut (Duration, HashSet<u32>) = match result.trial.phase {
                Phase::Run => steps.entry(WorkKey::from(*result)).or_default(),
                Phase::Load => loads.entry(result.trial.variant.clone()).or_default(),
            };
            sums.0 += own_time(result);
            sums.1.insert(repeat);
        }
        let repeats = results.iter().map(|result| result.trial.repeat).collect::<HashSet<_>>().len().max(1) as u32;
        let own: Duration = results.iter().map(|result| own_time(result)).sum();
        let of_all = (spent.as_secs_f64() / own.as_secs_f64().max(1e-3)).max(1.0);
        if !loads_again {
            loads.clear();
        }
        let overhead = if loads_again { of_all } else { overhead_without_loads(results).unwrap_or(of_all.min(USUAL)) };
        StepCosts {
            steps: steps.into_iter().map(|(step, (sum, of))| (step, sum / of.len().max(1) as u32)).collect(),
            // Loads that are copied are not done in each repeat.
            loads: loads.into_iter().map(|(variant, (sum, _))| (variant, sum / repeats)).collect(),
            overhead,
        }
    }

    /// The cost of one repeat of these steps, with the loads of their variants.
    pub(super) fn of_steps(&self, steps: &HashSet<WorkKey>) -> Duration {
        let variants: HashSet<&String> = steps.iter().map(|step| &step.variant).collect();
        let runs: Duration = steps.iter().filter_map(|step| self.steps.get(step)).sum();
        let loads: Duration = variants.into_iter().filter_map(|variant| self.loads.get(variant)).sum();
        (runs + loads).mul_f64(self.overhead)
    }
}

/// The steps that fit into the remaining time. Those with the widest interval per cost come first; a step without an
/// interval comes before all others. `needs` gives a step with the steps that it depends on. With `all_or_none` either
/// every step is taken or none.
pub(super) fn within(
    left: Duration,
    wanted: &[OpenStep],
    costs: &StepCosts,
    needs: impl Fn(&WorkKey) -> HashSet<WorkKey>,
    all_or_none: bool,
) -> HashSet<WorkKey> {
    if all_or_none {
        let all: HashSet<WorkKey> = wanted.iter().map(|open| open.step.clone()).collect();
        return if costs.of_steps(&all) <= left { all } else { HashSet::new() };
    }
    let gain = |open: &OpenStep| {
        let cost = costs.of_steps(&needs(&open.step)).as_secs_f64().max(1e-6);
        open.half_width.unwrap_or(f64::INFINITY) / cost
    };
    let mut order: Vec<(f64, &OpenStep)> = wanted.iter().map(|open| (gain(open), open)).collect();
    order.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let mut chosen = HashSet::new();
    for (_, open) in order {
        let with: HashSet<WorkKey> = chosen.iter().cloned().chain(needs(&open.step)).collect();
        if costs.of_steps(&with) <= left {
            chosen = with;
        }
    }
    chosen
}
