//! The handles that a host has of databases, sessions and cursors, and calls on them whose errors are kept or reported.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use super::super::calls::{bytes, write_text};
use super::super::error::Error;
use super::super::{Engine, Record, Session};
use crate::types as abi;

/// Runs the adapter's code; a panic becomes an error.
#[inline(always)]
pub(super) fn caught<T>(call: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result,
        Err(payload) => Err(Error::panicked(&*payload)),
    }
}

/// The status of a call that writes its own error text.
///
/// # Safety
///
/// `error` is NULL or has the capacity that it says.
pub(super) unsafe fn told(result: Result<(), Error>, error: *mut abi::Text) -> abi::Status {
    match result {
        Ok(()) => abi::OK,
        Err(why) => {
            // SAFETY: the caller's promise.
            unsafe { write_text(error, why.text()) };
            why.status().code()
        }
    }
}

/// The open database behind a handle.
///
/// # Safety
///
/// `database` is a handle from `open`. The lifetime is not `'static` in truth: it ends with `close`, which the contract
/// puts after the last call of every session.
pub(super) unsafe fn opened<E: Engine>(database: *mut abi::Database) -> &'static E {
    // SAFETY: the caller's promise.
    unsafe { &*database.cast::<E>() }
}

/// Why the last call on a session, or on one of its cursors, failed.
pub(super) type Last = Rc<RefCell<String>>;

/// The memory that a session's handle points to.
pub(super) struct Opened<T> {
    pub(super) inner: T,
    pub(super) last: Last,
}

pub(super) type SessionOf<E> = Opened<<E as Engine>::Session<'static>>;
pub(super) type CursorOf<E> = Opened<<<E as Engine>::Session<'static> as Session>::Cursor>;

/// Runs a call on a session or a cursor: its status, with the error kept for `session_error`. The error is turned into
/// a status within what is caught, so that a call that succeeds carries nothing but the status out of it.
#[inline(always)]
pub(super) fn kept(last: &Last, call: impl FnOnce() -> Result<abi::Status, Error>) -> abi::Status {
    let status = catch_unwind(AssertUnwindSafe(|| match call() {
        Ok(status) => status,
        Err(error) => keep(last, &error),
    }));
    match status {
        Ok(status) => status,
        Err(payload) => keep(last, &Error::panicked(&*payload)),
    }
}

#[cold]
#[inline(never)]
pub(super) fn keep(last: &Last, error: &Error) -> abi::Status {
    error.text().clone_into(&mut last.borrow_mut());
    error.status().code()
}

/// A call on a session.
///
/// # Safety
///
/// `session` is a handle from `session_open::<E>`, and no other call on it runs.
#[inline(always)]
pub(super) unsafe fn on_session<E: Engine>(
    session: *mut abi::Session,
    call: impl FnOnce(&mut E::Session<'static>) -> Result<abi::Status, Error>,
) -> abi::Status {
    // SAFETY: the caller's promise.
    let Opened { inner, last } = unsafe { &mut *session.cast::<SessionOf<E>>() };
    kept(last, || call(inner))
}

pub(super) type CursorIn<E> = <<E as Engine>::Session<'static> as Session>::Cursor;

/// A call on a cursor, with its record handed out.
///
/// # Safety
///
/// `cursor` is a handle from `cursor_open::<E>` that no other call runs on; there is memory for the record.
#[inline(always)]
pub(super) unsafe fn on_cursor<E: Engine>(
    cursor: *mut abi::Cursor,
    found: *mut abi::Bytes,
    value: *mut abi::Bytes,
    call: impl for<'c> FnOnce(&'c mut CursorIn<E>) -> Result<Option<Record<'c>>, Error>,
) -> abi::Status {
    // SAFETY: the caller's promise.
    let Opened { inner, last } = unsafe { &mut *cursor.cast::<CursorOf<E>>() };
    kept(last, || {
        Ok(match call(inner)? {
            Some((key, data)) => {
                // SAFETY: the caller's promise.
                unsafe {
                    *found = bytes(key);
                    *value = bytes(data);
                }
                abi::OK
            }
            None => abi::MISS,
        })
    })
}
