//! Isolation of transactions for reading and writing.

use std::sync::Barrier;

use kvdyno_engine::{Answer, Database, EngineError, Session, abi};

use crate::bench::{Bench, session};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{During, Finding, ensure};
use crate::records::Records;
use crate::together::{beside, side_by_side};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "reads-repeat",
        what: "A transaction that reads a record again and again beside a writer of it always finds the same.",
        rule: "what one of them has read stays as it is until its end",
        needs: Needs::STORE.and(abi::CAN_TRANSACT | abi::READS_REPEAT),
        run: CheckBody::OnDatabase(reads_repeat),
    },
    Check {
        name: "serializable",
        what: "Of two transactions that read two records and change one each, one at the most finds both unchanged.",
        rule: "what they leave is as if they had come one after the other",
        needs: Needs::STORE.and(abi::CAN_TRANSACT | abi::IS_SERIALIZABLE),
        run: CheckBody::OnDatabase(serializable),
    },
];

/// A transaction, once. Absent if the engine undid it because of others.
fn once<T>(
    session: &mut Session<'_>,
    work: impl FnOnce(&mut Session<'_>) -> Result<T, EngineError>,
) -> Result<Option<T>, EngineError> {
    let done = session.begin(abi::READ_WRITE).and_then(|()| work(session));
    let done = match done {
        Ok(done) => session.commit().map(|()| done),
        Err(error) => {
            // There is nothing to abort after a conflict has ended the transaction, nor if it never began.
            let aborted = session.abort();
            if error.status == abi::CONFLICT { Err(error) } else { aborted.and(Err(error)) }
        }
    };
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if error.status == abi::CONFLICT => Ok(None),
        Err(error) => Err(error),
    }
}

fn number(session: &mut Session<'_>, key: &[u8]) -> Result<u64, EngineError> {
    Ok(match session.get(key)? {
        Answer::Hit(value) => value.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)),
        Answer::Miss => 0,
    })
}

fn reads_repeat(_bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    const ROUNDS: usize = 300;
    const READS: usize = 20;
    let (key, other) = (records.key(1), records.key(2));
    let write = |round: u64, session: &mut Session<'_>| {
        once(session, |session| session.put(&key, &round.to_le_bytes())).during("a transaction of another session")?;
        Ok(())
    };
    let mut session = session(database)?;
    session.put(&key, &0u64.to_le_bytes()).during("put")?;
    beside(database, write, || {
        for round in 0..ROUNDS as u64 {
            let seen = once(&mut session, |session| {
                let seen = (0..READS).map(|_| number(session, &key)).collect::<Result<Vec<_>, _>>()?;
                session.put(&other, &round.to_le_bytes())?;
                Ok(seen)
            });
            let seen = seen.during("a transaction")?.unwrap_or_default();
            let changed = seen.windows(2).find(|pair| pair[0] != pair[1]);
            ensure!(changed.is_none(), "a record was {} and then {} in one transaction", seen[0], seen[READS - 1]);
        }
        Ok(())
    })
}

/// Two records are 0. A session that finds both of them 0 sets one of them to 1. If transactions ran one after the
/// other, only one session would do so.
fn serializable(_bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    const ROUNDS: u64 = 300;
    let (keys, start) = ([records.key(1), records.key(2)], Barrier::new(2));
    side_by_side(database, 2, |index, session| {
        for round in 0..ROUNDS {
            if index == 0 {
                let reset = keys.iter().try_for_each(|key| session.put(key, &0u64.to_le_bytes()));
                reset.during("put")?;
            }
            start.wait();
            let set = once(session, |session| {
                if number(session, &keys[0])? + number(session, &keys[1])? == 0 {
                    session.put(&keys[index as usize], &1u64.to_le_bytes())?;
                }
                Ok(())
            });
            start.wait();
            set.during("a transaction")?;
            let both = number(session, &keys[0]).during("get")? + number(session, &keys[1]).during("get")?;
            ensure!(both <= 1, "in round {round} both found two records unchanged, and each changed one");
            start.wait();
        }
        Ok(())
    })
}
