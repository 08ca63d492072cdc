//! Draws the lengths of the ranges of a mix.

use kvdyno_dataset::Stream;
use kvdyno_model::{Pareto, RangeLengths};

use crate::key_choice::{KeyChoice, Ranked, Zipf, zipf};

/// Draws lengths of 1 to `most` records.
pub(super) fn draw(lengths: RangeLengths, most: u64, stream: Stream) -> RangeLengthChoice {
    match lengths {
        RangeLengths::Fixed => RangeLengthChoice::Fixed(most),
        RangeLengths::Uniform => RangeLengthChoice::Uniform(most, stream),
        RangeLengths::Zipf(exponent) => RangeLengthChoice::Zipf(zipf(most, exponent, stream)),
        RangeLengths::Pareto(law) => RangeLengthChoice::Pareto(law, most, stream),
    }
}

/// Draws `count` lengths of 1 to `most` records by the random numbers of `seed`, and gives each to `see`.
pub fn sample_lengths(lengths: RangeLengths, most: u64, seed: u64, count: u64, mut see: impl FnMut(u64)) {
    let mut choice = draw(lengths, most, Stream::new(seed));
    (0..count).for_each(|_| see(choice.next()));
}

/// The part of the ranges that has each length of 1 to `most`, up to a constant: the law in its plain form.
pub fn likelihoods_of_lengths(lengths: RangeLengths, most: u64) -> Vec<f64> {
    let part = |length: u64| match lengths {
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

/// Turns of a Pareto law that are distinguished.
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
            // A draw that no number holds is the highest number.
            RangeLengthChoice::Pareto(law, most, stream) => 1 + (law.drawn(stream.bits()) as u64 - 1) % *most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held_memory::bytes_of;
    use crate::key_choice::fits;

    #[test]
    fn tables_of_lengths_take_at_most_64_kib() {
        for text in ["fixed", "uniform", "zipf", "pareto"] {
            for most in [1, 100, 1_000_001] {
                let bytes = bytes_of(|| draw(text.parse().unwrap(), most, Stream::new(1)));
                assert!(bytes <= 64 << 10, "{text}: {bytes}");
            }
        }
    }

    #[test]
    fn lengths_come_as_often_as_their_law_says() {
        let most = 50;
        for text in ["fixed", "uniform", "zipf", "zipf 2", "pareto"] {
            let lengths: RangeLengths = text.parse().unwrap();
            let mut counts = vec![0; most as usize];
            sample_lengths(lengths, most, 3, 1_000_000, |length| counts[length as usize - 1] += 1);
            assert!(fits(&counts, &likelihoods_of_lengths(lengths, most)), "{lengths}: {counts:?}");
        }
        let mut counts = vec![0; most as usize];
        sample_lengths(RangeLengths::Zipf(0.99), most, 3, 1_000_000, |length| counts[length as usize - 1] += 1);
        assert!(!fits(&counts, &likelihoods_of_lengths(RangeLengths::Zipf(0.98), most)), "another law");
    }
}
