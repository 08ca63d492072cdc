//! What happens inside the measured process.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Barrier, Mutex};
use std::time::Duration;
use std::{io, mem, thread};

use kvdyno_engine::{Adapter, AdapterError, Choice, ChoiceError, Database, EngineError, Hints, Probe};
use kvdyno_record::{Failure, FailureKind, Setting, Window, files};
use kvdyno_workload::{Data, End, Keys, Ledger, Role, Values, Watch, Workload};

use crate::clock::{self, Calibration, Clock, Monotonic, Tsc};
use crate::loops::{self, Driver, Limit};
use crate::recall::RecallContext;
use crate::shared::{Board, Control, Lane, LedgerMemory, Stage};
use crate::spec::{DriverCheck, TrialSpec, WorkerReport};

/// Why a worker could not even begin.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// What the parent handed over is not what it should be.
    #[error("the worker was not started as it should be: {0}")]
    Start(#[from] io::Error),
    /// The specification is not one.
    #[error("the trial's specification cannot be read: {0}")]
    Spec(#[from] serde_json::Error),
}

/// Runs the trial that is specified in the file `spec`, and leaves a [`WorkerReport`].
///
/// # Errors
/// If it cannot even begin. What goes wrong later is in the report.
pub fn run(spec: &Path) -> Result<(), WorkerError> {
    let spec: TrialSpec = serde_json::from_slice(&std::fs::read(spec)?)?;
    let lanes = spec.workload.roles().len();
    // SAFETY: the parent made both for this worker, and nothing else here uses these numbers.
    let (board, ledger) = unsafe { (Board::inherit(spec.board_fd, lanes)?, LedgerMemory::inherit(spec.ledger_fd)?) };
    let report = match clock::has_invariant_tsc() {
        true => Trial { clock: Tsc, spec: &spec, board: &board, ledger: &ledger }.run(),
        false => Trial { clock: Monotonic, spec: &spec, board: &board, ledger: &ledger }.run(),
    };
    files::write_json(&spec.report, &report)?;
    board.control().enter(Stage::Done);
    Ok(())
}

struct Trial<'a, C> {
    clock: C,
    spec: &'a TrialSpec,
    board: &'a Board,
    ledger: &'a LedgerMemory,
}

/// What threads leave beside their lanes.
#[derive(Debug, Default)]
struct Measured {
    warmup_seconds: f64,
    user_s: f64,
    sys_s: f64,
}

impl<C: Clock + 'static> Trial<'_, C> {
    fn run(&self) -> WorkerReport {
        let mut report = WorkerReport { failure: None, version: String::new(), window: None, statistics: Vec::new() };
        report.failure = self.measure(&mut report).err();
        report
    }

    fn control(&self) -> &Control {
        self.board.control()
    }

    fn measure(&self, report: &mut WorkerReport) -> Result<(), Failure> {
        let control = self.control();
        let calibration = Calibration::begin(self.clock);
        control.set_ticks_per_ns(calibration.settle());
        let choice = choose(self.spec)?;
        if let Probe::Available { version } = choice.adapter().probe(choice.library()) {
            report.version = version;
        }
        control.enter(Stage::Opening);
        let hints = hints(&self.spec.workload);
        let database = Database::open(&choice, &self.spec.lab, &hints, &self.spec.database, self.spec.create)
            .map_err(|error| failed("opening the database", &error))?;
        let measured = self.run_threads(&database);
        control.enter(Stage::Finishing);
        let ticks_per_ns = calibration.ticks_per_ns();
        control.set_ticks_per_ns(ticks_per_ns);
        report.window = measured.as_ref().ok().map(|measured| self.window(measured, ticks_per_ns));
        let entry = |(topic, name, value)| Setting { topic, name, value };
        report.statistics = database.statistics().into_iter().map(entry).collect();
        control.enter(Stage::Closing);
        let closed = database.close().map_err(|error| failed("closing the database", &error));
        measured.and(closed)
    }

    fn window(&self, measured: &Measured, ticks_per_ns: f64) -> Window {
        let from = self.control().measured_from.load(Ordering::Relaxed);
        let until = self.board.lanes().iter().map(|lane| lane.measured.until.load(Ordering::Relaxed)).max();
        Window {
            seconds: until.unwrap_or(from).saturating_sub(from) as f64 / ticks_per_ns / 1e9,
            warmup_seconds: measured.warmup_seconds,
            user_s: measured.user_s,
            sys_s: measured.sys_s,
            clock: clock::describe(ticks_per_ns),
        }
    }

