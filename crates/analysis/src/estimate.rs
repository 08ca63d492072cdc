//! A figure with its uncertainty.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::machines::{FEWEST_MACHINES, RepeatMachines, values_of};
use crate::verdicts::trimmed::{TrimmedMean, drawn_in};
use crate::verdicts::{Looks, MISS};

/// Intervals cover the true mean this often, if the assumptions of their [`Method`] hold.
const CONFIDENCE: f64 = 1.0 - MISS;

/// Fewer points of one trial's series than this say nothing about its steadiness.
const FEWEST_POINTS: usize = 5;

/// A long series is cut into this many batches, as Law and Kelton advise (*Simulation Modeling and Analysis*, 3rd ed.,
/// section 9.5.3: 20 to 30 batches suffice, more of them are only more correlated).
const BATCHES: usize = 30;

/// Fewer repeats than this do not tell how much successive ones resemble each other.
pub(crate) const FEWEST_CORRELATED: usize = 10;

/// The middle of a figure and how sure it is.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// The mean; of rates of several trials, their geometric mean without outliers.
    pub value: f64,
    /// The lower end of the 95 % interval; absent if the data do not support one.
    pub low: Option<f64>,
    /// The upper end of the 95 % interval; absent if the data do not support one.
    pub high: Option<f64>,
    /// Trials behind it.
    pub n: usize,
    /// The source of the interval.
    #[schemars(with = "String")]
    pub method: Method,
}

/// The source of an interval, and so the question that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Several trials: how far another run of the same experiment may come out.
    Repeats(usize),
    /// Several machines, each with repeats: how far another machine like these may come out.
    Machines {
        /// Machines.
        machines: usize,
        /// Repeats on all of them.
        repeats: usize,
    },
    /// One trial's time series: how steady that trial was. It knows nothing of what differs from run to run, such as
    /// where the database came to lie, and is as a rule too narrow for comparing two engines.
    Series {
        /// Points in the measured window.
        points: usize,
        /// Batches that they were put together into.
        batches: usize,
    },
    /// One trial, and too little of it for an interval.
    Single,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Method::Repeats(n) => write!(f, "{n} repeats"),
            Method::Machines { machines, repeats } => write!(f, "{repeats} repeats on {machines} machines"),
            Method::Series { points, batches } if points == batches => write!(f, "1 trial, {points} points"),
            Method::Series { points, batches } => write!(f, "1 trial, {points} points in {batches} batches"),
            Method::Single => write!(f, "1 trial, no interval"),
        }
    }
}

kvdyno_model::written_as_text!(Method);

impl Estimate {
    /// The mean of repeated trials with Student's t interval: mean ± t(n-1) · s / √n (Student, *The Probable Error of a
    /// Mean*, Biometrika 6, 1908; in any textbook, so Jain, *The Art of Computer Systems Performance Analysis*, section
    /// 13.2). It takes the trials as independent and their means as roughly normal. None for no trials, no interval for
    /// one.
    pub fn from_repeats(values: &[f64]) -> Option<Estimate> {
        match values {
            [] => None,
            [value] => Some(Estimate::single(*value)),
            _ => {
                let count = values.len() as f64;
                let half = quantile(count - 1.0) * (variance(values) / count).sqrt();
                Some(Estimate::around(mean(values), half, values.len(), Method::Repeats(values.len())))
            }
        }
    }

    /// The rate of repeated trials, in the order in which they ran: the middle of its logarithms without outliers, as
    /// comparisons have it. Where two have the same repeats and none is left out, the ratio of their rates is that of
    /// their verdict, unless that is made of rounds or of the first values alone. Rates that are 0 have no logarithm,
    /// and are averaged.
    ///
    /// Successive repeats resemble each other where the machine's speed drifts. From [`FEWEST_CORRELATED`] of them on
    /// the interval allows for it, be it that of neighbours alone, as in [`Estimate::from_series`], or of a drift
    /// beneath noise. Where repeats end when it is narrow enough, it is looked at after each.
    pub fn of_rates(rates: &[f64], looks: Looks) -> Option<Estimate> {
        let logs: Vec<f64> = rates.iter().filter(|rate| **rate > 0.0).map(|rate| rate.ln()).collect();
        let of_logs = Estimate::of_log_rates(&logs, looks).filter(|_| logs.len() == rates.len());
        of_logs.or_else(|| Estimate::from_repeats(rates))
    }

