//! Whether what a trial does makes sense: what several keys have to say together. The bounds of each key are its
//! type's.

use kvdyno_dataset::KeyError;
use kvdyno_experiment::{DataKey, FileError, LoadKey, RunKey};
use kvdyno_model::KeyPath;
use kvdyno_worker::workloads::{Parameter, WorkloadError};

use crate::plan::PlannedTrial;

/// Refuses a trial that makes no sense, with the keys of its own `[[run]]`.
pub(super) fn check_workload(trial: &PlannedTrial) -> Result<(), FileError> {
    trial.workload.check().map_err(|error| FileError::at(key_of(trial, &error), error.to_string()))
}

/// The key that an error is about.
fn key_of(trial: &PlannedTrial, error: &WorkloadError) -> KeyPath {
    let run = |key: RunKey| match trial.section {
        None => LoadKey::Workload.into(),
        Some(index) => KeyPath::from(key).numbered(index),
    };
    match error {
        WorkloadError::Keys(KeyError::PrefixSize { .. } | KeyError::Prefixes { .. }) => DataKey::PrefixSize.into(),
        WorkloadError::Keys(KeyError::NoPrefix | KeyError::NoKeys | KeyError::Suffixes { .. }) => {
            DataKey::KeysPerPrefix.into()
        }
        WorkloadError::Keys(_) => DataKey::KeySize.into(),
        WorkloadError::Range { parameter, .. } => match parameter {
            Parameter::Records => DataKey::Records.into(),
            Parameter::KeySize => DataKey::KeySize.into(),
            Parameter::ValueSize => DataKey::ValueSize.into(),
            Parameter::PrefixSize => DataKey::PrefixSize.into(),
            Parameter::KeysPerPrefix => DataKey::KeysPerPrefix.into(),
            Parameter::Spelling => DataKey::Spelling.into(),
            Parameter::Batch => run(RunKey::Batch),
            Parameter::WriteRate => run(RunKey::WriteRate),
            Parameter::ReadsPerTransaction => run(RunKey::ReadsPerTransaction),
            Parameter::SeekNexts => run(RunKey::SeekNexts),
            Parameter::SeekWithin => run(RunKey::SeekWithin),
            Parameter::KeysPerMultiget => run(RunKey::KeysPerMultiget),
            Parameter::Distribution => run(RunKey::Distribution),
        },
    }
}
