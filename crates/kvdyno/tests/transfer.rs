//! Transactions over two records: every commit is kept, whole and once, and what was not committed nobody sees.

use crate::support::{Comparison, Lab, Ran};
use kvdyno_results::{FigureValue, TrialResult};

fn transfer(engine: &str, clients: u32) -> Comparison {
    let comparison = Lab::new().compare([engine]).workload("transfer").with("readers", clients);
    comparison.with("records", 1000).operations(3000)
}

/// Faults that need two transactions at once strike each time: how often those meet is a matter of the machine. Each
/// waits a moment for another, so few transactions are enough, and many take long.
fn faulty(fault: &str) -> Ran {
    let needs_two = ["lost-update", "dirty-read", "unrepeated-read"].contains(&fault);
    let (after, every, operations) = if needs_two { (0, 1, 3000) } else { (1000, 97, 20_000) };
    let comparison = transfer("faulty", 6).option("faulty.transactions=true").with("distribution", "zipf 1.3");
    comparison.option(&format!("faulty.after={after}")).operations(operations).fault(fault, every).run()
}

fn count(result: &TrialResult, column: &str) -> u64 {
    result.figures.as_ref().unwrap().count(column).unwrap()
}

fn isolation(result: &TrialResult) -> String {
    match result.figures.as_ref().unwrap().of("isolation") {
        Some(FigureValue::Text(text)) => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_commit_is_kept_once() {
    for (engine, isolated) in [
        ("lmdb", "serializable"),
        ("wiredtiger:btree", "snapshot"),
        ("bdb", "serializable"),
        ("sqlite", "serializable"),
    ] {
        for clients in [1, 4] {
            let ran = transfer(engine, clients).with("distribution", "zipf 1.3").with("audit", "full").run();
            let result = ran.is_clean().trial(engine, "transfer").result;
            let commits = &result.operations[0];
            assert_eq!((commits.operations, commits.records), (3000 * u64::from(clients), 6000 * u64::from(clients)));
            assert_eq!(isolation(&result), isolated);
            assert!(count(&result, "rolled_back") > 100 * u64::from(clients), "{engine}, {clients}");
            assert_eq!(count(&result, "unrepeated"), 0);
            // Both audits have added up all records.
            let read = result.audit.map(|audit| (audit.session.unwrap().read, audit.process.unwrap().read));
            assert!(matches!(read, Some((1000.., 1000..))), "{engine}, {clients}: {read:?}");
        }
    }
}

#[test]
fn transactions_that_meet_conflict_and_are_tried_again() {
    let meeting = transfer("faulty", 6).option("faulty.transactions=true").option("faulty.linger=true");
    let result = meeting.with("distribution", "zipf 1.3").run().is_clean().trial("faulty", "transfer").result;
    assert!(count(&result, "conflicts") > 0, "{result:?}");
    assert_eq!(result.operations[0].operations, 18_000);
    // Engines' own: who comes second to a record is told so, by WiredTiger as it writes, by Berkeley DB in a deadlock.
    for engine in ["wiredtiger:btree", "bdb"] {
        let ran = transfer(engine, 6).with("distribution", "zipf 1.3").operations(20_000).run();
        let result = ran.is_clean().trial(engine, "transfer").result;
        assert!(count(&result, "conflicts") > 0, "{result:?}");
        assert_eq!(result.operations[0].operations, 120_000);
    }
}

#[test]
fn what_an_engine_gets_wrong_in_transactions_is_found() {
    for (fault, kind, words) in [
        // Who committed them reads these records again.
        ("half-transaction", "wrong-answer", "had been acknowledged"),
        ("lost-update", "wrong-answer", "had been acknowledged"),
        ("dirty-read", "", ""),
        ("unrepeated-read", "wrong-answer", "later in the same transaction"),
        ("dropped-write", "wrong-answer", "had been acknowledged"),
        ("other-key", "wrong-answer", "wrong"),
    ] {
        let ran = faulty(fault);
        let trial = ran.exits(1).trial("faulty", "transfer");
        if !kind.is_empty() {
            trial.failed(kind, words);
        }
    }
}

/// Of 20,000 records every second, however many there are: at least as many as other samples have.
#[test]
fn a_sample_adds_up_some_of_the_records_and_finds_what_is_lost() {
    let of_many = |engine: &str| transfer(engine, 2).with("records", 20_000).operations(10_000);
    let ran = of_many("lmdb").with("repeat", 1).run();
    let audit = ran.is_clean().trial("lmdb", "transfer").result.audit.unwrap();
    assert_eq!(audit.session.unwrap().read, 10_000);
    assert!(audit.process.unwrap().read >= 10_000);
    let all = of_many("lmdb").with("audit", "full").run();
    assert_eq!(all.is_clean().trial("lmdb", "transfer").result.audit.unwrap().session.unwrap().read, 20_000);
    // One after the other, so that no client comes to its record again and finds it lost as it reads. The load has no
    // transactions, and as many writes as records.
    for (fault, after) in [("half-transaction", 0), ("dropped-write", 20_000)] {
        let losing = of_many("faulty").option("faulty.transactions=true").option(&format!("faulty.after={after}"));
        let ran = losing.with("distribution", "sequential").fault(fault, 97).run();
        ran.exits(1).trial("faulty", "transfer").failed("lost-write", "the versions of 10000 records are");
        ran.trial("faulty", "transfer").failed("lost-write", "updates that were acknowledged are lost");
    }
}

/// The sum of versions goes on from one trial to the next, and over a run that was killed.
#[test]
fn transactions_of_several_trials_add_up() {
    transfer("lmdb", 2).with("readers", "1,3,2").with("repeat", 2).run().is_clean();
    let killed = transfer("lmdb", 2).with("readers", "1,3,2").start().has_records(3).killed();
    killed.lab.resume().exits(0).is_clean();
}

#[test]
fn processes_share_transactions() {
    transfer("lmdb", 3).with("clients", "processes").run().is_clean();
}

#[test]
fn engines_and_runs_that_cannot_are_refused() {
    let ran = Lab::new().compare(["leveldb"]).workload("transfer").run();
    ran.exits(2).says("has no transactions, which `transfer` needs; leave one of them out");
    let ran = Lab::new().compare(["wiredtiger:btree"]).workload("transfer").with("isolation", "serializable").run();
    ran.exits(2).says("isolates its transactions as snapshot, and isolation = serializable is required");
    transfer("lmdb", 1).with("isolation", "serializable").run().is_clean();
    let ran = Lab::new().compare(["lmdb"]).workload("transfer").with("isolation", "strict").run();
    ran.exits(2).says("`strict` is not an isolation");
    let ran = Lab::new().compare(["lmdb"]).workload("readrandom").with("isolation", "snapshot").run();
    ran.exits(2).says("has no transactions that write");
    transfer("lmdb", 1).with("records", 1).run().exits(2).says("2 or more: each transaction is over two");
    transfer("lmdb", 1).with("value-size", 23).run().exits(2).says("24 or more: each value carries its version");
    let after = transfer("lmdb", 1).workload("overwrite,transfer").run();
    after.exits(2).says("checks the sum of all versions, which an earlier run changes");
    transfer("lmdb", 1).workload("readrandom,transfer,overwrite").run().is_clean();
}
