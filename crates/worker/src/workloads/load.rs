//! The database after a load: its records, their estimates and their oracle.

use kvdyno_dataset::{KeyError, KeyFormat};
use kvdyno_engine::Durability;
use kvdyno_model::Spelling;

use super::counts::TrialCounts;
use super::parameters::Data;
use super::stored::{LoadedRecords, StoredRecords};
use crate::shared::COUNTERS;

/// The properties of a workload as a load. The defaults are of one that writes the experiment's records; every workload
/// that does not load has them too. A load that computes its records, each from what the database has already, has its
/// own.
pub trait LoadDefinition {
    /// Bytes of a key and of a value, unless the experiment says otherwise.
    fn default_sizes(&self, _format: KeyFormat, _spelling: Spelling) -> (u64, u64) {
        (16, 100)
    }

    /// Records in each write, unless the experiment says otherwise.
    fn default_batch(&self) -> u64 {
        1000
    }

    /// The smallest cache that makes sense, bytes; absent: as with most.
    fn least_cache(&self) -> Option<u64> {
        None
    }

    /// The spelling of its keys, for results.
    fn key_spelling(&self, data: &Data) -> String {
        data.key_format.to_string()
    }

    /// Whether the database has the experiment's records after it, so that other workloads can follow. Where it has
    /// not, a load that was killed goes on in the database that it left.
    fn leaves_records(&self) -> bool {
        true
    }

    /// The highest possible value of each counter of a client in a trial of this number of ticks.
    fn most_counted(&self, _data: &Data, ticks: u64) -> [u64; COUNTERS] {
        [ticks; COUNTERS]
    }

    /// Records that the database has in the end: an estimate, never for figures.
    fn records_stored(&self, data: &Data) -> u64 {
        data.records
    }

    /// Bytes of their keys and values: an estimate, never for figures.
    fn stored_bytes(&self, data: &Data) -> u64 {
        data.records.saturating_mul(data.key_size + data.value_size)
    }

    /// Seconds that it takes: an estimate, never for figures; absent: as most do.
    fn load_seconds(&self, _data: &Data, _batch: u64, _durability: Durability) -> Option<f64> {
        None
    }

    /// The records that the database has afterwards, for an audit.
    ///
    /// # Errors
    /// If their keys do not fit.
    fn stored(&self, data: &Data) -> Result<Box<dyn StoredRecords>, KeyError> {
        Ok(Box::new(LoadedRecords::new(data)?))
    }

    /// Why the outcome is wrong. Called for trials whose every answer was right.
    fn wrong(&self, _counts: &TrialCounts<'_>) -> Option<String> {
        None
    }
}
