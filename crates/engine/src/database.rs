//! An open database, its sessions and cursors: thin, so that a call costs one indirect call.

use std::cell::Cell;
use std::ffi::c_void;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, ThreadId};
use std::{mem, ptr, slice};

use kvdyno_abi as abi;
use kvdyno_abi::adapter::Counters;
use kvdyno_model::Durability;

use crate::choice::{Choice, ConfigBuffer};
use crate::error::{EngineError, checked};
use crate::lab::{AbiCode, EngineSettings, Hints};
use crate::text::{Entry, TextBuffer, collect};

pub(crate) mod cursors;
#[cfg(test)]
mod tests;
mod transactions;

/// The host's functions for a session; see `kvdyno_host` in the header.
pub type Host = abi::Host;

/// Hit or miss; an error is neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// It is there.
    Hit(T),
    /// It is not.
    Miss,
}

/// An open database. Sessions borrow it, so it closes after them.
#[derive(Debug)]
pub struct Database {
    table: &'static abi::Engine,
    handle: *mut abi::Database,
    /// The thread that opened it.
    thread: ThreadId,
    /// Sessions that are open now.
    sessions: AtomicU32,
}

// SAFETY: the header allows calls on a database from any thread at any time.
unsafe impl Send for Database {}
// SAFETY: as above.
unsafe impl Sync for Database {}

fn missing(what: &str) -> EngineError {
    EngineError { status: abi::UNSUPPORTED, reason: format!("the engine has no {what}") }
}

impl Database {
    /// Opens the database in `path`, or creates one in that empty folder.
    ///
    /// # Errors
    /// The engine's error.
    pub fn open(
        choice: &Choice,
        lab: &EngineSettings,
        hints: &Hints,
        path: &Path,
        create: bool,
    ) -> Result<Self, EngineError> {
        let table = choice.adapter().table();
        let config = ConfigBuffer::new(choice, lab, hints, Some(path), create);
        let mut handle = ptr::null_mut();
        let call = table.open.ok_or_else(|| missing("open"))?;
        // SAFETY: `config` and what it points to outlive the call; the text has the capacity that it says.
        checked("open", |error| unsafe { call(&config.as_abi(), &mut handle, error) })?;
        match handle.is_null() {
            true => Err(EngineError { status: abi::ERROR, reason: "open said OK but gave no database".into() }),
            false => {
                let thread = thread::current().id();
                Ok(Database { table, handle, thread, sessions: AtomicU32::new(0) })
            }
        }
    }

    /// Closes it; what was acknowledged is on the storage then.
    ///
    /// # Errors
    /// The engine's error; the database is gone in any case.
    pub fn close(self) -> Result<(), EngineError> {
        let (table, handle) = (self.table, self.handle);
        mem::forget(self);
        let call = table.close.ok_or_else(|| missing("close"))?;
        // SAFETY: the handle is open and given up here; sessions borrow `self`, so none is open.
        checked("close", |error| unsafe { call(handle, error) })
    }

