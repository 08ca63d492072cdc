//! A small host: a database with one session, called through the table.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use kvdyno_abi as abi;

use crate::kvdyno_engine_v2;

/// The answer of a call: a value, nothing, or a status with its text.
pub(super) type Answer<T> = Result<T, (abi::Status, String)>;
pub(super) type Pair = (String, String);

/// How a database is opened.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    pub(super) create: bool,
    pub(super) durability: u32,
    pub(super) fault: &'static str,
    pub(super) every: i64,
    pub(super) after: i64,
    pub(super) fill_limit: i64,
}

/// A new database without durability, in which every operation is hit.
pub(super) fn with(fault: &'static str) -> Plan {
    Plan { create: true, durability: abi::DURABILITY_NONE, fault, every: 1, after: 0, fill_limit: 1 << 20 }
}

pub(super) const SOUND: Plan =
    Plan { create: false, durability: abi::DURABILITY_NONE, fault: "none", every: 1, after: 0, fill_limit: 0 };

/// An open database with one session.
pub(super) struct Db {
    pub(super) database: *mut abi::Database,
    pub(super) session: *mut abi::Session,
}

pub(super) struct ErrorText([c_char; 200]);

impl ErrorText {
    pub(super) fn new() -> Self {
        Self([0; 200])
    }

    pub(super) fn text(&mut self) -> abi::Text {
        abi::Text { data: self.0.as_mut_ptr(), capacity: self.0.len() }
    }

    pub(super) fn answer<T>(&self, status: abi::Status, value: T) -> Answer<T> {
        // SAFETY: the memory began as zeros, and an adapter ends its text with one.
        let text = unsafe { CStr::from_ptr(self.0.as_ptr()) };
        if status == abi::OK { Ok(value) } else { Err((status, text.to_str().unwrap().into())) }
    }
}

pub(super) fn engine() -> &'static abi::Engine {
    // SAFETY: the entry returns a static table.
    unsafe { &*kvdyno_engine_v2() }
}

pub(super) fn as_text(bytes: abi::Bytes) -> String {
    // SAFETY: an engine that answered OK lends these bytes until the next call.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(bytes.data.cast(), bytes.size) }).into_owned()
}

pub(super) fn lent(text: &str) -> abi::Bytes {
    abi::Bytes { data: text.as_ptr().cast(), size: text.len() }
}

pub(super) const NOTHING: abi::Bytes = abi::Bytes { data: ptr::null(), size: 0 };

impl Db {
    pub(super) fn open(folder: &Path, plan: Plan) -> Answer<Self> {
        let path = CString::new(folder.as_os_str().as_bytes()).unwrap();
        let fault = CString::new(plan.fault).unwrap();
        let options = [
            abi::OptionValue { text: fault.as_ptr() },
            abi::OptionValue { integer: plan.every },
            abi::OptionValue { integer: plan.after },
            abi::OptionValue { integer: plan.fill_limit },
            abi::OptionValue { text: c"none".as_ptr() },
            abi::OptionValue { text: c"crash".as_ptr() },
            abi::OptionValue { integer: 0 },
            abi::OptionValue { text: c"nowhere".as_ptr() },
            abi::OptionValue { integer: 0 },
            abi::OptionValue { integer: 0 },
            abi::OptionValue { integer: 5000 },
            abi::OptionValue { text: c"".as_ptr() },
            abi::OptionValue { integer: 0 },
            abi::OptionValue { integer: 0 },
            abi::OptionValue { integer: 0 },
        ];
        let config = abi::Config {
            size: size_of::<abi::Config>() as u32,
            create: plan.create.into(),
            path: path.as_ptr(),
            library: ptr::null(),
            durability: plan.durability,
            sync_period_ms: 1,
            compression: abi::COMPRESSION_NONE,
            sessions: 1,
            cache_bytes: 0,
            write_buffer_bytes: 0,
            records: 0,
            key_size: 0,
            value_size: 0,
            options: options.as_ptr(),
            option_count: options.len(),
            prefix_size: 0,
            processes: 1,
            session_durabilities: 0,
        };
        let (mut database, mut session, mut error) = (ptr::null_mut(), ptr::null_mut(), ErrorText::new());
        // SAFETY: everything is there, as the header asks.
        unsafe {
            let status = engine().open.unwrap()(&config, &mut database, &mut error.text());
            error.answer(status, ())?;
            let status = engine().session_open.unwrap()(database, ptr::null(), &mut session, &mut error.text());
            error.answer(status, Self { database, session })
        }
    }

    pub(super) fn close(self) -> Answer<()> {
        let mut error = ErrorText::new();
        // SAFETY: open handles, for the last time.
        unsafe {
            engine().session_close.unwrap()(self.session);
            let status = engine().close.unwrap()(self.database, &mut error.text());
            error.answer(status, ())
        }
    }

    /// Leaves it as a killed process does.
    pub(super) fn leave(self) {}

