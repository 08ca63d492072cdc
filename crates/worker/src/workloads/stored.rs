//! The records that a database has when a workload has ended, as an audit asks for them.

use kvdyno_dataset::{KeyError, Keys, ValueFault, Values};

use super::parameters::Data;
use super::present::MOST_INSERTED;

/// The records that a workload leaves. Each has an id below [`StoredRecords::count`].
pub trait StoredRecords: Sync {
    /// Number of records.
    fn count(&self) -> u64;

    /// The key of `id`, in `key`, whose old content goes.
    fn spell(&self, id: u64, key: &mut Vec<u8>);

    /// Why `value` is not that of `id` at a version of at least `min_version`; absent if it is.
    fn fault(&self, id: u64, min_version: u64, value: &[u8]) -> Option<ValueFault>;

    /// The version of a value that has no fault; absent where values have none.
    fn version(&self, _value: &[u8]) -> Option<u64> {
        None
    }
}

/// The records of an experiment, as loads write them and updates change them.
pub(super) struct LoadedRecords {
    keys: Keys,
    values: Values,
    count: u64,
}

impl LoadedRecords {
    pub(super) fn new(data: &Data) -> Result<LoadedRecords, KeyError> {
        // The keys of inserted records are spelled, too.
        let keys = data.keys_of(data.records.saturating_add(MOST_INSERTED)).or_else(|_| data.keys())?;
        Ok(LoadedRecords { keys, values: data.values(), count: data.records })
    }
}

impl StoredRecords for LoadedRecords {
    fn count(&self) -> u64 {
        self.count
    }

    fn spell(&self, id: u64, key: &mut Vec<u8>) {
        *key = self.keys.blank();
        self.keys.write(id, key);
    }

    fn fault(&self, id: u64, min_version: u64, value: &[u8]) -> Option<ValueFault> {
        let is_right = self.values.is_right(id, min_version, value);
        (!is_right).then(|| self.values.fault(id, min_version, value))
    }

    fn version(&self, value: &[u8]) -> Option<u64> {
        self.values.version_of(value)
    }
}
