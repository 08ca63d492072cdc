//! Verdicts: which of two setups is faster, whether they are the same, or that it cannot be told.
//!
//! Each repeat of a cell has a new database and a new start, and repeats of two setups with the same number were
//! measured beside each other. A comparison is therefore made from the logarithm of the ratio of the two in each
//! repeat. Effects that both share cancel in this ratio. Its interval covers variation between databases and between
//! starts.

mod bias;
mod by_machine;
mod crossing;
mod difference;
mod enough;
mod family;
mod forecast;
mod level;
mod pairing;
mod rivals;
mod run_goal;
pub(crate) mod trimmed;
mod unpaired;
mod verdict;
mod without_others;

pub use crossing::Round;
pub use difference::{Counterparts, counterparts, counterparts_of_folders, decide_difference};
pub use enough::{Decision, FigureOf, Goal, Question, SEARCHED_PRECISION, UndecidedFigure, VerdictFigure, enough};
pub use family::{compare, compare_family};
pub use forecast::{expected_half_width, half_width_of_values};
pub use level::{FEW_LOOKS, Looks, MOST_LOOKS};
pub use pairing::{have_cpu_time, judged, measured, paired, paired_by};
pub use rivals::{MeasuredCell, Pairing, RivalRank, Rivals, RivalsVerdicts};
pub use run_goal::{RunDecision, decide, ranks_so_far};
pub use unpaired::{UnpairedFigures, compare_unpaired};
pub use verdict::{
    Aspect, Comparison, DETECT, MISS, PairedRatio, PairedRatios, SHORTEST_LOAD_S, Terms, Unsure, Verdict, figure_names,
};
pub use without_others::WithoutOthers;
