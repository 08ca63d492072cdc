//! A cursor, which scans and ranges share, and the failures of a record that must not come.

use std::ffi::c_void;
use std::ptr;

use kvdyno_dataset::LentBytes;
use kvdyno_engine::{Session, abi};

use super::{Driver, NOTHING, lent};
use crate::clock::Clock;
use crate::shared::bump;

/// The capability that cursors of a direction need, with words for it.
pub(crate) fn scan_capability(backward: bool) -> (u64, &'static str) {
    match backward {
        false => (abi::CAN_SCAN, "scan"),
        true => (abi::CAN_SCAN_REVERSE, "scan against key order"),
    }
}

/// A session's cursor in one direction. It closes itself.
pub(crate) struct ScanCursor {
    handle: *mut abi::Cursor,
    seek: abi::CursorSeekFn,
    step: abi::CursorStepFn,
    close: abi::CursorCloseFn,
    direction: u32,
    /// It shows the keys with one prefix, from the first of them on.
    by_prefix: bool,
}

/// The records that a cursor shows.
#[derive(Clone, Copy)]
pub(crate) enum ShownKeys<'a> {
    All,
    /// Records from the first key on, before the second.
    Between(&'a [u8], &'a [u8]),
    /// Records whose keys begin with these bytes.
    Prefix(&'a [u8]),
}

impl Drop for ScanCursor {
    fn drop(&mut self) {
        // SAFETY: the cursor is open, and nobody uses it after this.
        unsafe { (self.close)(self.handle) }
    }
}

/// The answer of a cursor: the status, and of a hit the record.
pub(crate) type CursorAnswer<'a> = (abi::Status, Option<(&'a [u8], &'a [u8])>);

impl ScanCursor {
    /// `None` if the engine has none, or failed.
    pub(crate) fn open<C: Clock>(driver: &Driver<'_, C>, backward: bool) -> Option<ScanCursor> {
        ScanCursor::of_session(&driver.session, backward).unwrap_or_else(|status| {
            driver.engine_failed("opening a cursor", status);
            None
        })
    }

    /// `None` if the engine has none.
    ///
    /// # Errors
    /// The status of the call.
    pub(crate) fn of_session(session: &Session<'_>, backward: bool) -> Result<Option<ScanCursor>, abi::Status> {
        let (table, session) = session.raw();
        let step = if backward { table.cursor_previous } else { table.cursor_next };
        let (Some(open), Some(close), Some(seek), Some(step)) =
            (table.cursor_open, table.cursor_close, table.cursor_seek, step)
        else {
            return Ok(None);
        };
        let mut handle = ptr::null_mut();
        // SAFETY: the session is open and this thread's own.
        let status = unsafe { open(session, &mut handle) };
        if status != abi::OK {
            return Err(status);
        }
        let direction = if backward { abi::BACKWARD } else { abi::FORWARD };
        Ok(Some(ScanCursor { handle, seek, step, close, direction, by_prefix: false }))
    }

    /// One forward that shows some keys, and brings values or not; `None` as of
    /// [`ScanCursor::open`].
    pub(crate) fn open_with<C: Clock>(
        driver: &Driver<'_, C>,
        keys_only: bool,
        shown: ShownKeys<'_>,
    ) -> Option<ScanCursor> {
        let (table, session) = driver.session.raw();
        let (Some(open), Some(close), Some(seek), Some(step)) =
            (table.cursor_open_with, table.cursor_close, table.cursor_seek, table.cursor_next)
        else {
            return None;
        };
        let bytes = |key: &[u8]| abi::Bytes { data: key.as_ptr().cast(), size: key.len() };
        let (from, to, prefix) = match shown {
            ShownKeys::All => (NOTHING, NOTHING, NOTHING),
            ShownKeys::Between(from, to) => (bytes(from), bytes(to), NOTHING),
            ShownKeys::Prefix(prefix) => (NOTHING, NOTHING, bytes(prefix)),
        };
        let size = size_of::<abi::CursorOptions>() as u32;
        let options = abi::CursorOptions { size, keys_only: keys_only.into(), from, to, prefix };
        let mut handle = ptr::null_mut();
        // SAFETY: the session is open and this thread's own; the options and their keys live through the call.
        let status = unsafe { open(session, &options, &mut handle) };
        if status != abi::OK {
            driver.engine_failed("opening a cursor", status);
            return None;
        }
        let by_prefix = matches!(shown, ShownKeys::Prefix(_));
        Some(ScanCursor { handle, seek, step, close, direction: abi::FORWARD, by_prefix })
    }

    /// Moves to the first record of all in its direction.
    ///
    /// # Safety
    /// As of [`ScanCursor::go`].
    #[cold]
    pub(crate) unsafe fn go_first(&self, answer: &mut LentStep) -> abi::Status {
        // SAFETY: as the caller promises.
        unsafe { self.seek_at(ptr::null(), 0, answer) }
    }

