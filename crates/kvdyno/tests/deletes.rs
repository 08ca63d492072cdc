//! Records that are deleted are gone, those that are not are there, and whoever cannot tell says so.

use crate::support::{Comparison, Lab, Ran, squeezed};
use kvdyno_model::text::grouped;
use kvdyno_results::{FigureValue, TrialResult};

const DELETES: &str = "get 50, put 25, delete 25";
const QUEUE: &str = "insert 50, take 50";
const INSERTS: &str = "contains 40, insert-if-absent 35, delete 25";
const EXPIRY: &str = "insert 64, expire 1, get 35";

/// A mix of four clients on an engine.
fn mixed(engine: &str, mix: &str) -> Comparison {
    let comparison = Lab::new().compare([engine]).workload("mix").with("mix", mix).with("readers", 4);
    comparison.with("records", 10_000).operations(5000)
}

/// The figure of a workload's own.
fn figure(result: &TrialResult, column: &str) -> u64 {
    let figures = &result.figures.as_ref().unwrap().figures;
    match figures.iter().find(|figure| figure.column == column).unwrap().value {
        FigureValue::Count(count) => count,
        ref other => panic!("{other:?}"),
    }
}

fn operations(result: &TrialResult, kind: &str) -> u64 {
    let is_it = |of: &&kvdyno_results::Operations| of.kind.word() == kind;
    result.operations.iter().find(is_it).unwrap().operations
}

#[test]
fn reads_of_deleted_records_rightly_find_nothing() {
    for engine in ["lmdb", "leveldb", "faulty"] {
        let ran = mixed(engine, DELETES).with("records", 3000).operations(10_000).run();
        ran.is_clean();
        let result = ran.trial(engine, "mix").result;
        let (gets, absent) = (operations(&result, "get"), figure(&result, "absent"));
        // As many are put as are deleted: in the long run half of the records are there.
        assert!((gets / 5..gets * 4 / 5).contains(&absent), "{engine}: {absent} of {gets}");
        let unchecked = figure(&result, "unchecked");
        assert!(unchecked < gets / 100, "{engine}: {result:?}");
        // Of several clients, each writes records of its own.
        let printed = squeezed(&ran.lab.report("table"));
        let has = |words: &str| printed.contains(&squeezed(words));
        assert!(has("Each client writes records of its own: put or delete takes the one nearest"), "{printed}");
        assert!(has(&grouped(absent as f64)) && has("ops/s absent"), "{printed}");
        assert_eq!(has("unchecked in"), unchecked > 0, "{printed}");
        assert!(unchecked == 0 || has(&format!("{engine} mix: {} record", grouped(unchecked as f64))), "{printed}");
    }
    let alone = mixed("leveldb", DELETES).with("readers", 1).run();
    let printed = squeezed(&alone.is_clean().lab.report("table"));
    assert!(!printed.contains(&squeezed("records of its own")) && !printed.contains("uncheckedin"), "{printed}");
}

#[test]
fn a_queue_is_right_for_several_clients() {
    for engine in ["lmdb", "leveldb", "faulty"] {
        mixed(engine, QUEUE).with("repeat", 2).run().is_clean();
    }
}

#[test]
fn a_queue_stays_as_long_as_it_was_and_is_read_back_at_both_ends() {
    let ran = mixed("lmdb", QUEUE).with("readers", 1).with("audit", "full").with("repeat", 2).run();
    ran.is_clean();
    for trial in ran.trials("lmdb", "mix") {
        let (inserts, takes) = (operations(&trial.result, "insert"), operations(&trial.result, "take"));
        assert_eq!(figure(&trial.result, "absent"), 0);
        let read = trial.result.audit.unwrap().session.unwrap().read;
        // Five standard deviations of a fair coin.
        assert!(inserts.abs_diff(takes) < 5 * 71, "{inserts} {takes}");
        // The warm-up's records are read back too.
        assert!(read >= inserts + takes, "{inserts} {takes} {read}");
    }
}

/// A trial may end with chunks half done; those that follow know which records may be there and which must.
#[test]
fn a_queue_goes_on_where_the_trial_before_left_it() {
    for engine in ["lmdb", "faulty"] {
        mixed(engine, QUEUE).with("readers", "3,2,5,1,4").operations(3001).run().is_clean();
    }
}

/// Takes that find the queue empty look, and delete nothing.
#[test]
fn a_queue_that_runs_dry_is_told() {
    let ran = mixed("leveldb", "insert 10, take 90").with("records", 3000).run();
    ran.is_clean();
    assert!(figure(&ran.trial("leveldb", "mix").result, "absent") > 0);
}

