//! Sizes of values that are drawn from a distribution: each follows from the record's id, its version and the seed, so
//! that every read knows how long the value must be.

use std::f64::consts::TAU;
use std::fmt;

use kvdyno_model::{KeyValue, Length, Pareto, read_by_text, written_as_text};

use crate::random::mix;
use crate::size_histogram::SizeHistogram;
use crate::values::HEADER;

/// The least and the most bytes of a value whose size is drawn: an id, a version and a check take 24.
type DrawnSize = Length<24, { 1 << 30 }>;
const LEAST: u64 = HEADER as u64;

/// The bound of a Pareto law that has none of its own: db_bench's.
const PARETO_MOST: u64 = 1024;
/// Distribution of the sizes of values.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueSizes {
    /// Each from the least to the most is as likely.
    Uniform {
        /// The least, bytes.
        least: u64,
        /// The most, bytes.
        most: u64,
    },
    /// Normal; what is below 24, or as far above the mean, is drawn again.
    Normal {
        /// Bytes.
        mean: u64,
        /// The standard deviation, bytes.
        deviation: f64,
    },
    /// Generalized Pareto; what is below 24 is 24, what is above the bound the bound.
    Pareto {
        /// The law.
        law: Pareto,
        /// The bound, bytes.
        most: u64,
    },
    /// Each size by its weight.
    Histogram(SizeHistogram),
}

impl ValueSizes {
    /// Sizes with their weights, a pair in each line; what follows a # is left out.
    ///
    /// # Errors
    /// Which line is none, and what would be right.
    pub fn histogram(lines: &str) -> Result<ValueSizes, String> {
        SizeHistogram::of_lines(lines).map(ValueSizes::Histogram)
    }

    /// The mean, bytes.
    pub fn mean(&self) -> f64 {
        match self {
            ValueSizes::Uniform { least, most } => (*least as f64 + *most as f64) / 2.0,
            ValueSizes::Normal { mean, .. } => *mean as f64,
            ValueSizes::Pareto { law, most } => LEAST as f64 + pareto_above(*law, *most),
            ValueSizes::Histogram(histogram) => histogram.mean(),
        }
    }

    /// The largest, bytes.
    pub fn largest(&self) -> u64 {
        match self {
            ValueSizes::Uniform { most, .. } | ValueSizes::Pareto { most, .. } => *most,
            ValueSizes::Normal { mean, .. } => 2 * mean - LEAST,
            ValueSizes::Histogram(histogram) => histogram.parts().map(|part| part.0).max().unwrap_or(LEAST),
        }
    }

    /// Likelihood of each size from 0 to the largest, up to a constant: the law in its plain form, for tests.
    pub fn likelihoods(&self) -> Vec<f64> {
        let part = |size: u64| match self {
            ValueSizes::Uniform { least, most } => f64::from(u8::from((*least..=*most).contains(&size))),
            ValueSizes::Normal { mean, deviation } if size >= LEAST => {
                let off = size as f64 - *mean as f64;
                normal_part((off - 0.5) / deviation, (off + 0.5) / deviation)
            }
            ValueSizes::Pareto { law, most } => match size {
                0..LEAST => 0.0,
                LEAST => 1.0 - law.above(LEAST as f64),
                size if size == *most => law.above(size as f64 - 1.0),
                size => law.above(size as f64 - 1.0) - law.above(size as f64),
            },
            ValueSizes::Histogram(histogram) => {
                histogram.parts().filter(|part| part.0 == size).map(|part| part.1).sum()
            }
            ValueSizes::Normal { .. } => 0.0,
        };
        (0..=self.largest()).map(part).collect()
    }

    /// The size that 64 random bits draw, bytes.
    #[inline]
    pub fn drawn(&self, bits: u64) -> u64 {
        match self {
            ValueSizes::Uniform { least, most } => {
                least + ((u128::from(bits) * u128::from(most - least + 1)) >> 64) as u64
            }
            ValueSizes::Normal { mean, deviation } => normal(*mean, *deviation, bits),
            ValueSizes::Pareto { law, most } => (law.drawn(bits).min(*most as f64) as u64).max(LEAST),
            ValueSizes::Histogram(histogram) => histogram.drawn(bits),
        }
    }
}

/// The part of a normal law between two numbers of deviations, by Simpson's rule.
fn normal_part(from: f64, to: f64) -> f64 {
    let density = |x: f64| (-0.5 * x * x).exp();
    (to - from) / 6.0 * (density(from) + 4.0 * density(f64::midpoint(from, to)) + density(to))
}

