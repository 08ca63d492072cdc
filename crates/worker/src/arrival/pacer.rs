//! Waiting until operations are due, without keeping a processor from the engine.

use std::sync::atomic::{AtomicU64, Ordering};

use super::schedule::Schedule;
use crate::clock::Clock;
use crate::shared::{PacingStats, bump};

/// The least and the most that a pacer keeps its processor before an operation, nanoseconds.
const LEAST_MARGIN_NS: f64 = 1000.0;
const MOST_MARGIN_NS: f64 = 60_000.0;
/// The largest share of its time that a pacer keeps its processor.
const MOST_SPINNING: f64 = 0.1;
/// The longest sleep before the pacer checks again whether the trial is over, nanoseconds.
const LONGEST_SLEEP_NS: f64 = 50_000_000.0;

/// The operations of one client at a rate. An operation is timed from the moment at which it was due, so that a stall
/// of the engine shows in every operation that it kept waiting.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    schedule: Schedule,
    ticks_per_ns: f64,
    /// When the schedule began, ticks; later by every pause.
    origin: u64,
    /// Position in the schedule when it paused, ticks.
    paused_at: u64,
    margin: SleepMargin,
}

impl Pacer {
    /// A pacer for a client whose operations are `interval_ns` from each other on average. No operation is due before
    /// [`Pacer::resume`].
    pub(crate) fn new(schedule: Schedule, interval_ns: f64, ticks_per_ns: f64) -> Self {
        Pacer { schedule, ticks_per_ns, origin: 0, paused_at: 0, margin: SleepMargin::below(interval_ns) }
    }

    /// Continues the schedule from now. Operations that were due before the pause and did not begin are dropped.
    pub(crate) fn resume(&mut self, clock: impl Clock) {
        self.origin = clock.now().saturating_sub(self.paused_at);
        self.schedule.skip_to(self.paused_at as f64 / self.ticks_per_ns);
    }

    /// Begins another schedule now, of operations that are `interval_ns` from each other on average. None is left of
    /// the one before.
    pub(crate) fn begin_anew(&mut self, clock: impl Clock, interval_ns: f64) {
        self.schedule.begin_anew(interval_ns);
        self.margin = SleepMargin::below(interval_ns);
        (self.origin, self.paused_at) = (clock.now(), 0);
    }

    /// The schedule stands still from now. Counts how far the client is behind.
    pub(crate) fn pause(&mut self, clock: impl Clock, stats: &PacingStats) {
        let now = clock.now();
        self.paused_at = now.saturating_sub(self.origin);
        let behind = now.saturating_sub(self.due());
        bump(&stats.behind, behind);
        raise(&stats.most_behind, behind);
    }

    /// Waits until the next operation is due and says when that was; `None` if `until` came before.
    #[inline(always)]
    pub(crate) fn wait(&mut self, clock: impl Clock, until: &AtomicU64, stats: &PacingStats) -> Option<u64> {
        let (due, now) = (self.due(), clock.now());
        if now >= until.load(Ordering::Relaxed) {
            return None;
        }
        match now.checked_sub(due) {
            Some(behind) => {
                raise(&stats.most_behind, behind);
                // Of a client that is far behind the sum may be more than a counter holds.
                let queued = stats.queued.load(Ordering::Relaxed).saturating_add(behind);
                stats.queued.store(queued, Ordering::Relaxed);
            }
            None => self.idle(clock, due, until, stats)?,
        }
        self.schedule.advance();
        bump(&stats.operations, 1);
        Some(due)
    }

    /// When the next operation is due, ticks.
    #[inline(always)]
    fn due(&self) -> u64 {
        self.origin + (self.schedule.due_ns() * self.ticks_per_ns) as u64
    }

    /// Sleeps until shortly before `due` and keeps the processor for the rest; `None` if `until` came before.
    fn idle(&mut self, clock: impl Clock, due: u64, until: &AtomicU64, stats: &PacingStats) -> Option<()> {
        loop {
            let (now, end) = (clock.now(), until.load(Ordering::Relaxed));
            let next = due.min(end);
            let left_ns = next.saturating_sub(now) as f64 / self.ticks_per_ns;
            if left_ns > self.margin.ns {
                self.sleep(clock, now, (left_ns - self.margin.ns).min(LONGEST_SLEEP_NS), stats);
            } else {
                spin(clock, now, next, until, stats);
            }
            let now = clock.now();
            if now >= until.load(Ordering::Relaxed) {
                return None;
            }
            if now >= due {
                bump(&stats.overslept, now - due);
                return Some(());
            }
        }
    }

    /// Sleeps, and learns how much longer that lasted than it should.
    fn sleep(&mut self, clock: impl Clock, now: u64, ns: f64, stats: &PacingStats) {
        clock.sleep(ns as u64);
        let slept = clock.now().saturating_sub(now);
        bump(&stats.sleeping, slept);
        self.margin.learn(slept as f64 / self.ticks_per_ns - ns);
    }
}

/// Keeps the processor until a moment.
fn spin(clock: impl Clock, from: u64, moment: u64, until: &AtomicU64, stats: &PacingStats) {
    let mut now = from;
    while now < moment && now < until.load(Ordering::Relaxed) {
        clock.relax();
        now = clock.now();
    }
    bump(&stats.spinning, now.saturating_sub(from));
}

/// Raises a word that only this thread writes.
#[inline(always)]
fn raise(word: &AtomicU64, to: u64) {
    if to > word.load(Ordering::Relaxed) {
        word.store(to, Ordering::Relaxed);
    }
}

/// The time by which a sleep is ordered to end early: an estimate of the 90th percentile of the time that sleeps last
/// too long. The margin rises by a tenth when a sleep lasts too long by more than the margin, and falls by a hundredth
/// otherwise. The two balance when one sleep in ten exceeds the margin.
#[derive(Clone, Copy, Debug)]
struct SleepMargin {
    ns: f64,
    least: f64,
    most: f64,
}

impl SleepMargin {
    fn below(interval_ns: f64) -> SleepMargin {
        let most = MOST_MARGIN_NS.min(MOST_SPINNING * interval_ns);
        SleepMargin { ns: most, least: LEAST_MARGIN_NS.min(most), most }
    }

    fn learn(&mut self, overslept_ns: f64) {
        let factor = if overslept_ns > self.ns { 1.1 } else { 0.99 };
        self.ns = (self.ns * factor).clamp(self.least, self.most);
    }
}

/// Lets the sleeps of this thread end when they should. The kernel otherwise gathers what ends within 50 µs
/// (PR_SET_TIMERSLACK in prctl(2)), and that much of a processor would be kept before each operation.
pub(crate) fn sharpen_sleeps() {
    // SAFETY: it takes a number and changes nothing but this thread's sleeps. If it fails, they stay as they were.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong, 0, 0, 0) };
}
