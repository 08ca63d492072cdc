//! Whether the repeats so far are enough.

pub use kvdyno_model::{Question, VerdictFigure};
use serde::Serialize;

use super::level::Looks;
use super::pairing::judged;
use super::rivals::{MeasuredCell, Rivals};
use super::verdict::{Aspect, DETECT, Terms, Unsure, by_name};
use crate::Cell;

/// The precision of a searched rate where none is given. That rate is an answer of its own, so that comparisons alone
/// do not end repeats.
pub const SEARCHED_PRECISION: f64 = 0.1;

/// The end that a run works towards.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Goal {
    /// The question.
    pub question: Question,
    /// The figure that is to be told apart.
    #[serde(serialize_with = "by_name")]
    pub figure: VerdictFigure,
    /// The least difference that matters.
    pub detect: f64,
    /// Half of each cell's interval over its value, at which no more is wanted; absent if only pairs decide, and
    /// [`SEARCHED_PRECISION`] of searched rates.
    pub precision: Option<f64>,
    /// How often intervals are looked at: after each of some values.
    pub looks: Looks,
}

impl Default for Goal {
    fn default() -> Self {
        let (question, figure) = (Question::default(), VerdictFigure::default());
        Goal { question, figure, detect: DETECT, precision: None, looks: Looks::AfterEach }
    }
}

impl Goal {
    /// The aspects by which cells of one work are to be told apart.
    pub(super) fn compared(&self, cells: &[&Cell<'_>]) -> Vec<Aspect> {
        match self.figure {
            VerdictFigure::Throughput => judged(cells),
            VerdictFigure::CpuTime => vec![Aspect::CpuTime],
        }
    }
}

/// Whether to go on, and for whose sake.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Decision {
    /// No repeat more is needed, or could help.
    pub stop: bool,
    /// Pairs that matter.
    pub pairs: usize,
    /// The pairs of these that have a verdict.
    pub decided: usize,
    /// Searched rates that are known precisely enough.
    pub known_rates: usize,
    /// The figures that another repeat may decide.
    pub open: Vec<UndecidedFigure>,
}

/// A figure that is not known well enough so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct UndecidedFigure {
    /// The rivals whose it is, by their index.
    pub rivals: usize,
    /// The figure.
    pub of: FigureOf,
    /// Half of the interval of its logarithm; absent if there is none. Where repeats can be given to single rivals, the
    /// widest needs them most.
    pub half_width: Option<f64>,
    /// The number of values that it is made of.
    pub values: usize,
}

/// The cells of rivals, by their index, that a figure is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum FigureOf {
    /// The ratio of two, which has no verdict.
    Pair(usize, usize),
    /// The searched rate of one.
    Cell(usize),
}

impl FigureOf {
    /// `ratio`, `rate`.
    pub fn name(self) -> &'static str {
        match self {
            FigureOf::Pair(..) => "ratio",
            FigureOf::Cell(_) => "rate",
        }
    }
}

impl Decision {
    /// Whether another repeat may decide a pair.
    pub fn has_open_pairs(&self) -> bool {
        self.open.iter().any(|open| matches!(open.of, FigureOf::Pair(..)))
    }
}

/// Whether the results so far are enough. They are if every pair that matters is decided or cannot be decided by more
/// repeats, and each searched rate is known; if each cell is as precise as requested; or if there were as many looks as
/// intervals allow for. The decision depends on the results alone, so that a resumed run decides as before. Call it
/// after each repeat.
pub fn enough(all: &[Rivals], goal: &Goal) -> Decision {
    let terms = Terms { detect: goal.detect, looks: goal.looks };
    let mut decision = Decision::default();
    let may_look_again = |values: usize| goal.looks.most().is_none_or(|most| values < most);
    for (index, rivals) in all.iter().enumerate() {
        for pairing in rivals.verdicts(goal.question, &terms).that_answer(goal.question) {
            let comparison = &pairing.comparison;
            decision.pairs += 1;
            decision.decided += usize::from(comparison.verdict.is_decided());
            if comparison.is_open() && may_look_again(comparison.values) {
                let (of, half_width) = (FigureOf::Pair(pairing.one, pairing.other), comparison.half_width());
                decision.open.push(UndecidedFigure { rivals: index, of, half_width, values: comparison.values });
            }
        }
        for (nth, cell) in rivals.cells.iter().enumerate().filter(|(_, cell)| cell.is_searched) {
            if cell.is_known(goal.precision.unwrap_or(SEARCHED_PRECISION), goal.looks) {
                decision.known_rates += 1;
            } else if may_look_again(cell.searches()) && may_be_known(cell, goal.looks) {
                let (of, half_width) = (FigureOf::Cell(nth), cell.half_width(goal.looks).map(f64::ln_1p));
                decision.open.push(UndecidedFigure { rivals: index, of, half_width, values: cell.figures.len() });
            }
        }
    }
    decision.stop = decision.open.is_empty() || is_precise(all, goal);
    decision
}

/// Whether more searches may make a rate known that is not.
fn may_be_known(cell: &MeasuredCell, looks: Looks) -> bool {
    match cell.unsure {
        // One search may fail by chance.
        Some(Unsure::KeptAtNoRate) => cell.searches() < looks.fewest(),
        unsure => cell.searches() > 0 && unsure.is_none_or(Unsure::may_pass),
    }
}

/// Whether each cell that has figures, or searched for one, has an interval that is narrow enough.
fn is_precise(all: &[Rivals], goal: &Goal) -> bool {
    let Some(precision) = goal.precision else { return false };
    let mut cells = all.iter().flat_map(|rivals| &rivals.cells).filter(|cell| cell.searches() > 0);
    cells.all(|cell| cell.is_known(precision, goal.looks))
}