    /// The same from the logarithms of the rates; absent for fewer than two.
    pub(crate) fn of_log_rates(logs: &[f64], looks: Looks) -> Option<Estimate> {
        Estimate::of_logs(logs, looks, widening(&drawn_in(logs)))
    }

    /// The rate of trials on several machines, `repeats` of them, from the means of each machine's logarithms. Machines
    /// have no order, so none of them resembles its neighbour. Too few machines have no interval.
    pub(crate) fn of_machines(logs: &[f64], repeats: usize) -> Option<Estimate> {
        let single = || logs.first().map(|log| Estimate::single(log.exp()));
        Some(Estimate::of_independent(logs, Looks::Once).or_else(single)?.on_machines(logs.len(), repeats))
    }

    /// The rate whose logarithms these are, in no order; absent for fewer than two.
    pub(crate) fn of_independent(logs: &[f64], looks: Looks) -> Option<Estimate> {
        Estimate::of_logs(logs, looks, 1.0)
    }

    /// The rate whose logarithms these are, with an interval that is `widening` times that of independent ones; absent
    /// for fewer than two.
    fn of_logs(logs: &[f64], looks: Looks, widening: f64) -> Option<Estimate> {
        let middle = TrimmedMean::of(logs)?;
        let half = middle.half(looks.at_one(MISS)) * widening;
        let is_enough = logs.len() >= looks.fewest();
        let [low, high] = [-half, half].map(|half| is_enough.then(|| (middle.value + half).exp()));
        Some(Estimate { value: middle.value.exp(), low, high, n: logs.len(), method: Method::Repeats(logs.len()) })
    }

    /// The mean of a figure that each repeat has; where they are of several machines, of the means of each. Too few
    /// machines have no interval.
    pub(crate) fn of_repeats(figures: &[(u32, f64)], machines: &RepeatMachines) -> Option<Estimate> {
        let values = values_of(figures.iter().copied(), machines);
        let mean = Estimate::from_repeats(&values)?;
        Some(if machines.is_empty() { mean } else { mean.on_machines(values.len(), figures.len()) })
    }

    /// An estimate whose values are those of machines.
    fn on_machines(self, machines: usize, repeats: usize) -> Estimate {
        let is_enough = machines >= FEWEST_MACHINES;
        Estimate {
            low: self.low.filter(|_| is_enough),
            high: self.high.filter(|_| is_enough),
            n: repeats,
            method: Method::Machines { machines, repeats },
            ..self
        }
    }

    /// The rate of one trial, `value`, with an interval from the rates of the equally long points of its series.
    ///
    /// Neighbouring points resemble each other, so n of them tell less than n independent ones. Long series are first
    /// averaged into 30 batches. What correlation is left is corrected for by the effective sample size n' = n
    /// (1 - r) / (1 + r), r being the correlation of neighbours, and Student's t with n' - 1 degrees of freedom (Zwiers
    /// and von Storch, *Taking Serial Correlation into Account in Tests of the Mean*, Journal of Climate 8, 1995). A
    /// short series underestimates r by about (1 + 4 r) / n (Kendall, *Note on Bias in the Estimation of
    /// Autocorrelation*, Biometrika 41, 1954), which is added back, and its sample variance s² is too small as well, so
    /// that the mean's variance is s² (n - 1) / n / (n' - 1) (Bayley and Hammersley, *The "Effective" Number of
    /// Independent Observations in an Autocorrelated Time Series*, Supplement to the JRSS 8, 1946). The approximation
    /// is that only neighbours matter, as in a first-order autoregression. If n' falls under 2, there is no interval.
    /// On series as short as ten points with r = 0.4 the result holds the mean in 90 of 100 cases, not 95; longer or
    /// less correlated ones come out right (see the tests).
    pub fn from_series(value: f64, rates: &[f64]) -> Estimate {
        if rates.len() < FEWEST_POINTS {
            return Estimate::single(value);
        }
        let batches = batch_means(rates);
        let effective = effective_size(&batches);
        if effective < 2.0 {
            return Estimate::single(value);
        }
        let half = quantile(effective - 1.0) * correlated_variance_of_mean(&batches, effective).sqrt();
        let method = Method::Series { points: rates.len(), batches: batches.len() };
        Estimate::around(value, half, 1, method)
    }

