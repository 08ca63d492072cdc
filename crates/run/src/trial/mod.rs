//! One trial, from the parent's side: starts the worker, watches it ([`watching`]), collects its reports ([`reports`]),
//! output ([`logs`]) and counts ([`counted`]), and makes the result ([`result`]). From the worker's start on an error
//! of the lab ([`LabError`]) is the trial's failure.

mod bounds;
mod bracket;
mod context;
mod counted;
mod lab_cpu;
mod lab_error;
pub(crate) mod logs;
mod others;
mod padding;
mod pauses;
mod reports;
mod resources;
mod result;
mod search;
mod slice_cpu;
mod slicing;
mod standing;
mod time_limits;
mod together;
mod watching;

use std::ffi::OsString;
use std::fs;
use std::io::{self, PipeWriter};
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf, absolute};
use std::process::Stdio;

use jiff::Timestamp;
use kvdyno_environment::process::WorkerCommand;
use kvdyno_environment::profiler::Profiler;
use kvdyno_environment::storage::kinds::{FileNames, kinds_kib};
use kvdyno_environment::storage::{DeviceCounters, apparent_bytes, free_bytes, is_device, settle};
use kvdyno_environment::worker_processes::WorkerProcesses;
use kvdyno_model::Design;
use kvdyno_plan::design::{Slicing, StepDesign};
use kvdyno_results::{
    ClientKind, DesignFacts, Failure, FailureKind, Phase, ProfileFacts, ResourcePoint, SeriesPoint, Space,
    TrialOutcome, TrialResult, files, latency_log,
};
use kvdyno_worker::shared::SharedMemory;
use kvdyno_worker::workloads::TrialEnd;
use kvdyno_worker::{KnownContents, TrialClock, TrialSpec, of_process};
use rustix::io::{FdFlags, fcntl_setfd};

use crate::engine_cleanup::{destroy, library_path};
use crate::progress::Live;

use bounds::Bounds;
pub use context::{TrialContext, TrialRequest};
use context::{WORKER_LOG, taken_kib};
use counted::Counted;
pub use lab_error::LabError;
use lab_error::{Attempt, FirstError};
use logs::{LogThread, WorkerLogs};
use reports::Reports;
use result::OsExtras;
pub(crate) use result::{last_words, survivors_note};
pub use result::{not_run, workload_facts};
use search::{RateSearcher, SearchOrder};
use together::{Conductor, SliceOrder};
use watching::{Watched, Watching};

/// The outcome of a trial.
pub struct Ended {
    /// Absent if the user interrupted it: then it counts as not begun.
    pub result: Option<TrialResult>,
    pub series: Vec<SeriesPoint>,
    pub resources: Vec<ResourcePoint>,
    /// The contents of the database now.
    pub contents: KnownContents,
}

impl Ended {
    /// Notes the background work of the trial beside it in a duet.
    fn is_beside(&mut self, other: &Ended) {
        if let Some(facts) = self.result.as_mut().and_then(|result| result.design.as_mut()) {
            facts.background_beside = other.result.as_ref().and_then(TrialResult::background_share);
        }
    }
}

