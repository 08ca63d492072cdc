//! Narrows down the highest rate that keeps a promise, by rates that are tried one after the other.

use kvdyno_model::LatencyPromise;

/// The factor between a rate that is kept and one that is not at which a search ends.
const RESOLUTION: f64 = 1.03;
/// Rates that are tried at the most: galloping down from the capacity to a thousandth of it, and bisection, take fewer.
const MOST_PROBES: usize = 20;
/// Operations beyond a percentile that tell it.
const BEYOND: f64 = 10.0;

/// The least number of operations that tells every latency of a promise.
pub(super) fn operations_needed(promise: &LatencyPromise) -> f64 {
    let needed = |quantile: f64| if quantile < 1.0 { BEYOND / (1.0 - quantile) } else { BEYOND };
    promise.bounds().map(|bound| bound.latency.quantile().map_or(BEYOND, needed)).fold(BEYOND, f64::max)
}

/// A highest rate between bounds, operations a second.
///
/// Near the highest rate a single outcome is a matter of chance, and a search for the highest rate that was ever kept
/// would find the luckiest. So the rate at which a search ends is tried once more, and if it is not kept then, the
/// search goes on below it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RateBracket {
    /// The least that is tried.
    least: f64,
    /// Those that were kept, in order; each is higher than the one before.
    kept: Vec<f64>,
    /// The least that was not; at first the capacity, at which a queue grows.
    broken: f64,
    /// The highest of those kept was kept again.
    is_confirmed: bool,
    tried: usize,
}

impl RateBracket {
    /// From the least rate that is tried up to the capacity.
    pub(super) fn new(least: f64, capacity: f64) -> RateBracket {
        RateBracket { least, kept: Vec::new(), broken: capacity, is_confirmed: false, tried: 0 }
    }

    /// The highest rate that was kept, and kept again if it was tried again.
    pub(super) fn highest(&self) -> Option<f64> {
        self.kept.last().copied()
    }

    /// The rate to be tried next; `None` if the search is over. Until one is kept, rates fall by factors of 2, 2, 4, 16
    /// and so on; then the interval is halved on a logarithmic scale.
    pub(super) fn next(&self) -> Option<f64> {
        if self.tried == MOST_PROBES || self.is_confirmed {
            return None;
        }
        match self.highest() {
            Some(kept) if self.broken / kept <= RESOLUTION => Some(kept),
            Some(kept) => Some((kept * self.broken).sqrt()),
            None if self.broken <= self.least => None,
            None => Some((self.broken / 2f64.powi(1 << self.tried.saturating_sub(1).min(6))).max(self.least)),
        }
    }

    /// Notes the outcome of a rate that was tried.
    pub(super) fn note(&mut self, per_s: f64, is_kept: bool) {
        self.tried += 1;
        let is_again = self.highest() == Some(per_s);
        match is_kept {
            true if is_again => self.is_confirmed = true,
            true => self.kept.push(per_s),
            false => {
                self.broken = per_s;
                self.kept.retain(|kept| *kept < per_s);
            }
        }
    }

    /// The part of the search that is done, about, 0 to 1.
    pub(super) fn done(&self) -> f64 {
        self.tried as f64 / MOST_PROBES as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn search(least: f64, capacity: f64, is_kept: impl Fn(f64) -> bool) -> (Option<f64>, usize) {
        let mut bracket = RateBracket::new(least, capacity);
        while let Some(per_s) = bracket.next() {
            assert!(per_s >= least && per_s < capacity, "{per_s} of {least} to {capacity}");
            bracket.note(per_s, is_kept(per_s));
        }
        (bracket.highest(), bracket.tried)
    }

    proptest! {
        /// Of an engine that always does the same.
        #[test]
        fn a_threshold_is_found_from_below_and_within_the_resolution(
            capacity in 10f64..1e9, part in 1e-4f64..0.99
        ) {
            let threshold = capacity * part;
            let (highest, tried) = search(1e-5 * capacity, capacity, |per_s| per_s <= threshold);
            let highest = highest.unwrap();
            prop_assert!(highest <= threshold && highest * RESOLUTION * 1.0001 >= threshold, "{highest} {threshold}");
            prop_assert!(tried < MOST_PROBES, "{tried}");
        }
    }

    /// At a rate a little below the capacity chance decides, and further below none does.
    #[test]
    fn luck_is_not_found() {
        let mut random = 1u64;
        let mut chance = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as f64 / 2f64.powi(31)
        };
        let mut mean = |confirms: bool| {
            let mut search = || {
                let mut bracket = RateBracket::new(1.0, 1000.0);
                while let Some(per_s) = bracket.next() {
                    let is_again = bracket.highest() == Some(per_s);
                    // Kept always up to 700, half of the time at 800, never from 900 on.
                    bracket.note(per_s, !confirms && is_again || per_s < 700.0 + 200.0 * chance());
                }
                bracket.highest().unwrap()
            };
            (0..2000).map(|_| search()).sum::<f64>() / 2000.0
        };
        let (with, without) = (mean(true), mean(false));
        assert!(with < without - 15.0 && (730.0..800.0).contains(&with), "{with} {without}");
    }

    #[test]
    fn what_is_kept_at_no_rate_is_tried_down_to_the_least() {
        let (highest, tried) = search(10.0, 1e6, |_| false);
        assert!(highest.is_none() && (2..10).contains(&tried), "{tried}");
        // Less than what can be told.
        assert_eq!(search(10.0, 9.0, |_| true), (None, 0));
    }

    #[test]
    fn a_percentile_takes_ten_operations_beyond_it() {
        let needed = |promise: &str| operations_needed(&promise.parse().unwrap());
        assert_eq!(needed("mean=1ms"), 10.0);
        assert!((needed("p99=1ms") - 1000.0).abs() < 1e-6 && (needed("p50=1ms, p999=1s") - 10_000.0).abs() < 1e-6);
        assert_eq!(needed("max=1ms"), 10.0);
    }
}
