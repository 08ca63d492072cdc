//! The faults as a host sees them, through the table. What ends or stops the process is seen from a parent.

use super::fault::Fault;
use super::kvdyno_engine_v1;
use kvdyno_abi as abi;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::ptr;
use std::time::Duration;

// ---- a small host

/// What a call answered: a value, nothing, or a status with its text.
type Answer<T> = Result<T, (abi::Status, String)>;
type Pair = (String, String);

/// How a database is opened.
#[derive(Clone, Copy)]
struct Plan {
    create: bool,
    durability: u32,
    fault: &'static str,
    every: i64,
    after: i64,
    fill_limit: i64,
}

/// A new database without durability, in which every operation is hit.
fn with(fault: &'static str) -> Plan {
    Plan { create: true, durability: abi::DURABILITY_NONE, fault, every: 1, after: 0, fill_limit: 1 << 20 }
}

const SOUND: Plan =
    Plan { create: false, durability: abi::DURABILITY_NONE, fault: "none", every: 1, after: 0, fill_limit: 0 };

/// An open database with one session.
struct Db {
    database: *mut abi::Database,
    session: *mut abi::Session,
}

struct ErrorText([c_char; 200]);

impl ErrorText {
    fn new() -> Self {
        Self([0; 200])
    }

    fn room(&mut self) -> abi::Text {
        abi::Text { data: self.0.as_mut_ptr(), capacity: self.0.len() }
    }

    fn answer<T>(&self, status: abi::Status, value: T) -> Answer<T> {
        // SAFETY: the room began as zeros, and an adapter ends its text with one.
        let text = unsafe { CStr::from_ptr(self.0.as_ptr()) };
        if status == abi::OK { Ok(value) } else { Err((status, text.to_str().unwrap().into())) }
    }
}

fn engine() -> &'static abi::Engine {
    // SAFETY: the entry returns a static table.
    unsafe { &*kvdyno_engine_v1() }
}

fn as_text(bytes: abi::Bytes) -> String {
    // SAFETY: an engine that answered OK lends these bytes until the next call.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(bytes.data.cast(), bytes.size) }).into_owned()
}

fn lent(text: &str) -> abi::Bytes {
    abi::Bytes { data: text.as_ptr().cast(), size: text.len() }
}

const NOTHING: abi::Bytes = abi::Bytes { data: ptr::null(), size: 0 };

impl Db {
    fn open(folder: &Path, plan: Plan) -> Answer<Self> {
        let path = CString::new(folder.as_os_str().as_bytes()).unwrap();
        let fault = CString::new(plan.fault).unwrap();
        let options = [
            abi::OptionValue { text: fault.as_ptr() },
            abi::OptionValue { integer: plan.every },
            abi::OptionValue { integer: plan.after },
            abi::OptionValue { integer: plan.fill_limit },
            abi::OptionValue { integer: 0 },
            abi::OptionValue { integer: 0 },
        ];
        let config = abi::Config {
            size: size_of::<abi::Config>() as u32,
            create: plan.create.into(),
            path: path.as_ptr(),
            library: ptr::null(),
            durability: plan.durability,
            interval_ms: 1,
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
            reserved: 0,
        };
        let (mut database, mut session, mut error) = (ptr::null_mut(), ptr::null_mut(), ErrorText::new());
        // SAFETY: everything is there, as the header asks.
        unsafe {
            let status = engine().open.unwrap()(&config, &mut database, &mut error.room());
            error.answer(status, ())?;
            let status = engine().session_open.unwrap()(database, ptr::null(), &mut session, &mut error.room());
            error.answer(status, Self { database, session })
        }
    }

    fn close(self) -> Answer<()> {
        let mut error = ErrorText::new();
        // SAFETY: open handles, for the last time.
        unsafe {
            engine().session_close.unwrap()(self.session);
            let status = engine().close.unwrap()(self.database, &mut error.room());
            error.answer(status, ())
        }
    }

    /// Leaves it as a killed process does.
    fn leave(self) {}

    fn answer<T>(&self, status: abi::Status, value: impl FnOnce() -> T) -> Answer<Option<T>> {
        match status {
            abi::OK => Ok(Some(value())),
            abi::MISS => Ok(None),
            status => {
                let mut error = ErrorText::new();
                // SAFETY: an open session and room for a text.
                unsafe { engine().session_error.unwrap()(self.session, &mut error.room()) };
                error.answer(status, None)
            }
        }
    }