    /// A figure that stands alone.
    pub fn single(value: f64) -> Estimate {
        Estimate { value, low: None, high: None, n: 1, method: Method::Single }
    }

    /// The upper half of the interval over the value: 0.03 is ± 3 %. The lower half is never longer: it ends at 0, and
    /// is shorter where the interval is one of logarithms. Absent without an interval, and for a value of 0.
    pub fn relative(&self) -> Option<f64> {
        let high = self.high.filter(|_| self.value > 0.0)?;
        Some((high - self.value) / self.value)
    }

    /// A rate or a time is not negative, so an interval stops at 0.
    pub(crate) fn around(value: f64, half: f64, n: usize, method: Method) -> Estimate {
        Estimate { value, low: Some((value - half).max(0.0)), high: Some(value + half), n, method }
    }
}

/// Student's t for a two-sided interval of [`CONFIDENCE`].
fn quantile(freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + CONFIDENCE / 2.0))
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The middle value, or the mean of the two in the middle; absent for no values.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

/// Sample variance: the divisor is n - 1.
fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

/// Means of equally long batches. A short series is its own batches; of a long one, the first points are left out if
/// they do not fill a batch.
fn batch_means(rates: &[f64]) -> Vec<f64> {
    let size = (rates.len() / BATCHES).max(1);
    let kept = if size == 1 { rates.len() } else { size * BATCHES };
    rates[rates.len() - kept..].chunks(size).map(mean).collect()
}

/// Effective sample size: the number of independent values that carry as much information.
pub(crate) fn effective_size(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let seen = correlation(values, 1);
    let correlation = (seen + (1.0 + 4.0 * seen) / count).clamp(0.0, 1.0);
    count * (1.0 - correlation) / (1.0 + correlation)
}

/// The variance of the mean of values that are worth `effective` independent ones.
fn correlated_variance_of_mean(values: &[f64], effective: f64) -> f64 {
    let count = values.len() as f64;
    variance(values) * (count - 1.0) / (count * (effective - 1.0))
}

/// The effective sample size of a drift beneath noise, whose neighbours resemble each other less, and distant values
/// more, than those of an autoregression. The variance of the mean is that of independent values times
/// f = 1 + 2 (r_1 + … + r_m), with the correlation r_k of values at a distance of k (Bayley and Hammersley, as above).
/// m is the number, up to the root of n, that makes it greatest: with more, a drift through the whole run makes an
/// interval that is wider than all of its values. In n values around their own mean each correlation and the variance
/// fall short by f / n, so that F is seen instead of f, where f = F / (1 - (2 m + 1 - F) / n).
fn effective_size_of_drift(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let (mut seen, mut most) = (1.0, 1.0_f64);
    for distance in 1..=values.len().isqrt() {
        seen += 2.0 * correlation(values, distance);
        let lost = (2.0 * distance as f64 + 1.0 - seen) / count;
        most = most.max(seen.max(0.0) / (1.0 - lost));
    }
    count / most
}

/// By how much the interval of these successive values is wider than that of independent ones. Values that all move
/// together count as three, which makes the interval of ten 4 times as wide. As two, Student's t of one degree would
/// make it 17 times as wide.
fn widening(values: &[f64]) -> f64 {
    if values.len() < FEWEST_CORRELATED {
        return 1.0;
    }
    let effective = effective_size(values).min(effective_size_of_drift(values)).max(3.0);
    let count = values.len() as f64;
    let of_independent = quantile(count - 1.0) / count.sqrt();
    quantile(effective - 1.0) * ((count - 1.0) / (count * (effective - 1.0))).sqrt() / of_independent
}