/// Engines that look for a key without its value, and that insert on condition: half of what they insert is there.
#[test]
fn inserts_happen_where_nothing_is() {
    for engine in ["bdb", "wiredtiger:btree", "sqlite", "faulty"] {
        for clients in [1, 4] {
            let ran = mixed(engine, INSERTS).with("records", 3000).with("readers", clients).operations(10_000).run();
            let result = ran.is_clean().trial(engine, "mix").result;
            let of = result.operations.iter().find(|of| of.kind.word() == "insert-if-absent").unwrap();
            assert_eq!(of.operations, of.records + figure(&result, "present"), "{engine}: {result:?}");
            assert!((of.operations / 8..of.operations * 9 / 10).contains(&of.records), "{engine}: {of:?}");
            let absent = figure(&result, "absent");
            assert!(absent > operations(&result, "contains") / 10, "{engine}: {absent}");
        }
    }
    let inserting = mixed("lmdb", "insert-if-absent 50, delete 50").run();
    inserting.is_clean();
    mixed("lmdb", INSERTS)
        .run()
        .exits(2)
        .says("cannot look for a key without its value, which the `contains` of `mix` needs");
    mixed("leveldb", "insert-if-absent 100").run().exits(2).says("cannot insert if absent");
    mixed("lmdb", "insert 50, take 25, insert-if-absent 25").run().exits(2).says("take without insert-if-absent");
}

/// Engines that delete a range by one call: nothing of it comes back, and nothing beside it goes.
#[test]
fn ranges_expire() {
    for engine in ["rocksdb", "wiredtiger:btree", "sqlite", "faulty"] {
        for clients in [1, 4] {
            let ran = mixed(engine, EXPIRY).with("readers", clients).with("audit", "full").with("repeat", 2).run();
            for trial in ran.is_clean().trials(engine, "mix") {
                let expired = trial.result.operations.iter().find(|of| of.kind.word() == "expire").unwrap();
                let most = 64 * expired.operations;
                assert!((most / 2..=most).contains(&expired.records), "{engine}: {expired:?}");
            }
        }
    }
    mixed("lmdb", EXPIRY).run().exits(2).says("cannot delete ranges, which the expiries of `mix` need");
    mixed("rocksdb", "put 50, expire 50").run().exits(2).says("expire without put: a record that was taken would be");
}

#[test]
fn an_audit_finds_the_deletes_that_are_undone() {
    // So often that the last few are not deleted again before the end.
    let blind = |mix: &str, fault: &str| {
        let comparison = Lab::new().compare(["faulty"]).workload("mix").with("mix", mix).with("readers", 2);
        let comparison = comparison.with("records", 3000).operations(20_000).with("audit", "full");
        comparison.option("faulty.after=3000").fault(fault, 11).run()
    };
    let failed = |ran: Ran| {
        ran.exits(1).trial("faulty", "mix").failed("lost-write", "wrong");
    };
    failed(blind("delete 90, put 10", "undone-delete"));
    failed(blind("delete 90, put 10", "ghost"));
    // The next look at the first record finds them.
    let expiring = |fault: &str| {
        blind(EXPIRY, fault).exits(1).trial("faulty", "mix").failed("wrong-answer", "");
    };
    expiring("undone-delete");
    expiring("long-range");
    blind("delete 90, put 10", "none").is_clean();
}

/// Deletes of trials before are known to those that follow, and to a run that goes on after it was killed.
#[test]
fn what_was_deleted_is_remembered() {
    for (engine, mix) in [("leveldb", DELETES), ("leveldb", QUEUE), ("bdb", INSERTS)] {
        let comparison = mixed(engine, mix).operations(1000).with("repeat", 3);
        let killed = comparison.start().has_records(3).killed();
        killed.lab.resume().exits(0).is_clean();
    }
}

/// Processes share what threads do.
#[test]
fn clients_that_are_processes_delete_too() {
    for mix in [DELETES, QUEUE] {
        mixed("lmdb", mix).with("clients", "processes").run().is_clean();
    }
}

#[test]
fn keys_that_no_record_has_are_not_found_whatever_their_form() {
    for (format, size) in [("hex", 16), ("hex", 20), ("decimal", 16), ("binary", 9)] {
        let comparison = mixed("lmdb", "get 50, miss 50").with("key-format", format).with("key-size", size);
        comparison.run().is_clean();
    }
}