/// Runs one or several trials together and keeps their files, except the results. `worker` is the program and first
/// arguments that start a worker; the specification's path follows.
///
/// # Errors
/// If the lab cannot start one: no process, no memory, no space for its files. Later failures are in the results.
pub fn run(
    worker: &[OsString],
    contexts: &[TrialContext<'_>],
    step: &StepDesign,
    live: &mut dyn FnMut(&Live),
) -> io::Result<Vec<Ended>> {
    let prepared = contexts.iter().map(|context| PreparedTrial::new(worker, context));
    let mut prepared = prepared.collect::<io::Result<Vec<_>>>()?;
    let mut search = None;
    let (watched, (design, why)) = {
        let mut watchings = prepared.iter_mut().map(PreparedTrial::start).collect::<io::Result<Vec<_>>>()?;
        let in_turns = || (Design::Turns, step.why.clone());
        let order = contexts.first().and_then(SearchOrder::of);
        let chosen = match (order, slice_order(contexts), watchings.as_mut_slice()) {
            (Some(order), _, [watching]) => {
                search = Some(RateSearcher::new(watching, order, live).run());
                in_turns()
            }
            (_, Some(order), watchings) => Conductor::new(watchings, live).run(step, order),
            (_, None, watchings) => {
                together::introduce(watchings);
                together::until_all_end(watchings, live);
                in_turns()
            }
        };
        (watchings.into_iter().map(Watching::finish).collect::<Vec<_>>(), chosen)
    };
    let numbers: Vec<u32> = contexts.iter().map(|context| context.planned.key.number).collect();
    let facts = |own: u32| {
        let beside = numbers.iter().copied().filter(|number| *number != own).collect();
        DesignFacts { design, why: why.clone(), beside, ..DesignFacts::default() }
    };
    let trials = prepared.into_iter().zip(watched);
    let mut ended: Vec<Ended> = trials
        .map(|(one, watched)| {
            let design = facts(one.context.planned.key.number);
            one.finish(worker, watched, design)
        })
        .collect();
    if let [Ended { result: Some(result), .. }] = ended.as_mut_slice() {
        result.search = search;
    }
    if let (Design::Duet, [one, other]) = (design, ended.as_mut_slice()) {
        one.is_beside(other);
        other.is_beside(one);
    }
    Ok(ended)
}

/// The slices of trials that run together; `None` for a trial that runs alone.
fn slice_order(contexts: &[TrialContext<'_>]) -> Option<SliceOrder> {
    let first = contexts.first().filter(|context| context.slices.is_some())?;
    let parameters = &first.planned.workload.parameters;
    let TrialEnd::After(duration) = parameters.end else { return None };
    Some(SliceOrder { warmup: parameters.warmup, slicing: Slicing::of(duration), seed: parameters.seed })
}

/// A trial that can be started, and what is needed of it when it has ended.
struct PreparedTrial<'a> {
    context: &'a TrialContext<'a>,
    work: PathBuf,
    clock: TrialClock,
    shared: SharedMemory,
    reports: Reports,
    /// Before it is started.
    commands: Vec<WorkerCommand>,
    unstarted_logs: Option<WorkerLogs>,
    bounds: Bounds,
    device_before: Option<DeviceCounters>,
    started: Timestamp,
    /// From its start on.
    logs: Option<LogThread>,
}

impl<'a> PreparedTrial<'a> {
    fn new(worker: &[OsString], context: &'a TrialContext<'a>) -> io::Result<PreparedTrial<'a>> {
        let work = context.folder.join(WORK);
        fs::create_dir_all(&work).map_err(|cause| named(&work, &cause))?;
        let clock = TrialClock::begin();
        let shared = SharedMemory::create(context.planned.workload.roles().len())?;
        shared.control().set_value_seed(context.value_seed);
        let reports = Reports::none_in(context)?;
        let mut logs = WorkerLogs::default();
        settle(&context.database)?;
        let bounds = Bounds::set(context)?;
        let mut commands = worker_commands(worker, context, &shared, &reports, &bounds, &mut logs)?;
        for command in &mut commands {
            bounds.take_in(command)?;
        }
        // Of trials that share the device its counters belong to none.
        let is_alone = context.slices.is_none() && !context.shares_machine;
        let device_before = DeviceCounters::read(&context.database).filter(|_| is_alone);
        Ok(PreparedTrial {
            context,
            work,
            clock,
            shared,
            reports,
            commands,
            unstarted_logs: Some(logs),
            bounds,
            device_before,
            started: Timestamp::now(),
            logs: None,
        })
    }

    fn start(&mut self) -> io::Result<Watching<'_>> {
        self.logs = self.unstarted_logs.take().map(WorkerLogs::start).transpose()?;
        self.started = Timestamp::now();
        let processes = WorkerProcesses::start(std::mem::take(&mut self.commands))?;
        let watching = Watching::new(self.context, &self.shared, &self.clock, processes, &mut self.bounds);
        Ok(if self.context.slices.is_some() { watching.in_slices() } else { watching })
    }

    /// Puts its result together. `watched` is absent if the user interrupted it.
    fn finish(self, worker: &[OsString], watched: Option<Watched>, design: DesignFacts) -> Ended {
        let PreparedTrial { context, work, clock, shared, reports, bounds, device_before, started, logs, .. } = self;
        let mut errors = FirstError::default();
        let survivors = errors.note(bounds.end().on("end the remaining processes of the trial in", &work)).unwrap_or(0);
        let mut notes = logs.map(LogThread::finish).unwrap_or_default();
        errors.note(fs::remove_dir_all(&work).on("remove", &work));
        let Some(mut watched) = watched else {
            let (series, resources) = (Vec::new(), Vec::new());
            return Ended { result: None, series, resources, contents: context.contents };
        };
        watched.account.survivors += survivors as u32;
        let unwritten = errors.note(settled(&context.database).on("write out", &context.database)).flatten();
        let device = match (&device_before, DeviceCounters::read(&context.database)) {
            (Some(before), Some(after)) => Some(after.since(before)),
            _ => None,
        };
        let space = errors.note(space(context, watched.db_peak_kib).on("look at", &context.database));
        let space = space.unwrap_or_default();
        let report = reports.read();
        let counted = Counted::read(context, &shared, &clock, &watched, report.as_ref());
        let series = if counted.implausible.is_none() { std::mem::take(&mut watched.series) } else { Vec::new() };
        let resources = std::mem::take(&mut watched.resources);
        let profile = watched.profiler.take().map(|profiler| profile(context, profiler));
        let design = DesignFacts { dirty_kib: watched.dirty_kib, ..design };
        let design = counted.completed(context, watched.cpu.as_ref(), design);
        let extras = OsExtras { started, device, space, bounds };
        let mut result = result::result(context, &counted, report, watched, extras);
        result.design = design;
        match profile {
            Some(Ok(profile)) => result.profile = Some(profile),
            // The figures are as right without it.
            Some(Err(error)) => notes.push(format!("no flame graph: {error}")),
            None => {}
        }
        if let Some(failure) = unwritten.filter(|_| result.is_finished()) {
            result.outcome = TrialOutcome::Failed(failure);
        }
        if !result.is_finished() && free_bytes(&context.database).is_ok_and(|free| free < context.lab.min_free.0) {
            // The result may have to go onto the same storage, and a database that did not fit is of no use.
            let given_back = destroy(worker, context.setup, context.lab.hang_timeout.0, &context.database);
            notes.extend(errors.note(given_back.on("clean up after the engine in", &context.database)).flatten());
            errors.note(empty(&context.database).on("empty", &context.database));
        }
        let written = latency_log::write(context.folder, counted.histograms.into_iter());
        errors.note(written.map_err(|cause| LabError::new("save the trial's latencies", cause)));
        match errors.0 {
            Some(error) if result.is_finished() => result.outcome = error.outcome(),
            error => notes.extend(error.map(|error| error.to_string())),
        }
        result.notes.append(&mut notes);
        Ended { result: Some(result), series, resources, contents: counted.contents }
    }
}

