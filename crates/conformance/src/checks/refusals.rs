//! The answers of an engine to which the system refuses writes and reads.

use kvdyno_engine::{Answer, Cursor, CursorLimits, Durability, EngineError, EngineSettings, Session, abi};
use rustix::process::Resource;

use crate::bench::{Bench, session};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{During, Finding, ensure, wrong};
use crate::process::{TaskKind, start};
use crate::records::Records;
use crate::refused::{
    Limited, RefusedTask, Told, WriteRefusal, hardly_any, has_reason, kilobytes, refused, survive_the_limit,
};
use crate::small_filesystem::SmallFilesystem;

pub(crate) const CHECKS: &[Check] = &[
    Check {
        name: "write-refused",
        what: "Where files cannot grow, a write that fails is told as an error with a text, and what was acknowledged \
               is there, at once and after a reopening.",
        rule: "A write that failed is an error and never OK: what was answered with OK is there, and is read.",
        needs: Needs::STORE,
        run: CheckBody::Whole(write_refused),
    },
    Check {
        name: "close-refused",
        what: "At durability none, a close that cannot write is an error, or what was acknowledged is there all the \
               same.",
        rule: "A close that cannot write that is an error.",
        needs: Needs::STORE,
        run: CheckBody::Whole(close_refused),
    },
    Check {
        name: "filesystem-full",
        what: "On a full filesystem, a write that fails is told as an error with a text, and what was acknowledged is \
               there, at once and once there is room again.",
        rule: "A write that failed is an error and never OK: what was answered with OK is there, and is read.",
        needs: Needs::STORE,
        run: CheckBody::Whole(filesystem_full),
    },
    Check {
        name: "read-refused",
        what: "A read that can open no file any more is a hit or an error with a text, never a miss.",
        rule: "A miss is never an error, and an error is never a miss.",
        needs: Needs::STORE,
        run: CheckBody::Whole(read_refused),
    },
];

fn write_refused(bench: &Bench) -> Result<(), Finding> {
    let levels = [Durability::Process, Durability::Periodic, Durability::Commit];
    let Some(durability) = levels.into_iter().find(|level| bench.meets(*level)) else {
        let reason = "it declares no durability at which a write must reach a file";
        return Err(Finding::NotApplicable(reason.to_owned()));
    };
    let mut refusals = 0;
    for (name, refusal) in [("refused-at-once", WriteRefusal::NoGrowth), ("refused-later", WriteRefusal::SomeGrowth)] {
        let location = bench.location_with(&bench.choice, EngineSettings { durability, ..bench.lab() })?;
        let told = bench.folder.join(format!("{name}.json"));
        let task = RefusedTask { database: location.folder, lab: location.lab, refusal, told };
        refusals += in_processes(&task, bench, name)?.refused;
    }
    if refusals == 0 {
        bench.remark("no write failed, though files could not grow");
    }
    Ok(())
}

fn close_refused(bench: &Bench) -> Result<(), Finding> {
    if !bench.meets(Durability::None) {
        return Err(Finding::NotApplicable("it does not declare durability none".to_owned()));
    }
    survive_the_limit();
    let location =
        bench.location_with(&bench.choice, EngineSettings { durability: Durability::None, ..bench.lab() })?;
    let database = location.create().during("creating a database")?;
    let (told, closed) = refused(bench, database, || Limited::to(Resource::Fsize, hardly_any(bench)?))?;
    match closed {
        // Nothing was promised before the close, and the close failed.
        Err(_) => Ok(()),
        Ok(()) => told.verify_in(bench, &location).during("though close was OK"),
    }
}

fn filesystem_full(bench: &Bench) -> Result<(), Finding> {
    bench.step("another process fills a small filesystem");
    start(bench, "filling", TaskKind::Fill)?.passes(bench.effort.patience * 3 / 4)
}

/// The side of the process that has a small filesystem to itself, with those that it starts.
pub(crate) fn fill(bench: &Bench) -> Result<(), Finding> {
    let small = SmallFilesystem::of(&bench.folder)?;
    let (database, told) = (small.database.clone(), bench.folder.join("told.json"));
    let task = RefusedTask { database, lab: bench.lab(), refusal: WriteRefusal::Full(small), told };
    let outcome = in_processes(&task, bench, "refused");
    // This filesystem is visible here only, so what the engine keeps outside of it can be released here only.
    let given_back = match bench.adapter().table().destroy {
        Some(_) => bench.choice.destroy(&task.database).during("destroy"),
        None => Ok(()),
    };
    outcome.and(given_back)
}