    /// Starts a thread for each role and lets them work: all open their sessions, then all begin at once.
    fn run_threads(&self, database: &Database) -> Result<Measured, Failure> {
        let workload = &self.spec.workload;
        let roles = workload.roles();
        let keys = workload
            .data
            .keys()
            .map_err(|error| Failure { kind: FailureKind::EngineError, reason: error.to_string() })?;
        let values = values_of(&workload.data);
        let ledger = Ledger::new(self.ledger.slots(), Watch::over(workload.data.records));
        let gate = Gate::new(roles.len() + 1);
        let failure = Mutex::new(None);
        let primary = if workload.readers > 0 { workload.readers } else { workload.writers };
        self.control().primary_left.store(primary, Ordering::SeqCst);
        let measured = thread::scope(|scope| {
            for (number, (role, lane)) in roles.iter().zip(self.board.lanes()).enumerate() {
                let (role, keys, values, gate, failure) = (*role, &keys, &values, &gate, &failure);
                scope.spawn(move || {
                    let seat = Seat { number, role, lane, keys, values, ledger };
                    if let Err(error) = self.thread(database, seat, gate) {
                        self.control().ask_to_stop();
                        let mut first = failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                        first.get_or_insert(failed("opening a session", &error));
                    }
                });
            }
            self.conduct(&gate)
        });
        match failure.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            Some(failure) => Err(failure),
            None => Ok(measured),
        }
    }

    /// The main thread's part: sets the times, opens the gate, and takes the CPU time of the measured window.
    fn conduct(&self, gate: &Gate) -> Measured {
        let (control, workload) = (self.control(), &self.spec.workload);
        gate.ready.wait();
        let ticks = |duration: Duration| (duration.as_nanos() as f64 * control.ticks_per_ns()) as u64;
        let warmup = if workload.kind.loads() { Duration::ZERO } else { workload.warmup };
        let begin = self.clock.now();
        let warm_until = begin + ticks(warmup);
        let run_until = match workload.end {
            End::After(duration) if !workload.kind.loads() => warm_until + ticks(duration),
            _ => u64::MAX,
        };
        control.warm_until.store(warm_until, Ordering::SeqCst);
        control.run_until.store(run_until, Ordering::SeqCst);
        control.measured_from.store(warm_until, Ordering::SeqCst);
        if control.is_stop_asked() {
            control.ask_to_stop();
        }
        control.enter(if warmup.is_zero() { Stage::Measuring } else { Stage::Warming });
        gate.go.wait();
        sleep_until(warmup, || control.is_stop_asked());
        control.enter(Stage::Measuring);
        let before = cpu_seconds();
        gate.end.wait();
        let after = cpu_seconds();
        Measured { warmup_seconds: warmup.as_secs_f64(), user_s: after.0 - before.0, sys_s: after.1 - before.1 }
    }

    /// One thread's life.
    fn thread(&self, database: &Database, seat: Seat<'_>, gate: &Gate) -> Result<(), EngineError> {
        let workload = &self.spec.workload;
        let has_updates = workload.writers > 0 || self.spec.last_version > 0;
        let recall =
            RecallContext::new(seat.keys, seat.values, workload.data.records, has_updates.then_some(seat.ledger));
        let host = recall.host();
        seat.lane.kind.store(loops::op_kind(seat.role, workload) as u32, Ordering::Relaxed);
        seat.lane.version.store(self.spec.last_version, Ordering::Relaxed);
        // SAFETY: `recall` and `host` outlive the session, which ends in `work`.
        let session = unsafe { database.session(&host) };
        gate.ready.wait();
        gate.go.wait();
        let result = session.map(|session| {
            let driver = Driver {
                clock: self.clock,
                control: self.control(),
                lane: seat.lane,
                workload,
                keys: seat.keys,
                values: seat.values,
                ledger: seat.ledger,
                recall: &recall,
                session,
                index: seat.index(workload),
            };
            self.work(driver, seat.role);
        });
        gate.end.wait();
        result
    }

    fn work(&self, mut driver: Driver<'_, C>, role: Role) {
        let (control, lane, workload) = (self.control(), driver.lane, driver.workload);
        let mut work = loops::work_of(role, &driver);
        let primary = !role.writes() || workload.readers == 0;
        if !workload.kind.loads() {
            lane.warmup.from.store(self.clock.now(), Ordering::Relaxed);
            let limit = Limit { until: &control.warm_until, operations: u64::MAX };
            if self.clock.now() < control.warm_until.load(Ordering::Relaxed) {
                work.run(&mut driver, &lane.warmup, limit);
            }
        }
        let operations = match workload.end {
            End::Operations(operations) if primary && !workload.kind.loads() => operations,
            _ => u64::MAX,
        };
        let limit = Limit { until: &control.run_until, operations };
        lane.measured.from.store(self.clock.now(), Ordering::Relaxed);
        if !control.is_stop_asked() {
            work.run(&mut driver, &lane.measured, limit);
        }
        if primary && control.primary_left.fetch_sub(1, Ordering::SeqCst) == 1 {
            control.run_until.store(0, Ordering::SeqCst);
        }
    }
}

