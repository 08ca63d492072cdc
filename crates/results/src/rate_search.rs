//! The search of a trial for the highest rate at which its latencies keep a promise.

use std::time::Duration;

use kvdyno_model::{LatencyPromise, PromisedLatency};
use serde::{Deserialize, Serialize};

use crate::{Latency, Percentile};

/// The search of a trial. Rates are operations a second of all clients whose rate was searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateSearch {
    /// The promise.
    pub promise: LatencyPromise,
    /// The rate of as many operations as the clients could do.
    pub capacity_per_s: f64,
    /// The least rate that was searched: at a lower one a probe has too few operations to tell each latency.
    pub least_per_s: f64,
    /// The highest rate that kept the promise; absent if none did.
    pub highest_per_s: Option<f64>,
    /// The rates that were tried, in order.
    pub probes: Vec<RateProbe>,
    /// The measured part, at the highest rate; absent if there is none, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<RateProbe>,
}

/// A rate that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateProbe {
    /// The rate at which operations were to begin.
    pub per_s: f64,
    /// The rate at which they did.
    pub reached_per_s: f64,
    /// How long it was tried, seconds.
    pub seconds: f64,
    /// Latency of the operations, from the times at which they were due.
    pub latency: Latency,
    /// Delay at the end of the client that was furthest behind its schedule, seconds.
    pub behind_s: f64,
    /// Whether the rate was kept, and the promise, too.
    pub kept: bool,
}

/// How many measured parts of searches did not keep their promise, and how many there are. At a highest rate either
/// comes out by chance.
pub fn broken_parts<'s>(searches: impl Iterator<Item = &'s RateSearch>) -> (usize, usize) {
    let kept: Vec<bool> = searches.filter_map(|search| Some(search.measured.as_ref()?.kept)).collect();
    (kept.iter().filter(|kept| !**kept).count(), kept.len())
}

impl Latency {
    /// A latency of a promise.
    pub fn promised(&self, latency: PromisedLatency) -> Duration {
        Duration::from_nanos(match latency {
            PromisedLatency::Mean => self.mean_ns,
            PromisedLatency::P50 => self.at(Percentile::P50),
            PromisedLatency::P90 => self.at(Percentile::P90),
            PromisedLatency::P99 => self.at(Percentile::P99),
            PromisedLatency::P999 => self.at(Percentile::P99_9),
            PromisedLatency::P9999 => self.at(Percentile::P99_99),
            PromisedLatency::Max => self.max_ns,
        })
    }
}