/// Makes the flame graph of a trial.
fn profile(context: &TrialContext<'_>, profiler: io::Result<Profiler>) -> io::Result<ProfileFacts> {
    let graph = profiler?.finish(&context.planned.key.title())?;
    let graph = graph.ok_or_else(|| io::Error::other("no sample was taken in the measured part"))?;
    files::write_whole(&context.folder.join(ProfileFacts::FILE), &graph.svg)?;
    Ok(ProfileFacts { samples: graph.samples, per_s: graph.per_s, user_only: graph.user_only })
}

/// The folder in a trial's that is its processes' current one, removed when they have ended.
const WORK: &str = "work";

fn named(path: &Path, cause: &io::Error) -> io::Error {
    io::Error::new(cause.kind(), format!("{}: {cause}", path.display()))
}

/// Writes out what the trial left in the page cache. Gives back why that is a failure of the trial: pages that were
/// written long ago may find no room only now, and then they are lost.
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
fn worker_commands(
    worker: &[OsString],
    context: &TrialContext<'_>,
    shared: &SharedMemory,
    reports: &Reports,
    bounds: &Bounds,
    logs: &mut WorkerLogs,
) -> io::Result<Vec<WorkerCommand>> {
    let key = &context.planned.key;
    let spec = TrialSpec {
        // The worker's current folder is another.
        adapter: absolute(&context.setup.adapter)?,
        preset: context.setup.preset.clone(),
        options: context.setup.options.clone(),
        library: context.setup.library.as_deref().map(library_path).transpose()?,
        lab: context.settings.clone(),
        workload: context.planned.workload.clone(),
        audit: context.lab.audit,
        clients: key.clients,
        database: absolute(&context.database)?,
        slices: context.slices.clone(),
        cpu_account: bounds.cpu_account().filter(|_| context.slices.is_none()),
        create: context.create,
        fills_cache: context.fills_cache(),
        settle: context.planned.workload.name.settles() || (context.lab.settle && key.phase == Phase::Load),
        contents: context.contents,
        shared_fd: shared.fd(),
        ledger_fd: context.ledger.fd(),
        report: absolute(&reports.file)?,
    };
    let spec_file = absolute(context.folder)?.join("spec.json");
    files::write_json(&spec_file, &spec)?;
    let log = context.folder.join(WORKER_LOG);
    match key.clients {
        ClientKind::Threads => Ok(vec![worker_command(worker, context, shared, &spec_file, logs.add(&log)?)?]),
        ClientKind::Processes => {
            let mut one = |number: usize| {
                let log = logs.add(&of_process(&log, number))?;
                let mut command = worker_command(worker, context, shared, &spec_file, log)?;
                command.arg("--process").arg(number.to_string());
                Ok(command)
            };
            (0..key.processes() as usize).map(&mut one).collect()
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

fn worker_command(
    worker: &[OsString],
    context: &TrialContext<'_>,
    shared: &SharedMemory,
    spec: &Path,
    log: PipeWriter,
) -> io::Result<WorkerCommand> {
    let (program, arguments) = worker.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = WorkerCommand::new(program)?;
    command.args(arguments).arg(spec).current_dir(context.folder.join(WORK));
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    padding::pad(&mut command, &context.planned.key, context.planned.workload.parameters.seed);
    context.environment.placement.set_on(&mut command);
    inherit(&mut command, [shared.fd(), context.ledger.fd()]);
    Ok(command)
}

/// Lets the process that `command` starts have these descriptors, under the same numbers.
pub(crate) fn inherit(command: &mut WorkerCommand, descriptors: [RawFd; 2]) {
    // SAFETY: the hook makes one system call for each descriptor, which is allowed between fork and exec.
    unsafe { command.pre_exec(move || descriptors.into_iter().try_for_each(keep_across_exec)) };
}

fn keep_across_exec(fd: RawFd) -> io::Result<()> {
    // SAFETY: the parent keeps the segment open until the worker has ended.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    Ok(fcntl_setfd(fd, FdFlags::empty())?)
}

fn space(context: &TrialContext<'_>, peak_kib: u64) -> io::Result<Space> {
    let db_kib = taken_kib(context)?;
    let apparent = (!is_device(&context.database)).then(|| apparent_bytes(&context.database)).transpose()?;
    let whole = Space { db_kib, db_peak_kib: peak_kib.max(db_kib), apparent_bytes: apparent, ..Space::default() };
    match is_device(&context.database) {
        true => Ok(whole),
        false => by_kind(context, whole),
    }
}

/// Tells log files apart, if the adapter names them, and what was set aside.
fn by_kind(context: &TrialContext<'_>, whole: Space) -> io::Result<Space> {
    let named = context.setup.log_files(&context.planned.key);
    let names = named.map(FileNames::parse).unwrap_or_default();
    let kinds = kinds_kib(&context.database, &names)?;
    Ok(Space { log_kib: named.map(|_| kinds.log), preallocated_kib: kinds.preallocated, ..whole })
}