/// A thread's place.
struct Seat<'a> {
    number: usize,
    role: Role,
    lane: &'a Lane,
    keys: &'a Keys,
    values: &'a Values,
    ledger: Ledger<'a>,
}

impl Seat<'_> {
    /// Which of the readers, or of the writers.
    fn index(&self, workload: &Workload) -> u64 {
        let readers = workload.roles().iter().filter(|role| !role.writes()).count();
        (if self.role.writes() { self.number - readers } else { self.number }) as u64
    }
}

/// Where threads wait for each other.
struct Gate {
    ready: Barrier,
    go: Barrier,
    end: Barrier,
}

impl Gate {
    fn new(threads: usize) -> Gate {
        Gate { ready: Barrier::new(threads), go: Barrier::new(threads), end: Barrier::new(threads) }
    }
}

fn sleep_until(duration: Duration, is_over: impl Fn() -> bool) {
    let step = Duration::from_millis(20);
    let mut left = duration;
    while !left.is_zero() && !is_over() {
        thread::sleep(left.min(step));
        left = left.saturating_sub(step);
    }
}

/// User and system CPU seconds of this process so far.
fn cpu_seconds() -> (f64, f64) {
    let mut usage = mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage fills the struct that it is given; zeroes are valid if it fails.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    (seconds(usage.ru_utime), seconds(usage.ru_stime))
}

/// What an engine gets to know beforehand of a workload.
pub fn hints(workload: &Workload) -> Hints {
    Hints {
        records: workload.data.records,
        key_size: workload.data.key_size,
        value_size: workload.data.value_size,
        prefix_size: workload.data.prefix_size.unwrap_or(0),
        sessions: workload.roles().len() as u32,
        processes: 1,
    }
}

/// The values of an experiment's records.
pub fn values_of(data: &Data) -> Values {
    Values::new(data.value_size, data.compressibility, data.seed)
}

fn choose(spec: &TrialSpec) -> Result<Choice, Failure> {
    let failure = |reason: String| Failure { kind: FailureKind::EngineError, reason };
    let adapter = Adapter::load(&spec.adapter).map_err(|error: AdapterError| failure(error.to_string()))?;
    Choice::new(adapter, spec.preset.as_deref(), &spec.options, spec.library.clone())
        .map_err(|error: ChoiceError| failure(error.to_string()))
}

fn failed(what: &str, error: &EngineError) -> Failure {
    let kind = if error.is_no_space() { FailureKind::NoSpace } else { FailureKind::EngineError };
    Failure { kind, reason: format!("{what}: {}", error.reason) }
}

/// Runs `workload` on `threads`, in this process, against the engine of `choice`, for what the driver itself costs.
///
/// # Errors
/// What the engine reports; for the null engine, nothing.
pub fn driver_check(choice: &Choice, spec: &TrialSpec) -> Result<DriverCheck, Failure> {
    let failure = |error: io::Error| Failure { kind: FailureKind::EngineError, reason: error.to_string() };
    let board = Board::create(spec.workload.roles().len()).map_err(failure)?;
    let ledger = LedgerMemory::create().map_err(failure)?;
    let database = Database::open(choice, &spec.lab, &hints(&spec.workload), &spec.database, spec.create)
        .map_err(|error| failed("opening the database", &error))?;
    match clock::has_invariant_tsc() {
        true => check(Trial { clock: Tsc, spec, board: &board, ledger: &ledger }, &database),
        false => check(Trial { clock: Monotonic, spec, board: &board, ledger: &ledger }, &database),
    }
}

fn check<C: Clock + 'static>(trial: Trial<'_, C>, database: &Database) -> Result<DriverCheck, Failure> {
    let rate = Calibration::begin(trial.clock).settle();
    trial.control().set_ticks_per_ns(rate);
    trial.run_threads(database)?;
    let mut counts = vec![0; crate::histogram::BUCKETS];
    let mut ticks = 0;
    for lane in trial.board.lanes() {
        lane.measured.latency.add_to(&mut counts);
        ticks += lane.measured.until.load(Ordering::Relaxed).saturating_sub(lane.measured.from.load(Ordering::Relaxed));
    }
    let operations: u64 = counts.iter().sum();
    let failures = crate::Observer::new(trial.board).answers().failures();
    Ok(DriverCheck { operations, failures, ns: ticks as f64 / rate / operations.max(1) as f64 })
}
