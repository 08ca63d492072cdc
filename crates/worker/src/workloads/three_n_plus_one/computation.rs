//! The computation. Clients take chunks of starting points from a shared counter. From each starting point, a client
//! follows the way to a number whose cycle length the database knows, and puts the lengths of the numbers on the way.
//!
//! The counter is the one cache line that clients share here, touched once for a thousand starting points.

use std::sync::atomic::Ordering;

use kvdyno_engine::abi;
use kvdyno_results::OpKind;

use super::numbers::{NumberBuffer, NumberCodec};
use super::problem::{CHUNK, LONGEST_CYCLE, is_plausible, next};
use crate::clock::{Clock, Turnaround};
use crate::loops::batch_writer::write_kind;
use crate::loops::{Driver, Limit, NOTHING, Work, lent};
use crate::shared::{ClientCounter, ClientOps, OpStats, bump};
use crate::workloads::parameters::WorkloadParameters;
use crate::workloads::role::{RoleDefinition, StartRole};

/// The longest cycle.
pub(super) const LONGEST: ClientCounter = ClientCounter(0);
/// Its starting point.
pub(super) const LONGEST_START: ClientCounter = ClientCounter(1);
/// The highest number on any way.
pub(super) const HIGHEST: ClientCounter = ClientCounter(2);
/// The cycle lengths of the client's starting points together.
pub(super) const TOTAL: ClientCounter = ClientCounter(3);
/// The client's starting points.
pub(super) const STARTS: ClientCounter = ClientCounter(4);
/// Starting points whose length was known when they were asked for.
pub(super) const KNOWN: ClientCounter = ClientCounter(5);

/// Computes cycle lengths, chunk by chunk.
pub(super) struct Computation;

impl RoleDefinition for Computation {
    fn operations(&self, spec: &WorkloadParameters) -> Vec<OpKind> {
        vec![write_kind(spec), OpKind::Get]
    }

    fn writes(&self) -> bool {
        true
    }
}

impl<C: Clock + 'static> StartRole<C> for Computation {
    fn start(&self, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
        Box::new(CycleLoop::new(driver))
    }
}

/// The counts of puts and gets.
#[derive(Clone, Copy)]
struct CycleOps<'a> {
    puts: &'a OpStats,
    gets: &'a OpStats,
}

/// One client's part.
struct CycleLoop {
    numbers: NumberCodec,
    /// The numbers on the way that the database does not know, and how many they are.
    way: Box<[u64; LONGEST_CYCLE as usize]>,
    unknown: usize,
    /// The key of a get.
    key: NumberBuffer,
    /// A batch.
    keys: Vec<NumberBuffer>,
    values: Vec<NumberBuffer>,
    steps: Vec<abi::BatchEntry>,
    /// When the last operation ended, and how long after that a get and a put begin.
    end: u64,
    before_get: Turnaround,
    before_put: Turnaround,
}

/// A starting point was given up, or the trial is.
enum Stopped {
    Start,
    Trial,
}

impl CycleLoop {
    fn new<C: Clock>(driver: &Driver<'_, C>) -> Self {
        let batch = driver.parameters.batch.min(LONGEST_CYCLE) as usize;
        let turnaround = Turnaround::new(driver.clock);
        CycleLoop {
            numbers: NumberCodec::new(driver.parameters.data.spelling, driver.parameters.data.key_format),
            way: Box::new([0; LONGEST_CYCLE as usize]),
            unknown: 0,
            key: NumberCodec::buffer(),
            keys: vec![NumberCodec::buffer(); batch],
            values: vec![NumberCodec::buffer(); batch],
            steps: vec![abi::BatchEntry { kind: abi::PUT, reserved: 0, key: NOTHING, value: NOTHING }; batch],
            end: driver.clock.now(),
            before_get: turnaround,
            before_put: turnaround,
        }
    }
}

