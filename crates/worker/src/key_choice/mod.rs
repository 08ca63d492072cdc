//! Which record comes next, for workloads that draw records at random.
//!
//! A distribution is a file with a type that implements [`KeyChoice`], and an entry in the list below. Loops are generic
//! over it, so that each is compiled for each distribution, and none costs another an instruction.

mod share;
mod uniform;

use std::fmt;
use std::str::FromStr;

use kvdyno_dataset::Stream;
use kvdyno_engine::closest;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

/// Makes [`Distribution`] from a list of `Variant = "name", Type: "summary"`, of which one is the default.
macro_rules! distributions {
    ($($(#[$default:ident])? $variant:ident = $name:literal, $choice:ty: $summary:literal;)*) => {
        /// How likely each record is to come next.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum Distribution {
            $($(#[$default])? #[doc = $summary] $variant,)*
        }

        impl Distribution {
            /// Every distribution.
            pub const ALL: &'static [Distribution] = &[$(Distribution::$variant),*];

            /// Its name in files and results.
            pub fn name(self) -> &'static str {
                match self { $(Distribution::$variant => $name,)* }
            }

            /// Its meaning, one clause.
            pub fn summary(self) -> &'static str {
                match self { $(Distribution::$variant => $summary,)* }
            }

            /// Draws from the ids `0..ids` for `user`.
            pub(crate) fn draw<U: UsesKeyChoice>(self, ids: u64, stream: Stream, user: U) -> U::Output {
                match self { $(Distribution::$variant => user.with(<$choice>::new(ids, stream)),)* }
            }
        }
    };
}

distributions! {
    #[default]
    Uniform = "uniform", Uniform: "every record is as likely as any other";
}

/// A distribution that does not exist.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no distribution `{name}`{suggestion}; there are {known}")]
pub struct UnknownDistribution {
    name: String,
    suggestion: String,
    known: String,
}

impl FromStr for Distribution {
    type Err = UnknownDistribution;

    fn from_str(text: &str) -> Result<Self, UnknownDistribution> {
        let names = || Distribution::ALL.iter().map(|one| one.name());
        Distribution::ALL.iter().copied().find(|one| one.name() == text).ok_or_else(|| UnknownDistribution {
            name: text.to_owned(),
            suggestion: closest(text, names()).map(|word| format!("; did you mean `{word}`?")).unwrap_or_default(),
            known: names().collect::<Vec<_>>().join(", "),
        })
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
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
        let error = "unifrom".parse::<Distribution>().unwrap_err().to_string();
        assert!(error.starts_with("there is no distribution `unifrom`; did you mean `uniform`?"), "{error}");
    }
}
