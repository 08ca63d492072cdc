//! A distribution as an experiment file has it: a word, and the numbers that it takes.

use std::fmt;

use crate::power_law::{MOST_KEY_RANGES, PowerLaw};
use crate::{Json, KeyValue, read_by_text, words, written_as_text};

words! {
    /// Distribution of the records that are accessed.
    #[derive(Default)]
    pub enum DistributionKind: "a distribution", "DISTRIBUTION" {
        /// Every record is equally likely.
        Uniform = "uniform" as default,
        /// Zipf's law; the likely records are scattered over all keys: `zipf 0.99` has the exponent 0.99.
        Zipf = "zipf",
        /// Zipf's law; the first record is the most likely.
        ZipfOrdered = "zipf-ordered",
        /// Zipf's law as in YCSB: exponent 0.99 over 10^10 items, each hashed to a record.
        ZipfYcsb = "zipf-ycsb",
        /// Zipf's law; the newest record is the most likely.
        Latest = "latest",
        /// A fraction of the records, the first, gets a fraction of the draws: `hotspot 0.2 0.8`.
        Hotspot = "hotspot",
        /// The first record is the most likely; the mean is a fraction of the records: `exponential 0.1`.
        Exponential = "exponential",
        /// The middle record is the most likely; the standard deviation is a fraction of the records: `normal 0.1`.
        Normal = "normal",
        /// In key order from a random record; after the last record, again from the first.
        Sequential = "sequential",
        /// Uniform in a window, a fraction of the records, that advances by one record a draw: `window 0.01`.
        Window = "window",
        /// The r most likely records get the fraction A r^B of the draws: `power A B`; five more numbers: key ranges.
        Power = "power",
    }
}

/// A number that a distribution takes.
struct DistributionNumber {
    what: &'static str,
    default: f64,
    least: f64,
    most: f64,
}

/// YCSB's exponent, which others took over.
const EXPONENT: DistributionNumber = DistributionNumber { what: "exponent", default: 0.99, least: 0.01, most: 10.0 };

const fn fraction(what: &'static str, default: f64) -> DistributionNumber {
    DistributionNumber { what, default, least: 1e-6, most: 1.0 }
}

/// YCSB's defaults.
const HOTSPOT: [DistributionNumber; 2] =
    [fraction("fraction of the records", 0.2), fraction("fraction of the draws", 0.8)];
const MEAN: DistributionNumber = fraction("mean, as a fraction of the records,", 0.1);
const DEVIATION: DistributionNumber = fraction("standard deviation, as a fraction of the records,", 0.1);
const WIDTH: DistributionNumber = fraction("fraction of the records", 0.01);
/// The defaults are those that RocksDB's wiki publishes for mixgraph, with one key range.
const POWER: [DistributionNumber; MOST_NUMBERS] = [
    DistributionNumber { what: "probability of the likeliest record", default: 0.002_312, least: 1e-9, most: 1.0 },
    DistributionNumber { what: "exponent", default: 0.3467, least: 0.01, most: 1.0 },
    DistributionNumber { what: "number of key ranges", default: 1.0, least: 1.0, most: MOST_KEY_RANGES as f64 },
    coefficient(14.18),
    rate(-2.917),
    coefficient(0.0164),
    rate(-0.080_82),
];
/// Numbers of a distribution at the most.
const MOST_NUMBERS: usize = 7;

const fn coefficient(default: f64) -> DistributionNumber {
    DistributionNumber { what: "coefficient of key ranges", default, least: 0.0, most: 1e9 }
}

const fn rate(default: f64) -> DistributionNumber {
    DistributionNumber { what: "rate of key ranges", default, least: -100.0, most: 100.0 }
}

