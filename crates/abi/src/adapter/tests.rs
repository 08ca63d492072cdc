//! The border, through the table of an engine that does what each test needs.

use super::*;
use crate::types as abi;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

const CAPABILITIES: u64 = abi::CAN_SCAN | abi::CAN_MULTI_GET | abi::CAN_READ_MODIFY_WRITE | abi::CAN_SNAPSHOT;

/// Declares some of everything, so that everything else is refused.
struct Odd {
    sessions: AtomicU32,
}

/// Borrows from its database: the compiler holds the border to the lifetimes that the trait promises.
struct OddSession<'db> {
    db: &'db Odd,
    stored: Vec<u8>,
}

struct OddCursor<'db>(&'db Odd, u8, [u8; 1]);

impl Engine for Odd {
    const DESCRIPTION: Description = Description {
        capabilities: CAPABILITIES,
        durabilities: bits(&[abi::DURABILITY_PROCESS, abi::DURABILITY_PERIODIC]),
        options: &[
            Opt::bool(c"flag", true, c"a flag"),
            Opt::integer(c"count", c"3", -5, 5, c"a number"),
            Opt::size(c"buffer", c"1KiB", 0, 1 << 20, c"a size"),
            Opt::real(c"share", c"0.5", c"a real number"),
            Opt::text(c"note", c"", c"a text"),
            Opt::choice(c"kind", c"a", c"a|b", c"one of two"),
        ],
        presets: &[Preset::new(c"big", c"buffer=1MiB,flag=false", c"a large one")],
        housekeeping: Housekeeping { flush: true, ..Housekeeping::NONE },
        ..Description::new(c"odd", c"does what a test needs")
    };
    type Session<'db> = OddSession<'db>;

    fn probe(library: Option<&Path>) -> Result<String, Error> {
        match library {
            Some(path) => Err(Error::no_library(format_args!("looked for {}", path.display()))),
            None => Ok("1.2.3".into()),
        }
    }

    fn settings(config: &Config<'_>, list: &mut Listing<'_>) -> Result<(), Error> {
        list.say("durability", "level", format_args!("{:?}", config.durability()));
        list.say("options", "flag", config.bool("flag"));
        list.say("options", "count", config.integer("count"));
        list.say("options", "buffer", config.size("buffer"));
        list.say("options", "share", config.real("share"));
        list.say("options", "note", config.text("note"));
        list.say("options", "kind", config.text("kind"));
        Ok(())
    }

    fn open(path: &Path, config: &Config<'_>) -> Result<Self, Error> {
        if path == "/mistake" {
            config.integer("flag");
        }
        Ok(Self { sessions: AtomicU32::new(0) })
    }

    fn close(self) -> Result<(), Error> {
        match self.sessions.into_inner() {
            0 => Ok(()),
            left => Err(Error::new(format_args!("{left} sessions were not dropped"))),
        }
    }

    fn session(&self, _host: Host) -> Result<OddSession<'_>, Error> {
        self.sessions.fetch_add(1, SeqCst);
        Ok(OddSession { db: self, stored: b"old".to_vec() })
    }

    fn flush(&self) -> Result<(), Error> {
        Err(Error::from(std::io::Error::from(std::io::ErrorKind::StorageFull)).during("flushing"))
    }
}

impl Drop for OddSession<'_> {
    fn drop(&mut self) {
        self.db.sessions.fetch_sub(1, SeqCst);
    }
}

impl<'db> Session for OddSession<'db> {
    type Cursor = OddCursor<'db>;

    fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, Error> {
        match key {
            b"panic" => panic!("at {}", "the disco"),
            b"error" => Err(Error::conflict("somebody was faster")),
            b"" => Ok(Some(b"")),
            b"old" => Ok(Some(&self.stored)),
            _ => Ok(None),
        }
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.stored = [&self.stored, key, value].concat();
        Ok(())
    }

