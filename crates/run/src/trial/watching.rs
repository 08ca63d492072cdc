//! Looking at a worker, of one process or of several, until it ends, and ending it if it hangs or fills the storage, or
//! if one of several processes ended before its time.

use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use kvdyno_environment::interference::InterferenceMonitor;
use kvdyno_environment::memory::ControlGroup;
use kvdyno_environment::process::Exit;
use kvdyno_environment::profiler::Profiler;
use kvdyno_environment::storage::free_bytes;
use kvdyno_environment::worker_processes::{Account, WorkerProcesses};
use kvdyno_results::{ClientKind, Interference, Phase, ResourcePoint, SeriesPoint};
use kvdyno_worker::shared::{ClientStats, SharedMemory, WorkerState};
use kvdyno_worker::workloads::TrialEnd;
use kvdyno_worker::{Observer, Snapshot, TrialClock};

use super::bounds::Bounds;
use super::context::{TrialContext, taken_kib};
use super::lab_cpu::LabCpu;
use super::lab_error::{Attempt, LabError};
use super::pauses::{Clocks, Pauses};
use super::resources::ResourceLog;
use super::slice_cpu::SliceCpu;
use super::standing::Standing;
use crate::progress::{Live, SoFar};
use kvdyno_model::TimeSpan;

/// Between two looks at the worker.
pub(super) const TICK: Duration = Duration::from_millis(100);
/// Between two looks at whether a slice is over, where it does not tell.
pub(super) const SLICE_TICK: Duration = Duration::from_millis(10);
/// The time that a worker has to answer how far the engine's counters are.
const ANSWER: Duration = Duration::from_millis(50);
/// The time that an interrupted worker has to close its database.
const GRACE: Duration = Duration::from_secs(10);

/// The parent's reason to end a worker.
pub(super) enum Termination {
    Hung(WorkerState, Duration),
    /// By the parent's own clock, so long after what it was at had to be over.
    Overdue(WorkerState, Duration),
    /// Why what lies in shared memory cannot be true.
    Implausible(String),
    /// The lab could not watch it any more.
    Lab(LabError),
    TooLong(TimeSpan<1>),
    NoSpace(u64),
}

/// The process that did not end in order, and so ended the trial.
pub(super) struct Culprit {
    pub(super) number: usize,
    pub(super) exit: Exit,
}

/// The observations of a trial from its start to its end.
pub(super) struct Watched {
    pub(super) account: Account,
    pub(super) termination: Option<Termination>,
    pub(super) culprit: Option<Culprit>,
    /// The worker's state when the trial ended, or a culprit ended it.
    pub(super) last_state: WorkerState,
    pub(super) series: Vec<SeriesPoint>,
    pub(super) resources: Vec<ResourcePoint>,
    pub(super) db_peak_kib: u64,
    /// The CPU time of its slices; absent if it has none, and where no group that can be frozen counts it.
    pub(super) cpu: Option<SliceCpu>,
    /// The most that was not on the storage yet after a slice, KiB.
    pub(super) dirty_kib: Option<u64>,
    /// The part that was not on the storage yet when the measured part had ended, KiB; absent in slices.
    pub(super) dirty_at_end_kib: Option<u64>,
    pub(super) interference: Vec<Interference>,
    /// The lab's own CPU time in the measured part, seconds.
    pub(super) lab_cpu_s: f64,
    /// Present where a profile was asked for and the measured part was reached.
    pub(super) profiler: Option<io::Result<Profiler>>,
}

