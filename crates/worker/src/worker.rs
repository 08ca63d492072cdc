//! The measured process, or each of several.

use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use kvdyno_engine::{AbiCode, Adapter, AdapterError, Choice, ChoiceError, Database, EngineError, Hints, Probe, abi};
use kvdyno_environment::costs::{own_calls, own_peak_kib};
use kvdyno_environment::observed;
use kvdyno_environment::outside::{anonymous_kib, kept_outside};
use kvdyno_environment::storage::DeviceCounters;
use kvdyno_environment::syncs::SyncCounters;
use kvdyno_model::Durability;
use kvdyno_results::{
    ACCOUNTED_BLOCK, CallBytes, ClientKind, Failure, FailureKind, ObservedEnvironment, Setting, Settling, Window, files,
};

use crate::afterwards::Afterwards;
use crate::clock::{self, Calibration, Monotonic, Tsc};
use crate::shared::{ClientStats, LedgerMemory, SharedMemory, WorkerState};
use crate::spec::{DestroySpec, DriverCheck, TrialSpec, WorkerReport, of_process};
use crate::trial::{Measured, NotRun, Trial, failed};
use crate::workloads::WorkloadSpec;
use crate::workloads::role::RoleClock;

/// Why a worker could not even begin.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The parent did not hand over what it should.
    #[error("the worker was not started as it should be: {0}")]
    Start(#[from] io::Error),
    /// The specification is not one.
    #[error("the trial's specification cannot be read: {0}")]
    Spec(#[from] serde_json::Error),
    /// The engine could not release what it keeps outside the folder.
    #[error("{0}")]
    Destroy(String),
}

/// Runs the trial that is specified in the file `spec`, or, if readers and writers are processes, the part with this
/// process's number; and leaves a [`WorkerReport`].
///
/// # Errors
/// If it cannot even begin. Later failures are in the report.
pub fn run(spec: &Path, process: Option<usize>) -> Result<(), WorkerError> {
    let mut spec: TrialSpec = serde_json::from_slice(&std::fs::read(spec)?)?;
    let client_stats = spec.workload.roles().len();
    if process.is_some() != (spec.clients == ClientKind::Processes)
        || process.is_some_and(|number| number >= client_stats)
    {
        return Err(
            io::Error::new(io::ErrorKind::InvalidInput, format!("process {process:?} of {client_stats}")).into()
        );
    }
    // SAFETY: the parent made both for this worker, and nothing else here uses these numbers.
    let (shared, ledger) =
        unsafe { (SharedMemory::inherit(spec.shared_fd, client_stats)?, LedgerMemory::inherit(spec.ledger_fd)?) };
    spec.workload.parameters.data.value_seed = shared.control().value_seed();
    match clock::has_invariant_tsc() {
        true => Trial { clock: Tsc, spec: &spec, shared: &shared, ledger: &ledger, process }.run(),
        false => Trial { clock: Monotonic, spec: &spec, shared: &shared, ledger: &ledger, process }.run(),
    }
}

impl<C: RoleClock> Trial<'_, C> {
    fn run(&self) -> Result<(), WorkerError> {
        let mut report = WorkerReport {
            failure: None,
            version: String::new(),
            engine_file: None,
            window: None,
            group_cpu_s: None,
            statistics: Vec::new(),
            state: ObservedEnvironment::default(),
            audit: None,
            calls: None,
            syncs: None,
            peak_rss_kib: None,
        };
        let ended = self.measure(&mut report);
        if ended.is_err() {
            self.abort();
        }
        if !self.leads() {
            self.control().barriers.left.arrive(self.spec.processes() - 1);
        }
        report.failure = ended.err().and_then(|not_run| match not_run {
            NotRun::Failed(failure) => Some(failure),
            NotRun::Aborted => None,
        });
        report.peak_rss_kib = own_peak_kib();
        let file =
            self.process.map_or_else(|| self.spec.report.clone(), |number| of_process(&self.spec.report, number));
        files::write_json(&file, &report)?;
        self.client_stats().iter().for_each(ClientStats::set_through);
        if self.leads() {
            self.control().enter(WorkerState::Done);
        }
        Ok(())
    }

    fn measure(&self, report: &mut WorkerReport) -> Result<(), NotRun> {
        let control = self.control();
        let calibration = Calibration::begin(self.clock);
        if self.leads() {
            control.set_ticks_per_ns(calibration.settle());
        }
        let memory_before = anonymous_kib();
        let syncs = self.needs_syncs_counted().then(|| SyncCounters::begin(&self.spec.database)).flatten();
        let choice = choose(self.spec)?;
        if let Probe::Available { version } = choice.adapter().probe(choice.library()) {
            report.version = version;
        }
        let calls_before = own_calls();
        let database = self.open(&choice)?;
        report.engine_file = Some(choice.adapter().engine_file());
        let filled = match self.spec.fills_cache {
            true => self.fill_cache(&database).inspect_err(|_| self.abort()),
            false => Ok(()),
        };
        let measured = filled.and_then(|()| match self.process {
            None => self.run_on_threads(&database),
            Some(number) => self.run_as_process(&database, number),
        });
        let mut afterwards = Afterwards::since(self.since_work());
        report.syncs = syncs.and_then(|syncs| syncs.count(&self.spec.database));
        let settled = match measured {
            Ok(_) if self.leads() && self.spec.settle => self.settle(&database).map(Some),
            _ => Ok(None),
        };
        if self.leads() {
            control.enter(WorkerState::Finishing);
            control.set_ticks_per_ns(calibration.ticks_per_ns());
            let entry = |(topic, name, value)| Setting { topic, name, value };
            report.statistics = afterwards.timed(|| database.statistics()).into_iter().map(entry).collect();
        }
        // All readers and writers are through with what is measured, and the engine still has its memory.
        let observing = own_calls();
        report.state = afterwards.without(|| self.observe(memory_before));
        let observed = since(observing, own_calls());
        if self.leads() && measured.is_ok() && settled.is_ok() {
            control.enter(WorkerState::Auditing);
            report.audit = afterwards.without(|| self.audit(&choice, &database))?;
            afterwards.add(report.audit.as_ref().map_or(Duration::ZERO, |audit| audit.opening));
        }
        if self.leads() {
            control.enter(WorkerState::Closing);
        }
        report.window =
            measured.as_ref().ok().map(|measured| self.window(measured, settled.as_ref().ok().copied().flatten()));
        report.group_cpu_s = measured.as_ref().ok().and_then(|measured| measured.group_cpu_s);
        let closed = self.close(database, &mut afterwards);
        if let Some(window) = &mut report.window {
            window.closing = closed.is_ok().then(|| afterwards.end());
        }
        // The reads that observe the environment are no calls of the engine's.
        report.calls = since(calls_before, own_calls()).zip(observed).map(|(all, observed)| all.since(observed));
        measured?;
        settled?;
        Ok(closed?)
    }

    /// Whether some of what it writes is to be durable when it is acknowledged, and the device's flushes do not tell:
    /// in slices they are those of all. Counting costs a little at each context switch.
    fn needs_syncs_counted(&self) -> bool {
        let spec = self.spec;
        let of_sessions = spec.workload.parameters.session_durabilities();
        let promises = spec.lab.durability == Durability::Commit || of_sessions & 1 << Durability::Commit.code() != 0;
        let flushes = || DeviceCounters::read(&spec.database)?.flushes();
        promises && (spec.slices.is_some() || flushes().is_none())
    }

    /// The first process opens the database, creating or recovering it, before the others do.
    fn open(&self, choice: &Choice) -> Result<Database, NotRun> {
        let (spec, barriers) = (self.spec, &self.control().barriers);
        if self.leads() {
            self.control().enter(WorkerState::Opening);
        } else if !barriers.opened.wait_for(1) {
            return Err(NotRun::Aborted);
        }
        let hints = hints(&spec.workload, spec.clients);
        let database = Database::open(choice, &spec.lab, &hints, &spec.database, spec.create && self.leads())
            .map_err(|error| failed("opening the database", &error))?;
        if self.leads() {
            barriers.opened.arrive(1);
        }
        Ok(database)
    }

    /// Time since the last operation: the clients' sessions have ended meanwhile. None in slices, whose trials wait for
    /// each other.
    fn since_work(&self) -> Duration {
        let ended = self.shared.client_stats().iter().map(ClientStats::measured_until).max().unwrap_or(0);
        match self.spec.slices {
            None if ended > 0 => {
                let ns = self.clock.now().saturating_sub(ended) as f64 / self.control().ticks_per_ns();
                Duration::from_nanos(ns as u64)
            }
            _ => Duration::ZERO,
        }
    }

    /// The environment of this process. `memory_before`: of [`anonymous_kib`], before the engine had any.
    fn observe(&self, memory_before: Option<u64>) -> ObservedEnvironment {
        let own = [self.shared.fd(), self.ledger.fd()];
        let outside = memory_before.and_then(|before| kept_outside(&self.spec.database, &own, before));
        ObservedEnvironment { outside, ..observed::around_this_process() }
    }

    /// The first process closes the database after the others did.
    fn close(&self, database: Database, afterwards: &mut Afterwards) -> Result<(), Failure> {
        if self.leads() {
            // That barrier is never aborted: a process that does not come to it has crashed, and the parent ends us.
            let _ = self.control().barriers.left.wait_for(self.spec.processes() - 1);
        }
        afterwards.timed(|| database.close()).map_err(|error| failed("closing the database", &error))
    }

    /// Brings what was written to the storage and the engine's background work to its end, as far as the engine has
    /// calls for that.
    fn settle(&self, database: &Database) -> Result<Settling, Failure> {
        self.control().enter(WorkerState::Settling);
        let begun = Instant::now();
        // A call that the engine does not support in this setup counts as a call that it does not have.
        let done = |what: &str, call: Result<bool, EngineError>| match call {
            Err(error) if error.status == abi::UNSUPPORTED => Ok(false),
            other => other.map_err(|error| failed(what, &error)),
        };
        let flushed = done("flushing", database.flush())?;
        let waited = done("waiting for background work", database.wait_idle())?;
        Ok(Settling { seconds: begun.elapsed().as_secs_f64(), flushed, waited })
    }

    fn window(&self, measured: &Measured, settling: Option<Settling>) -> Window {
        let ticks_per_ns = self.control().ticks_per_ns();
        let from = self.control().measured_from.load(Ordering::Relaxed);
        let clients = self.shared.client_stats();
        let seconds = match self.spec.slices {
            None => {
                let until = clients.iter().map(ClientStats::measured_until).max().unwrap_or(from);
                until.saturating_sub(from) as f64 / ticks_per_ns / 1e9
            }
            // The pauses between slices do not count.
            Some(_) => {
                let counted = clients.iter().map(|stats| stats.slices.counted_ns.load(Ordering::Relaxed));
                counted.max().unwrap_or(0) as f64 / 1e9
            }
        };
        Window {
            seconds,
            warmup_seconds: measured.warmup_seconds,
            user_s: measured.used.user_s,
            sys_s: measured.used.sys_s,
            ctx_switches: Some(measured.used.ctx_switches),
            read_bytes: Some(measured.used.inputs.saturating_mul(ACCOUNTED_BLOCK)),
            waits: measured.waits,
            clock: clock::describe(ticks_per_ns),
            counters: measured.counters,
            settling,
            closing: None,
        }
    }
}

