//! Errors, and calls that take their time.

use std::time::Duration;

use kvdyno_abi as abi;

use super::host::*;

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
