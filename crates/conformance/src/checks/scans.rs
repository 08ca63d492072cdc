//! Cursors.

use kvdyno_dataset::Permutation;
use kvdyno_engine::{Answer, Cursor, Database, Session, abi};

use crate::bench::{Bench, session};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{During, Finding, ensure, wrong};
use crate::records::{Records, show};
use crate::scanning::{self, step};
use crate::together::{beside, elsewhere, side_by_side};

const FORWARD: Needs = Needs::STORE.and(abi::CAN_SCAN);
const BACKWARD: Needs = FORWARD.and(abi::CAN_SCAN_REVERSE);

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "scan-forward",
        what: "A forward scan shows every record once, in key order, and ends with a miss that stays one.",
        rule: "A cursor goes through the keys in the order of memcmp, each once",
        needs: FORWARD,
        run: CheckBody::Whole(scan_forward),
    },
    Check {
        name: "scan-backward",
        what: "A backward scan shows every record once, in falling order, and ends with a miss that stays one.",
        rule: "A cursor goes through the keys in the order of memcmp, each once",
        needs: BACKWARD,
        run: CheckBody::Whole(scan_backward),
    },
    Check {
        name: "seek-forward",
        what: "A forward seek finds the key itself, or the next one, or nothing after the last.",
        rule: "seek: the first key at or after the given one; without one, the very first",
        needs: FORWARD,
        run: CheckBody::Whole(seek_forward),
    },
    Check {
        name: "seek-backward",
        what: "A backward seek finds the key itself, or the one before, or nothing before the first.",
        rule: "seek: the last key at or before the given one; without one, the very last",
        needs: BACKWARD,
        run: CheckBody::Whole(seek_backward),
    },
    Check {
        name: "scan-nothing",
        what: "On an empty database, and on one whose records were all deleted, every seek is a miss.",
        rule: "the key, or a next record, is not there",
        needs: FORWARD,
        run: CheckBody::OnSession(scan_nothing),
    },
    Check {
        name: "turn-around",
        what: "A cursor that turns round shows the neighbours of the record that it stands on.",
        rule: "Between, `next` and `previous` go to the neighbours of the record that the cursor stands on",
        needs: BACKWARD,
        run: CheckBody::OnSession(turn_around),
    },
    Check {
        name: "seek-sees-the-newest",
        what: "An open cursor sees what another session put, replaced and deleted before its seek.",
        rule: "sees a state no older than its last seek",
        needs: FORWARD,
        run: CheckBody::OnDatabase(seek_sees_the_newest),
    },
    Check {
        name: "record-stays-readable",
        what: "Key and value that a cursor shows stay as they are while another session replaces and deletes them.",
        rule: "Key and value are borrowed, and stay as they are, until the next call on the cursor or on its session.",
        needs: FORWARD,
        run: CheckBody::OnDatabase(record_stays_readable),
    },
    Check {
        name: "scan-over-deletes",
        what: "A cursor whose record another session deletes goes on to the next one.",
        rule: "the neighbours of the record that the cursor stands on, even if that record is deleted.",
        needs: FORWARD.and(abi::CAN_DELETE),
        run: CheckBody::OnDatabase(scan_over_deletes),
    },
    Check {
        name: "scan-while-writing",
        what: "Scans beside a writer end, stay in order, and show every record that stays, with a whole value.",
        rule: "what comes and goes meanwhile it may show or not, all else it shows.",
        needs: FORWARD,
        run: CheckBody::OnDatabase(scan_while_writing),
    },
    Check {
        name: "scans-at-once",
        what: "Cursors of four sessions scan at once and do not disturb one another.",
        rule: "Calls of several sessions run side by side and do not disturb one another.",
        needs: FORWARD,
        run: CheckBody::OnDatabase(scans_at_once),
    },
];

/// Key and value that a cursor shows, or the end.
type CursorRecord<'a> = Option<(&'a [u8], &'a [u8])>;

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Forward,
    Backward,
}

impl Way {
    fn direction(self) -> u32 {
        if self == Way::Forward { abi::FORWARD } else { abi::BACKWARD }
    }

