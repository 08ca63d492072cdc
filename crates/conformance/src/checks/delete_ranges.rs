//! The deletion of ranges.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kvdyno_dataset::Stream;
use kvdyno_engine::{Answer, Database, Session, abi};

use super::durability::{at, killed, many_times, surviving, writing};
use crate::bench::{Bench, session};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{During, Finding, ensure};
use crate::records::{Records, expect_as};
use crate::scanning::{Model, shows};
use crate::together::{beside, elsewhere};
use crate::writer::{Until, WriterTask};

const RANGES: Needs = Needs::STORE.and(abi::CAN_DELETE_RANGE);

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "delete-range",
        what: "The keys of a range are misses, its end and all others are there, and they can be put again.",
        rule: "Deletes every key from `from` on that comes before `to`,",
        needs: RANGES,
        run: CheckBody::Whole(delete_range),
    },
    Check {
        name: "delete-range-empty",
        what: "Ranges in which nothing lies, or that end where they begin or before, are OK and change nothing.",
        rule: "OK where there is nothing to delete, and where `to` does not come after `from`.",
        needs: RANGES,
        run: CheckBody::OnSession(empty_ranges),
    },
    Check {
        name: "delete-range-model",
        what: "Random ranges, puts, flushes and compactions, with two reopenings between, give what a map gives.",
        rule: "The keys are misses then, until they are put again.",
        needs: RANGES,
        run: CheckBody::Whole(agrees_with_a_model),
    },
    Check {
        name: "delete-range-seen-whole",
        what: "A reader beside it never sees a range half deleted.",
        rule: "readers beside it, and who opens the database after a crash, find all of it done or nothing.",
        needs: RANGES.and(abi::CAN_BATCH),
        run: CheckBody::OnDatabase(seen_whole),
    },
    Check {
        name: "kill-delete-range",
        what: "After the process was killed while it deleted ranges, each range is there whole or not at all.",
        rule: "readers beside it, and who opens the database after a crash, find all of it done or nothing.",
        needs: RANGES.and(abi::CAN_BATCH),
        run: CheckBody::Whole(kill),
    },
    Check {
        name: "delete-range-transaction",
        what: "In a transaction a range is deleted for itself at once, for others at the commit, and not if it aborts.",
        rule: "A transaction reads what it wrote itself; nobody else sees it before `commit`, everybody sees all of it \
               after, and nothing of it is left by `abort`.",
        needs: RANGES.and(abi::CAN_TRANSACT),
        run: CheckBody::OnDatabase(in_transactions),
    },
    Check {
        name: "delete-range-snapshot",
        what: "A snapshot shows what was deleted after its begin, and deletes no range.",
        rule: "In a snapshot all reads and scans see the state at its begin.",
        needs: RANGES.and(abi::CAN_SNAPSHOT),
        run: CheckBody::OnDatabase(beside_snapshots),
    },
];

const COUNT: u64 = 1_000;

/// The records of `deleted` are gone, all others of those that were put are there.
fn looks(
    bench: &Bench,
    records: &Records,
    session: &mut Session<'_>,
    deleted: std::ops::Range<u64>,
) -> Result<(), Finding> {
    for id in 0..COUNT {
        match deleted.contains(&id) {
            true => records.expect_missing(session, id)?,
            false => records.expect(session, id, 1)?,
        }
    }
    if !bench.can(abi::CAN_SCAN) {
        return Ok(());
    }
    let mut cursor = session.cursor().during("opening a cursor")?;
    let left = (0..COUNT).filter(|id| !deleted.contains(id));
    shows(&mut cursor, None, abi::FORWARD, left.map(|id| (records.key(id), records.value(id, 1))), usize::MAX)
}

