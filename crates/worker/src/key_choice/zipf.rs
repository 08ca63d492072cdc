//! Zipf's law: the record of rank r, counted from 1, is drawn in proportion to r^-s.

use kvdyno_dataset::Stream;

use super::KeyChoice;
use super::ranked::{Law, Ranked};

/// Zipf's law with an exponent s > 0.
#[derive(Clone)]
pub(crate) struct Zipf(f64);

impl Law for Zipf {
    fn ln(&self, rank: f64) -> f64 {
        -self.0 * (rank + 1.0).ln()
    }

    fn rank(&self, ln: f64) -> f64 {
        (-ln / self.0).exp() - 1.0
    }
}

/// Ranks by the law: the first id is the likeliest.
pub(crate) fn zipf(ids: u64, exponent: f64, stream: Stream) -> Ranked<Zipf> {
    Ranked::new(ids, Zipf(exponent), stream)
}

/// Ids in a random order of likelihood, the same for all clients, so that all have the same favourites.
#[derive(Clone)]
pub(super) struct Scattered<K> {
    ranks: K,
    order: Scatter,
}

/// A permutation of the ids that costs a few instructions: two multiplications with odd numbers and two shifts, each
/// of which can be undone, of as many bits as the ids take; walked along its cycle until the result is an id (see
/// `kvdyno_dataset::Permutation`, which is more random and dearer).
#[derive(Clone)]
pub(super) struct Scatter {
    ids: u64,
    mask: u64,
    shift: u32,
}

/// Odd, without a pattern, and of 31 bits, so that an instruction holds them.
const MULTIPLIERS: [u64; 2] = [0x7feb_352d, 0x3184_8bab];

impl Scatter {
    pub(super) fn new(ids: u64) -> Self {
        let bits = (64 - ids.saturating_sub(1).leading_zeros()).max(1);
        Scatter { ids, mask: u64::MAX >> (64 - bits), shift: bits.div_ceil(2) }
    }

    #[inline(always)]
    pub(super) fn at(&self, rank: u64) -> u64 {
        self.at_below(rank, self.ids)
    }

    /// The same of the ids `0..ids`, which are as many or fewer.
    #[inline(always)]
    pub(super) fn at_below(&self, rank: u64, ids: u64) -> u64 {
        let mut id = rank;
        loop {
            // One is added, for zero would stay where it is.
            id += 1;
            for multiplier in MULTIPLIERS {
                id = id.wrapping_mul(multiplier) & self.mask;
                id ^= id >> self.shift;
            }
            if id < ids {
                return id;
            }
        }
    }
}

/// The ids `0..ids`, the likeliest first.
pub(super) fn order(ids: u64) -> impl Iterator<Item = u64> {
    let order = Scatter::new(ids);
    (0..ids).map(move |rank| order.at(rank))
}

impl<K: KeyChoice> Scattered<K> {
    /// The ids `0..ids` in a random order; `ranks` draws from as many ids.
    pub(super) fn new(ids: u64, ranks: K) -> Self {
        Scattered { ranks, order: Scatter::new(ids) }
    }
}

impl<K: KeyChoice> KeyChoice for Scattered<K> {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        self.order.at(self.ranks.next())
    }
}

/// Ids in the order of their age: the newest is the likeliest. It looks back as far as there were ids at first.
#[derive(Clone)]
pub(super) struct Latest<K> {
    ages: K,
    newest: u64,
}

impl<K: KeyChoice> Latest<K> {
    /// A choice among the ids `0..ids`, as many as `ages` draws from.
    pub(super) fn new(ids: u64, ages: K) -> Self {
        Latest { ages, newest: ids - 1 }
    }
}

impl<K: KeyChoice> KeyChoice for Latest<K> {
    const FOLLOWS: bool = true;

    #[inline(always)]
    fn next(&mut self) -> u64 {
        self.newest - self.ages.next()
    }

    #[inline(always)]
    fn follow(&mut self, end: u64) {
        self.newest = end.wrapping_sub(1).max(self.newest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scatter_has_every_id_once_and_no_neighbours() {
        for ids in [1, 2, 3, 1000, 1 << 16, 100_000] {
            let scattered: Vec<u64> = order(ids).collect();
            let mut sorted = scattered.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..ids).collect::<Vec<_>>());
            // 2 % of pairs of independent ids are that near; no more may be of pairs that are likely one after the
            // other.
            let near = scattered.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) < ids / 100).count() as f64;
            assert!(ids < 1000 || near / (ids as f64) < 0.025, "{ids}: {near}");
            // The likeliest lie in all tenths.
            let tenths: std::collections::HashSet<u64> = scattered.iter().take(100).map(|id| id * 10 / ids).collect();
            assert!(ids < 1000 || tenths.len() == 10, "{ids}: {tenths:?}");
        }
    }

    #[test]
    fn the_latest_move_on_with_what_is_new() {
        let mut choice = Latest::new(100, zipf(100, 0.99, Stream::new(3)));
        assert!((0..1000).map(|_| choice.next()).max() == Some(99));
        choice.follow(5000);
        assert!((0..1000).map(|_| choice.next()).all(|id| (4900..5000).contains(&id)));
        choice.follow(50);
        assert!((0..1000).map(|_| choice.next()).all(|id| (4900..5000).contains(&id)), "it never goes back");
    }
}
