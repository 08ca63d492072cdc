//! Reading all records through a cursor, again and again.

use std::ptr;
use std::sync::atomic::Ordering;

use kvdyno_engine::abi;
use kvdyno_workload::Stream;

use super::{Driver, Limit, NOTHING, Work, lent};
use crate::clock::{Clock, Turnaround};
use crate::shared::{Tally, bump};

/// One thread's scan. It begins at a random record, so that threads are apart.
pub(super) struct Scan {
    backward: bool,
    /// The record that must come next; `None`: the first of a new round.
    expected: Option<u64>,
    key: Vec<u8>,
    first: u64,
    turnaround: Turnaround,
}

impl Scan {
    pub(super) fn new<C: Clock>(mut stream: Stream, backward: bool, driver: &Driver<'_, C>) -> Self {
        let first = stream.below(driver.workload.data.records);
        let turnaround = Turnaround::new(driver.clock);
        Scan { backward, expected: None, key: driver.keys.blank(), first, turnaround }
    }
}

/// A cursor that closes itself.
struct OpenCursor {
    handle: *mut abi::Cursor,
    close: abi::CursorCloseFn,
}

impl Drop for OpenCursor {
    fn drop(&mut self) {
        // SAFETY: the cursor is open, and nobody uses it after this.
        unsafe { (self.close)(self.handle) }
    }
}

impl<C: Clock> Work<C> for Scan {
    fn run(&mut self, driver: &mut Driver<'_, C>, tally: &Tally, limit: Limit<'_>) {
        let (table, session) = driver.session.raw();
        let step = if self.backward { table.cursor_previous } else { table.cursor_next };
        let (Some(open), Some(close), Some(seek), Some(step)) =
            (table.cursor_open, table.cursor_close, table.cursor_seek, step)
        else {
            return;
        };
        let mut handle = ptr::null_mut();
        // SAFETY: the session is open and this thread's own.
        let status = unsafe { open(session, &mut handle) };
        if status != abi::OK {
            driver.engine_failed("opening a cursor", status);
            return;
        }
        let cursor = OpenCursor { handle, close };
        self.rounds(driver, tally, limit, &cursor, seek, step);
    }
}

impl Scan {
    fn rounds<C: Clock>(
        &mut self,
        driver: &Driver<'_, C>,
        tally: &Tally,
        limit: Limit<'_>,
        cursor: &OpenCursor,
        seek: abi::CursorSeekFn,
        step: abi::CursorStepFn,
    ) {
        let clock = driver.clock;
        let direction = if self.backward { abi::BACKWARD } else { abi::FORWARD };
        let mut seek_to = Some(self.expected.unwrap_or(self.first));
        let mut end = clock.now();
        for _ in 0..limit.operations {
            let (mut found, mut value) = (NOTHING, NOTHING);
            if let Some(id) = seek_to {
                driver.keys.write(id, &mut self.key);
            }
            let start = self.turnaround.begin(clock, end);
            // SAFETY: the cursor is open and this thread's own; the key lives through the call.
            let status = unsafe {
                match seek_to {
                    Some(_) => {
                        let key = self.key.as_ptr().cast();
                        seek(cursor.handle, key, self.key.len(), direction, &mut found, &mut value)
                    }
                    None => step(cursor.handle, &mut found, &mut value),
                }
            };
            end = clock.now();
            tally.latency.record(end.saturating_sub(start));
            tally.until.store(end, Ordering::Relaxed);
            let expected = seek_to.or(self.expected);
            // SAFETY: the engine lent both in the call just made, if it was a hit.
            let record = (status == abi::OK).then(|| unsafe { (lent(found), lent(value)) });
            match self.check(driver, status, expected, record) {
                Next::Step => seek_to = None,
                Next::NewRound => seek_to = Some(self.round_start(driver)),
                Next::Stop => break,
            }
            if end >= limit.until.load(Ordering::Relaxed) {
                break;
            }
        }
    }

    fn round_start<C>(&self, driver: &Driver<'_, C>) -> u64 {
        if self.backward { driver.workload.data.records - 1 } else { 0 }
    }

    /// The id that comes after `id` in this scan; `None` after the last.
    fn after<C>(&self, id: u64, driver: &Driver<'_, C>) -> Option<u64> {
        match self.backward {
            true => id.checked_sub(1),
            false => (id + 1 < driver.workload.data.records).then_some(id + 1),
        }
    }

    /// Holds an answer against what must come, and says what to do next.
    #[inline(always)]
    fn check<C: Clock>(
        &mut self,
        driver: &Driver<'_, C>,
        status: abi::Status,
        expected: Option<u64>,
        record: Option<(&[u8], &[u8])>,
    ) -> Next {
        match (record, expected) {
            (Some((key, value)), Some(id)) => {
                if driver.keys.read(key) == Some(id) {
                    if driver.verifies() && !driver.values.is_right(id, driver.ledger.floor(id), value) {
                        driver.wrong_value(id, driver.ledger.floor(id), value);
                    }
                    self.expected = self.after(id, driver);
                    Next::Step
                } else {
                    self.out_of_order(driver, id, key)
                }
            }
            (Some((key, _)), None) => self.out_of_order(driver, driver.workload.data.records, key),
            (None, None) if status == abi::MISS => Next::NewRound,
            (None, expected) => self.ended_early(driver, status, expected.unwrap_or(0)),
        }
    }

    /// Another record came than `expected`.
    #[cold]
    fn out_of_order<C: Clock>(&mut self, driver: &Driver<'_, C>, expected: u64, key: &[u8]) -> Next {
        let Some(found) = driver.keys.read(key) else {
            driver.control.first_failure(&format!("a scan gave a key that was never written: {key:02x?}"));
            bump(&driver.lane.wrong, 1);
            return Next::NewRound;
        };
        let skipped = if self.backward { expected.checked_sub(found) } else { found.checked_sub(expected) };
        match skipped {
            Some(skipped) if expected < driver.workload.data.records => {
                driver.control.first_failure(&format!("a scan skipped from record {expected} to {found}"));
                bump(&driver.lane.missing, skipped);
            }
            _ => {
                driver.control.first_failure(&format!("a scan gave record {found} where {expected} must come"));
                bump(&driver.lane.wrong, 1);
            }
        }
        self.expected = self.after(found, driver);
        Next::Step
    }

    /// Nothing came, though `expected` must.
    #[cold]
    fn ended_early<C: Clock>(&mut self, driver: &Driver<'_, C>, status: abi::Status, expected: u64) -> Next {
        if status != abi::MISS {
            let goes_on = driver.engine_failed(&format!("scanning to record {expected}"), status);
            return if goes_on { Next::NewRound } else { Next::Stop };
        }
        driver.control.first_failure(&format!("a scan ended before record {expected}"));
        bump(&driver.lane.missing, 1);
        Next::NewRound
    }
}

enum Next {
    Step,
    NewRound,
    Stop,
}
