//! Waiting for a word of shared memory to change, between threads and between processes.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

use rustix::thread::futex::{Flags, wait, wake};
use rustix::time::Timespec;

/// Waits while the word is `value`, for at most `timeout`. It may end early: the caller looks again.
pub(crate) fn wait_while(word: &AtomicU32, value: u32, timeout: Option<Duration>) {
    let timespec = |timeout: Duration| Timespec {
        tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    };
    // However it ends, woken, interrupted by a signal or by being frozen, the caller's next look tells.
    let _ = wait(word, Flags::empty(), value, timeout.map(timespec).as_ref());
}

/// Wakes everyone who waits at the word.
pub(crate) fn wake_all(word: &AtomicU32) {
    // It can only fail for an address that is none.
    let _ = wake(word, Flags::empty(), u32::MAX >> 1);
}