#[cfg(test)]
mod tests {
    use super::super::MOST_LOOKS;
    use super::*;

    const GOAL: Goal = Goal {
        question: Question::Ranking,
        figure: VerdictFigure::Throughput,
        detect: 0.03,
        precision: None,
        looks: Looks::AfterEach,
    };

    /// Setups with these figures, and a little up and down from repeat to repeat.
    fn rivals(figures: &[f64], repeats: u32, noise: f64) -> Rivals {
        let cell = |(index, figure): (usize, &f64)| {
            let wobble = |repeat: u32| noise * f64::from((7 * repeat + 3 * index as u32 * repeat) % 5);
            let figures = (1..=repeats).map(|repeat| (repeat, figure * (1.0 + wobble(repeat))));
            MeasuredCell { figures: figures.collect(), ..MeasuredCell::default() }
        };
        Rivals { cells: figures.iter().enumerate().map(cell).collect() }
    }

    #[test]
    fn it_ends_when_every_pair_that_matters_is_decided() {
        let (far, near) = ([100.0, 200.0, 400.0], [100.0, 101.0, 400.0]);
        assert!(!enough(&[rivals(&far, 2, 0.004)], &GOAL).stop);
        let decision = enough(&[rivals(&far, 4, 0.004)], &GOAL);
        assert!(decision.stop && (decision.pairs, decision.decided) == (2, 2), "{decision:?}");
        let decision = enough(&[rivals(&far, 4, 0.004), rivals(&near, 4, 0.03)], &GOAL);
        assert!(!decision.stop && decision.pairs == 4, "{decision:?}");
        assert!(decision.open.iter().all(|open| open.rivals == 1 && open.half_width.is_some()));
    }

    #[test]
    fn a_ranking_asks_of_neighbours_and_a_difference_of_all() {
        let four = [rivals(&[1.0, 2.0, 4.0, 8.0], 3, 0.001)];
        assert_eq!(enough(&four, &GOAL).pairs, 3);
        assert_eq!(enough(&four, &Goal { question: Question::Difference, ..GOAL }).pairs, 6);
    }

    #[test]
    fn precise_cells_are_enough_though_pairs_are_open() {
        let alike = [rivals(&[100.0, 100.0], 4, 0.01)];
        let goal = |precision| Goal { precision: Some(precision), detect: 0.0001, ..GOAL };
        assert!(!enough(&alike, &goal(0.001)).stop);
        assert!(enough(&alike, &goal(0.5)).stop);
    }

    #[test]
    fn a_searched_rate_is_to_be_known_though_pairs_are_decided() {
        let searched = |figures: &[f64], repeats, noise| {
            let mut rivals = rivals(figures, repeats, noise);
            rivals.cells.iter_mut().for_each(|cell| cell.is_searched = true);
            rivals
        };
        // The second has no ups and downs.
        let decision = enough(&[searched(&[100.0, 1000.0], 10, 0.2)], &GOAL);
        let rates = |decision: &Decision| (decision.known_rates, decision.open.len());
        assert_eq!((decision.stop, decision.decided, rates(&decision)), (false, 1, (1, 1)), "{decision:?}");
        let near = |repeats| enough(&[searched(&[100.0, 1000.0], repeats, 0.004)], &GOAL);
        assert_eq!((near(9).stop, rates(&near(9))), (false, (0, 2)));
        assert_eq!((near(10).stop, rates(&near(10))), (true, (2, 0)));
        let alone = |repeats| enough(&[searched(&[100.0], repeats, 0.2)], &GOAL);
        assert!(!alone(1).stop && !alone(10).stop && alone(MOST_LOOKS as u32).stop);
        let wide = |repeats| enough(&[searched(&[100.0], repeats, 0.2)], &Goal { precision: Some(0.5), ..GOAL });
        assert!(!wide(9).stop && wide(10).stop);
        let mut failed = searched(&[100.0], 3, 0.1);
        failed.cells[0].unsure = Some(Unsure::Failed);
        assert!(enough(&[failed], &GOAL).stop);
    }

    #[test]
    fn a_promise_is_kept_at_no_rate_by_more_than_one_search() {
        let in_vain = |searched_in_vain| {
            let unsure = Some(Unsure::KeptAtNoRate);
            MeasuredCell { is_searched: true, searched_in_vain, unsure, ..MeasuredCell::default() }
        };
        let stops = |cells: Vec<MeasuredCell>| enough(&[Rivals { cells }], &GOAL).stop;
        assert_eq!([1, 2, 3].map(|searches| stops(vec![in_vain(searches)])), [false, false, true]);
        assert!(!enough(&[Rivals { cells: vec![in_vain(1)] }], &Goal { precision: Some(0.5), ..GOAL }).stop);
        assert!(!stops(vec![in_vain(1), rivals(&[100.0], 1, 0.0).cells.remove(0)]));
        assert!(stops(vec![MeasuredCell { unsure: Some(Unsure::Failed), ..in_vain(1) }]));
    }

    #[test]
    fn what_repeats_cannot_mend_does_not_keep_it_going() {
        let mut failed = rivals(&[100.0, 100.0], 3, 0.1);
        failed.cells[0].unsure = Some(Unsure::Failed);
        let decision = enough(&[failed], &GOAL);
        assert!(decision.stop && decision.pairs == 0);
        assert!(enough(&[rivals(&[100.0, 101.0], MOST_LOOKS as u32, 0.2)], &GOAL).stop);
        assert!(enough(&[rivals(&[100.0], 1, 0.0)], &GOAL).stop, "one setup has no pair");
    }
}
