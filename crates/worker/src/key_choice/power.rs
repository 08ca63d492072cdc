//! Draws by the two-term power law of mixgraph: see [`PowerLaw`].
//!
//! Ranks beyond the records of a range begin again with its first. Ranges lie anywhere, and so do the ranks of a range.

use std::rc::Rc;

use kvdyno_dataset::Stream;
use kvdyno_model::{MOST_KEY_RANGES, PowerLaw};

use super::KeyChoice;
use super::alias::{AliasEntry, ENTRIES, alias_table, drawn};
use super::ranked::{Law, Ranked};
use super::zipf::Scatter;

// An entry of an alias table for each range.
const _: () = assert!(MOST_KEY_RANGES as usize <= ENTRIES);

/// The position of each key range among these `ids`, the first range first.
fn ranges_in_order(law: PowerLaw, ids: u64) -> impl Iterator<Item = u64> {
    let (ranges, order) = (law.count(ids), Scatter::new(law.count(ids)));
    (0..ranges).map(move |range| order.at(range))
}

/// The law of ranks within a range: their parts fall, as the exponent is at most 1.
#[derive(Clone)]
pub(super) struct RankLaw {
    exponent: f64,
}

/// From this rank on the third power of 1 / r is below the digits of a float.
const SERIES: f64 = 1_048_576.0;

impl Law for RankLaw {
    fn ln(&self, rank: f64) -> f64 {
        let (exponent, part) = (self.exponent, rank.recip());
        match rank {
            0.0 => 0.0,
            // (r + 1)^B - r^B, without the loss of digits: by its series where that is exact and cheaper.
            SERIES.. => {
                let (once, twice) =
                    ((exponent - 1.0) * part / 2.0, (exponent - 1.0) * (exponent - 2.0) * part * part / 6.0);
                (exponent - 1.0) * rank.ln() + exponent.ln() + once + twice - once * once / 2.0
            }
            _ => exponent * rank.ln() + (exponent * part.ln_1p()).exp_m1().ln(),
        }
    }

    fn rank(&self, ln: f64) -> f64 {
        // The inverse of the derivative of r^B, which is near enough to cut by.
        ((ln - self.exponent.ln()) / (self.exponent - 1.0)).exp()
    }
}

/// A key range as it is drawn.
#[derive(Clone, Copy, Debug, Default)]
struct KeyRange {
    entry: AliasEntry,
    first: u64,
    count: u64,
}

/// Draws a key range and a rank of it.
#[derive(Clone)]
pub(super) struct Power {
    ranges: Rc<[KeyRange; ENTRIES]>,
    ranks: Ranked<RankLaw>,
    order: Scatter,
}

impl Power {
    pub(super) fn new(ids: u64, law: PowerLaw, stream: Stream) -> Self {
        let (mut ranges, mut weights) = ([KeyRange::default(); ENTRIES], [0.0; ENTRIES]);
        for ((range, weight), (number, lies)) in
            ranges.iter_mut().zip(&mut weights).zip((0..).zip(ranges_in_order(law, ids)))
        {
            let first = law.first(lies, ids);
            *range = KeyRange { first, count: law.first(lies + 1, ids) - first, ..KeyRange::default() };
            *weight = law.weight(number);
        }
        ranges.iter_mut().zip(alias_table(weights)).for_each(|(range, entry)| range.entry = entry);
        let largest = ranges.iter().map(|range| range.count).max().unwrap_or(1);
        let ranks = Ranked::new(law.ranks(), RankLaw { exponent: law.exponent() }, stream);
        Power { ranges: Rc::new(ranges), ranks, order: Scatter::new(largest) }
    }
}

impl KeyChoice for Power {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        let bits = self.ranks.bits();
        let KeyRange { first, count, .. } = self.ranges[drawn(bits, self.ranges[(bits >> 56) as usize].entry)];
        let rank = self.ranks.next();
        let rank = if rank < count { rank } else { rank % count.max(1) };
        first + self.order.at_below(rank, count)
    }
}

/// From this rank on the law is so flat that the records of a range share what is left nearly evenly.
const FLAT: u64 = 1 << 17;

/// The likelihood of each of `ids`, in the order of the ids.
pub(super) fn likelihoods(ids: u64, law: PowerLaw) -> Vec<f64> {
    let mut likelihoods = vec![0.0; ids as usize];
    let largest = (0..law.count(ids)).map(|lies| law.first(lies + 1, ids) - law.first(lies, ids)).max();
    let order = Scatter::new(largest.unwrap_or(1));
    for (range, lies) in (0..).zip(ranges_in_order(law, ids)) {
        let (first, end) = (law.first(lies, ids), law.first(lies + 1, ids));
        for (rank, part) in (0..).zip(parts_within(end - first, law)) {
            likelihoods[(first + order.at_below(rank, end - first)) as usize] = law.weight(range) * part;
        }
    }
    likelihoods
}

