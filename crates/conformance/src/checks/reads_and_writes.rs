//! One session: what was put is there, what was deleted is not.

use kvdyno_dataset::{Permutation, Stream};
use kvdyno_engine::{Answer, Database, Session, abi};

use crate::bench::{Bench, RECALLED};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{During, Finding, ensure};
use crate::records::{Records, expect, expect_as, expect_missing, show};
use crate::scanning::{Model, from, shows};
use crate::together::beside;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "recall",
        what: "An engine that keeps nothing answers reads with what the host recalls.",
        rule: "The value that the lab last stored under a key, for an engine that stores nothing (KVDYNO_IS_VOLATILE).",
        needs: Needs::NOTHING.and(abi::IS_VOLATILE),
        run: CheckBody::OnSession(recalls),
    },
    Check {
        name: "get-after-put",
        what: "A value that was put is read back, byte for byte.",
        rule: "what was answered with OK is there, and is read.",
        needs: Needs::STORE,
        run: CheckBody::OnSession(get_after_put),
    },
    Check {
        name: "miss",
        what: "A key that was never put is a miss and no error, on an empty database and beside similar keys.",
        rule: "A miss is never an error, and an error is never a miss.",
        needs: Needs::STORE,
        run: CheckBody::OnSession(miss),
    },
    Check {
        name: "overwrite",
        what: "A later put replaces the value, whether the new one is longer, shorter or as long.",
        rule: "Inserts or replaces.",
        needs: Needs::STORE,
        run: CheckBody::OnSession(overwrite),
    },
    Check {
        name: "many-records",
        what: "20,000 records put in random order, twice, are all there, also after flush, compact and wait_idle.",
        rule: "what was answered with OK is there, and is read.",
        needs: Needs::STORE,
        run: CheckBody::OnDatabase(many_records),
    },
    Check {
        name: "empty-value",
        what: "An empty value is a hit of 0 bytes, and a missing key is a miss: they are distinct.",
        rule: "An empty value is a value: a hit of 0 bytes.",
        needs: Needs::STORE,
        run: CheckBody::OnSession(empty_value),
    },
    Check {
        name: "delete",
        what: "A deleted key is a miss, its neighbours are not, and it can be put again.",
        rule: "The key is a miss then, until it is put again.",
        needs: Needs::STORE.and(abi::CAN_DELETE),
        run: CheckBody::OnSession(delete),
    },
    Check {
        name: "delete-missing",
        what: "Deleting a key that is not there is OK or a miss, never an error, and changes nothing.",
        rule: "OK whether the key was there or not; MISS is allowed where the engine knows that it was not.",
        needs: Needs::STORE.and(abi::CAN_DELETE),
        run: CheckBody::OnSession(delete_missing),
    },
    Check {
        name: "batch-in-order",
        what: "The steps of a write are applied in order: the last one for a key counts.",
        rule: "Applies the entries in order: the last one for a key counts.",
        needs: Needs::STORE,
        run: CheckBody::OnSession(batch_in_order),
    },
    Check {
        name: "large-batch",
        what: "A write of 10,000 steps is applied in full.",
        rule: "Applies the entries in order: the last one for a key counts.",
        needs: Needs::STORE,
        run: CheckBody::OnSession(large_batch),
    },
    Check {
        name: "batch-seen-whole",
        what: "A reader beside a writer of batches never sees a batch half applied.",
        rule: "CAN_BATCH says that it is all or nothing, for readers beside it too.",
        needs: Needs::STORE.and(abi::CAN_BATCH),
        run: CheckBody::OnDatabase(batch_seen_whole),
    },
    Check {
        name: "multi-get",
        what: "A multi-get answers hits, misses, empty values and a key given twice, each in its index.",
        rule: "One status and one value for each key; the values are borrowed as in `get`.",
        needs: Needs::STORE.and(abi::CAN_MULTI_GET),
        run: CheckBody::OnSession(multi_get),
    },
    Check {
        name: "read_modify_write",
        what: "A read-modify-write is shown the present value, or none where there is none, and stores the new one.",
        rule: "Reads, calls `update`, writes, as one atomic step.",
        needs: Needs::STORE.and(abi::CAN_READ_MODIFY_WRITE),
        run: CheckBody::OnSession(read_modify_write),
    },
    Check {
        name: "read_modify_write-given-up",
        what: "A read-modify-write that the caller gives up changes nothing.",
        rule: "Given up, it changes nothing.",
        needs: Needs::STORE.and(abi::CAN_READ_MODIFY_WRITE),
        run: CheckBody::OnSession(read_modify_write_given_up),
    },
    Check {
        name: "agrees-with-a-model",
        what: "6,000 random operations, with two reopenings between, give what an ordered map gives.",
        rule: "what was answered with OK is there, and is read.",
        needs: Needs::STORE,
        run: CheckBody::Whole(agrees_with_a_model),
    },
];

