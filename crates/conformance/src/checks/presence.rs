//! Existence of a key: asked for without its value, and the condition of an insert.

use std::sync::atomic::{AtomicU64, Ordering};

use kvdyno_dataset::Stream;
use kvdyno_engine::{Answer, Database, Session, abi};

use crate::bench::{Bench, session};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{During, Finding, ensure, wrong};
use crate::records::{Records, expect_as};
use crate::scanning::Model;
use crate::together::{elsewhere, side_by_side};

const CONTAINS: Needs = Needs::STORE.and(abi::CAN_CONTAIN);
const INSERTS: Needs = Needs::STORE.and(abi::CAN_INSERT_IF_ABSENT);

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "contains",
        what: "Keys that were put are there, others are not, whatever their values, from another session and reopened.",
        rule: "OK or MISS, as `get` would answer.",
        needs: CONTAINS,
        run: CheckBody::Whole(contains),
    },
    Check {
        name: "contains-transaction",
        what: "A transaction contains what it put itself, which others do not before its commit.",
        rule: "A transaction reads what it wrote itself; nobody else sees it before `commit`",
        needs: CONTAINS.and(abi::CAN_TRANSACT),
        run: CheckBody::OnDatabase(contains_in_transactions),
    },
    Check {
        name: "insert-if-absent",
        what: "It inserts what is absent, leaves what is there, and agrees with a map, deletes and reopening included.",
        rule: "Inserts where the key is not there, and otherwise answers KVDYNO_EXISTS and leaves its value as it is",
        needs: INSERTS,
        run: CheckBody::Whole(agrees_with_a_model),
    },
    Check {
        name: "insert-if-absent-at-once",
        what: "Of several sessions that insert the same keys at once, one is answered with OK, and its value is there.",
        rule: "of several sessions that insert one key at once, one is answered with OK.",
        needs: INSERTS,
        run: CheckBody::OnDatabase(at_once),
    },
    Check {
        name: "insert-if-absent-transaction",
        what: "In a transaction it sees what that wrote, and what it inserts is gone if it aborts.",
        rule: "A transaction reads what it wrote itself; nobody else sees it before `commit`, everybody sees all of it \
               after, and nothing of it is left by `abort`.",
        needs: INSERTS.and(abi::CAN_TRANSACT),
        run: CheckBody::OnSession(inserts_in_transactions),
    },
    Check {
        name: "insert-if-absent-snapshot",
        what: "In a snapshot it is refused with UNSUPPORTED, and inserts nothing.",
        rule: "in one that only reads, a write is refused with KVDYNO_UNSUPPORTED.",
        needs: INSERTS.and(abi::CAN_SNAPSHOT),
        run: CheckBody::OnSession(inserts_in_snapshots),
    },
];

const COUNT: u64 = 1_000;

/// The even ones of the records are there, the odd ones not.
fn contains_the_even(records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    for id in 0..COUNT {
        let there = session.contains(&records.key(id)).during("contains")?;
        ensure!(there == (id % 2 == 0), "contains says {there} of record {id}, of which only the even ones are there");
    }
    Ok(())
}

fn contains(bench: &Bench) -> Result<(), Finding> {
    let records = bench.records();
    let location = bench.location()?;
    location.created(|database| {
        let mut session = session(database)?;
        let empty = session.contains(&records.key(0)).during("contains")?;
        ensure!(!empty, "an empty database contains a key");
        for id in (0..COUNT).step_by(2) {
            records.put(&mut session, id, 1)?;
        }
        session.put(&records.key(0), b"").during("putting an empty value")?;
        contains_the_even(&records, &mut session)?;
        database.flush().during("flush")?;
        contains_the_even(&records, &mut session)?;
        if bench.can(abi::CAN_DELETE) {
            records.put_all(&mut session, 0..COUNT, 2)?;
            for id in (1..COUNT).step_by(2) {
                session.delete(&records.key(id)).during("delete")?;
            }
            contains_the_even(&records, &mut session)?;
        }
        elsewhere(database, |other| contains_the_even(&records, other)).during("from another session")
    })?;
    location.opened(|database| contains_the_even(&records, &mut session(database)?))
}

fn contains_in_transactions(_bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let mut session = session(database)?;
    let key = records.key(1);
    let is = |there: bool, expected: bool, what: &str| {
        ensure!(there == expected, "{what}: contains says {there}");
        Ok(())
    };
    session.begin(abi::READ_WRITE).during("begin")?;
    records.put(&mut session, 1, 1)?;
    is(session.contains(&key).during("contains")?, true, "what the transaction put itself")?;
    session.abort().during("abort")?;
    is(session.contains(&key).during("contains")?, false, "what an aborted transaction put")?;
    session.begin(abi::READ_WRITE).during("begin")?;
    records.put(&mut session, 1, 1)?;
    session.commit().during("commit")?;
    is(session.contains(&key).during("contains")?, true, "what was committed")?;
    elsewhere(database, |other| is(other.contains(&key).during("contains")?, true, "in another session"))
}

