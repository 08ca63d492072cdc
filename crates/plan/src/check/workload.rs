//! Whether what a trial does makes sense: what several keys have to say together. The bounds of each key are its
//! type's.

use kvdyno_dataset::KeyError;
use kvdyno_experiment::{DataKey, FileError, LoadKey, RoleKey, RunKey, role_path};
use kvdyno_model::KeyPath;
use kvdyno_worker::workloads::{Parameter, WorkloadError};

use crate::plan::PlannedTrial;

/// Refuses a trial that makes no sense, with the keys of its own `[[run]]`.
pub(super) fn check_workload(trial: &PlannedTrial) -> Result<(), FileError> {
    trial.workload.check().map_err(|error| FileError::at(key_of(trial, &error), error.to_string()))?;
    let roles = &trial.workload.parameters.roles;
    roles.iter().enumerate().try_for_each(|(index, role)| {
        let of_role = trial.workload.of_role(index).check();
        of_role.map_err(|error| {
            let key = key_of_role(trial, index, &error).unwrap_or_else(|| key_of(trial, &error));
            FileError::at(key, format!("{}: {error}", role.name))
        })
    })
}

/// The key of a role that an error is about; absent if it is about one that all share.
fn key_of_role(trial: &PlannedTrial, role: usize, error: &WorkloadError) -> Option<KeyPath> {
    let WorkloadError::Range { parameter, .. } = error else { return None };
    let key = match parameter {
        Parameter::Rate => RoleKey::Rate,
        Parameter::Arrival => RoleKey::Arrival,
        Parameter::Batch => RoleKey::Batch,
        Parameter::KeysPerMultiget => RoleKey::KeysPerMultiget,
        Parameter::SeekNexts => RoleKey::SeekNexts,
        Parameter::RangeLengths => RoleKey::RangeLengths,
        Parameter::Distribution => RoleKey::Distribution,
        Parameter::Mix => RoleKey::Mix,
        _ => return None,
    };
    trial.section.map(|section| key.of_role(role).numbered(section))
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
            Parameter::ReadRate => run(RunKey::ReadRate),
            Parameter::Rate => run(RunKey::Rate),
            Parameter::Arrival => run(RunKey::Arrival),
            Parameter::ReadsPerTransaction => run(RunKey::ReadsPerTransaction),
            Parameter::SeekNexts => run(RunKey::SeekNexts),
            Parameter::SeekWithin => run(RunKey::SeekWithin),
            Parameter::KeysPerMultiget => run(RunKey::KeysPerMultiget),
            Parameter::Distribution => run(RunKey::Distribution),
            Parameter::Mix => run(RunKey::Mix),
            Parameter::Roles => trial.section.map_or(LoadKey::Workload.into(), |index| role_path(0).numbered(index)),
            Parameter::RangeLengths => run(RunKey::RangeLengths),
            Parameter::RangeCursors => run(RunKey::RangeCursors),
            Parameter::Isolation => run(RunKey::Isolation),
        },
    }
}