    fn multi_get<'s>(&'s mut self, keys: MultiGetKeys<'_>, answers: &mut MultiGetAnswers<'_, 's>) -> Result<(), Error> {
        let stored = &self.stored;
        for (index, key) in keys.enumerate() {
            match key {
                b"forgotten" => {}
                b"error" => answers.set(index, Err(Error::no_space("full"))),
                b"old" => answers.set(index, Ok(Some(stored))),
                _ => answers.set(index, Ok(None)),
            }
        }
        Ok(())
    }

    fn read_modify_write(&mut self, _key: &[u8], change: &mut Change<'_>) -> Result<(), Error> {
        let old = self.stored.clone();
        self.stored = change.apply(Some(&old))?.to_vec();
        Ok(())
    }

    fn begin(&mut self, kind: Transaction) -> Result<(), Error> {
        assert_eq!(kind, Transaction::ReadOnly);
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn cursor(&mut self) -> Result<OddCursor<'db>, Error> {
        Ok(OddCursor(self.db, 0, [0]))
    }
}

/// Counts to three.
impl Cursor for OddCursor<'_> {
    fn seek(&mut self, key: Option<&[u8]>, direction: Direction) -> Result<Option<Record<'_>>, Error> {
        assert_eq!(direction, Direction::Forward);
        self.1 = key.map_or(0, |key| key[0] - 1);
        self.next()
    }

    fn next(&mut self) -> Result<Option<Record<'_>>, Error> {
        if self.1 == 3 {
            return Err(Error::new(format_args!("past the end with {} sessions", self.0.sessions.load(SeqCst))));
        }
        self.1 += 1;
        self.2 = [self.1];
        Ok(Some((&self.2, b"v")))
    }
}

static ODD: abi::Engine = table::<Odd>();

const NOTHING: abi::Bytes = abi::Bytes { data: ptr::null(), size: 0 };

fn lent(text: &str) -> abi::Bytes {
    abi::Bytes { data: text.as_ptr().cast(), size: text.len() }
}

/// Calls with memory for a text; the status and the text.
fn told<const CAPACITY: usize>(call: impl FnOnce(*mut abi::Text) -> abi::Status) -> (abi::Status, String) {
    let mut memory = [0 as c_char; CAPACITY];
    let mut text = abi::Text { data: memory.as_mut_ptr(), capacity: CAPACITY };
    let status = call(&mut text);
    // SAFETY: it began as zeros, and who writes to it ends with one.
    let text = unsafe { CStr::from_ptr(memory.as_ptr()) };
    (status, text.to_str().unwrap().into())
}

fn values() -> [abi::OptionValue; 6] {
    [
        abi::OptionValue { integer: 1 },
        abi::OptionValue { integer: -4 },
        abi::OptionValue { integer: 4096 },
        abi::OptionValue { real: 0.25 },
        abi::OptionValue { text: c"schön".as_ptr() },
        abi::OptionValue { text: c"b".as_ptr() },
    ]
}

fn config(values: &[abi::OptionValue]) -> abi::Config {
    abi::Config {
        size: size_of::<abi::Config>() as u32,
        create: 1,
        path: c"/somewhere".as_ptr(),
        library: ptr::null(),
        durability: abi::DURABILITY_PERIODIC,
        sync_period_ms: 20,
        compression: abi::COMPRESSION_NONE,
        sessions: 1,
        cache_bytes: 0,
        write_buffer_bytes: 0,
        records: 0,
        key_size: 0,
        value_size: 0,
        options: values.as_ptr(),
        option_count: values.len(),
        prefix_size: 0,
        processes: 1,
        session_durabilities: 0,
    }
}

fn open(config: &abi::Config) -> (abi::Status, String) {
    told::<200>(|error| {
        let mut database = ptr::null_mut();
        // SAFETY: a config and memory for handle and text; what is opened is closed.
        unsafe {
            let status = ODD.open.unwrap()(config, &mut database, error);
            if status == abi::OK { ODD.close.unwrap()(database, error) } else { status }
        }
    })
}

