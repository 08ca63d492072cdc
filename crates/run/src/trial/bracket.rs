//! Narrows down the highest rate that keeps a promise, by rates that are tried one after the other.

use kvdyno_model::LatencyPromise;

/// The factor between a rate that is kept and one that is not at which a search ends.
const RESOLUTION: f64 = 1.03;
/// Rates that are tried at the most: galloping down from the capacity to a thousandth of it, and bisection, take fewer.
const MOST_PROBES: usize = 30;
/// Operations beyond a percentile that tell it.
const BEYOND: f64 = 10.0;

/// The least number of operations that tells every latency of a promise.
pub(super) fn operations_needed(promise: &LatencyPromise) -> f64 {
    let needed = |quantile: f64| if quantile < 1.0 { BEYOND / (1.0 - quantile) } else { BEYOND };
    promise.bounds().map(|bound| bound.latency.quantile().map_or(BEYOND, needed)).fold(BEYOND, f64::max)
}

/// A highest rate between bounds, operations a second.
///
/// Near the highest rate a single outcome is a matter of chance, and a cache that fills makes an engine faster while it
/// is searched. So a search ends when the rate that was kept is kept again, and the next higher one is again not kept;
/// if one of them comes out otherwise, the search goes on from there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RateBracket {
    /// The least that is tried.
    least: f64,
    /// As many operations as can be done: at this rate a queue grows.
    capacity: f64,
    /// Those that were kept, each higher than the one before.
    kept: Vec<f64>,
    /// Those that were not, each lower than the one before.
    broken: Vec<f64>,
    /// The highest of those kept was kept again.
    is_kept_again: bool,
    /// The lowest of those not kept was not kept again.
    is_broken_again: bool,
    tried: usize,
}

/// The next try of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NextProbe {
    /// A rate, operations a second.
    Rate(f64),
    /// As many operations as can be done.
    Capacity,
}

impl RateBracket {
    /// From the least rate that is tried up to the capacity.
    pub(super) fn new(least: f64, capacity: f64) -> RateBracket {
        let (kept, broken) = (Vec::new(), Vec::new());
        RateBracket { least, capacity, kept, broken, is_kept_again: false, is_broken_again: false, tried: 0 }
    }

    /// The highest rate that was kept, and kept again if it was tried again.
    pub(super) fn highest(&self) -> Option<f64> {
        self.kept.last().copied()
    }

    /// As many operations a second as could be done.
    pub(super) fn capacity(&self) -> f64 {
        self.capacity
    }

    /// The least rate that is known not to be kept.
    fn lowest_broken(&self) -> f64 {
        self.broken.last().copied().unwrap_or(self.capacity)
    }

    /// The next try; `None` if the search is over. Until one is kept, rates fall by factors of 2, 2, 4, 16 and so
    /// on; then the interval is halved on a logarithmic scale.
    pub(super) fn next(&self) -> Option<NextProbe> {
        let broken = self.lowest_broken();
        let ends = self.highest().map_or(broken <= self.least, |kept| broken / kept <= RESOLUTION);
        let galloped = || broken / 2f64.powi(1 << self.broken.len().saturating_sub(1).min(6));
        match self.highest() {
            _ if self.tried == MOST_PROBES => None,
            Some(kept) if ends && !self.is_kept_again => Some(NextProbe::Rate(kept)),
            _ if ends && self.is_broken_again => None,
            _ if ends && self.broken.is_empty() => Some(NextProbe::Capacity),
            _ if ends => Some(NextProbe::Rate(broken)),
            Some(kept) => Some(NextProbe::Rate((kept * broken).sqrt())),
            None => Some(NextProbe::Rate(galloped().max(self.least))),
        }
    }

    /// Notes the outcome of a rate that was tried.
    pub(super) fn note(&mut self, per_s: f64, is_kept: bool) {
        self.tried += 1;
        match is_kept {
            true if self.highest() == Some(per_s) => self.is_kept_again = true,
            false if self.broken.last() == Some(&per_s) => self.is_broken_again = true,
            true => {
                self.kept.push(per_s);
                self.broken.retain(|broken| *broken > per_s);
                (self.is_kept_again, self.is_broken_again) = (false, false);
            }
            false => {
                self.broken.push(per_s);
                self.kept.retain(|kept| *kept < per_s);
                (self.is_kept_again, self.is_broken_again) = (false, false);
            }
        }
    }

    /// Notes as many operations a second as could be done when that was tried again.
    pub(super) fn note_capacity(&mut self, per_s: f64) {
        self.tried += 1;
        self.is_broken_again = per_s <= self.capacity * RESOLUTION;
        self.capacity = self.capacity.max(per_s);
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
        while let Some(next) = bracket.next() {
            match next {
                NextProbe::Rate(per_s) => {
                    assert!(per_s >= least && per_s < capacity, "{per_s} of {least} to {capacity}");
                    bracket.note(per_s, is_kept(per_s));
                }
                NextProbe::Capacity => bracket.note_capacity(capacity),
            }
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

    /// Around a rate chance decides: neither the luckiest is found nor the unluckiest.
    #[test]
    fn chance_does_not_move_what_is_found() {
        let mut random = 1u64;
        let mut chance = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as f64 / 2f64.powi(31)
        };
        // Kept always up to 700, half of the time at 800, never from 900 on.
        let mut search_once = || {
            let mut bracket = RateBracket::new(1.0, 2000.0);
            while let Some(next) = bracket.next() {
                match next {
                    NextProbe::Rate(per_s) => bracket.note(per_s, per_s < 700.0 + 200.0 * chance()),
                    NextProbe::Capacity => bracket.note_capacity(2000.0),
                }
            }
            bracket.highest().unwrap()
        };
        let mean = (0..4000).map(|_| search_once()).sum::<f64>() / 4000.0;
        assert!((775.0..810.0).contains(&mean), "{mean}");
    }

    /// A cache that fills: the capacity at the beginning is a tenth of that at the end.
    #[test]
    fn an_engine_that_grows_faster_is_searched_up_to_its_later_capacity() {
        let mut bracket = RateBracket::new(1.0, 100.0);
        let mut capacity = 100.0f64;
        while let Some(next) = bracket.next() {
            capacity = (1.5 * capacity).min(1000.0);
            match next {
                NextProbe::Rate(per_s) => bracket.note(per_s, per_s <= 0.8 * capacity),
                NextProbe::Capacity => bracket.note_capacity(capacity),
            }
        }
        let highest = bracket.highest().unwrap();
        assert!((770.0..=800.0).contains(&highest) && bracket.capacity() == 1000.0, "{bracket:?}");
    }

    #[test]
    fn what_is_kept_at_no_rate_is_tried_down_to_the_least() {
        let (highest, tried) = search(10.0, 1e6, |_| false);
        assert!(highest.is_none() && (2..10).contains(&tried), "{tried}");
        // Less than what can be told.
        assert_eq!(search(10.0, 9.0, |_| true), (None, 1), "but the capacity may have grown");
    }

    #[test]
    fn a_percentile_takes_ten_operations_beyond_it() {
        let needed = |promise: &str| operations_needed(&promise.parse().unwrap());
        assert_eq!(needed("mean=1ms"), 10.0);
        assert!((needed("p99=1ms") - 1000.0).abs() < 1e-6 && (needed("p50=1ms, p999=1s") - 10_000.0).abs() < 1e-6);
        assert_eq!(needed("max=1ms"), 10.0);
    }
}
