//! Makes an engine release what it keeps outside a database's folder (shared memory, semaphores), before the folder is
//! removed. It runs in a process of its own, like everything that an engine does.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf, absolute};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kvdyno_environment::process::{Exit, WorkerProcess, spawn};
use kvdyno_worker::DestroySpec;

use kvdyno_plan::Setup;

/// Makes the engine of a setup release what it keeps outside the folder, if it keeps anything there and the database
/// exists. `worker` is the program and its first arguments, `patience` the time limit. Returns why the engine could
/// not; such a failure does not stop the lab.
///
/// # Errors
/// If no process can be started.
pub(crate) fn destroy(
    worker: &[OsString],
    setup: &Setup,
    patience: Duration,
    database: &Path,
) -> io::Result<Option<String>> {
    if !setup.destroys || !database.exists() {
        return Ok(None);
    }
    let spec = DestroySpec {
        adapter: absolute(&setup.adapter)?,
        library: setup.library.as_deref().map(library_path).transpose()?,
        database: absolute(database)?,
    };
    let (program, arguments) = worker.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    // The specification is an argument, not a file: the storage may be full.
    command.current_dir("/").args(arguments).arg("--destroy").arg(serde_json::to_string(&spec)?);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let reason = outcome(spawn(&mut command)?, patience)?;
    let outside = format!("{}: what it keeps outside of {}", setup.label, database.display());
    Ok(reason.map(|reason| format!("{outside} could not be removed: {reason}")))
}

fn outcome(mut process: WorkerProcess, patience: Duration) -> io::Result<Option<String>> {
    let until = Instant::now() + patience;
    loop {
        process.wait_event(until.saturating_duration_since(Instant::now()))?;
        match process.try_finish()? {
            Some(finished) if finished.exit == Exit::Code(0) => return Ok(None),
            Some(finished) => return Ok(Some(said(&mut process).unwrap_or_else(|| finished.exit.to_string()))),
            None if Instant::now() >= until => return Ok(Some(format!("no end after {patience:?}"))),
            None => {}
        }
    }
}

/// A library that is named without a folder is the system's to look for.
pub(crate) fn library_path(library: &Path) -> io::Result<PathBuf> {
    if library.components().count() > 1 { absolute(library) } else { Ok(library.to_owned()) }
}

/// The last line on its standard error, without the mark that errors have.
fn said(process: &mut WorkerProcess) -> Option<String> {
    let mut text = Vec::new();
    process.stderr.take()?.read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.trim_start_matches([' ', '×']).to_owned())
}
