//! Sessions that set their own durability.

use kvdyno_engine::{AbiCode, Durability, abi};

use super::durability::{at, kill_in};
use crate::bench::{Bench, DatabaseLocation, session};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{During, Finding, ensure};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "session-durability",
        what: "A session is given each level that settings accept, whatever that of its database is.",
        rule: "what cannot be had beside `durability` is refused by `settings`",
        needs: Needs::STORE.and(abi::CAN_SET_DURABILITY),
        run: CheckBody::Whole(every_level),
    },
    Check {
        name: "session-durability-kill",
        what: "What a session wrote at a higher level than its database's is there after the process was killed.",
        rule: "What the session writes from now on is acknowledged at this level, whatever that of the database",
        needs: Needs::STORE.and(abi::CAN_SET_DURABILITY),
        run: CheckBody::Whole(stronger),
    },
    Check {
        name: "session-durability-close",
        what: "What sessions wrote at a lower level than their database's is there after a close and an open.",
        rule: "whatever the durability level, what was acknowledged is on the storage when it returns OK",
        needs: Needs::STORE.and(abi::CAN_SET_DURABILITY),
        run: CheckBody::Whole(weaker),
    },
];

/// A database's level, and one of a session.
type Pair = (Durability, Durability);

/// All pairs of levels that are declared and not the same.
fn pairs(bench: &Bench) -> impl Iterator<Item = Pair> {
    let levels = Durability::ALL.iter().copied().filter(|level| bench.meets(*level));
    levels.clone().flat_map(move |of_database| {
        levels.clone().filter(move |level| *level != of_database).map(move |level| (of_database, level))
    })
}

/// A new folder for a database of the pair; absent if its settings are refused.
fn location(bench: &Bench, (of_database, level): Pair) -> Result<Option<DatabaseLocation<'_>>, Finding> {
    let mut location = bench.location_with(&bench.choice, at(bench, of_database)?)?;
    location.hints.session_durabilities = 1 << level.code();
    Ok(bench.choice.settings(&location.lab, &location.hints).is_ok().then_some(location))
}

fn every_level(bench: &Bench) -> Result<(), Finding> {
    let (records, mut accepted) = (bench.records(), 0);
    for pair in pairs(bench) {
        let Some(location) = location(bench, pair)? else { continue };
        accepted += 1;
        let told = format!("a session at {} in a database at {}", pair.1, pair.0);
        bench.step(&told);
        location.created(|database| {
            let mut session = session(database)?;
            records.put(&mut session, 1, 1)?;
            session.set_durability(pair.1).during(&told)?;
            records.put(&mut session, 1, 2)?;
            records.put(&mut session, 2, 2)?;
            records.expect(&mut session, 1, 2)?;
            records.expect(&mut session, 2, 2)
        })?;
        location.opened(|database| {
            let mut session = session(database)?;
            (1..=2).try_for_each(|id| records.expect(&mut session, id, 2))
        })?;
    }
    ensure!(accepted > 0, "it declares that sessions have durabilities of their own, and its settings accept none");
    Ok(())
}

fn stronger(bench: &Bench) -> Result<(), Finding> {
    let is_told = |(of_database, level): &Pair| {
        matches!(level, Durability::Process | Durability::Commit) && level.code() > of_database.code()
    };
    for pair in pairs(bench).filter(is_told) {
        if let Some(location) = location(bench, pair)? {
            return kill_in(bench, &location, Some(pair.1), 1);
        }
    }
    Err(Finding::NotApplicable("no session can have a higher level than its database".to_owned()))
}

fn weaker(bench: &Bench) -> Result<(), Finding> {
    const COUNT: u64 = 1_000;
    let (records, mut tried) = (bench.records(), false);
    for pair in pairs(bench).filter(|(of_database, level)| level.code() < of_database.code()) {
        let Some(location) = location(bench, pair)? else { continue };
        tried = true;
        bench.step(&format!("a session at {} in a database at {}", pair.1, pair.0));
        location.created(|database| {
            let mut session = session(database)?;
            records.put_all(&mut session, 0..COUNT, 1)?;
            session.set_durability(pair.1).during("set_durability")?;
            records.put_all(&mut session, (0..COUNT).step_by(3), 2)
        })?;
        location.opened(|database| {
            let mut session = session(database)?;
            (0..COUNT).try_for_each(|id| records.expect(&mut session, id, if id % 3 == 0 { 2 } else { 1 }))
        })?;
    }
    match tried {
        true => Ok(()),
        false => Err(Finding::NotApplicable("no session can have a lower level than its database".to_owned())),
    }
}
