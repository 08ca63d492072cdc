//! Writes that the system refuses, in a process of their own: what was acknowledged is there afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use kvdyno_engine::{Answer, Database, EngineError, EngineSettings, Session, abi};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use crate::bench::{Bench, DatabaseLocation, has_text, session};
use crate::finding::{During, Finding, ensure, wrong};
use crate::records::Records;
use crate::small_filesystem::SmallFilesystem;

/// A limit of this process that is lifted again when this is dropped.
pub(crate) struct Limited {
    resource: Resource,
    before: Rlimit,
}

impl Limited {
    pub fn to(resource: Resource, most: u64) -> Result<Limited, Finding> {
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

/// Without this the kernel would end the process at the file's limit, rather than return EFBIG.
pub(crate) fn survive_the_limit() {
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
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Told {
    /// The newest acknowledged version of each record.
    acknowledged: BTreeMap<u64, u64>,
    /// Records whose deletion was acknowledged, without a later attempt to write them.
    gone: BTreeSet<u64>,
    pub refused: u64,
    /// Whether the close was OK.
    pub closed: bool,
}

/// A finding about an error that came without a text.
pub(crate) fn has_reason(error: &EngineError, what: &str) -> Result<(), Finding> {
    ensure!(has_text(error), "session_error has no text after {what} that failed");
    Ok(())
}

impl Told {
    /// Records that are there before.
    fn before(records: &Records, session: &mut Session<'_>) -> Result<Told, Finding> {
        records.put_all(session, 0..BEFORE, 1)?;
        let acknowledged = (0..BEFORE).map(|id| (id, 1)).collect();
        Ok(Told { acknowledged, gone: BTreeSet::new(), refused: 0, closed: false })
    }

    /// Writes new records and old ones, alone and in batches, and changes them by whichever other call there is, until
    /// enough was refused.
    fn write(&mut self, bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
        for number in 0..WRITES {
            let (version, id) = (number + 2, number * 7 % RECORDS);
            let changed = match number % 23 {
                3 if bench.can(abi::CAN_DELETE) => Some(self.delete(records, session, id..id + 1)),
                9 if bench.can(abi::CAN_DELETE_RANGE) => Some(self.delete(records, session, id..id + 3)),
                14 if bench.can(abi::CAN_INSERT_IF_ABSENT) => Some(self.insert(records, session, id, version)),
                _ => None,
            };
            if let Some(changed) = changed {
                changed?;
                if self.refused == REFUSALS {
                    break;
                }
                continue;
            }
            let ids = if number % 5 == 0 { vec![id, (id + 1) % RECORDS] } else { vec![id] };
            let answer = match ids[..] {
                [id] => session.put(&records.key(id), &records.value(id, version)),
                _ => records.write_all(session, ids.iter().copied(), version),
            };
            // One that was refused may have been done.
            self.gone.retain(|id| !ids.contains(id));
            match answer {
                Ok(()) => self.acknowledged.extend(ids.into_iter().map(|id| (id, version))),
                Err(error) => self.refuse(&error)?,
            }
            if self.refused == REFUSALS {
                break;
            }
        }
        Ok(())
    }

    fn refuse(&mut self, error: &EngineError) -> Result<(), Finding> {
        self.refused += 1;
        has_reason(error, "a write")
    }

    /// Deletes one record by its key, more as a range. After a refusal it is unknown whether they are there.
    fn delete(&mut self, records: &Records, session: &mut Session<'_>, ids: Range<u64>) -> Result<(), Finding> {
        let answer = match ids.end - ids.start {
            1 => session.delete(&records.key(ids.start)).map(drop),
            _ => session.delete_range(&records.key(ids.start), &records.key(ids.end)),
        };
        for id in ids {
            self.acknowledged.remove(&id);
            match &answer {
                Ok(()) => drop(self.gone.insert(id)),
                Err(_) => drop(self.gone.remove(&id)),
            }
        }
        answer.or_else(|error| self.refuse(&error))
    }

    /// Inserts a record if it is absent.
    fn insert(&mut self, records: &Records, session: &mut Session<'_>, id: u64, version: u64) -> Result<(), Finding> {
        let (there, gone) = (self.acknowledged.contains_key(&id), self.gone.remove(&id));
        match session.insert_if_absent(&records.key(id), &records.value(id, version)) {
            Ok(true) if there => {
                return Err(wrong(format!("record {id} was acknowledged, but is inserted as if it were absent")));
            }
            Ok(true) => drop(self.acknowledged.insert(id, version)),
            Ok(false) if gone => return Err(wrong(format!("record {id} was deleted, and was not inserted"))),
            Ok(false) => {}
            Err(error) => self.refuse(&error)?,
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
        for &id in &self.gone {
            match session.get(&records.key(id)) {
                Ok(answer) => is_gone(id, &answer)?,
                Err(error) => has_reason(&error, "a read")?,
            }
        }
        Ok(())
    }

    /// Reads what a process left.
    pub fn left(file: &Path) -> Result<Told, Finding> {
        serde_json::from_slice(&fs::read(file)?).map_err(|error| wrong(format!("the check itself failed: {error}")))
    }

    /// Opens the database: the acknowledged writes are there.
    pub fn verify_in(&self, bench: &Bench, location: &DatabaseLocation<'_>) -> Result<(), Finding> {
        bench.step("opening the database to which some writes were refused");
        location
            .opened(|database| self.verify(&kilobytes(bench), &mut session(database)?))
            .during("once there is room again")
    }

    /// Checks that the acknowledged writes are there.
    fn verify(&self, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
        for (&id, &version) in &self.acknowledged {
            newest(records, id, version, session.get(&records.key(id)).during("get")?)?;
        }
        for &id in &self.gone {
            is_gone(id, &session.get(&records.key(id)).during("get")?)?;
        }
        Ok(())
    }
}

fn is_gone(id: u64, answer: &Answer<&[u8]>) -> Result<(), Finding> {
    ensure!(*answer == Answer::Miss, "the deletion of record {id} was acknowledged, but it is there");
    Ok(())
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
pub(crate) fn kilobytes(bench: &Bench) -> Records {
    Records::fitting(bench.adapter().table(), 1_000)
}

/// A database to which the system refuses some writes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RefusedTask {
    pub database: PathBuf,
    pub lab: EngineSettings,
    pub refusal: WriteRefusal,
    /// The file in which the process leaves what was told.
    pub told: PathBuf,
}

/// The reason for which writes are refused.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum WriteRefusal {
    /// No file may grow beyond what an empty database has.
    NoGrowth,
    /// No file may grow beyond what a database with some records has.
    SomeGrowth,
    /// The filesystem is full.
    Full(SmallFilesystem),
}

impl RefusedTask {
    fn location<'b>(&self, bench: &'b Bench) -> Result<DatabaseLocation<'b>, Finding> {
        Ok(DatabaseLocation { folder: self.database.clone(), lab: self.lab.clone(), ..bench.location()? })
    }

    /// Writes and closes in this process. If the close was OK the database is opened here again, else not: the engine
    /// may say that the process has to end first.
    pub fn run(&self, bench: &Bench) -> Result<(), Finding> {
        survive_the_limit();
        let location = self.location(bench)?;
        let database = match (location.create(), &self.refusal) {
            (Err(error), WriteRefusal::Full(_)) if error.status == abi::NO_SPACE => {
                return Err(Finding::NotApplicable("256 MiB are too small for an empty database".to_owned()));
            }
            (created, _) => created.during("creating a database")?,
        };
        let (told, closed) = match &self.refusal {
            WriteRefusal::NoGrowth => refused(bench, database, || Limited::to(Resource::Fsize, hardly_any(bench)?))?,
            WriteRefusal::SomeGrowth => {
                // The size of the largest file, taken before a close makes it larger or smaller.
                let most = largest_file(&location)? + (100 << 10);
                refused(bench, database, || Limited::to(Resource::Fsize, most))?
            }
            WriteRefusal::Full(small) => {
                let outcome = refused(bench, database, || small.fill())?;
                small.relieve()?;
                outcome
            }
        };
        let told = Told { closed: closed.is_ok(), ..told };
        let text = serde_json::to_vec(&told).map_err(|error| wrong(format!("the check itself failed: {error}")))?;
        fs::write(&self.told, text)?;
        if told.closed { told.verify_in(bench, &location) } else { Ok(()) }
    }

    /// Opens the database in this process, after the one that wrote has ended.
    pub fn reopen(&self, bench: &Bench) -> Result<(), Finding> {
        Told::left(&self.told)?.verify_in(bench, &self.location(bench)?)
    }
}

/// Writes, reads and closes while the system refuses writes, which `refuse` brings about. Returns the answers to the
/// writes, and that of the close.
pub(crate) fn refused<R>(
    bench: &Bench,
    database: Database,
    refuse: impl FnOnce() -> Result<R, Finding>,
) -> Result<(Told, Result<(), EngineError>), Finding> {
    let records = kilobytes(bench);
    let mut session = session(&database)?;
    let mut told = Told::before(&records, &mut session)?;
    bench.step("writing where nothing more can be written");
    let refusing = refuse()?;
    let outcome = told.write(bench, &records, &mut session).and_then(|()| told.read(&records, &mut session));
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

/// Bytes to which any file may grow: 32 KiB beyond the check's log, which must have space for the engine's messages.
pub(crate) fn hardly_any(bench: &Bench) -> Result<u64, Finding> {
    Ok(fs::metadata(&bench.log)?.len() + (32 << 10))
}
