//! Cursors that keep within bounds, or bring no values.

use kvdyno_dataset::Stream;
use kvdyno_engine::{CursorLimits, Database, Session, abi};

use crate::bench::{Bench, session};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{During, Finding};
use crate::records::{Records, show};
use crate::scanning::{Model, from as records_from, shows};

const BOUNDS: Needs = Needs::STORE.and(abi::CAN_BOUND);

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "cursor-bounds",
        what: "Between random bounds, or one of them, scans from any key show what a map has there, both ways.",
        rule: "For the cursor there is no key before `from`, and neither `to` nor any key after it.",
        needs: BOUNDS,
        run: CheckBody::Whole(bounds),
    },
    Check {
        name: "cursor-bounds-empty",
        what: "Bounds between which there is nothing, or that come in the wrong order, give misses and no error.",
        rule: "with bounds between which there is nothing it answers MISS.",
        needs: BOUNDS,
        run: CheckBody::OnSession(empty_bounds),
    },
    Check {
        name: "cursor-bounds-transaction",
        what: "A cursor with bounds sees what its transaction wrote, and in a snapshot the state at its begin.",
        rule: "in all else it is one of `cursor_open`'s.",
        needs: BOUNDS,
        run: CheckBody::OnDatabase(bounds_in_transactions),
    },
    Check {
        name: "cursor-keys",
        what: "A cursor without values gives the same keys as one with them, both ways, each with 0 bytes of value.",
        rule: "no value is asked for, and each comes as one of 0 bytes",
        needs: Needs::STORE.and(abi::CAN_SCAN_KEYS),
        run: CheckBody::OnSession(keys_only),
    },
    Check {
        name: "cursor-prefix",
        what: "A cursor with a prefix shows the keys that begin with it, each once and in order, and then ends.",
        rule: "The cursor shows the keys that begin with `prefix`, which has `prefix_size` bytes, in order, and then",
        needs: Needs::STORE.and(abi::CAN_SCAN_PREFIX),
        run: CheckBody::Whole(by_prefix),
    },
];

const COUNT: u64 = 500;

/// Puts the records whose ids modulo 3 are not 1, and returns them as a map.
fn fill(records: &Records, session: &mut Session<'_>) -> Result<Model, Finding> {
    let there = (0..COUNT).filter(|id| id % 3 != 1);
    let mut model = Model::new();
    for id in there {
        records.put(session, id, 1)?;
        model.insert(records.key(id), records.value(id, 1));
    }
    Ok(model)
}

fn directions(bench: &Bench) -> impl Iterator<Item = u32> {
    let backward = bench.can(abi::CAN_SCAN_REVERSE).then_some(abi::BACKWARD);
    [abi::FORWARD].into_iter().chain(backward)
}

fn bounds(bench: &Bench) -> Result<(), Finding> {
    let records = bench.records();
    let location = bench.location()?;
    let within = |session: &mut Session<'_>, model: &Model, seed: u64| {
        let mut stream = Stream::new(seed);
        for _ in 0..100 {
            let mut some = || (stream.below(5) > 0).then(|| records.key(stream.below(COUNT + 10)));
            let (mut from, mut to, sought) = (some(), some(), some());
            if from.is_some() && to.is_some() && from > to {
                std::mem::swap(&mut from, &mut to);
            }
            let (from, to, sought) = (from.as_deref(), to.as_deref(), sought.as_deref());
            let mut cursor =
                session.cursor_with(CursorLimits { from, to, ..CursorLimits::default() }).during("opening")?;
            for direction in directions(bench) {
                let is_within = |key: &[u8]| from.is_none_or(|from| key >= from) && to.is_none_or(|to| key < to);
                let there = records_from(model, sought, direction).into_iter().filter(|(key, _)| is_within(key));
                let scanned = shows(&mut cursor, sought, direction, there, usize::MAX);
                let word = |key: Option<&[u8]>| key.map_or("nothing".to_owned(), show);
                scanned.during(&format!(
                    "from bound {} to bound {}, at {}, direction {direction}",
                    word(from),
                    word(to),
                    word(sought)
                ))?;
            }
        }
        Ok(())
    };
    let mut model = Model::new();
    location.created(|database| {
        let mut session = session(database)?;
        model = fill(&records, &mut session)?;
        within(&mut session, &model, 1)?;
        database.flush().during("flush")?;
        within(&mut session, &model, 2)
    })?;
    location.opened(|database| within(&mut session(database)?, &model, 3))
}

