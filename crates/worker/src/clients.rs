//! Readers and writers in a trial, from opening their sessions to their end: as threads of one process that
//! another thread coordinates, or each alone in a process of its own.
//!
//! A reader or writer alone does everything on the thread that opened the database, since some engines know no threads.

use std::cell::Cell;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;
use std::{panic, thread};

use kvdyno_dataset::{Keys, Ledger, Values};
use kvdyno_engine::{Database, Host, abi, guarded};
use kvdyno_results::{Failure, FailureKind, Waits};

use crate::client_times::ClientTimes;
use crate::loops::{Driver, Limit, Work};
use crate::observer::Observer;
use crate::recall::RecallContext;
use crate::shared::{ClientStats, SharedCounters, WorkerState};
use crate::slices::{SlicePart, SlicedClient, pin_to};
use crate::thread_accounts::{OtherThreads, ThreadAccounts};
use crate::trial::{Measured, NotRun, Trial, failed};
use crate::usage::{Usage, UsedSoFar};
use crate::workloads::role::RoleClock;
use crate::workloads::{Role, TrialEnd, WorkloadSpec};

/// CPU time from which on threads that ended count, seconds: what clients use before and after their work is less.
const LEAST_CPU_S: f64 = 1e-3;

/// The share of its time that a client sleeps at most, if its waits are to count as lost, of 1.
const HARDLY_SLEPT: f64 = 0.01;

/// The waits of `count` clients and of the other threads of their process, whose CPU time and time in wait are
/// `others`, ns. Absent if the process used more CPU time than these: threads that ended had it, and nobody knows how
/// long they waited.
fn waits(clients: &ClientTimes, count: usize, others: [u64; 2], cpu_s: f64) -> Option<Waits> {
    let s = |ns: u64| ns as f64 / 1e9;
    let [others_cpu_s, others_waited_s] = others.map(s);
    let waited_s = s(clients.delayed_ns);
    let is_alone = count == 1 && clients.slept().is_some_and(|slept| slept <= HARDLY_SLEPT);
    let least_s = if is_alone { (waited_s - others_cpu_s).max(0.0) } else { 0.0 };
    let ended_s = cpu_s - s(clients.cpu_ns) - others_cpu_s;
    (ended_s <= LEAST_CPU_S.max(0.01 * cpu_s)).then_some(Waits { least_s, most_s: waited_s + others_waited_s })
}

/// The records, for all readers and writers of a process.
struct SharedRecords<'a> {
    keys: Keys,
    values: Values,
    ledger: Ledger<'a>,
}

/// A reader or writer.
struct TrialClient<'a> {
    number: usize,
    role: Role,
    stats: &'a ClientStats,
    records: &'a SharedRecords<'a>,
}

impl TrialClient<'_> {
    /// Which of the readers, or of the writers.
    fn index(&self, workload: &WorkloadSpec) -> u64 {
        let readers = workload.roles().iter().filter(|role| !role.writes()).count();
        (if self.role.writes() { self.number - readers } else { self.number }) as u64
    }

    /// Whether this is a primary client: the trial ends when all of these have ended.
    fn is_primary(&self, workload: &WorkloadSpec) -> bool {
        self.number < workload.parameters.primary_clients() as usize
    }
}

/// The engine's counters while somebody answers for them.
struct ServedCounters<'a>(&'a SharedCounters);

impl<'a> ServedCounters<'a> {
    fn begin(counters: &'a SharedCounters) -> Self {
        counters.begin();
        ServedCounters(counters)
    }
}

