//! Whether an engine's readers and writers can be what they are to be: threads of one process, or processes of their own.

use std::ops::Range;

use kvdyno_engine::abi;
use kvdyno_engine::inspect::Declared;
use kvdyno_results::ClientKind;

use crate::plan::PlannedTrial;
use kvdyno_experiment::{Experiment, FileError};

/// Refuses processes for an engine that they cannot share. `trials` are those of the engine, `place` is where it stands.
pub(crate) fn check_clients(
    experiment: &Experiment,
    label: &str,
    engine: &Declared,
    trials: &[&PlannedTrial],
    place: &Range<usize>,
) -> Result<(), FileError> {
    if engine.can(abi::CAN_SHARE_PROCESSES) {
        return Ok(());
    }
    if engine.can(abi::IS_SINGLE) {
        return match trials.iter().find(|trial| trial.key.processes() > 1) {
            None => Ok(()),
            Some(trial) => Err(FileError::new(
                format!(
                    "{label} has neither threads nor a database that processes can share: it can have one reader or one \
                     writer, and `{}` is to have {}",
                    trial.key.workload,
                    trial.key.processes()
                ),
                place.clone(),
            )),
        };
    }
    let requested = std::iter::once(&experiment.load.clients).chain(experiment.run.iter().map(|run| &run.clients));
    match requested.into_iter().find(|clients| *clients.get_ref() == ClientKind::Processes) {
        None => Ok(()),
        Some(clients) => Err(FileError::new(
            format!(
                "{label} has no database that processes can share, which clients = \"processes\" needs; leave it out, or \
                 let it have threads"
            ),
            if clients.span().is_empty() { place.clone() } else { clients.span() },
        )),
    }
}
