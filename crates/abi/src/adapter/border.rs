//! The border: C's functions on one side, the traits on the other.
//!
//! Every function here is called by a host that keeps to `include/kvdyno.h`; that is what their SAFETY comments mean by
//! the contract.

use super::calls::{Batch, Change, Host, Listing, MultiGetAnswers, MultiGetKeys, bytes, slice, write_text};
use super::config::{Config, path};
use super::describe::Description;
use super::error::{Error, refuse_library};
use super::{Cursor, Direction, Engine, Record, Session, Transaction};
use crate::types as abi;
use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::rc::Rc;

/// The table that [`crate::export_engine!`] exports: what `E` declares is there, the rest is NULL.
pub const fn table<E: Engine>() -> abi::Engine {
    let d = E::DESCRIPTION;
    d.check();
    macro_rules! when {
        ($condition:expr, $function:expr) => {
            if $condition { Some($function) } else { None }
        };
    }
    let transact = d.can(abi::CAN_TRANSACT | abi::CAN_SNAPSHOT);
    let scan = d.can(abi::CAN_SCAN);
    abi::Engine {
        size: size_of::<abi::Engine>() as u32,
        abi_version: abi::ABI_VERSION,
        name: d.name.as_ptr(),
        summary: d.summary.as_ptr(),
        origin: d.origin.as_ptr(),
        capabilities: d.capabilities,
        durabilities: d.durabilities,
        compressions: d.compressions,
        min_key_size: d.min_key_size,
        max_key_size: d.max_key_size,
        max_value_size: d.max_value_size,
        options: d.options.as_ptr().cast(),
        option_count: d.options.len(),
        option_size: size_of::<abi::OptionDecl>(),
        presets: d.presets.as_ptr().cast(),
        preset_count: d.presets.len(),
        preset_size: size_of::<abi::Preset>(),
        probe: Some(probe::<E>),
        settings: Some(settings::<E>),
        open: Some(open::<E>),
        close: Some(close::<E>),
        session_open: Some(session_open::<E>),
        session_close: Some(session_close::<E>),
        session_error: Some(session_error::<E>),
        get: Some(get::<E>),
        put: Some(put::<E>),
        remove: when!(d.can(abi::CAN_DELETE), remove::<E>),
        write: Some(write::<E>),
        multi_get: when!(d.can(abi::CAN_MULTI_GET), multi_get::<E>),
        read_modify_write: when!(d.can(abi::CAN_READ_MODIFY_WRITE), read_modify_write::<E>),
        begin: when!(transact, begin::<E>),
        commit: when!(transact, commit::<E>),
        abort: when!(transact, abort::<E>),
        cursor_open: when!(scan, cursor_open::<E>),
        cursor_close: when!(scan, cursor_close::<E>),
        cursor_seek: when!(scan, cursor_seek::<E>),
        cursor_next: when!(scan, cursor_next::<E>),
        cursor_previous: when!(d.can(abi::CAN_SCAN_REVERSE), cursor_previous::<E>),
        flush: when!(d.housekeeping.flush, flush::<E>),
        compact: when!(d.housekeeping.compact, compact::<E>),
        wait_idle: when!(d.housekeeping.wait_idle, wait_idle::<E>),
        statistics: when!(d.housekeeping.statistics, statistics::<E>),
        // A Rust engine keeps everything in its folder; one that needs this fills the table itself.
        destroy: None,
        effective_capabilities: None,
    }
}