/// Looks at a worker until it ends.
pub(super) struct Watching<'a> {
    pub(super) context: &'a TrialContext<'a>,
    shared: &'a SharedMemory,
    clock: &'a TrialClock,
    pub(super) observer: Observer<'a>,
    pub(super) processes: WorkerProcesses,
    culprit: Option<(Culprit, WorkerState)>,
    monitor: InterferenceMonitor,
    /// Processes of the trials that its design runs beside it: they are no interference.
    beside: Vec<u32>,
    pub(super) bounds: &'a mut Bounds,
    pub(super) begun: Instant,
    /// The state of the worker, which only goes forward, and since when that is seen.
    pub(super) state: (WorkerState, Instant),
    /// Operations so far, at the last look.
    pub(super) counted: u64,
    /// Operations at the last change, and when that was.
    pub(super) last_change: (u64, Instant),
    pub(super) pauses: Pauses,
    pub(super) lab_cpu: LabCpu,
    /// The counted time of its slices before the one under way, seconds.
    pub(super) counted_before_s: f64,
    interval: Duration,
    last_row: (Snapshot, Instant),
    second: Instant,
    rates: (f64, f64),
    /// The counters at the first look into the measured part.
    first_look: Snapshot,
    so_far: Option<SoFar>,
    /// The part of its slices that it had, with those beside it; absent if it has none.
    slices_done: Option<f64>,
    series: Vec<SeriesPoint>,
    resources: ResourceLog,
    db_peak_kib: u64,
    pub(super) dirty_at_end_kib: Option<u64>,
    pub(super) interrupted: Option<Instant>,
    told_at_work: bool,
    /// The lab's own reason to end it.
    pub(super) termination: Option<Termination>,
    /// Present once it has ended.
    pub(super) account: Option<Account>,
    /// Present if it works in slices.
    pub(super) standing: Option<Standing>,
    /// Samples its measured part.
    pub(super) profiler: Option<io::Result<Profiler>>,
}

impl<'a> Watching<'a> {
    pub(super) fn new(
        context: &'a TrialContext<'a>,
        shared: &'a SharedMemory,
        clock: &'a TrialClock,
        processes: WorkerProcesses,
        bounds: &'a mut Bounds,
    ) -> Self {
        let now = Instant::now();
        // Some twenty rows for a short trial, one a second for a long one.
        let interval = context.planned.planned_time().map_or(Duration::from_secs(1), |time| time / 20);
        Watching {
            context,
            shared,
            clock,
            observer: Observer::new(shared),
            processes,
            culprit: None,
            monitor: if context.environment.memory.is_some() {
                InterferenceMonitor::new().of_limited()
            } else {
                InterferenceMonitor::new()
            },
            beside: Vec::new(),
            bounds,
            begun: now,
            state: (WorkerState::Starting, now),
            counted: 0,
            last_change: (0, now),
            pauses: Pauses::new(Clocks::now()),
            lab_cpu: LabCpu::default(),
            counted_before_s: 0.0,
            interval: interval.clamp(Duration::from_millis(100), Duration::from_secs(1)),
            last_row: (Snapshot::default(), now),
            second: now,
            rates: (0.0, 0.0),
            first_look: Snapshot::default(),
            so_far: None,
            slices_done: None,
            series: Vec::new(),
            resources: ResourceLog::of(&context.database),
            db_peak_kib: 0,
            dirty_at_end_kib: None,
            interrupted: None,
            told_at_work: false,
            termination: None,
            account: None,
            standing: None,
            profiler: None,
        }
    }

    /// Its processes.
    pub(super) fn pids(&self) -> Vec<u32> {
        self.processes.pids()
    }

    /// Sets the processes of the trials beside this one.
    pub(super) fn is_beside(&mut self, processes: Vec<u32>) {
        self.beside = processes;
    }

    /// Makes this a trial in slices, which stands still before the first.
    pub(super) fn in_slices(self) -> Self {
        let cpu = self.bounds.freezer().and_then(ControlGroup::cpu_account).map(SliceCpu::new);
        Watching { standing: Some(Standing::new(cpu)), ..self }
    }

    /// Sets the fraction of the slices that is done.
    pub(super) fn set_slices_done(&mut self, done: f64) {
        self.slices_done = Some(done);
    }

    /// Watches it for `time`, or until something happens. Returns whether it has ended.
    pub(super) fn step(&mut self, time: Duration, live: &mut dyn FnMut(&Live)) -> bool {
        if self.account.is_some() {
            return true;
        }
        let waited = self.processes.wait_event(time.min(self.interval));
        self.look_at_clocks();
        let waited = waited.and_then(|()| self.reap());
        if let Err(cause) = waited {
            // Processes that cannot be waited for have no account; their handles end them.
            self.termination.get_or_insert(Termination::Lab(LabError::new("watch the worker", cause)));
            self.account = Some(Account::default());
            return true;
        }
        self.account = self.processes.account();
        if self.account.is_some() {
            return true;
        }
        let ending = self.look().unwrap_or_else(|error| Some(Termination::Lab(error)));
        if let Some(ending) = ending {
            self.terminate(ending);
        }
        live(&self.live());
        false
    }