    fn seek<'c>(self, cursor: &'c mut Cursor<'_, '_>, key: Option<&[u8]>) -> Result<CursorRecord<'c>, Finding> {
        Ok(hit(cursor.seek(key, self.direction()).during("seek")?))
    }

    fn step<'c>(self, cursor: &'c mut Cursor<'_, '_>) -> Result<CursorRecord<'c>, Finding> {
        Ok(hit(step(cursor, self.direction())?))
    }
}

fn hit<T>(answer: Answer<T>) -> Option<T> {
    match answer {
        Answer::Hit(lent) => Some(lent),
        Answer::Miss => None,
    }
}

/// Checks that a cursor shows the record `id` at `version`.
fn shows(records: &Records, record: CursorRecord<'_>, id: u64, version: u64) -> Result<(), Finding> {
    let Some((key, value)) = record else { return Err(wrong(format!("nothing where record {id} should come"))) };
    ensure!(key == records.key(id), "the key {} where record {id} should come", show(key));
    records.expect_value(id, version, value)
}

fn ends(record: CursorRecord<'_>) -> Result<(), Finding> {
    match record {
        None => Ok(()),
        Some((key, _)) => Err(wrong(format!("the key {} where there should be no more", show(key)))),
    }
}

/// Even ids only, so that there is something between any two.
fn put_even(records: &Records, session: &mut Session<'_>, count: u64) -> Result<(), Finding> {
    let order = Permutation::new(count, 1);
    records.put_all(session, (0..count).map(|index| 2 * order.at(index)), 1)
}

/// The even ids in the order in which a scan comes to them.
fn even(way: Way, count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(move |index| 2 * if way == Way::Forward { index } else { count - 1 - index })
}

/// All even ids in order, and then the end.
fn scan(records: &Records, cursor: &mut Cursor<'_, '_>, way: Way, count: u64) -> Result<(), Finding> {
    let expected = even(way, count).map(|id| (records.key(id), records.value(id, 1)));
    scanning::shows(cursor, None, way.direction(), expected, usize::MAX)
}

fn scan_way(bench: &Bench, way: Way) -> Result<(), Finding> {
    const COUNT: u64 = 5_000;
    let records = bench.records();
    bench.with_database(|database| {
        let mut session = session(database)?;
        put_even(&records, &mut session, COUNT)?;
        {
            let mut cursor = session.cursor().during("opening a cursor")?;
            scan(&records, &mut cursor, way, COUNT)?;
            scan(&records, &mut cursor, way, COUNT).during("the second time with the same cursor")?;
        }
        database.flush().during("flush")?;
        let mut cursor = session.cursor().during("opening a cursor")?;
        scan(&records, &mut cursor, way, COUNT).during("after flush")
    })
}

fn scan_forward(bench: &Bench) -> Result<(), Finding> {
    scan_way(bench, Way::Forward)
}

fn scan_backward(bench: &Bench) -> Result<(), Finding> {
    scan_way(bench, Way::Backward)
}

/// Seeks to each of `cases`, key and what is to be found, and takes a step from there.
fn seek_way(bench: &Bench, way: Way, cases: &[(Option<u64>, Option<u64>)]) -> Result<(), Finding> {
    let records = bench.records();
    bench.with_session(|session| {
        // Ids 2, 4, … 400.
        put_even(&records, session, 201)?;
        if bench.can(abi::CAN_DELETE) {
            session.delete(&records.key(0)).during("delete")?;
        } else {
            return Err(Finding::NotApplicable("it deletes nothing".to_owned()));
        }
        let mut cursor = session.cursor().during("opening a cursor")?;
        for &(key, expected) in cases {
            let what =
                format!("seeking {}", key.map_or("the end".to_owned(), |id| format!("record {id} among 2, 4, … 400")));
            let key = key.map(|id| records.key(id));
            let first = way.seek(&mut cursor, key.as_deref()).during(&what)?;
            let Some(id) = expected else {
                ends(first).during(&what)?;
                continue;
            };
            shows(&records, first, id, 1).during(&what)?;
            let second = way.step(&mut cursor).during(&what)?;
            let beyond = if way == Way::Forward { (id < 400).then_some(id + 2) } else { (id > 2).then(|| id - 2) };
            match beyond {
                Some(id) => shows(&records, second, id, 1).during(&format!("the step after {what}"))?,
                None => ends(second).during(&format!("the step after {what}"))?,
            }
        }
        Ok(())
    })
}

