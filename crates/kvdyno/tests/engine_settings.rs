//! The page of what the lab's settings come to in each engine.

use crate::support::Lab;
use insta::assert_snapshot;

#[test]
fn a_page_says_of_each_setting_what_is_set_or_why_it_is_refused_and_who_is_not_here() {
    let ran = Lab::with_null().run([
        "engines",
        "settings",
        "skeleton",
        "null",
        "nobody-has-it",
        "--skip-missing",
        "--sync-period",
        "250ms",
        "--format",
        "md",
    ]);
    ran.exits(0);
    assert_snapshot!(ran.stdout.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn every_setting_is_said_of_every_engine_that_is_here() {
    let ran = Lab::with_null().run(["engines", "settings", "--format", "md"]);
    ran.exits(0);
    assert!(!ran.stdout.contains("not said"), "an adapter says nothing of a setting:\n{}", ran.stdout);
    let told = |engine: &str| ran.stdout.lines().filter(|line| line.starts_with(&format!("| {engine} |"))).count();
    for engine in ["null", "skeleton", "lmdb", "leveldb", "rocksdb"] {
        assert_eq!(told(engine), 12, "{engine} in\n{}", ran.stdout);
    }
}

/// It is an entry of its own, which verdicts go by, and not in words of others, too.
#[test]
fn a_level_that_is_met_by_a_stronger_one_is_said_once() {
    let ran = Lab::with_null().run(["engines", "settings", "lmdb", "leveldb", "--format", "md"]);
    ran.exits(0);
    for (engine, flags, reason) in [
        ("lmdb", "`flags`: MDB_NOSYNC", "it has no weaker mode"),
        ("leveldb", "`WriteOptions`: sync=false", "it cannot do"),
    ] {
        let mut rows = ran.stdout.lines().filter(|line| line.starts_with(&format!("| {engine} | {flags}")));
        let none = rows.next().unwrap();
        assert!(none.contains(&format!("`met as process`: {reason}")), "{none}");
        assert_eq!(none.matches("weaker mode").chain(none.matches("cannot do without")).count(), 1, "{none}");
        assert!(rows.all(|row| !row.contains("met as")), "{}", ran.stdout);
    }
}

#[test]
fn an_engine_that_is_not_here_is_refused_unless_it_may_be_left_out() {
    let ran = Lab::new().run(["engines", "settings", "lmdb", "lmbd"]);
    ran.exits(2);
    ran.says("lmbd cannot be inspected: there is no engine `lmbd`; did you mean `lmdb`?");
    let ran = Lab::new().run(["engines", "check", "lmbd", "--skip-missing"]);
    ran.exits(0);
    assert_eq!(ran.stdout, "\nLeft out because they are missing: lmbd.\n");
}

#[test]
fn a_cache_that_is_too_small_is_refused_with_the_engines_reason() {
    let ran = Lab::new().run(["engines", "settings", "wiredtiger", "--cache", "64KiB", "--format", "md"]);
    ran.exits(0);
    let cell = "| wiredtiger | refused: cache: WiredTiger takes no less than 1 MiB |";
    assert!(ran.stdout.contains(cell), "{}", ran.stdout);
}
