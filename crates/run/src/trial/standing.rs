//! Time that a trial in slices stood still between them.

use std::time::{Duration, Instant};

use kvdyno_results::DuetSlice;
use kvdyno_worker::DuetTotals;

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
    /// Its work in slices of a duet, and all of it before the next.
    pub(super) duet_slices: Vec<DuetSlice>,
    pub(super) duets_before: DuetTotals,
    /// The most of its database that was not on the storage yet after a slice, KiB.
    pub(super) dirty_kib: Option<u64>,
}

impl Standing {
    /// Notes a slice of a duet. `now` is the trial's work in all of its duets so far.
    pub(super) fn note_duet(&mut self, now: DuetTotals) {
        let before = std::mem::replace(&mut self.duets_before, now);
        let operations = now.operations.saturating_sub(before.operations);
        self.duet_slices.push(DuetSlice { operations, cpu_s: (now.cpu_s - before.cpu_s).max(0.0) });
    }

    /// Notes how much was not on the storage yet.
    pub(super) fn note_dirty(&mut self, bytes: u64) {
        self.dirty_kib = self.dirty_kib.max(Some(bytes >> 10));
    }
}

impl Default for Standing {
    fn default() -> Self {
        let now = Instant::now();
        Standing {
            since: Some(now),
            before: Duration::ZERO,
            frozen: false,
            due: now,
            duet_slices: Vec::new(),
            duets_before: DuetTotals::default(),
            dirty_kib: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slice_of_a_duet_is_what_came_since_the_one_before() {
        let mut standing = Standing::default();
        let totals = |operations, cpu_s| DuetTotals { operations, cpu_s, client_cpu_s: 0.0 };
        [totals(100, 0.5), totals(300, 1.25), totals(300, 1.25)].into_iter().for_each(|now| standing.note_duet(now));
        let slice = |operations, cpu_s| DuetSlice { operations, cpu_s };
        assert_eq!(standing.duet_slices, [slice(100, 0.5), slice(200, 0.75), slice(0, 0.0)]);
    }

    #[test]
    fn the_most_that_was_dirty() {
        let mut standing = Standing::default();
        assert_eq!(standing.dirty_kib, None);
        [4096, 1 << 20, 0].into_iter().for_each(|bytes| standing.note_dirty(bytes));
        assert_eq!(standing.dirty_kib, Some(1024));
    }
}