    pub(super) fn answer<T>(&self, status: abi::Status, value: impl FnOnce() -> T) -> Answer<Option<T>> {
        match status {
            abi::OK => Ok(Some(value())),
            abi::MISS => Ok(None),
            status => {
                let mut error = ErrorText::new();
                // SAFETY: an open session and memory for a text.
                unsafe { engine().session_error.unwrap()(self.session, &mut error.text()) };
                error.answer(status, None)
            }
        }
    }

    pub(super) fn get(&self, key: &str) -> Answer<Option<String>> {
        let mut value = NOTHING;
        // SAFETY: an open session, a key and memory for the value.
        let status = unsafe { engine().get.unwrap()(self.session, key.as_ptr().cast(), key.len(), &mut value) };
        self.answer(status, || as_text(value))
    }

    pub(super) fn put(&self, key: &str, value: &str) -> Answer<()> {
        let (k, v) = (lent(key), lent(value));
        // SAFETY: an open session, a key and a value.
        let status = unsafe { engine().put.unwrap()(self.session, k.data, k.size, v.data, v.size) };
        self.answer(status, || ()).map(|_| ())
    }

    pub(super) fn remove(&self, key: &str) -> Answer<Option<()>> {
        // SAFETY: an open session and a key.
        let status = unsafe { engine().remove.unwrap()(self.session, key.as_ptr().cast(), key.len()) };
        self.answer(status, || ())
    }

    /// Puts those with a value, deletes the others.
    pub(super) fn write(&self, steps: &[(&str, Option<&str>)]) -> Answer<()> {
        let step = |(key, value): &(&str, Option<&str>)| abi::BatchEntry {
            kind: if value.is_some() { abi::PUT } else { abi::DELETE },
            reserved: 0,
            key: lent(key),
            value: value.map_or(NOTHING, lent),
        };
        let steps: Vec<_> = steps.iter().map(step).collect();
        // SAFETY: an open session and that many steps.
        let status = unsafe { engine().write.unwrap()(self.session, steps.as_ptr(), steps.len()) };
        self.answer(status, || ()).map(|_| ())
    }

    pub(super) fn multi_get(&self, keys: &[&str]) -> (abi::Status, Vec<Option<String>>) {
        let keys: Vec<_> = keys.iter().copied().map(lent).collect();
        let (mut values, mut statuses) = (vec![NOTHING; keys.len()], vec![99; keys.len()]);
        // SAFETY: an open session, keys, and memory for as many values and statuses.
        let status = unsafe {
            engine().multi_get.unwrap()(
                self.session,
                keys.as_ptr(),
                keys.len(),
                values.as_mut_ptr(),
                statuses.as_mut_ptr(),
            )
        };
        let value = |(status, value): (&abi::Status, &abi::Bytes)| (*status == abi::OK).then(|| as_text(*value));
        (status, statuses.iter().zip(&values).map(value).collect())
    }

    /// All records from a seek on, keys only.
    pub(super) fn scan(&self, from: Option<&str>, direction: u32) -> Vec<Pair> {
        let (mut cursor, mut key, mut value) = (ptr::null_mut(), NOTHING, NOTHING);
        let mut records = Vec::new();
        let e = engine();
        // SAFETY: an open session; the cursor is used while it is open; memory for keys and values.
        unsafe {
            assert_eq!(e.cursor_open.unwrap()(self.session, &mut cursor), abi::OK);
            let step = if direction == abi::FORWARD { e.cursor_next } else { e.cursor_previous }.unwrap();
            let k = from.map_or(NOTHING, lent);
            let mut status = e.cursor_seek.unwrap()(cursor, k.data, k.size, direction, &mut key, &mut value);
            while status == abi::OK {
                records.push((as_text(key), as_text(value)));
                status = step(cursor, &mut key, &mut value);
            }
            assert_eq!(status, abi::MISS);
            e.cursor_close.unwrap()(cursor);
        }
        records
    }

    pub(super) fn keys(&self) -> String {
        self.scan(None, abi::FORWARD).into_iter().map(|(key, _)| key).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn statistics(&self) -> BTreeMap<String, String> {
        unsafe extern "C" fn emit(context: *mut c_void, _: *const c_char, name: *const c_char, value: *const c_char) {
            // SAFETY: the map below, and texts that live through the call.
            unsafe {
                let text = |text| CStr::from_ptr(text).to_str().unwrap().to_owned();
                (*context.cast::<BTreeMap<String, String>>()).insert(text(name), text(value));
            }
        }
        let mut told = BTreeMap::new();
        // SAFETY: an open database, and `emit` is made for this context.
        let status = unsafe { engine().statistics.unwrap()(self.database, emit, (&raw mut told).cast()) };
        assert_eq!(status, abi::OK);
        told
    }
}

pub(super) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A new database with records a to e, each with the values `x1` and then `x2`.
pub(super) fn filled(folder: &tempfile::TempDir, plan: Plan) -> Db {
    let db = Db::open(folder.path(), plan).unwrap();
    for version in ["1111", "2222"] {
        for key in ["a", "b", "c", "d", "e"] {
            db.put(key, &format!("{key}{version}")).unwrap();
        }
    }
    db
}

pub(super) fn ok(text: &str) -> Answer<Option<String>> {
    Ok(Some(text.into()))
}
