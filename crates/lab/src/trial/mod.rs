//! One trial, from the parent's side: starts the worker, watches it ([`watching`]), and makes the record ([`record`]).

mod record;
mod watching;

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use hdrhistogram::serialization::{V2Serializer, interval_log::IntervalLogWriterBuilder};
use jiff::Timestamp;
use kvdyno_engine::LabSettings;
use kvdyno_record::{Record, SeriesRow, Setting, Space, files};
use kvdyno_stage::process::spawn;
use kvdyno_stage::storage::{DeviceCounters, allocated_kb, free_bytes, settle};
use kvdyno_trial::shared::{Board, LedgerMemory};
use kvdyno_trial::{Observer, TrialSpec, WorkerReport};
use rustix::io::{FdFlags, fcntl_setfd};

use crate::check::Setup;
use crate::experiment::LabSection;
use crate::plan::PlannedTrial;
use crate::progress::Live;
use crate::stop::Stop;

use record::OsExtras;
pub use record::{not_run, workload_facts};
use watching::Watching;

/// Everything that a trial needs.
pub struct Ask<'a> {
    pub planned: &'a PlannedTrial,
    pub setup: &'a Setup,
    pub lab: &'a LabSection,
    pub settings: LabSettings,
    pub engine_settings: &'a [Setting],
    pub database: PathBuf,
    pub create: bool,
    pub ledger: &'a LedgerMemory,
    pub last_version: u64,
    pub folder: &'a Path,
    /// Program and first arguments that start a worker; the specification's path follows.
    pub worker: &'a [std::ffi::OsString],
    pub stop: &'a Stop,
    pub notes: Vec<String>,
}

/// How a trial came out.
pub struct Ended {
    /// Absent if the user interrupted it: then it counts as not begun.
    pub record: Option<Record>,
    pub series: Vec<SeriesRow>,
    /// Versions up to this one may have been written.
    pub last_version: u64,
}

/// Runs a trial and keeps its files, but for the record.
///
/// # Errors
/// If the lab itself cannot work: no process, no memory, no room for its files. What the engine does is in the record.
pub fn run(ask: &Ask<'_>, live: &mut dyn FnMut(&Live)) -> io::Result<Ended> {
    fs::create_dir_all(ask.folder)?;
    let board = Board::create(ask.planned.workload.roles().len())?;
    let report_file = ask.folder.join("worker.json");
    remove_if_there(&report_file)?;
    let mut command = worker_command(ask, &board, &report_file)?;
    settle(&ask.database)?;
    let device_before = DeviceCounters::read(&ask.database);
    let started = Timestamp::now();
    let worker = spawn(&mut command)?;
    let watching = Watching::new(ask, &board, worker);
    let Some(watched) = watching.until_end(live)? else {
        return Ok(Ended { record: None, series: Vec::new(), last_version: 0 });
    };
    settle(&ask.database)?;
    let device = match (&device_before, DeviceCounters::read(&ask.database)) {
        (Some(before), Some(after)) => Some(after.since(before)),
        _ => None,
    };
    let observer = Observer::new(&board);
    let report: Option<WorkerReport> = fs::read(&report_file).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let space = space(&ask.database, watched.db_peak_kb)?;
    let last_version = observer.last_version().max(ask.last_version);
    let series = watched.series.clone();
    let record = record::record(ask, &observer, report, watched, OsExtras { started, device, space });
    if !record.is_finished() && free_bytes(&ask.database)? < ask.lab.min_free.0 {
        // The record may have to go onto the same storage, and nobody uses a database that did not fit.
        fs::remove_dir_all(&ask.database)?;
        fs::create_dir(&ask.database)?;
    }
    save_latencies(ask.folder, &observer)?;
    Ok(Ended { record: Some(record), series, last_version })
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The command that starts the worker, and the specification that it reads.
fn worker_command(ask: &Ask<'_>, board: &Board, report: &Path) -> io::Result<Command> {
    let spec = TrialSpec {
        adapter: ask.setup.adapter.clone(),
        preset: ask.setup.preset.clone(),
        options: ask.setup.options.clone(),
        library: ask.setup.library.clone(),
        lab: ask.settings.clone(),
        workload: ask.planned.workload.clone(),
        database: ask.database.clone(),
        create: ask.create,
        last_version: ask.last_version,
        board_fd: board.fd(),
        ledger_fd: ask.ledger.fd(),
        report: report.to_owned(),
    };
    let spec_file = ask.folder.join("spec.json");
    files::write_json(&spec_file, &spec)?;
    let log = File::create(ask.folder.join("worker.log"))?;
    let (program, arguments) = ask.worker.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).arg(spec_file).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    let inherited = [board.fd(), ask.ledger.fd()];
    // SAFETY: the hook makes one system call for each descriptor, which is allowed between fork and exec.
    unsafe { command.pre_exec(move || inherited.into_iter().try_for_each(keep_across_exec)) };
    Ok(command)
}

fn keep_across_exec(fd: RawFd) -> io::Result<()> {
    // SAFETY: the parent keeps the segment open until the worker has ended.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    Ok(fcntl_setfd(fd, FdFlags::empty())?)
}

fn space(database: &Path, peak_kb: u64) -> io::Result<Space> {
    let db_kb = allocated_kb(database)?;
    Ok(Space { db_kb, db_peak_kb: peak_kb.max(db_kb) })
}

/// The latencies of the measured part, for tools that read HdrHistogram logs.
fn save_latencies(folder: &Path, observer: &Observer<'_>) -> io::Result<()> {
    let mut content = BufWriter::new(Vec::new());
    let mut serializer = V2Serializer::new();
    {
        let mut log = IntervalLogWriterBuilder::new()
            .add_comment("latency, nanoseconds; one line for each kind of operation of the measured part")
            .with_max_value_divisor(1.0)
            .begin_log_with(&mut content, &mut serializer)?;
        for (kind, histogram) in observer.histograms() {
            let tag = hdrhistogram::serialization::interval_log::Tag::new(kind.name());
            log.write_histogram(&histogram, Duration::ZERO, Duration::ZERO, tag)
                .map_err(|error| io::Error::other(format!("{error:?}")))?;
        }
    }
    let content = content.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
    files::write_whole(&folder.join("latency.hlog"), &content)
}
