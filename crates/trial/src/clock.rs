//! The cheapest honest clock.
//!
//! Where the processor's time-stamp counter runs at one rate in all states of the processor (CPUID says so), a reading
//! is one instruction; elsewhere it is `clock_gettime`. The reading is not serialised: out-of-order execution may move
//! it by some nanoseconds either way, which is less than a fence would cost each operation.

use std::time::Duration;

/// A source of ticks for the measured loop.
pub trait Clock: Copy + Send + Sync {
    /// Ticks now.
    fn now(&self) -> u64;
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
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes the struct that it is given; it always has this clock. libc's call rather than rustix's,
    // which reads the vDSO by itself and so cannot run under valgrind, where instructions are counted.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
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

/// Ticks and nanoseconds at one moment.
#[derive(Clone, Copy, Debug)]
struct Mark {
    ticks: u64,
    ns: u64,
}

/// How many nanoseconds a tick takes, found by holding the clock against `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug)]
pub struct Calibration<C> {
    clock: C,
    begin: Mark,
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
fn mark(clock: impl Clock) -> Mark {
    let attempt = || {
        let before = clock.now();
        let ns = monotonic_ns();
        let after = clock.now();
        (after.saturating_sub(before), Mark { ticks: before + (after.saturating_sub(before)) / 2, ns })
    };
    (0..16).map(|_| attempt()).min_by_key(|(took, _)| *took).map_or(Mark { ticks: 0, ns: 0 }, |(_, mark)| mark)
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
