//! Several sessions on one database, each on a thread of its own.

use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::Duration;

use kvdyno_engine::{Answer, Database, EngineError, Session, abi, guarded};

use crate::bench::{Bench, has_text, session};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{During, Finding, ensure, wrong};
use crate::records::{Records, expect};
use crate::together::{beside, elsewhere, joined, side_by_side};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "sessions-see-each-other",
        what: "What one session wrote is there for the next call of any other, and so is what it deleted.",
        rule: "What one session was answered with OK, the next call of any other sees.",
        needs: Needs::STORE,
        run: CheckBody::OnDatabase(sessions_see_each_other),
    },
    Check {
        name: "value-stays-readable",
        what: "A value lent to a session stays as it is while others replace and delete it, flush and compact.",
        rule: "it stays readable and as it is until the next call on the session, whatever others do meanwhile",
        needs: Needs::STORE,
        run: CheckBody::Whole(value_stays_readable),
    },
    Check {
        name: "many-sessions",
        what: "Eight threads write and read keys of their own at once; afterwards every record is there.",
        rule: "Calls of several sessions run side by side and do not disturb one another.",
        needs: Needs::STORE,
        run: CheckBody::OnDatabase(many_sessions),
    },
    Check {
        name: "all-sessions-open",
        what: "As many sessions as were announced can be open at once, and all of them can read and write.",
        rule: "as many as `config.sessions` says can be open at once.",
        needs: Needs::STORE,
        run: CheckBody::Whole(all_sessions_open),
    },
    Check {
        name: "same-key",
        what: "Four writers of the same keys leave one of their values, never a mix, and readers see whole ones.",
        rule: "Of several writers of a key the last one's value stays, whole.",
        needs: Needs::STORE,
        run: CheckBody::OnDatabase(same_key),
    },
    Check {
        name: "read_modify_write-counts",
        what: "Four threads that count with read-modify-write lose no count.",
        rule: "Reads, calls `update`, writes, as one atomic step.",
        needs: Needs::STORE.and(abi::CAN_READ_MODIFY_WRITE),
        run: CheckBody::OnDatabase(read_modify_write_counts),
    },
    Check {
        name: "idle-reader",
        what: "A session that read a value and then does nothing keeps no writer waiting.",
        rule: "A session that rests keeps nobody waiting, whatever it was lent: a value, a cursor's record, a \
               snapshot.",
        needs: Needs::STORE,
        run: CheckBody::OnDatabase(idle_reader),
    },
    Check {
        name: "idle-cursor",
        what: "A cursor that stands on a record and does nothing keeps no writer waiting.",
        rule: "A session that rests keeps nobody waiting, whatever it was lent: a value, a cursor's record, a \
               snapshot.",
        needs: Needs::STORE.and(abi::CAN_SCAN),
        run: CheckBody::OnDatabase(idle_cursor),
    },
    Check {
        name: "idle-snapshot",
        what: "A snapshot that is open and does nothing keeps no writer waiting.",
        rule: "A session that rests keeps nobody waiting, whatever it was lent: a value, a cursor's record, a \
               snapshot.",
        needs: Needs::STORE.and(abi::CAN_SNAPSHOT),
        run: CheckBody::OnDatabase(idle_snapshot),
    },
    Check {
        name: "writers-side-by-side",
        what: "While one writer is within a transaction or a read-modify-write, one of eight others can write other \
               keys.",
        rule: "while one is within a transaction or `update`, others write other keys",
        needs: Needs::STORE.and(abi::CAN_WRITE_CONCURRENTLY),
        run: CheckBody::OnDatabase(writers_side_by_side),
    },
    Check {
        name: "session-error",
        what: "After an error session_error says why, and the session goes on.",
        rule: "Why the session's last call did not return OK or MISS: a text, never an empty one.",
        needs: Needs::STORE,
        run: CheckBody::OnSession(session_error),
    },
];