    /// A session for this thread.
    ///
    /// # Errors
    /// The engine's error.
    ///
    /// # Safety
    /// `host` and its context stay valid, and are used by nobody else, as long as the session.
    pub unsafe fn session(&self, host: *const Host) -> Result<Session<'_>, EngineError> {
        if let Some(reason) = self.refuses_session() {
            return Err(EngineError { status: abi::UNSUPPORTED, reason: reason.to_owned() });
        }
        let mut handle = ptr::null_mut();
        let call = self.table.session_open.ok_or_else(|| missing("session_open"))?;
        // SAFETY: the database is open; the caller vouches for `host`.
        checked("session_open", |error| unsafe { call(self.handle, host, &mut handle, error) })?;
        self.sessions.fetch_add(1, Ordering::Relaxed);
        Ok(Session { table: self.table, handle, database: self, transaction: Cell::new(TransactionState::None) })
    }

    /// Whether the engine declares a capability.
    pub fn can(&self, capability: u64) -> bool {
        self.table.capabilities & capability == capability
    }

    /// Why this thread cannot have a session now, if the engine knows no threads.
    pub fn refuses_session(&self) -> Option<&'static str> {
        let single = self.table.capabilities & abi::IS_SINGLE != 0;
        if single && thread::current().id() != self.thread {
            return Some("it has no threads: a session on another thread needs another process");
        }
        let busy = self.sessions.load(Ordering::Relaxed) > 0;
        (single && busy).then_some("it has no threads: a second session needs another process")
    }

    fn housekeeping(&self, name: &str, call: Option<abi::HousekeepingFn>) -> Result<bool, EngineError> {
        match call {
            None => Ok(false),
            // SAFETY: the database is open.
            Some(call) => checked(name, |error| unsafe { call(self.handle, error) }).map(|()| true),
        }
    }

    /// Brings all that was written to the storage. False if the engine has no such call.
    ///
    /// # Errors
    /// The engine's error.
    pub fn flush(&self) -> Result<bool, EngineError> {
        self.housekeeping("flush", self.table.flush)
    }

    /// Compacts everything. False if the engine has no such call.
    ///
    /// # Errors
    /// The engine's error.
    pub fn compact(&self) -> Result<bool, EngineError> {
        self.housekeeping("compact", self.table.compact)
    }

    /// Waits for background work to end. False if the engine has no such call.
    ///
    /// # Errors
    /// The engine's error.
    pub fn wait_idle(&self) -> Result<bool, EngineError> {
        self.housekeeping("wait_idle", self.table.wait_idle)
    }

    /// The engine's counts of its own work; absent if it declares no counters, or answers with an error.
    pub fn counters(&self) -> Option<Counters> {
        let call = self.table.counters.filter(|_| self.can(abi::CAN_COUNT))?;
        let mut told = abi::Counters {
            size: mem::size_of::<abi::Counters>() as u32,
            reserved: 0,
            flushed_bytes: abi::ABSENT,
            compacted_bytes: abi::ABSENT,
            stalled_ns: abi::ABSENT,
        };
        // SAFETY: the database is open, and the struct has the size that it says.
        let status = unsafe { call(self.handle, &mut told) };
        let counted = |value: u64| (value != abi::ABSENT).then_some(value);
        (status == abi::OK).then(|| Counters {
            flushed_bytes: counted(told.flushed_bytes),
            compacted_bytes: counted(told.compacted_bytes),
            stalled_ns: counted(told.stalled_ns),
        })
    }

    /// The engine's own statistics: group, name, value.
    pub fn statistics(&self) -> Vec<(String, String, String)> {
        let mut entries: Vec<Entry> = Vec::new();
        if let Some(call) = self.table.statistics {
            // SAFETY: the database is open, and `collect` gets the vector that it expects.
            unsafe { call(self.handle, collect, ptr::from_mut(&mut entries).cast::<c_void>()) };
        }
        entries
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Some(call) = self.table.close {
            // SAFETY: the handle is open and given up here. An error has nowhere to go: `close` reports.
            unsafe { call(self.handle, &mut TextBuffer::new().as_abi()) };
        }
    }
}

/// Whether a session is in a transaction. The host tracks it, so that no adapter has to: it refuses calls that are out
/// of order, and a session that is dropped within a transaction aborts it first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TransactionState {
    None,
    Begun,
    /// The engine ended it by itself: a caller may still abort it.
    Ended,
}

/// A thread's session.
#[derive(Debug)]
pub struct Session<'db> {
    table: &'static abi::Engine,
    handle: *mut abi::Session,
    database: &'db Database,
    transaction: Cell<TransactionState>,
}

/// The bytes that an engine lends, as a slice.
///
/// # Safety
/// `bytes` was filled by the engine, and the loan still stands during `'a`.
unsafe fn lent<'a>(bytes: abi::Bytes) -> &'a [u8] {
    match bytes.size {
        0 => &[],
        // SAFETY: as the caller promises.
        size => unsafe { slice::from_raw_parts(bytes.data.cast(), size) },
    }
}

impl<'db> Session<'db> {
    /// Whether the engine has a capability, `abi::CAN_…`.
    pub fn can(&self, capability: u64) -> bool {
        self.database.can(capability)
    }

    /// The function table and the handle, for the measured loop.
    pub fn raw(&self) -> (&'static abi::Engine, *mut abi::Session) {
        (self.table, self.handle)
    }

