//! One trial, from the parent's side: starts the worker, watches it, and makes the record.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hdrhistogram::serialization::{V2Serializer, interval_log::IntervalLogWriterBuilder};
use jiff::Timestamp;
use kvdyno_engine::LabSettings;
use kvdyno_record::{
    Failure, FailureKind, OsFacts, Outcome, Phase, Record, SCHEMA, SeriesRow, Setting, Space, WorkloadFacts, files,
    folder::Results,
};
use kvdyno_stage::process::{Exit, Finished, Worker, spawn};
use kvdyno_stage::storage::{DeviceCounters, allocated_kb, free_bytes, settle};
use kvdyno_stage::watch::Watch;
use kvdyno_trial::shared::{Board, LedgerMemory, Stage};
use kvdyno_trial::{Observer, Snapshot, TrialSpec, WorkerReport};
use kvdyno_workload::{End, Verify, Workload};
use rustix::io::{FdFlags, fcntl_setfd};

use crate::check::Setup;
use crate::experiment::LabSection;
use crate::plan::PlannedTrial;
use crate::progress::Live;
use crate::runner::Stop;

/// Between two looks at the worker.
const TICK: Duration = Duration::from_millis(100);
/// What an interrupted worker is given to close its database.
const GRACE: Duration = Duration::from_secs(10);

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
    save_latencies(ask.folder, &observer)?;
    let report: Option<WorkerReport> = fs::read(&report_file).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let space = space(&ask.database, watched.db_peak_kb)?;
    let last_version = observer.last_version().max(ask.last_version);
    let series = watched.series.clone();
    let record = record(ask, &observer, report, watched, OsExtras { started, device, space });
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

/// Why the parent ended a worker.
enum Verdict {
    Hung(Stage, Duration),
    NoSpace(u64),
}

/// What watching gave.
struct Watched {
    finished: Finished,
    verdict: Option<Verdict>,
    last_stage: Stage,
    series: Vec<SeriesRow>,
    db_peak_kb: u64,
    disturbances: Vec<String>,
}

/// Looks at a worker until it ends, and ends it if it hangs or fills the storage.
struct Watching<'a> {
    ask: &'a Ask<'a>,
    observer: Observer<'a>,
    worker: Worker,
    watch: Watch,
    begun: Instant,
    /// Stage and operations at the last change, and when that was.
    last_change: (Stage, u64, Instant),
    interval: Duration,
    last_row: (Snapshot, Instant),
    second: Instant,
    rates: (f64, f64),
    series: Vec<SeriesRow>,
    db_peak_kb: u64,
    interrupted: Option<Instant>,
}

impl<'a> Watching<'a> {
    fn new(ask: &'a Ask<'a>, board: &'a Board, worker: Worker) -> Self {
        let now = Instant::now();
        // Some twenty rows for a short trial, one a second for a long one.
        let interval = ask.planned.planned_time().map_or(Duration::from_secs(1), |time| time / 20);
        Watching {
            ask,
            observer: Observer::new(board),
            worker,
            watch: Watch::new(),
            begun: now,
            last_change: (Stage::Starting, 0, now),
            interval: interval.clamp(Duration::from_millis(100), Duration::from_secs(1)),
            last_row: (Snapshot::default(), now),
            second: now,
            rates: (0.0, 0.0),
            series: Vec::new(),
            db_peak_kb: 0,
            interrupted: None,
        }
    }

    /// `None` if the user interrupted.
    fn until_end(mut self, live: &mut dyn FnMut(&Live)) -> io::Result<Option<Watched>> {
        let mut verdict = None;
        loop {
            self.worker.wait_event(TICK.min(self.interval))?;
            if let Some(finished) = self.worker.try_finish()? {
                self.row();
                if self.interrupted.is_some() {
                    return Ok(None);
                }
                return Ok(Some(Watched {
                    finished,
                    verdict,
                    last_stage: self.observer.control().stage(),
                    series: self.series,
                    db_peak_kb: self.db_peak_kb,
                    disturbances: self.watch.finish(),
                }));
            }
            if self.last_row.1.elapsed() >= self.interval {
                self.row();
            }
            if verdict.is_none() {
                verdict = self.judge()?;
                if verdict.is_some() {
                    self.worker.kill()?;
                }
            }
            self.heed_interruption()?;
            live(&self.live());
        }
    }