/// The correlation of the values at this distance, in places.
fn correlation(values: &[f64], distance: usize) -> f64 {
    let mean = mean(values);
    let whole: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let lagged: f64 = values.iter().zip(&values[distance..]).map(|(one, other)| (one - mean) * (other - mean)).sum();
    if whole > 0.0 { lagged / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn quantiles_are_those_of_the_printed_tables() {
        for (freedom, printed) in [(1.0, 12.706), (2.0, 4.303), (4.0, 2.776), (9.0, 2.262), (29.0, 2.045)] {
            assert!((quantile(freedom) - printed).abs() < 0.0006, "{freedom}: {}", quantile(freedom));
        }
    }

    /// Jain's worked kind of example, by hand: 10, 12, 14 have mean 12, s = 2, t(2) = 4.303: 12 ± 4.97.
    #[test]
    fn three_repeats_by_hand() {
        let estimate = Estimate::from_repeats(&[10.0, 12.0, 14.0]).unwrap();
        assert_eq!(estimate.value, 12.0);
        assert!((estimate.low.unwrap() - 7.032).abs() < 0.001);
        assert!((estimate.high.unwrap() - 16.968).abs() < 0.001);
        assert_eq!(estimate.method.to_string(), "3 repeats");
    }

    #[test]
    fn too_little_gives_no_interval() {
        assert_eq!(Estimate::from_repeats(&[]), None);
        assert_eq!(Estimate::from_repeats(&[7.0]), Some(Estimate::single(7.0)));
        assert_eq!(Estimate::from_series(7.0, &[7.0; 4]), Estimate::single(7.0));
    }

    /// Neighbours that move together through the whole trial are hardly two independent values.
    #[test]
    fn a_drift_gives_no_interval() {
        let drift: Vec<f64> = (0..10).map(|i| 100.0 + f64::from(i)).collect();
        assert_eq!(Estimate::from_series(104.5, &drift), Estimate::single(104.5));
    }

    #[test]
    fn methods_say_what_they_used() {
        let uneven = |n: usize| (0..n).map(|i| 100.0 + [0.0, 3.0, 1.0, 2.0, -1.0][i % 5]).collect::<Vec<_>>();
        assert_eq!(Estimate::from_series(101.0, &uneven(10)).method.to_string(), "1 trial, 10 points");
        let long = Estimate::from_series(101.0, &uneven(601)).method.to_string();
        assert_eq!(long, "1 trial, 601 points in 30 batches");
    }

    /// The sum of 12 uniform numbers less 6 is near enough to normal.
    fn normal(random: &mut impl Rng) -> f64 {
        (0..12).map(|_| random.next_u32() as f64 / 2f64.powi(32)).sum::<f64>() - 6.0
    }

    /// The share of first-order autoregressions around 1000 whose interval holds this mean. `noise` is the standard
    /// deviation of what each value has besides, over that of the autoregression.
    fn coverage((correlation, noise): (f64, f64), length: usize, interval: impl Fn(&[f64]) -> Estimate) -> f64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2014);
        let (mut held, mut made) = (0u32, 0u32);
        for _ in 0..2000 {
            let deviation = 1.0 / (1.0 - correlation * correlation).sqrt();
            let mut state = normal(&mut random) * deviation;
            let rates: Vec<f64> = std::iter::repeat_with(|| {
                state = correlation * state + normal(&mut random);
                let besides = if noise > 0.0 { noise * deviation * normal(&mut random) } else { 0.0 };
                1000.0 + state + besides
            })
            .take(length)
            .collect();
            let estimate = interval(&rates);
            if let (Some(low), Some(high)) = (estimate.low, estimate.high) {
                made += 1;
                held += u32::from(low <= 1000.0 && 1000.0 <= high);
            }
        }
        f64::from(held) / f64::from(made)
    }

    #[test]
    fn intervals_cover_the_mean_of_correlated_series() {
        for (correlation, length) in [(0.0, 10), (0.0, 60), (0.4, 10), (0.4, 30), (0.6, 60), (0.9, 600)] {
            let share = coverage((correlation, 0.0), length, |rates| Estimate::from_series(mean(rates), rates));
            assert!((0.89..=0.99).contains(&share), "correlation {correlation}, {length} points: {share}");
        }
    }

    #[test]
    fn intervals_cover_the_mean_of_correlated_repeats() {
        for (correlation, repeats) in [(0.0, 10), (0.0, 20), (0.4, 10), (0.4, 20), (0.7, 20), (0.7, 40)] {
            let share = coverage((correlation, 0.0), repeats, |rates| Estimate::of_rates(rates, Looks::Once).unwrap());
            assert!((0.89..=0.99).contains(&share), "correlation {correlation}, {repeats} repeats: {share}");
        }
    }

    /// As searched rates are on a machine that others use too: the drift is a little less than half of their variance,
    /// and lasts for six of them. Where it lasts for ten, 20 repeats hold the mean in 89 of 100 cases.
    #[test]
    fn intervals_cover_the_mean_of_a_drift_beneath_noise() {
        for (correlation, repeats) in [(0.85, 10), (0.85, 20), (0.85, 30)] {
            let share =
                coverage((correlation, 1.1), repeats, |rates| Estimate::of_rates(rates, Looks::AfterEach).unwrap());
            assert!((0.9..=0.99).contains(&share), "correlation {correlation}, {repeats} repeats: {share}");
        }
    }

    /// Repeats whose neighbours differ say no less than independent ones, and few say nothing of it.
    #[test]
    fn only_a_drift_of_many_repeats_makes_their_interval_wider() {
        let relative = |rates: &[f64]| Estimate::of_rates(rates, Looks::Once).unwrap().relative().unwrap();
        let up: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i)).collect();
        let order = [10, 3, 17, 6, 13, 0, 19, 8, 1, 15, 12, 4, 18, 7, 11, 2, 16, 5, 14, 9];
        let mixed = order.map(|i| 100.0 + f64::from(i));
        assert!(relative(&up) > 5.0 * relative(&mixed));
        let few = |rates: &[f64]| relative(&rates[..FEWEST_CORRELATED - 1]);
        let mut shuffled = up[..FEWEST_CORRELATED - 1].to_vec();
        shuffled.rotate_left(4);
        assert!((few(&up) - relative(&shuffled)).abs() < 1e-9);
    }

    #[test]
    fn values_that_all_move_together_count_as_three() {
        let up: Vec<f64> = (0..10).map(f64::from).collect();
        assert!((widening(&up) - 4.04).abs() < 0.01, "{}", widening(&up));
    }

    #[test]
    fn the_interval_of_machines_does_not_depend_on_their_order() {
        let up: Vec<f64> = (0..20).map(|i| 0.01 * f64::from(i)).collect();
        let mut mixed = up.clone();
        mixed.sort_by_key(|log| (100.0 * log).round() as u32 % 7);
        let half = |logs: &[f64]| Estimate::of_machines(logs, 60).unwrap().relative().unwrap();
        assert!((half(&up) - half(&mixed)).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn repeats_do_not_depend_on_their_order(mut values in prop::collection::vec(1.0f64..1e9, 2..20)) {
            let one = Estimate::from_repeats(&values).unwrap();
            values.reverse();
            let other = Estimate::from_repeats(&values).unwrap();
            prop_assert!((one.value - other.value).abs() <= 1e-9 * one.value);
            prop_assert!((one.high.unwrap() - other.high.unwrap()).abs() <= 1e-6 * one.high.unwrap());
        }

        #[test]
        fn an_interval_holds_its_value_and_is_not_negative(
            value in 0.0f64..1e9,
            rates in prop::collection::vec(0.0f64..1e9, 0..200),
        ) {
            let estimate = Estimate::from_series(value, &rates);
            prop_assert_eq!(estimate.value, value);
            prop_assert_eq!(estimate.low.is_some(), estimate.high.is_some());
            if let (Some(low), Some(high)) = (estimate.low, estimate.high) {
                prop_assert!(0.0 <= low && low <= value && value <= high && high.is_finite());
            }
        }

        #[test]
        fn scaling_the_rates_scales_the_interval(rates in prop::collection::vec(1.0f64..1e6, 5..100)) {
            let one = Estimate::from_series(mean(&rates), &rates);
            let doubled: Vec<f64> = rates.iter().map(|r| 2.0 * r).collect();
            let two = Estimate::from_series(mean(&doubled), &doubled);
            match (one.relative(), two.relative()) {
                (Some(one), Some(two)) => prop_assert!((one - two).abs() < 1e-6 * one.max(1.0)),
                (one, two) => prop_assert_eq!(one, two),
            }
        }
    }
}
