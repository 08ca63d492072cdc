//! Counters that one thread writes and others may read.

use std::sync::atomic::{AtomicU64, Ordering};

/// Adds to a counter that only this thread writes.
#[inline(always)]
pub fn bump(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed) + by, Ordering::Relaxed);
}
