//! The oldest records: which is to be deleted next, and which are gone for certain.
//!
//! The mirror of inserts: ids are given out in chunks from a counter that all clients share, and each client publishes
//! the lowest id of its chunk whose deletion is not acknowledged. Everything below all of these is gone; everything
//! from the counter on is still there.

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::{CHUNK, Inserts, NO_CHUNK, left_behind, low_water, published, takes_of};
use crate::loops::Driver;

/// The ids that a client takes.
pub(crate) struct Takes {
    /// The first id that this trial takes.
    base: u64,
    /// The part of its chunk that is left.
    next: u64,
    end: u64,
    /// No id from here on had been given out when this client last looked.
    left: u64,
    /// All ids below were gone then.
    gone: u64,
}

impl Takes {
    pub(crate) fn new<C>(driver: &Driver<'_, C>) -> Takes {
        let (base, left) = (driver.present.gone, driver.present.taken);
        Takes { base, next: 0, end: 0, left, gone: base }
    }

    /// All ids from here on were there when this client last looked, unless more are taken.
    #[inline(always)]
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// All ids below are gone.
    #[inline(always)]
    pub(crate) fn gone(&self) -> u64 {
        self.gone
    }

    /// Whether the records that this trial takes before `id` are whole chunks.
    #[inline(always)]
    pub(crate) fn begins_a_chunk(&self, id: u64) -> bool {
        id.wrapping_sub(self.base).is_multiple_of(CHUNK)
    }

    /// The id to delete now; it stays the same until it is [`Takes::acknowledged`]. `None` if there is no chunk of
    /// which all records are there for certain.
    #[inline(always)]
    pub(crate) fn next<C>(&mut self, driver: &Driver<'_, C>, inserts: &mut Inserts) -> Option<u64> {
        if self.next == self.end {
            self.take_chunk(driver, inserts);
        }
        (self.next < self.end).then_some(self.next)
    }

    /// All that are left of the chunk, to be deleted together, and to be [`Takes::all_acknowledged`].
    #[inline(always)]
    pub(crate) fn rest<C>(&mut self, driver: &Driver<'_, C>, inserts: &mut Inserts) -> Option<Range<u64>> {
        self.next(driver, inserts).map(|first| first..self.end)
    }

    /// The rest of the chunk is gone now.
    #[inline(always)]
    pub(crate) fn all_acknowledged<C>(&mut self, driver: &Driver<'_, C>) {
        self.next = self.end - 1;
        self.acknowledged(driver);
    }

    /// The id is gone now.
    #[inline(always)]
    pub(crate) fn acknowledged<C>(&mut self, driver: &Driver<'_, C>) {
        self.next += 1;
        let low = if self.next == self.end { NO_CHUNK } else { published(self.next) };
        driver.stats.takes.low_water.store(low, Ordering::Release);
    }

    #[cold]
    #[inline(never)]
    fn take_chunk<C>(&mut self, driver: &Driver<'_, C>, inserts: &mut Inserts) {
        let (taken, own) = (&driver.control.taken.0, &driver.stats.takes);
        let ids = left_behind(own, driver.clients, &driver.control.hand_overs, takes_of).or_else(|| {
            let most = inserts.look(driver).saturating_sub(self.base);
            // As with inserts, the low water goes down before the counter is taken from.
            own.low_water.store(published(self.base + taken.load(Ordering::SeqCst)), Ordering::SeqCst);
            let more = |taken: u64| taken.checked_add(CHUNK).filter(|taken| *taken <= most);
            let given = taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).ok();
            let first = given.map(|given| self.base + given);
            own.low_water.store(first.map_or(NO_CHUNK, published), Ordering::SeqCst);
            first.map(|first| first..first + CHUNK)
        });
        if let Some(ids) = ids {
            (self.next, self.end) = (ids.start, ids.end);
        }
        self.look(driver);
    }

    /// Leaves the rest of the chunk at the end of a part of the work: another client goes on when this one does not.
    pub(crate) fn leave<C>(&mut self, driver: &Driver<'_, C>) {
        driver.stats.takes.leave(self.next..self.end);
        self.end = self.next;
    }

    /// Looks for what was taken.
    pub(crate) fn look<C>(&mut self, driver: &Driver<'_, C>) {
        let taken = driver.control.taken.0.load(Ordering::SeqCst);
        self.left = self.left.max(self.base + taken);
        self.gone = self.gone.max(low_water(self.base, taken, driver.clients, &driver.control.hand_overs, takes_of));
    }

    /// Whether `id` has been given out by now, and so may have been taken.
    pub(crate) fn may_be_gone<C>(&self, driver: &Driver<'_, C>, id: u64) -> bool {
        id < driver.present.taken.max(self.base + driver.control.taken.0.load(Ordering::SeqCst))
    }
}
