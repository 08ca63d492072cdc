//! The order of transactions, which the host watches, and the addresses of what is empty.

use super::*;
use abi::adapter::{self, Config, Description, Engine, Error, Listing, NoCursor, Transaction, bits};
use std::cell::RefCell;

thread_local! {
    static CALLS: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

fn called(call: &'static str) {
    CALLS.with_borrow_mut(|calls| calls.push(call));
}

/// Has transactions that hold nothing; a put in one loses a conflict.
struct Empty;
struct EmptySession;

impl Engine for Empty {
    const DESCRIPTION: Description = Description {
        capabilities: abi::CAN_TRANSACT,
        durabilities: bits(&[abi::DURABILITY_NONE]),
        ..Description::new(c"empty", c"holds nothing")
    };
    const BUILT_IN: Option<&'static str> = Some("1");
    type Session<'db> = EmptySession;

    fn settings(_config: &Config<'_>, _list: &mut Listing<'_>) -> Result<(), Error> {
        Ok(())
    }
    fn open(_path: &Path, _config: &Config<'_>) -> Result<Self, Error> {
        Ok(Self)
    }
    fn session(&self, _host: adapter::Host) -> Result<EmptySession, Error> {
        Ok(EmptySession)
    }
}

impl adapter::Session for EmptySession {
    type Cursor = NoCursor;

    fn get(&mut self, _key: &[u8]) -> Result<Option<&[u8]>, Error> {
        Ok(None)
    }
    fn put(&mut self, _key: &[u8], _value: &[u8]) -> Result<(), Error> {
        Err(Error::conflict("another writer was faster"))
    }
    fn begin(&mut self, _kind: Transaction) -> Result<(), Error> {
        called("begin");
        Ok(())
    }
    fn commit(&mut self) -> Result<(), Error> {
        called("commit");
        Ok(())
    }
    fn abort(&mut self) -> Result<(), Error> {
        called("abort");
        Ok(())
    }
}

static TABLE: abi::Engine = adapter::table::<Empty>();

/// The calls that reach the engine.
fn calls_of(work: impl FnOnce(&mut Session<'_>)) -> Vec<&'static str> {
    calls_of_table(&TABLE, work)
}

fn calls_of_table(table: &'static abi::Engine, work: impl FnOnce(&mut Session<'_>)) -> Vec<&'static str> {
    let handle = Box::into_raw(Box::new(Empty)).cast();
    let database = Database { table, handle, thread: thread::current().id(), sessions: AtomicU32::new(0) };
    let host = Host { size: 0, reserved: 0, context: ptr::null_mut(), recall: None };
    // SAFETY: the host outlives the session, and is never called.
    let mut session = unsafe { database.session(&host) }.unwrap();
    CALLS.take();
    work(&mut session);
    drop(session);
    CALLS.take()
}

#[test]
fn transactions_neither_nest_nor_end_before_they_begin() {
    let calls = calls_of(|session| {
        assert!(session.commit().is_err() && session.abort().is_err());
        session.begin(abi::READ_WRITE).unwrap();
        assert!(session.begin(abi::READ_WRITE).unwrap_err().reason.contains("do not nest"));
        session.commit().unwrap();
        assert!(session.commit().is_err() && session.abort().is_err());
    });
    assert_eq!(calls, ["begin", "commit"]);
}

#[test]
fn a_conflict_ends_a_transaction_which_may_be_aborted_all_the_same() {
    let calls = calls_of(|session| {
        session.begin(abi::READ_WRITE).unwrap();
        assert_eq!(session.put(b"key", b"value").unwrap_err().status, abi::CONFLICT);
        assert!(session.commit().is_err());
        session.abort().unwrap();
        session.begin(abi::READ_WRITE).unwrap();
        session.put(b"key", b"value").unwrap_err();
        session.begin(abi::READ_WRITE).unwrap();
        session.abort().unwrap();
    });
    assert_eq!(calls, ["begin", "begin", "begin", "abort"]);
}

#[test]
fn a_session_that_is_dropped_within_a_transaction_aborts_it() {
    assert_eq!(calls_of(|session| session.begin(abi::READ_WRITE).unwrap()), ["begin", "abort"]);
}

/// Reads the first byte of what it is given, as an engine may. An address of Rust's for nothing ends the test.
unsafe fn is_readable(data: *const c_void) -> abi::Status {
    // SAFETY: that is what is tested.
    let byte = unsafe { data.cast::<u8>().read_volatile() };
    if byte == 0 { abi::OK } else { abi::ERROR }
}

unsafe extern "C" fn put(
    _session: *mut abi::Session,
    _key: *const c_void,
    _key_size: usize,
    value: *const c_void,
    _value_size: usize,
) -> abi::Status {
    // SAFETY: that is what is tested.
    unsafe { is_readable(value) }
}

unsafe extern "C" fn write(_session: *mut abi::Session, entries: *const abi::BatchEntry, count: usize) -> abi::Status {
    // SAFETY: the host gives so many entries.
    let entries = unsafe { slice::from_raw_parts(entries, count) };
    match entries {
        // SAFETY: that is what is tested.
        [put, deletion] if deletion.value.data.is_null() => unsafe { is_readable(put.value.data) },
        _ => abi::ERROR,
    }
}

unsafe extern "C" fn remove(_session: *mut abi::Session, key: *const c_void, _key_size: usize) -> abi::Status {
    // SAFETY: that is what is tested.
    unsafe { is_readable(key) }
}

unsafe extern "C" fn read_modify_write(
    _session: *mut abi::Session,
    _key: *const c_void,
    _key_size: usize,
    update: abi::UpdateFn,
    context: *mut c_void,
) -> abi::Status {
    let mut value = abi::Bytes::NONE;
    // SAFETY: the host's function gets its own context; whether the value can be read is what is tested.
    unsafe {
        assert_eq!(update(context, abi::Bytes::NONE, &mut value), abi::OK);
        is_readable(value.data)
    }
}

static READING: abi::Engine = abi::Engine {
    put: Some(put),
    insert_if_absent: Some(put),
    write: Some(write),
    remove: Some(remove),
    contains: Some(remove),
    read_modify_write: Some(read_modify_write),
    ..adapter::table::<Empty>()
};

#[test]
fn empty_keys_and_values_lie_where_an_engine_can_read() {
    calls_of_table(&READING, |session| {
        session.put(b"key", b"").unwrap();
        session.insert_if_absent(b"key", b"").unwrap();
        session.write(&[(b"key", Some(b"")), (b"key", None)]).unwrap();
        session.delete(b"").unwrap();
        session.contains(b"").unwrap();
        session.read_modify_write(b"key", |_| Some(Vec::new())).unwrap();
    });
}
