//! Paired timing: two programs in turns, so that a drift of the machine's speed falls on both.

use std::process::Command;

use crate::BenchError;
use crate::counting::nanoseconds;

/// What pairs of runs gave.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// Median nanoseconds of the first.
    pub first_ns: f64,
    /// Median nanoseconds of the second.
    pub second_ns: f64,
    /// Median of first over second, pair by pair.
    pub ratio: f64,
    /// Quartiles of it.
    pub ratio_range: (f64, f64),
}

/// Runs both in turns, `pairs` times after one that does not count.
pub fn run(
    pairs: usize,
    mut first: impl FnMut() -> Command,
    mut second: impl FnMut() -> Command,
) -> Result<Pairs, BenchError> {
    nanoseconds(&mut first())?;
    nanoseconds(&mut second())?;
    let mut times = Vec::new();
    for pair in 0..pairs {
        // Each goes first in half of the pairs.
        let (a, b) = if pair % 2 == 0 {
            let a = nanoseconds(&mut first())?;
            (a, nanoseconds(&mut second())?)
        } else {
            let b = nanoseconds(&mut second())?;
            (nanoseconds(&mut first())?, b)
        };
        times.push((a, b));
    }
    let sorted = |figure: fn(&(f64, f64)) -> f64| {
        let mut figures: Vec<f64> = times.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures
    };
    let ratios = sorted(|(a, b)| a / b);
    let middle = |figures: &[f64]| figures[figures.len() / 2];
    Ok(Pairs {
        first_ns: middle(&sorted(|(a, _)| *a)),
        second_ns: middle(&sorted(|(_, b)| *b)),
        ratio: middle(&ratios),
        ratio_range: (ratios[ratios.len() / 4], ratios[ratios.len() * 3 / 4]),
    })
}