    /// Why the last call failed.
    #[cold]
    pub fn error(&self, status: abi::Status) -> EngineError {
        let mut text = TextBuffer::new();
        if let Some(call) = self.table.session_error {
            // SAFETY: the session is open, the text has the capacity that it says.
            unsafe { call(self.handle, &mut text.as_abi()) };
        }
        EngineError { status, reason: text.read(&format!("status {status}, and no reason")) }
    }

    /// The error of a call that failed; a conflict has ended the transaction.
    #[cold]
    fn failed(&self, status: abi::Status) -> EngineError {
        if status == abi::CONFLICT && self.transaction.get() == TransactionState::Begun {
            self.transaction.set(TransactionState::Ended);
        }
        self.error(status)
    }

    fn ended(&self, status: abi::Status) -> Result<(), EngineError> {
        match status {
            abi::OK => Ok(()),
            status => Err(self.failed(status)),
        }
    }

    fn answered<T>(&self, status: abi::Status, hit: impl FnOnce() -> T) -> Result<Answer<T>, EngineError> {
        match status {
            abi::OK => Ok(Answer::Hit(hit())),
            abi::MISS => Ok(Answer::Miss),
            status => Err(self.failed(status)),
        }
    }

    /// The level of what the session writes from now on.
    ///
    /// # Errors
    /// The engine's error.
    pub fn set_durability(&mut self, level: Durability) -> Result<(), EngineError> {
        let call = self.table.set_durability.ok_or_else(|| missing("durability of each session"))?;
        // SAFETY: the session is open.
        self.ended(unsafe { call(self.handle, level.code()) })
    }

    /// The value of `key`, borrowed until the next call.
    ///
    /// # Errors
    /// The engine's error.
    pub fn get(&mut self, key: &[u8]) -> Result<Answer<&[u8]>, EngineError> {
        let mut value = abi::Bytes::NONE;
        let call = self.table.get.ok_or_else(|| missing("get"))?;
        // SAFETY: the session is open, the key is readable.
        let status = unsafe { call(self.handle, abi::address(key), key.len(), &mut value) };
        // SAFETY: the loan stands until the next call, which needs `&mut self`.
        self.answered(status, || unsafe { lent(value) })
    }

