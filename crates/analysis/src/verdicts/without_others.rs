//! Ratios of trials in turns beside which others took processors.
//!
//! Two trials in turns do not share what others take, so a ratio may be theirs. But each trial knows how long its
//! threads waited for processors, and so by how much others can have made it longer. The ratio without others lies
//! between the one in which they took least from the first and most from the second, and the opposite. An interval that
//! holds those of both, and that of the measured ratio, decides whatever others did.
//!
//! A client that is alone and never sleeps lost its waits at least, less the CPU time of the engine's threads, for
//! which it may have waited. This assumes that it would not have waited for something else instead, such as storage
//! that worked on meanwhile.

use serde::Serialize;

use super::level::Looks;
use super::trimmed::TrimmedMean;
use super::verdict::PairedRatios;

/// The ratio of two trials as it may have been without others, natural logarithms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WithoutOthers {
    /// The lowest.
    pub lowest: f64,
    /// The highest.
    pub highest: f64,
    /// The greater of the shares of their time in which the two waited for processors at most, of 1.
    pub waited: f64,
}

impl WithoutOthers {
    /// Of a measured ratio. Each of the two has the logarithms of the factors by which its figure would have been
    /// higher without others, at least and at most.
    pub(super) fn of(log_ratio: f64, ([least, most], [least_of_other, most_of_other]): ([f64; 2], [f64; 2])) -> Self {
        WithoutOthers {
            lowest: log_ratio + least - most_of_other,
            highest: log_ratio + most - least_of_other,
            waited: -(-most.max(most_of_other)).exp_m1(),
        }
    }

    /// One value of several repeats.
    pub(super) fn mean(all: &[WithoutOthers]) -> Option<WithoutOthers> {
        let mean = |of: fn(&WithoutOthers) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        let waited = all.iter().map(|one| one.waited).reduce(f64::max)?;
        Some(WithoutOthers { lowest: mean(|one| one.lowest), highest: mean(|one| one.highest), waited })
    }
}

/// The middles of the lowest and of the highest ratios of some repeats.
#[derive(Clone, Copy)]
pub(super) struct MiddlesWithoutOthers {
    pub(super) lowest: TrimmedMean,
    pub(super) highest: TrimmedMean,
    /// The greatest share of a trial's time in which it waited for processors, of 1.
    pub(super) waited: f64,
}

impl MiddlesWithoutOthers {
    /// Absent where others are left out.
    pub(super) fn of(pair: &PairedRatios, looks: Looks) -> Option<MiddlesWithoutOthers> {
        Some(MiddlesWithoutOthers {
            lowest: pair.middle_of(looks, |ratio| Some(ratio.without_others?.lowest))?,
            highest: pair.middle_of(looks, |ratio| Some(ratio.without_others?.highest))?,
            waited: pair.ratios.iter().filter_map(|ratio| Some(ratio.without_others?.waited)).reduce(f64::max)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_those_of_least_and_most() {
        let half = 2f64.ln();
        let of = |one, other| WithoutOthers::of(0.1, (one, other));
        assert_eq!(of([0.0, half], [0.0, 0.0]), WithoutOthers { lowest: 0.1, highest: 0.1 + half, waited: 0.5 });
        assert_eq!(of([0.0, 0.0], [0.0, half]), WithoutOthers { lowest: 0.1 - half, highest: 0.1, waited: 0.5 });
        let both = of([half; 2], [half; 2]);
        assert!((both.lowest - 0.1).abs() < 1e-9 && both.lowest == both.highest, "{both:?}");
        assert_eq!(of([half; 2], [0.0; 2]), WithoutOthers { lowest: 0.1 + half, highest: 0.1 + half, waited: 0.5 });
    }

    #[test]
    fn a_round_has_the_mean_of_its_ends_and_its_longest_wait() {
        let of = |lowest, highest, waited| WithoutOthers { lowest, highest, waited };
        assert_eq!(WithoutOthers::mean(&[of(1.0, 2.0, 0.5), of(2.0, 4.0, 0.25)]), Some(of(1.5, 3.0, 0.5)));
        assert_eq!(WithoutOthers::mean(&[]), None);
    }
}
