//! One trial, from the parent's side: starts the worker, watches it ([`watching`]), collects what it says of itself
//! ([`reports`]), and makes the result ([`result`]).

mod bounds;
mod context;
mod reports;
mod result;
mod watching;

use std::fs::{self, File};
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use jiff::Timestamp;
use kvdyno_environment::storage::{DeviceCounters, free_bytes, is_device, settle};
use kvdyno_environment::worker_processes::WorkerProcesses;
use kvdyno_results::{
    ClientKind, Failure, FailureKind, SeriesPoint, Space, TrialOutcome, TrialResult, files, latency_log,
};
use kvdyno_worker::shared::SharedMemory;
use kvdyno_worker::{Observer, TrialSpec, of_process};
use rustix::io::{FdFlags, fcntl_setfd};

use crate::progress::Live;

use bounds::Bounds;
pub use context::{TrialContext, TrialRequest};
use context::{WORKER_LOG, taken_kib};
use reports::Reports;
use result::OsExtras;
pub use result::{not_run, workload_facts};
use watching::Watching;

/// How a trial came out.
pub struct Ended {
    /// Absent if the user interrupted it: then it counts as not begun.
    pub result: Option<TrialResult>,
    pub series: Vec<SeriesPoint>,
    /// Versions up to this one may have been written.
    pub last_version: u64,
}

/// Runs a trial and keeps its files, but for the result.
///
/// # Errors
/// If the lab itself cannot work: no process, no memory, no room for its files. What the engine does is in the result.
pub fn run(context: &TrialContext<'_>, live: &mut dyn FnMut(&Live)) -> io::Result<Ended> {
    fs::create_dir_all(context.folder)?;
    let shared = SharedMemory::create(context.planned.workload.roles().len())?;
    let reports = Reports::none_in(context)?;
    let mut commands = worker_commands(context, &shared, &reports)?;
    settle(&context.database)?;
    let mut bounds = Bounds::set(context)?;
    for command in &mut commands {
        bounds.take_in(command)?;
    }
    let device_before = DeviceCounters::read(&context.database);
    let started = Timestamp::now();
    let watching = Watching::new(context, &shared, WorkerProcesses::start(&mut commands)?, &mut bounds);
    let Some(watched) = watching.until_end(live)? else {
        return Ok(Ended { result: None, series: Vec::new(), last_version: 0 });
    };
    let unwritten = settled(&context.database)?;
    let device = match (&device_before, DeviceCounters::read(&context.database)) {
        (Some(before), Some(after)) => Some(after.since(before)),
        _ => None,
    };
    let observer = Observer::new(&shared);
    let space = space(context, watched.db_peak_kib)?;
    let last_version = observer.last_version().max(context.last_version);
    let series = watched.series.clone();
    let mut result =
        result::result(context, &observer, reports.read(), watched, OsExtras { started, device, space, bounds });
    if let Some(failure) = unwritten.filter(|_| result.is_finished()) {
        result.outcome = TrialOutcome::Failed(failure);
    }
    if !result.is_finished() && free_bytes(&context.database)? < context.lab.min_free.0 {
        // The result may have to go onto the same storage, and nobody uses a database that did not fit.
        result.notes.extend(context.engine_cleanup.destroy(&context.database)?);
        empty(&context.database)?;
    }
    latency_log::write(context.folder, observer.histograms().into_iter())?;
    Ok(Ended { result: Some(result), series, last_version })
}

/// Writes out what the trial left in the page cache. Gives back why that is a failure of the trial: pages that were written
/// long ago may find no room only now, and then they are lost.
fn settled(database: &Path) -> io::Result<Option<Failure>> {
    match settle(database) {
        Err(error) if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
            let reason = format!("the storage is full: pages that were written could not be written out: {error}");
            Ok(Some(Failure { kind: FailureKind::NoSpace, reason }))
        }
        outcome => outcome.map(|()| None),
    }
}

/// The commands that start the processes of a worker, and the specification that they read.
fn worker_commands(context: &TrialContext<'_>, shared: &SharedMemory, reports: &Reports) -> io::Result<Vec<Command>> {
    let key = &context.planned.key;
    let spec = TrialSpec {
        adapter: context.setup.adapter.clone(),
        preset: context.setup.preset.clone(),
        options: context.setup.options.clone(),
        library: context.setup.library.clone(),
        lab: context.settings.clone(),
        workload: context.planned.workload.clone(),
        clients: key.clients,
        database: context.database.clone(),
        create: context.create,
        last_version: context.last_version,
        shared_fd: shared.fd(),
        ledger_fd: context.ledger.fd(),
        report: reports.file.clone(),
    };
    let spec_file = context.folder.join("spec.json");
    files::write_json(&spec_file, &spec)?;
    let log = context.folder.join(WORKER_LOG);
    match key.clients {
        ClientKind::Threads => Ok(vec![worker_command(context, shared, &spec_file, &log)?]),
        ClientKind::Processes => {
            let one = |number: usize| {
                let mut command = worker_command(context, shared, &spec_file, &of_process(&log, number))?;
                command.arg("--process").arg(number.to_string());
                Ok(command)
            };
            (0..key.processes() as usize).map(one).collect()
        }
    }
}

/// Removes what is in a folder; a device takes no more than it has.
fn empty(database: &Path) -> io::Result<()> {
    if is_device(database) {
        return Ok(());
    }
    fs::remove_dir_all(database)?;
    fs::create_dir(database)
}

fn worker_command(context: &TrialContext<'_>, shared: &SharedMemory, spec: &Path, log: &Path) -> io::Result<Command> {
    let log = File::create(log)?;
    let (program, arguments) = context.worker.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).arg(spec).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    context.environment.placement.set_on(&mut command);
    let inherited = [shared.fd(), context.ledger.fd()];
    // SAFETY: the hook makes one system call for each descriptor, which is allowed between fork and exec.
    unsafe { command.pre_exec(move || inherited.into_iter().try_for_each(keep_across_exec)) };
    Ok(command)
}

fn keep_across_exec(fd: RawFd) -> io::Result<()> {
    // SAFETY: the parent keeps the segment open until the worker has ended.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    Ok(fcntl_setfd(fd, FdFlags::empty())?)
}

fn space(context: &TrialContext<'_>, peak_kib: u64) -> io::Result<Space> {
    let db_kib = taken_kib(context)?;
    Ok(Space { db_kib, db_peak_kib: peak_kib.max(db_kib) })
}
