//! The ledger of a database, in memory that worker and parent share, and as it is kept.

use std::io;
use std::iter;
use std::mem::size_of;
use std::ops::Range;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};

use kvdyno_dataset::{LEDGER_SLOTS, Ledger, WatchedIds, deletion_words};

use crate::histogram::touch;
use crate::segment::Segment;

/// The slots of a database's ledger, and where records are deleted a bit for each.
#[derive(Debug)]
pub struct LedgerMemory {
    segment: Segment,
}

impl LedgerMemory {
    const WORD: usize = size_of::<AtomicU64>();
    /// Words of the smallest page that a machine has.
    const PAGE_WORDS: usize = 4096 / Self::WORD;

    /// A new ledger: version 0 everywhere, and nothing deleted. It has bits for `deletable` records.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn create(deletable: u64) -> io::Result<LedgerMemory> {
        LedgerMemory::with_words(LEDGER_SLOTS + deletion_words(deletable))
    }

    fn with_words(words: usize) -> io::Result<LedgerMemory> {
        Ok(LedgerMemory { segment: Segment::create("kvdyno-ledger", words * Self::WORD)? })
    }

    /// One that [`LedgerMemory::save`] saved, with bits for `deletable` records if it has none. `None` if it is
    /// something else.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn restore(saved: &[u8], deletable: u64) -> io::Result<Option<LedgerMemory>> {
        let (words, []) = saved.as_chunks::<{ Self::WORD }>() else { return Ok(None) };
        let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
        let slots = words.next().map(usize::try_from);
        let Some(Ok(slots)) = slots.filter(|slots| slots.is_ok_and(|slots| slots <= LEDGER_SLOTS.min(words.len())))
        else {
            return Ok(None);
        };
        let deletions = (words.len() - slots).max(deletion_words(deletable));
        let ledger = LedgerMemory::with_words(LEDGER_SLOTS + deletions)?;
        let store = |(to, word): (&AtomicU64, u64)| to.store(word, Ordering::Relaxed);
        ledger.slots().iter().zip(words.by_ref().take(slots)).for_each(store);
        ledger.deletions().iter().zip(words).for_each(store);
        Ok(Some(ledger))
    }

    /// The parent's ledger, in the worker, with all pages of it that the parent has.
    ///
    /// # Errors
    /// If it is not one.
    ///
    /// # Safety
    /// `fd` was handed over by the parent for this purpose and is used for nothing else.
    pub unsafe fn inherit(fd: RawFd) -> io::Result<LedgerMemory> {
        // SAFETY: as the caller promises.
        let segment = unsafe { Segment::inherit(fd, LEDGER_SLOTS * Self::WORD) }?;
        let ledger = LedgerMemory { segment };
        ledger.touched().into_iter().for_each(|words| ledger.touch(words));
        Ok(ledger)
    }

    /// Takes memory for the versions of the ids below `ids`, in a database that was loaded with `records`, and for all
    /// bits, here and in workers to come: no page fault of ours falls into a measurement.
    pub fn prepare(&self, ids: u64, records: u64) {
        let slots = ids.div_ceil(WatchedIds::over(records).every()).min(LEDGER_SLOTS as u64) as usize;
        self.touch(0..slots);
        self.touch(LEDGER_SLOTS..self.all().len());
    }

    fn touch(&self, words: Range<usize>) {
        self.all()[words].iter().step_by(Self::PAGE_WORDS).for_each(touch);
    }

    /// The words that may be other than 0.
    fn touched(&self) -> Vec<Range<usize>> {
        self.segment.touched().into_iter().map(|bytes| bytes.start / Self::WORD..bytes.end / Self::WORD).collect()
    }

    /// The file, for the worker to inherit.
    pub fn fd(&self) -> RawFd {
        self.segment.fd()
    }

    fn all(&self) -> &[AtomicU64] {
        // SAFETY: the segment has so many page-aligned atomics, valid for any bytes.
        unsafe {
            std::slice::from_raw_parts(self.segment.as_ptr().cast::<AtomicU64>(), self.segment.len() / Self::WORD)
        }
    }

    /// The slots.
    pub fn slots(&self) -> &[AtomicU64] {
        &self.all()[..LEDGER_SLOTS]
    }

    /// The bits of deleted records; none where none are deleted.
    fn deletions(&self) -> &[AtomicU64] {
        &self.all()[LEDGER_SLOTS..]
    }

    /// The ledger of a database that was loaded with so many records.
    pub fn of(&self, records: u64) -> Ledger<'_> {
        Ledger::new(self.slots(), WatchedIds::over(records)).with_deletions(self.deletions())
    }

    /// Why what is in it cannot be true, if it was `earlier` before and the newest version is `last_version`.
    pub fn implausible(&self, earlier: &LedgerMemory, last_version: u64) -> Option<String> {
        let touched = [self, earlier].into_iter().flat_map(LedgerMemory::touched);
        let slots = touched.flat_map(|words| words.start..words.end.min(LEDGER_SLOTS));
        let version = |ledger: &LedgerMemory, slot: usize| ledger.slots()[slot].load(Ordering::Relaxed);
        let mut versions = slots.map(|slot| (slot, version(self, slot), version(earlier, slot)));
        let wrong = versions.find(|(_, now, then)| now < then || *now > last_version);
        wrong.map(|(slot, now, then)| {
            format!(
                "what lies in the database's ledger cannot be true: version {now} in slot {slot}, where {then} was \
                 acknowledged before and nothing newer than {last_version} was written"
            )
        })
    }

    /// The ledger as bytes, for storage: words of 8 bytes, lowest byte first. The first word is the number of slots
    /// that follow. Then come these slots, the last of which is not 0, and the bits.
    pub fn save(&self) -> Vec<u8> {
        let value = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let of_slots = |words: Range<usize>| words.start..words.end.min(LEDGER_SLOTS);
        let is_used = |slot: &usize| value(&self.slots()[*slot]) != 0;
        let last = self.touched().into_iter().rev().flat_map(|words| of_slots(words).rev()).find(is_used);
        let used = last.map_or(0, |slot| slot + 1);
        let words = self.slots()[..used].iter().chain(self.deletions()).map(value);
        iter::once(used as u64).chain(words).flat_map(u64::to_le_bytes).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::{BorrowedFd, IntoRawFd};

    use super::*;

    const PAGE_IDS: u64 = LedgerMemory::PAGE_WORDS as u64;

    #[test]
    fn a_ledger_takes_memory_for_the_ids_that_are_used_and_a_bit_for_each_record_that_may_be_deleted() {
        let kib = |deletable: u64, ids: u64, records: u64| {
            let ledger = LedgerMemory::create(deletable).unwrap();
            ledger.prepare(ids, records);
            ledger.segment.kib()
        };
        let page = rustix::param::page_size();
        assert_eq!(kib(0, 1000, 1000), 8000_usize.next_multiple_of(page) / 1024);
        assert_eq!(kib(0, 1 << 19, 1000), 4096);
        assert_eq!(kib(0, u64::MAX, 1000), 8192);
        // One id in 1024 has a slot.
        assert_eq!(kib(0, 1 << 30, 1 << 30), 8192);
        assert_eq!(kib(1 << 25, 0, 1 << 25), (1 << 25) / 8 / 1024);
    }

    #[test]
    fn it_comes_back_as_it_was_saved() {
        let ledger = LedgerMemory::create(0).unwrap();
        assert_eq!(ledger.save().len(), 8);
        ledger.slots()[77].store(5, Ordering::Relaxed);
        assert_eq!(ledger.save().len(), 8 * (1 + 78));
        for not_one in [&b"short"[..], &[], &78u64.to_le_bytes(), &u64::MAX.to_le_bytes()] {
            assert!(LedgerMemory::restore(not_one, 0).unwrap().is_none(), "{not_one:?}");
        }
        let again = LedgerMemory::restore(&ledger.save(), 1000).unwrap().unwrap();
        assert_eq!(again.slots()[77].load(Ordering::Relaxed), 5);
        assert!(!ledger.of(1000).has_deletions() && again.of(1000).has_deletions());
        again.of(1000).set_deleted(3, true);
        let once_more = LedgerMemory::restore(&again.save(), 0).unwrap().unwrap();
        assert!(once_more.of(1000).is_deleted(3) && !once_more.of(1000).is_deleted(4));
        assert_eq!(once_more.slots()[77].load(Ordering::Relaxed), 5);
        let last = LEDGER_SLOTS - 1;
        once_more.slots()[last].store(9, Ordering::Relaxed);
        let whole = LedgerMemory::restore(&once_more.save(), 0).unwrap().unwrap();
        let versions = [77, 78, last].map(|slot| whole.slots()[slot].load(Ordering::Relaxed));
        assert!(versions == [5, 0, 9] && whole.of(1000).is_deleted(3));
    }

    /// Also where one of both has no memory for a page.
    #[test]
    fn versions_that_cannot_be_true_are_told() {
        let stored = |versions: &[(u64, u64)]| {
            let ledger = LedgerMemory::create(0).unwrap();
            versions.iter().for_each(|(id, version)| ledger.of(1000).acknowledge(*id, *version));
            ledger
        };
        let said = |now: &[(u64, u64)], then: &[(u64, u64)]| stored(now).implausible(&stored(then), 9);
        let far = 3 * PAGE_IDS;
        assert_eq!(said(&[], &[]), None);
        assert_eq!(said(&[(1, 9), (far, 2)], &[(1, 8)]), None);
        assert!(said(&[], &[(far, 5)]).unwrap().contains(&format!("version 0 in slot {far}, where 5")));
        assert!(said(&[(far, 10)], &[]).unwrap().contains("newer than 9"));
        assert!(said(&[(1, 3), (far, 4)], &[(1, 4)]).is_some());
    }

    #[test]
    fn a_worker_has_the_pages_that_its_parent_has() {
        let ledger = LedgerMemory::create(0).unwrap();
        let words = 5 * rustix::param::page_size() / LedgerMemory::WORD;
        ledger.prepare(words as u64, 1000);
        // SAFETY: the ledger keeps its file open, and nothing else owns the copy.
        let inherited = unsafe {
            let copy = rustix::io::dup(BorrowedFd::borrow_raw(ledger.fd())).unwrap();
            LedgerMemory::inherit(copy.into_raw_fd()).unwrap()
        };
        assert_eq!(inherited.touched(), vec![Range { start: 0, end: words }]);
        inherited.of(1000).acknowledge(7, 3);
        assert_eq!(ledger.of(1000).min_version(7), 3);
    }
}