fn recalls(_bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    records.put(session, 1, 1)?;
    expect(session, &records.key(1), RECALLED)
}

fn get_after_put(_bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    for id in 0..100 {
        records.put(session, id, id)?;
        records.expect(session, id, id)?;
    }
    (0..100).try_for_each(|id| records.expect(session, id, id))
}

fn miss(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    records.expect_missing(session, 1)?;
    records.put_all(session, [0, 2, 4], 1)?;
    for id in [1, 3, 5, 1 << 40] {
        records.expect_missing(session, id)?;
    }
    let table = bench.adapter().table();
    let key = records.key(2);
    if table.max_key_size == 0 || (key.len() as u64) < table.max_key_size {
        expect_missing(session, &[&key[..], b"0"].concat())?;
    }
    if (key.len() as u64) > table.min_key_size {
        expect_missing(session, &key[..key.len() - 1])?;
    }
    Ok(())
}

fn overwrite(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    let most = bench.adapter().table().max_value_size;
    let value = |size: usize, fill: u8| vec![fill; if most == 0 { size } else { size.min(most as usize) }];
    let key = records.key(7);
    records.put_all(session, [6, 8], 1)?;
    for (round, size) in [100, 100, 10_000, 20, 5_000, 1, 100].into_iter().enumerate() {
        let value = value(size, round as u8);
        session.put(&key, &value).during("put")?;
        expect(session, &key, &value)?;
    }
    records.expect_all(session, [6, 8], 1)
}

fn many_records(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    const COUNT: u64 = 20_000;
    let mut session = crate::bench::session(database)?;
    for version in 1..=2 {
        bench.step(&format!("putting {COUNT} records, round {version}"));
        let order = Permutation::new(COUNT, version);
        records.put_all(&mut session, (0..COUNT).map(|index| order.at(index)), version)?;
    }
    bench.step(&format!("reading {COUNT} records"));
    records.expect_all(&mut session, 0..COUNT, 2)?;
    bench.step("flush");
    database.flush().during("flush")?;
    records.expect_all(&mut session, 0..COUNT, 2).during("after flush")?;
    // A compaction may have to wait for a session that still holds a value.
    drop(session);
    bench.step("compact");
    database.compact().during("compact")?;
    bench.step("wait_idle");
    database.wait_idle().during("wait_idle")?;
    let mut session = crate::bench::session(database)?;
    records.expect_all(&mut session, 0..COUNT, 2).during("after compact and wait_idle")?;
    (COUNT..COUNT + 100).try_for_each(|id| records.expect_missing(&mut session, id))
}

fn empty_value(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    let (there, other) = (records.key(1), records.key(2));
    session.put(&there, b"").during("put of an empty value")?;
    expect(session, &there, b"")?;
    expect_missing(session, &other)?;
    session.put(&there, b"x").during("put")?;
    session.write(&[(&there, Some(b""))]).during("write of an empty value")?;
    expect(session, &there, b"")?;
    if bench.can(abi::CAN_SCAN) {
        let mut cursor = session.cursor().during("opening a cursor")?;
        let first = cursor.seek(None, abi::FORWARD).during("seek")?;
        ensure!(first == Answer::Hit((&there, b"")), "a cursor does not show the empty value");
    }
    if bench.can(abi::CAN_READ_MODIFY_WRITE) {
        let mut old = None;
        let look = |value: Option<&[u8]>| {
            old = value.map(<[u8]>::to_vec);
            None
        };
        session.read_modify_write(&there, look).during("read_modify_write")?;
        ensure!(old.as_deref() == Some(b""), "read_modify_write shows an empty value as a missing one");
    }
    Ok(())
}

