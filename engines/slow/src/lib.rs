//! A slower copy of another adapter: the same table, but each get, put, batch and step of a cursor then burns, sleeps
//! or holds a lock for so long as three options say. With it a slow-down of a known size is given to a real engine.
//!
//! Its file's name says whose copy it is: as `libkvdyno_slow-lmdb.so` it is `slow-lmdb`, which loads
//! `libkvdyno_lmdb.so` from its own folder or from `engines/` beside that. Everything that is declared is the other
//! adapter's, its options first and the three after them; sessions and cursors are its own, so nothing stands between
//! them and the driver but the functions that are slowed. A process has one slowness, that of the database it opened
//! last.

mod delay;
mod wrapped;

use std::ffi::{c_char, c_void};

use kvdyno_abi as abi;

use wrapped::{Wrapped, wrapped};

/// The adapter's entry: `include/kvdyno.h` says what it returns; NULL where there is nothing to slow down.
#[unsafe(no_mangle)]
pub extern "C" fn kvdyno_engine_v2() -> *const abi::Engine {
    wrapped().map_or(std::ptr::null(), |wrapped| &raw const wrapped.table)
}

/// Calls a function of the wrapped adapter; what is slowed is there only if the wrapped one has it.
macro_rules! inner {
    ($member:ident($($argument:expr),*)) => {
        match wrapped().and_then(|wrapped| wrapped.inner.$member) {
            // SAFETY: the host's arguments are passed on as they are.
            Some(function) => unsafe { function($($argument),*) },
            None => abi::UNSUPPORTED,
        }
    };
}

/// The wrapped adapter's part of a config.
///
/// # Safety
/// `config` is the host's, with the values of all options.
unsafe fn without_own(config: *const abi::Config, wrapped: &Wrapped) -> abi::Config {
    // SAFETY: the caller's promise.
    let mut config = unsafe { *config };
    config.option_count = wrapped.inner.option_count;
    config
}

unsafe extern "C" fn open(
    config: *const abi::Config,
    database: *mut *mut abi::Database,
    error: *mut abi::Text,
) -> abi::Status {
    let Some(wrapped) = wrapped() else { return abi::ERROR };
    // SAFETY: the host's config has as many values as the table declares options, and ours are numbers.
    let (own, config) = unsafe {
        let own = |index| (*(*config).options.add(wrapped.inner.option_count + index)).integer.unsigned_abs();
        ([own(0), own(1), own(2)], without_own(config, wrapped))
    };
    delay::set(own);
    inner!(open(&config, database, error))
}

unsafe extern "C" fn settings(
    config: *const abi::Config,
    emit: abi::Emit,
    context: *mut c_void,
    error: *mut abi::Text,
) -> abi::Status {
    let Some(wrapped) = wrapped() else { return abi::ERROR };
    // SAFETY: as of `open`; the texts live through the call.
    let config = unsafe {
        for (index, name) in delay::OPTIONS.iter().enumerate() {
            let value = (*(*config).options.add(wrapped.inner.option_count + index)).integer;
            let value = std::ffi::CString::new(value.to_string()).unwrap_or_default();
            emit(context, c"options".as_ptr(), name.0.as_ptr(), value.as_ptr());
        }
        without_own(config, wrapped)
    };
    inner!(settings(&config, emit, context, error))
}

unsafe extern "C" fn destroy(config: *const abi::Config, error: *mut abi::Text) -> abi::Status {
    let Some(wrapped) = wrapped() else { return abi::ERROR };
    // SAFETY: as of `open`.
    let config = unsafe { without_own(config, wrapped) };
    inner!(destroy(&config, error))
}

unsafe extern "C" fn effective_capabilities(config: *const abi::Config, declared: *mut abi::Capabilities) {
    if let Some((wrapped, function)) =
        wrapped().and_then(|wrapped| Some((wrapped, wrapped.inner.effective_capabilities?)))
    {
        // SAFETY: as of `open`.
        unsafe { function(&without_own(config, wrapped), declared) };
    }
}

unsafe extern "C" fn get(
    session: *mut abi::Session,
    key: *const c_void,
    key_size: usize,
    value: *mut abi::Bytes,
) -> abi::Status {
    delay::after(inner!(get(session, key, key_size, value)))
}

unsafe extern "C" fn put(
    session: *mut abi::Session,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
) -> abi::Status {
    delay::after(inner!(put(session, key, key_size, value, value_size)))
}

unsafe extern "C" fn write(session: *mut abi::Session, entries: *const abi::BatchEntry, count: usize) -> abi::Status {
    delay::after(inner!(write(session, entries, count)))
}

unsafe extern "C" fn cursor_next(
    cursor: *mut abi::Cursor,
    key: *mut abi::Bytes,
    value: *mut abi::Bytes,
) -> abi::Status {
    delay::after(inner!(cursor_next(cursor, key, value)))
}

unsafe extern "C" fn cursor_previous(
    cursor: *mut abi::Cursor,
    key: *mut abi::Bytes,
    value: *mut abi::Bytes,
) -> abi::Status {
    delay::after(inner!(cursor_previous(cursor, key, value)))
}

/// The name of a C string, for the table.
fn leaked(text: String) -> *const c_char {
    std::ffi::CString::new(text).unwrap_or_default().into_raw()
}
