//! One change of a rate for good: Pettitt's test (*A Non-Parametric Approach to the Change-Point Problem*, Applied
//! Statistics 28, 1979).
//!
//! Each point of the series is compared with each later one. Without a change, the earlier is the greater one as often
//! as the later; the position with the largest deviation from this is where a change may lie. The test uses ranks, so
//! that an outlier counts as one point. It assumes that points are independent. Neighbours in a series are correlated,
//! so the square of the statistic is multiplied by the effective sample size over the number of points, as for
//! [`crate::Estimate::from_series`]. The correlation is that of the residuals: each side of the change less its mean.

use kvdyno_results::Side;

use super::Unsteady;
use crate::cells::PointRate;
use crate::estimate::{effective_size, mean, median};

/// The probability that the test calls a steady series changed, if its assumptions hold.
const ERROR: f64 = 0.01;

/// The change of a rate that is more than `detect`, of 1, and more than chance.
pub(super) fn finding(points: &[PointRate], side: Side, detect: f64) -> Option<Unsteady> {
    let rates: Vec<f64> = points.iter().map(PointRate::per_s).collect();
    let (at, statistic) = most_likely(&rates)?;
    let (before, after) = rates.split_at(at);
    let left = [without_mean(before), without_mean(after)].concat();
    let count = rates.len() as f64;
    let worth = (effective_size(&left) / count).clamp(0.0, 1.0);
    let chance = 2.0 * (-6.0 * statistic.powi(2) * worth / (count.powi(3) + count.powi(2))).exp();
    let (was, is) = (median(before.to_vec())?, median(after.to_vec())?);
    let share = if was > 0.0 { is / was - 1.0 } else { f64::from(u8::from(is > 0.0)) };
    (chance < ERROR && share.abs() > detect).then_some(Unsteady::Step { side, share, at: at as f64 / count })
}

/// The number of values before the likeliest change, and Pettitt's K; none for fewer than two values.
fn most_likely(values: &[f64]) -> Option<(usize, f64)> {
    let sign = |one: f64, other: f64| f64::from(i8::from(one > other) - i8::from(one < other));
    let against_all = |value: &f64| values.iter().map(|other| sign(*value, *other)).sum::<f64>();
    let mut sum = 0.0;
    let sums = values.iter().map(|value| {
        sum += against_all(value);
        f64::abs(sum)
    });
    sums.enumerate()
        .take(values.len().saturating_sub(1))
        .map(|(index, sum)| (index + 1, sum))
        .max_by(|one, other| one.1.total_cmp(&other.1))
}

fn without_mean(values: &[f64]) -> Vec<f64> {
    let mean = mean(values);
    values.iter().map(|value| value - mean).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::simulated::{noisy, seconds, shaped};
    use super::*;

    const DETECT: f64 = 0.03;

    fn observed(rates: &[f64]) -> Option<(f64, f64)> {
        finding(&seconds(rates), Side::Reads, DETECT).map(|observed| match observed {
            Unsteady::Step { share, at, .. } => (share, at),
            other => panic!("{other}"),
        })
    }

    #[test]
    fn a_step_is_found_where_it_lies() {
        let (share, at) = observed(&shaped(noisy(1, 30, 0.02, 0.0), |at| if at < 0.7 { 1.0 } else { 0.8 })).unwrap();
        assert!((share + 0.2).abs() < 0.03 && (at - 0.7).abs() < 0.04, "{share} {at}");
        let from_nothing = [[0.0; 10], [5.0; 10]].concat();
        assert_eq!(observed(&from_nothing), Some((1.0, 0.5)));
    }

    #[test]
    fn one_outlier_is_no_change_and_a_step_that_does_not_matter_neither() {
        let mut rates = vec![100.0; 30];
        rates[29] = 1.0;
        assert_eq!(observed(&rates), None);
        assert_eq!(observed(&[[100.0; 15], [98.0; 15]].concat()), None);
        assert!(observed(&[[100.0; 15], [96.0; 15]].concat()).is_some());
    }

    /// The test errs in at most 2 of 100 series; for points that are independent it promises 1.
    #[test]
    fn errors_are_as_rare_as_they_should_be() {
        for (points, correlation) in [(10, 0.0), (30, 0.0), (120, 0.0), (30, 0.3), (120, 0.5), (120, 0.8), (600, 0.9)] {
            let errors = (0..2000).filter(|seed| observed(&noisy(*seed, points, 0.1, correlation)).is_some()).count();
            assert!(errors <= 40, "{points} points, correlation {correlation}: {errors}");
        }
    }

    /// In 60 points that vary by 5 % it finds 9 of 10 steps of a tenth in the middle, and 8 of 10 of a fifth at 70 %.
    #[test]
    fn steps_are_found_and_waves_are_not() {
        let share = |spread: f64, course: fn(f64) -> f64| {
            (0..500).filter(|seed| observed(&shaped(noisy(*seed, 60, spread, 0.3), course)).is_some()).count()
        };
        let step = share(0.05, |at| if at < 0.5 { 1.0 } else { 0.9 });
        let late = share(0.05, |at| if at < 0.7 { 1.0 } else { 0.8 });
        let sawtooth = share(0.05, |at| 0.7 + 0.6 * (at * 12.0).fract());
        assert!(step >= 450 && late >= 400, "step {step}, late {late}");
        assert!(sawtooth <= 10, "{sawtooth}");
    }

    proptest! {
        #[test]
        fn a_scale_changes_nothing(rates in prop::collection::vec(1.0f64..1e6, 10..60), scale in 0.01f64..100.0) {
            let scaled: Vec<f64> = rates.iter().map(|rate| rate * scale).collect();
            prop_assert_eq!(observed(&rates).is_some(), observed(&scaled).is_some());
        }
    }
}
