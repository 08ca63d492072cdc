//! Looking at a worker, of one process or of several, until it ends, and ending it if it hangs or fills the storage, or if
//! one of several processes ended before its time.

use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use kvdyno_environment::interference::InterferenceMonitor;
use kvdyno_environment::process::Exit;
use kvdyno_environment::storage::free_bytes;
use kvdyno_environment::worker_processes::{Account, WorkerProcesses};
use kvdyno_results::{ClientKind, Phase, SeriesPoint};
use kvdyno_worker::shared::{ClientStats, SharedMemory, WorkerState};
use kvdyno_worker::workloads::TrialEnd;
use kvdyno_worker::{Observer, Snapshot};

use super::bounds::Bounds;
use super::context::{TrialContext, taken_kib};
use crate::progress::Live;
use kvdyno_model::TimeSpan;

/// Between two looks at the worker.
const TICK: Duration = Duration::from_millis(100);
/// The time that an interrupted worker has to close its database.
const GRACE: Duration = Duration::from_secs(10);

/// The parent's reason to end a worker.
pub(super) enum Termination {
    Hung(WorkerState, Duration),
    TooLong(TimeSpan<1>),
    NoSpace(u64),
}

/// The process that did not come to its orderly end, and so ended the trial.
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
    pub(super) db_peak_kib: u64,
    pub(super) interference: Vec<String>,
}

/// Looks at a worker until it ends.
pub(super) struct Watching<'a> {
    context: &'a TrialContext<'a>,
    shared: &'a SharedMemory,
    observer: Observer<'a>,
    processes: WorkerProcesses,
    culprit: Option<(Culprit, WorkerState)>,
    monitor: InterferenceMonitor,
    bounds: &'a mut Bounds,
    begun: Instant,
    /// WorkerState and operations at the last change, and when that was.
    last_change: (WorkerState, u64, Instant),
    interval: Duration,
    last_row: (Snapshot, Instant),
    second: Instant,
    rates: (f64, f64),
    series: Vec<SeriesPoint>,
    db_peak_kib: u64,
    interrupted: Option<Instant>,
    told_at_work: bool,
}

impl<'a> Watching<'a> {
    pub(super) fn new(
        context: &'a TrialContext<'a>,
        shared: &'a SharedMemory,
        processes: WorkerProcesses,
        bounds: &'a mut Bounds,
    ) -> Self {
        let now = Instant::now();
        // Some twenty rows for a short trial, one a second for a long one.
        let interval = context.planned.planned_time().map_or(Duration::from_secs(1), |time| time / 20);
        Watching {
            context,
            shared,
            observer: Observer::new(shared),
            processes,
            culprit: None,
            monitor: if context.environment.memory.is_some() {
                InterferenceMonitor::new().of_limited()
            } else {
                InterferenceMonitor::new()
            },
            bounds,
            begun: now,
            last_change: (WorkerState::Starting, 0, now),
            interval: interval.clamp(Duration::from_millis(100), Duration::from_secs(1)),
            last_row: (Snapshot::default(), now),
            second: now,
            rates: (0.0, 0.0),
            series: Vec::new(),
            db_peak_kib: 0,
            interrupted: None,
            told_at_work: false,
        }
    }

    /// `None` if the user interrupted.
    pub(super) fn until_end(mut self, live: &mut dyn FnMut(&Live)) -> io::Result<Option<Watched>> {
        let mut termination = None;
        loop {
            self.processes.wait_event(TICK.min(self.interval))?;
            self.reap()?;
            if let Some(account) = self.processes.account() {
                self.row();
                if self.interrupted.is_some() {
                    return Ok(None);
                }
                let last_state = self.culprit.as_ref().map_or(self.observer.control().state(), |(_, state)| *state);
                return Ok(Some(Watched {
                    account,
                    termination,
                    culprit: self.culprit.map(|(culprit, _)| culprit),
                    last_state,
                    series: self.series,
                    db_peak_kib: self.db_peak_kib,
                    interference: self.monitor.finish(),
                }));
            }
            if self.last_row.1.elapsed() >= self.interval {
                self.row();
            }
            if termination.is_none() {
                termination = self.must_end()?;
                if termination.is_some() {
                    self.processes.kill()?;
                }
            }
            self.heed_interruption()?;
            self.tell_at_work()?;
            live(&self.live());
        }
    }

