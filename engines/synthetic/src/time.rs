//! The engine's own clock: the time-stamp counter where its rate is constant, `CLOCK_MONOTONIC` elsewhere.

/// A source of ticks.
#[derive(Clone, Copy, Debug)]
pub struct OwnClock {
    is_tsc: bool,
}

impl OwnClock {
    /// The best there is here.
    pub fn choose() -> OwnClock {
        OwnClock { is_tsc: has_invariant_tsc() }
    }

    /// Ticks now.
    #[inline(always)]
    pub fn now(self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if self.is_tsc {
            // SAFETY: every x86-64 processor has the instruction.
            return unsafe { core::arch::x86_64::_rdtsc() };
        }
        monotonic_ns()
    }
}

/// CPUID 8000_0007h, EDX bit 8.
#[cfg(target_arch = "x86_64")]
fn has_invariant_tsc() -> bool {
    use core::arch::x86_64::__cpuid;
    __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx >> 8 & 1 == 1
}

#[cfg(not(target_arch = "x86_64"))]
fn has_invariant_tsc() -> bool {
    false
}

/// Nanoseconds of `CLOCK_MONOTONIC`.
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes the struct that it is given, and always has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The rate of the clock: the longer since it began, the better it is known.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    clock: OwnClock,
    ticks: u64,
    ns: u64,
}

impl Rate {
    /// Begins, and waits until the rate is good to about 10 parts in a million.
    pub fn begin(clock: OwnClock) -> Rate {
        let (ticks, ns) = both(clock);
        std::thread::sleep(std::time::Duration::from_millis(10));
        Rate { clock, ticks, ns }
    }

    /// Ticks in a nanosecond.
    pub fn ticks_per_ns(&self) -> f64 {
        let (ticks, ns) = both(self.clock);
        (ticks - self.ticks) as f64 / (ns - self.ns).max(1) as f64
    }
}

/// Both clocks at nearly the same moment: of several tries the one that took least.
fn both(clock: OwnClock) -> (u64, u64) {
    let attempt = |_| {
        let (before, ns, after) = (clock.now(), monotonic_ns(), clock.now());
        (after - before, (before + (after - before) / 2, ns))
    };
    (0..16).map(attempt).min_by_key(|(took, _)| *took).map_or((0, 0), |(_, both)| both)
}
