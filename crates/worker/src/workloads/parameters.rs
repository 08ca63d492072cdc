//! The numbers of a workload: what a trial gives to its clients, whichever workload it is.

use std::time::Duration;

use kvdyno_dataset::{KeyError, KeyFormat, Keys, Values, check_prefix_size};
use kvdyno_model::Verify;
use serde::{Deserialize, Serialize};

use super::three_n_plus_one::spelling::Spelling;
use crate::key_choice::Distribution;

/// The records of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Data {
    /// How many.
    pub records: u64,
    /// Bytes of a key.
    pub key_size: u64,
    /// How keys are spelled.
    pub key_format: KeyFormat,
    /// The leading bytes of a key that engines are told to be its prefix.
    #[serde(default)]
    pub prefix_size: Option<u64>,
    /// How many keys have a prefix in common; absent: as many as a key that is one number gives.
    #[serde(default)]
    pub keys_per_prefix: Option<u64>,
    /// Bytes of a value.
    pub value_size: u64,
    /// The part of a value that a compressor can take away, 0 to 1.
    pub compressibility: f64,
    /// The seed of values.
    pub seed: u64,
    /// How numbers are spelled by a workload whose records are numbers.
    #[serde(default)]
    pub spelling: Spelling,
}

impl Data {
    /// The keys of the records.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn keys(&self) -> Result<Keys, KeyError> {
        self.keys_of(self.records)
    }

    /// The values of the records.
    pub fn values(&self) -> Values {
        Values::new(self.value_size, self.compressibility, self.seed)
    }

    /// The keys of the ids below `records`. An id has the same key, however many there are.
    pub(super) fn keys_of(&self, records: u64) -> Result<Keys, KeyError> {
        let (format, size) = (self.key_format, self.key_size);
        match (self.prefix_size, self.keys_per_prefix) {
            (Some(prefix), Some(keys)) => Keys::grouped(format, size, records, prefix, keys),
            (None, Some(_)) => Err(KeyError::NoPrefix),
            (prefix, None) => {
                let keys = Keys::new(format, size, records)?;
                prefix.map_or(Ok(()), |prefix| check_prefix_size(prefix, size)).map(|()| keys)
            }
        }
    }
}

/// When a trial ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrialEnd {
    /// After this time.
    After(Duration),
    /// When each thread that the workload is about has done so many operations. A load ends when all is loaded.
    Operations(u64),
}

/// How a workload reads, where a read is more than a get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reads {
    /// Steps of the cursor after each seek of a range.
    pub seek_nexts: u64,
    /// Records in each batch of reads.
    pub per_batch: u64,
    /// Ranges begin at one of the first so many records; absent: at any.
    pub seek_within: Option<u64>,
}

impl Default for Reads {
    fn default() -> Self {
        Reads { seek_nexts: 10, per_batch: 10, seek_within: None }
    }
}

/// The work of a trial, without the workload's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadParameters {
    /// The records.
    pub data: Data,
    /// Threads that read.
    pub readers: u32,
    /// Threads that write.
    pub writers: u32,
    /// Records in each write; 1 for single puts.
    pub batch: u64,
    /// Reads in one read-only transaction; 1: each read for itself.
    pub reads_per_transaction: u64,
    /// How ranges and batches are read.
    #[serde(default)]
    pub reads: Reads,
    /// How likely each record is to come next, where records are drawn at random.
    #[serde(default)]
    pub distribution: Distribution,
    /// The most records written a second, by all writers together.
    pub write_rate: Option<f64>,
    /// Before the measured part.
    pub warmup: Duration,
    /// Of the measured part.
    pub end: TrialEnd,
    /// Whether answers are checked.
    pub verify: Verify,
    /// The seed of this trial's random streams.
    pub seed: u64,
}

impl WorkloadParameters {
    /// How long a trial may be without an operation because it was asked to be slow.
    pub fn longest_pause(&self) -> Duration {
        let seconds = self.write_rate.map_or(0.0, |rate| f64::from(self.writers) * self.batch as f64 / rate);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX / 2)
    }
}
