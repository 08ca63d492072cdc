//! The processes in which adapters are loaded: the measured one, and the one that only asks.

use kvdyno_worker::audit;
use kvdyno_worker::worker::{destroy, run as run_trial};

use crate::cli::WorkerArguments;
use crate::error::Error;

/// Runs one trial, or one process's part of it; or lets an engine clean up; or reads back what
/// trials wrote.
pub fn run(arguments: WorkerArguments) -> Result<(), Error> {
    // It was started as /proc/self/exe; what lists processes shows this instead, if it can be set.
    let _ = rustix::thread::set_name(c"kvdyno");
    match (arguments.destroy, arguments.audit) {
        (Some(spec), _) => destroy(&spec)?,
        (None, Some(spec)) => audit(&spec)?,
        (None, None) => run_trial(&arguments.spec.unwrap_or_default(), arguments.process)?,
    }
    Ok(())
}

/// Asks one adapter about itself.
pub fn inspect() -> Result<(), Error> {
    kvdyno_plan::inspection::answer().map_err(Error::io("cannot return the adapter's answer"))
}
