//! `kvdyno workloads`.

use std::io::{Write, stdout};

use kvdyno_worker::workloads::WorkloadName;

use crate::error::Error;

/// Prints the workloads.
pub fn run() -> Result<(), Error> {
    let mut out = stdout().lock();
    for workload in WorkloadName::all() {
        let phase = if workload.loads() { "load" } else { "run" };
        writeln!(out, "{workload:<21} {phase:<5} {}", workload.summary()).map_err(Error::io("cannot print"))?;
    }
    Ok(())
}