/// Inserts, puts and deletes at random, and a map that does the same.
fn agrees_with_a_model(bench: &Bench) -> Result<(), Finding> {
    let records = bench.records();
    let (mut model, mut stream) = (Model::new(), Stream::new(0x1f_ab5e));
    let mut some = |session: &mut Session<'_>, versions: std::ops::Range<u64>| {
        for version in versions {
            let (id, what) = (stream.below(COUNT / 4), stream.below(4));
            let (key, value) = (records.key(id), records.value(id, version));
            match what {
                0 if bench.can(abi::CAN_DELETE) => {
                    session.delete(&key).during("delete")?;
                    model.remove(&key);
                }
                1 => {
                    records.put(session, id, version)?;
                    model.insert(key.clone(), value);
                }
                _ => {
                    let inserted = session.insert_if_absent(&key, &value).during("insert_if_absent")?;
                    match (inserted, model.contains_key(&key)) {
                        (true, false) => drop(model.insert(key.clone(), value)),
                        (false, true) => (),
                        (true, true) => return Err(wrong(format!("record {id} was there, and was inserted"))),
                        (false, false) => return Err(wrong(format!("record {id} was absent, and was not inserted"))),
                    }
                }
            }
            expect_as(session, &key, model.get(&key))?;
        }
        Ok(())
    };
    let location = bench.location()?;
    location.created(|database| {
        some(&mut session(database)?, 1..2 * COUNT)?;
        database.flush().during("flush")?;
        some(&mut session(database)?, 2 * COUNT..4 * COUNT)
    })?;
    location.opened(|database| some(&mut session(database)?, 4 * COUNT..5 * COUNT))?;
    location.opened(|database| {
        let mut session = session(database)?;
        let mut keys = (0..COUNT / 4).map(|id| records.key(id));
        keys.try_for_each(|key| expect_as(&mut session, &key, model.get(&key)))
    })
}

fn at_once(_bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    const SESSIONS: u64 = 4;
    // The winner of each record, and how many there were.
    let winners: Vec<(AtomicU64, AtomicU64)> = (0..COUNT).map(|_| Default::default()).collect();
    side_by_side(database, SESSIONS, |number, session| {
        let number = number + 1;
        for id in 0..COUNT {
            let value = records.value(id, number);
            if session.insert_if_absent(&records.key(id), &value).during("insert_if_absent")? {
                let (winner, count) = &winners[id as usize];
                winner.store(number, Ordering::Relaxed);
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    })?;
    let mut session = session(database)?;
    for (id, (winner, count)) in winners.iter().enumerate() {
        let count = count.load(Ordering::Relaxed);
        ensure!(count == 1, "record {id} was inserted by {count} of {SESSIONS} sessions");
        records.expect(&mut session, id as u64, winner.load(Ordering::Relaxed))?;
    }
    Ok(())
}

fn inserts_in_transactions(_bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    let insert = |session: &mut Session<'_>, id: u64, version: u64, expected: bool| {
        let inserted = session.insert_if_absent(&records.key(id), &records.value(id, version));
        let inserted = inserted.during("insert_if_absent in a transaction")?;
        ensure!(inserted == expected, "record {id}: insert_if_absent said that it inserted: {inserted}");
        Ok(())
    };
    records.put(session, 1, 1)?;
    for keeps in [false, true] {
        session.begin(abi::READ_WRITE).during("begin")?;
        insert(session, 1, 2, false)?;
        insert(session, 2, 2, true)?;
        insert(session, 2, 3, false)?;
        records.put(session, 3, 1)?;
        insert(session, 3, 2, false)?;
        records.expect(session, 2, 2)?;
        if keeps {
            session.commit().during("commit")?
        } else {
            session.abort().during("abort")?
        }
        records.expect(session, 1, 1)?;
        match session.get(&records.key(2)).during("get")? {
            Answer::Hit(value) if keeps => records.expect_value(2, 2, value)?,
            Answer::Miss if !keeps => (),
            _ => return Err(wrong(format!("committed: {keeps}, and record 2 is otherwise"))),
        }
    }
    records.expect(session, 3, 1)
}

fn inserts_in_snapshots(_bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    records.put(session, 1, 1)?;
    session.begin(abi::READ_ONLY).during("begin of a snapshot")?;
    records.expect(session, 1, 1)?;
    for id in [1, 2] {
        let answer = session.insert_if_absent(&records.key(id), &records.value(id, 2));
        let is_refused = answer.as_ref().is_err_and(|error| error.status == abi::UNSUPPORTED);
        // An existing key is not inserted in any case.
        ensure!(
            is_refused || (id == 1 && matches!(answer, Ok(false))),
            "insert_if_absent in a transaction that only reads was not refused with UNSUPPORTED"
        );
    }
    session.abort().during("abort")?;
    records.expect(session, 1, 1)?;
    records.expect_missing(session, 2)
}