fn delete(_bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    records.put_all(session, 0..100, 1)?;
    for id in (0..100).step_by(3) {
        session.delete(&records.key(id)).during("delete")?;
        records.expect_missing(session, id)?;
    }
    for id in 0..100 {
        match id % 3 {
            0 => records.expect_missing(session, id)?,
            _ => records.expect(session, id, 1)?,
        }
    }
    records.put_all(session, [0, 99], 2)?;
    records.expect_all(session, [0, 99], 2)
}

fn delete_missing(_bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    session.delete(&records.key(1)).during("delete on an empty database")?;
    records.put_all(session, [1, 3], 1)?;
    session.delete(&records.key(2)).during("delete of a missing key")?;
    session.delete(&records.key(1)).during("delete")?;
    session.delete(&records.key(1)).during("delete of a deleted key")?;
    records.expect_missing(session, 1)?;
    records.expect(session, 3, 1)
}

fn batch_in_order(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    let key = |id| records.key(id);
    let (one, two, three) = (key(1), key(2), key(3));
    session.write(&[(&one, Some(b"first")), (&two, Some(b"2")), (&one, Some(b"last"))]).during("write")?;
    expect(session, &one, b"last")?;
    expect(session, &two, b"2")?;
    if !bench.can(abi::CAN_DELETE) {
        return Ok(());
    }
    let steps: &[(&[u8], Option<&[u8]>)] =
        &[(&one, None), (&two, None), (&two, Some(b"again")), (&three, Some(b"3")), (&three, None), (&key(4), None)];
    session.write(steps).during("write with deletes")?;
    expect_missing(session, &one)?;
    expect(session, &two, b"again")?;
    expect_missing(session, &three)
}

fn large_batch(_bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    const STEPS: u64 = 10_000;
    records.write_all(session, 0..STEPS, 1).during("write")?;
    records.expect_all(session, 0..STEPS, 1)
}

/// Batch after batch gives ten records one more version. Reading them one by one, a reader may meet a later batch at a
/// later record, but never an earlier one: that would be a record that its batch had not reached yet.
fn batch_seen_whole(_bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    const GROUP: u64 = 10;
    let write = |version: u64, session: &mut Session<'_>| records.write_all(session, 0..GROUP, version).during("write");
    let mut session = crate::bench::session(database)?;
    write(0, &mut session)?;
    beside(database, write, || records.expect_whole(&mut session, GROUP, 2_000, "batch"))
}

fn multi_get(_bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    records.put_all(session, (0..50).map(|id| 2 * id), 1)?;
    let empty = records.key(1_000);
    session.put(&empty, b"").during("put")?;
    let ids = [4, 3, 0, 98, 99, 4, 1_000, 50, 1 << 40];
    let keys: Vec<Vec<u8>> = ids.iter().map(|&id| records.key(id)).collect();
    let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
    for _ in 0..3 {
        let answers = session.multi_get(&keys).during("multi-get")?;
        ensure!(answers.len() == ids.len(), "{} answers to {} keys", answers.len(), ids.len());
        for (&id, answer) in ids.iter().zip(answers) {
            match (answer, id) {
                (Answer::Hit(value), 1_000) => ensure!(value.is_empty(), "the empty value is {}", show(value)),
                (Answer::Hit(value), _) if id % 2 == 0 && id < 100 => records.expect_value(id, 1, value)?,
                (Answer::Miss, _) if id % 2 == 1 || id > 1_000 => {}
                (Answer::Hit(value), _) => ensure!(false, "record {id} was never put but is {}", show(value)),
                (Answer::Miss, _) => ensure!(false, "record {id} is missing"),
            }
        }
    }
    let none = session.multi_get(&[]).during("multi-get of no keys")?;
    ensure!(none.is_empty(), "{} answers to no keys", none.len());
    Ok(())
}

