//! An adapter in safe Rust: implement [`Engine`], [`Session`] and, for scans, [`Cursor`]; [`export_engine!`] does the
//! rest.
//!
//! A whole adapter, `examples/table.rs`:
//!
//! ```
#![doc = include_str!("../examples/table.rs")]
//! # fn main() {}
//! ```
//!
//! The macro exports [`table`]. An operation stands in it only if the [`Description`] declares it, so declaration and
//! table cannot differ. Levels and options are checked before the adapter is called: [`Engine::open`] sees no
//! durability or compression that it did not declare.
//!
//! [`export_engine!`]: crate::export_engine
//!
//! # Lifetimes
//!
//! The ABI promises that `close` comes after every session was closed. So a session may borrow from its database, and
//! needs no `Arc`: that is the `'db` of [`Engine::Session`]. A value that [`Session::get`] returns is borrowed from the
//! session until its next call: an adapter keeps the engine's guard, page or buffer in the session and returns a slice
//! of it. A [`Cursor`] may borrow from the database but not from its session, because the session may be called while
//! the cursor is open; what the two share goes into an `Rc`, for both live on one thread.
//!
//! # Panics
//!
//! No panic crosses the border. Every call that runs the adapter's code is caught and becomes `KVDYNO_ERROR` with the
//! panic's text, rather than the abort that `extern "C"` alone would give: a trial then ends with a reason in its
//! record instead of a signal. Catching costs a call that does not panic two instructions: counted by callgrind, a
//! `get` that only asks [`Host::recall`] is 33, or 31 without catching. A session that panicked may be called again and
//! must only stay memory-safe, which safe Rust does.
//!
//! An adapter that counts single instructions, as the null engine does, replaces members of [`table`] by functions of
//! its own: `export_engine!(table = kvdyno_abi::Engine { get: Some(get), ..table::<Mine>() })`.

mod border;
mod calls;
mod config;
mod counters;
mod describe;
mod error;
pub mod support;
#[cfg(test)]
mod tests;

pub use border::table;
pub use calls::{Batch, BatchEntry, Change, Host, Listing, MultiGetAnswers, MultiGetKeys, write_text};
pub use config::{Compression, Config, Durability, DurabilityLevel};
pub use counters::Counters;
pub use describe::{ALL_COMPRESSIONS, ALL_DURABILITIES, Description, Housekeeping, Opt, Preset, bits};
pub use error::{Error, Status, refuse_library};

use std::path::Path;

/// A storage engine: the value is an open database.
///
/// Calls on it come from any thread. `include/kvdyno.h` says what each owes.
pub trait Engine: Sized + Send + Sync + 'static {
    /// The engine and its capabilities.
    const DESCRIPTION: Description;

    /// A thread's access to an open database, which it may borrow from.
    type Session<'db>: Session;

    /// The version of an engine that is compiled into its adapter. There is no library to name then, and [`table`]
    /// refuses one.
    const BUILT_IN: Option<&'static str> = None;

    /// Finds the engine's library and returns the version that it says it has. Touches no database.
    fn probe(_library: Option<&Path>) -> Result<String, Error> {
        Self::BUILT_IN.map(str::to_owned).ok_or_else(|| Error::new("the engine has no version"))
    }

    /// Lists the engine's own settings for `config`, by the lab's settings as topics: `durability`, `cache`,
    /// `write_buffer`, `compression`, `checksums`, `options`. [`Error::unsupported`] refuses a setting. Opens nothing.
    fn settings(config: &Config<'_>, list: &mut Listing<'_>) -> Result<(), Error>;

    /// Opens the database in the folder `path`, or, if [`Config::create`] says so, makes one there.
    fn open(path: &Path, config: &Config<'_>) -> Result<Self, Error>;

    /// Closes it: what was acknowledged is on the storage when this returns. Without it the value is dropped.
    fn close(self) -> Result<(), Error> {
        Ok(())
    }

    /// A session for the calling thread.
    fn session(&self, host: Host) -> Result<Self::Session<'_>, Error>;

    /// [`Housekeeping::flush`]: brings all that was written to the storage.
    fn flush(&self) -> Result<(), Error> {
        Err(Error::unsupported("flush"))
    }

    /// [`Housekeeping::compact`]: compacts the whole key range, in full.
    fn compact(&self) -> Result<(), Error> {
        Err(Error::unsupported("compact"))
    }

    /// [`Housekeeping::wait_idle`]: returns when background work has come to rest.
    fn wait_idle(&self) -> Result<(), Error> {
        Err(Error::unsupported("wait_idle"))
    }

    /// `CAN_COUNT`: what the engine counts of its own work.
    fn counters(&self) -> Result<Counters, Error> {
        Err(Error::unsupported("counters"))
    }

    /// [`Housekeeping::statistics`]: lists the engine's own statistics.
    fn statistics(&self, _list: &mut Listing<'_>) -> Result<(), Error> {
        Err(Error::unsupported("statistics"))
    }
}

