//! Calls on a cursor.

use std::ffi::c_void;
use std::rc::Rc;

use super::super::calls::slice;
use super::super::error::Error;
use super::super::{Cursor, CursorLimits, Direction, Engine, Session};
use super::handles::{CursorOf, Opened, SessionOf, caught, kept, on_cursor};
use crate::types as abi;

pub(super) unsafe extern "C" fn cursor_open<E: Engine>(
    session: *mut abi::Session,
    cursor: *mut *mut abi::Cursor,
) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on, and memory for a handle.
    unsafe { opened_cursor::<E>(session, cursor, Session::cursor) }
}

pub(super) unsafe extern "C" fn cursor_open_with<E: Engine>(
    session: *mut abi::Session,
    options: *const abi::CursorOptions,
    cursor: *mut *mut abi::Cursor,
) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on, options whose keys live through the call, and
    // memory for a handle.
    unsafe {
        let bound = |key: abi::Bytes| (key.size > 0).then(|| slice(key.data, key.size));
        let (from, to) = (bound((*options).from), bound((*options).to));
        // A host that is older than the member ends before it.
        let has_prefix = (*options).size as usize >= size_of::<abi::CursorOptions>();
        let prefix = if has_prefix { bound((*options).prefix) } else { None };
        let limits = CursorLimits { keys_only: (*options).keys_only != 0, from, to, prefix };
        opened_cursor::<E>(session, cursor, |inner| inner.cursor_with(limits))
    }
}

/// # Safety
///
/// The same conditions as for [`cursor_open`].
unsafe fn opened_cursor<E: Engine>(
    session: *mut abi::Session,
    cursor: *mut *mut abi::Cursor,
    open: impl FnOnce(&mut E::Session<'static>) -> Result<<E::Session<'static> as Session>::Cursor, Error>,
) -> abi::Status {
    // SAFETY: the caller's promise.
    unsafe {
        let Opened { inner, last } = &mut *session.cast::<SessionOf<E>>();
        kept(last, || {
            let opened: CursorOf<E> = Opened { inner: open(inner)?, last: Rc::clone(last) };
            *cursor = Box::into_raw(Box::new(opened)).cast();
            Ok(abi::OK)
        })
    }
}

pub(super) unsafe extern "C" fn cursor_close<E: Engine>(cursor: *mut abi::Cursor) {
    // SAFETY: the contract: a handle from `cursor_open`, for the last time.
    let cursor = unsafe { Box::from_raw(cursor.cast::<CursorOf<E>>()) };
    // An error cannot be reported: the call returns nothing.
    let _ = caught(|| {
        drop(cursor);
        Ok(())
    });
}

pub(super) unsafe extern "C" fn cursor_seek<E: Engine>(
    cursor: *mut abi::Cursor,
    key: *const c_void,
    key_size: usize,
    direction: u32,
    found: *mut abi::Bytes,
    value: *mut abi::Bytes,
) -> abi::Status {
    // SAFETY: the contract: an open cursor that no other call runs on, a key or NULL, memory for a record.
    unsafe {
        let key = if key.is_null() { None } else { Some(slice(key, key_size)) };
        on_cursor::<E>(cursor, found, value, |inner| match direction {
            abi::FORWARD => inner.seek(key, Direction::Forward),
            abi::BACKWARD if E::DESCRIPTION.can(abi::CAN_SCAN_REVERSE) => inner.seek(key, Direction::Backward),
            other => Err(Error::unsupported(format_args!("seeking in direction {other}"))),
        })
    }
}

pub(super) unsafe extern "C" fn cursor_next<E: Engine>(
    cursor: *mut abi::Cursor,
    found: *mut abi::Bytes,
    value: *mut abi::Bytes,
) -> abi::Status {
    // SAFETY: the contract: an open cursor that no other call runs on, memory for a record.
    unsafe { on_cursor::<E>(cursor, found, value, Cursor::next) }
}

pub(super) unsafe extern "C" fn cursor_previous<E: Engine>(
    cursor: *mut abi::Cursor,
    found: *mut abi::Bytes,
    value: *mut abi::Bytes,
) -> abi::Status {
    // SAFETY: the contract: an open cursor that no other call runs on, memory for a record.
    unsafe { on_cursor::<E>(cursor, found, value, Cursor::previous) }
}