fn seek_forward(bench: &Bench) -> Result<(), Finding> {
    let cases = [
        (None, Some(2)),
        (Some(0), Some(2)),
        (Some(2), Some(2)),
        (Some(3), Some(4)),
        (Some(200), Some(200)),
        (Some(201), Some(202)),
        (Some(399), Some(400)),
        (Some(400), Some(400)),
        (Some(401), None),
        (Some(1), Some(2)),
        (Some(1 << 40), None),
    ];
    seek_way(bench, Way::Forward, &cases)
}

fn seek_backward(bench: &Bench) -> Result<(), Finding> {
    let cases = [
        (None, Some(400)),
        (Some(1 << 40), Some(400)),
        (Some(401), Some(400)),
        (Some(400), Some(400)),
        (Some(399), Some(398)),
        (Some(200), Some(200)),
        (Some(199), Some(198)),
        (Some(3), Some(2)),
        (Some(2), Some(2)),
        (Some(1), None),
        (Some(0), None),
        (Some(5), Some(4)),
    ];
    seek_way(bench, Way::Backward, &cases)
}

fn scan_nothing(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    let nothing = |session: &mut Session<'_>| -> Result<(), Finding> {
        let mut cursor = session.cursor().during("opening a cursor")?;
        let key = records.key(5);
        ends(Way::Forward.seek(&mut cursor, None)?)?;
        ends(Way::Forward.seek(&mut cursor, Some(&key))?)?;
        if bench.can(abi::CAN_SCAN_REVERSE) {
            ends(Way::Backward.seek(&mut cursor, None)?)?;
            ends(Way::Backward.seek(&mut cursor, Some(&key))?)?;
        }
        Ok(())
    };
    nothing(session)?;
    if bench.can(abi::CAN_DELETE) {
        records.put_all(session, 0..500, 1)?;
        (0..500).try_for_each(|id| session.delete(&records.key(id)).map(|_| ()).during("delete"))?;
        nothing(session).during("after all were deleted")?;
    }
    Ok(())
}

fn turn_around(_bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    use Way::{Backward, Forward};
    put_even(records, session, 500)?;
    let mut cursor = session.cursor().during("opening a cursor")?;
    let start = records.key(100);
    let walk: &[(Way, u64)] = &[
        (Forward, 102),
        (Forward, 104),
        (Backward, 102),
        (Backward, 100),
        (Backward, 98),
        (Forward, 100),
        (Forward, 102),
    ];
    for way in [Forward, Backward] {
        shows(records, way.seek(&mut cursor, Some(&start))?, 100, 1)?;
        for (step, id) in walk {
            shows(records, step.step(&mut cursor)?, *id, 1).during("on the way to and fro")?;
        }
    }
    // The seek lands beside the key that was sought, and the turn starts from where it landed.
    shows(records, Forward.seek(&mut cursor, Some(&records.key(101)))?, 102, 1)?;
    shows(records, Backward.step(&mut cursor)?, 100, 1).during("turning after a seek between two keys")?;
    shows(records, Backward.seek(&mut cursor, Some(&records.key(101)))?, 100, 1)?;
    shows(records, Forward.step(&mut cursor)?, 102, 1).during("turning after a seek between two keys")
}

fn seek_sees_the_newest(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let mut session = session(database)?;
    put_even(records, &mut session, 100)?;
    let mut cursor = session.cursor().during("opening a cursor")?;
    shows(records, Way::Forward.seek(&mut cursor, Some(&records.key(10)))?, 10, 1)?;
    for version in 2..50 {
        bench.step("another session puts a record while a cursor stands on it");
        elsewhere(database, |other| records.put_all(other, [10, 11], version))?;
        shows(records, Way::Forward.seek(&mut cursor, Some(&records.key(10)))?, 10, version).during("after a put")?;
        shows(records, Way::Forward.seek(&mut cursor, Some(&records.key(11)))?, 11, version).during("after a put")?;
        if bench.can(abi::CAN_DELETE) {
            elsewhere(database, |other| other.delete(&records.key(11)).map(|_| ()).during("delete"))?;
            shows(records, Way::Forward.seek(&mut cursor, Some(&records.key(11)))?, 12, 1).during("after a delete")?;
        }
    }
    Ok(())
}

