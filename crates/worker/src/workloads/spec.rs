//! A workload as a trial does it: with its records, its clients and its end.

use std::fmt;
use std::time::Duration;

use kvdyno_dataset::{KeyError, KeyFormat, Keys, check_prefix_size};
use serde::{Deserialize, Serialize};

use super::name::WorkloadName;
use super::parameter::Parameter;
use super::role::Role;
use super::three_n_plus_one::Spelling;
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

    /// The keys of the ids below `records`. An id has the same key, however many there are.
    fn keys_of(&self, records: u64) -> Result<Keys, KeyError> {
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

pub use kvdyno_model::Verify;

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

/// The work of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadSpec {
    /// Which workload.
    pub name: WorkloadName,
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

/// A workload that makes no sense.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// Its keys do not fit.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// A number is out of its range.
    #[error("{parameter} is {value}; it must be {expected}")]
    Range {
        /// Which number.
        parameter: Parameter,
        /// Its value.
        value: String,
        /// The values that would be right.
        expected: String,
    },
}

impl WorkloadError {
    /// Refuses `value` unless it `fits`.
    ///
    /// # Errors
    /// If it does not.
    pub fn unless(
        fits: bool,
        parameter: Parameter,
        value: impl fmt::Display,
        expected: impl Into<String>,
    ) -> Result<(), WorkloadError> {
        match fits {
            true => Ok(()),
            false => Err(WorkloadError::Range { parameter, value: value.to_string(), expected: expected.into() }),
        }
    }
}

impl WorkloadSpec {
    /// Whether it makes sense, as far as the bounds of each number do not tell.
    ///
    /// # Errors
    /// Which number does not, and what would be right.
    pub fn check(&self) -> Result<(), WorkloadError> {
        let records = self.data.records;
        let within = self.reads.seek_within.unwrap_or(records);
        let expected = "from 1 to the number of records";
        WorkloadError::unless((1..=records).contains(&within), Parameter::SeekWithin, within, expected)?;
        self.name.check(self)?;
        self.keys()?;
        Ok(())
    }

    /// The keys of all ids that the workload asks for.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn keys(&self) -> Result<Keys, KeyError> {
        self.data.keys_of(self.name.ids(&self.data))
    }

    /// Records that the database has in the end, about.
    pub fn records_stored(&self) -> u64 {
        self.name.records_stored(&self.data)
    }

    /// How long a trial may be without an operation because it was asked to be slow.
    pub fn longest_pause(&self) -> Duration {
        let seconds = self.write_rate.map_or(0.0, |rate| f64::from(self.writers) * self.batch as f64 / rate);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX / 2)
    }

    /// The role of each client: readers first.
    pub fn roles(&self) -> Vec<Role> {
        let repeated = |role: Option<Role>, clients: u32| {
            role.into_iter().flat_map(move |role| std::iter::repeat_n(role, clients as usize))
        };
        repeated(self.name.reader(), self.readers).chain(repeated(self.name.writer(), self.writers)).collect()
    }
}