    fn get(&self, key: &str) -> Answer<Option<String>> {
        let mut value = NOTHING;
        // SAFETY: an open session, a key and room for the value.
        let status = unsafe { engine().get.unwrap()(self.session, key.as_ptr().cast(), key.len(), &mut value) };
        self.answer(status, || as_text(value))
    }

    fn put(&self, key: &str, value: &str) -> Answer<()> {
        let (k, v) = (lent(key), lent(value));
        // SAFETY: an open session, a key and a value.
        let status = unsafe { engine().put.unwrap()(self.session, k.data, k.size, v.data, v.size) };
        self.answer(status, || ()).map(|_| ())
    }

    fn remove(&self, key: &str) -> Answer<Option<()>> {
        // SAFETY: an open session and a key.
        let status = unsafe { engine().remove.unwrap()(self.session, key.as_ptr().cast(), key.len()) };
        self.answer(status, || ())
    }

    /// Puts those with a value, deletes the others.
    fn write(&self, steps: &[(&str, Option<&str>)]) -> Answer<()> {
        let step = |(key, value): &(&str, Option<&str>)| abi::Step {
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

    fn multi_get(&self, keys: &[&str]) -> (abi::Status, Vec<Option<String>>) {
        let keys: Vec<_> = keys.iter().copied().map(lent).collect();
        let (mut values, mut statuses) = (vec![NOTHING; keys.len()], vec![99; keys.len()]);
        // SAFETY: an open session, keys, and room for as many values and statuses.
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
    fn scan(&self, from: Option<&str>, direction: u32) -> Vec<Pair> {
        let (mut cursor, mut key, mut value) = (ptr::null_mut(), NOTHING, NOTHING);
        let mut records = Vec::new();
        let e = engine();
        // SAFETY: an open session; the cursor is used while it is open; room for keys and values.
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

    fn keys(&self) -> String {
        self.scan(None, abi::FORWARD).into_iter().map(|(key, _)| key).collect::<Vec<_>>().join(" ")
    }

    fn statistics(&self) -> BTreeMap<String, String> {
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

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A new database with records a to e, each with the values `x1` and then `x2`.
fn filled(folder: &tempfile::TempDir, plan: Plan) -> Db {
    let db = Db::open(folder.path(), plan).unwrap();
    for version in ["1111", "2222"] {
        for key in ["a", "b", "c", "d", "e"] {
            db.put(key, &format!("{key}{version}")).unwrap();
        }
    }
    db
}

fn ok(text: &str) -> Answer<Option<String>> {
    Ok(Some(text.into()))
}

// ---- without a fault

#[test]
fn the_store_is_sound() {
    for durability in 0..4 {
        let folder = folder();
        let plan = Plan { durability, ..with("none") };
        let db = filled(&folder, plan);
        assert_eq!(db.get("a"), ok("a2222"));
        assert_eq!(db.get("f"), Ok(None));
        assert_eq!((db.remove("b"), db.remove("b")), (Ok(Some(())), Ok(None)));
        db.write(&[("f", Some("new")), ("c", None), ("f", Some("newer"))]).unwrap();
        assert_eq!(db.multi_get(&["f", "c", "a"]), (abi::OK, vec![Some("newer".into()), None, Some("a2222".into())]));
        assert_eq!(db.multi_get(&[]), (abi::OK, vec![]));
        db.put("empty", "").unwrap();
        assert_eq!(db.get("empty"), ok(""));
        db.close().unwrap();

        let db = Db::open(folder.path(), Plan { create: false, ..plan }).unwrap();
        assert_eq!(db.keys(), "a d e empty f");
        assert_eq!(db.get("f"), ok("newer"));
        db.close().unwrap();
        assert_eq!(Db::open(folder.path(), plan).err().unwrap().0, abi::ERROR, "created twice");
    }
}

#[test]
fn cursors_go_both_ways_from_any_place() {
    let folder = folder();
    let db = filled(&folder, with("none"));
    let keys = |from, direction| db.scan(from, direction).into_iter().map(|(key, _)| key).collect::<String>();
    assert_eq!(keys(None, abi::FORWARD), "abcde");
    assert_eq!(keys(None, abi::BACKWARD), "edcba");
    assert_eq!(keys(Some("b"), abi::FORWARD), "bcde");
    assert_eq!(keys(Some("bb"), abi::FORWARD), "cde");
    assert_eq!(keys(Some("bb"), abi::BACKWARD), "ba");
    assert_eq!(keys(Some("z"), abi::FORWARD), "");
    assert_eq!(keys(Some(""), abi::BACKWARD), "");
    db.close().unwrap();
}

#[test]
fn what_is_not_there_is_not_opened() {
    let folder = folder();
    let (status, text) = Db::open(folder.path(), SOUND).err().unwrap();
    assert_eq!(status, abi::ERROR);
    assert!(text.ends_with("faulty.data is not there"), "{text}");
}

#[test]
fn a_torn_end_of_the_log_is_cut_off() {
    let folder = folder();
    let plan = Plan { durability: abi::DURABILITY_PROCESS, ..with("none") };
    filled(&folder, plan).leave();
    let log = folder.path().join("faulty.log");
    let whole = std::fs::read(&log).unwrap();
    std::fs::write(&log, &whole[..whole.len() - 1]).unwrap();

    let db = Db::open(folder.path(), Plan { create: false, ..plan }).unwrap();
    assert_eq!((db.get("d"), db.get("e")), (ok("d2222"), ok("e1111")));
    db.put("f", "after").unwrap();
    db.leave();
    let db = Db::open(folder.path(), SOUND).unwrap();
    assert_eq!(db.get("f"), ok("after"));
    db.close().unwrap();
    assert!(!log.exists(), "a log outlived what replaced it");
}

#[test]
fn every_choice_is_a_fault() {
    let names: Vec<_> = Fault::CHOICES.to_str().unwrap().split('|').collect();
    assert_eq!(names.len(), 30);
    assert!(names.iter().all(|name| Fault::named(name).is_some()));
    assert_eq!(Fault::named("leak"), None);
}

// ---- when a fault strikes

#[test]
fn after_so_many_each_so_manieth_is_hit() {
    let folder = folder();
    let db = filled(&folder, Plan { after: 3, every: 2, ..with("error-get") });
    let hit = (1..=9).filter(|_| db.get("a").is_err()).count();
    assert_eq!(hit, 3, "operations 5, 7 and 9");
    assert_eq!(db.get("a"), ok("a2222"));
    assert_eq!(db.get("a"), Err((abi::ERROR, "injected by fault=error-get".into())));
    let told = db.statistics();
    assert_eq!((&*told["operations"], &*told["injected"]), ("11", "4"));
    db.close().unwrap();
}

#[test]
fn a_fault_waits_for_an_operation_that_can_take_it() {
    let folder = folder();
    let db = Db::open(folder.path(), Plan { every: 2, ..with("old-value") }).unwrap();
    db.put("a", "first").unwrap();
    assert_eq!([db.get("a"), db.get("a"), db.get("a")], [ok("first"), ok("first"), ok("first")]);
    db.put("a", "second").unwrap();
    assert_eq!([db.get("a"), db.get("a"), db.get("a")], [ok("first"), ok("second"), ok("first")]);
    db.close().unwrap();
}

// ---- wrong answers

#[test]
fn reads_give_wrong_values() {
    for (fault, wrong) in [
        ("other-key", "c2222"),
        ("old-value", "b1111"),
        ("torn-value", "b2111"),
        ("flipped-bit", "c2222"),
        ("short-value", "b222"),
        ("long-value", "b2222\0"),
    ] {
        let folder = folder();
        let db = filled(&folder, Plan { every: 2, ..with(fault) });
        assert_eq!([db.get("b"), db.get("b"), db.get("b")], [ok("b2222"), ok(wrong), ok("b2222")], "{fault}");
        let (status, values) = db.multi_get(&["b", "b"]);
        assert_eq!((status, values[1].as_deref()), (abi::OK, Some("b2222")), "{fault}");
        assert_ne!(values[0].as_deref(), Some("b2222"), "{fault}");
        db.close().unwrap();
        // What is stored is right.
        let db = Db::open(folder.path(), SOUND).unwrap();
        assert_eq!(db.get("b"), ok("b2222"), "{fault}");
        db.close().unwrap();
    }
}

#[test]
fn an_old_value_is_still_known_after_a_restart() {
    let folder = folder();
    filled(&folder, with("none")).close().unwrap();
    let db = Db::open(folder.path(), Plan { create: false, ..with("old-value") }).unwrap();
    assert_eq!(db.get("d"), ok("d1111"));
    db.close().unwrap();
}

#[test]
fn flipped_bits_are_one_bit_and_many_places() {
    let folder = folder();
    let db = Db::open(folder.path(), with("flipped-bit")).unwrap();
    let right = "\0".repeat(16);
    db.put("key", &right).unwrap();
    let mut places = std::collections::BTreeSet::new();
    for _ in 0..128 {
        let mut value = NOTHING;
        // SAFETY: an open session, a key and room for the value.
        let wrong = unsafe {
            assert_eq!(engine().get.unwrap()(db.session, c"key".as_ptr().cast(), 3, &mut value), abi::OK);
            std::slice::from_raw_parts(value.data.cast::<u8>(), value.size)
        };
        assert_eq!(wrong.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
        places.insert(wrong.to_vec());
    }
    assert_eq!(places.len(), 128, "every bit has its turn");
    db.close().unwrap();
}

#[test]
fn a_key_that_is_there_is_missed() {
    let folder = folder();
    let db = filled(&folder, Plan { every: 2, ..with("missing") });
    assert_eq!([db.get("a"), db.get("a"), db.get("a")], [ok("a2222"), Ok(None), ok("a2222")]);
    assert_eq!(db.get("zzz"), Ok(None), "a true miss does not count");
    assert_eq!(db.get("a"), Ok(None));
    db.close().unwrap();
}

#[test]
fn writes_are_acknowledged_and_dropped() {
    let folder = folder();
    let db = Db::open(folder.path(), Plan { every: 2, ..with("dropped-write") }).unwrap();
    db.put("a", "1").unwrap();
    db.put("b", "1").unwrap();
    db.write(&[("c", Some("1")), ("d", Some("1")), ("e", Some("1"))]).unwrap();
    assert_eq!(db.remove("e"), Ok(Some(())));
    assert_eq!(db.keys(), "a c e");
    db.close().unwrap();
}

#[test]
fn cursors_skip_and_swap() {
    for (fault, keys) in [("scan-skip", "a b d e"), ("scan-order", "a b d c e")] {
        let folder = folder();
        let db = filled(&folder, Plan { every: 2, ..with(fault) });
        assert_eq!(db.keys(), keys, "{fault}");
        db.close().unwrap();
    }
}

#[test]
fn wrong_values_reach_cursors_too() {
    let folder = folder();
    let db = filled(&folder, Plan { every: 5, ..with("old-value") });
    let values: Vec<_> = db.scan(None, abi::FORWARD).into_iter().map(|(_, value)| value).collect();
    assert_eq!(values, ["a2222", "b2222", "c2222", "d2222", "e1111"]);
    db.close().unwrap();
}

#[test]
fn half_is_lost_at_close() {
    let folder = folder();
    filled(&folder, Plan { durability: abi::DURABILITY_COMMIT, ..with("lost-at-close") }).close().unwrap();
    let db = Db::open(folder.path(), SOUND).unwrap();
    assert_eq!(db.keys(), "a c e");
    db.close().unwrap();
}

// ---- errors

#[test]
fn errors_say_what_they_are_and_store_nothing() {
    for (fault, status, text) in [
        ("error-put", abi::ERROR, "injected by fault=error-put"),
        ("enospc-put", abi::NO_SPACE, "No space left on device (os error 28)"),
        ("fill-disk", abi::ERROR, "the filesystem is not full after 1048576 bytes; use a smaller one or fill_limit"),
    ] {
        let folder = folder();
        let db = Db::open(folder.path(), Plan { every: 2, ..with(fault) }).unwrap();
        db.put("a", "1").unwrap();
        let failure = Err((status, text.to_owned()));
        assert_eq!(db.put("b", "1"), failure, "{fault}");
        assert_eq!(db.write(&[("c", Some("1")), ("d", Some("1"))]), failure, "{fault}: all or nothing");
        assert_eq!(db.keys(), "a", "{fault}");
        assert!(!folder.path().join("garbage").exists());
        db.close().unwrap();
    }
    let folder = folder();
    let failure = Db::open(folder.path(), with("error-open")).err();
    assert_eq!(failure, Some((abi::ERROR, "injected by fault=error-open".into())));
}

#[test]
#[ignore = "fills the filesystem of the folder SMALL_FILESYSTEM, say a tmpfs of 8 MiB"]
fn a_filesystem_is_filled() {
    let folder = tempfile::tempdir_in(std::env::var_os("SMALL_FILESYSTEM").unwrap()).unwrap();
    let plan = Plan { durability: abi::DURABILITY_PROCESS, every: 2, fill_limit: 1 << 30, ..with("fill-disk") };
    let db = Db::open(folder.path(), plan).unwrap();
    db.put("a", "1").unwrap();
    let full = Err((abi::NO_SPACE, "No space left on device (os error 28)".to_owned()));
    assert_eq!(db.put("b", "1"), full);
    assert_eq!(db.put("c", &"x".repeat(1 << 20)), full, "the next write meets the full disk by itself");
    assert_eq!(db.keys(), "a");
    assert_eq!(db.close(), full);
    std::fs::remove_file(folder.path().join("garbage")).unwrap();
    let db = Db::open(folder.path(), SOUND).unwrap();
    assert_eq!(db.keys(), "a", "the log outlives a close that failed");
    db.close().unwrap();
}

#[test]
fn a_multi_get_names_the_key_that_failed() {
    let folder = folder();
    let db = filled(&folder, Plan { every: 2, ..with("error-get") });
    let (status, values) = db.multi_get(&["a", "b", "c"]);
    assert_eq!((status, values), (abi::ERROR, vec![Some("a2222".into()), None, Some("c2222".into())]));
    db.close().unwrap();
}

#[test]
fn slow_reads_are_slow() {
    let folder = folder();
    let db = filled(&folder, with("slow-get"));
    let start = std::time::Instant::now();
    assert_eq!(db.get("a"), ok("a2222"));
    assert!(start.elapsed() >= Duration::from_millis(50));
    db.close().unwrap();
}

// ---- the end of the process

const CHILD: &str = "KVDYNO_FAULTY_TEST";

/// The child: fills a database, reads once, closes. Run by the tests below with a fault and a folder.
#[test]
#[ignore = "a child of other tests"]
fn child() {
    let plan = std::env::var(CHILD).unwrap();
    let (fault, folder) = plan.split_once(' ').unwrap();
    let db = Db::open(
        Path::new(folder),
        Plan { durability: abi::DURABILITY_PROCESS, after: 9, ..with(String::from(fault).leak()) },
    )
    .unwrap();
    for number in 0..10 {
        db.put(&format!("key{number}"), "value").unwrap();
    }
    for _ in 0..10 {
        let _ = db.get("key0");
    }
    db.close().unwrap();
}

fn child_with(fault: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["tests::child", "--exact", "--ignored", "--nocapture"]);
    command.env(CHILD, format!("{fault} {}", folder.display()));
    command
}

fn run(fault: &str, folder: &Path) -> Output {
    child_with(fault, folder).output().unwrap()
}

#[test]
fn processes_end_as_the_fault_says() {
    const SIGSEGV: i32 = 11;
    const SIGABRT: i32 = 6;
    let signal = |status: ExitStatus| (status.signal(), status.code());
    for (fault, end, acknowledged) in [
        ("none", (None, Some(0)), 10),
        ("segv-open", (Some(SIGSEGV), None), 0),
        ("segv-put", (Some(SIGSEGV), None), 9),
        ("segv-get", (Some(SIGSEGV), None), 10),
        ("segv-close", (Some(SIGSEGV), None), 10),
        ("abort-get", (Some(SIGABRT), None), 10),
        ("exit-open", (None, Some(3)), 0),
        ("exit-get", (None, Some(0)), 10),
    ] {
        let folder = folder();
        let output = run(fault, folder.path());
        assert_eq!(signal(output.status), end, "{fault}: {}", String::from_utf8_lossy(&output.stderr));
        let ended_early = !String::from_utf8_lossy(&output.stdout).contains("1 passed");
        assert_eq!(ended_early, fault != "none", "{fault}");
        if acknowledged > 0 {
            let db = Db::open(folder.path(), SOUND).unwrap();
            assert_eq!(db.scan(None, abi::FORWARD).len(), acknowledged, "{fault}: what was acknowledged survives");
            db.close().unwrap();
        }
    }
}

#[test]
fn processes_hang_as_the_fault_says() {
    let folders = [folder(), folder(), folder(), folder()];
    let faults = ["hang-open", "hang-put", "hang-get", "hang-close"];
    let start = |(fault, folder): (_, &tempfile::TempDir)| {
        child_with(fault, folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut children: Vec<_> = faults.into_iter().zip(&folders).map(start).collect();
    std::thread::sleep(Duration::from_millis(700));
    for (fault, child) in faults.into_iter().zip(&mut children) {
        assert!(child.try_wait().unwrap().is_none(), "{fault} came to an end");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn a_noisy_engine_fills_pipes() {
    let folder = folder();
    let output = run("noisy", folder.path());
    assert!(output.status.success());
    assert!(output.stdout.len() > 512 << 10 && output.stderr.len() > 512 << 10);
}
