//! The processes in which adapters are loaded: the measured one, and the one that only asks.

use std::path::Path;

use kvdyno_worker::worker::{destroy, run as run_trial};

use crate::cli::WorkerArguments;
use crate::error::Error;

/// Runs one trial, or one process's part of it; or lets an engine clean up.
pub fn run(arguments: WorkerArguments) -> Result<(), Error> {
    match arguments.destroy {
        Some(spec) => destroy(&spec)?,
        None => run_trial(&arguments.spec.unwrap_or_default(), arguments.process)?,
    }
    Ok(())
}

/// Asks one adapter about itself.
pub fn inspect(request: &Path, answer: &Path) -> Result<(), Error> {
    kvdyno_plan::inspection::answer(request, answer).map_err(Error::io("cannot hand over what the adapter says"))
}