fn sessions_see_each_other(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let mut session = session(database)?;
    for version in 1..50 {
        elsewhere(database, |other| records.put_all(other, 0..20, version))?;
        records.expect_all(&mut session, 0..20, version).during("after another session's put")?;
        records.put(&mut session, 5, version + 1_000)?;
        elsewhere(database, |other| records.expect(other, 5, version + 1_000)).during("after this session's put")?;
        if bench.can(abi::CAN_DELETE) {
            elsewhere(database, |other| other.delete(&records.key(7)).map(|_| ()).during("delete"))?;
            records.expect_missing(&mut session, 7).during("after another session's delete")?;
        }
    }
    Ok(())
}

fn value_stays_readable(bench: &Bench) -> Result<(), Finding> {
    for size in [10, 100, 3_000, 100_000] {
        let records = Records::fitting(bench.adapter().table(), size);
        // It fills a write buffer once or twice, and does not fill the cache.
        let keys = (1_500_000 / (size + 100)).min(2_000);
        bench.with_database(|database| {
            records.put_all(&mut session(database)?, 0..keys, 1)?;
            value_stays(bench, database, &records, keys)
        })?;
    }
    Ok(())
}

fn value_stays(bench: &Bench, database: &Database, records: &Records, keys: u64) -> Result<(), Finding> {
    let mut session = session(database)?;
    thread::scope(|scope| {
        let Answer::Hit(lent) = session.get(&records.key(3)).during("get")? else {
            return Err(wrong("record 3 is missing"));
        };
        bench.step("another session writes while a value is lent out");
        elsewhere(database, |other| {
            records.replace_for_a_while(other, 0..keys)?;
            match bench.can(abi::CAN_DELETE) {
                true => other.delete(&records.key(3)).map(|_| ()).during("delete"),
                false => Ok(()),
            }
        })?;
        bench.step("flush and compact while a value is lent out");
        let (tell, ended) = mpsc::channel();
        let housekeeping = scope.spawn(move || {
            let work = || database.flush().during("flush").and_then(|_| database.compact().during("compact"));
            let done = guarded(work);
            // The other end may have stopped listening.
            let _ = tell.send(());
            done
        });
        // An engine may have to wait for the reader, who then goes on: it lends out nothing any more.
        let _ = ended.recv_timeout(Duration::from_secs(2));
        let stayed = records.expect_value(3, 1, lent);
        drop(session);
        bench.step("flush and compact beside sessions that do nothing");
        joined(housekeeping)?;
        stayed
    })
}

fn many_sessions(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    const EACH: u64 = 500;
    let ids = |number: u64| (0..EACH).map(move |index| index * 8 + number);
    bench.step("eight threads write at once");
    side_by_side(database, 8, |number, session| {
        for version in 1..=3 {
            for id in ids(number) {
                records.put(session, id, version)?;
                records.expect(session, id, version).during("what the thread just put")?;
            }
        }
        Ok(())
    })?;
    records.expect_all(&mut session(database)?, 0..8 * EACH, 3)
}

fn all_sessions_open(bench: &Bench) -> Result<(), Finding> {
    let records = bench.records();
    let location = bench.location()?;
    let count = u64::from(location.hints.sessions);
    location.created(|database| {
        let all_open = Barrier::new(count as usize);
        side_by_side(database, count, |number, session| {
            all_open.wait();
            records.put(session, number, 1)?;
            records.expect(session, number, 1)?;
            if bench.can(abi::CAN_SCAN) {
                let mut cursor = session.cursor().during("opening a cursor")?;
                cursor.seek(None, abi::FORWARD).during("seek")?;
            }
            Ok(())
        })?;
        records.expect_all(&mut session(database)?, 0..count, 1)
    })
}

