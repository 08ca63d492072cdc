//! The null engine: keeps nothing and answers at once, so that what is measured through it is the driver's own cost.
//!
//! Writes are acknowledged and forgotten. Reads are answered by the host's `recall`, so that they pass verification.
//! It cannot know its keys, so it scans nothing.
//!
//! Databases go through the adapter trait; sessions do not. The trait's `get` runs 33 instructions round `recall`, and
//! they would count as the driver's. A session here is the host's own struct, so `get` is four: two loads, a
//! move, a jump.

use abi::adapter::{self, ALL_COMPRESSIONS, ALL_DURABILITIES, Description, Error, Housekeeping, Listing, NoSession};
use kvdyno_abi as abi;
use std::ffi::c_void;
use std::path::Path;

#[cfg(test)]
mod tests;

/// An open database: there is nothing to it.
struct Null;

impl adapter::Engine for Null {
    const DESCRIPTION: Description = Description {
        capabilities: abi::CAN_DELETE
            | abi::CAN_BATCH
            | abi::CAN_WRITE_CONCURRENTLY
            | abi::CAN_SHARE_PROCESSES
            | abi::IS_VOLATILE,
        durabilities: ALL_DURABILITIES,
        compressions: ALL_COMPRESSIONS,
        housekeeping: Housekeeping { flush: true, compact: true, wait_idle: true, ..Housekeeping::NONE },
        ..Description::new(c"null", c"keeps nothing and answers at once: measures the driver itself")
    };

    const BUILT_IN: Option<&'static str> = Some(env!("CARGO_PKG_VERSION"));

    type Session<'db> = NoSession;

    fn settings(_config: &adapter::Config<'_>, list: &mut Listing<'_>) -> Result<(), Error> {
        for topic in ["durability", "cache", "write_buffer", "compression", "checksums"] {
            list.say(topic, topic, "keeps nothing");
        }
        Ok(())
    }

    fn open(_path: &Path, _config: &adapter::Config<'_>) -> Result<Self, Error> {
        Ok(Self)
    }

    fn session(&self, _host: adapter::Host) -> Result<NoSession, Error> {
        Err(Error::unsupported("replaced in the table"))
    }

    fn flush(&self) -> Result<(), Error> {
        Ok(())
    }

    fn compact(&self) -> Result<(), Error> {
        Ok(())
    }

    fn wait_idle(&self) -> Result<(), Error> {
        Ok(())
    }
}

abi::export_engine!(
    table = abi::Engine {
        session_open: Some(session_open),
        session_close: Some(session_close),
        session_error: Some(session_error),
        get: Some(get),
        put: Some(put),
        remove: Some(remove),
        write: Some(write),
        ..adapter::table::<Null>()
    }
);

/// The session is the host's struct: it is valid as long as the session is.
unsafe extern "C" fn session_open(
    _database: *mut abi::Database,
    host: *const abi::Host,
    session: *mut *mut abi::Session,
    error: *mut abi::Text,
) -> abi::Status {
    // SAFETY: the host gives NULL or a struct whose size comes first, memory for a handle, and memory for a text.
    unsafe {
        if host.is_null() || ((*host).size as usize) < size_of::<abi::Host>() || (*host).recall.is_none() {
            adapter::write_text(error, "the null engine needs a host that recalls values");
            return abi::ERROR;
        }
        *session = host.cast_mut().cast();
    }
    abi::OK
}

unsafe extern "C" fn session_close(_session: *mut abi::Session) {}

/// The one call that can fail is the host's own `recall`.
unsafe extern "C" fn session_error(_session: *mut abi::Session, error: *mut abi::Text) {
    // SAFETY: the host gives memory for a text.
    unsafe { adapter::write_text(error, "the host's recall failed") }
}

unsafe extern "C" fn get(
    session: *mut abi::Session,
    key: *const c_void,
    key_size: usize,
    value: *mut abi::Bytes,
) -> abi::Status {
    // SAFETY: the session is a host's struct, and `session_open` found `recall` in it; the arguments are passed on.
    unsafe {
        let host = &*session.cast::<abi::Host>();
        host.recall.unwrap_unchecked()(host.context, key, key_size, value)
    }
}

unsafe extern "C" fn put(
    _session: *mut abi::Session,
    _key: *const c_void,
    _key_size: usize,
    _value: *const c_void,
    _value_size: usize,
) -> abi::Status {
    abi::OK
}

unsafe extern "C" fn remove(_session: *mut abi::Session, _key: *const c_void, _key_size: usize) -> abi::Status {
    abi::OK
}

unsafe extern "C" fn write(_session: *mut abi::Session, _steps: *const abi::BatchEntry, _count: usize) -> abi::Status {
    abi::OK
}