impl DistributionKind {
    fn numbers(self) -> &'static [DistributionNumber] {
        match self {
            DistributionKind::Zipf | DistributionKind::ZipfOrdered | DistributionKind::Latest => &[EXPONENT],
            DistributionKind::Hotspot => &HOTSPOT,
            DistributionKind::Exponential => &[MEAN],
            DistributionKind::Normal => &[DEVIATION],
            DistributionKind::Window => &[WIDTH],
            DistributionKind::Power => &POWER,
            DistributionKind::Uniform | DistributionKind::ZipfYcsb | DistributionKind::Sequential => &[],
        }
    }
}

/// Distribution of the records: one of the kinds with its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    kind: DistributionKind,
    /// The numbers of the kind; the rest are 0.
    numbers: [f64; MOST_NUMBERS],
}

impl Default for Distribution {
    fn default() -> Self {
        Distribution::of(DistributionKind::default())
    }
}

impl Distribution {
    /// One with its default numbers.
    pub fn of(kind: DistributionKind) -> Distribution {
        let mut numbers = [0.0; MOST_NUMBERS];
        numbers.iter_mut().zip(kind.numbers()).for_each(|(number, taken)| *number = taken.default);
        Distribution { kind, numbers }
    }

    /// Which it is.
    pub fn kind(self) -> DistributionKind {
        self.kind
    }

    /// Its numbers; 0 for those that it does not take.
    pub fn numbers(self) -> [f64; MOST_NUMBERS] {
        self.numbers
    }

    /// Parts that the records are cut into, each of which has one at least.
    pub fn ranges(self) -> u64 {
        if self.kind == DistributionKind::Power { PowerLaw::new(self.numbers).count(u64::MAX) } else { 1 }
    }

    /// Why the numbers, each of which is right, are wrong together; absent if they are not.
    fn fault(self) -> Option<String> {
        match self.kind {
            DistributionKind::Power if self.numbers[2].fract() != 0.0 => {
                Some(format!("the number of key ranges is {}; it must be whole", self.numbers[2]))
            }
            DistributionKind::Power => PowerLaw::new(self.numbers).fault(),
            _ => None,
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = self.numbers.iter().zip(self.kind.numbers()).map(|(number, _)| number.to_string());
        let words: Vec<String> = std::iter::once(self.kind.to_string()).chain(numbers).collect();
        f.pad(&words.join(" "))
    }
}

/// The words of a law, its name and its numbers, which blanks or single colons separate: `hotspot:0.2:0.8`. A word that
/// is missing between colons is empty, so that no number takes the slot of the one before it.
pub(crate) fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(':').flat_map(|part| {
        let mut words = part.split_whitespace();
        std::iter::once(words.next().unwrap_or_default()).chain(words)
    })
}

/// The JSON Schema of a law with one of these names.
pub(crate) fn schema_of_law<'a>(names: impl Iterator<Item = &'a str>) -> Json {
    let names: Vec<&str> = names.collect();
    serde_json::json!({ "type": "string", "pattern": format!("^({})(( +| *: *)[0-9.e-]+)*$", names.join("|")) })
}

impl KeyValue for Distribution {
    const PLACEHOLDER: &'static str = "DISTRIBUTION";

    fn describe() -> String {
        format!("{}, with its numbers", DistributionKind::describe())
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let mut words = words_of(text);
        let mut distribution = Distribution::of(DistributionKind::from_text(words.next().unwrap_or_default())?);
        let kind = distribution.kind;
        let mut left = distribution.numbers.iter_mut().zip(kind.numbers());
        for word in words {
            let Some((slot, DistributionNumber { what, least, most, .. })) = left.next() else {
                return Err(format!("`{text}` has more numbers than the {} that {kind} takes", kind.numbers().len()));
            };
            let number = word.parse().ok().filter(|number| (*least..=*most).contains(number));
            let told = if word.is_empty() { "absent" } else { word };
            *slot = number.ok_or_else(|| format!("`{text}`: the {what} is {told}; it must be {least} to {most}"))?;
        }
        distribution.fault().map_or(Ok(distribution), |fault| Err(format!("`{text}`: {fault}")))
    }

    fn schema() -> Json {
        schema_of_law(DistributionKind::ALL.iter().map(|kind| kind.word()))
    }

