//! Transactions, and snapshots.

use std::time::Duration;

use kvdyno_engine::{Answer, Database, EngineError, Session, abi};

use crate::bench::{Bench, session};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{During, Finding, ensure, wrong};
use crate::records::{Records, expect};
use crate::scanning::shows;
use crate::together::{beside, elsewhere, side_by_side};

const TRANSACTIONS: Needs = Needs::STORE.and(abi::CAN_TRANSACT);
const SNAPSHOTS: Needs = Needs::STORE.and(abi::CAN_SNAPSHOT);

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "commit",
        what: "What a transaction wrote is there for everybody after its commit, and after a reopening.",
        rule: "nobody else sees it before `commit`, everybody sees all of it after",
        needs: TRANSACTIONS,
        run: CheckBody::Whole(commit),
    },
    Check {
        name: "abort",
        what: "An aborted transaction leaves nothing, be it of a put, a delete, a batch or a read-modify-write.",
        rule: "nothing of it is left by `abort`.",
        needs: TRANSACTIONS,
        run: CheckBody::OnDatabase(abort),
    },
    Check {
        name: "own-writes",
        what: "A transaction reads what it wrote itself, by key and by cursor.",
        rule: "A transaction reads what it wrote itself",
        needs: TRANSACTIONS,
        run: CheckBody::OnSession(own_writes),
    },
    Check {
        name: "uncommitted-unseen",
        what: "Nobody else sees what a transaction wrote before its commit.",
        rule: "nobody else sees it before `commit`, everybody sees all of it after",
        needs: TRANSACTIONS,
        run: CheckBody::OnDatabase(uncommitted_unseen),
    },
    Check {
        name: "transactions-count",
        what: "Four threads that count in transactions, trying again after a conflict, lose no count.",
        rule: "the transaction was rolled back by the engine and may be tried again from its begin",
        needs: TRANSACTIONS,
        run: CheckBody::OnDatabase(transactions_count),
    },
    Check {
        name: "transaction-whole",
        what: "A reader beside a writer of transactions never sees one half applied.",
        rule: "nobody else sees it before `commit`, everybody sees all of it after",
        needs: TRANSACTIONS,
        run: CheckBody::OnDatabase(transaction_whole),
    },
    Check {
        name: "left-open",
        what: "A session that is closed within a transaction leaves nothing of it, and keeps nobody waiting.",
        rule: "nothing of it is left by `abort`.",
        needs: TRANSACTIONS,
        run: CheckBody::OnDatabase(left_open),
    },
    Check {
        name: "snapshot",
        what: "Reads within a snapshot see the state at its begin, whatever others write; later ones see the newest.",
        rule: "In a snapshot all reads and scans see the state at its begin.",
        needs: SNAPSHOTS,
        run: CheckBody::OnDatabase(snapshot),
    },
    Check {
        name: "snapshot-scan",
        what: "Scans within a snapshot see the state at its begin while others put and delete.",
        rule: "In a snapshot all reads and scans see the state at its begin.",
        needs: SNAPSHOTS.and(abi::CAN_SCAN),
        run: CheckBody::OnDatabase(snapshot_scan),
    },
    Check {
        name: "snapshot-is-one-state",
        what: "A snapshot taken beside a writer of batches shows whole batches, all of one moment.",
        rule: "In a snapshot all reads and scans see the state at its begin.",
        needs: SNAPSHOTS.and(abi::CAN_BATCH),
        run: CheckBody::OnDatabase(snapshot_is_one_state),
    },
];

fn commit(bench: &Bench) -> Result<(), Finding> {
    let records = bench.records();
    let location = bench.location()?;
    location.created(|database| {
        let mut session = session(database)?;
        records.put_all(&mut session, 0..10, 1)?;
        for version in 2..5 {
            session.begin(abi::READ_WRITE).during("begin")?;
            records.put_all(&mut session, 5..20, version)?;
            session.commit().during("commit")?;
            records.expect_all(&mut session, 5..20, version)?;
            elsewhere(database, |other| records.expect_all(other, 5..20, version)).during("from another session")?;
        }
        session.begin(abi::READ_WRITE).during("begin")?;
        session.commit().during("commit of a transaction that did nothing")?;
        records.expect_all(&mut session, 0..5, 1)
    })?;
    location.opened(|database| {
        let mut session = session(database)?;
        records.expect_all(&mut session, 0..5, 1)?;
        records.expect_all(&mut session, 5..20, 4)
    })
}

