//! Time that a trial in slices stood still between them.

use std::time::{Duration, Instant};

use super::slice_cpu::SliceCpu;

/// Time that a trial has stood still.
#[derive(Debug)]
pub(super) struct Standing {
    /// Since when it does; absent in a slice, and when no more come.
    pub(super) since: Option<Instant>,
    /// The time for which it did before.
    pub(super) before: Duration,
    /// Whether its processes are frozen.
    pub(super) frozen: bool,
    /// When its slice must be over.
    pub(super) due: Instant,
    /// The CPU time of its slices; absent where no group that can be frozen counts it.
    pub(super) cpu: Option<SliceCpu>,
    /// The most of its database that was not on the storage yet after a slice, KiB.
    pub(super) dirty_kib: Option<u64>,
}

impl Standing {
    /// Before the first slice.
    pub(super) fn new(cpu: Option<SliceCpu>) -> Standing {
        let now = Instant::now();
        Standing { since: Some(now), before: Duration::ZERO, frozen: false, due: now, cpu, dirty_kib: None }
    }

    /// Notes how much was not on the storage yet.
    pub(super) fn note_dirty(&mut self, bytes: u64) {
        self.dirty_kib = self.dirty_kib.max(Some(bytes >> 10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_that_was_dirty() {
        let mut standing = Standing::new(None);
        assert_eq!(standing.dirty_kib, None);
        [4096, 1 << 20, 0].into_iter().for_each(|bytes| standing.note_dirty(bytes));
        assert_eq!(standing.dirty_kib, Some(1024));
    }
}