    /// Inserts or replaces.
    ///
    /// # Errors
    /// The engine's error.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), EngineError> {
        let call = self.table.put.ok_or_else(|| missing("put"))?;
        // SAFETY: the session is open, key and value are readable.
        let status = unsafe { call(self.handle, abi::address(key), key.len(), abi::address(value), value.len()) };
        self.ended(status)
    }

    /// Deletes; a hit if the engine does not know better.
    ///
    /// # Errors
    /// The engine's error.
    pub fn delete(&mut self, key: &[u8]) -> Result<Answer<()>, EngineError> {
        let call = self.table.remove.ok_or_else(|| missing("delete"))?;
        // SAFETY: the session is open, the key is readable.
        let status = unsafe { call(self.handle, abi::address(key), key.len()) };
        self.answered(status, || ())
    }

    /// Whether `key` is there; its value is not returned.
    ///
    /// # Errors
    /// The engine's error.
    pub fn contains(&mut self, key: &[u8]) -> Result<bool, EngineError> {
        let call = self.table.contains.ok_or_else(|| missing("contains"))?;
        // SAFETY: the session is open, the key is readable.
        let status = unsafe { call(self.handle, abi::address(key), key.len()) };
        self.answered(status, || ()).map(|answer| answer == Answer::Hit(()))
    }

    /// Inserts where `key` is not there: true. Otherwise its value stays as it is: false.
    ///
    /// # Errors
    /// The engine's error.
    pub fn insert_if_absent(&mut self, key: &[u8], value: &[u8]) -> Result<bool, EngineError> {
        let call = self.table.insert_if_absent.ok_or_else(|| missing("insert-if-absent"))?;
        // SAFETY: the session is open, key and value are readable.
        let status = unsafe { call(self.handle, abi::address(key), key.len(), abi::address(value), value.len()) };
        match status {
            abi::EXISTS => Ok(false),
            status => self.ended(status).map(|()| true),
        }
    }

    /// Deletes every key from `from` on that comes before `to`.
    ///
    /// # Errors
    /// The engine's error.
    pub fn delete_range(&mut self, from: &[u8], to: &[u8]) -> Result<(), EngineError> {
        let call = self.table.delete_range.ok_or_else(|| missing("range delete"))?;
        // SAFETY: the session is open, both keys are readable.
        let status = unsafe { call(self.handle, abi::address(from), from.len(), abi::address(to), to.len()) };
        self.ended(status)
    }

    /// Applies puts (`Some`) and deletes (`None`) in order, as one batch.
    ///
    /// # Errors
    /// The engine's error.
    pub fn write(&mut self, steps: &[(&[u8], Option<&[u8]>)]) -> Result<(), EngineError> {
        let steps: Vec<abi::BatchEntry> = steps
            .iter()
            .map(|(key, value)| abi::BatchEntry {
                kind: if value.is_some() { abi::PUT } else { abi::DELETE },
                reserved: 0,
                key: abi::Bytes::of(key),
                value: value.map_or(abi::Bytes::NONE, abi::Bytes::of),
            })
            .collect();
        let call = self.table.write.ok_or_else(|| missing("write"))?;
        // SAFETY: the session is open, the steps point to readable bytes.
        let status = unsafe { call(self.handle, steps.as_ptr(), steps.len()) };
        self.ended(status)
    }

    /// The values of several keys, borrowed until the next call.
    ///
    /// # Errors
    /// The engine's error, for the whole or for one key.
    pub fn multi_get(&mut self, keys: &[&[u8]]) -> Result<Vec<Answer<&[u8]>>, EngineError> {
        let wanted: Vec<abi::Bytes> = keys.iter().map(|key| abi::Bytes::of(key)).collect();
        let mut values = vec![abi::Bytes::NONE; keys.len()];
        let mut statuses = vec![abi::ERROR; keys.len()];
        let call = self.table.multi_get.ok_or_else(|| missing("multi-get"))?;
        // SAFETY: the session is open; keys, values and statuses have `keys.len()` elements each.
        let status =
            unsafe { call(self.handle, wanted.as_ptr(), wanted.len(), values.as_mut_ptr(), statuses.as_mut_ptr()) };
        self.ended(status)?;
        // SAFETY: the loans stand until the next call, which needs `&mut self`.
        statuses.iter().zip(&values).map(|(&status, &value)| self.answered(status, || unsafe { lent(value) })).collect()
    }

    /// Reads, lets `change` decide the new value, writes: one atomic step. `change` answering `None` gives it up.
    ///
    /// # Errors
    /// The engine's error.
    pub fn read_modify_write(
        &mut self,
        key: &[u8],
        mut change: impl FnMut(Option<&[u8]>) -> Option<Vec<u8>>,
    ) -> Result<(), EngineError> {
        type Change<'a> = &'a mut dyn FnMut(Option<&[u8]>) -> Option<Vec<u8>>;
        struct Context<'a> {
            change: Change<'a>,
            value: Vec<u8>,
        }
        unsafe extern "C" fn update(context: *mut c_void, old: abi::Bytes, value: *mut abi::Bytes) -> abi::Status {
            // SAFETY: the context is the one passed below; `old` is lent for this call; `value` is to be filled.
            unsafe {
                let context = &mut *context.cast::<Context<'_>>();
                let old = (!old.data.is_null()).then(|| lent(old));
                match (context.change)(old) {
                    None => abi::MISS,
                    Some(new) => {
                        context.value = new;
                        *value = abi::Bytes::of(&context.value);
                        abi::OK
                    }
                }
            }
        }
        let mut context = Context { change: &mut change, value: Vec::new() };
        let call = self.table.read_modify_write.ok_or_else(|| missing("read-modify-write"))?;
        // SAFETY: the session is open; the context outlives the call.
        let status =
            unsafe { call(self.handle, abi::address(key), key.len(), update, ptr::from_mut(&mut context).cast()) };
        match status {
            abi::MISS => Ok(()),
            status => self.ended(status),
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if self.transaction.get() == TransactionState::Begun {
            // An error has nowhere to go: `abort` is the way that reports.
            let _ = self.abort();
        }
        if let Some(call) = self.table.session_close {
            // SAFETY: the session is open and given up here.
            unsafe { call(self.handle) };
        }
        self.database.sessions.fetch_sub(1, Ordering::Relaxed);
    }
}