fn abort(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let unchanged = |session: &mut Session<'_>| {
        records.expect_all(session, 0..10, 1)?;
        (10..20).try_for_each(|id| records.expect_missing(session, id))
    };
    let mut session = session(database)?;
    records.put_all(&mut session, 0..10, 1)?;
    for _ in 0..3 {
        session.begin(abi::READ_WRITE).during("begin")?;
        records.put_all(&mut session, 5..20, 2)?;
        if bench.can(abi::CAN_DELETE) {
            session.delete(&records.key(1)).during("delete")?;
        }
        let batch = records.value(2, 2);
        session.write(&[(&records.key(2), Some(&batch)), (&records.key(12), Some(&batch))]).during("write")?;
        if bench.can(abi::CAN_READ_MODIFY_WRITE) {
            session.read_modify_write(&records.key(3), |_| Some(records.value(3, 2))).during("read_modify_write")?;
        }
        session.abort().during("abort")?;
        unchanged(&mut session)?;
        elsewhere(database, unchanged).during("from another session")?;
    }
    records.put(&mut session, 15, 3)?;
    records.expect(&mut session, 15, 3)
}

fn own_writes(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    records.put_all(session, 0..10, 1)?;
    session.begin(abi::READ_WRITE).during("begin")?;
    records.put_all(session, [3, 12], 2)?;
    let batch = records.value(4, 2);
    session.write(&[(&records.key(4), Some(&batch))]).during("write")?;
    records.expect_all(session, [3, 4, 12], 2)?;
    if bench.can(abi::CAN_DELETE) {
        session.delete(&records.key(5)).during("delete")?;
        records.expect_missing(session, 5)?;
    }
    if bench.can(abi::CAN_SCAN) {
        let mut cursor = session.cursor().during("opening a cursor")?;
        match cursor.seek(Some(&records.key(12)), abi::FORWARD).during("seek")? {
            Answer::Hit((_, value)) => records.expect_value(12, 2, value).during("by cursor")?,
            Answer::Miss => return Err(wrong("a cursor does not see what its own transaction put")),
        }
    }
    session.commit().during("commit")?;
    records.expect_all(session, [3, 4, 12], 2)
}

/// Others may wait for the transaction's end, or read what was there before; they read nothing else.
fn uncommitted_unseen(_bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let look =
        |_: u64, session: &mut Session<'_>| records.expect(session, 1, 1).during("a reader beside a transaction");
    let mut session = session(database)?;
    records.put(&mut session, 1, 1)?;
    beside(database, look, || {
        for _ in 0..20 {
            session.begin(abi::READ_WRITE).during("begin")?;
            records.put(&mut session, 1, 2)?;
            std::thread::sleep(Duration::from_millis(5));
            session.abort().during("abort")?;
        }
        Ok(())
    })
}

/// Does `work` in a transaction, from its begin as often as the engine rolls it back.
fn transact(
    session: &mut Session<'_>,
    work: impl Fn(&mut Session<'_>) -> Result<(), EngineError>,
) -> Result<(), Finding> {
    loop {
        let tried = session.begin(abi::READ_WRITE).and_then(|()| work(session)).and_then(|()| session.commit());
        match tried {
            Err(error) if error.status == abi::CONFLICT => std::thread::yield_now(),
            other => return other.during("a transaction beside others"),
        }
    }
}

fn number(value: &[u8]) -> u64 {
    value.try_into().map(u64::from_le_bytes).unwrap_or(0)
}

fn transactions_count(_bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    const ROUNDS: u64 = 250;
    let key = records.key(1);
    let mut session = session(database)?;
    session.put(&key, &0u64.to_le_bytes()).during("put")?;
    side_by_side(database, 4, |_, session| {
        let count = |session: &mut Session<'_>| {
            let now = match session.get(&key)? {
                Answer::Hit(value) => number(value),
                Answer::Miss => 0,
            };
            session.put(&key, &(now + 1).to_le_bytes())
        };
        (0..ROUNDS).try_for_each(|_| transact(session, count))
    })?;
    expect(&mut session, &key, &(4 * ROUNDS).to_le_bytes())
}