fn same_key(bench: &Bench, _records: &Records, database: &Database) -> Result<(), Finding> {
    const KEYS: u64 = 5;
    let records = Records::fitting(bench.adapter().table(), 3_000);
    let read = |_: u64, session: &mut Session<'_>| {
        (0..KEYS).try_for_each(|id| records.version(session, id).map(|_| ())).during("a reader beside the writers")
    };
    let mut session = session(database)?;
    records.put_all(&mut session, 0..KEYS, 0)?;
    bench.step("four threads write the same keys");
    let write = |number: u64, session: &mut Session<'_>| {
        (1..200).try_for_each(|round| records.put(session, round % KEYS, round * 4 + number))
    };
    beside(database, read, || side_by_side(database, 4, write))?;
    for id in 0..KEYS {
        let version = records.version(&mut session, id)?;
        let last = 195 + id;
        ensure!(version / 4 == last, "record {id} has a value of round {}, though {last} came last", version / 4);
    }
    Ok(())
}

fn read_modify_write_counts(_bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    const ROUNDS: u64 = 250;
    let key = records.key(1);
    let count = |old: Option<&[u8]>| {
        let now = old.and_then(|old| old.try_into().ok()).map_or(0, u64::from_le_bytes);
        Some((now + 1).to_le_bytes().to_vec())
    };
    side_by_side(database, 4, |_, session| {
        (0..ROUNDS).try_for_each(|_| session.read_modify_write(&key, count).during("read_modify_write beside others"))
    })?;
    expect(&mut session(database)?, &key, &(4 * ROUNDS).to_le_bytes())
}

/// Writes of another session, in and around `0..1000`, that must end: not soon, for an engine may well be slow there,
/// but within the time of a check.
fn writes_go_on(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    records.put_all(session, 0..1_200, 2)?;
    match bench.can(abi::CAN_DELETE) {
        true => (0..10).try_for_each(|id| session.delete(&records.key(id)).map(|_| ()).during("delete")),
        false => Ok(()),
    }
}

fn idle_reader(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let mut session = session(database)?;
    records.put_all(&mut session, 0..1_000, 1)?;
    records.expect(&mut session, 5, 1)?;
    bench.step("another session writes beside a reader that does nothing");
    elsewhere(database, |other| writes_go_on(bench, records, other))?;
    records.expect(&mut session, 500, 2)
}

fn idle_cursor(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let mut session = session(database)?;
    records.put_all(&mut session, 0..1_000, 1)?;
    let mut cursor = session.cursor().during("opening a cursor")?;
    cursor.seek(Some(&records.key(5)), abi::FORWARD).during("seek")?;
    bench.step("another session writes beside a cursor that does nothing");
    elsewhere(database, |other| writes_go_on(bench, records, other))?;
    let answer = cursor.seek(Some(&records.key(500)), abi::FORWARD).during("seek")?;
    let Answer::Hit((_, value)) = answer else { return Err(wrong("record 500 is missing")) };
    records.expect_value(500, 2, value)
}

fn idle_snapshot(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let mut session = session(database)?;
    records.put_all(&mut session, 0..1_000, 1)?;
    session.begin(abi::READ_ONLY).during("begin of a snapshot")?;
    records.expect(&mut session, 5, 1)?;
    bench.step("another session writes beside a snapshot that does nothing");
    elsewhere(database, |other| writes_go_on(bench, records, other))?;
    session.commit().during("the end of a snapshot")?;
    records.expect(&mut session, 500, 2)
}

/// Other writers than the one that is held, and how far their keys lie from each other: an engine may lock pages, or
/// stripes of keys, so some of them may wait, but not all.
const OTHERS: u64 = 8;
const DISTANCE: u64 = 1_000;

