//! Updates of records that all clients share, by one call or in transactions: each that was acknowledged is kept.

use crate::support::{Comparison, Lab, Ran};
use kvdyno_results::{FigureValue, TrialResult};

const AT_ONCE: &str = "get 50, atomic-update 50";
const IN_TRANSACTIONS: &str = "get 50, transactional-update 50";

/// Nine in ten operations meet on ten records.
fn updating(engine: &str, mix: &str) -> Comparison {
    let comparison = Lab::new().compare([engine]).workload("mix").with("mix", mix).with("records", 1000);
    comparison.with("readers", 4).with("distribution", "hotspot 0.01 0.9").operations(4000)
}

fn faulty(mix: &str, fault: &str) -> Ran {
    let needs_two = ["lost-update", "dirty-read"].contains(&fault);
    let (after, every) = if needs_two { (0, 1) } else { (1000, 97) };
    let comparison = updating("faulty", mix).option("faulty.transactions=true").option("faulty.concurrent=true");
    let comparison = comparison.with("distribution", "zipf 1.3").option(&format!("faulty.after={after}"));
    comparison.operations(20_000).fault(fault, every).run()
}

fn conflicts(result: &TrialResult) -> u64 {
    result.figures.as_ref().unwrap().count("conflicts").unwrap()
}

#[test]
fn every_update_is_kept_once() {
    for (engine, mix) in [
        ("lmdb", AT_ONCE),
        ("wiredtiger:btree", AT_ONCE),
        ("bdb", AT_ONCE),
        ("lmdb", IN_TRANSACTIONS),
        ("wiredtiger:btree", IN_TRANSACTIONS),
        ("bdb", IN_TRANSACTIONS),
        ("lmdb", "range 20, atomic-update 40, transactional-update 40"),
    ] {
        let ran = updating(engine, mix).with("readers", "1,4").with("audit", "full").run();
        let result = ran.is_clean().trials(engine, "mix").last().unwrap().result.clone();
        let updates = result.operations.iter().filter(|of| of.kind.writes()).map(|of| of.records).sum::<u64>();
        assert!((7000..16000).contains(&updates), "{engine}, {mix}: {updates}");
        // Both audits have added up all records.
        let read = result.audit.map(|audit| (audit.session.unwrap().read, audit.process.unwrap().read));
        assert!(matches!(read, Some((1000.., 1000..))), "{engine}, {mix}: {read:?}");
    }
}

#[test]
fn updates_that_meet_in_transactions_conflict_and_are_tried_again() {
    let meeting = updating("faulty", IN_TRANSACTIONS).option("faulty.transactions=true").option("faulty.linger=true");
    let result = meeting.with("distribution", "zipf 1.3").run().is_clean().trial("faulty", "mix").result;
    assert!(conflicts(&result) > 0, "{result:?}");
    match result.figures.as_ref().unwrap().of("isolation") {
        Some(FigureValue::Text(isolation)) => assert_eq!(isolation, "serializable"),
        other => panic!("{other:?}"),
    }
    assert_eq!(conflicts(&faulty(AT_ONCE, "none").is_clean().trial("faulty", "mix").result), 0);
}

#[test]
fn an_update_that_is_lost_is_found() {
    const LOST: &str = "updates that were acknowledged are lost";
    for (mix, fault, kind, words) in [
        (AT_ONCE, "lost-atomic-update", "lost-write", LOST),
        (AT_ONCE, "dropped-write", "lost-write", LOST),
        (AT_ONCE, "other-key", "wrong-answer", "wrong"),
        (IN_TRANSACTIONS, "lost-update", "lost-write", LOST),
        (IN_TRANSACTIONS, "dropped-write", "lost-write", LOST),
    ] {
        faulty(mix, fault).exits(1).trial("faulty", "mix").failed(kind, words);
    }
}

/// The sum of versions goes on from one trial to the next, and over a run that was killed.
#[test]
fn updates_of_several_trials_add_up() {
    updating("lmdb", AT_ONCE).with("readers", "1,3,2").with("repeat", 2).run().is_clean();
    let killed = updating("lmdb", AT_ONCE).with("readers", "1,3,2").start().has_records(3).killed();
    killed.lab.resume().exits(0).is_clean();
    updating("lmdb", AT_ONCE).workload("mix,transfer,mix").run().is_clean();
}

#[test]
fn processes_share_records_that_are_updated() {
    updating("lmdb", AT_ONCE).with("clients", "processes").run().is_clean();
    updating("lmdb", IN_TRANSACTIONS).with("clients", "processes").run().is_clean();
}

#[test]
fn engines_and_runs_that_cannot_are_refused() {
    let refused = |engine: &str, mix: &str, words: &str| {
        updating(engine, mix).run().exits(2).says(words);
    };
    refused("leveldb", AT_ONCE, "cannot read, change and write as one step, which the `atomic-update` of `mix` needs");
    refused("leveldb", IN_TRANSACTIONS, "cannot do transactions, which the `transactional-update` of `mix` needs");
    let null = Lab::with_null().compare(["null"]).workload("mix").with("mix", AT_ONCE);
    null.run().exits(2).says("keeps nothing that `mix` could update");
    refused("lmdb", "put 50, atomic-update 50", "atomic-update without put: audits add up the versions");
    refused("lmdb", "insert 50, transactional-update 50", "transactional-update without insert");
    updating("lmdb", AT_ONCE).with("value-size", 23).run().exits(2).says("24 or more: each value carries its version");
    let after = updating("lmdb", AT_ONCE).workload("overwrite,mix").run();
    after.exits(2).says("checks the sum of all versions, which an earlier run changes");
}

/// The isolation that a run requires is held against what the engine declares; without transactions it has no meaning.
#[test]
fn a_mix_requires_an_isolation_of_its_transactions() {
    let requiring = |engine: &str, mix: &str| updating(engine, mix).with("isolation", "serializable");
    let weaker = "isolates its transactions as snapshot, and isolation = serializable is required";
    requiring("wiredtiger:btree", IN_TRANSACTIONS).run().exits(2).says(weaker);
    requiring("lmdb", IN_TRANSACTIONS).run().is_clean();
    for engine in ["lmdb", "wiredtiger:btree"] {
        requiring(engine, AT_ONCE).run().exits(2).says("left out: the mix has no transactional-update");
    }
    let ycsb = Lab::new().compare(["lmdb"]).workload("ycsb-a").with("isolation", "serializable").run();
    ycsb.exits(2).says("`ycsb-a` has no transactions that write, so isolation means nothing to it");
    let roles = |first: &str, second: &str| {
        let roles = [first, second].map(|mix| format!("[[run.role]]\nmix = \"{mix}\"\n")).concat();
        let run = "[[run]]\nworkload = \"mix\"\nisolation = \"serializable\"\noperations = 1000\n";
        let lab = Lab::new();
        lab.write("experiment.toml", &format!("engines = [\"lmdb\"]\n{run}{roles}"));
        lab.run(["run", "experiment.toml", "--dry-run"])
    };
    roles("get 100", "transactional-update 100").exits(0);
    roles("get 100", AT_ONCE).exits(2).says("experiment.toml:4:13").says("left out: the mix has no");
}