/// Runs the adapter's code; a panic becomes an error.
#[inline(always)]
fn caught<T>(call: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
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
unsafe fn told(result: Result<(), Error>, error: *mut abi::Text) -> abi::Status {
    match result {
        Ok(()) => abi::OK,
        Err(why) => {
            // SAFETY: the caller's promise.
            unsafe { write_text(error, why.text()) };
            why.status().code()
        }
    }
}

// ---- the engine and its databases

fn accepts_library<E: Engine>(library: Option<&Path>) -> Result<(), Error> {
    E::BUILT_IN.map_or(Ok(()), |_| refuse_library(library))
}

unsafe extern "C" fn probe<E: Engine>(
    library: *const c_char,
    version: *mut abi::Text,
    error: *mut abi::Text,
) -> abi::Status {
    // SAFETY: the contract: NULL or a C string.
    let library = unsafe { path(library) };
    let result = accepts_library::<E>(library).and_then(|()| caught(|| E::probe(library)));
    // SAFETY: the contract: texts have the capacity that they say.
    unsafe { told(result.map(|text| write_text(version, &text)), error) }
}

unsafe extern "C" fn settings<E: Engine>(
    config: *const abi::Config,
    emit: abi::Emit,
    context: *mut c_void,
    error: *mut abi::Text,
) -> abi::Status {
    let result = caught(|| {
        // SAFETY: the contract: config, emit and context are good through the call.
        let (config, mut list) = unsafe { (Config::read(config, description::<E>())?, Listing::new(emit, context)) };
        accepts_library::<E>(config.library())?;
        E::settings(&config, &mut list)
    });
    // SAFETY: the contract: texts have the capacity that they say.
    unsafe { told(result, error) }
}

unsafe extern "C" fn open<E: Engine>(
    config: *const abi::Config,
    database: *mut *mut abi::Database,
    error: *mut abi::Text,
) -> abi::Status {
    let result = caught(|| {
        // SAFETY: the contract: the config is good through the call.
        let config = unsafe { Config::read(config, description::<E>())? };
        accepts_library::<E>(config.library())?;
        let path = config.path().ok_or_else(|| Error::new("the host sent no path"))?;
        E::open(path, &config)
    });
    // SAFETY: the contract: the host has memory for a handle, and texts have the capacity that they say.
    unsafe { told(result.map(|engine| *database = Box::into_raw(Box::new(engine)).cast()), error) }
}

unsafe extern "C" fn close<E: Engine>(database: *mut abi::Database, error: *mut abi::Text) -> abi::Status {
    // SAFETY: the contract: a handle from `open`, for the last time, and no session borrows from it any more.
    let engine = unsafe { Box::from_raw(database.cast::<E>()) };
    let result = caught(|| engine.close());
    // SAFETY: the contract: texts have the capacity that they say.
    unsafe { told(result, error) }
}

const fn description<E: Engine>() -> &'static Description {
    const { &E::DESCRIPTION }
}

/// The open database behind a handle.
///
/// # Safety
///
/// `database` is a handle from `open`. The lifetime is not `'static` in truth: it ends with `close`, which the contract
/// puts after the last call of every session.
unsafe fn opened<E: Engine>(database: *mut abi::Database) -> &'static E {
    // SAFETY: the caller's promise.
    unsafe { &*database.cast::<E>() }
}

unsafe extern "C" fn flush<E: Engine>(database: *mut abi::Database, error: *mut abi::Text) -> abi::Status {
    // SAFETY: the contract: an open handle, and texts have the capacity that they say.
    unsafe { told(caught(|| opened::<E>(database).flush()), error) }
}

unsafe extern "C" fn compact<E: Engine>(database: *mut abi::Database, error: *mut abi::Text) -> abi::Status {
    // SAFETY: the contract: an open handle, and texts have the capacity that they say.
    unsafe { told(caught(|| opened::<E>(database).compact()), error) }
}

unsafe extern "C" fn wait_idle<E: Engine>(database: *mut abi::Database, error: *mut abi::Text) -> abi::Status {
    // SAFETY: the contract: an open handle, and texts have the capacity that they say.
    unsafe { told(caught(|| opened::<E>(database).wait_idle()), error) }
}

unsafe extern "C" fn statistics<E: Engine>(
    database: *mut abi::Database,
    emit: abi::Emit,
    context: *mut c_void,
) -> abi::Status {
    // SAFETY: the contract: an open handle; emit and context are good through the call.
    unsafe {
        let mut list = Listing::new(emit, context);
        told(caught(|| opened::<E>(database).statistics(&mut list)), std::ptr::null_mut())
    }
}

// ---- sessions

/// Why the last call on a session, or on one of its cursors, failed.
type Last = Rc<RefCell<String>>;

/// The memory that a session's handle points to.
struct Opened<T> {
    inner: T,
    last: Last,
}