    /// Moves to `key` where it is given, else to the record after the present one.
    ///
    /// # Safety
    /// No other call on the cursor or on its session comes while the answer is used.
    #[inline(always)]
    pub(crate) unsafe fn go<'a>(&self, key: Option<&[u8]>) -> CursorAnswer<'a> {
        let mut answer = LentStep::NOTHING;
        // SAFETY: as the caller promises.
        unsafe {
            let status = match key {
                Some(key) => self.seek(key, &mut answer),
                None => self.step(&mut answer),
            };
            answer.with(status)
        }
    }

    /// Moves to `key`; where it shows the keys with one prefix, to the first of them.
    ///
    /// # Safety
    /// The cursor's session has no other call under way.
    #[inline(always)]
    pub(crate) unsafe fn seek(&self, key: &[u8], answer: &mut LentStep) -> abi::Status {
        // SAFETY: the cursor is open and this thread's own; the key lives through the call.
        unsafe {
            match self.by_prefix {
                false => self.seek_at(key.as_ptr().cast(), key.len(), answer),
                true => self.seek_at(ptr::null(), 0, answer),
            }
        }
    }

    /// # Safety
    /// As of [`ScanCursor::seek`]; no key asks for the first record.
    unsafe fn seek_at(&self, key: *const c_void, size: usize, answer: &mut LentStep) -> abi::Status {
        *answer = LentStep::NOTHING;
        // SAFETY: as the caller promises.
        unsafe { (self.seek)(self.handle, key, size, self.direction, &mut answer.key, &mut answer.value) }
    }

    /// Moves to the record after the present one. A lent hit stays valid until the next call on the cursor or on its
    /// session.
    ///
    /// # Safety
    /// As of [`ScanCursor::go`].
    #[inline(always)]
    pub(crate) unsafe fn step(&self, answer: &mut LentStep) -> abi::Status {
        // An engine that says OK and lends nothing has lent nothing.
        answer.key.size = 0;
        // SAFETY: the cursor is open and this thread's own.
        unsafe { (self.step)(self.handle, &mut answer.key, &mut answer.value) }
    }
}

/// Key and value as the engine gave them: they are there only with the status OK.
#[derive(Clone, Copy)]
pub(crate) struct LentStep {
    pub(crate) key: abi::Bytes,
    pub(crate) value: abi::Bytes,
}

impl LentStep {
    pub(crate) const NOTHING: LentStep = LentStep { key: NOTHING, value: NOTHING };

    /// Both, as what checks them has them.
    #[inline(always)]
    pub(crate) fn parts(&self) -> (LentBytes, LentBytes) {
        let raw = |bytes: abi::Bytes| (bytes.data.cast(), bytes.size);
        (raw(self.key), raw(self.value))
    }

    /// With the status of the call, and the record only of a hit.
    ///
    /// # Safety
    /// No other call on the cursor or on its session has come since.
    pub(crate) unsafe fn with<'a>(&self, status: abi::Status) -> CursorAnswer<'a> {
        // SAFETY: as the caller promises.
        (status, (status == abi::OK).then(|| unsafe { (lent(self.key), lent(self.value)) }))
    }
}

/// The id that comes after `id` in a direction; `None` after the last.
#[inline(always)]
pub(crate) fn after(id: u64, backward: bool, records: u64) -> Option<u64> {
    match backward {
        true => id.checked_sub(1),
        false => (id + 1 < records).then_some(id + 1),
    }
}

impl<C: Clock> Driver<'_, C> {
    /// Reports that a cursor gave another record than `expected`, which is absent where no record must come. Returns
    /// the id of the record that it gave.
    #[cold]
    pub(crate) fn out_of_order(&self, backward: bool, expected: Option<u64>, key: &[u8]) -> Option<u64> {
        let Some(id) = self.keys.read(key) else {
            self.control.first_failure(&format!("a scan gave a key that was never written: {key:02x?}"));
            bump(&self.stats.wrong, 1);
            return None;
        };
        let skipped =
            expected.and_then(|expected| if backward { expected.checked_sub(id) } else { id.checked_sub(expected) });
        match (expected, skipped) {
            (Some(expected), Some(skipped)) => {
                self.control.first_failure(&format!("a scan skipped from record {expected} to {id}"));
                bump(&self.stats.missing, skipped);
            }
            (expected, _) => {
                let must = expected.map_or("none".to_owned(), |expected| expected.to_string());
                self.control.first_failure(&format!("a scan gave record {id} where {must} must come"));
                bump(&self.stats.wrong, 1);
            }
        }
        Some(id)
    }

    /// A record was there that had been deleted.
    #[cold]
    pub(crate) fn came_back(&self, id: u64) {
        self.control.first_failure(&format!("record {id} is there, though it was deleted"));
        bump(&self.stats.wrong, 1);
    }

    /// Reports that a cursor gave no record, though `expected` must come. False if the trial should end.
    #[cold]
    pub(crate) fn ended_early(&self, status: abi::Status, expected: u64) -> bool {
        if status != abi::MISS {
            return self.engine_failed(&format!("scanning to record {expected}"), status);
        }
        self.control.first_failure(&format!("a scan ended before record {expected}"));
        bump(&self.stats.missing, 1);
        true
    }
}
