//! The numbers of a workload: what a trial gives to its clients, whichever workload it is.

use std::time::Duration;

use kvdyno_dataset::{KeyError, KeyFormat, Keys, ValueSizes, Values, check_prefix_size};
use kvdyno_experiment::RunSection;
use kvdyno_model::{
    Arrival, Distribution, Durability, IsolationLevel, OperationMix, RangeCursors, RangeLengths, Spelling, Verify,
};
use serde::{Deserialize, Serialize};

use super::mixed_role::MixedRole;
use crate::arrival::longest_pause_s;

/// The records of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Data {
    /// Number of records.
    pub records: u64,
    /// Bytes of a key.
    pub key_size: u64,
    /// The spelling of keys.
    pub key_format: KeyFormat,
    /// The leading bytes of a key that engines treat as its prefix.
    pub prefix_size: Option<u64>,
    /// Keys with the same prefix; absent: as many as a key that is one number gives.
    pub keys_per_prefix: Option<u64>,
    /// Bytes of a value; of sizes that are drawn, the mean.
    pub value_size: u64,
    /// Distribution of the sizes of values; absent: all have one.
    pub value_sizes: Option<ValueSizes>,
    /// The part of a value that a compressor can take away, 0 to 1.
    pub compressibility: f64,
    /// The seed of values. An engine that knew it could make up the values of its keys. So it is in no specification:
    /// the parent leaves it in [`crate::shared::Control`].
    #[serde(skip)]
    pub value_seed: u64,
    /// The spelling of numbers, for a workload whose records are numbers.
    #[serde(default)]
    pub spelling: Spelling,
}

impl Data {
    /// Records with keys of 16 bytes and values of 100, as an experiment has them that says nothing else.
    pub fn of_records(records: u64) -> Data {
        Data {
            records,
            key_size: 16,
            key_format: KeyFormat::Hex,
            prefix_size: None,
            keys_per_prefix: None,
            value_size: 100,
            value_sizes: None,
            compressibility: 0.5,
            value_seed: 0,
            spelling: Spelling::Plain,
        }
    }

    /// The keys of the records.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn keys(&self) -> Result<Keys, KeyError> {
        self.keys_of(self.records)
    }

    /// The values of the records.
    pub fn values(&self) -> Values {
        match &self.value_sizes {
            Some(sizes) => Values::varied(sizes.clone(), self.compressibility, self.value_seed),
            None => Values::new(self.value_size, self.compressibility, self.value_seed),
        }
    }

    /// Bytes of the largest value.
    pub fn largest_value(&self) -> u64 {
        self.value_sizes.as_ref().map_or(self.value_size, ValueSizes::largest)
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
    /// When each client thread that the workload measures has done this number of operations. A load ends when all is
    /// loaded.
    Operations(u64),
}

/// The way a workload reads, if a read is more than a get.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reads {
    /// Steps of the cursor after each seek of a range.
    pub seek_nexts: u64,
    /// Lengths of the ranges of a mix.
    #[serde(default)]
    pub lengths: RangeLengths,
    /// The limits that the cursors of a mix's ranges get.
    #[serde(default)]
    pub cursors: RangeCursors,
    /// Records in each batch of reads.
    pub per_batch: u64,
    /// Ranges begin within this number of records, counted from the first; absent: at any.
    pub seek_within: Option<u64>,
}

impl Reads {
    /// The way of a workload that has no other.
    pub const USUAL: Reads = Reads {
        seek_nexts: 10,
        lengths: RangeLengths::Fixed,
        cursors: RangeCursors::Plain,
        per_batch: 10,
        seek_within: None,
    };
}