/// All records at one more version.
fn put_group(records: &Records, session: &mut Session<'_>, version: u64) -> Result<(), EngineError> {
    (0..GROUP).try_for_each(|id| session.put(&records.key(id), &records.value(id, version)))
}

const GROUP: u64 = 10;

/// As `batch-seen-whole`, with transactions.
fn transaction_whole(_bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let write = |version: u64, session: &mut Session<'_>| transact(session, |s| put_group(records, s, version));
    let mut session = session(database)?;
    put_group(records, &mut session, 0).during("put")?;
    beside(database, write, || records.expect_whole(&mut session, GROUP, 1_000, "transaction"))
}

fn left_open(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    records.put_all(&mut session(database)?, 0..10, 1)?;
    for version in 2..5 {
        elsewhere(database, |other| {
            other.begin(abi::READ_WRITE).during("begin")?;
            records.put_all(other, 5..20, 100)
        })?;
        bench.step("another session writes after one was closed within a transaction");
        elsewhere(database, |other| {
            records.expect_all(other, 5..10, version - 1)?;
            records.put_all(other, 5..10, version)
        })?;
    }
    (10..20).try_for_each(|id| records.expect_missing(&mut session(database)?, id))
}

fn snapshot(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let mut session = session(database)?;
    records.put_all(&mut session, 0..100, 1)?;
    for version in 2..6 {
        session.begin(abi::READ_ONLY).during("begin of a snapshot")?;
        if version % 2 == 0 {
            records.expect(&mut session, 0, version - 1)?;
        }
        bench.step("another session writes beside a snapshot");
        elsewhere(database, |other| {
            records.put_all(other, 0..100, version)?;
            records.put(other, 1_000 + version, version)?;
            if bench.can(abi::CAN_DELETE) {
                other.delete(&records.key(200)).during("delete")?;
            }
            Ok(())
        })?;
        records.expect_all(&mut session, 0..100, version - 1).during("within the snapshot")?;
        records.expect_missing(&mut session, 1_000 + version).during("within the snapshot")?;
        if bench.can(abi::CAN_MULTI_GET) {
            let keys = [records.key(3), records.key(4)];
            let answers = session.multi_get(&[&keys[0], &keys[1]]).during("multi-get")?;
            for (id, answer) in (3..).zip(answers) {
                let Answer::Hit(value) = answer else { return Err(wrong(format!("record {id} is missing"))) };
                records.expect_value(id, version - 1, value).during("by multi-get within the snapshot")?;
            }
        }
        session.commit().during("the end of a snapshot")?;
        records.expect_all(&mut session, 0..100, version).during("after the snapshot")?;
        records.expect(&mut session, 1_000 + version, version).during("after the snapshot")?;
    }
    Ok(())
}

fn snapshot_scan(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let mut session = session(database)?;
    records.put_all(&mut session, (0..150).map(|id| 2 * id), 1)?;
    session.begin(abi::READ_ONLY).during("begin of a snapshot")?;
    records.expect(&mut session, 0, 1)?;
    for round in 2..5 {
        bench.step("another session writes beside a snapshot");
        elsewhere(database, |other| {
            records.put_all(other, 0..300, round)?;
            match bench.can(abi::CAN_DELETE) {
                true => {
                    (0..300).step_by(5).try_for_each(|id| other.delete(&records.key(id)).map(|_| ()).during("delete"))
                }
                false => Ok(()),
            }
        })?;
        let mut cursor = session.cursor().during("opening a cursor")?;
        let begin = (0..300).step_by(2).map(|id| (records.key(id), records.value(id, 1)));
        shows(&mut cursor, None, abi::FORWARD, begin, usize::MAX).during("in the snapshot")?;
    }
    session.commit().during("the end of a snapshot")
}

fn snapshot_is_one_state(_bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let write = |version: u64, session: &mut Session<'_>| {
        records.write_all(session, 0..GROUP, version).during("write beside snapshots")
    };
    let mut session = session(database)?;
    write(0, &mut session)?;
    beside(database, write, || {
        for _ in 0..500 {
            session.begin(abi::READ_ONLY).during("begin of a snapshot")?;
            let first = records.version(&mut session, 0)?;
            for id in 1..GROUP {
                let version = records.version(&mut session, id)?;
                ensure!(version == first, "one snapshot shows batch {first} and batch {version}");
            }
            session.commit().during("the end of a snapshot")?;
        }
        Ok(())
    })
}
