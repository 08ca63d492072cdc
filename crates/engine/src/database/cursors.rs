//! Cursors of a session.

use std::{mem, ptr};

use kvdyno_abi as abi;
use kvdyno_abi::adapter::CursorLimits;

use super::{Answer, Session, lent, missing};
use crate::error::EngineError;

impl<'db> Session<'db> {
    /// A cursor.
    ///
    /// # Errors
    /// The engine's error.
    pub fn cursor(&mut self) -> Result<Cursor<'_, 'db>, EngineError> {
        let mut handle = ptr::null_mut();
        let call = self.table.cursor_open.ok_or_else(|| missing("scans"))?;
        // SAFETY: the session is open.
        let status = unsafe { call(self.handle, &mut handle) };
        self.ended(status)?;
        Ok(Cursor { session: self, handle })
    }

    /// A cursor that keeps to `limits`.
    ///
    /// # Errors
    /// The engine's error.
    pub fn cursor_with(&mut self, limits: CursorLimits<'_>) -> Result<Cursor<'_, 'db>, EngineError> {
        let mut handle = ptr::null_mut();
        let call =
            self.table.cursor_open_with.ok_or_else(|| missing("cursors with bounds, by prefix or of keys alone"))?;
        let bound = |key: Option<&[u8]>| key.map_or(abi::Bytes::NONE, abi::Bytes::of);
        let options = abi::CursorOptions {
            size: mem::size_of::<abi::CursorOptions>() as u32,
            keys_only: limits.keys_only.into(),
            from: bound(limits.from),
            to: bound(limits.to),
            prefix: bound(limits.prefix),
        };
        // SAFETY: the session is open; the options and their keys live through the call.
        let status = unsafe { call(self.handle, &options, &mut handle) };
        self.ended(status)?;
        Ok(Cursor { session: self, handle })
    }
}

/// A cursor of a session.
#[derive(Debug)]
pub struct Cursor<'s, 'db> {
    session: &'s mut Session<'db>,
    handle: *mut abi::Cursor,
}

/// Key and value of a record.
pub type Record<'a> = (&'a [u8], &'a [u8]);

impl Cursor<'_, '_> {
    /// Moves to `key` or the nearest in `direction` ([`abi::FORWARD`], [`abi::BACKWARD`]); without a key to that end.
    ///
    /// # Errors
    /// The engine's error.
    pub fn seek(&mut self, key: Option<&[u8]>, direction: u32) -> Result<Answer<Record<'_>>, EngineError> {
        let (mut at, mut value) = (abi::Bytes::NONE, abi::Bytes::NONE);
        let abi::Bytes { data, size } = key.map_or(abi::Bytes::NONE, abi::Bytes::of);
        let call = self.session.table.cursor_seek.ok_or_else(|| missing("scans"))?;
        // SAFETY: the cursor is open, the key is readable or NULL.
        let status = unsafe { call(self.handle, data, size, direction, &mut at, &mut value) };
        // SAFETY: the loans stand until the next call, which needs `&mut self`.
        self.session.answered(status, || unsafe { (lent(at), lent(value)) })
    }

    /// The next record.
    ///
    /// # Errors
    /// The engine's error.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Answer<Record<'_>>, EngineError> {
        self.step(self.session.table.cursor_next)
    }

    /// The record before.
    ///
    /// # Errors
    /// The engine's error.
    pub fn previous(&mut self) -> Result<Answer<Record<'_>>, EngineError> {
        self.step(self.session.table.cursor_previous)
    }

    #[inline]
    fn step(&mut self, call: Option<abi::CursorStepFn>) -> Result<Answer<Record<'_>>, EngineError> {
        let (mut at, mut value) = (abi::Bytes::NONE, abi::Bytes::NONE);
        let call = call.ok_or_else(|| missing("scans"))?;
        // SAFETY: the cursor is open.
        let status = unsafe { call(self.handle, &mut at, &mut value) };
        // SAFETY: the loans stand until the next call, which needs `&mut self`.
        self.session.answered(status, || unsafe { (lent(at), lent(value)) })
    }
}

impl Drop for Cursor<'_, '_> {
    fn drop(&mut self) {
        if let Some(call) = self.session.table.cursor_close {
            // SAFETY: the cursor is open and given up here.
            unsafe { call(self.handle) };
        }
    }
}