fn since(before: Option<CallBytes>, now: Option<CallBytes>) -> Option<CallBytes> {
    before.zip(now).map(|(before, now)| now.since(before))
}

/// The facts of a workload that an engine gets to know beforehand.
pub fn hints(workload: &WorkloadSpec, clients: ClientKind) -> Hints {
    let (roles, data) = (workload.roles().len() as u32, &workload.parameters.data);
    Hints {
        records: workload.records_stored(),
        key_size: data.key_size,
        value_size: data.value_size,
        largest_value: data.largest_value(),
        prefix_size: data.prefix_size.unwrap_or(0),
        sessions: clients.sessions(roles),
        processes: clients.processes(roles),
        session_durabilities: workload.parameters.session_durabilities(),
    }
}

pub(crate) fn choose(spec: &TrialSpec) -> Result<Choice, Failure> {
    let failure = |reason: String| Failure { kind: FailureKind::EngineError, reason };
    let adapter = Adapter::load(&spec.adapter).map_err(|error: AdapterError| failure(error.to_string()))?;
    Choice::new(adapter, spec.preset.as_deref(), &spec.options, spec.library.clone())
        .map_err(|error: ChoiceError| failure(error.to_string()))
}

/// Makes the engine that `spec`, the text of a [`DestroySpec`], names release what it keeps outside its database's
/// folder.
///
/// # Errors
/// The error that the engine reports.
pub fn destroy(spec: &str) -> Result<(), WorkerError> {
    let spec: DestroySpec = serde_json::from_str(spec)?;
    let failure = |error: &dyn ToString| WorkerError::Destroy(error.to_string());
    let adapter = Adapter::load(&spec.adapter).map_err(|error| failure(&error))?;
    let choice = Choice::new(adapter, None, &[], spec.library).map_err(|error| failure(&error))?;
    choice.destroy(&spec.database).map_err(|error| failure(&error))
}

