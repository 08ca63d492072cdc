//! Whether the results of a run are enough, from the trials themselves.

use std::collections::BTreeSet;
use std::convert::Infallible;

use kvdyno_results::latency_log::LatencyLog;
use kvdyno_results::{Phase, TrialKey, TrialResult, WorkKey};

use super::enough::{Decision, Goal, enough};
use super::rivals::Rivals;
use super::verdict::Aspect;
use crate::{Cell, CellKey, SameWork, Series, cells, same_work};

/// The step of a cell.
pub(super) fn step(key: &CellKey) -> WorkKey {
    let CellKey { variant, workload, readers, writers, clients, .. } = key.clone();
    WorkKey { variant, workload, readers, writers, clients }
}

/// Whether these results are enough for the goal. Loads are left out: a verdict on loads takes many of them, which were
/// not requested.
pub fn decide(results: &[TrialResult], goal: &Goal) -> RunDecision {
    let no_latencies = |_: &TrialKey| Ok::<_, Infallible>(LatencyLog::new());
    let Ok(cells) = cells(results, &Series::new(), no_latencies);
    let cells: Vec<&Cell<'_>> = cells.iter().collect();
    let works = same_work(&cells).into_iter().filter(|same| same.phase == Phase::Run);
    let judged = |same: SameWork| {
        let compared = goal.compared(&same.of(&cells));
        compared.into_iter().map(move |compared| (same.clone(), compared))
    };
    let judged: Vec<(SameWork, Aspect)> = works.flat_map(judged).collect();
    let rivals: Vec<Rivals> = judged.iter().map(|(same, compared)| same.rivals(&cells, *compared)).collect();
    // Engines with threads and those that have only processes do one work, each in a step of its own.
    let steps = |(same, _): &(SameWork, Aspect)| same.of(&cells).iter().map(|cell| step(&cell.key)).collect();
    RunDecision { decision: enough(&rivals, goal), steps: judged.iter().map(steps).collect() }
}

/// A decision about the runs of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct RunDecision {
    /// The decision.
    pub decision: Decision,
    /// The steps of each of the rivals that its open pairs name.
    pub steps: Vec<BTreeSet<WorkKey>>,
}

impl RunDecision {
    /// The steps with open pairs, each with half of its widest interval; that is absent if a pair has none.
    pub fn open_steps(&self) -> Vec<(WorkKey, Option<f64>)> {
        let mut steps: Vec<(WorkKey, Option<f64>)> = Vec::new();
        for pair in &self.decision.open {
            for step in self.steps.get(pair.rivals).into_iter().flatten() {
                match steps.iter_mut().find(|(other, _)| other == step) {
                    Some((_, widest)) => *widest = widest.zip(pair.half_width).map(|(one, other)| one.max(other)),
                    None => steps.push((step.clone(), pair.half_width)),
                }
            }
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::result;

    #[test]
    fn it_is_enough_when_the_runs_can_be_told_apart() {
        let goal = Goal { detect: 0.03, ..Goal::default() };
        let trials = |repeats: u32| -> Vec<TrialResult> {
            let of = |repeat: u32| {
                let wobble = 1.0 + 0.002 * f64::from(repeat % 3);
                [result("lmdb", 1, repeat, 200.0 * wobble), result("bdb", 1, repeat, 100.0)]
            };
            (1..=repeats).flat_map(of).collect()
        };
        let early = decide(&trials(2), &goal);
        assert!(!early.decision.stop);
        let of_step = |(step, half): &(WorkKey, Option<f64>)| (step.workload.clone(), step.readers, *half);
        let open: Vec<_> = early.open_steps().iter().map(of_step).collect();
        assert_eq!(open, [("readrandom".to_owned(), 1, None)], "too few for an interval");
        assert_eq!(decide(&trials(4), &goal).open_steps(), []);
        let decision = decide(&trials(4), &goal).decision;
        assert!(decision.stop && (decision.pairs, decision.decided) == (1, 1), "{decision:?}");
    }
}
