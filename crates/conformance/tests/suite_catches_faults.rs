//! A suite that cannot fail proves nothing: each fault of the faulty engine is caught, and each by the checks that are
//! there for it.

mod support;

use std::thread;
use std::time::Duration;

use kvdyno_conformance::CheckVerdict;
use support::{failures, run, subject};

#[test]
fn child() {
    support::do_task();
}

/// No sound check takes so long, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// The patience with an engine of which a call never returns.
const HANG: Duration = Duration::from_secs(20);

/// Too little for an engine that goes on slowly.
const SLOW: Duration = Duration::from_secs(5);

/// Which checks must notice a fault, at least, when every `every`-th operation that it can hit is hit.
const CAUGHT: &[(&str, u32, &[&str])] = &[
    ("other-key", 7, &["get-after-put", "multi-get", "agrees-with-a-model", "many-sessions", "scan-forward"]),
    ("old-value", 7, &["overwrite", "agrees-with-a-model", "many-sessions", "kill-process", "sessions-see-each-other"]),
    ("missing", 7, &["get-after-put", "multi-get", "reopen-process", "many-sessions"]),
    ("dropped-write", 3, &["get-after-put", "batch-in-order", "delete", "scan-forward", "kill-commit", "reopen-none"]),
    ("dropped-write", 50, &["kill-process"]),
    ("dropped-write", 1_000, &["many-records", "scan-forward", "agrees-with-a-model", "large-batch"]),
    ("scan-skip", 7, &["scan-forward", "scan-backward", "binary-keys", "scan-while-writing", "scans-at-once"]),
    ("scan-order", 7, &["scan-forward", "scan-backward", "binary-keys", "scan-while-writing", "agrees-with-a-model"]),
    ("old-value", 7, &["processes-read", "processes-share", "process-killed"]),
    ("dropped-write", 50, &["processes-share", "processes-write"]),
    ("segv-get", 50, &["processes-read"]),
    ("lost-at-close", 1, &["reopen-none", "reopen-commit", "agrees-with-a-model", "value-sizes", "key-sizes"]),
    ("torn-value", 7, &["get-after-put", "same-key", "many-sessions", "value-sizes"]),
    ("flipped-bit", 7, &["get-after-put", "value-sizes", "binary-values", "batch-seen-whole"]),
    ("short-value", 7, &["get-after-put", "value-sizes", "multi-get", "scan-forward"]),
    ("long-value", 7, &["get-after-put", "value-sizes", "scan-forward", "multi-get"]),
    ("error-get", 7, &["get-after-put", "miss", "multi-get"]),
    ("error-put", 7, &["get-after-put", "batch-in-order", "housekeeping"]),
    ("enospc-put", 7, &["get-after-put", "large-batch"]),
    ("segv-get", 7, &["get-after-put", "miss", "many-sessions"]),
    ("segv-put", 7, &["get-after-put", "kill-process", "kill-after-flush"]),
    ("segv-open", 1, &["create"]),
    ("segv-close", 1, &["create"]),
    ("abort-get", 7, &["get-after-put"]),
    ("exit-get", 7, &["get-after-put", "many-sessions"]),
    ("exit-open", 1, &["create"]),
    ("error-open", 1, &["create"]),
    ("error-as-ok", 1, &["write-refused"]),
    ("error-as-miss", 1, &["read-refused"]),
    ("error-without-text", 1, &["write-refused"]),
    ("close-as-ok", 1, &["close-refused"]),
    ("counters-back", 1, &["counters"]),
    ("unread-words", 1, &["own-words"]),
    ("undone-delete", 7, &["delete-range", "delete-range-model"]),
    ("long-range", 7, &["delete-range", "delete-range-model"]),
    ("half-range", 1, &["delete-range-seen-whole"]),
    ("half-range", 1, &["kill-delete-range"]),
    ("error-as-done", 1, &["write-refused"]),
    ("error-as-absent", 1, &["read-refused"]),
    ("written-snapshot", 1, &["delete-range-snapshot", "insert-if-absent-snapshot"]),
    ("empty-range", 1, &["delete-range-empty"]),
    ("blind-transaction", 1, &["delete-range-transaction", "cursor-bounds-transaction", "contains-transaction"]),
    ("blind-transaction", 1, &["insert-if-absent-transaction"]),
    ("late-snapshot", 1, &["delete-range-snapshot", "cursor-bounds-transaction", "snapshot", "snapshot-scan"]),
    ("unbounded-seek", 1, &["cursor-bounds", "cursor-bounds-empty"]),
    ("missing", 7, &["contains"]),
    ("undone-delete", 7, &["contains", "insert-if-absent"]),
    ("blind-insert", 7, &["insert-if-absent", "insert-if-absent-at-once"]),
    ("refused-insert", 7, &["insert-if-absent"]),
    ("dropped-write", 50, &["insert-if-absent"]),
    ("unbounded", 1, &["cursor-bounds"]),
    ("scan-short", 7, &["cursor-bounds", "cursor-keys", "cursor-prefix"]),
    ("unbounded", 1, &["cursor-prefix"]),
    ("counters-back", 3, &["counters"]),
    ("leaky-session", 1, &["sessions-come-and-go"]),
    ("weak-write", 1, &["session-durability-kill"]),
    ("unsynced-commit", 1, &["commit-synced"]),
    ("unsynced-commit", 150, &["commit-synced"]),
    ("synced-elsewhere", 1, &["commit-synced"]),
    ("unsynced-log", 1, &["periodic-synced"]),
    ("hang-get", 7, &["get-after-put", "many-sessions"]),
    ("hang-put", 7, &["get-after-put", "kill-process"]),
    ("hang-open", 1, &["create"]),
    ("hang-close", 1, &["create"]),
];

