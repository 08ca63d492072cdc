//! Lists of processors and of NUMA nodes, as the kernel writes them: `0-3,8`.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::KeyValue;

/// The highest number that a list may have: more than any kernel is built for, and few enough to be counted out.
const HIGHEST: u32 = 65_535;

/// The form of a list, as a regular expression.
const PATTERN: &str = "^ *[0-9]+ *(- *[0-9]+ *)?(, *[0-9]+ *(- *[0-9]+ *)?)*$";

/// Numbers in ascending order, each once, and at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexList(Vec<u32>);

impl IndexList {
    /// The indexes; absent if there are none.
    pub fn new(indexes: impl IntoIterator<Item = u32>) -> Option<IndexList> {
        let mut indexes = Vec::from_iter(indexes);
        indexes.sort_unstable();
        indexes.dedup();
        (!indexes.is_empty()).then_some(IndexList(indexes))
    }

    /// In ascending order.
    pub fn as_slice(&self) -> &[u32] {
        &self.0
    }
}

impl KeyValue for IndexList {
    const PLACEHOLDER: &'static str = "LIST";

    fn describe() -> String {
        "a list such as 0-3,8".to_owned()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a list of numbers such as 0-3,8");
        let mut indexes = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number <= HIGHEST);
            let (Some(first), Some(last)) = (number(first), number(last)) else { return Err(wrong()) };
            if first > last {
                return Err(wrong());
            }
            indexes.extend(first..=last);
        }
        IndexList::new(indexes).ok_or_else(wrong)
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": PATTERN })
    }
}

crate::read_by_text!(IndexList);
crate::written_as_text!(IndexList);

impl fmt::Display for IndexList {
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

impl From<IndexList> for String {
    fn from(list: IndexList) -> String {
        list.to_string()
    }
}

/// Processors: how many, or which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cpus {
    /// So many, chosen by the lab: of different cores first.
    Count(u32),
    /// These.
    List(IndexList),
}

/// A number alone is how many; the one processor 5 is `5-5`.
impl KeyValue for Cpus {
    const PLACEHOLDER: &'static str = "CPUS";

    fn describe() -> String {
        "how many, or a list such as 0-3,8".to_owned()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        match text.parse::<u32>() {
            Ok(0) => Err("0 CPUs are too few; 1 is the least".to_owned()),
            Ok(count) => Ok(Cpus::Count(count)),
            Err(_) => IndexList::from_text(text).map(Cpus::List),
        }
    }

    fn schema() -> Value {
        json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "pattern": PATTERN }] })
    }
}

impl Serialize for Cpus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cpus::Count(count) => serializer.serialize_u32(*count),
            Cpus::List(list) if list.0.len() == 1 => serializer.collect_str(&format_args!("{0}-{0}", list.0[0])),
            Cpus::List(list) => list.serialize(serializer),
        }
    }
}

crate::read_by_text!(Cpus);

impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cpus::Count(count) => f.pad(&count.to_string()),
            Cpus::List(indexes) => f.pad(&indexes.to_string()),
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
            assert_eq!(text.parse::<IndexList>().unwrap().to_string(), written);
        }
        for text in ["", "a", "3-1", "1,,2", "-1", "0-4294967295", "1-2-3"] {
            assert!(text.parse::<IndexList>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(indexes in prop::collection::vec(0u32..200, 1..20)) {
            let indexes = IndexList::new(indexes).unwrap();
            prop_assert_eq!(indexes.to_string().parse::<IndexList>().unwrap(), indexes);
        }

        #[test]
        fn no_text_brings_the_parser_down(text in "[-,0-9a ]{0,12}") {
            let _ = text.parse::<IndexList>();
        }
    }
}
