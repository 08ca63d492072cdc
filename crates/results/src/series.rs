//! Latencies, whole and over time.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::OpKind;

/// The distribution of a latency, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// Least.
    pub min_ns: u64,
    /// Mean.
    pub mean_ns: u64,
    /// Half of the operations took at most this.
    pub p50_ns: u64,
    /// 90 %.
    pub p90_ns: u64,
    /// 99 %.
    pub p99_ns: u64,
    /// 99.9 %.
    pub p99_9_ns: u64,
    /// 99.99 %.
    pub p99_99_ns: u64,
    /// Greatest.
    pub max_ns: u64,
}

impl From<&Histogram<u64>> for Latency {
    fn from(histogram: &Histogram<u64>) -> Self {
        Latency {
            min_ns: if histogram.is_empty() { 0 } else { histogram.min() },
            mean_ns: histogram.mean().round() as u64,
            p50_ns: histogram.value_at_quantile(0.5),
            p90_ns: histogram.value_at_quantile(0.9),
            p99_ns: histogram.value_at_quantile(0.99),
            p99_9_ns: histogram.value_at_quantile(0.999),
            p99_99_ns: histogram.value_at_quantile(0.9999),
            max_ns: histogram.max(),
        }
    }
}

/// One kind of operation over one interval of a trial: a row of `series.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesRow {
    /// Seconds from the parent's first look into the measured window, at most a tenth of a second after its start, to the
    /// end of the interval.
    pub end_s: f64,
    /// Length of the interval, seconds.
    pub seconds: f64,
    /// The kind.
    pub kind: OpKind,
    /// Calls that ended in the interval.
    pub operations: u64,
    /// Records read or written in it.
    pub records: u64,
    /// Records a second.
    pub records_per_s: f64,
    /// Nanoseconds.
    pub p50_ns: u64,
    /// Nanoseconds.
    pub p90_ns: u64,
    /// Nanoseconds.
    pub p99_ns: u64,
    /// Nanoseconds.
    pub p99_9_ns: u64,
    /// Nanoseconds.
    pub p99_99_ns: u64,
    /// Nanoseconds.
    pub max_ns: u64,
}

impl SeriesRow {
    /// The columns of `series.csv`.
    pub const COLUMNS: [&str; 12] = [
        "end_s",
        "seconds",
        "kind",
        "operations",
        "records",
        "records_per_s",
        "p50_ns",
        "p90_ns",
        "p99_ns",
        "p99_9_ns",
        "p99_99_ns",
        "max_ns",
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_are_those_that_are_written() {
        let row = SeriesRow {
            end_s: 1.0,
            seconds: 1.0,
            kind: OpKind::Get,
            operations: 1,
            records: 1,
            records_per_s: 1.0,
            p50_ns: 1,
            p90_ns: 1,
            p99_ns: 1,
            p99_9_ns: 1,
            p99_99_ns: 1,
            max_ns: 1,
        };
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.serialize(row).unwrap();
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        assert_eq!(text.lines().next().unwrap(), SeriesRow::COLUMNS.join(","));
    }
}
