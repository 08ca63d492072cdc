//! The percentiles of a latency, in one list: results, series, tables, charts and columns all take them from here.

use std::fmt;
use std::ops::Index;

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A percentile that every report has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Percentile {
    /// The median.
    P50,
    /// 90 %.
    P90,
    /// 99 %.
    P99,
    /// 99.9 %.
    P99_9,
    /// 99.99 %.
    P99_99,
}

impl Percentile {
    /// All of them, from the least.
    pub const ALL: [Percentile; 5] =
        [Percentile::P50, Percentile::P90, Percentile::P99, Percentile::P99_9, Percentile::P99_99];

    /// The share of operations that took at most so long, 0 to 1.
    pub fn quantile(self) -> f64 {
        match self {
            Percentile::P50 => 0.5,
            Percentile::P90 => 0.9,
            Percentile::P99 => 0.99,
            Percentile::P99_9 => 0.999,
            Percentile::P99_99 => 0.9999,
        }
    }

    /// Its key in results, JSON and CSV, nanoseconds: `p99_9_ns`.
    pub fn key(self) -> &'static str {
        ["p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "p99_99_ns"][self as usize]
    }

    /// The percentile of a histogram, in the histogram's unit.
    pub fn of(self, histogram: &Histogram<u64>) -> u64 {
        histogram.value_at_quantile(self.quantile())
    }
}

/// `p99.9`.
impl fmt::Display for Percentile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Percentile::P50 => "p50",
            Percentile::P90 => "p90",
            Percentile::P99 => "p99",
            Percentile::P99_9 => "p99.9",
            Percentile::P99_99 => "p99.99",
        })
    }
}

/// A value for each percentile, nanoseconds. The fields are called as [`Percentile::key`] says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Percentiles<T = u64> {
    p50_ns: T,
    p90_ns: T,
    p99_ns: T,
    p99_9_ns: T,
    p99_99_ns: T,
}

impl<T> Percentiles<T> {
    /// One value for each.
    pub fn from_fn(value: impl FnMut(Percentile) -> T) -> Self {
        let [p50_ns, p90_ns, p99_ns, p99_9_ns, p99_99_ns] = Percentile::ALL.map(value);
        Percentiles { p50_ns, p90_ns, p99_ns, p99_9_ns, p99_99_ns }
    }
}

impl From<&Histogram<u64>> for Percentiles {
    fn from(histogram: &Histogram<u64>) -> Self {
        Percentiles::from_fn(|percentile| percentile.of(histogram))
    }
}

impl Index<Percentile> for Percentiles {
    type Output = u64;

    fn index(&self, percentile: Percentile) -> &u64 {
        match percentile {
            Percentile::P50 => &self.p50_ns,
            Percentile::P90 => &self.p90_ns,
            Percentile::P99 => &self.p99_ns,
            Percentile::P99_9 => &self.p99_9_ns,
            Percentile::P99_99 => &self.p99_99_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_labels_are_in_the_order_of_the_list() {
        let keys: Vec<&str> = Percentile::ALL.iter().map(|percentile| percentile.key()).collect();
        assert_eq!(keys, ["p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "p99_99_ns"]);
        let labels: Vec<String> = Percentile::ALL.iter().map(Percentile::to_string).collect();
        assert_eq!(labels, ["p50", "p90", "p99", "p99.9", "p99.99"]);
        assert!(Percentile::ALL.is_sorted_by(|one, other| one.quantile() < other.quantile()));
    }

    #[test]
    fn a_percentile_is_at_most_one_bucket_above_the_value() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        (1..=10_000).for_each(|value| histogram.record(value).unwrap());
        let percentiles = Percentiles::from(&histogram);
        assert_eq!(Percentile::ALL.map(|p| percentiles[p]), [5003, 9007, 9903, 9991, 9999]);
    }

    #[test]
    fn what_is_written_is_read_and_what_is_missing_is_named() {
        let percentiles = Percentiles::from_fn(|percentile| percentile as u64 + 1);
        let text = serde_json::to_string(&percentiles).unwrap();
        assert_eq!(text, r#"{"p50_ns":1,"p90_ns":2,"p99_ns":3,"p99_9_ns":4,"p99_99_ns":5}"#);
        assert_eq!(serde_json::from_str::<Percentiles>(&text).unwrap(), percentiles);
        let error = serde_json::from_str::<Percentiles>(r#"{"p50_ns":1}"#).unwrap_err().to_string();
        assert!(error.contains("p90_ns"), "{error}");
    }
}
