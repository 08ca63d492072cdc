//! Checks a trial's work: keys that depend on each other. The bounds of each key are its type's.

use kvdyno_dataset::KeyError;
use kvdyno_experiment::{DataKey, FileError, LoadKey, RoleKey, role_path};
use kvdyno_model::KeyPath;
use kvdyno_worker::workloads::{WorkloadError, WorkloadKey};

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
    let WorkloadError::Range { key: WorkloadKey::Run(key), .. } = error else { return None };
    let key = RoleKey::ALL.iter().find(|own| own.name() == key.name())?;
    trial.section.map(|section| key.of_role(role).numbered(section))
}

/// The key that an error is about.
fn key_of(trial: &PlannedTrial, error: &WorkloadError) -> KeyPath {
    match error {
        WorkloadError::Keys(KeyError::PrefixSize { .. } | KeyError::Prefixes { .. }) => DataKey::PrefixSize.into(),
        WorkloadError::Keys(KeyError::NoPrefix | KeyError::NoKeys | KeyError::Suffixes { .. }) => {
            DataKey::KeysPerPrefix.into()
        }
        WorkloadError::Keys(_) => DataKey::KeySize.into(),
        WorkloadError::Range { key, .. } => match (*key, trial.section) {
            (WorkloadKey::Data(key), _) => key.into(),
            (_, None) => LoadKey::Workload.into(),
            (WorkloadKey::Run(key), Some(index)) => KeyPath::from(key).numbered(index),
            (WorkloadKey::Roles, Some(index)) => role_path(0).numbered(index),
        },
    }
}