    /// Takes note of processes that have ended. If one did so before it was through, the others are ended too.
    fn reap(&mut self) -> io::Result<()> {
        for (number, exit) in self.processes.reap()? {
            let orderly = exit == Exit::Code(0) && self.client_stats(number).iter().all(ClientStats::is_through);
            if !orderly && self.culprit.is_none() {
                self.culprit = Some((Culprit { number, exit }, self.observer.control().state()));
                self.processes.kill()?;
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

    /// Whether the worker must be ended.
    fn must_end(&mut self) -> io::Result<Option<Termination>> {
        let now = Instant::now();
        let state = self.observer.control().state();
        let operations = self.observer.warmup().operations() + self.observer.measured().operations();
        if (state, operations) != (self.last_change.0, self.last_change.1) {
            self.last_change = (state, operations, now);
        }
        let limit = match state {
            WorkerState::Opening | WorkerState::Settling | WorkerState::Finishing | WorkerState::Closing => {
                self.context.lab.close_timeout.0
            }
            _ => self.context.lab.hang_timeout.0 + self.context.planned.workload.longest_pause(),
        };
        let still = now - self.last_change.2;
        if still > limit {
            return Ok(Some(Termination::Hung(state, still)));
        }
        if let Some(longest) = self.context.lab.trial_timeout.filter(|longest| now - self.begun > longest.0) {
            return Ok(Some(Termination::TooLong(longest)));
        }
        if now - self.second >= Duration::from_secs(1) {
            self.second = now;
            self.monitor.sample(&self.processes.pids());
            self.db_peak_kib = self.db_peak_kib.max(taken_kib(self.context)?);
            self.bounds.look();
        }
        // A fast disk fills in a second: this look is cheap, so it is taken each time.
        let free = free_bytes(&self.context.database)?;
        Ok((free < self.context.lab.min_free.0).then_some(Termination::NoSpace(free)))
    }

    fn tell_at_work(&mut self) -> io::Result<()> {
        if self.told_at_work || self.observer.control().state() < WorkerState::Measuring {
            return Ok(());
        }
        self.told_at_work = true;
        (self.context.at_work)()
    }

    fn heed_interruption(&mut self) -> io::Result<()> {
        match self.interrupted {
            None if self.context.stop.is_requested() => {
                self.observer.control().request_stop();
                self.interrupted = Some(Instant::now());
            }
            Some(since) if since.elapsed() > GRACE || self.context.stop.is_urgent() => self.processes.kill()?,
            _ => {}
        }
        Ok(())
    }

    /// Ends an interval of the time series.
    fn row(&mut self) {
        let control = self.observer.control();
        let from = control.measured_from.load(Ordering::Relaxed);
        if from == 0 || control.state() < WorkerState::Measuring {
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
            let of_kind = |row: &&SeriesPoint| row.kind.writes() == write;
            rows.iter().filter(of_kind).map(|row| row.records_per_s).sum::<f64>()
        };
        self.rates = (rate(false), rate(true));
        // After the measured part nothing is counted any more, and a row of zeros would be none of it.
        if control.state() == WorkerState::Measuring {
            self.series.extend(rows);
        }
        self.last_row = (snapshot, now);
    }

    fn live(&self) -> Live {
        let workload = &self.context.planned.workload;
        let measured = self.observer.measured();
        let writes = measured.kinds.iter().filter(|kind| kind.kind.writes());
        let written: u64 = writes.map(|kind| kind.records).sum();
        let fraction = match (self.context.planned.key.phase, workload.end) {
            (Phase::Load, _) => Some(written as f64 / workload.records_stored() as f64),
            (Phase::Run, TrialEnd::After(duration)) => {
                Some(self.begun.elapsed().as_secs_f64() / (workload.warmup + duration).as_secs_f64())
            }
            (Phase::Run, TrialEnd::Operations(operations)) => {
                let threads = if workload.readers > 0 { workload.readers } else { workload.writers.max(1) };
                Some(measured.operations() as f64 / (operations as f64 * f64::from(threads)))
            }
        };
        Live {
            elapsed: self.begun.elapsed(),
            state: self.observer.control().state().words(),
            reads_per_s: self.rates.0,
            writes_per_s: self.rates.1,
            fraction: fraction.map(|part| part.clamp(0.0, 1.0)),
            left: None,
        }
    }
}
