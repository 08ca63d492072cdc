//! Filling the engine's cache before a run.

use kvdyno_engine::abi;

use crate::clock::Clock;
use crate::loops::Driver;
use crate::loops::cursor::{LentStep, ScanCursor};
use crate::shared::bump;

impl<C: Clock> Driver<'_, C> {
    /// Goes through all records once in key order. What they are is not looked at, as nothing is measured: the run
    /// verifies what it reads. A failed call fails the trial.
    pub(crate) fn fill_cache(&self) {
        let Some(cursor) = ScanCursor::open(self, false) else { return };
        let mut record = LentStep::NOTHING;
        // SAFETY: nobody uses what is lent.
        let mut status = unsafe { cursor.go_first(&mut record) };
        while status == abi::OK && !self.control.is_stop_requested() {
            bump(&self.control.filled, 1);
            // SAFETY: as above.
            status = unsafe { cursor.step(&mut record) };
        }
        if status != abi::OK && status != abi::MISS {
            self.engine_failed("filling the cache", status);
        }
    }
}