    fn words() -> Vec<(&'static str, &'static str)> {
        DistributionKind::words()
    }
}

read_by_text!(Distribution);
written_as_text!(Distribution);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;

    #[test]
    fn a_distribution_is_found_by_its_name_and_its_numbers() {
        for &kind in DistributionKind::ALL {
            let one = Distribution::of(kind);
            assert_eq!(one.to_string().parse(), Ok(one));
            assert_eq!(kind.to_string().parse(), Ok(one));
        }
        let hotspot: Distribution = "hotspot 0.3".parse().unwrap();
        assert_eq!((&hotspot.numbers()[..2], hotspot.to_string().as_str()), (&[0.3, 0.8][..], "hotspot 0.3 0.8"));
        for (text, printed) in [
            ("zipf:0.9", "zipf 0.9"),
            ("hotspot:0.3:0.7", "hotspot 0.3 0.7"),
            ("hotspot : 0.3 0.7", "hotspot 0.3 0.7"),
            ("window:1e-3", "window 0.001"),
        ] {
            assert_eq!(text.parse::<Distribution>().unwrap().to_string(), printed);
        }
    }

    #[test]
    fn what_is_none_is_told() {
        for (text, reason) in [
            ("unifrom", "`unifrom` is not a distribution"),
            ("", "`` is not a distribution"),
            ("uniform 1", "`uniform 1` has more numbers than the 0 that uniform takes"),
            ("zipf 0.99 2", "more numbers than the 1 that zipf takes"),
            ("zipf 0", "`zipf 0`: the exponent is 0; it must be 0.01 to 10"),
            ("zipf NaN", "the exponent is NaN"),
            ("hotspot 0.1 1.5", "the fraction of the draws is 1.5; it must be 0.000001 to 1"),
            ("window 2", "`window 2`: the fraction of the records is 2; it must be 0.000001 to 1"),
            ("hotspot::0.8", "the fraction of the records is absent"),
            ("zipf:", "the exponent is absent"),
            ("normal:2", "the standard deviation, as a fraction of the records, is 2; it must be"),
            ("zipf x", "the exponent is x"),
            ("power 0", "the probability of the likeliest record is 0; it must be 0.000000001 to 1"),
            ("power 0.1 1.5", "the exponent is 1.5; it must be 0.01 to 1"),
            ("power 0.1 0.5 0", "the number of key ranges is 0; it must be 1 to 256"),
            ("power 0.1 0.5 1.5", "the number of key ranges is 1.5; it must be whole"),
            ("power 0.1 0.5 30 -1", "the coefficient of key ranges is -1; it must be 0 to"),
            ("power 0.1 0.5 30 0 1 0 1", "the key ranges have weights that are 0"),
        ] {
            let error = text.parse::<Distribution>().unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        for (text, meant) in [("unifrom", "uniform"), ("zipfian", "zipf"), ("zipfian:0.99", "zipf")] {
            let error = text.parse::<Distribution>().unwrap_err();
            assert!(error.contains(&format!("did you mean `{meant}`?")), "{error}");
        }
    }

    proptest! {
        /// Two numbers: those of the key ranges of `power` depend on each other.
        #[test]
        fn a_distribution_reads_back_whatever_separates_its_words(
            kind in select(DistributionKind::ALL),
            (first, second) in (0.0f64..=1.0, 0.0f64..=1.0),
            separator in select(vec![" ", ":", "  ", " : "]),
        ) {
            let mut given = Distribution::of(kind);
            for ((slot, number), position) in given.numbers.iter_mut().zip(kind.numbers()).zip([first, second]) {
                *slot = (number.least + position * (number.most - number.least)).min(number.most);
            }
            prop_assume!(given.fault().is_none());
            let text = given.to_string();
            prop_assert_eq!(text.replace(' ', separator).parse(), Ok(given));
            prop_assert_eq!(text.parse(), Ok(given));
        }
    }
}
