//! The requested work of a trial.

use kvdyno_dataset::ValueSizes;
use kvdyno_model::{Arrival, Compression, Distribution, Durability, LatencyPromise, Verify};
use serde::{Deserialize, Serialize};

use crate::{RoleFacts, Side};

fn is_false(value: &bool) -> bool {
    !value
}

/// The requested work of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkloadFacts {
    /// `fillseq`, `readwhilewriting`.
    pub name: String,
    /// Records in the database.
    pub records: u64,
    /// Bytes of a key.
    pub key_size: u64,
    /// `hex`, `decimal` or `binary`.
    pub key_format: String,
    /// The leading bytes of a key that the engine takes for its prefix; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_size: Option<u64>,
    /// Keys with the same prefix; absent if no groups were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_per_prefix: Option<u64>,
    /// Bytes of a value; of sizes that were drawn, the mean.
    pub value_size: u64,
    /// Distribution of the sizes of values; absent if all had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_sizes: Option<ValueSizes>,
    /// The part of a value that a compressor can take away, 0 to 1.
    pub compressibility: f64,
    /// Records in a batch; 1 for single writes.
    pub batch: u64,
    /// Reads in one read-only transaction; 1 where each read sees the newest state.
    pub reads_per_transaction: u64,
    /// Steps of the cursor after each seek of a range; absent for other workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seek_nexts: Option<u64>,
    /// Ranges begin within this number of records, counted from the first; absent if they begin at any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seek_within: Option<u64>,
    /// Records in each batch of reads; absent for other workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_per_multiget: Option<u64>,
    /// The distribution of the records that are drawn at random; absent for workloads that draw none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<Distribution>,
    /// Its clients do other work between operations of one kind, so that the rate of a kind does not follow from its
    /// latency.
    #[serde(default, skip_serializing_if = "is_false")]
    pub think_time: bool,
    /// When a write was acknowledged: that of sessions, if a run has one for them.
    pub durability: Durability,
    /// The engine's cache, bytes.
    pub cache_bytes: u64,
    /// The engine's write buffer, bytes.
    pub write_buffer_bytes: u64,
    /// Compression of stored blocks.
    pub compression: Compression,
    /// Whether answers were checked.
    pub verify: Verify,
    /// The seed of this trial's random streams.
    pub seed: u64,
    /// The most writes a second that were requested; absent if not limited.
    pub write_rate: Option<f64>,
    /// The operations of readers that were to come each second; absent in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_rate: Option<f64>,
    /// The operations of a mix that were to come each second, of all kinds; absent in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The promise that the highest rate was to keep; absent without a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub find_max_rate: Option<LatencyPromise>,
    /// Arrival of operations; absent if none came at a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival: Option<Arrival>,
    /// The roles of its clients; empty where these are all alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<RoleFacts>,
}

impl WorkloadFacts {
    /// Whether operations of a side came at a rate of their own.
    pub fn is_paced(&self, side: Side) -> bool {
        let of_side = match side {
            Side::Reads => self.read_rate,
            Side::Writes => self.write_rate,
        };
        of_side.or(self.rate).is_some() || self.roles.iter().any(|role| role.rate.is_some())
    }

    /// Whether the highest rate of a side was searched: the other one has a rate of its own, unless clients mix both.
    pub fn is_searched(&self, side: Side) -> bool {
        self.find_max_rate.is_some() && !self.is_paced(side)
    }

    /// Whether the clients of some role worked in a part of the measured window only.
    pub fn has_partial_roles(&self) -> bool {
        self.roles.iter().any(RoleFacts::is_partial)
    }

    /// Bytes of a key and of a value: `16 + 100 bytes`, `16 + 41 bytes (pareto 0.2615 25.45 1024)`.
    pub fn sizes(&self, number: fn(u64) -> String) -> String {
        let drawn = self.value_sizes.as_ref().map(|sizes| format!(" ({sizes})")).unwrap_or_default();
        format!("{} + {} bytes{drawn}", number(self.key_size), number(self.value_size))
    }

    /// The form of keys: `hex`, `hex, 10 to each prefix of 12 bytes`.
    pub fn keys(&self) -> String {
        match (self.prefix_size, self.keys_per_prefix) {
            (Some(size), Some(keys)) => format!("{}, {keys} to each prefix of {size} bytes", self.key_format),
            (Some(size), None) => format!("{}, with a prefix of {size} bytes", self.key_format),
            _ => self.key_format.clone(),
        }
    }
}
