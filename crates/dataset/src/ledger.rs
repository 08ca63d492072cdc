//! Which versions were acknowledged, so that a stale read is known as one, and which records were deleted.
//!
//! A table of fixed size for any number of records: with up to [`LEDGER_SLOTS`] records every id has its slot, beyond
//! that every 2nd, 4th, 8th … id. Each slot is written by one thread alone, the writer that owns the id.
//!
//! If records are deleted, each record also has a bit. The client that owns one bit of a cache line owns them all.

use std::sync::atomic::{AtomicU64, Ordering};

/// Slots of a ledger: 8 MiB.
pub const LEDGER_SLOTS: usize = 1 << 20;

/// Ids whose bits share a cache line: a client that deletes owns all of them, or none.
pub const DELETION_BLOCK: u64 = 8 * CACHE_LINE;

/// Bytes of a cache line.
const CACHE_LINE: u64 = 64;

/// Words of 64 bits for the bits of `records` records, a whole number of cache lines.
pub fn deletion_words(records: u64) -> usize {
    (records.div_ceil(DELETION_BLOCK) * (CACHE_LINE / 8)) as usize
}

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

    /// One id in this number is watched.
    pub fn every(self) -> u64 {
        1 << self.shift
    }

    #[inline(always)]
    fn slot(self, id: u64) -> Option<usize> {
        (id & ((1 << self.shift) - 1) == 0).then_some((id >> self.shift) as usize)
    }
}

/// The newest acknowledged version of each watched id, and which ids were deleted.
#[derive(Clone, Copy, Debug)]
pub struct Ledger<'a> {
    slots: &'a [AtomicU64],
    watch: WatchedIds,
    /// A bit for each id, set where it was deleted; empty where nothing ever was.
    deleted: &'a [AtomicU64],
}

impl<'a> Ledger<'a> {
    /// A ledger over `slots`, of which there are [`LEDGER_SLOTS`].
    pub fn new(slots: &'a [AtomicU64], watch: WatchedIds) -> Self {
        debug_assert_eq!(slots.len(), LEDGER_SLOTS);
        Ledger { slots, watch, deleted: &[] }
    }

    /// The same with bits of deleted ids, of which there are [`deletion_words`].
    pub fn with_deletions(self, deleted: &'a [AtomicU64]) -> Self {
        Ledger { deleted, ..self }
    }

    /// Ids whose versions share a cache line, from a multiple of this number on: a power of two.
    pub fn ids_of_a_line(&self) -> u64 {
        self.watch.every() * (CACHE_LINE / 8)
    }

    /// Whether records may be deleted, or were.
    pub fn has_deletions(&self) -> bool {
        !self.deleted.is_empty()
    }

    /// Whether the ledger knows the newest version of `id`.
    pub fn is_watched(&self, id: u64) -> bool {
        self.watch.slot(id).is_some()
    }

    /// Whether the last acknowledged write of `id` was its deletion.
    #[inline(always)]
    pub fn is_deleted(&self, id: u64) -> bool {
        let word = self.deleted.get((id / 64) as usize);
        // Acquire: as for versions.
        word.is_some_and(|word| word.load(Ordering::Acquire) >> (id % 64) & 1 == 1)
    }

    /// Number of deleted ids.
    pub fn deleted(&self) -> u64 {
        self.deleted.iter().map(|word| u64::from(word.load(Ordering::Acquire).count_ones())).sum()
    }

    /// Writes down that `id` was deleted, or written again. Called by the owner of its block alone.
    #[inline(always)]
    pub fn set_deleted(&self, id: u64, deleted: bool) {
        if let Some(word) = self.deleted.get((id / 64) as usize) {
            let (bit, others) = (u64::from(deleted) << (id % 64), !(1 << (id % 64)));
            word.store(word.load(Ordering::Relaxed) & others | bit, Ordering::Release);
        }
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
    fn it_remembers_what_was_deleted() {
        let slots: Vec<AtomicU64> = (0..LEDGER_SLOTS).map(|_| AtomicU64::new(0)).collect();
        let bits: Vec<AtomicU64> = (0..deletion_words(1000)).map(|_| AtomicU64::new(0)).collect();
        assert_eq!(bits.len() as u64 * 64, 2 * DELETION_BLOCK);
        let ledger = Ledger::new(&slots, WatchedIds::over(1000));
        assert!(!ledger.has_deletions());
        let ledger = ledger.with_deletions(&bits);
        [63, 64, 999].into_iter().for_each(|id| ledger.set_deleted(id, true));
        ledger.set_deleted(64, false);
        assert!(ledger.has_deletions());
        assert_eq!((0..1000).filter(|&id| ledger.is_deleted(id)).collect::<Vec<_>>(), [63, 999]);
        assert_eq!(ledger.deleted(), 2);
        ledger.set_deleted(5000, true);
        assert!(!ledger.is_deleted(5000), "beyond the bits nothing is deleted");
    }

    #[test]
    fn it_remembers_the_watched_and_asks_nothing_of_the_others() {
        let slots: Vec<AtomicU64> = (0..LEDGER_SLOTS).map(|_| AtomicU64::new(0)).collect();
        let ledger = Ledger::new(&slots, WatchedIds::over(4_000_000_000));
        ledger.acknowledge(8192, 7);
        ledger.acknowledge(8193, 9);
        assert_eq!(ledger.ids_of_a_line(), 8 * 4096);
        assert_eq!((ledger.min_version(8192), ledger.min_version(8193), ledger.min_version(4096)), (7, 0, 0));
        assert_eq!(ledger.watched(8193).collect::<Vec<_>>(), [(0, 0), (4096, 0), (8192, 7)]);
        assert_eq!(ledger.watched(4_000_000_000).count(), 4_000_000_000usize.div_ceil(4096));
    }
}
