//! Whether what a trial does makes sense: what several keys have to say together. The bounds of each key are its type's.

use kvdyno_experiment::{DataKey, Experiment, FileError, LoadKey, RunKey};
use kvdyno_model::KeyPath;
use kvdyno_workload::cycles::MOST_STARTS;
use kvdyno_workload::{KeyError, Kind, WorkloadError};

use crate::plan::PlannedTrial;

/// Refuses a trial that makes no sense, with the keys of its own `[[run]]`.
pub(super) fn check_workload(experiment: &Experiment, trial: &PlannedTrial) -> Result<(), FileError> {
    let records = experiment.data.records;
    if trial.workload.kind == Kind::ThreeNPlusOne && records.get() > MOST_STARTS {
        let message = format!("records is {records}; it must be from 1 to {MOST_STARTS} starting points for 3n1");
        return Err(FileError::at(DataKey::Records, message));
    }
    let run = trial.section.map(|index| (index, &experiment.run[index]));
    if let Some((index, seek_within)) = run.and_then(|(index, run)| Some((index, run.seek_within?)))
        && seek_within.get() > records.get()
    {
        let message = format!("seek_within is {seek_within}; it must be from 1 to the number of records");
        return Err(FileError::at(RunKey::SeekWithin, message).in_run(index));
    }
    trial.workload.check().map_err(|error| FileError::at(key_of(trial, &error), error.to_string()))
}

fn key_of(trial: &PlannedTrial, error: &WorkloadError) -> KeyPath {
    match error {
        WorkloadError::Keys(KeyError::PrefixSize { .. } | KeyError::Prefixes { .. }) => DataKey::PrefixSize.into(),
        WorkloadError::Keys(KeyError::NoPrefix | KeyError::NoKeys | KeyError::Suffixes { .. }) => {
            DataKey::KeysPerPrefix.into()
        }
        WorkloadError::Keys(_) => DataKey::KeySize.into(),
        _ => match trial.section {
            None => LoadKey::Workload.into(),
            Some(index) => KeyPath::from(RunKey::Workload).numbered(index),
        },
    }
}