type SessionOf<E> = Opened<<E as Engine>::Session<'static>>;
type CursorOf<E> = Opened<<<E as Engine>::Session<'static> as Session>::Cursor>;

/// Runs a call on a session or a cursor: its status, with the error kept for `session_error`. The error is turned into
/// a status within what is caught, so that a call that succeeds carries nothing but the status out of it.
#[inline(always)]
fn kept(last: &Last, call: impl FnOnce() -> Result<abi::Status, Error>) -> abi::Status {
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
fn keep(last: &Last, error: &Error) -> abi::Status {
    error.text().clone_into(&mut last.borrow_mut());
    error.status().code()
}

/// A call on a session.
///
/// # Safety
///
/// `session` is a handle from `session_open::<E>`, and no other call on it runs.
#[inline(always)]
unsafe fn on_session<E: Engine>(
    session: *mut abi::Session,
    call: impl FnOnce(&mut E::Session<'static>) -> Result<abi::Status, Error>,
) -> abi::Status {
    // SAFETY: the caller's promise.
    let Opened { inner, last } = unsafe { &mut *session.cast::<SessionOf<E>>() };
    kept(last, || call(inner))
}

unsafe extern "C" fn session_open<E: Engine>(
    database: *mut abi::Database,
    host: *const abi::Host,
    session: *mut *mut abi::Session,
    error: *mut abi::Text,
) -> abi::Status {
    // SAFETY: the contract: the handle is open until after the session's close, and so is the host.
    let (engine, host) = unsafe { (opened::<E>(database), Host::new(host)) };
    let result = caught(|| engine.session(host));
    // SAFETY: the contract: the host has memory for a handle, and texts have the capacity that they say.
    unsafe {
        told(
            result.map(|inner| *session = Box::into_raw(Box::new(Opened { inner, last: Last::default() })).cast()),
            error,
        )
    }
}

unsafe extern "C" fn session_close<E: Engine>(session: *mut abi::Session) {
    // SAFETY: the contract: a handle from `session_open`, for the last time.
    let session = unsafe { Box::from_raw(session.cast::<SessionOf<E>>()) };
    // There is nobody to tell: the call returns nothing.
    let _ = caught(|| {
        drop(session);
        Ok(())
    });
}

unsafe extern "C" fn session_error<E: Engine>(session: *mut abi::Session, error: *mut abi::Text) {
    // SAFETY: the contract: an open session; texts have the capacity that they say.
    unsafe { write_text(error, &(*session.cast::<SessionOf<E>>()).last.borrow()) }
}

unsafe extern "C" fn get<E: Engine>(
    session: *mut abi::Session,
    key: *const c_void,
    key_size: usize,
    value: *mut abi::Bytes,
) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on, a key, memory for the value.
    unsafe {
        on_session::<E>(session, |inner| {
            Ok(match inner.get(slice(key, key_size))? {
                Some(found) => {
                    *value = bytes(found);
                    abi::OK
                }
                None => abi::MISS,
            })
        })
    }
}

unsafe extern "C" fn put<E: Engine>(
    session: *mut abi::Session,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on, a key, a value.
    unsafe {
        on_session::<E>(session, |inner| {
            inner.put(slice(key, key_size), slice(value, value_size))?;
            Ok(abi::OK)
        })
    }
}

unsafe extern "C" fn remove<E: Engine>(session: *mut abi::Session, key: *const c_void, key_size: usize) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on, a key.
    unsafe {
        on_session::<E>(session, |inner| {
            let there = inner.remove(slice(key, key_size))?;
            Ok(if there { abi::OK } else { abi::MISS })
        })
    }
}

unsafe extern "C" fn write<E: Engine>(
    session: *mut abi::Session,
    entries: *const abi::BatchEntry,
    count: usize,
) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on, and `count` entries.
    unsafe { on_session::<E>(session, |inner| inner.write(Batch::new(entries, count)?).map(|()| abi::OK)) }
}

