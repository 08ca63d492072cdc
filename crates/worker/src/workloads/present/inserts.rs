//! New records: which id comes next, and which are there for certain.
//!
//! Ids are given out in chunks from a counter that all clients share, touched once for a chunk. Each client publishes
//! the lowest id of its chunk that is not acknowledged yet, its *low water*. Everything below all low waters, and below
//! the counter as it was before they were read, is there. The rest of a chunk that a client leaves when a part of its
//! work ends is handed over to the next that needs ids.

use std::sync::atomic::Ordering;

use super::{CHUNK, NO_CHUNK, inserts_of, left_behind, low_water, published};
use crate::loops::Driver;

/// The most records that all trials on a database can insert: keys of 16 digits still differ in their lower half, which
/// is the cheapest to make.
pub(crate) const MOST_INSERTED: u64 = 1 << 31;

/// The ids that a client inserts.
pub(crate) struct Inserts {
    /// The first id that is inserted in this trial: everything below was there before.
    base: u64,
    /// The part of its chunk that is left.
    next: u64,
    end: u64,
    /// Ids of a chunk: whole batches.
    chunk: u64,
    /// All ids below are there.
    there: u64,
}

impl Inserts {
    pub(crate) fn new<C>(driver: &Driver<'_, C>) -> Inserts {
        let base = driver.present.there;
        let batch = driver.parameters.batch.max(1);
        Inserts { base, next: 0, end: 0, chunk: (CHUNK / batch).max(1) * batch, there: base }
    }

    /// All ids below were inserted: they were when this client last looked.
    #[inline(always)]
    pub(crate) fn there(&self) -> u64 {
        self.there
    }

    /// The same, looked up anew.
    #[cold]
    #[inline(never)]
    pub(crate) fn look<C>(&mut self, driver: &Driver<'_, C>) -> u64 {
        let given_out = driver.control.shared_work.0.load(Ordering::SeqCst);
        self.there =
            self.there.max(low_water(self.base, given_out, driver.clients, &driver.control.hand_overs, inserts_of));
        self.there
    }

    /// The id to insert now; it stays the same until it is [`Inserts::acknowledged`].
    #[inline(always)]
    pub(crate) fn next<C>(&mut self, driver: &Driver<'_, C>) -> u64 {
        if self.next == self.end {
            self.take_chunk(driver);
        }
        self.next
    }

    /// The id is there now.
    #[inline(always)]
    pub(crate) fn acknowledged<C>(&mut self, driver: &Driver<'_, C>) {
        self.several_acknowledged(driver, 1);
    }

    /// The id is there now, and so are those after it of a batch.
    #[inline(always)]
    pub(crate) fn several_acknowledged<C>(&mut self, driver: &Driver<'_, C>, count: u64) {
        self.next += count;
        // A client that works alone knows without looking.
        if driver.clients.len() == 1 {
            self.there = self.next;
        }
        // Release: who sees it finds the record in the engine.
        let low = if self.next == self.end { NO_CHUNK } else { published(self.next) };
        driver.stats.inserts.low_water.store(low, Ordering::Release);
    }

    #[cold]
    #[inline(never)]
    fn take_chunk<C>(&mut self, driver: &Driver<'_, C>) {
        let (given_out, own) = (&driver.control.shared_work.0, &driver.stats.inserts);
        let ids = left_behind(own, driver.clients, &driver.control.hand_overs, inserts_of).unwrap_or_else(|| {
            // The own low water must never be above an id that this client was given and has not inserted, not even
            // between these steps. So it is lowered to the counter's value before ids are taken from the counter.
            own.low_water.store(published(self.base + given_out.load(Ordering::SeqCst)), Ordering::SeqCst);
            let first = self.base + given_out.fetch_add(self.chunk, Ordering::SeqCst);
            own.low_water.store(published(first), Ordering::SeqCst);
            first..first + self.chunk
        });
        (self.next, self.end) = (ids.start, ids.end);
        self.look(driver);
    }

    /// Leaves the rest of the chunk at the end of a part of the work: another client goes on when this one does not.
    pub(crate) fn leave<C>(&mut self, driver: &Driver<'_, C>) {
        driver.stats.inserts.leave(self.next..self.end);
        self.end = self.next;
    }

    /// Whether `id`, which is not known to be there, may be: it was given out in this trial, or in an earlier one that
    /// had not acknowledged all before it.
    pub(crate) fn may_be_there<C>(&self, driver: &Driver<'_, C>, id: u64) -> bool {
        id < driver.present.given_out.max(self.base + driver.control.shared_work.0.load(Ordering::SeqCst))
    }
}