/// The mean number of bytes by which a size exceeds 24, up to the bound: the sum over the sizes of the part of the law
/// above each. From where neighbouring parts hardly differ, an integral replaces the sum.
fn pareto_above(law: Pareto, most: u64) -> f64 {
    const SUMMED: u64 = 1 << 16;
    let sum: f64 = (LEAST..most.min(SUMMED)).map(|size| law.above(size as f64)).sum();
    let integral = |x: f64| match law.k {
        0.0 => -law.sigma * law.above(x),
        1.0 => law.sigma * (1.0 + x / law.sigma).ln(),
        k => law.sigma / (k - 1.0) * (1.0 + k * x / law.sigma).powf(1.0 - 1.0 / k),
    };
    match most > SUMMED {
        true => sum + integral(most as f64 - 0.5) - integral(SUMMED as f64 - 0.5),
        false => sum,
    }
}

/// A normal size (Box and Muller, "A note on the generation of random normal deviates", 1958), of 32 bits each for
/// distance and direction.
fn normal(mean: u64, deviation: f64, mut bits: u64) -> u64 {
    let (low, high) = (LEAST as f64, (2 * mean - LEAST) as f64);
    loop {
        let unit = |bits: u32| (f64::from(bits) + 0.5) / 2f64.powi(32);
        let (distance, direction) = (unit((bits >> 32) as u32), unit(bits as u32));
        let size = (mean as f64 + deviation * (-2.0 * distance.ln()).sqrt() * (TAU * direction).cos()).round();
        if (low..=high).contains(&size) {
            return size as u64;
        }
        bits = mix(bits);
    }
}

/// A size that can be drawn.
pub(crate) fn drawn_size(text: &str) -> Result<u64, String> {
    DrawnSize::from_text(text).map(Length::get).map_err(|error| {
        format!("{error}, for a value whose size is drawn has its id, its version and a check, which take {LEAST}")
    })
}

/// The names of the laws, as files have them.
const NAMES: [&str; 4] = ["uniform", "normal", "pareto", "histogram"];

impl KeyValue for ValueSizes {
    const PLACEHOLDER: &'static str = "SIZES";

    fn describe() -> String {
        "uniform LEAST MOST, normal MEAN DEVIATION, pareto K SIGMA [MOST], or histogram SIZE WEIGHT, SIZE WEIGHT, …"
            .to_owned()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let words: Vec<&str> = rest.split_whitespace().collect();
        match (name, words.as_slice()) {
            ("uniform", [least, most]) => {
                let (least, most) = (drawn_size(least)?, drawn_size(most)?);
                let sizes = ValueSizes::Uniform { least, most };
                (least <= most).then_some(sizes).ok_or_else(|| format!("`{text}` begins above its end"))
            }
            ("normal", [mean, deviation]) => {
                let mean = drawn_size(mean)?;
                let most = (mean - LEAST) as f64;
                let number: Option<f64> = deviation.parse().ok().filter(|number| (0.0..=most).contains(number));
                let wrong = format!(
                    "the standard deviation of `{text}` is {deviation}; it must be 0 to {most}, so that most values \
                     have the {LEAST} bytes of an id, a version and a check"
                );
                Ok(ValueSizes::Normal { mean, deviation: number.ok_or(wrong)? })
            }
            ("pareto", [k, sigma, bound @ ..]) if bound.len() <= 1 => {
                let most = bound.first().map_or(Ok(PARETO_MOST), |most| drawn_size(most))?;
                Ok(ValueSizes::Pareto { law: Pareto::from_texts(k, sigma)?, most })
            }
            ("histogram", [_, ..]) => SizeHistogram::of_words(rest).map(ValueSizes::Histogram),
            (name, _) if NAMES.contains(&name) => Err(format!("`{text}` is none of {}", Self::describe())),
            _ => Err(format!("`{text}` is not a distribution of sizes; it can be {}", Self::describe())),
        }
    }

    fn schema() -> serde_json::Value {
        serde_json::json!({ "type": "string", "pattern": format!("^({}) +.+$", NAMES.join("|")) })
    }
}

impl fmt::Display for ValueSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueSizes::Uniform { least, most } => write!(f, "uniform {least} {most}"),
            ValueSizes::Normal { mean, deviation } => write!(f, "normal {mean} {deviation}"),
            ValueSizes::Pareto { law, most } => write!(f, "pareto {} {} {most}", law.k, law.sigma),
            ValueSizes::Histogram(histogram) => {
                let pairs: Vec<String> = histogram.parts().map(|(size, weight)| format!("{size} {weight}")).collect();
                write!(f, "histogram {}", pairs.join(", "))
            }
        }
    }
}