/// The checks of a fault that do not notice it.
fn slipped((fault, every, checks): &(&str, u32, &[&'static str]), patience: Duration) -> Vec<String> {
    let outcomes = run(faulty(fault, *every), checks, patience);
    assert_eq!(outcomes.len(), checks.len(), "{fault}: a name in the table is no check's");
    let caught = failures(&outcomes);
    let slips = checks.iter().filter(|check| !caught.iter().any(|(name, _)| name == *check));
    slips.map(|check| format!("{check} does not notice {fault} at every {every}th operation")).collect()
}

fn hangs(fault: &str) -> bool {
    fault.starts_with("hang")
}

#[test]
fn every_fault_is_caught_by_the_checks_that_are_there_for_it() {
    let faults = CAUGHT.iter().filter(|(fault, ..)| !hangs(fault));
    let slipped: Vec<String> = faults.flat_map(|fault| slipped(fault, PATIENCE / 2)).collect();
    assert_eq!(slipped, [""; 0]);
}

/// Each check alone, and all at the same time: the steps before the call that never returns must have the time that
/// they need on a busy machine.
#[test]
fn a_call_that_never_returns_is_caught_by_the_checks_that_are_there_for_it() {
    let hanging = CAUGHT.iter().filter(|(fault, ..)| hangs(fault));
    let one_by_one = hanging.flat_map(|(fault, every, checks)| checks.chunks(1).map(|check| (*fault, *every, check)));
    let slipped: Vec<String> = thread::scope(|scope| {
        let runs: Vec<_> = one_by_one.map(|one| scope.spawn(move || slipped(&one, HANG))).collect();
        runs.into_iter().flat_map(|run| run.join().unwrap()).collect()
    });
    assert_eq!(slipped, [""; 0]);
}

fn faulty(fault: &str, every: u32) -> kvdyno_conformance::Subject {
    let mut subject = subject("faulty");
    let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let of_transactions = ["blind-transaction", "late-snapshot", "written-snapshot"].contains(&fault);
    subject.options = vec![
        option("fault", fault),
        option("every", &every.to_string()),
        option("transactions", &of_transactions.to_string()),
    ];
    subject
}

/// Without a fault none of them fails: they notice the fault alone.
#[test]
fn transactions_without_a_fault_pass() {
    let mut subject = subject("faulty");
    subject.options = vec![("transactions".to_owned(), "true".to_owned())];
    let of_transactions =
        |name: &&str| ["transaction", "snapshot", "abort", "conflict"].iter().any(|of| name.contains(of));
    let checks: Vec<&str> =
        kvdyno_conformance::checks().iter().map(|check| check.name).filter(of_transactions).collect();
    let outcomes = run(subject, &checks, PATIENCE);
    assert_eq!(failures(&outcomes), []);
    let applied = outcomes.iter().filter(|outcome| outcome.verdict == CheckVerdict::Passed).count();
    assert!(applied >= 8, "{applied} of {checks:?}");
}

/// An engine that is merely slow or talkative is right.
#[test]
fn what_is_no_fault_is_not_taken_for_one() {
    for harmless in ["none", "noisy", "slow-get"] {
        let every = if harmless == "slow-get" { 100 } else { 7 };
        let checks = ["get-after-put", "miss", "scan-forward", "multi-get", "reopen-process", "kill-process"];
        assert_eq!(failures(&run(faulty(harmless, every), &checks, PATIENCE)), [], "{harmless}");
    }
}

/// The finding says how a process died, and during which step.
#[test]
fn a_crash_and_a_hang_are_told_with_what_was_being_done() {
    let told = |fault, check, patience| failures(&run(faulty(fault, 1), &[check], patience)).remove(0).1;
    let crash = told("segv-get", "reopen-process", PATIENCE);
    assert!(crash.contains("SIGSEGV") && crash.contains("while opening the database for the 2. time"), "{crash}");
    let hang = told("hang-get", "reopen-process", HANG);
    assert!(hang.contains("no end after 20s, while opening the database for the 2. time"), "{hang}");
    assert!(hang.contains("; calls answered: 1,0") && hang.contains(", none in the last 1"), "{hang}");
    let slow = told("slow-get", "many-records", SLOW);
    assert!(slow.contains("no end after 5s, while reading 20000 records; calls answered: 40,0"), "{slow}");
    assert!(slow.ends_with(", and it goes on: it is slow; a longer --timeout may be enough"), "{slow}");
}
