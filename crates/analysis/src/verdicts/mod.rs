//! Verdicts: which of two setups is faster, whether they are the same, or that it cannot be told.
//!
//! Repeats of a cell have databases made anew and starts made anew, and the repeats of two setups with one number were
//! measured beside each other. So a comparison is made from the logarithm of the ratio of the two in each repeat, in
//! which what surrounded both cancels, and its interval is one over databases and starts.

mod bias;
mod crossing;
mod difference;
mod enough;
mod family;
mod level;
mod pairing;
mod rivals;
mod run_goal;
pub(crate) mod trimmed;
mod unpaired;
mod verdict;

pub use crossing::Round;
pub use difference::{counterparts, decide_difference};
pub use enough::{Decision, Goal, OpenPair, Question, enough};
pub use family::{compare, compare_family};
pub use level::{Looks, MOST_LOOKS};
pub use pairing::{measured, measured_by, paired, paired_by};
pub use rivals::{MeasuredCell, Pairing, Rivals, RivalsVerdicts};
pub use run_goal::{RunDecision, decide, rivals_of_runs};
pub use unpaired::{UnpairedFigures, compare_unpaired};
pub use verdict::{Comparison, DETECT, MISS, PairedRatio, PairedRatios, Terms, Unsure, Verdict, VerdictFigure};