    /// Whether the worker must be ended.
    fn judge(&mut self) -> io::Result<Option<Verdict>> {
        let now = Instant::now();
        let stage = self.observer.control().stage();
        let operations = self.observer.warmup().operations() + self.observer.measured().operations();
        if (stage, operations) != (self.last_change.0, self.last_change.1) {
            self.last_change = (stage, operations, now);
        }
        let limit = match stage {
            Stage::Opening | Stage::Closing | Stage::Finishing => self.ask.lab.close_timeout.0,
            _ => self.ask.lab.hang_timeout.0,
        };
        let still = now - self.last_change.2;
        if still > limit {
            return Ok(Some(Verdict::Hung(stage, still)));
        }
        if now - self.second >= Duration::from_secs(1) {
            self.second = now;
            self.watch.sample(self.worker.pid());
            self.db_peak_kb = self.db_peak_kb.max(allocated_kb(&self.ask.database)?);
        }
        // A fast disk fills in a second: this look is cheap, so it is taken each time.
        let free = free_bytes(&self.ask.database)?;
        Ok((free < self.ask.lab.min_free.0).then_some(Verdict::NoSpace(free)))
    }

    fn heed_interruption(&mut self) -> io::Result<()> {
        match self.interrupted {
            None if self.ask.stop.is_asked() => {
                self.observer.control().ask_to_stop();
                self.interrupted = Some(Instant::now());
            }
            Some(since) if since.elapsed() > GRACE || self.ask.stop.is_urgent() => self.worker.kill()?,
            _ => {}
        }
        Ok(())
    }

    /// Ends an interval of the time series.
    fn row(&mut self) {
        let control = self.observer.control();
        let from = control.measured_from.load(std::sync::atomic::Ordering::Relaxed);
        if from == 0 || control.stage() < Stage::Measuring {
            return;
        }
        let now = Instant::now();
        let snapshot = self.observer.measured();
        let first = self.last_row.0.kinds.is_empty();
        if first {
            // The first interval begins with the measured part, which began between two looks.
            self.last_row = (snapshot, now);
            return;
        }
        let seconds = (now - self.last_row.1).as_secs_f64();
        let end_s = self.series.last().map_or(0.0, |row| row.end_s) + seconds;
        let rows = snapshot.rows_since(&self.last_row.0, end_s, seconds, control.ticks_per_ns());
        let rate = |write: bool| {
            let of_kind = |row: &&SeriesRow| matches!(row.kind.as_str(), "put" | "batch") == write;
            rows.iter().filter(of_kind).map(|row| row.records_per_s).sum::<f64>()
        };
        self.rates = (rate(false), rate(true));
        // After the measured part nothing is counted any more, and a row of zeros would be none of it.
        if control.stage() == Stage::Measuring {
            self.series.extend(rows);
        }
        self.last_row = (snapshot, now);
    }

    fn live(&self) -> Live {
        let workload = &self.ask.planned.workload;
        let measured = self.observer.measured();
        let records: u64 = measured.kinds.iter().map(|kind| kind.records).sum();
        let fraction = match (self.ask.planned.key.phase, workload.end) {
            (Phase::Load, _) => Some(records as f64 / workload.data.records as f64),
            (Phase::Run, End::After(duration)) => {
                Some(self.begun.elapsed().as_secs_f64() / (workload.warmup + duration).as_secs_f64())
            }
            (Phase::Run, End::Operations(operations)) => {
                let threads = workload.readers.max(1);
                Some(measured.operations() as f64 / (operations as f64 * f64::from(threads)))
            }
        };
        Live {
            elapsed: self.begun.elapsed(),
            stage: self.observer.control().stage().words(),
            reads_per_s: self.rates.0,
            writes_per_s: self.rates.1,
            fraction: fraction.map(|part| part.clamp(0.0, 1.0)),
            left: None,
        }
    }
}

/// What the parent took from the operating system beside the worker's account.
struct OsExtras {
    started: Timestamp,
    device: Option<kvdyno_record::Device>,
    space: Space,
}

fn record(
    ask: &Ask<'_>,
    observer: &Observer<'_>,
    report: Option<WorkerReport>,
    watched: Watched,
    extras: OsExtras,
) -> Record {
    let answers = observer.answers();
    let outcome = outcome(ask, observer, report.as_ref(), &watched);
    let mut notes = ask.notes.clone();
    notes.extend(watched.disturbances);
    if !watched.finished.peak_rss_exact {
        notes.push("the peak resident size is the highest that was seen, not the kernel's own figure".to_owned());
    }
    let mut engine = ask.setup.facts.clone();
    engine.settings = ask.engine_settings.to_vec();
    Record {
        schema: SCHEMA,
        trial: ask.planned.key.clone(),
        engine,
        workload: workload_facts(&ask.planned.workload, &ask.settings),
        outcome,
        started: extras.started,
        window: report.as_ref().and_then(|report| report.window.clone()),
        operations: observer.operations(),
        answers,
        os: OsFacts { device: extras.device, ..watched.finished.os },
        space: extras.space,
        user_bytes_written: observer.user_bytes(),
        statistics: report.map(|report| report.statistics).unwrap_or_default(),
        notes,
    }
}

