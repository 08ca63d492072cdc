//! Which record comes next, for workloads that draw records at random.
//!
//! A distribution is a file with a type that implements [`KeyChoice`], a word of [`DistributionKind`] and a line in
//! [`Draw::draw`]. Loops are generic over it. Loops of one kind of operation are compiled for each distribution, so
//! that none costs another an instruction; mixes and transfers are compiled for few types ([`Draw::draw_with_few`]).
//! Tables of a distribution take at most 64 KiB, so that the engine's data stay in the processor's caches.

pub(crate) mod alias;
mod any;
mod exponential;
mod hotspot;
mod law;
mod normal;
#[cfg(test)]
mod oracle;
mod own_ids;
mod power;
mod ranked;
mod sequential;
mod share;
mod uniform;
mod window;
mod zipf;
mod zipf_ycsb;

use kvdyno_dataset::Stream;
use kvdyno_model::{Distribution, DistributionKind, PowerLaw};

pub(crate) use any::AnyChoice;
use exponential::exponential;
use hotspot::Hotspot;
#[cfg(test)]
pub(crate) use law::fits;
pub use law::misfit_of_ids;
use normal::Normal;
pub(crate) use own_ids::OwnIds;
use power::Power;
pub(crate) use ranked::Ranked;
use sequential::Sequential;
pub(crate) use share::{Share, load_order};
use uniform::Uniform;
use window::MovingWindow;
use zipf::{Latest, Scattered};
pub(crate) use zipf::{Zipf, zipf};
use zipf_ycsb::ZipfYcsb;

/// A way to draw ids of those that it was made for, which are at least one.
pub(crate) trait KeyChoice: Clone + 'static {
    /// Whether it draws ids near the newest one, rather than any below a number.
    const FOLLOWS: bool = false;

    /// The next id.
    fn next(&mut self) -> u64;

    /// Tells the choice that the database now has all ids below `end`. Only a choice that follows the newest id draws
    /// others from then on.
    #[inline(always)]
    fn follow(&mut self, _end: u64) {}
}

/// Something that is generic over the distribution.
pub(crate) trait UsesKeyChoice {
    /// The result of using it.
    type Output;

    /// Goes on with a distribution.
    fn with<K: KeyChoice>(self, choice: K) -> Self::Output;
}

/// Drawing by a distribution.
pub(crate) trait Draw {
    /// Draws from the ids `0..ids` for `user`.
    fn draw<U: UsesKeyChoice>(self, ids: u64, stream: Stream, user: U) -> U::Output;

    /// The same for a user that is compiled for three types: uniform draws, and others through a pointer.
    fn draw_with_few<U: UsesKeyChoice>(self, ids: u64, stream: Stream, user: U) -> U::Output;
}

impl Draw for Distribution {
    fn draw<U: UsesKeyChoice>(self, ids: u64, stream: Stream, user: U) -> U::Output {
        let [first, second, ..] = self.numbers();
        match self.kind() {
            DistributionKind::Uniform => user.with(Uniform::new(ids, stream)),
            DistributionKind::Zipf => user.with(Scattered::new(ids, zipf(ids, first, stream))),
            DistributionKind::ZipfOrdered => user.with(zipf(ids, first, stream)),
            DistributionKind::ZipfYcsb => user.with(ZipfYcsb::new(ids, stream)),
            DistributionKind::Latest => user.with(Latest::new(ids, zipf(ids, first, stream))),
            DistributionKind::Hotspot => user.with(Hotspot::new(ids, first, second, stream)),
            DistributionKind::Exponential => user.with(exponential(ids, first, stream)),
            DistributionKind::Normal => user.with(Normal::new(ids, first, stream)),
            DistributionKind::Sequential => user.with(Sequential::new(ids, stream)),
            DistributionKind::Window => user.with(MovingWindow::new(ids, first, stream)),
            DistributionKind::Power => user.with(Power::new(ids, PowerLaw::new(self.numbers()), stream)),
        }
    }

    fn draw_with_few<U: UsesKeyChoice>(self, ids: u64, stream: Stream, user: U) -> U::Output {
        match self.kind() {
            DistributionKind::Uniform => user.with(Uniform::new(ids, stream)),
            _ => self.draw(ids, stream, ThroughPointer(user)),
        }
    }
}

/// Draws `count` of the ids `0..ids` by the random numbers of `seed`, and gives each to `see`.
pub fn sample_ids(distribution: Distribution, ids: u64, seed: u64, count: u64, see: impl FnMut(u64)) {
    distribution.draw(ids, Stream::new(seed), Sample { count, see });
}

struct ThroughPointer<U>(U);

impl<U: UsesKeyChoice> UsesKeyChoice for ThroughPointer<U> {
    type Output = U::Output;

    fn with<K: KeyChoice>(self, choice: K) -> U::Output {
        if K::FOLLOWS {
            self.0.with(AnyChoice::<true>::new(choice))
        } else {
            self.0.with(AnyChoice::<false>::new(choice))
        }
    }
}

struct Sample<F> {
    count: u64,
    see: F,
}

impl<F: FnMut(u64)> UsesKeyChoice for Sample<F> {
    type Output = ();

    fn with<K: KeyChoice>(mut self, mut choice: K) {
        (0..self.count).for_each(|_| (self.see)(choice.next()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held_memory::bytes_of;

    struct Made;

    impl UsesKeyChoice for Made {
        type Output = Box<dyn std::any::Any>;

        fn with<K: KeyChoice>(self, choice: K) -> Self::Output {
            Box::new(choice)
        }
    }

    #[test]
    fn tables_of_a_distribution_take_at_most_64_kib_whatever_the_number_of_ids() {
        for &kind in DistributionKind::ALL {
            for text in [kind.to_string(), "power 0.0001 0.3 256 1 -0.01 1 -0.02".to_owned()] {
                let distribution: Distribution = text.parse().unwrap();
                for ids in [1, 1000, 1 << 40] {
                    let bytes = bytes_of(|| distribution.draw(ids, Stream::new(1), Made));
                    assert!((8..=64 << 10).contains(&bytes), "{text}, {ids}: {bytes}");
                }
            }
        }
    }

    #[test]
    fn every_distribution_draws_from_the_ids_that_it_is_given() {
        for &kind in DistributionKind::ALL {
            for ids in [1, 2, 3, 10, 1000, 1 << 40] {
                sample_ids(Distribution::of(kind), ids, ids, 1000, |id| assert!(id < ids, "{kind}, {ids}: {id}"));
            }
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_ids() {
        let drawn = |kind, seed| {
            let mut ids = Vec::new();
            sample_ids(Distribution::of(kind), 1 << 30, seed, 50, |id| ids.push(id));
            ids
        };
        for &kind in DistributionKind::ALL {
            assert_eq!(drawn(kind, 1), drawn(kind, 1), "{kind}");
            assert_ne!(drawn(kind, 1), drawn(kind, 2), "{kind}");
        }
    }
}