fn read_modify_write(_bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    let key = records.key(1);
    for round in 0..50u32 {
        let mut seen = None;
        let change = |old: Option<&[u8]>| {
            seen = old.map(<[u8]>::to_vec);
            Some([&seen.clone().unwrap_or_default()[..], &round.to_le_bytes()].concat())
        };
        session.read_modify_write(&key, change).during("read_modify_write")?;
        let before: Vec<u8> = (0..round).flat_map(u32::to_le_bytes).collect();
        ensure!(
            seen.as_deref() == (round > 0).then_some(&before[..]),
            "change {round} was shown {}",
            seen.as_deref().map_or("no value".to_owned(), show)
        );
        let after: Vec<u8> = (0..=round).flat_map(u32::to_le_bytes).collect();
        expect(session, &key, &after)?;
    }
    Ok(())
}

fn read_modify_write_given_up(_bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    records.put(session, 1, 1)?;
    session.read_modify_write(&records.key(1), |_| None).during("read_modify_write, given up")?;
    records.expect(session, 1, 1)?;
    session.read_modify_write(&records.key(2), |_| None).during("read_modify_write of a missing key, given up")?;
    records.expect_missing(session, 2)?;
    // The transaction begun for it must be over.
    records.put_all(session, [1, 2], 2)?;
    records.expect_all(session, [1, 2], 2)
}

fn agrees_with_a_model(bench: &Bench) -> Result<(), Finding> {
    let location = bench.location()?;
    let mut model = Model::new();
    let mut stream = Stream::new(1);
    location
        .created(|database| random_operations(bench, &mut crate::bench::session(database)?, &mut model, &mut stream))?;
    for round in 1..3 {
        bench.step(&format!("opening the database again, for the {round}. time"));
        location.opened(|database| {
            let mut session = crate::bench::session(database)?;
            for (key, value) in &model {
                expect(&mut session, key, value).during("after it was opened again")?;
            }
            random_operations(bench, &mut session, &mut model, &mut stream)
        })?;
    }
    Ok(())
}

fn random_operations(
    bench: &Bench,
    session: &mut Session<'_>,
    model: &mut Model,
    stream: &mut Stream,
) -> Result<(), Finding> {
    let records = bench.records();
    let most = bench.adapter().table().max_value_size;
    for _ in 0..2_000 {
        let key = records.key(stream.below(300));
        let mut value = || {
            let size = [0, 10, 100, 1_000, 5_000][stream.below(5) as usize] + stream.below(50);
            let fill = stream.bits() as u8;
            vec![fill; if most == 0 { size } else { size.min(most) } as usize]
        };
        let (first, second, third) = (value(), value(), value());
        match stream.below(10) {
            0..3 => {
                session.put(&key, &first).during("put")?;
                model.insert(key, first);
            }
            3 if bench.can(abi::CAN_DELETE) => {
                session.delete(&key).during("delete")?;
                model.remove(&key);
            }
            4 => {
                let (left, right) = (records.key(stream.below(300)), records.key(stream.below(300)));
                session
                    .write(&[(&key, Some(&first)), (&left, Some(&second)), (&right, Some(&third))])
                    .during("write")?;
                model.extend([(key, first), (left, second), (right, third)]);
            }
            5 if bench.can(abi::CAN_SCAN) => scan_agrees(session, model, &key, abi::FORWARD)?,
            6 if bench.can(abi::CAN_SCAN_REVERSE) => scan_agrees(session, model, &key, abi::BACKWARD)?,
            _ => expect_as(session, &key, model.get(&key))?,
        }
    }
    Ok(())
}

/// Ten records from `key` on, or as many as there are, are those of the model.
fn scan_agrees(session: &mut Session<'_>, model: &Model, key: &[u8], direction: u32) -> Result<(), Finding> {
    let mut cursor = session.cursor().during("opening a cursor")?;
    shows(&mut cursor, Some(key), direction, from(model, Some(key), direction), 10)
}
