//! When a client's operations begin: as soon as the one before was answered (a closed loop), or at a rate that does not
//! wait for the engine (an open loop).
//!
//! A loop takes its arrival as a type, so that the closed loop has no instruction of the open one.

mod pacer;
mod schedule;
#[cfg(test)]
mod study;

use std::sync::atomic::AtomicU64;

use kvdyno_dataset::{Stream, subseed};

pub(crate) use self::pacer::Pacer;
use self::pacer::sharpen_sleeps;
use self::schedule::Schedule;
pub(crate) use self::schedule::longest_pause_s;
use crate::clock::{Clock, Turnaround};
use crate::loops::Driver;
use crate::shared::PacingStats;

/// Keeps the stream of moments from that of records.
const MOMENTS: u64 = 0x6d6f_6d65;

/// Says when the operations of a client begin.
pub(crate) trait BeginsOperations: Clone + 'static {
    /// Whether operations come by a schedule.
    const IS_OPEN: bool;

    /// A part of the trial begins. Where a slice orders a rate, `interval_ns` is the mean interval between operations.
    fn resume(&mut self, clock: impl Clock, interval_ns: Option<f64>);

    /// The begin time of the next operation, ticks; `last` is the end time of the one before it. `None` if `until`
    /// comes first.
    fn begin(&mut self, clock: impl Clock, last: u64, until: &AtomicU64, stats: &PacingStats) -> Option<u64>;

    /// Waits for the next operation of a loop that times its calls itself. Returns how late the operation is, ticks: 0
    /// in a closed loop. `None` if `until` comes first.
    fn late(&mut self, clock: impl Clock, until: &AtomicU64, stats: &PacingStats) -> Option<u64>;

    /// A part of the trial has ended.
    fn pause(&mut self, clock: impl Clock, stats: &PacingStats);
}

/// Each operation begins when the one before it was answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClosedLoop(pub(crate) Turnaround);

impl BeginsOperations for ClosedLoop {
    const IS_OPEN: bool = false;

    #[inline(always)]
    fn resume(&mut self, _clock: impl Clock, _interval_ns: Option<f64>) {}

    #[inline(always)]
    fn begin(&mut self, clock: impl Clock, last: u64, _until: &AtomicU64, _stats: &PacingStats) -> Option<u64> {
        Some(self.0.begin(clock, last))
    }

    #[inline(always)]
    fn late(&mut self, _clock: impl Clock, _until: &AtomicU64, _stats: &PacingStats) -> Option<u64> {
        Some(0)
    }

    #[inline(always)]
    fn pause(&mut self, _clock: impl Clock, _stats: &PacingStats) {}
}

impl BeginsOperations for Pacer {
    const IS_OPEN: bool = true;

    fn resume(&mut self, clock: impl Clock, interval_ns: Option<f64>) {
        match interval_ns {
            Some(interval_ns) => self.begin_anew(clock, interval_ns),
            None => Pacer::resume(self, clock),
        }
    }

    #[inline(always)]
    fn begin(&mut self, clock: impl Clock, _last: u64, until: &AtomicU64, stats: &PacingStats) -> Option<u64> {
        self.wait(clock, until, stats)
    }

    #[inline(always)]
    fn late(&mut self, clock: impl Clock, until: &AtomicU64, stats: &PacingStats) -> Option<u64> {
        let due = self.wait(clock, until, stats)?;
        Some(clock.now().saturating_sub(due))
    }

    fn pause(&mut self, clock: impl Clock, stats: &PacingStats) {
        Pacer::pause(self, clock, stats);
    }
}

/// The pacer of this client; `None` in a closed loop.
pub(crate) fn pacer<C: Clock>(driver: &Driver<'_, C>) -> Option<Pacer> {
    let parameters = driver.parameters;
    let interval_ns = 1e9 * parameters.interval_s(driver.writes)?;
    let (before, clients) = parameters.share_of_schedule(driver.index, driver.writes);
    let offset = before as f64 / f64::from(clients.max(1));
    let stream = Stream::new(subseed(parameters.seed, &[MOMENTS, driver.writes.into(), driver.index]));
    sharpen_sleeps();
    let schedule = Schedule::new(parameters.arrival, interval_ns, offset, stream);
    Some(Pacer::new(schedule, interval_ns, driver.control.ticks_per_ns()))
}
