//! Writes that were acknowledged and are not there, or older, fail the trials that wrote them.

#![allow(clippy::unwrap_used)]

mod support;

use kvdyno_results::{FailureKind, ReadBack, TrialOutcome, TrialResult};
use support::{Comparison, Lab, Ran};

/// Engines that answer as they should until they are asked anew: a fault, and each so-manieth write that it hits.
const LOSERS: [(&str, u64); 10] = [
    ("dropped-write", 1),
    ("dropped-write", 1000),
    ("private", 1),
    ("recalled", 1),
    ("lost-at-close", 1),
    ("forgotten-at-close", 1),
    ("older-at-close", 1),
    ("swapped-at-close", 1),
    ("torn-at-close", 1),
    ("short-at-close", 1),
];

const LOADS: [&str; 2] = ["fillseq", "fillrandom"];

const WRITERS_BESIDE_READERS: [&str; 3] = ["readwhilewriting", "fwdrangewhilewriting", "revrangewhilewriting"];
const WRITERS: [&str; 3] = ["overwrite", "overwritesome", "overwriteandwait"];

/// So many records that one in a thousand of them is several.
fn faulty() -> Comparison {
    Lab::new().compare(["faulty"]).with("records", 5000)
}

#[track_caller]
fn has_lost(ran: &Ran, trial: &str, fault: &str) {
    let result = ran.trial("faulty", trial).result;
    let TrialOutcome::Failed(failure) = &result.outcome else { panic!("{fault}: {trial} finished") };
    assert!(matches!(failure.kind, FailureKind::LostWrite | FailureKind::WrongAnswer), "{fault}: {trial}: {failure:?}");
}

#[test]
fn an_engine_that_loses_fails_in_every_load() {
    for (fault, every) in LOSERS {
        for load in LOADS {
            let ran = faulty().with("load", load).workload("readrandom").operations(10).fault(fault, every).run();
            ran.exits(1).is_whole();
            ran.trial("faulty", "load").failed("lost-write", "read back");
        }
    }
}

#[test]
fn an_engine_that_loses_fails_in_the_load_that_computes() {
    // Without the lengths that it forgot 3n+1 only takes longer: what is lost shows when it is asked for.
    for (fault, every) in LOSERS {
        let lab = Lab::new();
        let file = "name = \"3n1\"\nengines = [\"faulty\"]\nload.workload = \"3n1\"\ndata.records = 3000\n";
        let options = format!("[engine.faulty.options]\nfault = \"{fault}\"\nevery = {every}\n");
        lab.write("3n1.toml", &format!("{file}{options}"));
        let ran = lab.run(["run", "3n1.toml", "--out", "results"]);
        ran.exits(1).is_whole();
        has_lost(&ran, "load", fault);
    }
}

/// Each in a run of its own: what one loses may be the load's, and then no other is run.
#[track_caller]
fn lose(writers: &[&str], limited: impl Fn(Comparison) -> Comparison) {
    for (fault, every) in LOSERS {
        for writer in writers {
            // The load is spared: it writes no more than that.
            let spared = faulty().option("faulty.after=5000").fault(fault, every);
            let ran = limited(spared.workload(writer)).run();
            ran.exits(1).is_whole();
            has_lost(&ran, writer, fault);
        }
    }
}

#[test]
fn an_engine_that_loses_fails_in_every_workload_that_writes() {
    lose(&WRITERS, |writing| writing.operations(9000));
}

/// One batch is more than the load wrote, however long the readers take.
#[test]
fn an_engine_that_loses_fails_where_it_writes_beside_readers() {
    lose(&WRITERS_BESIDE_READERS, |writing| writing.operations(1000).with("batch", 6000));
}

/// A loss that the next trial meets is the fault of the one before.
#[test]
fn who_wrote_it_has_failed_and_not_only_who_missed_it() {
    // Each of so few is overwritten.
    let few = Lab::new().compare(["faulty"]).with("records", 200).option("faulty.after=200");
    let losing = few.workload("overwrite,readrandom").operations(9000);
    let ran = losing.fault("older-at-close", 1).run();
    ran.exits(1).is_whole();
    ran.trial("faulty", "load").finished();
    ran.trial("faulty", "overwrite").failed("lost-write", "a fresh process read back");
    assert!(ran.stderr.contains("trial 2 has failed: of "), "{}", ran.stderr);
}

fn finding(result: &TrialResult) -> (ReadBack, ReadBack) {
    let audit = result.audit.clone().unwrap_or_else(|| panic!("{:?} was not audited", result.trial));
    (audit.session.unwrap_or_default(), audit.process.unwrap_or_default())
}

#[test]
fn what_a_sound_engine_wrote_is_read_back_twice() {
    let ran = Lab::new()
        .compare(["faulty", "lmdb", "rocksdb", "leveldb", "bdb", "wiredtiger"])
        .with("records", 20_000)
        .workload("overwrite,readrandom,readwhilewriting")
        .operations(9000)
        .run();
    ran.is_clean();
    for result in ran.results() {
        if result.user_bytes_written == 0 {
            assert_eq!(result.audit, None, "{:?}", result.trial);
            continue;
        }
        let (session, process) = finding(&result);
        assert!(session.read > 0 && session.seconds > 0.0, "{:?}: {session:?}", result.trial);
        assert_eq!(session.first, None, "{:?}", result.trial);
        assert_eq!(process.first, None, "{:?}", result.trial);
    }
    let load = ran.trial("lmdb", "load").result;
    assert_eq!(finding(&load).0.read, 6905);
}

#[test]
fn a_full_audit_reads_every_record() {
    let ran = faulty().with("records", 10_000).with("audit", "full").workload("readrandom").operations(10).run();
    ran.is_clean();
    let (session, process) = finding(&ran.trial("faulty", "load").result);
    assert_eq!((session.read, process.read), (10_000, 10_000));
}

#[test]
fn where_nothing_is_read_back_the_report_says_so() {
    let losing = faulty().with("audit", "off").workload("overwrite").operations(10).fault("dropped-write", 1);
    let ran = losing.run();
    ran.exits(0);
    assert!(ran.stdout.contains("was not read back by a fresh process: the audit is off"), "{}", ran.stdout);
}

#[test]
fn an_engine_that_keeps_nothing_by_its_own_word_is_not_asked() {
    let ran = Lab::with_null().compare(["null"]).with("records", 1000).workload("overwrite").operations(1000).run();
    ran.exits(0);
    assert!(!ran.stdout.contains("read back"), "{}", ran.stdout);
    assert!(ran.results().iter().all(|result| result.audit.as_ref().is_some_and(|audit| audit.volatile)));
}
