//! Two setups, one before a change and one after it, in every work that both did.
//!
//! Whether a change made anything worse is one question, whatever the number of cells. The comparisons of all cells are
//! therefore one family. Otherwise one in twenty cells without any difference would be called worse.

use std::collections::BTreeSet;

use kvdyno_results::{CellKey, ClientKind, Phase, TrialResult};

use super::enough::{Decision, FigureOf, Goal, UndecidedFigure};
use super::family::compare_family;
use super::pairing::{measured, paired};
use super::run_goal::{RunDecision, step};
use super::verdict::{Aspect, Terms};
use crate::{Cell, cells_of_results};

/// A cell and its counterpart.
pub type Counterparts<'c, 'r> = (&'c Cell<'r>, &'c Cell<'r>);

/// Each cell of `before` with the cell of `after` that was asked for the same work, in the order of `before`. The cells
/// are runs. If neither has runs, they are loads, of which there are as many as repeats; more were not requested.
pub fn counterparts<'c, 'r>(before: &[&'c Cell<'r>], after: &[&'c Cell<'r>]) -> Vec<Counterparts<'c, 'r>> {
    each_with(before, after, |cell| alike(cell, after))
}

/// The counterparts of two folders. A cell without one has the only cell of its name: either the work differs, or
/// another version of the lab wrote the same work down in another way.
pub fn counterparts_of_folders<'c, 'r>(before: &[&'c Cell<'r>], after: &[&'c Cell<'r>]) -> Vec<Counterparts<'c, 'r>> {
    let only = |cell: &Cell<'r>| {
        let mut same = after.iter().copied().filter(|other| name(other) == name(cell));
        same.next().filter(|_| same.next().is_none())
    };
    each_with(before, after, |cell| alike(cell, after).or_else(|| only(cell)))
}

fn each_with<'c, 'r>(
    before: &[&'c Cell<'r>],
    after: &[&'c Cell<'r>],
    counterpart: impl Fn(&Cell<'r>) -> Option<&'c Cell<'r>>,
) -> Vec<Counterparts<'c, 'r>> {
    let has_runs = before.iter().chain(after).any(|cell| cell.key.phase == Phase::Run);
    let wanted = if has_runs { Phase::Run } else { Phase::Load };
    let of_phase = before.iter().copied().filter(|cell| cell.key.phase == wanted);
    of_phase.filter_map(|cell| Some((cell, counterpart(cell)?))).collect()
}

fn alike<'c, 'r>(cell: &Cell<'r>, others: &[&'c Cell<'r>]) -> Option<&'c Cell<'r>> {
    others.iter().copied().find(|other| other.work() == cell.work())
}

/// The identity of a cell without its setup.
fn name<'a>(cell: &'a Cell<'_>) -> (&'a str, Phase, &'a str, u32, u32, ClientKind) {
    let CellKey { variant, phase, workload, readers, writers, clients, .. } = &cell.key;
    (variant, *phase, workload, *readers, *writers, *clients)
}

/// Whether these results are enough to tell two setups from each other, in every work.
pub fn decide_difference(results: &[TrialResult], (before, after): (&str, &str), goal: &Goal) -> RunDecision {
    let cells = cells_of_results(results);
    let of = |setup: &str| cells.iter().filter(|cell| cell.key.engine == setup).collect::<Vec<_>>();
    let counterparts = counterparts(&of(before), &of(after));
    let aspects = |(before, after): &Counterparts<'_, '_>| goal.compared(&[*before, *after]);
    let pairs: Vec<(Counterparts<'_, '_>, Aspect)> =
        counterparts.iter().flat_map(|pair| aspects(pair).into_iter().map(|compared| (*pair, compared))).collect();
    let ratios: Vec<_> = pairs.iter().map(|((before, after), compared)| paired(after, before, *compared)).collect();
    let terms = Terms { detect: goal.detect, looks: goal.looks };
    let comparisons = compare_family(&ratios, &terms);
    let open = |(rivals, comparison): (usize, &super::Comparison)| {
        let (half_width, values) = (comparison.half_width(), comparison.values);
        comparison.is_open().then_some(UndecidedFigure { rivals, of: FigureOf::Pair(1, 0), half_width, values })
    };
    let open: Vec<UndecidedFigure> = comparisons.iter().enumerate().filter_map(open).collect();
    let is_precise = |precision: f64| {
        let is_known = |cell: &Cell<'_>, compared: Aspect| {
            let half = measured(cell, compared).half_width(goal.looks);
            half.is_some_and(|half| half <= precision)
        };
        pairs.iter().all(|((before, after), compared)| is_known(before, *compared) && is_known(after, *compared))
    };
    let both = |((before, after), _): &(Counterparts<'_, '_>, Aspect)| [before, after].map(|cell| step(&cell.key));
    let steps = pairs.iter().map(|pair| BTreeSet::from(both(pair))).collect();
    let decision = Decision {
        stop: open.is_empty() || goal.precision.is_some_and(is_precise),
        pairs: comparisons.len(),
        decided: comparisons.iter().filter(|comparison| comparison.verdict.is_decided()).count(),
        open,
        ..Decision::default()
    };
    RunDecision { decision, steps, looks: goal.looks }
}

