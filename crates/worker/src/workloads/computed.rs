//! Loads that compute their records: each next one follows from what the database has already.

use kvdyno_dataset::{KeyError, KeyFormat};
use kvdyno_engine::Durability;
use kvdyno_model::Spelling;

use super::counts::TrialCounts;
use super::parameters::Data;
use super::stored::{LoadedRecords, StoredRecords};
use super::workload::Workload;
use crate::shared::COUNTERS;

/// The properties of a load that computes its records. It begins where a killed one stopped, and leaves no records that
/// other workloads know.
pub trait ComputedLoad: Sync {
    /// Bytes of a key and of a value, unless the experiment says otherwise.
    fn default_sizes(&self, format: KeyFormat, spelling: Spelling) -> (u64, u64);

    /// Records in each write, unless the experiment says otherwise.
    fn default_batch(&self) -> u64;

    /// The smallest cache that makes sense, bytes.
    fn least_cache(&self) -> u64;

    /// The spelling of its keys, for results.
    fn key_spelling(&self, data: &Data) -> String;

    /// The highest possible value of each counter of a client in a trial of this number of ticks.
    fn most_counted(&self, data: &Data, ticks: u64) -> [u64; COUNTERS];

    /// Records that the database has in the end: an estimate, never for figures.
    fn records_stored(&self, data: &Data) -> u64;

    /// Bytes of their keys and values: an estimate, never for figures.
    fn stored_bytes(&self, data: &Data) -> u64;

    /// Seconds that it takes: an estimate, never for figures.
    fn load_seconds(&self, data: &Data, batch: u64, durability: Durability) -> f64;

    /// The records that the database has afterwards, for an audit.
    fn stored(&self, data: &Data) -> Box<dyn StoredRecords>;

    /// Why the outcome is wrong. Called for trials whose every answer was right.
    fn wrong(&self, counts: &TrialCounts<'_>) -> Option<String>;
}

/// The same of any workload: a load of another kind writes the experiment's records.
impl Workload {
    /// Bytes of a key and of a value, unless the experiment says otherwise.
    pub fn default_sizes(self, format: KeyFormat, spelling: Spelling) -> (u64, u64) {
        self.computed().map_or((16, 100), |load| load.default_sizes(format, spelling))
    }

    /// Records in each write of a load, unless the experiment says otherwise.
    pub fn default_batch(self) -> u64 {
        self.computed().map_or(1000, ComputedLoad::default_batch)
    }

    /// The smallest cache that makes sense, bytes; absent: as with most.
    pub fn least_cache(self) -> Option<u64> {
        self.computed().map(ComputedLoad::least_cache)
    }

    /// The spelling of its keys, for results.
    pub fn key_spelling(self, data: &Data) -> String {
        self.computed().map_or_else(|| data.key_format.to_string(), |load| load.key_spelling(data))
    }

    /// Whether the database has the experiment's records after it, so that other workloads can follow.
    pub fn leaves_records(self) -> bool {
        self.computed().is_none()
    }

    /// Whether a load that was killed can go on in the database that it left.
    pub fn can_go_on(self) -> bool {
        self.computed().is_some()
    }

    /// The highest possible value of each counter of a client in a trial of this number of ticks.
    pub fn most_counted(self, data: &Data, ticks: u64) -> [u64; COUNTERS] {
        self.computed().map_or([ticks; COUNTERS], |load| load.most_counted(data, ticks))
    }

    /// Records that the database has after a load: an estimate, never for figures.
    pub fn records_stored(self, data: &Data) -> u64 {
        self.computed().map_or(data.records, |load| load.records_stored(data))
    }

    /// Bytes of keys and values that the database has after a load: an estimate, never for figures.
    pub fn stored_bytes(self, data: &Data) -> u64 {
        let loaded = || data.records.saturating_mul(data.key_size + data.value_size);
        self.computed().map_or_else(loaded, |load| load.stored_bytes(data))
    }

    /// Seconds that a load takes: an estimate, never for figures; absent: as most do.
    pub fn load_seconds(self, data: &Data, batch: u64, durability: Durability) -> Option<f64> {
        self.computed().map(|load| load.load_seconds(data, batch, durability))
    }

    /// The records that the database has afterwards, for an audit.
    ///
    /// # Errors
    /// If their keys do not fit.
    pub fn stored(self, data: &Data) -> Result<Box<dyn StoredRecords>, KeyError> {
        match self.computed() {
            Some(load) => Ok(load.stored(data)),
            None => Ok(Box::new(LoadedRecords::new(data)?)),
        }
    }

    /// Why the outcome is wrong. Called for trials whose every answer was right.
    pub fn wrong(self, counts: &TrialCounts<'_>) -> Option<String> {
        self.computed()?.wrong(counts)
    }
}