fn delete_range(bench: &Bench) -> Result<(), Finding> {
    let records = bench.records();
    let location = bench.location()?;
    location.created(|database| {
        let mut session = session(database)?;
        records.put_all(&mut session, 0..COUNT, 1)?;
        database.flush().during("flush")?;
        session.delete_range(&records.key(100), &records.key(101)).during("delete_range of one key")?;
        looks(bench, &records, &mut session, 100..101)?;
        records.put(&mut session, 100, 1)?;
        session.delete_range(&records.key(200), &records.key(700)).during("delete_range")?;
        looks(bench, &records, &mut session, 200..700)?;
        elsewhere(database, |other| looks(bench, &records, other, 200..700)).during("from another session")?;
        records.put_all(&mut session, 200..300, 1)?;
        looks(bench, &records, &mut session, 300..700)?;
        database.compact().during("compact")?;
        looks(bench, &records, &mut session, 300..700).during("after compact")
    })?;
    location.opened(|database| {
        let mut session = session(database)?;
        looks(bench, &records, &mut session, 300..700).during("after it was opened again")?;
        // To a key beyond all that are there.
        session.delete_range(&records.key(300), &records.key(9 * COUNT)).during("delete_range to the end")?;
        looks(bench, &records, &mut session, 300..COUNT)
    })
}

fn empty_ranges(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    let (low, high) = (records.key(3 * COUNT), records.key(4 * COUNT));
    session.delete_range(&low, &high).during("delete_range in an empty database")?;
    records.put_all(session, 0..COUNT, 1)?;
    session.delete_range(&low, &high).during("delete_range behind all keys")?;
    for (from, to) in [(500, 500), (700, 300), (COUNT, 0)] {
        let what = format!("delete_range from record {from} to record {to}");
        session.delete_range(&records.key(from), &records.key(to)).during(&what)?;
    }
    looks(bench, records, session, 0..0)
}

fn agrees_with_a_model(bench: &Bench) -> Result<(), Finding> {
    let (records, location) = (bench.records(), bench.location()?);
    let (mut model, mut stream) = (Model::new(), Stream::new(1));
    let mut round = |database: &kvdyno_engine::Database| {
        let mut session = session(database)?;
        for step in 0..300 {
            for _ in 0..10 {
                let id = stream.below(COUNT);
                records.put(&mut session, id, step)?;
                model.insert(records.key(id), records.value(id, step));
            }
            let from = stream.below(COUNT);
            let (from, to) = (records.key(from), records.key(from + stream.below(60)));
            session.delete_range(&from, &to).during("delete_range")?;
            model.retain(|key, _| *key < from || *key >= to);
            match step % 100 {
                40 => database.flush().map(|_| ()).during("flush")?,
                80 => database.compact().map(|_| ()).during("compact")?,
                _ => {}
            }
            for _ in 0..20 {
                let key = records.key(stream.below(COUNT));
                expect_as(&mut session, &key, model.get(&key))?;
            }
        }
        Ok(())
    };
    location.created(&mut round)?;
    for _ in 0..2 {
        bench.step("opening the database again");
        location.opened(&mut round)?;
    }
    location.opened(|database| {
        let mut session = session(database)?;
        let mut keys = (0..COUNT).map(|id| records.key(id));
        keys.try_for_each(|key| expect_as(&mut session, &key, model.get(&key)))
    })
}

/// A range of ten is put in one batch and deleted, again and again, each time with a newer version. A reader that finds
/// one record at a version, misses another, and then finds the first at that version still, has seen the range half
/// deleted. The order in which a faulty engine goes through a range is unknown, so the reader begins at either end.
fn seen_whole(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    const GROUP: u64 = 10;
    const ROUNDS: u64 = 5_000;
    /// Versions of the other session that the reader must have seen before it stops, if time allows. On a busy machine
    /// all rounds may pass before that session has written one.
    const LEAST_VERSIONS: usize = 50;
    let change = |version: u64, session: &mut Session<'_>| {
        records.write_all(session, 0..GROUP, version).during("write")?;
        session.delete_range(&records.key(0), &records.key(GROUP)).during("delete_range")
    };
    let version = |session: &mut Session<'_>, id: u64| match session.get(&records.key(id)).during("get")? {
        Answer::Hit(value) => records.version_of(id, value).map(Some),
        Answer::Miss => Ok(None),
    };
    let mut session = session(database)?;
    beside(database, change, || {
        let (patience, mut versions) = (Instant::now() + bench.spell(), BTreeSet::new());
        let goes_on = |round: u64, seen: usize| round < ROUNDS || (seen < LEAST_VERSIONS && Instant::now() < patience);
        for round in 0.. {
            if !goes_on(round, versions.len()) {
                break;
            }
            let (near, far) = if round % 2 == 0 { (0, GROUP - 1) } else { (GROUP - 1, 0) };
            let Some(seen) = version(&mut session, near)? else { continue };
            versions.insert(seen);
            let is_half = version(&mut session, far)?.is_none() && version(&mut session, near)? == Some(seen);
            ensure!(!is_half, "record {near} of version {seen} is there while record {far} of it is deleted");
        }
        Ok(())
    })
}

