//! How long the ranges of a mix are.

use std::fmt;

use kvdyno_dataset::{Pareto, Stream};
use kvdyno_model::{Json, KeyValue, read_by_text, written_as_text};

use crate::key_choice::{Distribution, KeyChoice, Ranked, Zipf, zipf};

kvdyno_model::words! {
    /// How long the ranges of a mix are.
    #[derive(Default)]
    pub enum RangeLengthKind: "a way to choose lengths", "LENGTHS" {
        /// All of a seek and `seek_nexts` steps.
        Fixed = "fixed" as default,
        /// Of 1 to `seek_nexts` + 1 records, each length as likely.
        Uniform = "uniform",
        /// Zipf's law, `zipf EXPONENT`: 1 record is the likeliest, `seek_nexts` + 1 the least likely.
        Zipf = "zipf",
        /// Generalized Pareto, `pareto K SIGMA`; what is longer than `seek_nexts` + 1 begins again from 1.
        Pareto = "pareto",
    }
}

/// How long the ranges of a mix are: one of the ways with its numbers.
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

    /// Draws lengths of 1 to `most` records.
    pub(super) fn draw(self, most: u64, stream: Stream) -> RangeLengthChoice {
        match self {
            RangeLengths::Fixed => RangeLengthChoice::Fixed(most),
            RangeLengths::Uniform => RangeLengthChoice::Uniform(most, stream),
            RangeLengths::Zipf(exponent) => RangeLengthChoice::Zipf(zipf(most, exponent, stream)),
            RangeLengths::Pareto(law) => RangeLengthChoice::Pareto(law, most, stream),
        }
    }

    /// Draws `count` lengths of 1 to `most` records by the random numbers of `seed`, and gives each to `see`.
    pub fn sample(self, most: u64, seed: u64, count: u64, mut see: impl FnMut(u64)) {
        let mut lengths = self.draw(most, Stream::new(seed));
        (0..count).for_each(|_| see(lengths.next()));
    }

    /// The part of the ranges that has each length of 1 to `most`, up to a constant: the law in its plain form.
    pub fn likelihoods(self, most: u64) -> Vec<f64> {
        let part = |length: u64| match self {
            RangeLengths::Fixed => f64::from(u8::from(length == most)),
            RangeLengths::Uniform => 1.0,
            RangeLengths::Zipf(exponent) => (length as f64).powf(-exponent),
            RangeLengths::Pareto(law) => {
                // A length comes again with each turn; what is beyond these turns is even.
                let above = |length: u64| law.above(length as f64);
                let turn = |turn: u64| above(turn * most + length - 1) - above(turn * most + length);
                (0..TURNS).map(turn).sum::<f64>() + above(TURNS * most) / most as f64
            }
        };
        (1..=most).map(part).collect()
    }
}

/// Turns of a Pareto law that are told from one another.
const TURNS: u64 = 10_000;

/// Lengths, one after the other.
pub(super) enum RangeLengthChoice {
    Fixed(u64),
    Uniform(u64, Stream),
    Zipf(Ranked<Zipf>),
    Pareto(Pareto, u64, Stream),
}

impl RangeLengthChoice {
    /// Records of the next range.
    #[inline(always)]
    pub(super) fn next(&mut self) -> u64 {
        match self {
            RangeLengthChoice::Fixed(most) => *most,
            RangeLengthChoice::Uniform(most, stream) => 1 + stream.below(*most),
            RangeLengthChoice::Zipf(ranks) => 1 + ranks.next(),
            // What no number holds is the highest.
            RangeLengthChoice::Pareto(law, most, stream) => 1 + (law.drawn(stream.bits()) as u64 - 1) % *most,
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
        let words: Vec<&str> = text.split_whitespace().collect();
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
        let names: Vec<&str> = RangeLengthKind::ALL.iter().map(|kind| kind.word()).collect();
        serde_json::json!({ "type": "string", "pattern": format!("^({})( +[0-9.e-]+)*$", names.join("|")) })
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
    use crate::held_memory::bytes_of;
    use crate::key_choice::fits;

    #[test]
    fn tables_of_lengths_take_at_most_64_kib() {
        for text in ["fixed", "uniform", "zipf", "pareto"] {
            for most in [1, 100, 1_000_001] {
                let bytes = bytes_of(|| text.parse::<RangeLengths>().unwrap().draw(most, Stream::new(1)));
                assert!(bytes <= 64 << 10, "{text}: {bytes}");
            }
        }
    }

    #[test]
    fn lengths_are_read_as_they_are_written() {
        for text in ["fixed", "uniform", "zipf 0.5", "pareto 2.517 14.236"] {
            assert_eq!(text.parse::<RangeLengths>().unwrap().to_string(), text);
        }
        assert_eq!("pareto".parse(), Ok(RangeLengths::Pareto(MIXGRAPH)));
        assert_eq!("zipf".parse(), Ok(RangeLengths::Zipf(0.99)));
        for (text, reason) in [
            ("fixd", "did you mean `fixed`?"),
            ("", "`` is not a way to choose lengths"),
            ("uniform 3", "`uniform 3` is not"),
            ("pareto 1", "pareto two numbers, k and sigma"),
            ("zipf 1 2", "zipf takes an exponent"),
            ("zipf 0", "the exponent of zipf is 0; it must be 0.01 to 10"),
            ("pareto -1 5", "the k of pareto is -1; it must be 0 to 10"),
            ("pareto 1 0", "the sigma of pareto is 0"),
        ] {
            let error = text.parse::<RangeLengths>().unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn lengths_come_as_often_as_their_law_says() {
        let most = 50;
        for text in ["fixed", "uniform", "zipf", "zipf 2", "pareto"] {
            let lengths: RangeLengths = text.parse().unwrap();
            let mut counts = vec![0; most as usize];
            lengths.sample(most, 3, 1_000_000, |length| counts[length as usize - 1] += 1);
            assert!(fits(&counts, &lengths.likelihoods(most)), "{lengths}: {counts:?}");
        }
        let mut counts = vec![0; most as usize];
        RangeLengths::Zipf(0.99).sample(most, 3, 1_000_000, |length| counts[length as usize - 1] += 1);
        assert!(!fits(&counts, &RangeLengths::Zipf(0.98).likelihoods(most)), "another law");
    }
}
