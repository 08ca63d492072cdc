//! `kvdyno workloads`.

use std::io::{Write, stdout};

use kvdyno_dataset::Kind;

use crate::error::Error;

/// Prints the workloads.
pub fn run() -> Result<(), Error> {
    let mut out = stdout().lock();
    for (kind, does) in Kind::all() {
        let part = if kind.loads() { "load" } else { "run" };
        writeln!(out, "{kind:<21} {part:<5} {does}").map_err(Error::io("cannot print"))?;
    }
    Ok(())
}