impl Default for Reads {
    fn default() -> Self {
        Reads::USUAL
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
    /// The way to read ranges and batches.
    #[serde(default)]
    pub reads: Reads,
    /// The operations that clients mix, where the workload has none of its own.
    pub mix: Option<OperationMix>,
    /// The roles of its clients, where these are not all alike; the clients of all of them are writers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<MixedRole>,
    /// Distribution of the records, if they are drawn at random.
    #[serde(default)]
    pub distribution: Distribution,
    /// The most records written a second, by all writers together; of a mix, operations of all kinds.
    pub write_rate: Option<f64>,
    /// Operations a second of all readers together; absent in a closed loop.
    pub read_rate: Option<f64>,
    /// Arrival of operations that come at a rate.
    #[serde(default)]
    pub arrival: Arrival,
    /// Required isolation of transactions; absent: as the engine has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<IsolationLevel>,
    /// When what clients write is acknowledged, as each session says; absent: as the database has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
    /// Before the measured part.
    pub warmup: Duration,
    /// The end of the measured part.
    pub end: TrialEnd,
    /// Whether answers are checked.
    pub verify: Verify,
    /// The seed of this trial's random streams.
    pub seed: u64,
    /// The keys of the run as its file has them, for those that need no default of the workload's own.
    #[serde(default)]
    pub run: RunSection,
}

impl WorkloadParameters {
    /// Work on these records by single operations in a closed loop, without clients and without a warm-up.
    pub fn on(data: Data, end: TrialEnd) -> WorkloadParameters {
        WorkloadParameters {
            data,
            readers: 0,
            writers: 0,
            batch: 1,
            reads_per_transaction: 1,
            reads: Reads::USUAL,
            mix: None,
            roles: Vec::new(),
            distribution: Distribution::default(),
            write_rate: None,
            read_rate: None,
            arrival: Arrival::default(),
            isolation: None,
            durability: None,
            warmup: Duration::ZERO,
            end,
            verify: Verify::Full,
            seed: 1,
            run: RunSection::default(),
        }
    }

    /// Records of the longest range.
    pub fn longest_range(&self) -> u64 {
        let by_prefix = self.data.keys_per_prefix.filter(|_| self.reads.cursors.are_by_prefix());
        by_prefix.unwrap_or(self.reads.seek_nexts + 1)
    }

    /// The longest time without an operation that the requested rates and the times of roles allow.
    pub fn longest_pause(&self) -> Duration {
        let intervals = [true, false].into_iter().filter_map(|writes| self.interval_s(writes));
        let pauses = intervals.map(|interval| longest_pause_s(self.arrival, interval));
        let of_roles = self.roles.iter().filter_map(|role| {
            let interval = f64::from(role.clients) / role.rate?;
            Some(longest_pause_s(role.arrival, interval))
        });
        let longest = pauses.chain(of_roles).fold(0.0, f64::max);
        Duration::try_from_secs_f64(longest).unwrap_or(Duration::MAX / 2).saturating_add(self.longest_gap())
    }

    /// Whether the highest rate of the writers, or of the readers, is searched: of those that `readers` counts.
    pub fn is_searched(&self, writes: bool) -> bool {
        self.run.searches() && writes == (self.readers == 0)
    }

    /// Whether any client works at a rate.
    pub fn is_paced(&self) -> bool {
        self.run.searches()
            || self.write_rate.is_some()
            || self.read_rate.is_some()
            || self.roles.iter().any(|role| role.rate.is_some())
    }

    /// Arrivals of all clients that work at a rate.
    pub fn arrivals(&self) -> impl Iterator<Item = Arrival> {
        let has_rate = self.run.searches() || self.write_rate.or(self.read_rate).is_some();
        has_rate
            .then_some(self.arrival)
            .into_iter()
            .chain(self.roles.iter().filter(|role| role.rate.is_some()).map(|role| role.arrival))
    }

    /// The mean interval between two operations of one writer, or of one reader, seconds; absent in a closed loop. 0
    /// where slices order the rate.
    pub fn interval_s(&self, writes: bool) -> Option<f64> {
        match writes {
            _ if self.is_searched(writes) => Some(0.0),
            // The rate of a mix counts operations, however many records each has.
            true if self.mix.is_some() => self.write_rate.map(|rate| f64::from(self.writers) / rate),
            true => self.write_rate.map(|rate| f64::from(self.writers) * self.batch as f64 / rate),
            false => self.read_rate.map(|rate| f64::from(self.readers) / rate),
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A hundred operations of one reader.
    pub(crate) fn a_hundred_reads() -> WorkloadParameters {
        WorkloadParameters { readers: 1, ..WorkloadParameters::on(Data::of_records(1000), TrialEnd::Operations(100)) }
    }
}
