//! A promise on latency, as an experiment file has it: `p99=1ms, mean=100us`.

use std::fmt;
use std::time::Duration;

use crate::{Json, KeyValue, TimeSpan, read_by_text, words, written_as_text};

words! {
    /// A figure of the latencies of a run that a promise bounds.
    pub enum PromisedLatency: "a latency", "LATENCY" {
        /// Arithmetic mean.
        Mean = "mean",
        /// Median.
        P50 = "p50",
        /// 90th percentile.
        P90 = "p90",
        /// 99th percentile.
        P99 = "p99",
        /// 99.9th percentile.
        P999 = "p99.9" or "p999",
        /// 99.99th percentile.
        P9999 = "p99.99" or "p9999",
        /// Longest latency.
        Max = "max",
    }
}

impl PromisedLatency {
    /// The part of the operations that are at most as slow; absent for the mean, 1 for the longest.
    pub fn quantile(self) -> Option<f64> {
        match self {
            PromisedLatency::Mean => None,
            PromisedLatency::P50 => Some(0.5),
            PromisedLatency::P90 => Some(0.9),
            PromisedLatency::P99 => Some(0.99),
            PromisedLatency::P999 => Some(0.999),
            PromisedLatency::P9999 => Some(0.9999),
            PromisedLatency::Max => Some(1.0),
        }
    }
}

/// An upper bound of one latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromisedBound {
    /// The latency.
    pub latency: PromisedLatency,
    /// The most that it may be.
    pub at_most: Duration,
}

impl fmt::Display for PromisedBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.latency, TimeSpan::<0>(self.at_most))
    }
}

/// Bounds that hold at a rate: at least one, each of another latency, in the order in which they are declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyPromise {
    /// The bound of each of [`PromisedLatency::ALL`], if it has one.
    at_most: [Option<Duration>; PromisedLatency::ALL.len()],
}

impl LatencyPromise {
    /// The bounds.
    pub fn bounds(&self) -> impl Iterator<Item = PromisedBound> {
        let each = PromisedLatency::ALL.iter().zip(self.at_most);
        each.filter_map(|(latency, at_most)| Some(PromisedBound { latency: *latency, at_most: at_most? }))
    }

    /// Whether latencies keep it; `latency` gives each of them.
    pub fn is_kept(&self, latency: impl Fn(PromisedLatency) -> Duration) -> bool {
        self.bounds().all(|bound| latency(bound.latency) <= bound.at_most)
    }
}

/// In words for people: `p99=1ms, mean=100us`.
impl fmt::Display for LatencyPromise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bounds: Vec<String> = self.bounds().map(|bound| bound.to_string()).collect();
        f.pad(&bounds.join(", "))
    }
}

impl KeyValue for LatencyPromise {
    const PLACEHOLDER: &'static str = "LATENCY=TIME,…";

    fn describe() -> String {
        format!("upper bounds such as \"p99=1ms, mean=100us\", each of {}", PromisedLatency::describe())
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let mut promise = LatencyPromise { at_most: Default::default() };
        for part in text.split(',').map(str::trim) {
            let Some((latency, time)) = part.split_once('=') else {
                return Err(format!("`{part}` is not a bound of a latency such as p99=1ms"));
            };
            let latency = PromisedLatency::from_text(latency.trim())?;
            let at_most = TimeSpan::<0>::from_text(time.trim())?.get();
            if at_most.is_zero() {
                return Err(format!("`{part}`: no operation takes no time; 1ns is the least"));
            }
            if promise.at_most[latency as usize].replace(at_most).is_some() {
                return Err(format!("{latency} comes twice"));
            }
        }
        Ok(promise)
    }

    fn schema() -> Json {
        let words: Vec<String> = PromisedLatency::ALL
            .iter()
            .flat_map(|latency| [Some(latency.word()), latency.other_word()])
            .flatten()
            .map(|word| word.replace('.', "\\."))
            .collect();
        let bound = format!(" *({}) *= *([0-9]+ *[a-zµ]+ *)+", words.join("|"));
        serde_json::json!({ "type": "string", "pattern": format!("^{bound}(,{bound})*$") })
    }

    fn words() -> Vec<(&'static str, &'static str)> {
        PromisedLatency::words()
    }
}

read_by_text!(LatencyPromise);
written_as_text!(LatencyPromise);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<LatencyPromise, String> {
        text.parse()
    }

    #[test]
    fn a_promise_is_read_in_any_order_and_kept_only_whole() {
        let promise = read("p999=5ms,mean = 100us").unwrap();
        assert_eq!(promise.to_string(), "mean=100us, p99.9=5ms");
        let kept = |mean_us: u64, p999_us: u64| {
            promise.is_kept(|latency| match latency {
                PromisedLatency::Mean => Duration::from_micros(mean_us),
                PromisedLatency::P999 => Duration::from_micros(p999_us),
                other => panic!("{other} has no bound"),
            })
        };
        assert!(kept(100, 5000) && !kept(101, 5000) && !kept(100, 5001));
    }

    #[test]
    fn a_bad_promise_is_refused_with_what_would_be_right() {
        for (text, says) in [
            ("", "`` is not a bound of a latency such as p99=1ms"),
            ("1ms", "`1ms` is not a bound of a latency such as p99=1ms"),
            ("p98=1ms", "p98"),
            ("p99=1", "it has no unit"),
            ("p99=0s", "1ns is the least"),
            ("p99=1ms,p99=2ms", "p99 comes twice"),
            ("p99=1ms,", "`` is not a bound"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            times in proptest::collection::vec(proptest::option::of(1u64..86_400_000_000_000), 7)
        ) {
            prop_assume!(times.iter().any(Option::is_some));
            let mut promise = LatencyPromise { at_most: Default::default() };
            promise.at_most.iter_mut().zip(times).for_each(|(bound, ns)| *bound = ns.map(Duration::from_nanos));
            prop_assert_eq!(read(&promise.to_string()), Ok(promise));
        }

        #[test]
        fn no_text_brings_the_parser_down(text in "[-p0-9.=,smhn ]{0,30}") {
            let _ = read(&text);
        }
    }
}
