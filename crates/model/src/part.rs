//! A part of a plan: `3/8`.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

crate::words! {
    /// The rule by which a plan is dealt to its parts.
    #[derive(Default)]
    pub enum Deal: "a rule of dealing", "DEAL" {
        /// Each part has blocks of its own, with all their repeats.
        Blocks = "blocks" as default,
        /// Each part does every block, with repeats of its own, to tell machines from setups.
        Repeats = "repeats",
    }
}

impl Deal {
    /// Whether it is the usual one.
    pub fn is_blocks(&self) -> bool {
        *self == Deal::Blocks
    }
}

/// One of several parts of a plan, by its number from 1: `3/8` is the third of eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Part {
    number: u32,
    of: u32,
}

impl Part {
    /// Parts of a plan, at the most.
    pub const MOST: u32 = 10_000;

    /// Its number, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// The number of all parts.
    pub fn of(self) -> u32 {
        self.of
    }

    /// All parts of a plan.
    pub fn all(of: u32) -> impl Iterator<Item = Part> {
        (1..=of).map(move |number| Part { number, of })
    }

    /// Which of `count` things in a row are its own. Each thing belongs to one part, and no part has two more than
    /// another.
    pub fn share(self, count: usize) -> Range<usize> {
        let end = |part: u32| (u64::from(part) * count as u64 / u64::from(self.of)) as usize;
        end(self.number - 1)..end(self.number)
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let (number, of): (u32, u32) = numbers.ok_or("a part is NUMBER/PARTS, such as 3/8")?;
        match number >= 1 && number <= of {
            true => at_most(of).map(|of| Part { number, of }),
            false => Err(format!("there is no part {number} of {of}: parts are numbered from 1")),
        }
    }
}

fn at_most(parts: u32) -> Result<u32, String> {
    if parts > Part::MOST { Err(format!("a plan has at most {} parts", Part::MOST)) } else { Ok(parts) }
}

/// A part, and how its plan is dealt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DealtPart {
    /// Which.
    pub part: Part,
    /// By which rule.
    pub deal: Deal,
}

/// The parts of a plan that a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedParts {
    /// One part: `3/8`.
    One(Part),
    /// Of so many parts those that nobody else has begun, one after the other: `auto/8`.
    Free(u32),
}

impl FromStr for WantedParts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(of) = text.strip_prefix("auto/") else { return text.parse().map(WantedParts::One) };
        match of.parse() {
            Ok(of) if of > 0 => at_most(of).map(WantedParts::Free),
            _ => Err("all parts that are free are auto/PARTS, such as auto/8".to_owned()),
        }
    }
}

impl TryFrom<String> for Part {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Part> for String {
    fn from(part: Part) -> String {
        part.to_string()
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_thing_belongs_to_one_part_and_parts_are_of_one_size(count in 0_usize..500, of in 1_u32..50) {
            let parts: Vec<Part> = (1..=of).map(|number| Part { number, of }).collect();
            let dealt: Vec<usize> = parts.iter().flat_map(|part| part.share(count)).collect();
            prop_assert_eq!(dealt, (0..count).collect::<Vec<_>>());
            let sizes = || parts.iter().map(|part| part.share(count).len());
            prop_assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
        }

        #[test]
        fn it_is_read_as_it_is_printed(of in 1..=Part::MOST, number in 1..=2 * Part::MOST) {
            let text = format!("{number}/{of}");
            prop_assert_eq!(text.parse::<Part>().is_ok(), number <= of);
            if let Ok(part) = text.parse::<Part>() {
                prop_assert_eq!(part.to_string(), text);
            }
        }
    }

    #[test]
    fn what_is_no_part_is_refused_with_the_reason() {
        for text in ["", "3", "3/", "/8", "a/b", "-1/8", "3/8/9", "3/99999999999"] {
            assert_eq!(text.parse::<Part>(), Err("a part is NUMBER/PARTS, such as 3/8".to_owned()), "{text}");
        }
        assert_eq!("1/10001".parse::<Part>(), Err("a plan has at most 10000 parts".to_owned()));
        assert_eq!("9/8".parse::<Part>(), Err("there is no part 9 of 8: parts are numbered from 1".to_owned()));
        assert_eq!("0/8".parse::<Part>(), Err("there is no part 0 of 8: parts are numbered from 1".to_owned()));
        for text in ["auto/", "auto/0", "auto/x", "auto/-1", "auto/3/8"] {
            let refused = "all parts that are free are auto/PARTS, such as auto/8".to_owned();
            assert_eq!(text.parse::<WantedParts>(), Err(refused), "{text}");
        }
        assert_eq!("auto/10001".parse::<WantedParts>(), Err("a plan has at most 10000 parts".to_owned()));
        assert_eq!("auto/8".parse::<WantedParts>(), Ok(WantedParts::Free(8)));
        assert_eq!("auto".parse::<WantedParts>(), Err("a part is NUMBER/PARTS, such as 3/8".to_owned()));
    }
}