fn record_stays_readable(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let mut session = session(database)?;
    put_even(records, &mut session, 1_000)?;
    let mut cursor = session.cursor().during("opening a cursor")?;
    shows(records, Way::Forward.seek(&mut cursor, Some(&records.key(100)))?, 100, 1)?;
    let record = Way::Forward.step(&mut cursor)?;
    bench.step("another session writes while a record of a cursor is lent out");
    elsewhere(database, |other| {
        records.replace_for_a_while(other, 100..500)?;
        if bench.can(abi::CAN_DELETE) {
            other.delete(&records.key(102)).during("delete")?;
        }
        Ok(())
    })?;
    database.flush().during("flush")?;
    shows(records, record, 102, 1).during("after others wrote, flushed and deleted")
}

fn scan_over_deletes(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let mut session = session(database)?;
    put_even(records, &mut session, 200)?;
    let mut cursor = session.cursor().during("opening a cursor")?;
    shows(records, Way::Forward.seek(&mut cursor, None)?, 0, 1)?;
    for id in (2..100).step_by(2) {
        bench.step("another session deletes the record that a cursor stands on");
        elsewhere(database, |other| other.delete(&records.key(id - 2)).map(|_| ()).during("delete"))?;
        shows(records, Way::Forward.step(&mut cursor)?, id, 1).during("after the record before was deleted")?;
    }
    Ok(())
}

fn scan_while_writing(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    const COUNT: u64 = 1_000;
    // The writer replaces even records and puts and deletes odd ones; so all even ones are there at any moment.
    let write = |round: u64, other: &mut Session<'_>| {
        let id = round * 7919 % (2 * COUNT);
        match id % 2 == 1 && bench.can(abi::CAN_DELETE) && round.is_multiple_of(3) {
            true => other.delete(&records.key(id)).map(|_| ()).during("delete beside a scan"),
            false => records.put(other, id, round).during("beside a scan"),
        }
    };
    let mut session = session(database)?;
    put_even(records, &mut session, COUNT)?;
    beside(database, write, || {
        for round in 0..20 {
            let way = if round % 2 == 1 && bench.can(abi::CAN_SCAN_REVERSE) { Way::Backward } else { Way::Forward };
            bench.step("scanning beside a writer");
            let mut cursor = session.cursor().during("opening a cursor beside a writer")?;
            scan_beside(records, &mut cursor, way, COUNT)?;
        }
        Ok(())
    })
}

/// The record that should come, for people.
fn next(awaited: Option<u64>) -> String {
    awaited.map_or("the end".to_owned(), |id| format!("record {id}"))
}

/// A scan that must show all even ids and may show odd ones.
fn scan_beside(records: &Records, cursor: &mut Cursor<'_, '_>, way: Way, count: u64) -> Result<(), Finding> {
    let mut even = even(way, count);
    let mut awaited = even.next();
    let mut last: Option<Vec<u8>> = None;
    loop {
        let record = if last.is_none() { way.seek(cursor, None)? } else { way.step(cursor)? };
        let Some((key, value)) = record else { break };
        let in_order = last.as_deref().is_none_or(|last| if way == Way::Forward { last < key } else { key < last });
        ensure!(in_order, "{} came after {}", show(key), show(last.as_deref().unwrap_or_default()));
        let text = std::str::from_utf8(key).ok().and_then(|text| text.parse::<u64>().ok());
        let id = text.ok_or_else(|| wrong(format!("the key {} was never put", show(key))))?;
        records.version_of(id, value)?;
        if id % 2 == 0 {
            ensure!(Some(id) == awaited, "record {id} came where {} should", next(awaited));
            awaited = even.next();
        }
        last = Some(key.to_vec());
    }
    ensure!(awaited.is_none(), "a scan beside a writer ended before {}", next(awaited));
    Ok(())
}

fn scans_at_once(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    const COUNT: u64 = 2_000;
    put_even(records, &mut session(database)?, COUNT)?;
    side_by_side(database, 4, |number, session| {
        let mut cursor = session.cursor().during("opening a cursor")?;
        let way = if number % 2 == 1 && bench.can(abi::CAN_SCAN_REVERSE) { Way::Backward } else { Way::Forward };
        (0..5).try_for_each(|_| scan(records, &mut cursor, way, COUNT))
    })
}