    /// The observations, once it has ended. `None` if the user interrupted.
    pub(super) fn finish(mut self) -> Option<Watched> {
        if self.standing.is_none() {
            self.row();
        }
        if self.dirty_at_end_kib.is_none() {
            self.note_dirty_at_end();
        }
        if self.interrupted.is_some() {
            return None;
        }
        let last_state = self.culprit.as_ref().map_or(self.observer.control().state(), |(_, state)| *state);
        let (cpu, dirty_kib) = self.standing.map(|standing| (standing.cpu, standing.dirty_kib)).unwrap_or_default();
        Some(Watched {
            account: self.account.unwrap_or_default(),
            termination: self.termination,
            culprit: self.culprit.map(|(culprit, _)| culprit),
            last_state,
            series: self.series,
            resources: self.resources.points,
            db_peak_kib: self.db_peak_kib,
            cpu,
            dirty_kib,
            dirty_at_end_kib: self.dirty_at_end_kib,
            interference: self.pauses.interference().chain(self.monitor.finish()).collect(),
            lab_cpu_s: self.lab_cpu.seconds(),
            profiler: self.profiler,
        })
    }

    /// Ends the worker for the lab's own reason; the first one counts.
    pub(super) fn terminate(&mut self, reason: Termination) {
        if self.termination.is_none() {
            self.termination = Some(reason);
            self.kill();
        }
    }

    /// Looks at everything once. Gives back why the worker must be ended.
    fn look(&mut self) -> Result<Option<Termination>, LabError> {
        if self.standing.is_none() && self.last_row.1.elapsed() >= self.interval {
            self.row();
        }
        self.heed_interruption();
        self.tell_at_work()?;
        Ok(match self.out_of_time() {
            Some(termination) => Some(termination),
            None => self.out_of_bounds()?,
        })
    }

    /// Ends the worker; the next steps tell of it.
    fn kill(&self) {
        // If it cannot be told, its processes are ended with their handles.
        let _ = self.processes.kill();
    }

    /// Takes note of processes that have ended. If one did so before it was through, the others are ended too.
    fn reap(&mut self) -> io::Result<()> {
        for (number, exit) in self.processes.reap()? {
            let orderly = exit == Exit::Code(0) && self.client_stats(number).iter().all(ClientStats::is_through);
            if !orderly && self.culprit.is_none() {
                if self.termination.is_none() && self.context.stop.comes_with(&exit) {
                    self.interrupted.get_or_insert_with(Instant::now);
                }
                self.culprit = Some((Culprit { number, exit }, self.observer.control().state()));
                self.kill();
            }
        }
        Ok(())
    }

    /// The client_stats of a process.
    fn client_stats(&self, number: usize) -> &[ClientStats] {
        match self.context.planned.key.clients {
            ClientKind::Threads => self.shared.client_stats(),
            ClientKind::Processes => &self.shared.client_stats()[number..=number],
        }
    }

    /// Whether the worker's counters cannot be true, or it fills the storage.
    fn out_of_bounds(&mut self) -> Result<Option<Termination>, LabError> {
        let (context, database) = (self.context, &self.context.database);
        if self.second.elapsed() >= Duration::from_secs(1) {
            self.second = Instant::now();
            // What samples it is the lab's own.
            let profiler = self.profiler.iter().flatten().map(Profiler::pid);
            let own: Vec<u32> = self.processes.pids().into_iter().chain(self.beside.iter().copied()).collect();
            self.monitor.sample(&own.into_iter().chain(profiler).collect::<Vec<_>>());
            self.db_peak_kib = self.db_peak_kib.max(taken_kib(context).on("look at the database", database)?);
            self.bounds.look();
            let workload = &context.planned.workload;
            let implausible = self.observer.implausible(workload, self.clock, context.contents, false);
            if let Some(reason) = implausible {
                return Ok(Some(Termination::Implausible(reason)));
            }
        }
        // A fast disk fills in a second: this look is cheap, so it is taken each time.
        let free = free_bytes(database).on("look at the storage of", database)?;
        Ok((free < context.lab.min_free.0).then_some(Termination::NoSpace(free)))
    }

    fn tell_at_work(&mut self) -> Result<(), LabError> {
        if self.told_at_work || self.observer.control().state() < WorkerState::Measuring {
            return Ok(());
        }
        self.told_at_work = true;
        self.begin_profile();
        (self.context.at_work)().map_err(|cause| LabError::new("note that the load has begun", cause))
    }

