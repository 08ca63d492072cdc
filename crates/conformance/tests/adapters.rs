//! Our own engines pass the whole suite. So does LMDB, which tests the suite itself: it supports nearly everything that
//! has a check. Behaviour of others' engines is no test of a change here: `make test-engines` has them.
//!
//! LMDB is passed over where its adapter was not built, or its library is not installed. The others need no library and
//! must be there: `make adapters`.

mod support;

use std::time::Duration;

use kvdyno_conformance::CheckVerdict;
use support::{failures, run, subject};

#[test]
fn child() {
    support::do_task();
}

/// Long enough for two processors that several suites share.
const PATIENCE: Duration = Duration::from_secs(180);

#[track_caller]
fn passes(name: &str) {
    let subject = subject(name);
    assert!(subject.adapter.is_file(), "{} is not there: make adapters", subject.adapter.display());
    let outcomes = run(subject, &[], PATIENCE);
    assert_eq!(outcomes.len(), kvdyno_conformance::checks().len());
    assert_eq!(failures(&outcomes), []);
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
    let failures = failures(&run(subject, &[], PATIENCE));
    let names: Vec<&str> = failures.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["option-values"], "{failures:#?}");
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
    let subject = subject("lmdb");
    match subject.adapter.is_file().then(|| subject.obstacle()) {
        Some(None) => passes("lmdb"),
        Some(Some(reason)) => eprintln!("lmdb is passed over: {reason}"),
        None => eprintln!("lmdb is passed over: it was not built"),
    }
}