fn with_session(use_it: impl FnOnce(*mut abi::Session)) {
    let (values, mut database, mut session) = (values(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: the calls of a host, in the order that the header asks for.
    let closed = told::<200>(|error| unsafe {
        assert_eq!(ODD.open.unwrap()(&config(&values), &mut database, error), abi::OK);
        assert_eq!(ODD.session_open.unwrap()(database, ptr::null(), &mut session, error), abi::OK);
        use_it(session);
        ODD.session_close.unwrap()(session);
        ODD.close.unwrap()(database, error)
    });
    assert_eq!(closed, (abi::OK, String::new()));
}

fn why(session: *mut abi::Session) -> String {
    told::<200>(|error| {
        // SAFETY: an open session and memory for a text.
        unsafe { ODD.session_error.unwrap()(session, error) };
        abi::OK
    })
    .1
}

fn get(session: *mut abi::Session, key: abi::Bytes) -> (abi::Status, abi::Bytes) {
    let mut value = NOTHING;
    // SAFETY: an open session, a key and memory for the value.
    (unsafe { ODD.get.unwrap()(session, key.data, key.size, &mut value) }, value)
}

#[test]
fn the_table_holds_what_is_declared_and_no_more() {
    assert!(
        ODD.cursor_next.is_some() && ODD.multi_get.is_some() && ODD.read_modify_write.is_some() && ODD.begin.is_some()
    );
    assert!(ODD.cursor_previous.is_none() && ODD.remove.is_none());
    assert!(ODD.flush.is_some());
    assert!(ODD.compact.is_none() && ODD.wait_idle.is_none() && ODD.statistics.is_none());
    assert!(ODD.write.is_some(), "the header requires it");
    assert_eq!((ODD.option_count, ODD.preset_count, ODD.durabilities), (6, 1, 0b0110));
    // SAFETY: there are that many, with static texts.
    unsafe {
        let buffer = &*ODD.options.add(2);
        assert_eq!((buffer.kind, buffer.minimum, buffer.maximum), (abi::OPTION_SIZE, 0, 1 << 20));
        assert_eq!(CStr::from_ptr(buffer.default_value), c"1KiB");
        assert_eq!(CStr::from_ptr((*ODD.options.add(5)).choices), c"a|b");
        assert_eq!(CStr::from_ptr((*ODD.presets).options), c"buffer=1MiB,flag=false");
    }
}

#[test]
fn a_probe_tells_a_version_or_what_was_looked_for() {
    // SAFETY: NULL or a C string, and memory for the texts.
    let probe = |library| unsafe {
        told::<100>(|version| {
            let (status, error) = told::<100>(|error| ODD.probe.unwrap()(library, version, error));
            assert_eq!(error.is_empty(), status == abi::OK);
            status
        })
    };
    assert_eq!(probe(ptr::null()), (abi::OK, "1.2.3".into()));
    assert_eq!(probe(c"/lib/odd.so".as_ptr()), (abi::NO_LIBRARY, String::new()));
}

#[test]
fn options_arrive_by_name_and_type() {
    unsafe extern "C" fn emit(context: *mut c_void, topic: *const c_char, name: *const c_char, value: *const c_char) {
        // SAFETY: the test's own list, and texts that live through the call.
        unsafe {
            let [topic, name, value] = [topic, name, value].map(|text| CStr::from_ptr(text).to_str().unwrap());
            (*context.cast::<Vec<String>>()).push(format!("{topic}.{name}={value}"));
        }
    }
    let values = values();
    let mut lines = Vec::<String>::new();
    let config = abi::Config { path: ptr::null(), ..config(&values) };
    // SAFETY: `emit` is made for this context.
    let told = told::<100>(|error| unsafe { ODD.settings.unwrap()(&config, emit, (&raw mut lines).cast(), error) });
    assert_eq!(told, (abi::OK, String::new()));
    assert_eq!(
        lines,
        [
            "durability.level=Periodic(20ms)",
            "options.flag=true",
            "options.count=-4",
            "options.buffer=4096",
            "options.share=0.25",
            "options.note=schön",
            "options.kind=b",
        ]
    );
}

#[test]
fn a_wrong_config_never_reaches_the_adapter() {
    let values = values();
    let good = config(&values);
    assert_eq!(open(&good), (abi::OK, String::new()));
    let refused = |change: fn(&mut abi::Config)| {
        let mut config = good;
        change(&mut config);
        open(&config)
    };
    let unsupported = |text: &str| (abi::UNSUPPORTED, text.to_owned());
    let error = |text: &str| (abi::ERROR, text.to_owned());
    assert_eq!(refused(|c| c.durability = abi::DURABILITY_COMMIT), unsupported("durability Commit cannot be met"));
    assert_eq!(refused(|c| c.durability = 77), unsupported("durability level 77 is not known here"));
    assert_eq!(refused(|c| c.compression = abi::COMPRESSION_LZ4), unsupported("compression Lz4 cannot be had"));
    assert_eq!(refused(|c| c.size -= 8), error("the host sent a kvdyno_config that is shorter than version 1's"));
    assert_eq!(refused(|c| c.option_count = 5), error("the host sent 5 option values for 6"));
    assert_eq!(refused(|c| c.path = ptr::null()), error("the host sent no path"));
    // A newer host's config is longer.
    assert_eq!(refused(|c| c.size += 8).0, abi::OK);
}

#[test]
fn an_option_that_is_not_declared_is_the_adapters_mistake() {
    let values = values();
    let config = abi::Config { path: c"/mistake".as_ptr(), ..config(&values) };
    let text = "the adapter panicked: the adapter asks for option flag, which it does not declare with this type";
    assert_eq!(open(&config), (abi::ERROR, text.into()));
}

#[test]
fn hit_miss_error_and_panic_are_four_answers() {
    with_session(|session| {
        let (status, value) = get(session, lent("old"));
        assert_eq!((status, value.size), (abi::OK, 3));
        assert_eq!(get(session, lent("new")).0, abi::MISS);
        assert_eq!(get(session, lent("error")).0, abi::CONFLICT);
        assert_eq!(why(session), "somebody was faster");
        assert_eq!(get(session, lent("panic")).0, abi::ERROR);
        assert_eq!(why(session), "the adapter panicked: at the disco");
        let (status, value) = get(session, NOTHING);
        assert_eq!((status, value.size), (abi::OK, 0), "no key at all is a key of no bytes");
    });
}

#[test]
fn a_batch_without_atomicity_is_its_steps() {
    with_session(|session| {
        let put = |key, value| abi::BatchEntry { kind: abi::PUT, reserved: 0, key: lent(key), value: lent(value) };
        // SAFETY: an open session and as many entries as are said.
        let write =
            |entries: &[abi::BatchEntry]| unsafe { ODD.write.unwrap()(session, entries.as_ptr(), entries.len()) };
        assert_eq!(write(&[put("a", "1"), put("b", "2")]), abi::OK);
        assert_eq!(get(session, lent("old")).1.size, 7);
        assert_eq!(write(&[abi::BatchEntry { kind: abi::DELETE, ..put("a", "") }]), abi::UNSUPPORTED);
        assert_eq!(write(&[put("a", "1"), abi::BatchEntry { kind: 9, ..put("a", "") }]), abi::UNSUPPORTED);
        assert_eq!(why(session), "a batch entry of kind 9");
        assert_eq!(get(session, lent("old")).1.size, 7, "nothing was written");
        // SAFETY: nothing to read where the count is 0.
        assert_eq!(unsafe { ODD.write.unwrap()(session, ptr::null(), 0) }, abi::OK);
    });
}

#[test]
fn a_multi_get_answers_every_key() {
    with_session(|session| {
        let multi_get = |keys: &[&str]| {
            let keys: Vec<_> = keys.iter().copied().map(lent).collect();
            let (mut values, mut statuses) = (vec![NOTHING; keys.len()], vec![55; keys.len()]);
            let (values, answers) = (values.as_mut_ptr(), statuses.as_mut_ptr());
            // SAFETY: an open session, keys, and memory for as many values and statuses.
            let status = unsafe { ODD.multi_get.unwrap()(session, keys.as_ptr(), keys.len(), values, answers) };
            (status, statuses)
        };
        assert_eq!(multi_get(&["old", "new"]), (abi::OK, vec![abi::OK, abi::MISS]));
        assert_eq!(multi_get(&["old", "error"]), (abi::NO_SPACE, vec![abi::OK, abi::NO_SPACE]));
        assert_eq!(why(session), "full");
        assert_eq!(multi_get(&["forgotten", "new"]), (abi::ERROR, vec![abi::ERROR, abi::MISS]));
        assert_eq!(why(session), "the adapter gave no answer to key 0");
    });
}

#[test]
fn a_change_is_made_or_given_up_as_the_host_says() {
    unsafe extern "C" fn update(context: *mut c_void, old: abi::Bytes, value: *mut abi::Bytes) -> abi::Status {
        // SAFETY: the test's own context, and memory for the value.
        unsafe {
            let seen = &mut *context.cast::<Vec<usize>>();
            seen.push(old.size);
            if seen.len() > 1 {
                return abi::MISS;
            }
            *value = lent("longer");
        }
        abi::OK
    }
    with_session(|session| {
        let mut seen = Vec::<usize>::new();
        let context: *mut c_void = (&raw mut seen).cast();
        // SAFETY: an open session, a key, and a update made for this context.
        let read_modify_write = || unsafe { ODD.read_modify_write.unwrap()(session, NOTHING.data, 0, update, context) };
        assert_eq!(read_modify_write(), abi::OK);
        assert_eq!(read_modify_write(), abi::MISS, "what the update returns is what read_modify_write returns");
        assert_eq!(seen, [3, 6]);
        assert_eq!(get(session, lent("old")).1.size, 6);
    });
}

#[test]
fn only_the_declared_kind_of_transaction_begins() {
    with_session(|session| {
        // SAFETY: an open session.
        unsafe {
            assert_eq!(ODD.begin.unwrap()(session, abi::READ_ONLY), abi::OK);
            assert_eq!(ODD.commit.unwrap()(session), abi::OK);
            assert_eq!(ODD.begin.unwrap()(session, abi::READ_WRITE), abi::UNSUPPORTED);
        }
        assert_eq!(why(session), "a transaction of kind 0");
    });
}

#[test]
fn a_cursors_error_is_its_sessions() {
    with_session(|session| {
        let (mut cursor, mut key, mut value) = (ptr::null_mut(), NOTHING, NOTHING);
        // SAFETY: an open session; the cursor is used while it is open; memory for a record.
        unsafe {
            assert_eq!(ODD.cursor_open.unwrap()(session, &mut cursor), abi::OK);
            let seek = ODD.cursor_seek.unwrap();
            assert_eq!(seek(cursor, c"\x03".as_ptr().cast(), 1, abi::FORWARD, &mut key, &mut value), abi::OK);
            assert_eq!((*key.data.cast::<u8>(), value.size), (3, 1));
            assert_eq!(ODD.cursor_next.unwrap()(cursor, &mut key, &mut value), abi::ERROR);
            assert_eq!(why(session), "past the end with 1 sessions");
            assert_eq!(seek(cursor, ptr::null(), 0, abi::BACKWARD, &mut key, &mut value), abi::UNSUPPORTED);
            assert_eq!(why(session), "seeking in direction 1");
            assert_eq!(seek(cursor, ptr::null(), 0, abi::FORWARD, &mut key, &mut value), abi::OK);
            assert_eq!(*key.data.cast::<u8>(), 1);
            ODD.cursor_close.unwrap()(cursor);
        }
    });
}

#[test]
fn housekeeping_tells_its_errors() {
    let values = values();
    let mut database = ptr::null_mut();
    // SAFETY: the calls of a host, in the order that the header asks for.
    let (status, text) = told::<200>(|error| unsafe {
        assert_eq!(ODD.open.unwrap()(&config(&values), &mut database, error), abi::OK);
        let status = ODD.flush.unwrap()(database, error);
        assert_eq!(ODD.close.unwrap()(database, ptr::null_mut()), abi::OK);
        status
    });
    assert_eq!(status, abi::NO_SPACE);
    assert!(text.starts_with("flushing: "), "{text}");
}

#[test]
fn texts_are_cut_between_characters() {
    let cut = |text: &str| {
        let write = |target| {
            // SAFETY: the target is as large as it says.
            unsafe { write_text(target, text) };
            abi::OK
        };
        told::<5>(write).1
    };
    assert_eq!(cut("four"), "four");
    assert_eq!(cut("fives"), "five");
    assert_eq!(cut("abcü"), "abc");
    let mut none = abi::Text { data: ptr::null_mut(), capacity: 9 };
    // SAFETY: no memory at all is not written to.
    unsafe {
        write_text(&mut none, "text");
        write_text(ptr::null_mut(), "text");
    }
}