    fn begin_profile(&mut self) {
        let (context, key) = (self.context, &self.context.planned.key);
        if context.lab.profile && key.phase == Phase::Run {
            let seconds = context.planned.planned_time().unwrap_or_default().as_secs_f64();
            let work = (key.readers + key.writers, seconds);
            self.profiler = Some(Profiler::start(&self.processes.pids(), work));
        }
    }

    fn heed_interruption(&mut self) {
        match self.interrupted {
            None if self.context.stop.is_requested() => {
                self.observer.request_stop();
                self.observer.control().slices.finish();
                self.let_go();
                self.interrupted = Some(Instant::now());
            }
            Some(since) if since.elapsed() > GRACE || self.context.stop.is_urgent() => self.kill(),
            _ => {}
        }
    }

    /// Ends an interval of the time series: in slices, the counted time of those since the last.
    pub(super) fn row(&mut self) {
        let control = self.observer.control();
        let from = control.measured_from.load(Ordering::Relaxed);
        let earliest = if self.standing.is_some() { WorkerState::Warming } else { WorkerState::Measuring };
        if from == 0 || control.state() < earliest {
            return;
        }
        let now = Instant::now();
        let snapshot = self.observer.measured();
        let first = self.last_row.0.kinds.is_empty();
        if first {
            // The first interval begins with the measured part, which began between two looks.
            self.first_look = snapshot.clone();
            self.last_row = (snapshot, now);
            self.resources.begin(|| control.engine_counters.request(ANSWER));
            if self.standing.is_none() {
                self.lab_cpu.begin();
            }
            return;
        }
        let end_before_s = self.series.last().map_or(0.0, |row| row.end_s);
        let seconds = match self.standing {
            None => (now - self.last_row.1).as_secs_f64(),
            Some(_) => (self.observer.counted_s() - end_before_s).max(0.0),
        };
        let end_s = end_before_s + seconds;
        let rows = snapshot.rows_since(&self.last_row.0, end_s, seconds, control.ticks_per_ns());
        let rate = |write: bool| {
            let of_kind = |row: &&SeriesPoint| row.kind.writes() == write;
            rows.iter().filter(of_kind).map(|row| row.records_per_s).fold(0.0, |sum, rate| sum + rate)
        };
        self.rates = (rate(false), rate(true));
        // After the measured part nothing is counted any more, and a row of zeros would be none of it.
        if control.state() == WorkerState::Measuring {
            if self.standing.is_none() {
                self.lab_cpu.look();
            }
            self.series.extend(rows);
            let is_alone = self.standing.is_none() && self.beside.is_empty();
            let seen = (self.processes.resident_kib(), || control.engine_counters.request(ANSWER));
            self.resources.look((end_s, seconds), seen, is_alone);
            let all = snapshot.rows_since(&self.first_look, end_s, end_s, control.ticks_per_ns());
            self.so_far = Some(SoFar::of(&all));
        }
        self.last_row = (snapshot, now);
    }

    fn live(&self) -> Live {
        let workload = &self.context.planned.workload;
        let parameters = &workload.parameters;
        let measured = self.observer.measured();
        let writes = measured.kinds.iter().filter(|kind| kind.kind.writes());
        let written: u64 = writes.map(|kind| kind.records).sum();
        let in_slices = self.standing.is_some();
        let fraction = match (self.context.planned.key.phase, parameters.end) {
            (Phase::Load, _) => Some(written as f64 / workload.records_stored() as f64),
            // It stands still most of the time, while others have theirs.
            (Phase::Run, TrialEnd::After(_)) if in_slices => self.slices_done,
            (Phase::Run, TrialEnd::After(duration)) => {
                Some(self.begun.elapsed().as_secs_f64() / (parameters.warmup + duration).as_secs_f64())
            }
            (Phase::Run, TrialEnd::Operations(operations)) => {
                let ordered = operations as f64 * f64::from(parameters.primary_clients().max(1));
                Some(measured.operations() as f64 / ordered)
            }
        };
        Live {
            trial: self.context.planned.key.clone(),
            elapsed: self.begun.elapsed(),
            state: self.observer.control().state().word(),
            reads_per_s: self.rates.0,
            writes_per_s: self.rates.1,
            so_far: self.so_far,
            fraction: fraction.map(|part| part.clamp(0.0, 1.0)),
            left: None,
        }
    }
}
