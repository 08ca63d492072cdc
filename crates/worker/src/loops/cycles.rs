//! The 3n+1 workload: chunks of starting points are taken from a counter that all share; from each the way is followed
//! until a number whose cycle length the database knows, and the lengths of those on the way are put.
//!
//! The counter is the one cache line that threads share here, touched once for a thousand starting points.

use std::sync::atomic::Ordering;

use kvdyno_engine::abi;
use kvdyno_dataset::cycles::{self, CHUNK, LONGEST_CYCLE, NumberBuffer, Numbers};

use super::{Driver, Limit, NOTHING, Work, lent};
use crate::clock::{Clock, Turnaround};
use crate::shared::{OpStats, bump};

/// One thread's part.
pub(super) struct Cycles {
    numbers: Numbers,
    /// The numbers on the way that the database does not know, and how many they are.
    way: Box<[u64; LONGEST_CYCLE as usize]>,
    unknown: usize,
    /// What is asked for.
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

impl Cycles {
    pub(super) fn new<C: Clock>(driver: &Driver<'_, C>) -> Self {
        let batch = driver.workload.batch.min(LONGEST_CYCLE) as usize;
        let turnaround = Turnaround::new(driver.clock);
        Cycles {
            numbers: driver.workload.data.numbers(),
            way: Box::new([0; LONGEST_CYCLE as usize]),
            unknown: 0,
            key: Numbers::buffer(),
            keys: vec![Numbers::buffer(); batch],
            values: vec![Numbers::buffer(); batch],
            steps: vec![abi::BatchEntry { kind: abi::PUT, reserved: 0, key: NOTHING, value: NOTHING }; batch],
            end: driver.clock.now(),
            before_get: turnaround,
            before_put: turnaround,
        }
    }
}

impl<C: Clock> Work<C> for Cycles {
    fn run(&mut self, driver: &mut Driver<'_, C>, ops: &OpStats, limit: Limit<'_>) {
        let starts = driver.workload.data.records;
        loop {
            let first = driver.control.next_start.0.fetch_add(CHUNK, Ordering::Relaxed) + 1;
            if first > starts {
                return;
            }
            self.end = driver.clock.now();
            for start in first..=starts.min(first + CHUNK - 1) {
                match self.one(driver, ops, start) {
                    Ok(length) => note(driver, start, length),
                    // What telling it took is not the next operation's.
                    Err(Stopped::Start) => self.end = driver.clock.now(),
                    Err(Stopped::Trial) => return,
                }
                if ops.until.load(Ordering::Relaxed) >= limit.until.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
    }
}

/// Counts a starting point.
#[inline(always)]
fn note<C>(driver: &Driver<'_, C>, start: u64, length: u64) {
    let found = &driver.stats.cycles;
    if length > found.longest.load(Ordering::Relaxed) {
        found.longest.store(length, Ordering::Relaxed);
        found.longest_start.store(start, Ordering::Relaxed);
    }
    bump(&found.total, length);
    bump(&found.starts, 1);
}

impl Cycles {
    /// The cycle length of `start`, which the database knows afterwards.
    #[inline(always)]
    fn one<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, start: u64) -> Result<u64, Stopped> {
        let (known, length) = self.look_up(driver, start)?;
        if self.unknown == 0 && start > 1 {
            bump(&driver.stats.cycles.known, 1);
        }
        if driver.resumes {
            // What follows was put by a worker that is no more, and nobody remembers how high it went. Below the start
            // it is the way of a smaller start, which is asked for too: so all is seen that `cycles::solve` sees.
            let mut number = known;
            while number >= start && number > 1 {
                reached(driver, number);
                number = cycles::next(number);
            }
            self.end = driver.clock.now();
        }
        let longest = length + self.unknown as u64;
        self.put(driver, ops, length)?;
        ops.until.store(self.end, Ordering::Relaxed);
        Ok(longest)
    }

    /// Follows the way from `start` to a known number; that, and its length.
    #[inline(always)]
    fn look_up<C: Clock>(&mut self, driver: &Driver<'_, C>, start: u64) -> Result<(u64, u64), Stopped> {
        let (table, session) = driver.session.raw();
        let Some(get) = table.get else { return Err(Stopped::Trial) };
        let (clock, gets) = (driver.clock, &driver.stats.gets);
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
                    let length = self
                        .numbers
                        .read(value)
                        .filter(|&length| !driver.verifies() || cycles::is_plausible(number, length));
                    return length.map(|length| (number, length)).ok_or_else(|| driver.wrong_length(number, value));
                }
                abi::MISS => {}
                status => return Err(driver.gave_up("reading a cycle length", status)),
            }
            let Some(place) = self.way.get_mut(self.unknown) else { return Err(driver.endless(start)) };
            *place = number;
            self.unknown += 1;
            number = cycles::next(number);
            reached(driver, number);
        }
        Ok((1, 1))
    }

    /// Puts the lengths of the unknown numbers, the last one's first: `length` is that of the number after it.
    #[inline(always)]
    fn put<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, mut length: u64) -> Result<(), Stopped> {
        let mut left = self.unknown;
        while left > 0 {
            let count = left.min(self.steps.len());
            let mut bytes = 0;
            for place in 0..count {
                left -= 1;
                length += 1;
                let key = self.numbers.write(self.way[left], &mut self.keys[place]);
                let value = self.numbers.write(length, &mut self.values[place]);
                bytes += key.len() + value.len();
                self.steps[place].key = abi::Bytes { data: key.as_ptr().cast(), size: key.len() };
                self.steps[place].value = abi::Bytes { data: value.as_ptr().cast(), size: value.len() };
            }
            self.issue(driver, ops, count)?;
            bump(&ops.records, count as u64);
            bump(&driver.stats.user_bytes, bytes as u64);
        }
        Ok(())
    }

    #[inline(always)]
    fn issue<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, count: usize) -> Result<(), Stopped> {
        // Spelling a batch takes now longer, now less.
        let begin = match self.steps.len() {
            1 => self.before_put.begin(driver.clock, self.end),
            _ => driver.clock.now(),
        };
        // SAFETY: keys and values are this thread's own.
        let status = unsafe { driver.write(&self.steps, count) };
        self.end = driver.clock.now();
        ops.latency.record(self.end.saturating_sub(begin));
        match status {
            abi::OK => Ok(()),
            status => Err(driver.gave_up("putting a cycle length", status)),
        }
    }
}

/// Notes how high a way went.
#[inline(always)]
fn reached<C>(driver: &Driver<'_, C>, number: u64) {
    let highest = &driver.stats.cycles.highest;
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
