//! Lengths of the ranges of a mix.

use std::fmt;

use crate::distribution::{schema_of_law, words_of};
use crate::{Distribution, Json, KeyValue, Pareto, read_by_text, words, written_as_text};

words! {
    /// Lengths of the ranges of a mix.
    #[derive(Default)]
    pub enum RangeLengthKind: "a way to choose lengths", "LENGTHS" {
        /// Every range is a seek and `seek_nexts` steps.
        Fixed = "fixed" as default,
        /// 1 to `seek_nexts` + 1 records, each length equally likely.
        Uniform = "uniform",
        /// Zipf's law, `zipf EXPONENT`: 1 record is the most likely length, `seek_nexts` + 1 the least likely.
        Zipf = "zipf",
        /// Generalized Pareto, `pareto K SIGMA`; lengths above `seek_nexts` + 1 wrap around to 1.
        Pareto = "pareto",
    }
}

/// Lengths of the ranges of a mix: one of the ways with its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RangeLengths {
    /// All as long as they can be.
    #[default]
    Fixed,
    /// Each length as likely.
    Uniform,
    /// By Zipf's law with this exponent: as YCSB has them with `scanlengthdistribution=zipfian`.
    Zipf(f64),
    /// By the law; what is longer than ranges can be begins again from 1, as in db_bench.
    Pareto(Pareto),
}

/// mixgraph's law of lengths.
const MIXGRAPH: Pareto = Pareto { k: 2.517, sigma: 14.236 };

impl RangeLengths {
    /// Which way it is.
    fn kind(self) -> RangeLengthKind {
        match self {
            RangeLengths::Fixed => RangeLengthKind::Fixed,
            RangeLengths::Uniform => RangeLengthKind::Uniform,
            RangeLengths::Zipf(_) => RangeLengthKind::Zipf,
            RangeLengths::Pareto(_) => RangeLengthKind::Pareto,
        }
    }
}

/// The exponent of Zipf's law, where one is given: with the bounds that it has among distributions of records.
fn exponent(numbers: &[&str]) -> Result<f64, String> {
    let words: Vec<&str> = std::iter::once("zipf").chain(numbers.iter().copied()).collect();
    Distribution::from_text(&words.join(" ")).map(|law| law.numbers()[0])
}

impl KeyValue for RangeLengths {
    const PLACEHOLDER: &'static str = "LENGTHS";

    fn describe() -> String {
        format!("{}, with its numbers", RangeLengthKind::describe())
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = words_of(text).collect();
        let kind = RangeLengthKind::from_text(words.first().unwrap_or(&""))?;
        match (kind, &words[1..]) {
            (RangeLengthKind::Fixed, []) => Ok(RangeLengths::Fixed),
            (RangeLengthKind::Uniform, []) => Ok(RangeLengths::Uniform),
            (RangeLengthKind::Zipf, numbers) if numbers.len() <= 1 => exponent(numbers).map(RangeLengths::Zipf),
            (RangeLengthKind::Pareto, []) => Ok(RangeLengths::Pareto(MIXGRAPH)),
            (RangeLengthKind::Pareto, [k, sigma]) => Pareto::from_texts(k, sigma).map(RangeLengths::Pareto),
            _ => Err(format!(
                "`{text}` is not {}; zipf takes an exponent, pareto two numbers, k and sigma",
                RangeLengthKind::describe()
            )),
        }
    }

    fn schema() -> Json {
        schema_of_law(RangeLengthKind::ALL.iter().map(|kind| kind.word()))
    }

    fn words() -> Vec<(&'static str, &'static str)> {
        RangeLengthKind::words()
    }
}

impl fmt::Display for RangeLengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RangeLengths::Zipf(exponent) => f.pad(&format!("zipf {exponent}")),
            RangeLengths::Pareto(law) => f.pad(&format!("pareto {} {}", law.k, law.sigma)),
            other => other.kind().fmt(f),
        }
    }
}

read_by_text!(RangeLengths);
written_as_text!(RangeLengths);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_as_they_are_written() {
        for text in ["fixed", "uniform", "zipf 0.5", "pareto 2.517 14.236"] {
            assert_eq!(text.parse::<RangeLengths>().unwrap().to_string(), text);
        }
        assert_eq!("pareto".parse(), Ok(RangeLengths::Pareto(MIXGRAPH)));
        assert_eq!("zipf".parse(), Ok(RangeLengths::Zipf(0.99)));
        assert_eq!("zipf:0.5".parse(), Ok(RangeLengths::Zipf(0.5)));
        assert_eq!("pareto:2:3".parse(), Ok(RangeLengths::Pareto(Pareto { k: 2.0, sigma: 3.0 })));
        for (text, reason) in [
            ("fixd", "did you mean `fixed`?"),
            ("", "`` is not a way to choose lengths"),
            ("uniform 3", "`uniform 3` is not"),
            ("pareto 1", "pareto two numbers, k and sigma"),
            ("zipf 1 2", "zipf takes an exponent"),
            ("zipf 0", "the exponent is 0; it must be 0.01 to 10"),
            ("pareto -1 5", "the k of pareto is -1; it must be 0 to 10"),
            ("pareto 1 0", "the sigma of pareto is 0"),
        ] {
            let error = text.parse::<RangeLengths>().unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
