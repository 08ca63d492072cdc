//! Wrong answers.

use kvdyno_abi as abi;

use super::host::*;

#[test]
fn reads_give_wrong_values() {
    for (fault, wrong) in [
        ("other-key", "c2222"),
        ("old-value", "b1111"),
        ("torn-value", "b2111"),
        ("flipped-bit", "c2222"),
        ("short-value", "b222"),
        ("long-value", "b2222\0"),
    ] {
        let folder = folder();
        let db = filled(&folder, Plan { every: 2, ..with(fault) });
        assert_eq!([db.get("b"), db.get("b"), db.get("b")], [ok("b2222"), ok(wrong), ok("b2222")], "{fault}");
        let (status, values) = db.multi_get(&["b", "b"]);
        assert_eq!((status, values[1].as_deref()), (abi::OK, Some("b2222")), "{fault}");
        assert_ne!(values[0].as_deref(), Some("b2222"), "{fault}");
        db.close().unwrap();
        // The store itself is right.
        let db = Db::open(folder.path(), SOUND).unwrap();
        assert_eq!(db.get("b"), ok("b2222"), "{fault}");
        db.close().unwrap();
    }
}

#[test]
fn an_old_value_is_still_known_after_a_restart() {
    let folder = folder();
    filled(&folder, with("none")).close().unwrap();
    let db = Db::open(folder.path(), Plan { create: false, ..with("old-value") }).unwrap();
    assert_eq!(db.get("d"), ok("d1111"));
    db.close().unwrap();
}

#[test]
fn flipped_bits_are_one_bit_and_many_variants() {
    let folder = folder();
    let db = Db::open(folder.path(), with("flipped-bit")).unwrap();
    let right = "\0".repeat(16);
    db.put("key", &right).unwrap();
    let mut variants = std::collections::BTreeSet::new();
    for _ in 0..128 {
        let mut value = NOTHING;
        // SAFETY: an open session, a key and memory for the value.
        let wrong = unsafe {
            assert_eq!(engine().get.unwrap()(db.session, c"key".as_ptr().cast(), 3, &mut value), abi::OK);
            std::slice::from_raw_parts(value.data.cast::<u8>(), value.size)
        };
        assert_eq!(wrong.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
        variants.insert(wrong.to_vec());
    }
    assert_eq!(variants.len(), 128, "every bit has its turn");
    db.close().unwrap();
}

#[test]
fn a_key_that_is_there_is_missed() {
    let folder = folder();
    let db = filled(&folder, Plan { every: 2, ..with("missing") });
    assert_eq!([db.get("a"), db.get("a"), db.get("a")], [ok("a2222"), Ok(None), ok("a2222")]);
    assert_eq!(db.get("zzz"), Ok(None), "a true miss does not count");
    assert_eq!(db.get("a"), Ok(None));
    db.close().unwrap();
}

#[test]
fn writes_are_acknowledged_and_dropped() {
    let folder = folder();
    let db = Db::open(folder.path(), Plan { every: 2, ..with("dropped-write") }).unwrap();
    db.put("a", "1").unwrap();
    db.put("b", "1").unwrap();
    db.write(&[("c", Some("1")), ("d", Some("1")), ("e", Some("1"))]).unwrap();
    assert_eq!(db.remove("e"), Ok(Some(())));
    assert_eq!(db.keys(), "a c e");
    db.close().unwrap();
}

#[test]
fn seeks_pass_over_the_first_record_and_give_a_deleted_one() {
    let folder = folder();
    let db = filled(&folder, Plan { every: 2, ..with("seek-skip") });
    assert_eq!([db.keys(), db.keys(), db.keys()], ["a b c d e", "b c d e", "a b c d e"]);
    db.close().unwrap();
    let folder = super::host::folder();
    let db = filled(&folder, Plan { every: 2, ..with("seek-ghost") });
    db.remove("b").unwrap();
    assert_eq!(db.keys(), "a c d e", "nothing was deleted before the first");
    db.remove("a").unwrap();
    assert_eq!([db.keys(), db.keys(), db.keys()], ["a c d e", "c d e", "a c d e"]);
    db.put("a", "3").unwrap();
    assert_eq!([db.keys(), db.keys()], ["a c d e"; 2], "what is there again is no ghost");
    db.close().unwrap();
}

#[test]
fn cursors_skip_and_swap() {
    for (fault, keys) in [("scan-skip", "a b d e"), ("scan-order", "a b d c e")] {
        let folder = folder();
        let db = filled(&folder, Plan { every: 2, ..with(fault) });
        assert_eq!(db.keys(), keys, "{fault}");
        db.close().unwrap();
    }
}

#[test]
fn wrong_values_reach_cursors_too() {
    let folder = folder();
    let db = filled(&folder, Plan { every: 5, ..with("old-value") });
    let values: Vec<_> = db.scan(None, abi::FORWARD).into_iter().map(|(_, value)| value).collect();
    assert_eq!(values, ["a2222", "b2222", "c2222", "d2222", "e1111"]);
    db.close().unwrap();
}

#[test]
fn half_is_lost_at_close() {
    let folder = folder();
    filled(&folder, Plan { durability: abi::DURABILITY_COMMIT, ..with("lost-at-close") }).close().unwrap();
    let db = Db::open(folder.path(), SOUND).unwrap();
    assert_eq!(db.keys(), "a c e");
    db.close().unwrap();
}
