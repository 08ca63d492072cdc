//! Which record comes next, for workloads that draw records at random.
//!
//! A distribution is a file with a type that implements [`KeyChoice`], and an entry in the list below. Loops are
//! generic over it, so that each is compiled for each distribution, and none costs another an instruction.

mod share;
mod uniform;

use kvdyno_dataset::Stream;

pub(crate) use share::{Share, load_order, own_ids};
use uniform::Uniform;

/// A way to draw ids.
pub(crate) trait KeyChoice: Clone + 'static {
    /// Draws from the ids `0..ids`, which are at least one, by the random numbers of `stream`.
    fn new(ids: u64, stream: Stream) -> Self;

    /// The next id.
    fn next(&mut self) -> u64;
}

/// Something that is generic over the distribution.
pub(crate) trait UsesKeyChoice {
    /// The result of using it.
    type Output;

    /// Goes on with a distribution.
    fn with<K: KeyChoice>(self, choice: K) -> Self::Output;
}

kvdyno_model::words! {
    /// How likely each record is to come next.
    #[derive(Default)]
    pub enum Distribution: "a distribution", "DISTRIBUTION" {
        /// Every record is as likely as any other.
        Uniform = "uniform" as default,
    }
}

impl Distribution {
    /// Draws from the ids `0..ids` for `user`.
    pub(crate) fn draw<U: UsesKeyChoice>(self, ids: u64, stream: Stream, user: U) -> U::Output {
        match self {
            Distribution::Uniform => user.with(Uniform::new(ids, stream)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws so many ids, and says which was the highest.
    struct Highest(u32);

    impl UsesKeyChoice for Highest {
        type Output = u64;

        fn with<K: KeyChoice>(self, mut choice: K) -> u64 {
            (0..self.0).map(|_| choice.next()).max().unwrap_or(0)
        }
    }

    #[test]
    fn every_distribution_draws_from_the_ids_that_it_is_given() {
        for distribution in Distribution::ALL {
            for ids in [1, 2, 10, 1 << 40] {
                assert!(distribution.draw(ids, Stream::new(ids), Highest(1000)) < ids, "{distribution}, {ids}");
            }
        }
    }

    #[test]
    fn a_distribution_is_found_by_its_name() {
        for distribution in Distribution::ALL {
            assert_eq!(distribution.to_string().parse(), Ok(*distribution));
        }
        let error = "unifrom".parse::<Distribution>().unwrap_err();
        assert!(
            error.contains("`unifrom` is not a distribution") && error.contains("did you mean `uniform`?"),
            "{error}"
        );
    }
}
