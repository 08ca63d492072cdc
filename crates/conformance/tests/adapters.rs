//! Every adapter of ours passes the whole suite.
//!
//! An adapter that was not built, or whose engine's library is not installed, is passed over, and says so. The null,
//! the skeleton and the faulty one need no library and must be there: `make adapters`.

mod support;

use std::time::Duration;

use kvdyno_conformance::Verdict;
use support::{failures, run, subject};

#[test]
fn child() {
    support::do_task();
}

/// Long enough for two processors that ten suites share.
const PATIENCE: Duration = Duration::from_secs(180);

#[track_caller]
fn passes(name: &str) {
    let subject = subject(name);
    assert!(subject.adapter.is_file(), "{} is not there: make adapters", subject.adapter.display());
    let outcomes = run(subject, &[], PATIENCE);
    assert_eq!(outcomes.len(), kvdyno_conformance::checks().len());
    assert_eq!(failures(&outcomes), []);
}

#[track_caller]
fn passes_if_there(name: &str) {
    let subject = subject(name);
    match subject.adapter.is_file().then(|| subject.obstacle()) {
        Some(None) => passes(name),
        Some(Some(reason)) => eprintln!("{name} is passed over: {reason}"),
        None => eprintln!("{name} is passed over: it was not built"),
    }
}

#[test]
fn null() {
    passes("null");
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
        let Verdict::NotApplicable(reason) = outcome.verdict else {
            panic!("{}: {:?}", outcome.check.name, outcome.verdict)
        };
        assert!(reason.starts_with("it has no threads"), "{reason}");
    }
    let others =
        ["get-after-put", "scan-forward", "kill-process", "processes-read", "processes-write", "process-killed"];
    assert!(run(subject, &others, PATIENCE).iter().all(|outcome| outcome.verdict == Verdict::Passed));
}

#[test]
fn lmdb() {
    passes_if_there("lmdb");
}

#[test]
fn leveldb() {
    passes_if_there("leveldb");
}

#[test]
fn rocksdb() {
    passes_if_there("rocksdb");
}

/// With tables that cannot be scanned.
#[test]
fn rocksdb_by_prefix() {
    passes_if_there("rocksdb:pfx");
}

#[test]
fn bdb() {
    passes_if_there("bdb");
}

#[test]
fn wiredtiger_btree() {
    passes_if_there("wiredtiger:btree");
}

#[test]
fn wiredtiger_lsm() {
    passes_if_there("wiredtiger:lsm");
}
