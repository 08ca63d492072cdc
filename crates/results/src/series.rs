//! Latencies, whole and over time.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::{OpKind, Percentile, Percentiles};

/// The distribution of a latency, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// Least.
    pub min_ns: u64,
    /// Mean.
    pub mean_ns: u64,
    /// In files each under its own key: `p50_ns`, …
    #[serde(flatten)]
    pub percentiles: Percentiles,
    /// Greatest.
    pub max_ns: u64,
}

impl Latency {
    /// One of its percentiles.
    pub fn at(&self, percentile: Percentile) -> u64 {
        self.percentiles[percentile]
    }
}

impl From<&Histogram<u64>> for Latency {
    fn from(histogram: &Histogram<u64>) -> Self {
        Latency {
            min_ns: if histogram.is_empty() { 0 } else { histogram.min() },
            mean_ns: histogram.mean().round() as u64,
            percentiles: Percentiles::from(histogram),
            max_ns: histogram.max(),
        }
    }
}

/// One kind of operation at one point of a trial's time series: a row of `series.csv`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SeriesPoint {
    /// Seconds from the parent's first look into the measured window, at most a tenth of a second after its start, to
    /// the end of the point.
    pub end_s: f64,
    /// Length of the point, seconds.
    pub seconds: f64,
    /// The kind.
    pub kind: OpKind,
    /// Calls that ended within it.
    pub operations: u64,
    /// Records read or written within it.
    pub records: u64,
    /// Records a second.
    pub records_per_s: f64,
    /// In the file each under its own column.
    #[serde(flatten)]
    pub percentiles: Percentiles,
    /// Nanoseconds.
    pub max_ns: u64,
}

impl SeriesPoint {
    /// The points of a `series.csv`, in order.
    ///
    /// # Errors
    /// Says in words what is not as it should be.
    pub fn read_all(content: &[u8]) -> Result<Vec<SeriesPoint>, String> {
        csv::Reader::from_reader(content).deserialize().collect::<Result<_, _>>().map_err(|error| error.to_string())
    }

    /// The columns of `series.csv`.
    pub fn columns() -> impl Iterator<Item = &'static str> {
        let before = ["end_s", "seconds", "kind", "operations", "records", "records_per_s"];
        before.into_iter().chain(Percentile::ALL.map(Percentile::key)).chain(["max_ns"])
    }

    /// Its fields, a text for each of [`SeriesPoint::columns`].
    pub fn fields(&self) -> impl Iterator<Item = String> {
        let before = [
            self.end_s.to_string(),
            self.seconds.to_string(),
            self.kind.word().to_owned(),
            self.operations.to_string(),
            self.records.to_string(),
            self.records_per_s.to_string(),
        ];
        let percentiles = Percentile::ALL.map(|percentile| self.percentiles[percentile].to_string());
        before.into_iter().chain(percentiles).chain([self.max_ns.to_string()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_is_flat_in_json() {
        let latency = Latency { min_ns: 1, mean_ns: 2, percentiles: Percentiles::from_fn(|_| 3), max_ns: 4 };
        let json = serde_json::to_value(latency).unwrap();
        assert_eq!(json["p99_9_ns"], 3);
        assert_eq!(serde_json::from_value::<Latency>(json).unwrap(), latency);
    }

    #[test]
    fn a_point_that_is_written_is_read() {
        let point = SeriesPoint {
            end_s: 0.1,
            seconds: 0.30000000000000004,
            kind: OpKind::Get,
            operations: 1,
            records: 2,
            records_per_s: 1e9 / 3.0,
            percentiles: Percentiles::from_fn(|percentile| percentile as u64),
            max_ns: u64::MAX,
        };
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(SeriesPoint::columns()).unwrap();
        writer.write_record(point.fields()).unwrap();
        let text = writer.into_inner().unwrap();
        assert_eq!(SeriesPoint::read_all(&text).unwrap(), [point]);
    }
}
