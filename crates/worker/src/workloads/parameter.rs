//! Keys of an experiment file that concern workloads, and what can be wrong with their values.

use std::fmt;

use kvdyno_dataset::KeyError;

kvdyno_model::words! {
    /// A key of an experiment file that means something to workloads, or to some of them.
    #[allow(missing_docs)]
    pub enum Parameter {
        Records = "records",
        KeySize = "key_size",
        ValueSize = "value_size",
        PrefixSize = "prefix_size",
        KeysPerPrefix = "keys_per_prefix",
        Spelling = "spelling",
        Batch = "batch",
        WriteRate = "write_rate",
        ReadRate = "read_rate",
        Rate = "rate",
        Arrival = "arrival",
        ReadsPerTransaction = "reads_per_transaction",
        SeekNexts = "seek_nexts",
        SeekWithin = "seek_within",
        KeysPerMultiget = "keys_per_multiget",
        Distribution = "distribution",
        Mix = "mix",
        Roles = "role",
        RangeLengths = "range_lengths",
        RangeCursors = "range_cursors",
        Isolation = "isolation",
    }
}

impl Parameter {
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
