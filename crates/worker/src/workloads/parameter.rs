//! Keys of an experiment file that concern workloads, and what can be wrong with their values.

use std::fmt;

use kvdyno_dataset::KeyError;

/// A key of an experiment file that means something to workloads, or to some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Parameter {
    Records,
    KeySize,
    ValueSize,
    PrefixSize,
    KeysPerPrefix,
    Spelling,
    Batch,
    WriteRate,
    ReadRate,
    Rate,
    Arrival,
    ReadsPerTransaction,
    SeekNexts,
    SeekWithin,
    KeysPerMultiget,
    Distribution,
    Mix,
    Roles,
    RangeLengths,
    RangeCursors,
    Isolation,
}

impl Parameter {
    /// The key.
    pub fn name(self) -> &'static str {
        match self {
            Parameter::Records => "records",
            Parameter::KeySize => "key_size",
            Parameter::ValueSize => "value_size",
            Parameter::PrefixSize => "prefix_size",
            Parameter::KeysPerPrefix => "keys_per_prefix",
            Parameter::Spelling => "spelling",
            Parameter::Batch => "batch",
            Parameter::WriteRate => "write_rate",
            Parameter::ReadRate => "read_rate",
            Parameter::Rate => "rate",
            Parameter::Arrival => "arrival",
            Parameter::ReadsPerTransaction => "reads_per_transaction",
            Parameter::SeekNexts => "seek_nexts",
            Parameter::SeekWithin => "seek_within",
            Parameter::KeysPerMultiget => "keys_per_multiget",
            Parameter::Distribution => "distribution",
            Parameter::Mix => "mix",
            Parameter::Roles => "role",
            Parameter::RangeLengths => "range_lengths",
            Parameter::RangeCursors => "range_cursors",
            Parameter::Isolation => "isolation",
        }
    }

    /// Whether it is about records as such, and so means something to every workload that does not say otherwise.
    pub(super) fn concerns_all(self) -> bool {
        use Parameter::{KeySize, KeysPerPrefix, PrefixSize, Records, ValueSize};
        matches!(self, Records | KeySize | ValueSize | PrefixSize | KeysPerPrefix)
    }

    /// Why it means nothing to a workload, as a clause that follows the workload's name.
    pub fn why_not(self) -> &'static str {
        match self {
            Parameter::Batch | Parameter::WriteRate => "writes nothing",
            Parameter::ReadRate => "has no readers that could wait",
            Parameter::Rate => "mixes no operations",
            Parameter::Arrival => "has neither a rate of reads nor one of writes",
            Parameter::Mix | Parameter::Roles => "has operations of its own",
            Parameter::RangeLengths => "reads no ranges of several lengths",
            Parameter::RangeCursors => "opens no cursor for each range",
            Parameter::SeekNexts | Parameter::SeekWithin => "reads no ranges",
            Parameter::KeysPerMultiget => "reads one record at a time",
            Parameter::Distribution => "draws no records at random",
            Parameter::ReadsPerTransaction => "reads in no transactions",
            Parameter::Isolation => "has no transactions that write",
            Parameter::Spelling => "spells no numbers",
            _ => "has records of its own",
        }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
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