/// Each range is put in one batch and then deleted.
fn kill(bench: &Bench) -> Result<(), Finding> {
    let location = bench.location_with(&bench.choice, at(bench, surviving(bench)?)?)?;
    let mut moments = bench.moments();
    let mut from = 1;
    many_times(bench, || {
        let writing = WriterTask { deletes: true, ..writing(bench, &location, from, 20, Until::Killed) };
        let pause = Duration::from_micros(moments.below(30_000));
        let last = killed(bench, &writing, from + 100 + moments.below(100), pause)?;
        bench.step("opening the database whose process was killed");
        location.opened(|database| whole_or_gone(bench, &mut session(database)?, &writing, last))?;
        from = last + 2;
        Ok(())
    })
}

fn whole_or_gone(bench: &Bench, session: &mut Session<'_>, writing: &WriterTask, last: u64) -> Result<(), Finding> {
    let records = bench.records();
    for number in last.saturating_sub(2 * writing.groups - 2)..=last + 1 {
        let mut seen = Vec::new();
        for id in writing.ids(number) {
            seen.push(match session.get(&records.key(id)).during("get after the kill")? {
                Answer::Hit(value) => Some(records.version_of(id, value)?),
                Answer::Miss => None,
            });
        }
        let there = seen.iter().flatten().count();
        ensure!(
            seen.iter().all(|version| *version == seen[0]),
            "{there} of the {} records of a range that was deleted are there",
            seen.len()
        );
        // Only the last write counts: a later write may have stored the records of an earlier one again.
        let is_last = number == last && number % 2 == 1;
        ensure!(!is_last || there == 0, "the deletion of a range was acknowledged, and its records are there");
    }
    Ok(())
}

fn in_transactions(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let (from, to) = (records.key(100), records.key(200));
    let mut session = session(database)?;
    records.put_all(&mut session, 0..COUNT, 1)?;
    for (ends_well, deleted) in [(false, 0..0), (true, 100..200)] {
        session.begin(abi::READ_WRITE).during("begin")?;
        records.put(&mut session, 150, 2)?;
        session.delete_range(&from, &to).during("delete_range")?;
        looks(bench, records, &mut session, 100..200).during("in the transaction")?;
        match ends_well {
            true => session.commit().during("commit")?,
            false => session.abort().during("abort")?,
        }
        looks(bench, records, &mut session, deleted.clone()).during("after its end")?;
        elsewhere(database, |other| looks(bench, records, other, deleted)).during("from another session")?;
    }
    Ok(())
}

fn beside_snapshots(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let (from, to) = (records.key(100), records.key(200));
    let mut session = session(database)?;
    records.put_all(&mut session, 0..COUNT, 1)?;
    session.begin(abi::READ_ONLY).during("begin")?;
    records.expect(&mut session, 150, 1)?;
    let refused = session.delete_range(&from, &to);
    ensure!(
        refused.is_err_and(|error| error.status == abi::UNSUPPORTED),
        "delete_range in a transaction that only reads was not refused with UNSUPPORTED"
    );
    elsewhere(database, |other| other.delete_range(&from, &to).during("delete_range"))?;
    looks(bench, records, &mut session, 0..0).during("in a snapshot of the state before")?;
    session.commit().during("commit")?;
    looks(bench, records, &mut session, 100..200)
}
