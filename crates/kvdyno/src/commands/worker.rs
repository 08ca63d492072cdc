//! The processes in which adapters are loaded: the measured one, and the one that only asks.

use std::path::Path;

use crate::error::Error;

/// Runs one trial.
pub fn run(spec: &Path) -> Result<(), Error> {
    Ok(kvdyno_trial::worker::run(spec)?)
}

/// Asks one adapter about itself.
pub fn inspect(request: &Path, answer: &Path) -> Result<(), Error> {
    kvdyno_lab::inspection::answer(request, answer).map_err(Error::io("cannot hand over what the adapter says"))
}
