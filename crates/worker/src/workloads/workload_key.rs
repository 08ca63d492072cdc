//! The keys of an experiment file that workloads take, and errors in their values.

use std::fmt;

use kvdyno_dataset::KeyError;
use kvdyno_experiment::{DataKey, RunKey};

/// A key of the experiment file that a workload may take or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkloadKey {
    /// A key of `[data]`.
    Data(DataKey),
    /// A key of `[[run]]`; of a load, the key of `[load]` of the same name.
    Run(RunKey),
    /// `[[run.role]]`.
    Roles,
}

impl WorkloadKey {
    /// Whether it concerns records or clients in general, and so applies to every workload that does not say otherwise.
    pub(super) fn concerns_all(self) -> bool {
        use RunKey::{Clients, Duration, Operations, Readers, RecordsFraction, Warmup, Workload};
        match self {
            WorkloadKey::Data(key) => key != DataKey::Spelling,
            WorkloadKey::Run(key) => {
                matches!(key, Workload | Readers | Clients | Duration | Operations | RecordsFraction | Warmup)
            }
            WorkloadKey::Roles => false,
        }
    }

    /// Why it means nothing to a workload, as a clause that follows the workload's name.
    pub fn why_not(self) -> &'static str {
        match self {
            WorkloadKey::Data(DataKey::Spelling) => "spells no numbers",
            WorkloadKey::Data(_) => "has records of its own",
            WorkloadKey::Roles => "has operations of its own",
            WorkloadKey::Run(key) => match key {
                RunKey::Batch | RunKey::WriteRate | RunKey::Durability => "writes nothing",
                RunKey::ReadRate => "has no readers that could wait",
                RunKey::Rate => "mixes no operations",
                RunKey::FindMaxRate => "has no clients whose rate could be set",
                RunKey::Arrival => "has neither a rate of reads nor one of writes",
                RunKey::Mix => "has operations of its own",
                RunKey::RangeLengths => "reads no ranges of several lengths",
                RunKey::RangeCursors => "opens no cursor for each range",
                RunKey::SeekNexts | RunKey::SeekWithin => "reads no ranges",
                RunKey::KeysPerMultiget => "reads one record at a time",
                RunKey::Distribution => "draws no records at random",
                RunKey::ReadsPerTransaction => "reads in no transactions",
                RunKey::Isolation => "has no transactions that write",
                _ if self.concerns_all() => "has clients of its own",
                _ => "does not use it",
            },
        }
    }
}

impl From<DataKey> for WorkloadKey {
    fn from(key: DataKey) -> Self {
        WorkloadKey::Data(key)
    }
}

impl From<RunKey> for WorkloadKey {
    fn from(key: RunKey) -> Self {
        WorkloadKey::Run(key)
    }
}

impl fmt::Display for WorkloadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WorkloadKey::Data(key) => key.name(),
            WorkloadKey::Run(key) => key.name(),
            WorkloadKey::Roles => "role",
        })
    }
}

/// A workload that makes no sense.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// Its keys do not fit.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// A number is out of its range.
    #[error("{key} is {value}; it must be {expected}")]
    Range {
        /// The key of the number.
        key: WorkloadKey,
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
        key: impl Into<WorkloadKey>,
        value: impl fmt::Display,
        expected: impl Into<String>,
    ) -> Result<(), WorkloadError> {
        match fits {
            true => Ok(()),
            false => Err(WorkloadError::Range { key: key.into(), value: value.to_string(), expected: expected.into() }),
        }
    }
}
