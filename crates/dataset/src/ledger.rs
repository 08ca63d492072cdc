//! Which versions were acknowledged, so that a stale read is known as one.
//!
//! A table of fixed size, whatever the number of records: with up to [`LEDGER_SLOTS`] records every id has its slot,
//! beyond that every 2nd, 4th, 8th … id. Each slot is written by one thread alone, the writer that owns the id.

use std::sync::atomic::{AtomicU64, Ordering};

/// Slots of a ledger: 8 MiB.
pub const LEDGER_SLOTS: usize = 1 << 20;

/// Which ids have a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchedIds {
    shift: u32,
}

impl WatchedIds {
    /// The densest watch of `records` records that fits into the slots.
    pub fn over(records: u64) -> WatchedIds {
        let needed = records.div_ceil(LEDGER_SLOTS as u64).max(1);
        WatchedIds { shift: needed.next_power_of_two().trailing_zeros() }
    }

    /// One id in so many is watched.
    pub fn every(self) -> u64 {
        1 << self.shift
    }

    #[inline(always)]
    fn slot(self, id: u64) -> Option<usize> {
        (id & ((1 << self.shift) - 1) == 0).then_some((id >> self.shift) as usize)
    }
}

/// The newest acknowledged version of each watched id.
#[derive(Clone, Copy, Debug)]
pub struct Ledger<'a> {
    slots: &'a [AtomicU64],
    watch: WatchedIds,
}

impl<'a> Ledger<'a> {
    /// A ledger over `slots`, of which there are [`LEDGER_SLOTS`].
    pub fn new(slots: &'a [AtomicU64], watch: WatchedIds) -> Self {
        debug_assert_eq!(slots.len(), LEDGER_SLOTS);
        Ledger { slots, watch }
    }

    /// The version that a read beginning now must at least see. 0, the version of the load, for an id without a slot.
    #[inline(always)]
    pub fn min_version(&self, id: u64) -> u64 {
        // Acquire: what the engine made visible before the version was written down is visible to the read that
        // follows.
        self.watch.slot(id).and_then(|slot| self.slots.get(slot)).map_or(0, |slot| slot.load(Ordering::Acquire))
    }

    /// The watched ones of the ids below `records`, each with its newest acknowledged version.
    pub fn watched(&self, records: u64) -> impl Iterator<Item = (u64, u64)> + use<'a> {
        let every = self.watch.every();
        let slots = records.div_ceil(every) as usize;
        self.slots.iter().take(slots).zip(0..).map(move |(slot, index)| (every * index, slot.load(Ordering::Acquire)))
    }

    /// Writes down that `version` of `id` was acknowledged. Called by the owner of `id` alone, with rising versions.
    #[inline(always)]
    pub fn acknowledge(&self, id: u64, version: u64) {
        if let Some(slot) = self.watch.slot(id).and_then(|slot| self.slots.get(slot)) {
            slot.store(version, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_watch_is_as_dense_as_the_slots_allow() {
        assert_eq!(WatchedIds::over(1).every(), 1);
        assert_eq!(WatchedIds::over(1 << 20).every(), 1);
        assert_eq!(WatchedIds::over((1 << 20) + 1).every(), 2);
        assert_eq!(WatchedIds::over(4_000_000_000).every(), 4096);
        assert!(WatchedIds::over(u64::MAX).slot(!((1 << 44) - 1)).unwrap() < LEDGER_SLOTS);
    }

    #[test]
    fn it_remembers_the_watched_and_asks_nothing_of_the_others() {
        let slots: Vec<AtomicU64> = (0..LEDGER_SLOTS).map(|_| AtomicU64::new(0)).collect();
        let ledger = Ledger::new(&slots, WatchedIds::over(4_000_000_000));
        ledger.acknowledge(8192, 7);
        ledger.acknowledge(8193, 9);
        assert_eq!((ledger.min_version(8192), ledger.min_version(8193), ledger.min_version(4096)), (7, 0, 0));
        assert_eq!(ledger.watched(8193).collect::<Vec<_>>(), [(0, 0), (4096, 0), (8192, 7)]);
        assert_eq!(ledger.watched(4_000_000_000).count(), 4_000_000_000usize.div_ceil(4096));
    }
}