unsafe extern "C" fn multi_get<E: Engine>(
    session: *mut abi::Session,
    keys: *const abi::Bytes,
    count: usize,
    values: *mut abi::Bytes,
    statuses: *mut abi::Status,
) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on, `count` keys and memory for as many answers.
    unsafe {
        on_session::<E>(session, |inner| {
            let mut answers = MultiGetAnswers::new(values, statuses, count);
            inner.multi_get(MultiGetKeys::new(keys, count), &mut answers)?;
            answers.finish()?;
            Ok(abi::OK)
        })
    }
}

unsafe extern "C" fn read_modify_write<E: Engine>(
    session: *mut abi::Session,
    key: *const c_void,
    key_size: usize,
    update: abi::UpdateFn,
    context: *mut c_void,
) -> abi::Status {
    // SAFETY: the contract: update and context are good through the call.
    let mut change = unsafe { Change::new(update, context) };
    // SAFETY: the contract: an open session that no other call runs on, a key.
    let status = unsafe {
        on_session::<E>(session, |inner| inner.read_modify_write(slice(key, key_size), &mut change).map(|()| abi::OK))
    };
    change.given_up.unwrap_or(status)
}

unsafe extern "C" fn begin<E: Engine>(session: *mut abi::Session, kind: u32) -> abi::Status {
    let can = E::DESCRIPTION.capabilities;
    let kind = match kind {
        abi::READ_WRITE if can & abi::CAN_TRANSACT != 0 => Ok(Transaction::ReadWrite),
        abi::READ_ONLY if can & abi::CAN_SNAPSHOT != 0 => Ok(Transaction::ReadOnly),
        other => Err(Error::unsupported(format_args!("a transaction of kind {other}"))),
    };
    // SAFETY: the contract: an open session that no other call runs on.
    unsafe { on_session::<E>(session, |inner| inner.begin(kind?).map(|()| abi::OK)) }
}

unsafe extern "C" fn commit<E: Engine>(session: *mut abi::Session) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on.
    unsafe { on_session::<E>(session, |inner| inner.commit().map(|()| abi::OK)) }
}

unsafe extern "C" fn abort<E: Engine>(session: *mut abi::Session) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on.
    unsafe { on_session::<E>(session, |inner| inner.abort().map(|()| abi::OK)) }
}

// ---- cursors

unsafe extern "C" fn cursor_open<E: Engine>(session: *mut abi::Session, cursor: *mut *mut abi::Cursor) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on, and memory for a handle.
    unsafe {
        let Opened { inner, last } = &mut *session.cast::<SessionOf<E>>();
        kept(last, || {
            let opened: CursorOf<E> = Opened { inner: inner.cursor()?, last: Rc::clone(last) };
            *cursor = Box::into_raw(Box::new(opened)).cast();
            Ok(abi::OK)
        })
    }
}

unsafe extern "C" fn cursor_close<E: Engine>(cursor: *mut abi::Cursor) {
    // SAFETY: the contract: a handle from `cursor_open`, for the last time.
    let cursor = unsafe { Box::from_raw(cursor.cast::<CursorOf<E>>()) };
    // There is nobody to tell: the call returns nothing.
    let _ = caught(|| {
        drop(cursor);
        Ok(())
    });
}

unsafe extern "C" fn cursor_seek<E: Engine>(
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

unsafe extern "C" fn cursor_next<E: Engine>(
    cursor: *mut abi::Cursor,
    found: *mut abi::Bytes,
    value: *mut abi::Bytes,
) -> abi::Status {
    // SAFETY: the contract: an open cursor that no other call runs on, memory for a record.
    unsafe { on_cursor::<E>(cursor, found, value, Cursor::next) }
}

unsafe extern "C" fn cursor_previous<E: Engine>(
    cursor: *mut abi::Cursor,
    found: *mut abi::Bytes,
    value: *mut abi::Bytes,
) -> abi::Status {
    // SAFETY: the contract: an open cursor that no other call runs on, memory for a record.
    unsafe { on_cursor::<E>(cursor, found, value, Cursor::previous) }
}

type CursorIn<E> = <<E as Engine>::Session<'static> as Session>::Cursor;

/// A call on a cursor, with its record handed out.
///
/// # Safety
///
/// `cursor` is a handle from `cursor_open::<E>` that no other call runs on; there is memory for the record.
#[inline(always)]
unsafe fn on_cursor<E: Engine>(
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
