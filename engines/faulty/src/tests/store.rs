//! Without a fault; and when a fault strikes.

use kvdyno_abi as abi;
use kvdyno_abi::adapter::Durability;

use super::host::*;
use crate::fault::Fault;
use crate::store::Store;

/// Else reads would wait for fewer writes than they are told to.
#[test]
fn nothing_that_was_there_at_the_opening_is_written_by_others() {
    for (durability, level) in
        [(Durability::None, abi::DURABILITY_NONE), (Durability::Process, abi::DURABILITY_PROCESS)]
    {
        let folder = folder();
        filled(&folder, Plan { durability: level, ..with("none") }).close().unwrap();
        let logs = level > abi::DURABILITY_NONE;
        let store = Store::open(folder.path(), false, durability, logs, false).unwrap();
        assert!(store.get(b"a").is_some());
        assert_eq!(store.written_by_others, 0);
    }
}

#[test]
fn the_store_is_sound() {
    for durability in 0..4 {
        let folder = folder();
        let plan = Plan { durability, ..with("none") };
        let db = filled(&folder, plan);
        assert_eq!(db.get("a"), ok("a2222"));
        assert_eq!(db.get("f"), Ok(None));
        assert_eq!((db.remove("b"), db.remove("b")), (Ok(Some(())), Ok(None)));
        db.write(&[("f", Some("new")), ("c", None), ("f", Some("newer"))]).unwrap();
        assert_eq!(db.multi_get(&["f", "c", "a"]), (abi::OK, vec![Some("newer".into()), None, Some("a2222".into())]));
        assert_eq!(db.multi_get(&[]), (abi::OK, vec![]));
        db.put("empty", "").unwrap();
        assert_eq!(db.get("empty"), ok(""));
        db.close().unwrap();

        let db = Db::open(folder.path(), Plan { create: false, ..plan }).unwrap();
        assert_eq!(db.keys(), "a d e empty f");
        assert_eq!(db.get("f"), ok("newer"));
        db.close().unwrap();
        assert_eq!(Db::open(folder.path(), plan).err().unwrap().0, abi::ERROR, "created twice");
    }
}

#[test]
fn cursors_go_both_ways_from_any_place() {
    let folder = folder();
    let db = filled(&folder, with("none"));
    let keys = |from, direction| db.scan(from, direction).into_iter().map(|(key, _)| key).collect::<String>();
    assert_eq!(keys(None, abi::FORWARD), "abcde");
    assert_eq!(keys(None, abi::BACKWARD), "edcba");
    assert_eq!(keys(Some("b"), abi::FORWARD), "bcde");
    assert_eq!(keys(Some("bb"), abi::FORWARD), "cde");
    assert_eq!(keys(Some("bb"), abi::BACKWARD), "ba");
    assert_eq!(keys(Some("z"), abi::FORWARD), "");
    assert_eq!(keys(Some(""), abi::BACKWARD), "");
    db.close().unwrap();
}

#[test]
fn what_is_not_there_is_not_opened() {
    let folder = folder();
    let (status, text) = Db::open(folder.path(), SOUND).err().unwrap();
    assert_eq!(status, abi::ERROR);
    assert!(text.ends_with("faulty.data is not there"), "{text}");
}

#[test]
fn a_torn_end_of_the_log_is_cut_off() {
    let folder = folder();
    let plan = Plan { durability: abi::DURABILITY_PROCESS, ..with("none") };
    filled(&folder, plan).leave();
    let log = folder.path().join("faulty.log");
    let whole = std::fs::read(&log).unwrap();
    std::fs::write(&log, &whole[..whole.len() - 1]).unwrap();

    let db = Db::open(folder.path(), Plan { create: false, ..plan }).unwrap();
    assert_eq!((db.get("d"), db.get("e")), (ok("d2222"), ok("e1111")));
    db.put("f", "after").unwrap();
    db.leave();
    let db = Db::open(folder.path(), SOUND).unwrap();
    assert_eq!(db.get("f"), ok("after"));
    db.close().unwrap();
    assert!(!log.exists(), "a log outlived what replaced it");
}

#[test]
fn every_choice_is_a_fault() {
    let names: Vec<_> = Fault::CHOICES.to_str().unwrap().split('|').collect();
    assert_eq!(names.len(), 88);
    assert!(names.iter().all(|name| Fault::named(name).is_some()));
    assert_eq!(Fault::named("leak"), None);
}

#[test]
fn after_so_many_each_so_manieth_is_hit() {
    let folder = folder();
    let db = filled(&folder, Plan { after: 3, every: 2, ..with("error-get") });
    let hit = (1..=9).filter(|_| db.get("a").is_err()).count();
    assert_eq!(hit, 3, "operations 5, 7 and 9");
    assert_eq!(db.get("a"), ok("a2222"));
    assert_eq!(db.get("a"), Err((abi::ERROR, "injected by fault=error-get".into())));
    let told = db.statistics();
    assert_eq!((&*told["operations"], &*told["injected"]), ("11", "4"));
    db.close().unwrap();
}

#[test]
fn a_fault_waits_for_an_operation_that_can_take_it() {
    let folder = folder();
    let db = Db::open(folder.path(), Plan { every: 2, ..with("old-value") }).unwrap();
    db.put("a", "first").unwrap();
    assert_eq!([db.get("a"), db.get("a"), db.get("a")], [ok("first"), ok("first"), ok("first")]);
    db.put("a", "second").unwrap();
    assert_eq!([db.get("a"), db.get("a"), db.get("a")], [ok("first"), ok("second"), ok("first")]);
    db.close().unwrap();
}
