//! The slowness: what follows each call.

use std::cell::Cell;
use std::ffi::CStr;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use kvdyno_abi as abi;

/// The options, in their order: name and help. Each is a number of nanoseconds.
pub const OPTIONS: [(&CStr, &CStr); 3] = [
    (c"burn_ns", c"nanoseconds that each call burns on the CPU"),
    (c"sleep_ns", c"nanoseconds that each call sleeps on average, gathered until they are a tenth of a millisecond"),
    (c"lock_ns", c"nanoseconds that each call burns under a lock that all sessions share"),
];

/// The shortest sleep: below it the kernel's timers add more than was asked for.
const SHORTEST_SLEEP_NS: u64 = 100_000;

/// Turns of the burning loop, and nanoseconds.
static BURN: AtomicU64 = AtomicU64::new(0);
static SLEEP_NS: AtomicU64 = AtomicU64::new(0);
static LOCKED: AtomicU64 = AtomicU64::new(0);
static LOCK: Mutex<()> = Mutex::new(());

thread_local! {
    /// Sleep that is due.
    static DUE_NS: Cell<u64> = const { Cell::new(0) };
}

/// From now on each call takes so much longer.
pub fn set([burn_ns, sleep_ns, lock_ns]: [u64; 3]) {
    let turns = |ns: u64| if ns == 0 { 0 } else { (ns as f64 * turns_of_a_ns()).round().max(1.0) as u64 };
    BURN.store(turns(burn_ns), Ordering::Relaxed);
    LOCKED.store(turns(lock_ns), Ordering::Relaxed);
    SLEEP_NS.store(sleep_ns, Ordering::Relaxed);
}

/// Lets the time pass that belongs to a call, and gives its status.
#[inline(always)]
pub fn after(status: abi::Status) -> abi::Status {
    fence();
    burn(BURN.load(Ordering::Relaxed));
    fence();
    let locked = LOCKED.load(Ordering::Relaxed);
    if locked > 0 {
        let _guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        burn(locked);
    }
    let sleep_ns = SLEEP_NS.load(Ordering::Relaxed);
    if sleep_ns > 0 {
        sleep(sleep_ns);
    }
    status
}

/// Lets no later instruction begin before all earlier ones are done. Otherwise the processor burns while it waits for
/// memory anyway: only half of the time burned in an LMDB get showed in the time of the get. The fence is there even if
/// nothing is burned, so that two copies differ only by what they burn.
#[inline(always)]
fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has it.
    unsafe {
        core::arch::x86_64::_mm_lfence();
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: it changes nothing but when instructions begin.
    unsafe {
        core::arch::asm!("isb", options(nostack, preserves_flags));
    }
}

/// Each turn needs the one before, so that the processor cannot do several at once; and no clock, which would take
/// longer than what is to be burned.
#[inline(always)]
fn burn(turns: u64) {
    let mut word = turns;
    for _ in 0..turns {
        word = black_box(word.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    black_box(word);
}

#[cold]
fn sleep(ns: u64) {
    let due = DUE_NS.get() + ns;
    DUE_NS.set(if due < SHORTEST_SLEEP_NS { due } else { 0 });
    if due >= SHORTEST_SLEEP_NS {
        std::thread::sleep(Duration::from_nanos(due));
    }
}

/// The fastest of several rounds: no other was less disturbed.
fn turns_of_a_ns() -> f64 {
    const TURNS: u64 = 200_000;
    let round = |_| {
        let begun = Instant::now();
        burn(black_box(TURNS));
        begun.elapsed().as_nanos().max(1) as f64
    };
    TURNS as f64 / (0..9).map(round).fold(f64::INFINITY, f64::min)
}
