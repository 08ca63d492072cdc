//! Whether the results of a run are enough, from the trials themselves.

use std::convert::Infallible;

use kvdyno_results::latency_log::LatencyLog;
use kvdyno_results::{Phase, TrialKey, TrialResult};

use super::enough::{Decision, Goal, enough};
use super::pairing::measured;
use super::rivals::Rivals;
use crate::{Cell, CellKey, Series, cells};

/// The setups that did the same work in the runs of these trials. Loads are not in them: what decides a load takes many
/// loads, and nobody asked for these.
pub fn rivals_of_runs(cells: &[Cell<'_>]) -> Vec<Rivals> {
    let work = |key: &CellKey| (key.variant.clone(), key.workload.clone(), key.readers, key.writers, key.clients);
    let mut groups: Vec<(_, Rivals)> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.key.phase == Phase::Run) {
        let work = work(&cell.key);
        match groups.iter_mut().find(|(other, _)| *other == work) {
            Some((_, rivals)) => rivals.cells.push(measured(cell)),
            None => groups.push((work, Rivals { cells: vec![measured(cell)] })),
        }
    }
    groups.into_iter().map(|(_, rivals)| rivals).filter(|rivals| rivals.cells.len() > 1).collect()
}

/// Whether these results are enough for the goal.
pub fn decide(results: &[TrialResult], goal: &Goal) -> Decision {
    let no_latencies = |_: &TrialKey| Ok::<_, Infallible>(LatencyLog::new());
    let Ok(cells) = cells(results, &Series::new(), no_latencies);
    enough(&rivals_of_runs(&cells), goal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::result;
    use crate::verdicts::Question;

    #[test]
    fn it_is_enough_when_the_runs_can_be_told_apart() {
        let goal = Goal { question: Question::Ranking, detect: 0.03, precision: None };
        let trials = |repeats: u32| -> Vec<TrialResult> {
            let of = |repeat: u32| {
                let wobble = 1.0 + 0.002 * f64::from(repeat % 3);
                [result("lmdb", 1, repeat, 200.0 * wobble), result("bdb", 1, repeat, 100.0)]
            };
            (1..=repeats).flat_map(of).collect()
        };
        assert!(!decide(&trials(2), &goal).stop);
        let decision = decide(&trials(4), &goal);
        assert!(decision.stop && (decision.pairs, decision.decided) == (1, 1), "{decision:?}");
    }
}
