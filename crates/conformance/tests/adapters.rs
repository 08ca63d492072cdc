//! Every adapter of ours passes the whole suite.
//!
//! An adapter that was not built, or whose engine's library is not installed, is passed over, and says so. The null,
//! the skeleton and the faulty one need no library and must be there: `make adapters`.

mod support;

use std::time::Duration;

use kvdyno_conformance::CheckVerdict;
use support::{failures, run, subject};

#[test]
fn child() {
    support::do_task();
}

/// Long enough for two processors that ten suites share.
const PATIENCE: Duration = Duration::from_secs(180);

#[track_caller]
fn passes(name: &str) {
    passes_but_for(name, &[]);
}

/// Some checks may fail, for a reason in the engine itself that no adapter can mend.
#[track_caller]
fn passes_but_for(name: &str, known: &[&str]) {
    let subject = subject(name);
    assert!(subject.adapter.is_file(), "{} is not there: make adapters", subject.adapter.display());
    let outcomes = run(subject, &[], PATIENCE);
    assert_eq!(outcomes.len(), kvdyno_conformance::checks().len());
    let failures = failures(&outcomes).into_iter().filter(|(name, _)| !known.contains(name));
    assert_eq!(failures.collect::<Vec<_>>(), []);
}

#[track_caller]
fn passes_if_there(name: &str) {
    passes_if_there_but_for(name, &[]);
}

#[track_caller]
fn passes_if_there_but_for(name: &str, known: &[&str]) {
    let subject = subject(name);
    match subject.adapter.is_file().then(|| subject.obstacle()) {
        Some(None) => passes_but_for(name, known),
        Some(Some(reason)) => eprintln!("{name} is passed over: {reason}"),
        None => eprintln!("{name} is passed over: it was not built"),
    }
}

#[test]
fn null() {
    passes("null");
}

#[test]
fn synthetic() {
    passes("synthetic");
}

#[test]
fn skeleton() {
    passes("skeleton");
}

/// Without a fault it is a correct engine; but half of the values of its options are faults.
#[test]
fn faulty() {
    let subject = subject("faulty");
    let names: Vec<&str> = failures(&run(subject, &[], PATIENCE)).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["option-values"]);
}

/// Without threads: what wants several sessions in one process does not apply, what processes do does.
#[test]
fn an_engine_without_threads() {
    let mut subject = subject("faulty");
    subject.options = vec![("single".to_owned(), "true".to_owned())];
    let several = ["many-sessions", "same-key", "idle-reader", "value-stays-readable", "two-databases"];
    for outcome in run(subject.clone(), &several, PATIENCE) {
        let CheckVerdict::NotApplicable(reason) = outcome.verdict else {
            panic!("{}: {:?}", outcome.check.name, outcome.verdict)
        };
        assert!(reason.starts_with("it has no threads"), "{reason}");
    }
    let others =
        ["get-after-put", "scan-forward", "kill-process", "processes-read", "processes-write", "process-killed"];
    assert!(run(subject, &others, PATIENCE).iter().all(|outcome| outcome.verdict == CheckVerdict::Passed));
}

#[test]
fn lmdb() {
    passes_if_there("lmdb");
}

#[test]
fn leveldb() {
    passes_if_there("leveldb");
}

/// The library of Debian is built with assertions, one of which ends the process after a write that failed
/// (`AssertFalseAndGetStatusForPrevError`).
const ROCKSDB_ASSERTS: &[&str] = &["write-refused", "close-refused", "filesystem-full"];

#[test]
fn rocksdb() {
    passes_if_there_but_for("rocksdb", ROCKSDB_ASSERTS);
}

/// With tables that cannot be scanned.
#[test]
fn rocksdb_by_prefix() {
    passes_if_there_but_for("rocksdb:pfx", ROCKSDB_ASSERTS);
}

#[test]
fn bdb() {
    passes_if_there("bdb");
}

/// After a write that failed it panics, as it calls it, and can then be opened again only by another process. On a full
/// filesystem it depends on which write that is.
const WIREDTIGER_PANICS: &[&str] = &["write-refused", "filesystem-full"];

#[test]
fn wiredtiger_btree() {
    passes_if_there_but_for("wiredtiger:btree", WIREDTIGER_PANICS);
}

#[test]
fn wiredtiger_lsm() {
    passes_if_there_but_for("wiredtiger:lsm", WIREDTIGER_PANICS);
}
