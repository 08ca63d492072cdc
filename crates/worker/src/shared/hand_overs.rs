//! Ids that clients were given, and that go from one to another.

use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// The ids that a client was given, to insert or to take. Only what it left is for others.
#[repr(C)]
#[derive(Debug)]
pub struct GivenIds {
    /// One more than the lowest of them that is not acknowledged yet; 0 if there is none.
    pub low_water: AtomicU64,
    /// One more than the first that it had not come to when a part of its work ended; 0 if there is none.
    left: AtomicU64,
    /// The end of those that it left.
    left_until: AtomicU64,
}

impl GivenIds {
    /// Leaves ids that are not begun to any client. The low water stays until one has them.
    pub(crate) fn leave(&self, ids: Range<u64>) {
        if !ids.is_empty() {
            self.left_until.store(ids.end, Ordering::SeqCst);
            self.left.store(ids.start + 1, Ordering::SeqCst);
        }
    }

    /// Hands what was left over to a client, perhaps the same, that has no ids and left none but these. `None` if there
    /// is nothing, or another got it.
    pub(crate) fn hand_over(&self, to: &GivenIds, all: &HandOvers) -> Option<Range<u64>> {
        let low_water = self.left.load(Ordering::SeqCst);
        let (first, until) = (low_water.checked_sub(1)?, self.left_until.load(Ordering::SeqCst));
        all.begun.fetch_add(1, Ordering::SeqCst);
        // At each moment one of the two low waters is no higher than these ids.
        to.low_water.store(low_water, Ordering::SeqCst);
        let got = self.left.compare_exchange(low_water, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if got && !ptr::eq(self, to) {
            // Unless that client has others by now.
            let _ = self.low_water.compare_exchange(low_water, 0, Ordering::SeqCst, Ordering::SeqCst);
        }
        all.ended.fetch_add(1, Ordering::SeqCst);
        got.then_some(first..until)
    }
}

/// The number of times that ids went from one client to another. Who reads the low waters of all clients meanwhile may
/// miss those of these ids.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct HandOvers {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl HandOvers {
    /// The result of `read` if none was under way meanwhile; `None` if one was at each of a few tries.
    pub(crate) fn none_during<T>(&self, read: impl Fn() -> T) -> Option<T> {
        (0..4).find_map(|_| {
            let ended = self.ended.load(Ordering::SeqCst);
            let seen = read();
            (self.begun.load(Ordering::SeqCst) == ended).then_some(seen)
        })
    }
}
