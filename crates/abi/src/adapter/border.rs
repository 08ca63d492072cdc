//! The border: C's functions on one side, the traits on the other.
//!
//! Every function here is called by a host that keeps to `include/kvdyno.h`; that is what their SAFETY comments mean by
//! the contract.

mod cursors;
mod handles;
mod sessions;

use super::Engine;
use super::calls::{Listing, write_text};
use super::config::{Config, path};
use super::describe::Description;
use super::error::{Error, refuse_library};
use crate::types as abi;
use cursors::{cursor_close, cursor_next, cursor_open, cursor_open_with, cursor_previous, cursor_seek};
use handles::{caught, opened, told};
use sessions::{
    abort, begin, commit, contains, delete_range, get, insert_if_absent, multi_get, put, read_modify_write, remove,
    session_close, session_error, session_open, set_durability, write,
};
use std::ffi::{c_char, c_void};
use std::path::Path;

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
        counters: when!(d.can(abi::CAN_COUNT), counters::<E>),
        delete_range: when!(d.can(abi::CAN_DELETE_RANGE), delete_range::<E>),
        contains: when!(d.can(abi::CAN_CONTAIN), contains::<E>),
        cursor_open_with: when!(
            d.can(abi::CAN_BOUND) || d.can(abi::CAN_SCAN_KEYS) || d.can(abi::CAN_SCAN_PREFIX),
            cursor_open_with::<E>
        ),
        set_durability: when!(d.can(abi::CAN_SET_DURABILITY), set_durability::<E>),
        insert_if_absent: when!(d.can(abi::CAN_INSERT_IF_ABSENT), insert_if_absent::<E>),
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

unsafe extern "C" fn counters<E: Engine>(database: *mut abi::Database, counters: *mut abi::Counters) -> abi::Status {
    // SAFETY: the contract: an open handle, and a struct of the size that it says.
    unsafe {
        let told_of = caught(|| opened::<E>(database).counters());
        told(told_of.map(|counted| counted.write(counters)), std::ptr::null_mut())
    }
}
