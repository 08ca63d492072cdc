//! The answers of an engine whose writes and reads the system refuses.

use std::collections::BTreeMap;
use std::fs;

use kvdyno_engine::{Answer, Database, Durability, EngineError, LabSettings, Session, abi};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::bench::{Bench, DatabaseLocation, has_text, session};
use crate::check::{Check, Needs};
use crate::finding::{During, Finding, ensure, wrong};
use crate::process::{TaskKind, start};
use crate::records::Records;
use crate::small_filesystem::SmallFilesystem;

pub(crate) const CHECKS: &[Check] = &[
    Check {
        name: "write-refused",
        what: "Where files cannot grow, a write that fails is told as an error with a text, and what was acknowledged \
               is there, at once and after a reopening.",
        rule: "A write that failed is an error and never OK: what was answered with OK is there, and is read.",
        needs: Needs::STORE,
        run: write_refused,
    },
    Check {
        name: "close-refused",
        what: "At durability none, a close that cannot write is an error, or what was acknowledged is there all the \
               same.",
        rule: "A close that cannot write that is an error.",
        needs: Needs::STORE,
        run: close_refused,
    },
    Check {
        name: "filesystem-full",
        what: "On a full filesystem, a write that fails is told as an error with a text, and what was acknowledged is \
               there, at once and once there is room again.",
        rule: "A write that failed is an error and never OK: what was answered with OK is there, and is read.",
        needs: Needs::STORE,
        run: filesystem_full,
    },
    Check {
        name: "read-refused",
        what: "A read that can open no file any more is a hit or an error with a text, never a miss.",
        rule: "A miss is never an error, and an error is never a miss.",
        needs: Needs::STORE,
        run: read_refused,
    },
];

/// A limit of this process that is lifted again when this is dropped.
struct Limited {
    resource: Resource,
    before: Rlimit,
}

impl Limited {
    fn to(resource: Resource, most: u64) -> Result<Limited, Finding> {
        let before = getrlimit(resource);
        let limit = Rlimit { current: Some(most), maximum: before.maximum };
        setrlimit(resource, limit).map_err(|error| wrong(format!("the check itself failed: a limit: {error}")))?;
        Ok(Limited { resource, before })
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        // It was the limit before, so it is allowed.
        let _ = setrlimit(self.resource, self.before);
    }
}

/// Without this the kernel would end the process whose file cannot grow, rather than answer EFBIG.
fn survive_the_limit() {
    // SAFETY: nothing is called when the signal comes.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Writes at most, and refusals after which nothing new is learnt.
const WRITES: u64 = 8_000;
const REFUSALS: u64 = 20;
/// Records that are there before, and those that are written.
const BEFORE: u64 = 200;
const RECORDS: u64 = 4_000;

/// The answers to writes.
#[derive(Default)]
struct Told {
    /// The newest acknowledged version of each record.
    acknowledged: BTreeMap<u64, u64>,
    refused: u64,
}

/// A finding about an error that came without a text.
fn has_reason(error: &EngineError, what: &str) -> Result<(), Finding> {
    ensure!(has_text(error), "session_error has no text after {what} that failed");
    Ok(())
}

impl Told {
    /// Records that are there before.
    fn before(records: &Records, session: &mut Session<'_>) -> Result<Told, Finding> {
        records.put_all(session, 0..BEFORE, 1)?;
        Ok(Told { acknowledged: (0..BEFORE).map(|id| (id, 1)).collect(), refused: 0 })
    }

    /// Writes new records and old ones, alone and in batches, until enough was refused.
    fn write(&mut self, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
        for number in 0..WRITES {
            let (version, id) = (number + 2, number * 7 % RECORDS);
            let ids = if number % 5 == 0 { vec![id, (id + 1) % RECORDS] } else { vec![id] };
            let steps: Vec<_> = ids.iter().map(|&id| (records.key(id), records.value(id, version))).collect();
            let answer = match &steps[..] {
                [(key, value)] => session.put(key, value),
                steps => {
                    let steps: Vec<_> = steps.iter().map(|(key, value)| (&key[..], Some(&value[..]))).collect();
                    session.write(&steps)
                }
            };
            match answer {
                Ok(()) => self.acknowledged.extend(ids.into_iter().map(|id| (id, version))),
                Err(error) => {
                    has_reason(&error, "a write")?;
                    self.refused += 1;
                }
            }
            if self.refused == REFUSALS {
                break;
            }
        }
        Ok(())
    }

    /// Reads in the same session: what was acknowledged is there, or an error says why it cannot be read.
    fn read(&self, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
        for (&id, &version) in &self.acknowledged {
            match session.get(&records.key(id)) {
                Ok(answer) => newest(records, id, version, answer)?,
                Err(error) => has_reason(&error, "a read")?,
            }
        }
        Ok(())
    }

    /// That the acknowledged writes are there.
    fn verify(&self, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
        for (&id, &version) in &self.acknowledged {
            newest(records, id, version, session.get(&records.key(id)).during("get")?)?;
        }
        Ok(())
    }
}

/// The answer is the record, as new as its newest acknowledged write at least: one that was refused may be there too.
fn newest(records: &Records, id: u64, version: u64, answer: Answer<&[u8]>) -> Result<(), Finding> {
    let Answer::Hit(value) = answer else {
        return Err(wrong(format!("write {version} of record {id} was acknowledged, but the record is missing")));
    };
    let there = records.version_of(id, value)?;
    ensure!(there >= version, "write {version} of record {id} was acknowledged, but that of write {there} is there");
    Ok(())
}

/// Kilobytes, so that files grow with few writes.
fn kilobytes(bench: &Bench) -> Records {
    Records::fitting(bench.adapter().table(), 1_000)
}

/// Everything up to the close, with a way to refuse in between. Gives what was told, and what the close answered.
fn refused<R>(
    bench: &Bench,
    database: Database,
    refuse: impl FnOnce() -> Result<R, Finding>,
) -> Result<(Told, Result<(), EngineError>), Finding> {
    let records = kilobytes(bench);
    let mut session = session(&database)?;
    let mut told = Told::before(&records, &mut session)?;
    bench.step("writing where nothing more can be written");
    let refusing = refuse()?;
    let outcome = told.write(&records, &mut session).and_then(|()| told.read(&records, &mut session));
    drop(session);
    let closed = match outcome {
        Ok(()) => database.close(),
        Err(finding) => {
            drop(database);
            drop(refusing);
            return Err(finding);
        }
    };
    drop(refusing);
    bench.step("opening the database to which some writes were refused");
    if let Err(error) = &closed {
        has_reason(error, "close")?;
    }
    Ok((told, closed))
}

/// The size of the largest file of a database.
fn largest_file(location: &DatabaseLocation<'_>) -> Result<u64, Finding> {
    let mut largest = 0;
    let mut folders = vec![location.folder.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let (entry, facts) = entry.and_then(|entry| entry.metadata().map(|facts| (entry, facts)))?;
            match facts.is_dir() {
                true => folders.push(entry.path()),
                false => largest = largest.max(facts.len()),
            }
        }
    }
    Ok(largest)
}

