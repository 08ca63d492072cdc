//! The cheapest honest clock.
//!
//! The processor's time-stamp counter is used if it runs at one rate in all states of the processor (CPUID says so): a
//! reading is one instruction. Otherwise it is `clock_gettime`. The reading is not serialised: out-of-order execution
//! may move it by some nanoseconds either way, which is less than a fence would cost each operation.

use std::time::Duration;

/// A source of ticks for the measured loop.
pub trait Clock: Copy + Send + Sync {
    /// Ticks now.
    fn now(&self) -> u64;

    /// Sleeps for this number of nanoseconds, or longer.
    fn sleep(&self, ns: u64) {
        std::thread::sleep(Duration::from_nanos(ns));
    }

    /// Passes a moment without giving the processor away.
    #[inline(always)]
    fn relax(&self) {
        std::hint::spin_loop();
    }
}

/// The time-stamp counter.
#[derive(Clone, Copy, Debug)]
pub struct Tsc;

#[cfg(target_arch = "x86_64")]
impl Clock for Tsc {
    #[inline(always)]
    fn now(&self) -> u64 {
        // SAFETY: every x86-64 processor has the instruction.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
}

/// `CLOCK_MONOTONIC`; a tick is a nanosecond.
#[derive(Clone, Copy, Debug)]
pub struct Monotonic;

impl Clock for Monotonic {
    #[inline(always)]
    fn now(&self) -> u64 {
        monotonic_ns()
    }
}

/// Nanoseconds of `CLOCK_MONOTONIC`.
pub fn monotonic_ns() -> u64 {
    ns_of(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds that processors have worked for this process.
pub fn process_cpu_ns() -> u64 {
    ns_of(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Nanoseconds that processors have worked for this thread.
pub fn thread_cpu_ns() -> u64 {
    ns_of(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn ns_of(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes the struct that it is given; it always has these clocks. libc's call rather than
    // rustix's, which reads the vDSO by itself and so cannot run under valgrind, where instructions are counted.
    unsafe { libc::clock_gettime(clock, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Whether the time-stamp counter can be trusted: CPUID 8000_0007h, EDX bit 8 (Intel SDM volume 3, "Invariant TSC").
#[cfg(target_arch = "x86_64")]
pub fn has_invariant_tsc() -> bool {
    use core::arch::x86_64::__cpuid;
    __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx >> 8 & 1 == 1
}

/// Only x86-64 has one that we use.
#[cfg(not(target_arch = "x86_64"))]
pub fn has_invariant_tsc() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
impl Clock for Tsc {
    fn now(&self) -> u64 {
        monotonic_ns()
    }
}

/// Beginnings of operations, mostly found without reading the clock.
///
/// In a closed loop an operation begins a moment after the one before it ended: after the driver has checked the answer
/// and spelled the next key. That moment's length hardly varies, so it is measured on one operation in
/// [`Turnaround::EVERY`] and taken as known on the others, which saves half of the readings: on a virtual machine one
/// was seen to take 16 ns. It is also the fairer figure, because what is subtracted includes the clock's own time,
/// which the difference of two readings would add to each operation.
///
/// The estimate is the median of the measured moments: each sample moves it by one tick, up or down, so that a sample
/// in which the thread was interrupted counts no more than another.
#[derive(Clone, Copy, Debug)]
pub struct Turnaround {
    ticks: u64,
    /// Operations until the next that is measured.
    left: u32,
    /// Operations that were measured.
    measured: u32,
    /// The cost of a reading.
    reading: u64,
}

impl Turnaround {
    /// The beginning of one operation in this number is measured.
    const EVERY: u32 = 64;
    /// The first operations have it measured all.
    const FIRST: u32 = 512;

    /// Knows only the cost of a reading yet.
    pub fn new(clock: impl Clock) -> Self {
        let reading = (0..64).map(|_| {
            let before = clock.now();
            clock.now().saturating_sub(before)
        });
        Turnaround { ticks: 0, left: 1, measured: 0, reading: reading.min().unwrap_or(0) }
    }

    /// When the operation that is issued now begins; `last` is when the one before it ended.
    #[inline(always)]
    pub fn begin(&mut self, clock: impl Clock, last: u64) -> u64 {
        self.left -= 1;
        match self.left {
            0 => self.measure(clock, last),
            _ => last + self.ticks,
        }
    }

    #[cold]
    #[inline(never)]
    fn measure(&mut self, clock: impl Clock, last: u64) -> u64 {
        self.measured = self.measured.saturating_add(1);
        self.left = if self.measured < Self::FIRST { 1 } else { Self::EVERY };
        let now = clock.now();
        match now.saturating_sub(last) > self.ticks {
            true => self.ticks += 1,
            false => self.ticks = self.ticks.saturating_sub(1),
        }
        now + self.reading
    }
}

/// Ticks and nanoseconds at one moment.
#[derive(Clone, Copy, Debug)]
struct ClockReading {
    ticks: u64,
    ns: u64,
}

/// Nanoseconds of a tick, found by comparing the clock with `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug)]
pub struct Calibration<C> {
    clock: C,
    begin: ClockReading,
}

impl<C: Clock> Calibration<C> {
    /// Begins; the longer until [`Calibration::ticks_per_ns`], the better.
    pub fn begin(clock: C) -> Self {
        Calibration { clock, begin: mark(clock) }
    }

    /// Waits until the rate is good to about 10 parts in a million, and gives it.
    pub fn settle(&self) -> f64 {
        std::thread::sleep(Duration::from_millis(10));
        self.ticks_per_ns()
    }

    /// Ticks in a nanosecond, from the time since `begin`.
    pub fn ticks_per_ns(&self) -> f64 {
        let end = mark(self.clock);
        let ns = end.ns.saturating_sub(self.begin.ns).max(1);
        end.ticks.saturating_sub(self.begin.ticks) as f64 / ns as f64
    }
}

/// Both clocks at nearly the same moment: of several tries the one that took least.
fn mark(clock: impl Clock) -> ClockReading {
    let attempt = || {
        let before = clock.now();
        let ns = monotonic_ns();
        let after = clock.now();
        (after.saturating_sub(before), ClockReading { ticks: before + (after.saturating_sub(before)) / 2, ns })
    };
    (0..16).map(|_| attempt()).min_by_key(|(took, _)| *took).map_or(ClockReading { ticks: 0, ns: 0 }, |(_, mark)| mark)
}

/// In words, for records: `tsc at 2.100 GHz`.
pub fn describe(ticks_per_ns: f64) -> String {
    match has_invariant_tsc() {
        true => format!("tsc at {ticks_per_ns:.3} GHz"),
        false => "clock_gettime".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_monotonic_clock_ticks_once_a_nanosecond() {
        assert!((Calibration::begin(Monotonic).settle() - 1.0).abs() < 1e-3);
    }

    /// A clock that the tests set.
    #[derive(Clone, Copy)]
    struct SetClock<'a>(&'a std::cell::Cell<u64>);
    // SAFETY: these tests have one thread.
    unsafe impl Send for SetClock<'_> {}
    // SAFETY: as above.
    unsafe impl Sync for SetClock<'_> {}
    impl Clock for SetClock<'_> {
        fn now(&self) -> u64 {
            self.0.get()
        }
    }

    #[test]
    fn the_turnaround_is_the_median_of_what_it_measures() {
        let cell = std::cell::Cell::new(0);
        let mut turnaround = Turnaround::new(SetClock(&cell));
        for turn in 0..100_000u64 {
            // Between 40 and 44 ticks, and now and then a long interruption.
            let gap = if turn.is_multiple_of(100) { 1_000_000 } else { 40 + turn % 5 };
            let last = turn * 10_000_000;
            cell.set(last + gap);
            let begun = turnaround.begin(SetClock(&cell), last) - last;
            assert!(turn < 600 || begun == gap || (38..=46).contains(&begun), "turn {turn} began after {begun}");
        }
    }

    #[test]
    fn the_clock_never_runs_backward_on_a_thread() {
        let mut last = 0;
        for _ in 0..10_000 {
            let now = Tsc.now();
            assert!(now >= last);
            last = now;
        }
    }
}
