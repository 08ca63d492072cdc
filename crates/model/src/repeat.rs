//! Number of repeats.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::{Count, KeyValue};

/// Number of repeats: `5`, or `auto`, until the comparisons are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Until the comparisons are decided, the budget is used up, or it was done [`Repeat::MOST_AUTO`] times.
    Auto,
    /// So often.
    Times(Count<1, 10_000>),
}

impl Repeat {
    /// The most repeats of `auto`: intervals that are looked at after each value hold for 30 values, and two setups
    /// that cross over between copies of one database need two repeats for each value.
    pub const MOST_AUTO: u32 = 60;

    /// The highest possible number of repeats.
    pub fn most(self) -> u32 {
        match self {
            Repeat::Auto => Repeat::MOST_AUTO,
            Repeat::Times(times) => times.get_u32(),
        }
    }

    /// The most extra repeats that replace those with too much interference: half the ordered number. `auto` needs
    /// none, because it goes on anyway.
    pub fn most_extra(self) -> u32 {
        match self {
            Repeat::Auto => 0,
            Repeat::Times(times) => times.get_u32() / 2,
        }
    }

    /// Whether the results decide when it ends.
    pub fn is_auto(self) -> bool {
        self == Repeat::Auto
    }

    /// So often, at least once.
    pub fn times(times: u32) -> Repeat {
        Repeat::Times(Count(times.max(1).into()))
    }
}

impl KeyValue for Repeat {
    const PLACEHOLDER: &'static str = "N";

    fn describe() -> String {
        format!("{}, or \"auto\"", Count::<1, 10_000>::describe())
    }

    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Repeat::Auto),
            _ => Count::from_text(text).map(Repeat::Times),
        }
    }

    fn schema() -> Value {
        json!({ "anyOf": [Count::<1, 10_000>::schema(), { "const": "auto" }] })
    }
}

impl Serialize for Repeat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Repeat::Auto => serializer.serialize_str("auto"),
            Repeat::Times(times) => times.serialize(serializer),
        }
    }
}

crate::read_by_text!(Repeat);

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repeat::Auto => f.pad("auto"),
            Repeat::Times(times) => times.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_and_writes_as_it_is() {
        for text in ["auto", "1", "10000"] {
            assert_eq!(text.parse::<Repeat>().unwrap().to_string(), text);
        }
        for text in ["0", "10001", "Auto", "-1", ""] {
            assert!(text.parse::<Repeat>().is_err(), "{text}");
        }
    }
}
