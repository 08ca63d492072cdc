//! One trial, from the parent's side: starts the worker, watches it ([`watching`]), collects what it says of itself
//! ([`reports`]), and makes the result ([`result`]).

mod bounds;
mod cycles;
mod reports;
mod result;
mod watching;

use std::fs::{self, File};
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jiff::Timestamp;
use kvdyno_engine::LabSettings;
use kvdyno_environment::storage::backing_store::BackingStore;
use kvdyno_environment::storage::{DeviceCounters, allocated_kib, free_bytes, is_device, settle};
use kvdyno_environment::worker_processes::WorkerProcesses;
use kvdyno_results::{ClientKind, Failure, FailureKind, Outcome, SeriesPoint, Space, TrialResult, files, latency_log};
use kvdyno_worker::shared::{LedgerMemory, SharedMemory};
use kvdyno_worker::{Observer, TrialSpec, of_process};
use rustix::io::{FdFlags, fcntl_setfd};

use crate::engine_cleanup::EngineCleanup;
use crate::progress::Live;
use crate::stop::Stop;
use kvdyno_experiment::LabSection;
use kvdyno_plan::Environment;
use kvdyno_plan::PlannedTrial;
use kvdyno_plan::Setup;

use bounds::Bounds;
use reports::Reports;
use result::OsExtras;
pub use result::{not_run, workload_facts};
use watching::Watching;

/// What the engine and the worker print, in the trial's folder.
const WORKER_LOG: &str = "worker.log";

/// Everything that a trial needs.
pub struct Ask<'a> {
    pub planned: &'a PlannedTrial,
    pub setup: &'a Setup,
    pub environment: &'a Environment,
    pub engine_cleanup: EngineCleanup<'a>,
    pub lab: &'a LabSection,
    pub settings: LabSettings,
    pub database: PathBuf,
    pub backing_store: &'a BackingStore,
    pub create: bool,
    pub ledger: &'a LedgerMemory,
    pub last_version: u64,
    pub folder: &'a Path,
    /// Program and first arguments that start a worker; the specification's path follows.
    pub worker: &'a [std::ffi::OsString],
    pub stop: &'a Stop,
    /// Called once when the worker comes to its measured part.
    pub at_work: &'a dyn Fn() -> io::Result<()>,
    pub notes: Vec<String>,
}

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
pub fn run(ask: &Ask<'_>, live: &mut dyn FnMut(&Live)) -> io::Result<Ended> {
    fs::create_dir_all(ask.folder)?;
    let shared = SharedMemory::create(ask.planned.workload.roles().len())?;
    let reports = Reports::none_in(ask)?;
    let mut commands = worker_commands(ask, &shared, &reports)?;
    settle(&ask.database)?;
    let mut bounds = Bounds::set(ask)?;
    for command in &mut commands {
        bounds.take_in(command)?;
    }
    let device_before = DeviceCounters::read(&ask.database);
    let started = Timestamp::now();
    let watching = Watching::new(ask, &shared, WorkerProcesses::start(&mut commands)?, &mut bounds);
    let Some(watched) = watching.until_end(live)? else {
        return Ok(Ended { result: None, series: Vec::new(), last_version: 0 });
    };
    let unwritten = settled(&ask.database)?;
    let device = match (&device_before, DeviceCounters::read(&ask.database)) {
        (Some(before), Some(after)) => Some(after.since(before)),
        _ => None,
    };
    let observer = Observer::new(&shared);
    let space = space(ask, watched.db_peak_kib)?;
    let last_version = observer.last_version().max(ask.last_version);
    let series = watched.series.clone();
    let mut result =
        result::result(ask, &observer, reports.read(), watched, OsExtras { started, device, space, bounds });
    if let Some(failure) = unwritten.filter(|_| result.is_finished()) {
        result.outcome = Outcome::Failed(failure);
    }
    if !result.is_finished() && free_bytes(&ask.database)? < ask.lab.min_free.0 {
        // The result may have to go onto the same storage, and nobody uses a database that did not fit.
        result.notes.extend(ask.engine_cleanup.destroy(&ask.database)?);
        empty(&ask.database)?;
    }
    let histograms = observer.histograms().into_iter().map(|(kind, histogram)| (kind.name(), histogram));
    latency_log::write(ask.folder, histograms)?;
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
fn worker_commands(ask: &Ask<'_>, shared: &SharedMemory, reports: &Reports) -> io::Result<Vec<Command>> {
    let key = &ask.planned.key;
    let spec = TrialSpec {
        adapter: ask.setup.adapter.clone(),
        preset: ask.setup.preset.clone(),
        options: ask.setup.options.clone(),
        library: ask.setup.library.clone(),
        lab: ask.settings.clone(),
        workload: ask.planned.workload.clone(),
        clients: key.clients,
        database: ask.database.clone(),
        create: ask.create,
        last_version: ask.last_version,
        shared_fd: shared.fd(),
        ledger_fd: ask.ledger.fd(),
        report: reports.file.clone(),
    };
    let spec_file = ask.folder.join("spec.json");
    files::write_json(&spec_file, &spec)?;
    let log = ask.folder.join(WORKER_LOG);
    match key.clients {
        ClientKind::Threads => Ok(vec![worker_command(ask, shared, &spec_file, &log)?]),
        ClientKind::Processes => {
            let one = |number: usize| {
                let mut command = worker_command(ask, shared, &spec_file, &of_process(&log, number))?;
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

fn worker_command(ask: &Ask<'_>, shared: &SharedMemory, spec: &Path, log: &Path) -> io::Result<Command> {
    let log = File::create(log)?;
    let (program, arguments) = ask.worker.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).arg(spec).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    ask.environment.surroundings.set_on(&mut command);
    let inherited = [shared.fd(), ask.ledger.fd()];
    // SAFETY: the hook makes one system call for each descriptor, which is allowed between fork and exec.
    unsafe { command.pre_exec(move || inherited.into_iter().try_for_each(keep_across_exec)) };
    Ok(command)
}

fn keep_across_exec(fd: RawFd) -> io::Result<()> {
    // SAFETY: the parent keeps the segment open until the worker has ended.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    Ok(fcntl_setfd(fd, FdFlags::empty())?)
}

/// KiB that the database takes.
fn taken_kib(ask: &Ask<'_>) -> io::Result<u64> {
    match is_device(&ask.database) {
        true => Ok(ask.backing_store.device_kib().unwrap_or(0)),
        false => allocated_kib(&ask.database),
    }
}

fn space(ask: &Ask<'_>, peak_kib: u64) -> io::Result<Space> {
    let db_kib = taken_kib(ask)?;
    Ok(Space { db_kib, db_peak_kib: peak_kib.max(db_kib) })
}