/// Bytes to which any file may grow: hardly any, but for the log, which must take what the engine says.
fn hardly_any(bench: &Bench) -> Result<u64, Finding> {
    Ok(fs::metadata(&bench.log)?.len() + (32 << 10))
}

fn write_refused(bench: &Bench) -> Result<(), Finding> {
    let levels = [Durability::Process, Durability::Periodic, Durability::Commit];
    let Some(durability) = levels.into_iter().find(|level| bench.meets(*level)) else {
        let reason = "it declares no durability at which a write must reach a file";
        return Err(Finding::NotApplicable(reason.to_owned()));
    };
    survive_the_limit();
    let mut refusals = 0;
    for some_records in [false, true] {
        let location = bench.location_with(&bench.choice, LabSettings { durability, ..bench.lab() })?;
        let database = location.create().during("creating a database")?;
        // What the files were before a close made them larger or smaller.
        let most = if some_records { largest_file(&location)? + (100 << 10) } else { hardly_any(bench)? };
        let (told, _) = refused(bench, database, || Limited::to(Resource::Fsize, most))?;
        location
            .opened(|database| told.verify(&kilobytes(bench), &mut session(database)?))
            .during("once files can grow again")?;
        refusals += told.refused;
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
    let location = bench.location_with(&bench.choice, LabSettings { durability: Durability::None, ..bench.lab() })?;
    let database = location.create().during("creating a database")?;
    let (told, closed) = refused(bench, database, || Limited::to(Resource::Fsize, hardly_any(bench)?))?;
    match closed {
        // Nothing was promised before the close, and it said that it failed.
        Err(_) => Ok(()),
        Ok(()) => location
            .opened(|database| told.verify(&kilobytes(bench), &mut session(database)?))
            .during("though close was OK"),
    }
}

fn filesystem_full(bench: &Bench) -> Result<(), Finding> {
    bench.step("another process fills a small filesystem");
    start(bench, "filling", TaskKind::Fill)?.passes(bench.patience * 2 / 3)
}

/// The side of the process that has a small filesystem to itself.
pub(crate) fn fill(bench: &Bench) -> Result<(), Finding> {
    let small = SmallFilesystem::of(&bench.folder)?;
    let location = DatabaseLocation { folder: small.database.clone(), ..bench.location()? };
    let database = match location.create() {
        Err(error) if error.status == abi::NO_SPACE => {
            return Err(Finding::NotApplicable("256 MiB are too small for an empty database".to_owned()));
        }
        created => created.during("creating a database in a small filesystem")?,
    };
    // Nothing is promised at durability none, but that reads see what was acknowledged.
    let promised = location.lab.durability != Durability::None;
    let (told, closed) = refused(bench, database, || small.fill())?;
    small.relieve()?;
    match promised || closed.is_ok() {
        true => location
            .opened(|database| told.verify(&kilobytes(bench), &mut session(database)?))
            .during("once there is room again"),
        false => Ok(()),
    }
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
    // Threads of the engine's own may have met the limit too: its close is not asked what it says of that.
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
    if !bench.can(abi::CAN_SCAN) {
        return Ok(());
    }
    match scanned(session) {
        Ok(count) => {
            ensure!(count == READ, "a scan while no file can be opened ends after {count} of {READ} records");
            Ok(())
        }
        Err(error) => has_reason(&error, "a scan"),
    }
}

fn scanned(session: &mut Session<'_>) -> Result<u64, EngineError> {
    let mut cursor = session.cursor()?;
    let mut count = 0;
    let mut answer = cursor.seek(None, abi::FORWARD)?;
    while let Answer::Hit(_) = answer {
        count += 1;
        answer = cursor.next()?;
    }
    Ok(count)
}