/// A thread's access to a database. Declared capabilities must be implemented; the rest is never called.
pub trait Session {
    /// The engine's cursors; [`NoCursor`] for an engine without scans.
    type Cursor: Cursor;

    /// The value of `key`, or `None` for a miss. It stays good until the session's next call.
    fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, Error>;

    /// Inserts or replaces.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error>;

    /// `CAN_DELETE`. `false` if the engine knows that the key was not there; `true` if it was, or if that is unknown.
    fn remove(&mut self, _key: &[u8]) -> Result<bool, Error> {
        Err(Error::unsupported("remove"))
    }

    /// `CAN_DELETE_RANGE`. Deletes every key from `from` on that comes before `to`, which comes after it, as one step.
    fn delete_range(&mut self, _from: &[u8], _to: &[u8]) -> Result<(), Error> {
        Err(Error::unsupported("delete_range"))
    }

    /// `CAN_CONTAIN`. Whether a key is there; its value is not returned.
    fn contains(&mut self, _key: &[u8]) -> Result<bool, Error> {
        Err(Error::unsupported("contains"))
    }

    /// `CAN_INSERT_IF_ABSENT`. Inserts where the key is not there: true. Otherwise its value stays as it is: false.
    fn insert_if_absent(&mut self, _key: &[u8], _value: &[u8]) -> Result<bool, Error> {
        Err(Error::unsupported("insert_if_absent"))
    }

    /// `CAN_SET_DURABILITY`. The level of what the session writes from now on: one of
    /// [`Config::session_durabilities`].
    fn set_durability(&mut self, _level: DurabilityLevel) -> Result<(), Error> {
        Err(Error::unsupported("set_durability"))
    }

    /// Applies the entries in order; with `CAN_BATCH`, all or none of them. Without it, one after the other will do.
    fn write(&mut self, batch: Batch<'_>) -> Result<(), Error> {
        for step in batch {
            match step {
                BatchEntry::Put { key, value } => self.put(key, value)?,
                BatchEntry::Delete { key } => {
                    self.remove(key)?;
                }
            }
        }
        Ok(())
    }

    /// `CAN_MULTI_GET`. Answers every key; the values stay good until the session's next call.
    fn multi_get<'s>(
        &'s mut self,
        _keys: MultiGetKeys<'_>,
        _answers: &mut MultiGetAnswers<'_, 's>,
    ) -> Result<(), Error> {
        Err(Error::unsupported("multi_get"))
    }

    /// `CAN_READ_MODIFY_WRITE`. Reads, asks `change` for the new value and writes it, as one atomic step.
    fn read_modify_write(&mut self, _key: &[u8], _change: &mut Change<'_>) -> Result<(), Error> {
        Err(Error::unsupported("read_modify_write"))
    }

    /// `CAN_TRANSACT`, `CAN_SNAPSHOT`. Until `commit` or `abort` the session's calls belong to the transaction.
    fn begin(&mut self, _kind: Transaction) -> Result<(), Error> {
        Err(Error::unsupported("begin"))
    }

    /// Ends the transaction and keeps its writes.
    fn commit(&mut self) -> Result<(), Error> {
        Err(Error::unsupported("commit"))
    }

    /// Ends the transaction and undoes its writes.
    fn abort(&mut self) -> Result<(), Error> {
        Err(Error::unsupported("abort"))
    }

    /// `CAN_SCAN`. A cursor that stands nowhere yet.
    fn cursor(&mut self) -> Result<Self::Cursor, Error> {
        Err(Error::unsupported("cursor"))
    }

    /// `CAN_BOUND`, `CAN_SCAN_KEYS`, `CAN_SCAN_PREFIX`. A cursor that keeps to `limits`. They use only capabilities
    /// that the engine declares.
    fn cursor_with(&mut self, _limits: CursorLimits<'_>) -> Result<Self::Cursor, Error> {
        Err(Error::unsupported("cursor_with"))
    }
}