/// More records than an engine's open files would hold by chance.
const READ: u64 = 5_000;

fn read_refused(bench: &Bench) -> Result<(), Finding> {
    let records = kilobytes(bench);
    let location = bench.location()?;
    location.created(|database| {
        records.put_all(&mut session(database)?, 0..READ, 1)?;
        database.flush().during("flush").map(|_| ())
    })?;
    let database = location.open().during("opening the database again")?;
    let mut session = session(&database)?;
    bench.step("reading while no file can be opened");
    let limited = Limited::to(Resource::Nofile, 3)?;
    let read = read_all(bench, &records, &mut session);
    drop(limited);
    drop(session);
    // Threads of the engine's own may have met the limit too, so the answer of its close is not checked.
    drop(database);
    read
}

fn read_all(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    for id in 0..READ {
        match session.get(&records.key(id)) {
            Ok(Answer::Hit(value)) => records.expect_value(id, 1, value)?,
            Ok(Answer::Miss) => return Err(wrong(format!("record {id} is a miss while no file can be opened"))),
            Err(error) => has_reason(&error, "a read")?,
        }
    }
    by_other_calls(bench, records, session)?;
    if bench.can(abi::CAN_SCAN) {
        all_scanned(session.cursor(), READ)?;
    }
    if bench.can(abi::CAN_BOUND) {
        let (from, to) = (records.key(0), records.key(READ / 2));
        let limits = CursorLimits { from: Some(&from), to: Some(&to), ..CursorLimits::default() };
        all_scanned(session.cursor_with(limits), READ / 2)?;
    }
    Ok(())
}

/// The same by the other calls that read.
fn by_other_calls(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    for id in (0..READ).filter(|_| bench.can(abi::CAN_CONTAIN)) {
        match session.contains(&records.key(id)) {
            Ok(true) => {}
            Ok(false) => return Err(wrong(format!("record {id} is not contained while no file can be opened"))),
            Err(error) => has_reason(&error, "contains")?,
        }
    }
    for first in (0..READ).step_by(100).filter(|_| bench.can(abi::CAN_MULTI_GET)) {
        let keys: Vec<_> = (first..first + 100).map(|id| records.key(id)).collect();
        match session.multi_get(&keys.iter().map(Vec::as_slice).collect::<Vec<_>>()) {
            Ok(answers) => {
                let missed = answers.iter().filter(|answer| **answer == Answer::Miss).count();
                ensure!(missed == 0, "a multi-get misses {missed} records while no file can be opened");
            }
            Err(error) => has_reason(&error, "a multi-get")?,
        }
    }
    Ok(())
}

fn all_scanned(cursor: Result<Cursor<'_, '_>, EngineError>, expected: u64) -> Result<(), Finding> {
    match cursor.and_then(scanned) {
        Ok(count) => {
            ensure!(count == expected, "a scan while no file can be opened ends after {count} of {expected} records");
            Ok(())
        }
        Err(error) => has_reason(&error, "a scan"),
    }
}

fn scanned(mut cursor: Cursor<'_, '_>) -> Result<u64, EngineError> {
    let mut count = 0;
    let mut answer = cursor.seek(None, abi::FORWARD)?;
    while let Answer::Hit(_) = answer {
        count += 1;
        answer = cursor.next()?;
    }
    Ok(count)
}

/// Writes where it is refused, and opens the database again if the close failed, each in a process of its own. Returns
/// what was told.
fn in_processes(task: &RefusedTask, bench: &Bench, name: &str) -> Result<Told, Finding> {
    let patience = bench.effort.patience / 3;
    bench.step("another process writes where nothing more can be written");
    start(bench, name, TaskKind::Refused(task.clone()))?.passes(patience)?;
    let told = Told::left(&task.told)?;
    // Nothing is promised at durability none if the close failed.
    if !told.closed && task.lab.durability != Durability::None {
        bench.step("another process opens the database to which some writes were refused");
        start(bench, &format!("{name}-again"), TaskKind::Reopen(task.clone()))?.passes(patience)?;
    }
    Ok(told)
}