fn empty_bounds(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    fill(records, session)?;
    for (from, to) in [(30, 30), (60, 30), (31, 32), (COUNT, COUNT + 5)] {
        let (from, to, key) = (records.key(from), records.key(to), records.key(30));
        let limits = CursorLimits { from: Some(&from), to: Some(&to), ..CursorLimits::default() };
        let mut cursor = session.cursor_with(limits).during("opening a cursor")?;
        for direction in directions(bench) {
            for sought in [None, Some(&key[..])] {
                shows(&mut cursor, sought, direction, &Model::new(), usize::MAX)?;
            }
        }
    }
    Ok(())
}

fn bounds_in_transactions(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let (from, to) = (records.key(100), records.key(200));
    let limits = CursorLimits { from: Some(&from), to: Some(&to), ..CursorLimits::default() };
    let within = |session: &mut Session<'_>, model: &Model| {
        let mut cursor = session.cursor_with(limits).during("opening a cursor")?;
        shows(&mut cursor, None, abi::FORWARD, model.range(from.clone()..to.clone()), usize::MAX)
    };
    let mut mine = session(database)?;
    let mut model = fill(records, &mut mine)?;
    if bench.can(abi::CAN_SNAPSHOT) {
        mine.begin(abi::READ_ONLY).during("begin")?;
        let mut other = session(database)?;
        records.put(&mut other, 151, 1)?;
        within(&mut mine, &model).during("in a snapshot")?;
        mine.commit().during("commit")?;
        model.insert(records.key(151), records.value(151, 1));
    }
    if bench.can(abi::CAN_TRANSACT) {
        mine.begin(abi::READ_WRITE).during("begin")?;
        for id in [97, 100, 154, 199, 202] {
            records.put(&mut mine, id, 2)?;
            model.insert(records.key(id), records.value(id, 2));
        }
        within(&mut mine, &model).during("in a transaction")?;
        mine.commit().during("commit")?;
    }
    within(&mut mine, &model)
}

fn keys_only(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    let model = fill(records, session)?;
    let limits = CursorLimits { keys_only: true, ..CursorLimits::default() };
    let mut cursor = session.cursor_with(limits).during("opening a cursor")?;
    let middle = records.key(COUNT / 2);
    for direction in directions(bench) {
        let keys = records_from(&model, Some(&middle), direction).into_iter().map(|(key, _)| (key, b""));
        shows(&mut cursor, Some(&middle), direction, keys, usize::MAX)?;
    }
    Ok(())
}

/// Keys of three letters and a number, some of which are a prefix alone, in no order; then all are deleted that have
/// one of the prefixes, and another gets one key more.
fn by_prefix(bench: &Bench) -> Result<(), Finding> {
    const PREFIXES: [&[u8; 3]; 5] = [b"aab", b"aac", b"aad", b"\xff\xff\xfe", b"\xff\xff\xff"];
    let key = |prefix: &[u8], number: u64| [prefix, format!("{number:05}").as_bytes()].concat();
    let mut location = bench.location()?;
    location.hints.prefix_size = 3;
    location.created(|database| {
        let mut session = session(database)?;
        let mut model = Model::new();
        for number in 0..COUNT {
            // 7 is prime to the number of prefixes and to COUNT: each gets some, in no order.
            let number = number * 7 % COUNT;
            let key = key(PREFIXES[number as usize % (PREFIXES.len() - 1)], number);
            session.put(&key, &key).during("put")?;
            model.insert(key.clone(), key);
        }
        let look = |session: &mut Session<'_>, model: &Model| {
            let prefixes = PREFIXES.iter().map(|prefix| &prefix[..]).chain([&b"aaa"[..], b"aae"]);
            for prefix in prefixes {
                let limits = CursorLimits { prefix: Some(prefix), ..CursorLimits::default() };
                let mut cursor = session.cursor_with(limits).during("opening a cursor with a prefix")?;
                for _ in 0..2 {
                    let expected = model.iter().filter(|(key, _)| key.starts_with(prefix));
                    shows(&mut cursor, None, abi::FORWARD, expected, usize::MAX)
                        .during(&format!("with {}", show(prefix)))?;
                }
            }
            Ok::<(), Finding>(())
        };
        look(&mut session, &model)?;
        if bench.can(abi::CAN_DELETE) {
            let gone: Vec<_> = model.keys().filter(|key| key.starts_with(PREFIXES[1])).cloned().collect();
            for key in gone {
                session.delete(&key).during("delete")?;
                model.remove(&key);
            }
        }
        let more = key(PREFIXES[2], 99_999);
        session.put(&more, b"more").during("put")?;
        model.insert(more, b"more".to_vec());
        look(&mut session, &model)
    })
}