/// The parts of the records of a key range, in the order of their ranks: each has those of several ranks where there
/// are more of these.
fn parts_within(records: u64, law: PowerLaw) -> Vec<f64> {
    let ranks = law.ranks();
    // Whole turns, the last one and what is left of one beyond it.
    let (summed, last) = (FLAT.next_multiple_of(records).min(ranks), ranks - ranks % records);
    let mut parts = vec![0.0; records as usize];
    for rank in (0..summed).chain(last.max(summed)..ranks) {
        parts[(rank % records) as usize] += law.below(rank as f64 + 1.0) - law.below(rank as f64);
    }
    if last > summed {
        // The turns between, with what the first of each have more than the last (Euler and Maclaurin's first term).
        let rest = (law.below(last as f64) - law.below(summed as f64)) / records as f64;
        let step = |rank: u64| law.below(rank as f64 + 1.0) - law.below(rank as f64);
        let slope = step(summed) - step(last);
        for (rank, part) in parts.iter_mut().enumerate() {
            *part += rest + slope * (0.5 - (rank as f64 + 0.5) / records as f64);
        }
    }
    let all = law.below(ranks as f64);
    parts.iter().map(|part| part / all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_choice::fits;

    fn power(coefficient: f64, exponent: f64) -> PowerLaw {
        PowerLaw::new([coefficient, exponent, 1.0, 1.0, 0.0, 0.0, 0.0])
    }

    #[test]
    fn ranks_have_the_parts_that_the_law_gives_them() {
        // 0.1 r^0.5 is 1 at rank 100; half of the draws are of the first 25.
        let law = power(0.1, 0.5);
        assert_eq!(law.ranks(), 100);
        let mut choice = Ranked::new(100, RankLaw { exponent: 0.5 }, Stream::new(3));
        let mut counts = vec![0; 100];
        (0..1_000_000).for_each(|_| counts[choice.next() as usize] += 1);
        let parts: Vec<f64> = (1..=100).map(|rank| f64::from(rank).sqrt() - f64::from(rank - 1).sqrt()).collect();
        assert!(fits(&counts, &parts));
        let half: u64 = counts[..25].iter().sum();
        assert!((490_000..510_000).contains(&half), "{half}");
    }

    #[test]
    fn the_series_is_the_law() {
        for exponent in [0.01, 0.3467, 0.9, 1.0] {
            let (law, rank) = (RankLaw { exponent }, SERIES);
            let plain = exponent * rank.ln() + (exponent * rank.recip().ln_1p()).exp_m1().ln();
            assert!(
                (law.ln(rank) - plain).abs() < 1e-14 * plain.abs().max(1.0),
                "{exponent}: {}",
                law.ln(rank) - plain
            );
        }
    }

    #[test]
    fn ranks_beyond_the_records_begin_again() {
        let parts = parts_within(10, power(0.1, 0.5));
        let first: f64 = (0..10).map(|turn| f64::from(10 * turn + 1).sqrt() - f64::from(10 * turn).sqrt()).sum();
        assert!((parts[0] - first / 10.0).abs() < 1e-12, "{parts:?}");
        assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-12 && parts.is_sorted_by(|a, b| a > b), "{parts:?}");
    }

    #[test]
    fn what_is_not_summed_is_shared_as_it_would_come_out() {
        let law = power(0.01, 0.35);
        let (near, ranks) = (parts_within(1000, law), law.ranks());
        assert!(ranks > 3 * FLAT, "{ranks}");
        let mut exact = vec![0.0; 1000];
        for rank in 0..ranks {
            exact[(rank % 1000) as usize] += law.below(rank as f64 + 1.0) - law.below(rank as f64);
        }
        for (near, exact) in near.iter().zip(&exact) {
            assert!((near / (exact / law.below(ranks as f64)) - 1.0).abs() < 1e-4, "{near}");
        }
    }

    #[test]
    fn ranges_come_by_their_weights_and_lie_anywhere() {
        let law = PowerLaw::new([0.002_312, 0.3467, 30.0, 14.18, -2.917, 0.0164, -0.080_82]);
        let (ids, mut counts) = (1003, vec![0u64; 30]);
        let mut choice = Power::new(ids, law, Stream::new(5));
        let range_of = |id| (1..30).take_while(|&lies| law.first(lies, ids) <= id).count();
        (0..1_000_000).for_each(|_| counts[range_of(choice.next())] += 1);
        let mut weights = vec![0.0; 30];
        ranges_in_order(law, ids).zip(0..).for_each(|(lies, range)| weights[lies as usize] = law.weight(range));
        assert!(fits(&counts, &weights), "{counts:?}");
        assert!(!weights.is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn a_law_without_weights_or_with_too_many_ranks_is_none() {
        let fault = |numbers| PowerLaw::new(numbers).fault().unwrap_or_default();
        assert!(fault([0.1, 0.5, 3.0, 0.0, 1.0, 0.0, 1.0]).contains("weights that are 0"));
        assert!(fault([0.1, 0.5, 200.0, 1.0, 50.0, 0.0, 1.0]).contains("too large"));
        assert!(fault([1e-6, 0.01, 3.0, 1.0, 0.0, 0.0, 1.0]).contains("ranks"));
        assert!(PowerLaw::new([0.1, 0.5, 3.0, 1.0, -1.0, 0.0, 1.0]).fault().is_none());
    }
}