/// The session of an adapter that has functions of its own for sessions in its table.
#[derive(Clone, Copy, Debug)]
pub enum NoSession {}

impl Session for NoSession {
    type Cursor = NoCursor;

    fn get(&mut self, _key: &[u8]) -> Result<Option<&[u8]>, Error> {
        match *self {}
    }

    fn put(&mut self, _key: &[u8], _value: &[u8]) -> Result<(), Error> {
        match *self {}
    }
}

/// The part of the records that a cursor has to bring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CursorLimits<'a> {
    /// Values are not asked for: each comes as one of 0 bytes.
    pub keys_only: bool,
    /// No key before this one is there for the cursor.
    pub from: Option<&'a [u8]>,
    /// Upper bound: the cursor shows neither this key nor any after it.
    pub to: Option<&'a [u8]>,
    /// Prefix of the keys that the cursor shows. The cursor is then used with a seek forward without a key and steps
    /// forward only, and has no bounds.
    pub prefix: Option<&'a [u8]>,
}

/// A key and its value.
pub type Record<'a> = (&'a [u8], &'a [u8]);

/// A position in the order of the keys. Returned bytes stay valid until the next call on it or on its session.
pub trait Cursor {
    /// Goes to the first key at or after `key`, or backward to the last at or before it; without a key, to the very
    /// first or last. `None`: there is none.
    fn seek(&mut self, key: Option<&[u8]>, direction: Direction) -> Result<Option<Record<'_>>, Error>;

    /// Goes to the next key. `None`: that was the last.
    fn next(&mut self) -> Result<Option<Record<'_>>, Error>;

    /// `CAN_SCAN_REVERSE`. Goes to the key before. `None`: that was the first.
    fn previous(&mut self) -> Result<Option<Record<'_>>, Error> {
        Err(Error::unsupported("previous"))
    }
}

/// The cursor of an engine that has none.
#[derive(Clone, Copy, Debug)]
pub enum NoCursor {}

impl Cursor for NoCursor {
    fn seek(&mut self, _key: Option<&[u8]>, _direction: Direction) -> Result<Option<Record<'_>>, Error> {
        match *self {}
    }

    fn next(&mut self) -> Result<Option<Record<'_>>, Error> {
        match *self {}
    }
}

/// Which way a cursor looks for its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// At or after the key.
    Forward,
    /// At or before the key.
    Backward,
}

/// Kinds of transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transaction {
    /// Reads and writes.
    ReadWrite,
    /// Reads that see one state.
    ReadOnly,
}

/// Exports `kvdyno_engine_v2` for a type that implements [`Engine`], or for a table made by hand.
#[macro_export]
macro_rules! export_engine {
    (table = $table:expr) => {
        /// The adapter's entry: `include/kvdyno.h` defines its return value.
        #[unsafe(no_mangle)]
        pub extern "C" fn kvdyno_engine_v2() -> *const $crate::Engine {
            static ENGINE: $crate::Engine = $table;
            &raw const ENGINE
        }
    };
    ($engine:ty) => {
        $crate::export_engine!(table = $crate::adapter::table::<$engine>());
    };
}
