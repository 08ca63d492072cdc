//! The rule of SNIA's *Solid State Storage Performance Test Specification*, version 2.0.2, "Steady State", applied to
//! the measured part of a run.
//!
//! The specification repeats rounds of the whole test until the last five of them are steady: no value lies further
//! from another than 20 % of their mean, and the line of least squares through them rises or falls by no more than 10 %
//! of it. Here the rounds are five parts of one measured part. They have equally many points of the time series, or as
//! nearly as possible, and the value of a round is its records over its time. A rate that goes up and down many times
//! within a round is therefore steady, as it should be for a tree that compacts periodically.

use kvdyno_results::Side;

use super::Unsteady;
use crate::cells::PointRate;
use crate::estimate::mean;

/// The specification's measurement window.
pub(super) const ROUNDS: usize = 5;

/// The most that the values of rounds may differ, of their mean.
const EXCURSION: f64 = 0.2;

/// The most by which the line through them may rise or fall over the window, of their mean.
const SLOPE: f64 = 0.1;

/// The limits that are not kept; nothing of a rate that is 0 throughout.
pub(super) fn findings(points: &[PointRate], side: Side) -> Vec<Unsteady> {
    let rounds = rounds(points);
    let mean = mean(&rounds);
    if mean <= 0.0 {
        return Vec::new();
    }
    let greatest = rounds.iter().copied().fold(f64::MIN, f64::max);
    let smallest = rounds.iter().copied().fold(f64::MAX, f64::min);
    let (excursion, trend) = ((greatest - smallest) / mean, rise(&rounds) / mean);
    let excursion = (excursion > EXCURSION).then_some(Unsteady::Excursion { side, share: excursion });
    let trend = (trend.abs() > SLOPE).then_some(Unsteady::Trend { side, share: trend });
    excursion.into_iter().chain(trend).collect()
}

fn rounds(points: &[PointRate]) -> Vec<f64> {
    let begin = |round: usize| round * points.len() / ROUNDS;
    let rate = |round: usize| PointRate::together(&points[begin(round)..begin(round + 1)]);
    (0..ROUNDS).map(rate).collect()
}

/// The rise of the line of least squares from the first of some values to the last.
fn rise(values: &[f64]) -> f64 {
    let indexes = || (0..values.len()).map(|number| number as f64 - (values.len() - 1) as f64 / 2.0);
    let along: f64 = indexes().zip(values).map(|(index, value)| index * value).sum();
    let squares: f64 = indexes().map(|index| index * index).sum();
    along / squares * (values.len() - 1) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::simulated::{noisy, seconds, shaped};
    use super::*;

    fn observed(rates: &[f64]) -> Vec<Unsteady> {
        findings(&seconds(rates), Side::Writes)
    }

    /// A tenth over the window is just allowed for the line, a fifth for the values.
    #[test]
    fn the_limits_are_those_of_the_specification() {
        let line = |rise: f64| -> Vec<f64> {
            (0..5).flat_map(|round| [100.0 + rise * (f64::from(round) / 4.0 - 0.5); 2]).collect()
        };
        assert_eq!(observed(&line(9.9)), []);
        assert!(matches!(observed(&line(-10.1))[..], [Unsteady::Trend { share, .. }] if (share + 0.101).abs() < 1e-9));
        assert_eq!(observed(&[100.0, 100.0, 100.0, 400.0].repeat(25)), [], "waves shorter than a round");
        let middle = |value: f64| [&[100.0; 4][..], &[value; 2], &[100.0; 4]].concat();
        assert_eq!(observed(&middle(120.0)), []);
        assert!(matches!(observed(&middle(130.0))[..], [Unsteady::Excursion { .. }]));
    }

    #[test]
    fn slices_of_different_lengths_count_by_their_time() {
        let points: Vec<PointRate> = (0..20)
            .map(|i| 0.05 * f64::from(1 + i % 3))
            .map(|s| PointRate { seconds: s, records: 700.0 * s })
            .collect();
        assert_eq!(findings(&points, Side::Reads), []);
    }

    #[test]
    fn of_a_rate_that_is_nothing_nothing_is_said() {
        assert_eq!(observed(&[0.0; 12]), []);
    }

    /// 50 points that vary by a tenth and resemble their neighbours, a thousand series of each shape.
    #[test]
    fn shapes_are_told_apart() {
        let share = |course: fn(f64) -> f64| {
            let unsteady = (0..1000).filter(|seed| !observed(&shaped(noisy(*seed, 50, 0.1, 0.3), course)).is_empty());
            unsteady.count()
        };
        let flat = share(|_| 1.0);
        let sawtooth = share(|at| 0.8 + 0.4 * (at * 25.0).fract());
        let trend = share(|at| 1.0 + 0.3 * at);
        let step = share(|at| if at < 0.5 { 1.0 } else { 0.75 });
        assert!(flat <= 60 && sawtooth <= 150, "flat {flat}, sawtooth {sawtooth}");
        assert!(trend >= 980 && step >= 980, "trend {trend}, step {step}");
    }

    proptest! {
        #[test]
        fn a_scale_changes_nothing(rates in prop::collection::vec(1.0f64..1e6, 10..60), scale in 0.01f64..100.0) {
            let scaled: Vec<f64> = rates.iter().map(|rate| rate * scale).collect();
            prop_assert_eq!(observed(&rates).len(), observed(&scaled).len());
        }
    }
}