read_by_text!(ValueSizes);
written_as_text!(ValueSizes);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::misfit::misfit;
    use crate::random::Stream;
    use crate::size_histogram::MOST_BINS;
    use crate::values::Values;

    fn sizes(text: &str) -> ValueSizes {
        text.parse().unwrap()
    }

    const LAWS: [&str; 8] = [
        "uniform 24 24",
        "uniform 100 1000",
        "normal 200 50",
        "normal 100 76",
        "pareto 0.2615 25.45",
        "pareto 0 100 2KiB",
        "pareto 1 50 300",
        "histogram 24 1, 1000 0.5, 100 3.5, 24 1",
    ];

    #[test]
    fn sizes_of_values_come_as_often_as_the_law_says_whether_ids_or_versions_rise() {
        for law in LAWS.map(sizes) {
            let values = Values::varied(law.clone(), 0.5, 7);
            for by_version in [false, true] {
                let mut counts = vec![0u64; law.largest() as usize + 1];
                for number in 0..1_000_000 {
                    let size = if by_version { values.size_of(5, number) } else { values.size_of(number, 0) };
                    counts[size] += 1;
                }
                let misfit = misfit(&counts, &law.likelihoods());
                assert!(misfit < 4.75, "{law}: {misfit}");
                let mean = counts.iter().zip(0u64..).map(|(count, size)| (count * size) as f64).sum::<f64>() / 1e6;
                assert!((mean / law.mean() - 1.0).abs() < 0.005, "{law}: {mean} instead of {}", law.mean());
            }
        }
    }

    #[test]
    fn another_law_does_not_fit() {
        let values = Values::varied(sizes("pareto 0.2615 25.45"), 0.5, 7);
        let mut counts = vec![0u64; 1025];
        (0..1_000_000).for_each(|id| counts[values.size_of(id, 0)] += 1);
        for other in ["pareto 0.2615 24", "pareto 0.25 25.45", "uniform 24 1024"] {
            assert!(misfit(&counts, &sizes(other).likelihoods()) > 4.75, "{other}");
        }
    }

    #[test]
    fn the_mean_of_a_long_tail_is_that_of_its_sum() {
        for (k, sigma) in [(0.0, 1e5), (0.5, 3000.0), (1.0, 100.0), (2.5, 14.0)] {
            let (law, most) = (Pareto { k, sigma }, 1 << 20);
            let sum: f64 = (LEAST..most).map(|size| law.above(size as f64)).sum();
            assert!((pareto_above(law, most) / sum - 1.0).abs() < 1e-9, "{law:?}");
        }
    }

    #[test]
    fn sizes_are_read_as_they_are_written() {
        for law in LAWS.map(sizes) {
            assert_eq!(law.to_string().parse(), Ok(law.clone()));
        }
        assert_eq!(sizes("uniform 1KiB 1MiB").to_string(), "uniform 1024 1048576");
        let file = "# bytes, and how often\n24 1\n\n 1000 0.5 # large\n100 3.5\n24 1\n";
        assert_eq!(ValueSizes::histogram(file), Ok(sizes(LAWS[7])));
    }

    #[test]
    fn what_is_none_is_told() {
        for (text, reason) in [
            ("zipf 3", "`zipf 3` is not a distribution of sizes"),
            ("uniform 100", "`uniform 100` is none of uniform LEAST MOST"),
            ("uniform 1000 100", "`uniform 1000 100` begins above its end"),
            ("uniform 10 100", "10 is too short; it must be from 24 to 2^30 bytes, for a value whose size is drawn"),
            ("normal 100 80", "is 80; it must be 0 to 76"),
            ("normal 100 -1", "is -1; it must be 0 to 76"),
            ("pareto -1 5", "the k of pareto is -1"),
            ("pareto 0.2 0", "the sigma of pareto is 0"),
            ("pareto 0.2 5 10", "10 is too short"),
            ("pareto 0.2 5 10 10", "is none of"),
            ("histogram 100", "`100` is not a size with its weight"),
            ("histogram 100 -1", "`100 -1` has no weight of 0 or more"),
            ("histogram 100 0", "it has no sizes with their weights"),
            ("histogram 5 1", "5 is too short"),
            ("", "is not a distribution of sizes"),
        ] {
            let error = text.parse::<ValueSizes>().unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        let lines = |text: &str| ValueSizes::histogram(text).unwrap_err();
        assert!(lines("").contains("no sizes with their weights"));
        assert!(lines("100 1\n\u{0}\u{1}x").starts_with("line 2: "));
        assert!(lines(&"100 1\n".repeat(MOST_BINS + 1)).contains("at most 4096"));
    }

    #[test]
    fn numbers_come_as_often_as_the_law_says() {
        for (k, sigma) in [(0.2615, 25.45), (2.517, 14.236), (0.0, 10.0), (1.0, 0.5)] {
            let (law, mut stream) = (Pareto { k, sigma }, Stream::new(3));
            let mut counts = vec![0u64; 10_001];
            (0..1_000_000).for_each(|_| counts[law.drawn(stream.bits()).min(10_000.0) as usize] += 1);
            let mut parts: Vec<f64> =
                (0..=10_000).map(|n| law.above(f64::from(n - 1).max(0.0)) - law.above(f64::from(n))).collect();
            parts[10_000] = law.above(9999.0);
            assert!(misfit(&counts, &parts) < 4.75, "{law:?}: {}", misfit(&counts, &parts));
            parts[1] *= 1.1;
            assert!(misfit(&counts, &parts) > 4.75, "{law:?}: {}", misfit(&counts, &parts));
        }
    }
}
