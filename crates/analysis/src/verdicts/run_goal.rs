//! Whether the results of a run are enough, from the trials themselves.

use std::collections::BTreeSet;

use kvdyno_results::{CellKey, Phase, Side, TrialResult, WorkKey};

use super::enough::{Decision, FigureOf, Goal, Question, UndecidedFigure, enough};
use super::forecast::half_width_of_values;
use super::level::Looks;
use super::pairing;
use super::rivals::{RivalRank, Rivals};
use super::verdict::{Aspect, Terms};
use crate::{Cell, SameWork, cells_of_results, same_work, works_with_answers};

/// The step of a cell.
pub(super) fn step(key: &CellKey) -> WorkKey {
    let CellKey { variant, workload, readers, writers, clients, .. } = key.clone();
    WorkKey { variant, workload, readers, writers, clients }
}

/// Whether these results are enough for the goal. Loads are left out: a verdict on loads takes many of them, which were
/// not requested.
pub fn decide(results: &[TrialResult], goal: &Goal) -> RunDecision {
    let cells = cells_of_results(results);
    let cells: Vec<&Cell<'_>> = cells.iter().collect();
    let works = works_with_answers(&cells).into_iter().filter(|same| same.phase == Phase::Run);
    let judged = |same: SameWork| {
        let compared = goal.compared(&same.of(&cells));
        compared.into_iter().map(move |compared| (same.clone(), compared))
    };
    let judged: Vec<(SameWork, Aspect)> = works.flat_map(judged).collect();
    let rivals: Vec<Rivals> = judged.iter().map(|(same, compared)| same.rivals(&cells, *compared)).collect();
    // Engines with threads and those that have only processes do one work, each in a step of its own.
    let steps = |(same, _): &(SameWork, Aspect)| same.of(&cells).iter().map(|cell| step(&cell.key)).collect();
    RunDecision { decision: enough(&rivals, goal), steps: judged.iter().map(steps).collect(), looks: goal.looks }
}

/// The rank of each cell by the throughput of its sides, from the results so far of a run that goes on. `detect` is the
/// least difference that matters, of 1. Two works whose cells have the same key, as those that differ in their batch,
/// have a rank each.
pub fn ranks_so_far(results: &[TrialResult], question: Question, detect: f64) -> Vec<(CellKey, Side, RivalRank)> {
    let terms = Terms { detect, looks: Looks::AfterEach };
    let cells = cells_of_results(results);
    let cells: Vec<&Cell<'_>> = cells.iter().collect();
    let mut ranks = Vec::new();
    for same in same_work(&cells) {
        for compared in pairing::judged(&same.of(&cells)) {
            let Aspect::Throughput(side) = compared else { continue };
            let verdicts = same.rivals(&cells, compared).verdicts(question, &terms);
            let rank = |(index, cell): (usize, &&Cell<'_>)| Some((cell.key.clone(), side, verdicts.rank_of(index)?));
            ranks.extend(same.of(&cells).iter().enumerate().filter_map(rank));
        }
    }
    ranks
}

/// A decision about the runs of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct RunDecision {
    /// The decision.
    pub decision: Decision,
    /// The steps of each of the rivals that its open figures name.
    pub steps: Vec<BTreeSet<WorkKey>>,
    /// The looks of its intervals.
    pub looks: Looks,
}

impl RunDecision {
    /// The steps with open figures, each with half of its widest interval; that is absent if one has none.
    pub fn open_steps(&self) -> Vec<(WorkKey, Option<f64>)> {
        let mut steps: Vec<(WorkKey, Option<f64>)> = Vec::new();
        for UndecidedFigure { rivals, half_width, .. } in self.decision.open.iter().copied() {
            for step in self.steps.get(rivals).into_iter().flatten() {
                match steps.iter_mut().find(|(other, _)| other == step) {
                    Some((_, widest)) => *widest = widest.zip(half_width).map(|(one, other)| one.max(other)),
                    None => steps.push((step.clone(), half_width)),
                }
            }
        }
        steps
    }

    /// The open figure that will have the widest interval after `growth` times as many repeats, if values scatter as
    /// they did, with half of that interval now and then. Absent if none is open, or one has no interval.
    pub fn widest_open(&self, growth: f64) -> Option<(FigureOf, f64, f64)> {
        let widths = self.decision.open.iter().map(|open| {
            let then = half_width_of_values((open.values as f64 * growth) as usize, self.looks)?;
            let now = open.half_width?;
            Some((open.of, now, now * then / half_width_of_values(open.values, self.looks)?))
        });
        let widths: Vec<(FigureOf, f64, f64)> = widths.collect::<Option<_>>()?;
        widths.into_iter().max_by(|(.., one), (.., other)| one.total_cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::result;

    #[test]
    fn ranks_become_known_as_repeats_are_added() {
        let trials = |repeats: u32| -> Vec<TrialResult> {
            let of = |repeat| [("lmdb", 200.0), ("bdb", 100.0)].map(|(engine, rate)| result(engine, 1, repeat, rate));
            (1..=repeats).flat_map(of).collect()
        };
        let ranks = |repeats: u32| -> Vec<(String, Side, RivalRank)> {
            let ranks = ranks_so_far(&trials(repeats), Question::Ranking, 0.03);
            ranks.into_iter().map(|(key, side, rank)| (key.engine, side, rank)).collect()
        };
        let of = |lmdb, bdb| [("bdb".to_owned(), Side::Reads, bdb), ("lmdb".to_owned(), Side::Reads, lmdb)];
        assert_eq!(ranks(1), of(RivalRank::Untold, RivalRank::Untold));
        assert_eq!(ranks(4), of(RivalRank::Highest, RivalRank::Lower));
    }

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

    /// The same ups and downs: the width is that of the interval which more repeats really have.
    #[test]
    fn the_width_after_more_repeats_is_told_from_few() {
        let goal = Goal { detect: 0.0001, ..Goal::default() };
        let trials = |repeats: u32| -> Vec<TrialResult> {
            let of = |repeat: u32| {
                let wobble = 1.0 + 0.02 * (f64::from(repeat % 3) - 1.0);
                [result("lmdb", 1, repeat, 100.0 * wobble), result("bdb", 1, repeat, 100.0)]
            };
            (1..=repeats).flat_map(of).collect()
        };
        let open = |repeats: u32, growth: f64| decide(&trials(repeats), &goal).widest_open(growth);
        assert_eq!(open(2, 10.0), None, "too few for an interval");
        let (_, now, then) = open(3, 4.0).unwrap();
        let (_, really, _) = open(12, 1.0).unwrap();
        assert!(now > 4.0 * then, "{now} {then}");
        assert!((0.7..1.4).contains(&(then / really)), "{then} {really}");
        assert_eq!(decide(&[], &goal).widest_open(2.0), None, "nothing is open");
    }
}
