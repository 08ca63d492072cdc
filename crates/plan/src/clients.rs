//! Checks that an engine supports the requested kind of clients: threads of one process, or processes.

use kvdyno_engine::abi;
use kvdyno_engine::inspect::Declared;
use kvdyno_experiment::{Experiment, FileError, LoadKey, RunKey};
use kvdyno_model::{ClientKind, KeyPath};

use crate::plan::PlannedTrial;

/// Refuses processes for an engine that they cannot share. `trials` are those of the engine, `named` is the key that
/// names it.
pub(crate) fn check_clients(
    experiment: &Experiment,
    label: &str,
    engine: &Declared,
    trials: &[&PlannedTrial],
    named: &KeyPath,
) -> Result<(), FileError> {
    if engine.can(abi::CAN_SHARE_PROCESSES) {
        return Ok(());
    }
    if engine.can(abi::IS_SINGLE) {
        return match trials.iter().find(|trial| trial.key.processes() > 1) {
            None => Ok(()),
            Some(trial) => Err(FileError::at(
                named.clone(),
                format!(
                    "{label} has neither threads nor a database that processes can share: it can have one reader or \
                     one writer, and `{}` is to have {}",
                    trial.key.workload,
                    trial.key.processes()
                ),
            )),
        };
    }
    let of_runs = experiment.run.iter().enumerate();
    let of_runs = of_runs.map(|(index, run)| (run.clients, KeyPath::from(RunKey::Clients).numbered(index)));
    let requested = std::iter::once((experiment.load.clients, LoadKey::Clients.into())).chain(of_runs);
    match requested.into_iter().find(|(clients, _)| *clients == ClientKind::Processes) {
        None => Ok(()),
        Some((_, key)) => Err(FileError::at(
            key,
            format!(
                "{label} has no database that processes can share, which clients = \"processes\" needs; leave it out, \
                 or let it have threads"
            ),
        )),
    }
}
