//! The measured process.

use std::path::Path;

use crate::error::Error;

/// Runs one trial.
pub fn run(spec: &Path) -> Result<(), Error> {
    Ok(kvdyno_trial::worker::run(spec)?)
}
