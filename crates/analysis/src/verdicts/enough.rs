//! Whether the repeats so far are enough.

use serde::Serialize;

use super::level::{Looks, MOST_LOOKS};
use super::rivals::Rivals;
use super::verdict::{Terms, Unsure};

/// The question that a run is to answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Question {
    /// In which order they stand: only neighbours matter.
    #[default]
    Ranking,
    /// Which of them differ: all pairs matter.
    Difference,
}

/// The end that a run works towards.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Goal {
    /// The question.
    pub question: Question,
    /// The least difference that matters.
    pub detect: f64,
    /// Half of each cell's interval over its value, at which no more is wanted; absent if only pairs decide.
    pub precision: Option<f64>,
}

/// Whether to go on, and for whose sake.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// No repeat more is needed, or could help.
    pub stop: bool,
    /// Pairs that matter.
    pub pairs: usize,
    /// Those that have a verdict.
    pub decided: usize,
    /// Those that another repeat may decide.
    pub open: Vec<OpenPair>,
}

/// A pair without a verdict so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OpenPair {
    /// Which of the rivals.
    pub rivals: usize,
    /// The first of them, by its index.
    pub one: usize,
    /// The second.
    pub other: usize,
    /// Why it cannot tell.
    pub unsure: Option<Unsure>,
    /// Half of the interval of the logarithm of the ratio; absent if there is none. Where repeats can be given to
    /// single pairs, the widest needs them most.
    pub half_width: Option<f64>,
}

/// Whether the results so far are enough: every pair that matters is decided, or cannot be by more repeats, or each
/// cell is as precise as requested, or there were as many looks as intervals allow for. It depends on the results
/// alone, so that a run that is resumed decides as it did. To be called after each repeat; its intervals are those of
/// [`Looks::AfterEach`].
pub fn enough(all: &[Rivals], goal: &Goal) -> Decision {
    let terms = Terms { detect: goal.detect, looks: Looks::AfterEach };
    let (mut pairs, mut decided, mut open) = (0, 0, Vec::new());
    for (index, rivals) in all.iter().enumerate() {
        let family = match goal.question {
            Question::Ranking => rivals.neighbours(&terms),
            Question::Difference => rivals.all_pairs(&terms),
        };
        for pairing in family {
            let comparison = &pairing.comparison;
            pairs += 1;
            decided += usize::from(comparison.verdict.is_decided());
            let may_pass = comparison.unsure.is_some_and(Unsure::may_pass) && comparison.repeats < MOST_LOOKS;
            if may_pass {
                let half_width = comparison.interval().map(|(low, high)| (high / low).ln() / 2.0);
                let (one, other, unsure) = (pairing.one, pairing.other, comparison.unsure);
                open.push(OpenPair { rivals: index, one, other, unsure, half_width });
            }
        }
    }
    Decision { stop: open.is_empty() || is_precise(all, goal), pairs, decided, open }
}

/// Whether each cell that has figures has an interval that is narrow enough.
fn is_precise(all: &[Rivals], goal: &Goal) -> bool {
    let Some(precision) = goal.precision else { return false };
    let mut cells = all.iter().flat_map(|rivals| &rivals.cells).filter(|cell| !cell.figures.is_empty());
    cells.all(|cell| cell.half_width(Looks::AfterEach).is_some_and(|half| half <= precision))
}
