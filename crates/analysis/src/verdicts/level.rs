//! The probability with which an interval may miss the truth at one look, so that it keeps its level over all looks.
//!
//! Stopping as soon as an interval is good enough means a look after each repeat. A 95 % interval at each of many looks
//! misses the truth in far more than 5 of 100 comparisons. The bounds are Pocock's (*Group Sequential Methods in the
//! Design and Analysis of Clinical Trials*, Biometrika 64, 1977): the same small probability at each look. The spread
//! is estimated, too, from few values at first; therefore a bound is a probability of Student's t and not a distance
//! (Jennison and Turnbull, *Group Sequential Methods with Applications to Clinical Trials*, 2000, section 4.4). The
//! intervals are their repeated confidence intervals (chapter 9), which hold under any stopping rule. The probabilities
//! below are simulated, because the normal limit is wrong for three values: for independent normal values the trimmed t
//! has one joint distribution over all looks, whatever their spread. See [`crate::simulation::miss_over_looks`].

use schemars::JsonSchema;
use serde::Serialize;

/// How often the interval of a comparison is looked at before it is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Looks {
    /// Once, after a number of repeats that was set beforehand.
    Once,
    /// After each value from the third to the tenth, and the repeats end when the interval is good enough.
    AfterEachOfTen,
    /// After each value from the third to the thirtieth, and the repeats end when the interval is good enough.
    AfterEach,
}

/// The most values after which intervals are looked at. More of them count nothing where one looks after each.
pub const MOST_LOOKS: usize = 30;

/// The same of a run whose budget has no time for as many. The fewer looks there can be, the narrower is the interval
/// at each.
pub const FEW_LOOKS: usize = 10;

/// Miss probabilities of intervals: over all looks from the third value to the [`MOST_LOOKS`]th, and at one look. They
/// were simulated with two million series of normal values, as those below.
const AT_ONE_LOOK: MissProbabilities =
    [(0.05, 0.005_97), (0.01, 0.000_933), (0.001, 7.68e-5), (0.000_16, 1.11e-5), (0.000_05, 3.0e-6)];

/// The same from the third value to the [`FEW_LOOKS`]th.
const AT_ONE_OF_FEW_LOOKS: MissProbabilities =
    [(0.05, 0.011_8), (0.01, 0.001_973), (0.001, 1.696e-4), (0.000_16, 2.61e-5), (0.000_05, 7.93e-6)];

type MissProbabilities = [(f64, f64); 5];

impl Looks {
    /// Those at a run whose results decide when it ends, of which at most so many values count; absent for the most.
    pub fn of_values(most_values: Option<u32>) -> Looks {
        match most_values {
            Some(most) if most as usize <= FEW_LOOKS => Looks::AfterEachOfTen,
            _ => Looks::AfterEach,
        }
    }

    /// Whether the interval is looked at after each value.
    pub fn are_many(self) -> bool {
        self != Looks::Once
    }

    /// The most values that count; absent where all do.
    pub(crate) fn most(self) -> Option<usize> {
        match self {
            Looks::Once => None,
            Looks::AfterEachOfTen => Some(FEW_LOOKS),
            Looks::AfterEach => Some(MOST_LOOKS),
        }
    }

    /// The fewest repeats that give an interval.
    pub fn fewest(self) -> usize {
        match self {
            Looks::Once => 2,
            Looks::AfterEachOfTen | Looks::AfterEach => 3,
        }
    }

    /// The probability of a miss at one look, if `miss` is that over all.
    pub(crate) fn at_one(self, miss: f64) -> f64 {
        match self {
            Looks::Once => miss,
            Looks::AfterEachOfTen => between(&AT_ONE_OF_FEW_LOOKS, miss),
            Looks::AfterEach => between(&AT_ONE_LOOK, miss),
        }
    }
}

/// Interpolates between two rows on logarithmic scales, and extrapolates beyond them from the nearest two.
fn between(rows: &MissProbabilities, miss: f64) -> f64 {
    let last = rows.len() - 2;
    let row = rows[1..].iter().position(|(whole, _)| miss >= *whole).unwrap_or(last).min(last);
    let ((high, at_high), (low, at_low)) = (rows[row], rows[row + 1]);
    let along = (high / miss).ln() / (high / low).ln();
    (at_high.ln() + along * (at_low / at_high).ln()).exp().min(miss)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_look_may_miss_as_often_as_it_says_and_many_each_less() {
        assert_eq!(Looks::Once.at_one(0.05), 0.05);
        assert!((Looks::AfterEach.at_one(0.05) - 0.005_97).abs() < 1e-9);
        assert!((Looks::AfterEach.at_one(0.001) - 7.68e-5).abs() < 1e-9);
        assert!((Looks::AfterEachOfTen.at_one(0.05) - 0.011_8).abs() < 1e-9);
    }

    #[test]
    fn between_the_rows_it_falls_with_the_whole() {
        let misses = [0.2, 0.05, 0.025, 0.01, 0.005, 0.001, 0.0005, 0.0001, 0.00001];
        let at_one = misses.map(|miss| Looks::AfterEach.at_one(miss));
        let of_few = misses.map(|miss| Looks::AfterEachOfTen.at_one(miss));
        assert!([at_one, of_few].iter().all(|all| all.windows(2).all(|pair| pair[1] < pair[0])), "{at_one:?}");
        assert!(at_one.iter().zip(of_few).all(|(many, few)| *many < few), "{of_few:?}");
        assert!(at_one.iter().zip(misses).all(|(one, whole)| *one < whole / 3.0), "{at_one:?}");
    }
}
