//! What readers and writers do in a trial, from opening their sessions to their end: as threads of one process that
//! another thread conducts, or each alone in a process of its own.
//!
//! A reader or writer alone does everything on the thread that opened the database, since some engines know no threads.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::{mem, panic, thread};

use kvdyno_engine::Database;
use kvdyno_record::{Failure, FailureKind};
use kvdyno_workload::{End, Keys, Kind, Ledger, Role, Values, Watch, Workload};

use crate::clock::Clock;
use crate::loops::{self, Driver, Limit, Work};
use crate::recall::RecallContext;
use crate::shared::{Lane, Stage};
use crate::worker::{Trial, failed, values_of};

/// Why a process did not do its part.
#[derive(Debug)]
pub(crate) enum Unplayed {
    /// It could not.
    Failed(Failure),
    /// Another one could not.
    CalledOff,
}

impl From<Failure> for Unplayed {
    fn from(failure: Failure) -> Self {
        Unplayed::Failed(failure)
    }
}

/// What a process leaves of the measured part beside its lanes.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    pub(crate) warmup_seconds: f64,
    pub(crate) used: Usage,
}

/// What a process has used so far, or between two moments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) user_s: f64,
    pub(crate) sys_s: f64,
    pub(crate) ctx_switches: u64,
}

/// What all readers and writers of a process have in common.
struct Table<'a> {
    keys: Keys,
    values: Values,
    ledger: Ledger<'a>,
}

/// The place of a reader or writer.
struct Seat<'a> {
    number: usize,
    role: Role,
    lane: &'a Lane,
    table: &'a Table<'a>,
}

impl Seat<'_> {
    /// Which of the readers, or of the writers.
    fn index(&self, workload: &Workload) -> u64 {
        let readers = workload.roles().iter().filter(|role| !role.writes()).count();
        (if self.role.writes() { self.number - readers } else { self.number }) as u64
    }

    /// Whether its end is the trial's.
    fn is_primary(&self, workload: &Workload) -> bool {
        !self.role.writes() || workload.readers == 0
    }
}

impl<C: Clock + 'static> Trial<'_, C> {
    /// A thread for each role: all open their sessions, then all begin at once.
    pub(crate) fn play_on_threads(&self, database: &Database) -> Result<Measured, Unplayed> {
        let (table, roles) = (self.table()?, self.spec.workload.roles());
        // This thread, which conducts, waits with them.
        let party = roles.len() as u32 + 1;
        self.count_primary();
        thread::scope(|scope| {
            let table = &table;
            let start = |(number, (role, lane))| {
                let seat = Seat { number, role, lane, table };
                scope.spawn(move || self.sit(database, seat, party, || (), || ()))
            };
            let seats: Vec<_> = roles.into_iter().zip(self.board.lanes()).enumerate().map(start).collect();
            let measured = self.conduct(party);
            let ended = seats.into_iter().map(|seat| seat.join().unwrap_or_else(|cause| panic::resume_unwind(cause)));
            // Who failed says more than those who were called off for it.
            let failure = ended.filter_map(Result::err).reduce(|first, next| match first {
                Unplayed::Failed(_) => first,
                Unplayed::CalledOff => next,
            });
            failure.map_or(Ok(measured), Err)
        })
    }

    /// The main thread's part where roles are threads: sets the times, opens the gate, and takes the CPU time of the
    /// measured part.
    fn conduct(&self, party: u32) -> Measured {
        let (control, gates) = (self.control(), &self.control().gates);
        if !gates.ready.pass(party) {
            return Measured::default();
        }
        let warmup = self.set_times();
        if !gates.go.pass(party) {
            return Measured::default();
        }
        sleep_until(warmup, || control.is_stop_asked());
        control.enter(Stage::Measuring);
        let before = Usage::now();
        // Nobody calls off what has begun.
        let _ = gates.end.pass(party);
        self.measured_since(before)
    }

    /// The one role of this process, on the thread that opened the database; the first process also conducts.
    pub(crate) fn play_alone(&self, database: &Database, number: usize) -> Result<Measured, Unplayed> {
        let (table, roles, lanes) = (self.table()?, self.spec.workload.roles(), self.board.lanes());
        let party = roles.len() as u32;
        let seat = Seat { number, role: roles[number], lane: &lanes[number], table: &table };
        if self.leads() {
            self.count_primary();
        }
        let before = Cell::new(Usage::default());
        let all_ready = || {
            if self.leads() {
                self.set_times();
            }
        };
        let warmed_up = || {
            if self.leads() {
                self.control().enter(Stage::Measuring);
            }
            before.set(Usage::now());
        };
        self.sit(database, seat, party, all_ready, warmed_up)?;
        Ok(self.measured_since(before.get()))
    }