impl<C: Clock> Work<C> for CycleLoop {
    fn run(&mut self, driver: &mut Driver<'_, C>, [puts, gets, ..]: &ClientOps, limit: Limit<'_>) {
        let ops = CycleOps { puts, gets };
        let starts = driver.parameters.data.records;
        loop {
            let first = driver.control.shared_work.0.fetch_add(CHUNK, Ordering::Relaxed) + 1;
            if first > starts {
                return;
            }
            self.end = driver.clock.now();
            for start in first..=starts.min(first + CHUNK - 1) {
                match self.one(driver, ops, start) {
                    Ok(length) => note(driver, start, length),
                    // The time of the report is not the next operation's.
                    Err(Stopped::Start) => self.end = driver.clock.now(),
                    Err(Stopped::Trial) => return,
                }
                if ops.puts.until.load(Ordering::Relaxed) >= limit.until.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
    }
}

/// CycleOps a starting point.
#[inline(always)]
fn note<C>(driver: &Driver<'_, C>, start: u64, length: u64) {
    let stats = driver.stats;
    if length > stats.counter(LONGEST).load(Ordering::Relaxed) {
        stats.counter(LONGEST).store(length, Ordering::Relaxed);
        stats.counter(LONGEST_START).store(start, Ordering::Relaxed);
    }
    bump(stats.counter(TOTAL), length);
    bump(stats.counter(STARTS), 1);
}

impl CycleLoop {
    /// The cycle length of `start`, which the database knows afterwards.
    #[inline(always)]
    fn one<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: CycleOps<'_>, start: u64) -> Result<u64, Stopped> {
        let (known, length) = self.look_up(driver, ops, start)?;
        if self.unknown == 0 && start > 1 {
            bump(driver.stats.counter(KNOWN), 1);
        }
        if driver.resumes {
            // A dead worker put the rest of the way, and its highest number is not recorded. Below the start, the way
            // is that of a smaller start, which is looked up too: so this sees all that `problem::solve` sees.
            let mut number = known;
            while number >= start && number > 1 {
                reached(driver, number);
                number = next(number);
            }
            self.end = driver.clock.now();
        }
        let longest = length + self.unknown as u64;
        self.put(driver, ops, length)?;
        ops.puts.until.store(self.end, Ordering::Relaxed);
        Ok(longest)
    }

    /// Follows the way from `start` to a known number; that, and its length.
    #[inline(always)]
    fn look_up<C: Clock>(
        &mut self,
        driver: &Driver<'_, C>,
        ops: CycleOps<'_>,
        start: u64,
    ) -> Result<(u64, u64), Stopped> {
        let (table, session) = driver.session.raw();
        let Some(get) = table.get else { return Err(Stopped::Trial) };
        let (clock, gets) = (driver.clock, ops.gets);
        self.unknown = 0;
        let mut number = start;
        reached(driver, number);
        while number > 1 {
            let key = self.numbers.write(number, &mut self.key);
            let mut value = NOTHING;
            let begin = self.before_get.begin(clock, self.end);
            // SAFETY: the session is open and this thread's own; key and value live through the call.
            let status = unsafe { get(session, key.as_ptr().cast(), key.len(), &mut value) };
            self.end = clock.now();
            gets.latency.record(self.end.saturating_sub(begin));
            gets.until.store(self.end, Ordering::Relaxed);
            match status {
                abi::OK => {
                    // SAFETY: the engine lent it in the call just made.
                    let value = unsafe { lent(value) };
                    let length =
                        self.numbers.read(value).filter(|&length| !driver.verifies() || is_plausible(number, length));
                    return length.map(|length| (number, length)).ok_or_else(|| driver.wrong_length(number, value));
                }
                abi::MISS => {}
                status => return Err(driver.gave_up("reading a cycle length", status)),
            }
            let Some(step) = self.way.get_mut(self.unknown) else { return Err(driver.endless(start)) };
            *step = number;
            self.unknown += 1;
            number = next(number);
            reached(driver, number);
        }
        Ok((1, 1))
    }

    /// Puts the lengths of the unknown numbers, the last one's first: `length` is that of the number after it.
    #[inline(always)]
    fn put<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: CycleOps<'_>, mut length: u64) -> Result<(), Stopped> {
        let mut left = self.unknown;
        while left > 0 {
            let count = left.min(self.steps.len());
            let mut bytes = 0;
            for entry in 0..count {
                left -= 1;
                length += 1;
                let key = self.numbers.write(self.way[left], &mut self.keys[entry]);
                let value = self.numbers.write(length, &mut self.values[entry]);
                bytes += key.len() + value.len();
                self.steps[entry].key = abi::Bytes { data: key.as_ptr().cast(), size: key.len() };
                self.steps[entry].value = abi::Bytes { data: value.as_ptr().cast(), size: value.len() };
            }
            self.issue(driver, ops, count)?;
            bump(&ops.puts.records, count as u64);
            bump(&driver.stats.user_bytes, bytes as u64);
        }
        Ok(())
    }

    #[inline(always)]
    fn issue<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: CycleOps<'_>, count: usize) -> Result<(), Stopped> {
        // Spelling a batch takes now longer, now less.
        let begin = match self.steps.len() {
            1 => self.before_put.begin(driver.clock, self.end),
            _ => driver.clock.now(),
        };
        // SAFETY: keys and values are this thread's own.
        let status = unsafe { driver.write(&self.steps, count) };
        self.end = driver.clock.now();
        ops.puts.latency.record(self.end.saturating_sub(begin));
        match status {
            abi::OK => Ok(()),
            status => Err(driver.gave_up("putting a cycle length", status)),
        }
    }
}

/// Notes how high a way went.
#[inline(always)]
fn reached<C>(driver: &Driver<'_, C>, number: u64) {
    let highest = driver.stats.counter(HIGHEST);
    if number > highest.load(Ordering::Relaxed) {
        highest.store(number, Ordering::Relaxed);
    }
}

impl<C: Clock> Driver<'_, C> {
    #[cold]
    fn gave_up(&self, what: &str, status: abi::Status) -> Stopped {
        if self.engine_failed(what, status) { Stopped::Start } else { Stopped::Trial }
    }

    #[cold]
    fn wrong_length(&self, number: u64, value: &[u8]) -> Stopped {
        let text = format!("{number} has no cycle length that could be right: {:02x?}", &value[..value.len().min(80)]);
        self.control.first_failure(&text);
        bump(&self.stats.wrong, 1);
        Stopped::Start
    }

    #[cold]
    fn endless(&self, start: u64) -> Stopped {
        self.control.first_failure(&format!("after {LONGEST_CYCLE} numbers the way from {start} was not at its end"));
        bump(&self.stats.wrong, 1);
        Stopped::Start
    }
}