impl Drop for ServedCounters<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl<C: RoleClock> Trial<'_, C> {
    /// A thread for each role: all open their sessions, then all begin at once.
    pub(crate) fn run_on_threads(&self, database: &Database) -> Result<Measured, NotRun> {
        let (records, roles) = (self.records()?, self.spec.workload.roles());
        // This thread, which coordinates, waits with them.
        let participants = roles.len() as u32 + 1;
        self.count_primary();
        let ids: Vec<AtomicI32> = roles.iter().map(|_| AtomicI32::default()).collect();
        // Its counters are read over time by a thread that no client waits for.
        let can_count = database.can(abi::CAN_COUNT) && !database.can(abi::IS_SINGLE) && self.spec.slices.is_none();
        let counters = can_count.then(|| &self.control().engine_counters);
        thread::scope(|scope| {
            let (records, ids) = (&records, &ids);
            let _served = counters.map(|counters| {
                let served = ServedCounters::begin(counters);
                scope.spawn(move || guarded(|| counters.serve(|| database.counters())));
                served
            });
            let start = |(number, (role, stats))| {
                let client = TrialClient { number, role, stats, records };
                scope.spawn(move || {
                    ids[number].store(rustix::thread::gettid().as_raw_nonzero().get(), Ordering::Relaxed);
                    guarded(|| self.run_client(database, client, participants, || (), || ()))
                })
            };
            let clients: Vec<_> = roles.into_iter().zip(self.shared.client_stats()).enumerate().map(start).collect();
            let measured = self.coordinate(participants, database, ids);
            let ended =
                clients.into_iter().map(|client| client.join().unwrap_or_else(|cause| panic::resume_unwind(cause)));
            // The client that failed says more than those that were aborted for it.
            let failure = ended.filter_map(Result::err).reduce(|first, next| match first {
                NotRun::Failed(_) => first,
                NotRun::Aborted => next,
            });
            failure.map_or(Ok(measured), Err)
        })
    }

    /// The main thread's part where roles are threads: sets the times, opens the barrier, and takes the CPU time of the
    /// measured part.
    fn coordinate(&self, participants: u32, database: &Database, client_ids: &[AtomicI32]) -> Measured {
        let (control, barriers) = (self.control(), &self.control().barriers);
        if !barriers.ready.pass(participants) {
            return Measured::default();
        }
        let warmup = self.set_times();
        // Clients that may go can be far ahead of this thread: what has no warm-up is measured from here on.
        let account = self.spec.cpu_account.as_ref();
        let others_so_far = || OtherThreads::read(client_ids).filter(|_| self.spec.slices.is_none());
        let mut others = others_so_far();
        let mut before = UsedSoFar::now(database, account);
        if !barriers.go.pass(participants) {
            return Measured::default();
        }
        if self.spec.slices.is_none() && !warmup.is_zero() {
            sleep_until(warmup, || control.is_stop_requested());
            control.enter(WorkerState::Measuring);
            others = others_so_far();
            before = UsedSoFar::now(database, account);
        }
        // Work that has begun is never aborted.
        let _ = barriers.end.pass(participants);
        let measured = self.measured_since(before, database);
        let others = others.zip(others_so_far()).map(|(before, now)| now.since(&before));
        let clients = Observer::new(self.shared).measured_times();
        let of_process = |others| waits(&clients, client_ids.len(), others, measured.used.cpu_s());
        Measured { waits: others.and_then(of_process), ..measured }
    }

    /// The one role of this process, on the thread that opened the database; the first process also coordinates.
    pub(crate) fn run_as_process(&self, database: &Database, number: usize) -> Result<Measured, NotRun> {
        let (records, roles, client_stats) = (self.records()?, self.spec.workload.roles(), self.shared.client_stats());
        let participants = roles.len() as u32;
        let client = TrialClient { number, role: roles[number], stats: &client_stats[number], records: &records };
        if self.leads() {
            self.count_primary();
        }
        let before = Cell::new(UsedSoFar::default());
        let all_ready = || {
            if self.leads() {
                self.set_times();
            }
        };
        let warmed_up = || {
            if self.leads() {
                self.control().enter(WorkerState::Measuring);
            }
            // The group is that of all processes: one of them reads its account.
            let account = self.spec.cpu_account.as_ref().filter(|_| self.leads());
            before.set(UsedSoFar::now(database, account));
        };
        self.run_client(database, client, participants, all_ready, warmed_up)?;
        Ok(self.measured_since(before.get(), database))
    }

    fn records(&self) -> Result<SharedRecords<'_>, Failure> {
        let data = &self.spec.workload.parameters.data;
        Ok(SharedRecords { keys: self.keys()?, values: data.values(), ledger: self.ledger.of(data.records) })
    }

    /// Sets the number of clients that must end before the trial does.
    fn count_primary(&self) {
        let primary = self.spec.workload.parameters.primary_clients();
        self.control().primary_left.store(primary, Ordering::SeqCst);
    }

    fn ticks(&self, duration: Duration) -> u64 {
        (duration.as_nanos() as f64 * self.control().ticks_per_ns()) as u64
    }

    fn warmup(&self) -> Duration {
        let workload = &self.spec.workload;
        if workload.name.profile().loads { Duration::ZERO } else { workload.parameters.warmup }
    }

    /// Begins the warm-up: sets the times at which the warm-up and the measured part end. Called when all clients are
    /// ready, before any may begin.
    fn set_times(&self) -> Duration {
        let (control, workload, warmup) = (self.control(), &self.spec.workload, self.warmup());
        // The parent, which orders the slices, orders the warm-up, too.
        let warmup = if self.spec.slices.is_some() { Duration::ZERO } else { warmup };
        let warm_until = self.clock.now() + self.ticks(warmup);
        let all_until = match workload.parameters.end {
            TrialEnd::After(duration) if !workload.name.profile().loads && self.spec.slices.is_none() => {
                warm_until + self.ticks(duration)
            }
            _ => u64::MAX,
        };
        control.warm_until.store(warm_until, Ordering::SeqCst);
        for (number, stats) in (0..).zip(self.shared.client_stats()) {
            let (_, until) = workload.parameters.part_of_client(number);
            let run_until = until.map_or(all_until, |until| warm_until + self.ticks(until));
            stats.run_until.0.store(run_until, Ordering::SeqCst);
        }
        control.measured_from.store(warm_until, Ordering::SeqCst);
        if control.is_stop_requested() {
            control.request_stop(self.shared.client_stats());
        }
        // In slices the first counted one says that the measured part has begun.
        let is_measured = warmup.is_zero() && self.spec.slices.is_none();
        control.enter(if is_measured { WorkerState::Measuring } else { WorkerState::Warming });
        warmup
    }

    fn measured_since(&self, before: UsedSoFar, database: &Database) -> Measured {
        let used = match self.spec.slices {
            None => Usage::now().since(before.usage),
            Some(_) => self.client_stats().iter().map(|stats| stats.slices.used()).fold(Usage::default(), Usage::plus),
        };
        let group_cpu_s = before.group_cpu_s(self.spec.cpu_account.as_ref());
        let counters = if self.spec.slices.is_none() { before.counted(database) } else { None };
        Measured { warmup_seconds: self.warmup().as_secs_f64(), used, group_cpu_s, waits: None, counters }
    }

    /// The life of a reader or writer, one of `participants` that wait for each other.
    fn run_client(
        &self,
        database: &Database,
        client: TrialClient<'_>,
        participants: u32,
        all_ready: impl FnOnce(),
        warmed_up: impl FnOnce(),
    ) -> Result<(), NotRun> {
        let (workload, barriers, records) = (&self.spec.workload, &self.control().barriers, client.records);
        let index = client.index(workload);
        let own = workload.parameters.of_client(index);
        let parameters = own.as_ref();
        let has_updates = workload.writes_records() || self.spec.contents.last_version > 0;
        let recall = RecallContext::new(
            &records.keys,
            &records.values,
            parameters.data.records,
            has_updates.then_some(records.ledger),
        );
        // Only an engine that keeps nothing by its own declaration may let the lab answer for it.
        let host = if database.can(abi::IS_VOLATILE) { recall.host() } else { Host { recall: None, ..recall.host() } };
        self.pin(&client).inspect_err(|_| self.abort())?;
        client.stats.set_op_kinds(&client.role.operations(parameters));
        client.stats.version.store(self.spec.contents.last_version, Ordering::Relaxed);
        let cannot = |what| {
            move |error| {
                self.abort();
                failed(what, &error)
            }
        };
        // SAFETY: `recall` and `host` outlive the session, which ends in `work`.
        let mut session = unsafe { database.session(&host) }.map_err(cannot("opening a session"))?;
        if let Some(level) = parameters.durability.filter(|_| client.role.writes()) {
            session.set_durability(level).map_err(cannot("setting the durability of a session"))?;
        }
        if !barriers.ready.pass(participants) {
            return Err(NotRun::Aborted);
        }
        all_ready();
        if !barriers.go.pass(participants) {
            return Err(NotRun::Aborted);
        }
        let driver = Driver {
            clock: self.clock,
            control: self.control(),
            stats: client.stats,
            parameters,
            keys: &records.keys,
            values: &records.values,
            ledger: records.ledger,
            recall: &recall,
            clients: self.shared.client_stats(),
            present: self.spec.contents.present,
            session,
            writes: client.role.writes(),
            index,
            resumes: workload.name.profile().loads && !self.spec.create,
        };
        self.work(driver, &client, warmed_up);
        // Work that has begun is never aborted.
        let _ = barriers.end.pass(participants);
        Ok(())
    }

    /// Lets a client run on the processor that the slices say, if they say one.
    fn pin(&self, client: &TrialClient<'_>) -> Result<(), Failure> {
        let cpu = self.spec.slices.as_ref().and_then(|slices| slices.cpus.get(client.number));
        cpu.map_or(Ok(()), |&cpu| pin_to(cpu)).map_err(|cause| Failure {
            kind: FailureKind::Environment,
            reason: format!("client {} cannot run on processor {cpu:?}: {cause}", client.number + 1),
        })
    }

    fn work(&self, mut driver: Driver<'_, C>, client: &TrialClient<'_>, warmed_up: impl FnOnce()) {
        let (control, stats, workload) = (self.control(), driver.stats, &self.spec.workload);
        let mut work = C::start(client.role, &driver);
        if self.spec.slices.is_some() {
            return self.work_in_slices(driver, client, work.as_mut());
        }
        let accounts = ThreadAccounts::of_this_thread(false);
        let (from, _) = workload.parameters.part_of_client(client.number as u64);
        let measured_from = control.measured_from.load(Ordering::Relaxed);
        match from {
            None => self.warm_up(&mut driver, work.as_mut()),
            Some(_) => self.wait_until(measured_from),
        }
        warmed_up();
        if let Some(from) = from {
            self.wait_until(measured_from + self.ticks(from));
        }
        let primary = client.is_primary(workload);
        let operations = match workload.parameters.end {
            TrialEnd::Operations(operations) if primary && !workload.name.profile().loads => operations,
            _ => u64::MAX,
        };
        let limit = Limit { until: &stats.run_until.0, operations };
        let began = accounts.read();
        let from = self.clock.now();
        stats.measured.iter().for_each(|ops| ops.from.store(from, Ordering::Relaxed));
        if !control.is_stop_requested() {
            work.run(&mut driver, &stats.measured, limit);
        }
        stats.slices.alone.times.note(&began, &accounts.read());
        let is_last = primary && control.primary_left.fetch_sub(1, Ordering::SeqCst) == 1;
        // Roles that work in parts of the window end by the clock.
        if is_last && !workload.parameters.has_partial_roles() {
            self.shared.client_stats().iter().for_each(ClientStats::end);
        }
    }

    /// Sleeps until a moment, ticks, or until a stop is requested.
    fn wait_until(&self, moment: u64) {
        let control = self.control();
        while !control.is_stop_requested() {
            let left = moment.saturating_sub(self.clock.now());
            if left == 0 {
                break;
            }
            control.wait_for_stop(Duration::from_nanos((left as f64 / control.ticks_per_ns()).ceil() as u64));
        }
    }

    /// Works in slices. Their counted parts are the measured part, the rest is warm-up.
    fn work_in_slices(&self, mut driver: Driver<'_, C>, client: &TrialClient<'_>, work: &mut dyn Work<C>) {
        let (control, stats) = (self.control(), driver.stats);
        let now = self.clock.now();
        let parts = stats.warmup.iter().chain(&stats.measured);
        parts.for_each(|ops| ops.from.store(now, Ordering::Relaxed));
        let sliced = SlicedClient {
            control: &control.slices,
            stats: &stats.slices,
            ticks_per_ns: control.ticks_per_ns(),
            notes_process: self.process.is_some() || client.number == 0,
        };
        let parts = || [&stats.warmup, &stats.measured].into_iter().flat_map(|part| stats.used(part));
        let operations = || parts().map(|ops| ops.latency.count()).fold(0, u64::saturating_add);
        sliced.run(
            self.clock,
            || control.is_stop_requested(),
            operations,
            |part, until| {
                if part == SlicePart::Counted && control.state() == WorkerState::Warming {
                    control.enter(WorkerState::Measuring);
                }
                let ops = if part == SlicePart::Counted { &stats.measured } else { &stats.warmup };
                work.run(&mut driver, ops, Limit { until, operations: u64::MAX });
            },
        );
    }

    fn warm_up(&self, driver: &mut Driver<'_, C>, work: &mut dyn Work<C>) {
        let (control, stats) = (self.control(), driver.stats);
        if self.spec.workload.name.profile().loads {
            return;
        }
        let from = self.clock.now();
        stats.warmup.iter().for_each(|ops| ops.from.store(from, Ordering::Relaxed));
        let limit = Limit { until: &control.warm_until, operations: u64::MAX };
        if self.clock.now() < control.warm_until.load(Ordering::Relaxed) {
            work.run(driver, &stats.warmup, limit);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A measured part of a second. Times of `count` clients and of the engine's own threads, in seconds.
    fn waits_of(count: usize, (cpu_s, waited_s): (f64, f64), others: (f64, f64), process_s: f64) -> Option<Waits> {
        let ns = |s: f64| (s * 1e9) as u64;
        let wall_s = count as f64;
        let times = ClientTimes {
            wall_ns: ns(wall_s),
            cpu_ns: ns(cpu_s),
            delayed_ns: ns(waited_s),
            asleep_ns: ns(wall_s - cpu_s - waited_s),
            turns: 0,
        };
        waits(&times, count, [ns(others.0), ns(others.1)], process_s)
    }

    fn between(least_s: f64, most_s: f64) -> Option<Waits> {
        Some(Waits { least_s, most_s })
    }

    #[test]
    fn one_client_that_is_always_awake_lost_its_waits() {
        assert_eq!(waits_of(1, (0.5, 0.5), (0.0, 0.0), 0.5), between(0.5, 0.5));
        // Without others it might have waited for the engine's own thread, and that one waited, too.
        assert_eq!(waits_of(1, (0.5, 0.5), (0.25, 0.125), 0.75), between(0.25, 0.625));
        assert_eq!(waits_of(1, (0.5, 0.5), (0.75, 0.0), 1.25), between(0.0, 0.5));
    }

    #[test]
    fn clients_that_sleep_or_are_several_may_have_lost_nothing() {
        assert_eq!(waits_of(1, (0.5, 0.25), (0.0, 0.0), 0.5), between(0.0, 0.25));
        assert_eq!(waits_of(2, (1.0, 1.0), (0.0, 0.0), 1.0), between(0.0, 1.0));
    }

    #[test]
    fn waits_of_threads_that_ended_are_not_known() {
        assert_eq!(waits_of(1, (0.5, 0.5), (0.0, 0.0), 0.53), None);
        assert!(waits_of(1, (0.5, 0.5), (0.0, 0.0), 0.504).is_some());
    }
}