/// Runs `workload` on `threads`, in this process, against the engine of `choice`, for what the driver itself costs.
///
/// # Errors
/// The error that the engine reports; the null engine reports none.
pub fn driver_check(choice: &Choice, spec: &TrialSpec) -> Result<DriverCheck, Failure> {
    let failure = |error: io::Error| Failure { kind: FailureKind::EngineError, reason: error.to_string() };
    let shared = SharedMemory::create(spec.workload.roles().len()).map_err(failure)?;
    let ledger = LedgerMemory::create(spec.workload.deletable()).map_err(failure)?;
    spec.workload.prepare(&ledger, &spec.contents);
    let hints = hints(&spec.workload, ClientKind::Threads);
    let database = Database::open(choice, &spec.lab, &hints, &spec.database, spec.create)
        .map_err(|error| failed("opening the database", &error))?;
    match clock::has_invariant_tsc() {
        true => check(Trial { clock: Tsc, spec, shared: &shared, ledger: &ledger, process: None }, &database),
        false => check(Trial { clock: Monotonic, spec, shared: &shared, ledger: &ledger, process: None }, &database),
    }
}

fn check<C: RoleClock>(trial: Trial<'_, C>, database: &Database) -> Result<DriverCheck, Failure> {
    let rate = Calibration::begin(trial.clock).settle();
    trial.control().set_ticks_per_ns(rate);
    let cpu_before = clock::process_cpu_ns();
    if let Err(NotRun::Failed(failure)) = trial.run_on_threads(database) {
        return Err(failure);
    }
    let cpu = clock::process_cpu_ns().saturating_sub(cpu_before);
    let mut counts = vec![0; crate::histogram::BUCKETS];
    let mut ticks = 0;
    for stats in trial.shared.client_stats() {
        stats.measured.iter().for_each(|ops| ops.latency.add_to(&mut counts));
        ticks += stats.measured_until().saturating_sub(stats.measured[0].from.load(Ordering::Relaxed));
    }
    let operations: u64 = counts.iter().sum();
    let failures = crate::Observer::new(trial.shared).answers().failures();
    let of_one = |ns: f64| ns / operations.max(1) as f64;
    Ok(DriverCheck { operations, failures, ns: of_one(ticks as f64 / rate), cpu_ns: of_one(cpu as f64) })
}
