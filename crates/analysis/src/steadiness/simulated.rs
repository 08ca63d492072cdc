//! Made-up rates for the tests of the rules.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::cells::PointRate;
use crate::random::normal;

/// Rates around 1000 with a coefficient of variation of `spread`, each correlated with the one before by `correlation`.
pub(super) fn noisy(seed: u64, points: usize, spread: f64, correlation: f64) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut last = normal(&mut random);
    let mut next = || {
        last = correlation * last + (1.0 - correlation * correlation).sqrt() * normal(&mut random);
        1000.0 * (1.0 + spread * last).max(0.0)
    };
    (0..points).map(|_| next()).collect()
}

/// The rates, each multiplied by `course` of its position in the series, 0 to 1.
pub(super) fn shaped(rates: Vec<f64>, course: impl Fn(f64) -> f64) -> Vec<f64> {
    let whole = rates.len() as f64;
    rates.iter().enumerate().map(|(index, rate)| rate * course((index as f64 + 0.5) / whole)).collect()
}

/// Points of a second each.
pub(super) fn seconds(rates: &[f64]) -> Vec<PointRate> {
    rates.iter().map(|rate| PointRate { seconds: 1.0, records: *rate }).collect()
}