    fn table(&self) -> Result<Table<'_>, Failure> {
        let data = &self.spec.workload.data;
        let keys =
            data.keys().map_err(|error| Failure { kind: FailureKind::EngineError, reason: error.to_string() })?;
        let ledger = Ledger::new(self.ledger.slots(), Watch::over(data.records));
        Ok(Table { keys, values: values_of(data), ledger })
    }

    /// How many must end before the trial does.
    fn count_primary(&self) {
        let workload = &self.spec.workload;
        let primary = if workload.readers > 0 { workload.readers } else { workload.writers };
        self.control().primary_left.store(primary, Ordering::SeqCst);
    }

    fn warmup(&self) -> Duration {
        let workload = &self.spec.workload;
        if workload.kind.loads() { Duration::ZERO } else { workload.warmup }
    }

    /// From now on the warm-up runs. Called when all are ready, before any may go.
    fn set_times(&self) -> Duration {
        let (control, workload, warmup) = (self.control(), &self.spec.workload, self.warmup());
        let ticks = |duration: Duration| (duration.as_nanos() as f64 * control.ticks_per_ns()) as u64;
        let warm_until = self.clock.now() + ticks(warmup);
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
        warmup
    }

    fn measured_since(&self, before: Usage) -> Measured {
        Measured { warmup_seconds: self.warmup().as_secs_f64(), used: Usage::now().since(before) }
    }

    /// The life of a reader or writer, one of a `party` that waits for each other.
    fn sit(
        &self,
        database: &Database,
        seat: Seat<'_>,
        party: u32,
        all_ready: impl FnOnce(),
        warmed_up: impl FnOnce(),
    ) -> Result<(), Unplayed> {
        let (workload, gates, table) = (&self.spec.workload, &self.control().gates, seat.table);
        let has_updates = workload.writers > 0 || self.spec.last_version > 0;
        let recall =
            RecallContext::new(&table.keys, &table.values, workload.data.records, has_updates.then_some(table.ledger));
        let host = recall.host();
        seat.lane.kind.store(loops::op_kind(seat.role, workload) as u32, Ordering::Relaxed);
        seat.lane.also_gets.store((seat.role == Role::Cycles).into(), Ordering::Relaxed);
        seat.lane.version.store(self.spec.last_version, Ordering::Relaxed);
        // SAFETY: `recall` and `host` outlive the session, which ends in `work`.
        let session = unsafe { database.session(&host) }.map_err(|error| {
            self.call_off();
            failed("opening a session", &error)
        })?;
        if !gates.ready.pass(party) {
            return Err(Unplayed::CalledOff);
        }
        all_ready();
        if !gates.go.pass(party) {
            return Err(Unplayed::CalledOff);
        }
        let driver = Driver {
            clock: self.clock,
            control: self.control(),
            lane: seat.lane,
            workload,
            keys: &table.keys,
            values: &table.values,
            ledger: table.ledger,
            recall: &recall,
            session,
            index: seat.index(workload),
            resumes: workload.kind == Kind::ThreeNPlusOne && !self.spec.create,
        };
        self.work(driver, &seat, warmed_up);
        // Nobody calls off what has begun.
        let _ = gates.end.pass(party);
        Ok(())
    }

    fn work(&self, mut driver: Driver<'_, C>, seat: &Seat<'_>, warmed_up: impl FnOnce()) {
        let (control, lane, workload) = (self.control(), driver.lane, driver.workload);
        let mut work = loops::work_of(seat.role, &driver);
        self.warm_up(&mut driver, work.as_mut());
        warmed_up();
        let primary = seat.is_primary(workload);
        let operations = match workload.end {
            End::Operations(operations) if primary && !workload.kind.loads() => operations,
            _ => u64::MAX,
        };
        let limit = Limit { until: &control.run_until, operations };
        lane.measured.from.store(self.clock.now(), Ordering::Relaxed);
        lane.gets.from.store(lane.measured.from.load(Ordering::Relaxed), Ordering::Relaxed);
        if !control.is_stop_asked() {
            work.run(&mut driver, &lane.measured, limit);
        }
        if primary && control.primary_left.fetch_sub(1, Ordering::SeqCst) == 1 {
            control.run_until.store(0, Ordering::SeqCst);
        }
    }

    fn warm_up(&self, driver: &mut Driver<'_, C>, work: &mut dyn Work<C>) {
        let (control, lane) = (self.control(), driver.lane);
        if driver.workload.kind.loads() {
            return;
        }
        lane.warmup.from.store(self.clock.now(), Ordering::Relaxed);
        let limit = Limit { until: &control.warm_until, operations: u64::MAX };
        if self.clock.now() < control.warm_until.load(Ordering::Relaxed) {
            work.run(driver, &lane.warmup, limit);
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

impl Usage {
    /// What this process has used so far.
    fn now() -> Usage {
        let mut usage = mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: getrusage fills the struct that it is given; zeroes are valid if it fails.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
            usage.assume_init()
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        Usage {
            user_s: seconds(usage.ru_utime),
            sys_s: seconds(usage.ru_stime),
            ctx_switches: (usage.ru_nvcsw + usage.ru_nivcsw) as u64,
        }
    }

    fn since(self, before: Usage) -> Usage {
        Usage {
            user_s: self.user_s - before.user_s,
            sys_s: self.sys_s - before.sys_s,
            ctx_switches: self.ctx_switches - before.ctx_switches,
        }
    }
}
