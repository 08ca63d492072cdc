//! A process that writes to a database and is killed, or that shares it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kvdyno_engine::{Database, Durability, EngineSettings, Hints, Session};
use serde::{Deserialize, Serialize};

use crate::bench::{Bench, session};
use crate::finding::{During, Finding, wrong};
use crate::records::Records;

/// The writer's work: one write after the other, numbered consecutively. Write `n` stores a group of records whose
/// number is `n` modulo `groups`, at version `n`. Groups are numbered from the record `first` on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WriterTask {
    pub database: PathBuf,
    pub create: bool,
    pub lab: EngineSettings,
    pub hints: Hints,
    /// The number of the first write.
    pub from: u64,
    pub groups: u64,
    pub first: u64,
    /// Records in a group: 1 for puts, more for batches.
    pub group: u64,
    /// Whether each second write deletes, as one range, the group that the one before it stored.
    pub deletes: bool,
    /// Durability of its session; absent if it is that of the database.
    pub level: Option<Durability>,
    /// A file that holds the number of the last acknowledged write; the kernel keeps it when the process dies.
    pub acknowledged: PathBuf,
    pub until: Until,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Until {
    /// Killed while writing.
    Killed,
    /// Does this number of writes, and closes the database.
    Closed(u64),
    /// Does and flushes this number of writes, which are acknowledged only then; then writes until killed.
    Flushed(u64),
}

impl WriterTask {
    /// The ids of the records that write `number` stores.
    pub fn ids(&self, number: u64) -> std::ops::Range<u64> {
        let turn = if self.deletes { number / 2 } else { number };
        let first = self.first + turn % self.groups * self.group;
        first..first + self.group
    }

    /// The number of the newest write up to `last` that stored the group `group`; `None` if there is none.
    pub fn newest(&self, group: u64, last: u64) -> Option<u64> {
        let back = (last % self.groups + self.groups - group) % self.groups;
        last.checked_sub(back).filter(|number| *number > 0)
    }

    /// Writes the writes of these numbers through an open session.
    pub fn write_all(
        &self,
        bench: &Bench,
        session: &mut Session<'_>,
        numbers: std::ops::RangeInclusive<u64>,
    ) -> Result<(), Finding> {
        let (records, acknowledged) = (bench.records(), self.acknowledgements()?);
        for number in numbers {
            self.write(&records, session, number)?;
            acknowledged.write_all_at(&number.to_le_bytes(), 0)?;
        }
        Ok(())
    }

    fn acknowledgements(&self) -> Result<File, Finding> {
        Ok(File::options().create(true).truncate(false).write(true).open(&self.acknowledged)?)
    }

    /// Writes, in a process of its own.
    pub fn run(&self, bench: &Bench) -> Result<(), Finding> {
        let database = Database::open(&bench.choice, &self.lab, &self.hints, &self.database, self.create)
            .during("the writer, opening the database")?;
        let records = bench.records();
        let acknowledged = self.acknowledgements()?;
        let tell = |number: u64| acknowledged.write_all_at(&number.to_le_bytes(), 0);
        let mut session = session(&database)?;
        if let Some(level) = self.level {
            session.set_durability(level).during("the writer, set_durability")?;
        }
        let last = match self.until {
            Until::Killed => u64::MAX,
            Until::Closed(writes) | Until::Flushed(writes) => self.from + writes - 1,
        };
        for number in self.from..=last {
            self.write(&records, &mut session, number).during("the writer")?;
            if !matches!(self.until, Until::Flushed(_)) {
                tell(number)?;
            }
        }
        if let Until::Flushed(_) = self.until {
            database.flush().during("the writer, flush")?;
            tell(last)?;
            std::thread::sleep(Duration::from_secs(3600));
        }
        drop(session);
        database.close().during("the writer, closing the database")
    }

    fn write(&self, records: &Records, session: &mut Session<'_>, number: u64) -> Result<(), Finding> {
        if self.group == 1 {
            return records.put(session, self.first + number % self.groups, number);
        }
        if self.deletes && number % 2 == 1 {
            let ids = self.ids(number);
            return session.delete_range(&records.key(ids.start), &records.key(ids.end)).during("delete_range");
        }
        records.write_all(session, self.ids(number), number).during("write")
    }
}

/// The writer's last acknowledged write: the number in the file that it was given.
pub(crate) fn acknowledged(file: &Path) -> Result<u64, Finding> {
    match fs::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error.into()),
        Ok(bytes) if bytes.is_empty() => Ok(0),
        Ok(bytes) => bytes
            .try_into()
            .map(u64::from_le_bytes)
            .map_err(|_| wrong("the check itself failed: a count was half written")),
    }
}
