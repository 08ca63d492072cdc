//! The oldest records: which is to be deleted next, and which are gone for certain.
//!
//! The mirror of inserts: ids are given out in chunks from a counter that all clients share, and each client publishes
//! the lowest id of its chunk whose deletion is not acknowledged. Everything below all of these is gone; everything
//! from the counter on is still there.

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::{CHUNK, Inserts};
use crate::loops::Driver;
use crate::shared::ClientStats;

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
        let low = if self.next == self.end { NO_CHUNK } else { said(self.next) };
        driver.stats.take_low_water.store(low, Ordering::Release);
    }

    #[cold]
    #[inline(never)]
    fn take_chunk<C>(&mut self, driver: &Driver<'_, C>, inserts: &mut Inserts) {
        let (taken, low_water) = (&driver.control.taken.0, &driver.stats.take_low_water);
        let most = inserts.look(driver).saturating_sub(self.base);
        // As with inserts, the low water goes down before the counter is taken from.
        low_water.store(said(self.base + taken.load(Ordering::SeqCst)), Ordering::SeqCst);
        let more = |taken: u64| taken.checked_add(CHUNK).filter(|taken| *taken <= most);
        let given = taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more);
        if let Ok(first) = given {
            (self.next, self.end) = (self.base + first, self.base + first + CHUNK);
        }
        low_water.store(given.map_or(NO_CHUNK, |first| said(self.base + first)), Ordering::SeqCst);
        self.look(driver);
    }

    /// Looks for what was taken.
    pub(crate) fn look<C>(&mut self, driver: &Driver<'_, C>) {
        let taken = driver.control.taken.0.load(Ordering::SeqCst);
        self.left = self.left.max(self.base + taken);
        self.gone = self.gone.max(gone(self.base, taken, driver.clients));
    }

    /// Whether `id` has been given out by now, and so may have been taken.
    pub(crate) fn may_be_gone<C>(&self, driver: &Driver<'_, C>, id: u64) -> bool {
        id < driver.present.taken.max(self.base + driver.control.taken.0.load(Ordering::SeqCst))
    }
}

/// A client that has no chunk.
const NO_CHUNK: u64 = 0;

/// A low water as it is published: 0 is a low water, too.
fn said(low: u64) -> u64 {
    low + 1
}

/// The id below which all ids are gone, in a trial that takes from `base` on. `taken` is the number of ids that were
/// given out before the clients' statistics are read.
pub(super) fn gone(base: u64, taken: u64, clients: &[ClientStats]) -> u64 {
    let low_waters = clients.iter().map(|stats| stats.take_low_water.load(Ordering::SeqCst));
    let low_waters = low_waters.filter(|low| *low != NO_CHUNK).map(|low| low - 1);
    low_waters.fold(base.saturating_add(taken), u64::min)
}
