//! Lists of processors and of NUMA nodes, as the kernel writes them: `0-3,8`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The highest number that a list may have: more than any kernel is built for, and few enough to be counted out.
const HIGHEST: u32 = 65_535;

/// Numbers in ascending order, each once, and at least one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Numbers(Vec<u32>);

impl Numbers {
    /// The numbers; absent if there are none.
    pub fn new(numbers: impl IntoIterator<Item = u32>) -> Option<Numbers> {
        let mut numbers = Vec::from_iter(numbers);
        numbers.sort_unstable();
        numbers.dedup();
        (!numbers.is_empty()).then_some(Numbers(numbers))
    }

    /// In ascending order.
    pub fn as_slice(&self) -> &[u32] {
        &self.0
    }
}

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a list of numbers such as 0-3,8");
        let mut numbers = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number <= HIGHEST);
            let (Some(first), Some(last)) = (number(first), number(last)) else { return Err(wrong()) };
            if first > last {
                return Err(wrong());
            }
            numbers.extend(first..=last);
        }
        Numbers::new(numbers).ok_or_else(wrong)
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.0.chunk_by(|before, after| before + 1 == *after);
        let texts: Vec<String> = runs
            .map(|run| match run {
                [only] => only.to_string(),
                [first, .., last] => format!("{first}-{last}"),
                [] => String::new(),
            })
            .collect();
        f.pad(&texts.join(","))
    }
}

impl TryFrom<String> for Numbers {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Numbers> for String {
    fn from(numbers: Numbers) -> String {
        numbers.to_string()
    }
}

/// Processors: how many, or which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cpus {
    /// So many, chosen by the lab: of different cores first.
    Count(u32),
    /// These.
    List(Numbers),
}

/// As the command line says it: a number alone is how many; the one processor 5 is `5-5`.
impl FromStr for Cpus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map_or_else(|_| text.parse().map(Cpus::List), |count| Ok(Cpus::Count(count)))
    }
}

impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cpus::Count(count) => f.pad(&count.to_string()),
            Cpus::List(numbers) => f.pad(&numbers.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_read_and_write_as_the_kernels() {
        for (text, written) in [("0-3,8", "0-3,8"), ("3,1,2", "1-3"), ("7", "7"), ("1,1-2", "1-2"), ("0,2", "0,2")] {
            assert_eq!(text.parse::<Numbers>().unwrap().to_string(), written);
        }
        for text in ["", "a", "3-1", "1,,2", "-1", "0-4294967295", "1-2-3"] {
            assert!(text.parse::<Numbers>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(numbers in prop::collection::vec(0u32..200, 1..20)) {
            let numbers = Numbers::new(numbers).unwrap();
            prop_assert_eq!(numbers.to_string().parse::<Numbers>().unwrap(), numbers);
        }

        #[test]
        fn no_text_brings_the_parser_down(text in "[-,0-9a ]{0,12}") {
            let _ = text.parse::<Numbers>();
        }
    }
}