/// Checks that another writer ends its write while one writer is held; if none can, there is one lock. The wait ends
/// with the first such write, so the time limit decides only how long the check takes where none ends.
fn writers_side_by_side(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    if !bench.can(abi::CAN_TRANSACT) && !bench.can(abi::CAN_READ_MODIFY_WRITE) {
        let reason = "it has no transactions and no read-modify-write, within which a writer could be held";
        return Err(Finding::NotApplicable(reason.to_owned()));
    }
    records.put_all(&mut session(database)?, 0..OTHERS * DISTANCE, 1)?;
    let mut one_goes_on = false;
    if bench.can(abi::CAN_READ_MODIFY_WRITE) {
        bench.step("others write while one is within a read-modify-write");
        one_goes_on = others_write(bench, database, |session, held| {
            let mut value = Some(records.value(1, 2));
            let change = |_: Option<&[u8]>| {
                if let Some(value) = value.take() {
                    held();
                    return Some(value);
                }
                Some(records.value(1, 2))
            };
            session.read_modify_write(&records.key(1), change).during("read_modify_write beside writers")
        })?;
    }
    if bench.can(abi::CAN_TRANSACT) && !one_goes_on {
        bench.step("others write while one is within a transaction");
        one_goes_on = others_write(bench, database, |session, held| {
            session.begin(abi::READ_WRITE).during("begin")?;
            records.put(session, 1, 3)?;
            held();
            session.abort().during("abort")
        })?;
    }
    ensure!(
        one_goes_on,
        "while one writer is held, none of {OTHERS} others, each at a key far from the next, ends a write"
    );
    Ok(())
}

/// Whether one of the other writers ends its write before `hold` goes on. `hold` gets the function that it waits in.
fn others_write(
    bench: &Bench,
    database: &Database,
    hold: impl FnOnce(&mut Session<'_>, &mut dyn FnMut()) -> Result<(), Finding>,
) -> Result<bool, Finding> {
    let records = bench.records();
    let (tell, ended) = mpsc::channel();
    let (go, gone) = (Barrier::new(OTHERS as usize + 1), std::cell::Cell::new(false));
    let mut session = session(database)?;
    let one = thread::scope(|scope| {
        let (records, go) = (&records, &go);
        let start = |number: u64| {
            let tell = tell.clone();
            let put = move || {
                let opened = crate::bench::session(database);
                go.wait();
                records.put(&mut opened?, number * DISTANCE + DISTANCE / 2, 2)?;
                // The other end stops listening once it knows enough.
                let _ = tell.send(());
                Ok(())
            };
            scope.spawn(|| guarded(put))
        };
        let others: Vec<_> = (0..OTHERS).map(start).collect();
        let mut one = false;
        let mut held = || {
            gone.set(true);
            go.wait();
            one = ended.recv_timeout(bench.effort.patience / 6).is_ok();
        };
        let holder = hold(&mut session, &mut held);
        if !gone.get() {
            go.wait();
        }
        others.into_iter().try_for_each(joined)?;
        holder.map(|()| one)
    })?;
    Ok(one)
}

fn write_in_snapshot(session: &mut Session<'_>) -> Result<(), EngineError> {
    session.begin(abi::READ_ONLY)?;
    let refused = session.put(b"key", b"value");
    session.abort().and(refused)
}

/// The first way in which the engine must refuse.
fn provoke(bench: &Bench, session: &mut Session<'_>) -> Option<Result<(), EngineError>> {
    let table = bench.adapter().table();
    match (table.max_key_size, table.min_key_size) {
        (1..=1_048_576, _) => Some(session.put(&vec![b'k'; table.max_key_size as usize + 1], b"value")),
        (_, 1..) => Some(session.put(&vec![b'k'; table.min_key_size as usize - 1], b"value")),
        _ if bench.can(abi::CAN_SNAPSHOT) => Some(write_in_snapshot(session)),
        _ => None,
    }
}

fn session_error(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    records.put(session, 1, 1)?;
    for _ in 0..3 {
        match provoke(bench, session) {
            None => return Err(Finding::NotApplicable("there is no way to make it report an error".to_owned())),
            Some(Ok(())) => return Err(wrong("what cannot be done was answered with OK")),
            Some(Err(error)) => ensure!(has_text(&error), "session_error has no text after an error"),
        }
        records.expect(session, 1, 1)?;
    }
    records.put(session, 2, 1)?;
    records.expect(session, 2, 1)
}
