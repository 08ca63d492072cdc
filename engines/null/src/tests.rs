//! The table as a host sees it.

use super::{abi, kvdyno_engine_v2};
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// Recalls `b"<key>!"` for any key that is not `missing`, from a buffer of its own.
unsafe extern "C" fn recall(
    context: *mut c_void,
    key: *const c_void,
    key_size: usize,
    value: *mut abi::Bytes,
) -> abi::Status {
    // SAFETY: the tests pass a Vec as context, a key of that size and memory for the value.
    unsafe {
        let buffer = &mut *context.cast::<Vec<u8>>();
        let key = std::slice::from_raw_parts(key.cast::<u8>(), key_size);
        if key == b"missing" {
            return abi::MISS;
        }
        buffer.clear();
        buffer.extend_from_slice(key);
        buffer.push(b'!');
        *value = abi::Bytes { data: buffer.as_ptr().cast(), size: buffer.len() };
    }
    abi::OK
}

fn engine() -> &'static abi::Engine {
    // SAFETY: the entry returns a static table.
    unsafe { &*kvdyno_engine_v2() }
}

fn config() -> abi::Config {
    abi::Config {
        size: size_of::<abi::Config>() as u32,
        create: 1,
        path: c"/nowhere".as_ptr(),
        library: ptr::null(),
        durability: abi::DURABILITY_COMMIT,
        sync_period_ms: 0,
        compression: abi::COMPRESSION_ZSTD,
        sessions: 1,
        cache_bytes: 1 << 20,
        write_buffer_bytes: 1 << 20,
        records: 0,
        key_size: 0,
        value_size: 0,
        options: ptr::null(),
        option_count: 0,
        prefix_size: 0,
        processes: 1,
        session_durabilities: 0,
    }
}

/// Opens a session with `host`; the database is closed again by `check`'s caller ending.
fn with_session(host: *const abi::Host, check: impl FnOnce(abi::Status, *mut abi::Session, &CStr)) {
    let e = engine();
    let (mut database, mut session) = (ptr::null_mut(), ptr::null_mut());
    let mut memory = [0 as c_char; 100];
    let mut error = abi::Text { data: memory.as_mut_ptr(), capacity: memory.len() };
    // SAFETY: the calls of a host, in the order that the header asks for.
    unsafe {
        assert_eq!(e.open.unwrap()(&config(), &mut database, &mut error), abi::OK);
        let status = e.session_open.unwrap()(database, host, &mut session, &mut error);
        check(status, session, CStr::from_ptr(memory.as_ptr()));
        if status == abi::OK {
            e.session_close.unwrap()(session);
        }
        assert_eq!(e.close.unwrap()(database, &mut error), abi::OK);
    }
}

#[test]
fn what_is_declared_is_there_and_nothing_else() {
    let e = engine();
    assert_eq!((e.size as usize, e.abi_version), (size_of::<abi::Engine>(), abi::ABI_VERSION));
    // SAFETY: the name is a static text.
    assert_eq!(unsafe { CStr::from_ptr(e.name) }, c"null");
    assert_ne!(e.capabilities & abi::IS_VOLATILE, 0);
    assert_eq!(e.capabilities & (abi::CAN_SCAN | abi::CAN_MULTI_GET | abi::CAN_TRANSACT), 0);
    assert!(e.cursor_open.is_none() && e.multi_get.is_none() && e.begin.is_none() && e.statistics.is_none());
    assert!(e.remove.is_some() && e.write.is_some() && e.flush.is_some());
    assert_eq!((e.durabilities, e.compressions), (0b1111, 0b11111));
}

#[test]
fn a_get_is_the_hosts_recall() {
    let mut buffer = Vec::<u8>::new();
    let host = abi::Host {
        size: size_of::<abi::Host>() as u32,
        reserved: 0,
        context: (&raw mut buffer).cast(),
        recall: Some(recall),
    };
    with_session(&host, |status, session, _| {
        assert_eq!(status, abi::OK);
        let e = engine();
        let mut value = abi::Bytes { data: ptr::null(), size: 0 };
        // SAFETY: an open session, keys with their sizes.
        unsafe {
            let (get, put) = (e.get.unwrap(), e.put.unwrap());
            assert_eq!(put(session, c"key".as_ptr().cast(), 3, c"ignored".as_ptr().cast(), 7), abi::OK);
            assert_eq!(get(session, c"key".as_ptr().cast(), 3, &mut value), abi::OK);
            assert_eq!(std::slice::from_raw_parts(value.data.cast::<u8>(), value.size), b"key!");
            assert_eq!(get(session, c"missing".as_ptr().cast(), 7, &mut value), abi::MISS);
            assert_eq!(e.remove.unwrap()(session, c"key".as_ptr().cast(), 3), abi::OK);
            assert_eq!(e.write.unwrap()(session, ptr::null(), 0), abi::OK);
        }
    });
}

#[test]
fn a_host_that_recalls_nothing_is_refused() {
    let host = abi::Host { size: size_of::<abi::Host>() as u32, reserved: 0, context: ptr::null_mut(), recall: None };
    for host in [ptr::null(), &raw const host] {
        with_session(host, |status, _, error| {
            assert_eq!((status, error), (abi::ERROR, c"the null engine needs a host that recalls values"));
        });
    }
}

#[test]
fn every_setting_is_answered() {
    unsafe extern "C" fn emit(context: *mut c_void, topic: *const c_char, _: *const c_char, value: *const c_char) {
        // SAFETY: the test's own list, and texts that live through the call.
        unsafe {
            assert_eq!(CStr::from_ptr(value), c"keeps nothing");
            (*context.cast::<Vec<String>>()).push(CStr::from_ptr(topic).to_str().unwrap().into());
        }
    }
    let mut topics = Vec::<String>::new();
    let config = abi::Config { path: ptr::null(), ..config() };
    // SAFETY: `emit` is made for this context; no memory for an error text is needed.
    let status = unsafe { engine().settings.unwrap()(&config, emit, (&raw mut topics).cast(), ptr::null_mut()) };
    assert_eq!(status, abi::OK);
    assert_eq!(topics, ["durability", "cache", "write_buffer", "compression", "checksums"]);
}