#[cfg(test)]
mod tests {
    use super::super::level::Looks;
    use super::*;
    use crate::testing::result;
    use crate::verdicts::{Question, VerdictFigure};

    const GOAL: Goal = Goal {
        question: Question::Difference,
        figure: VerdictFigure::Throughput,
        detect: 0.03,
        precision: None,
        looks: Looks::AfterEach,
    };

    fn trials(repeats: u32, after: f64) -> Vec<TrialResult> {
        let of = |repeat: u32| {
            let wobble = 1.0 + 0.002 * f64::from(repeat % 3);
            let with =
                |readers| [result("old", readers, repeat, 100.0), result("new", readers, repeat, after * wobble)];
            [with(1), with(2)].concat()
        };
        (1..=repeats).flat_map(of).collect()
    }

    #[test]
    fn every_work_is_of_one_family_and_must_be_decided() {
        assert!(!decide_difference(&trials(2, 50.0), ("old", "new"), &GOAL).decision.stop);
        let decision = decide_difference(&trials(5, 50.0), ("old", "new"), &GOAL).decision;
        assert!(decision.stop && (decision.pairs, decision.decided) == (2, 2), "{decision:?}");
        let mut uneven = trials(5, 50.0);
        uneven.iter_mut().filter(|one| one.trial.engine == "new" && one.trial.repeat % 2 == 0).for_each(|one| {
            one.operations[0].records_per_s *= 3.0;
        });
        let decision = decide_difference(&uneven, ("old", "new"), &GOAL).decision;
        assert!(!decision.stop && decision.decided < 2, "{decision:?}");
    }

    #[test]
    fn counterparts_did_the_same_work() {
        let mut results = trials(1, 50.0);
        results.retain(|one| one.trial.engine == "old" || one.trial.readers == 1);
        let cells = cells_of_results(&results);
        let of = |setup: &str| cells.iter().filter(|cell| cell.key.engine == setup).collect::<Vec<_>>();
        let pairs = counterparts(&of("old"), &of("new"));
        assert_eq!(pairs.len(), 1);
        assert_eq!((pairs[0].0.key.readers, pairs[0].1.key.engine.as_str()), (1, "new"));
    }

    /// Such is a run that was ended before the second setup did what the first had done.
    #[test]
    fn other_work_of_the_same_name_is_a_counterpart_in_another_folder_alone() {
        let mut results = trials(1, 50.0);
        results.retain(|one| one.trial.readers == 1);
        results[1].workload.batch = 100;
        let cells = cells_of_results(&results);
        let [before, after] = ["old", "new"].map(|setup| cells.iter().find(|cell| cell.key.engine == setup).unwrap());
        assert_eq!(counterparts(&[before], &[after]).len(), 0);
        assert_eq!(counterparts_of_folders(&[before], &[after]).len(), 1);
    }

    #[test]
    fn a_setup_of_processes_is_the_counterpart_of_one_of_threads() {
        let mut results = trials(4, 50.0);
        results.iter_mut().filter(|one| one.trial.engine == "new").for_each(|one| {
            one.trial.clients = ClientKind::Processes;
        });
        let decided = decide_difference(&results, ("old", "new"), &GOAL);
        assert_eq!(decided.decision.pairs, 2);
        assert!(decided.steps.iter().all(|steps| steps.len() == 2), "each has a step of its own: {decided:?}");
    }
}
