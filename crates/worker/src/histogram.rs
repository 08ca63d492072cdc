//! Latencies in ticks, counted in shared memory.
//!
//! Log-linear buckets as in HdrHistogram: each power of two has 128 of them, so a bucket is at most 0.8 % wide and its
//! middle at most 0.4 % off. Counting is a shift, an addition and an increment; ticks become nanoseconds only when
//! somebody looks.

use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};

use hdrhistogram::Histogram;

const SUB_BITS: u32 = 7;

/// Buckets for all of `u64`.
pub const BUCKETS: usize = (64 - SUB_BITS as usize) * (1 << SUB_BITS) + (1 << SUB_BITS);

/// The highest count of a bucket, which takes months to reach. The sum of all buckets at this count is a number of 63
/// bits.
const MOST: u64 = 1 << 50;

/// The bucket of a value.
#[inline(always)]
fn bucket(ticks: u64) -> usize {
    let exponent = 63 - SUB_BITS - (ticks | (1 << SUB_BITS)).leading_zeros();
    ((exponent as usize) << SUB_BITS) + (ticks >> exponent) as usize
}

/// The least value of a bucket, and how many values it holds.
fn bounds(bucket: usize) -> (u64, u64) {
    let exponent = (bucket >> SUB_BITS).saturating_sub(1) as u32;
    let mantissa = (bucket - ((exponent as usize) << SUB_BITS)) as u64;
    (mantissa << exponent, 1 << exponent)
}

/// Counts by bucket. Written by one thread, read by anybody.
#[repr(C)]
#[derive(Debug)]
pub struct TickHistogram {
    counts: [AtomicU64; BUCKETS],
}

/// Bytes of the smallest pages that a system has.
const LEAST_PAGE: usize = 4096;

/// Writes a word as it is, so that its page is there.
pub(crate) fn touch(word: &AtomicU64) {
    // The compiler must not know that it changes nothing: it would leave it out.
    word.fetch_or(hint::black_box(0), Ordering::Relaxed);
}

impl TickHistogram {
    /// Counts one value.
    #[inline(always)]
    pub fn record(&self, ticks: u64) {
        // SAFETY: an exponent is at most 64 - SUB_BITS - 1, and what is left of the ticks then less than 2^(SUB_BITS +
        // 1), so that the bucket of any u64 is below BUCKETS.
        let count = unsafe { self.counts.get_unchecked(bucket(ticks)) };
        // One thread writes, so no locked instruction is needed.
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Makes sure that its pages are there.
    pub(crate) fn touch(&self) {
        let of_each_page = self.counts.iter().step_by(LEAST_PAGE / size_of::<AtomicU64>());
        of_each_page.chain(self.counts.last()).for_each(touch);
    }

    /// Number of recorded values.
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|count| count.load(Ordering::Relaxed).min(MOST)).fold(0, u64::saturating_add)
    }

    /// Adds the counts to `totals`, which has [`BUCKETS`] elements. A total that cannot have been counted is limited to
    /// the highest possible count, so that sums do not overflow.
    pub fn add_to(&self, totals: &mut [u64]) {
        for (total, count) in totals.iter_mut().zip(&self.counts) {
            *total = total.saturating_add(count.load(Ordering::Relaxed)).min(MOST);
        }
    }
}

/// The highest value that was counted, and the sum of all, each as low as it can have been.
pub(crate) fn at_least(counts: &[u64]) -> (u64, f64) {
    let counted = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    counted.fold((0, 0.0), |(highest, sum), (bucket, count)| {
        let least = bounds(bucket).0;
        (highest.max(least), sum + least as f64 * *count as f64)
    })
}

/// Counts by bucket as an HdrHistogram in nanoseconds.
pub fn in_nanoseconds(counts: &[u64], ticks_per_ns: f64) -> Histogram<u64> {
    // Three significant digits are finer than our buckets, and 2^45 ns are ten hours.
    let mut histogram =
        Histogram::new_with_bounds(1, 1 << 45, 3).unwrap_or_else(|_| unreachable!("these bounds are allowed"));
    for (bucket, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let (least, width) = bounds(bucket);
        let middle = least as f64 + (width - 1) as f64 / 2.0;
        histogram.saturating_record_n((middle / ticks_per_ns).round() as u64, count);
    }
    histogram
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_value_lies_within_its_bucket_and_near_its_middle(shift in 0u32..64, noise: u64) {
            let value = (noise >> shift).max(1);
            let (least, width) = bounds(bucket(value));
            prop_assert!(least <= value && value - least < width);
            let middle = least as f64 + (width - 1) as f64 / 2.0;
            prop_assert!((middle - value as f64).abs() <= 0.004 * value as f64);
        }
    }

    #[test]
    fn every_value_has_a_bucket() {
        for value in [0, 1, 127, 128, 255, 256, u64::MAX - 1, u64::MAX] {
            assert!(bucket(value) < BUCKETS, "{value}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn each_bucket_is_told_by_a_value_within_it() {
        for number in (1..BUCKETS).step_by(7) {
            let (least, width) = bounds(number);
            if least >= 1 << 45 {
                break;
            }
            let mut counts = vec![0; BUCKETS];
            counts[number] = 1;
            let told = in_nanoseconds(&counts, 1.0).value_at_quantile(0.5);
            assert!((least..least + width).contains(&told), "{told} of {width} from {least} on");
        }
    }

    #[test]
    fn quantiles_survive_the_way_to_nanoseconds() {
        let counts: Vec<AtomicU64> = (0..BUCKETS).map(|_| AtomicU64::new(0)).collect();
        for ticks in 1..=100_000u64 {
            counts[bucket(ticks)].fetch_add(1, Ordering::Relaxed);
        }
        let counts: Vec<u64> = counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let histogram = in_nanoseconds(&counts, 2.0);
        for (quantile, expected) in [(0.5, 25_000.0), (0.99, 49_500.0), (0.9999, 49_995.0)] {
            let observed = histogram.value_at_quantile(quantile) as f64;
            assert!((observed / expected - 1.0).abs() < 0.006, "{quantile}: {observed} instead of {expected}");
        }
        assert_eq!(histogram.len(), 100_000);
    }
}