/// A workload as records have it.
pub fn workload_facts(workload: &Workload, settings: &LabSettings) -> WorkloadFacts {
    WorkloadFacts {
        name: workload.kind.to_string(),
        records: workload.data.records,
        key_size: workload.data.key_size,
        key_format: workload.data.key_format.to_string(),
        value_size: workload.data.value_size,
        compressibility: workload.data.compressibility,
        batch: workload.batch,
        reads_per_transaction: workload.reads_per_transaction,
        durability: settings.durability.to_string(),
        cache_bytes: settings.cache_bytes,
        write_buffer_bytes: settings.write_buffer_bytes,
        compression: settings.compression.to_string(),
        verify: match workload.verify {
            Verify::Full => "full".to_owned(),
            Verify::Off => "off".to_owned(),
        },
        seed: workload.seed,
        write_rate: workload.write_rate,
    }
}

/// How the trial ended: the parent's own verdict first, then how the process ended, then what it says of itself.
fn outcome(ask: &Ask<'_>, observer: &Observer<'_>, report: Option<&WorkerReport>, watched: &Watched) -> Outcome {
    let failed = |kind, reason| Outcome::Failed(Failure { kind, reason });
    let during = watched.last_stage.words();
    match &watched.verdict {
        Some(Verdict::Hung(stage, still)) => {
            let reason = format!("nothing happened for {:.0} s while {}", still.as_secs_f64(), stage.words());
            return failed(FailureKind::Hung, reason);
        }
        Some(Verdict::NoSpace(free)) => {
            let reason =
                format!("the storage is full: {free} bytes left while {during}, min_free is {}", ask.lab.min_free);
            return failed(FailureKind::NoSpace, reason);
        }
        None => {}
    }
    let last_words = || last_words(&ask.folder.join("worker.log"));
    match (&watched.finished.exit, watched.last_stage) {
        (Exit::Signal { number, name }, _) => {
            failed(FailureKind::Crashed, format!("signal {number} ({name}) while {during}{}", last_words()))
        }
        (Exit::Code(0), Stage::Done) => judged_by_answers(observer, report),
        (Exit::Code(code), _) => {
            failed(FailureKind::Exited, format!("the process exited with code {code} while {during}{}", last_words()))
        }
    }
}

fn judged_by_answers(observer: &Observer<'_>, report: Option<&WorkerReport>) -> Outcome {
    let failed = |kind, reason| Outcome::Failed(Failure { kind, reason });
    let answers = observer.answers();
    let first = answers.first_failure.clone().unwrap_or_default();
    let Some(report) = report else {
        return failed(FailureKind::Exited, "the worker ended without its report".to_owned());
    };
    if let Some(failure) = &report.failure {
        return Outcome::Failed(failure.clone());
    }
    if observer.control().no_space.load(std::sync::atomic::Ordering::SeqCst) == 1 {
        return failed(FailureKind::NoSpace, first);
    }
    if answers.errors > 0 {
        return failed(FailureKind::EngineError, format!("{} errors; the first: {first}", answers.errors));
    }
    if answers.failures() > 0 {
        let reason = format!(
            "{} wrong, {} torn, {} stale, {} missing; the first: {first}",
            answers.wrong, answers.torn, answers.stale, answers.missing
        );
        return failed(FailureKind::WrongAnswer, reason);
    }
    Outcome::Finished
}

/// The last line that the worker or the engine printed, for a reader who wonders why it died.
fn last_words(log: &Path) -> String {
    const TAIL: usize = 300;
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    match text.lines().rev().find(|line| !line.trim().is_empty()) {
        None => String::new(),
        Some(line) => format!("; it said: {}", line.chars().take(TAIL).collect::<String>()),
    }
}

/// A record for a trial that was not started.
pub fn not_run(ask_facts: (&PlannedTrial, &Setup, WorkloadFacts), reason: String) -> Record {
    let (planned, setup, workload) = ask_facts;
    Record {
        schema: SCHEMA,
        trial: planned.key.clone(),
        engine: setup.facts.clone(),
        workload,
        outcome: Outcome::Failed(Failure { kind: FailureKind::NotRun, reason }),
        started: Timestamp::now(),
        window: None,
        operations: Vec::new(),
        answers: kvdyno_record::Answers::default(),
        os: OsFacts::default(),
        space: Space::default(),
        user_bytes_written: 0,
        statistics: Vec::new(),
        notes: Vec::new(),
    }
}

/// For saving beside the record.
pub fn save_series(results: &Results, planned: &PlannedTrial, series: &[SeriesRow]) -> io::Result<()> {
    results.save_series(&planned.key, series)
}
