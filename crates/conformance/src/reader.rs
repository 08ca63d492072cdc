//! A process that reads what another one writes to the database that they share.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use kvdyno_engine::{Answer, Database, Session, abi};
use serde::{Deserialize, Serialize};

use crate::bench::{Bench, session};
use crate::finding::{During, Finding, ensure, wrong};
use crate::records::Records;
use crate::writer::WriterTask;
use crate::writer::acknowledged;

/// The reader's work: every record again and again, each as new as its last acknowledged write at least.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReaderTask {
    /// The writing meanwhile, and its database. All its groups were written before.
    pub writing: WriterTask,
    /// The file that is made once all records were read once.
    pub ready: PathBuf,
    pub until: ReadUntil,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum ReadUntil {
    /// The write of this number was acknowledged and seen.
    Seen(u64),
    /// All records were read once. After that nothing, with a value lent out and a cursor on a record, until killed.
    Killed,
}

impl ReaderTask {
    /// Reads.
    pub fn run(&self, bench: &Bench) -> Result<(), Finding> {
        let WriterTask { lab, hints, database, .. } = &self.writing;
        let database = Database::open(&bench.choice, lab, hints, database, false)
            .during("a reader in another process, opening the database")?;
        let mut session = session(&database)?;
        let records = bench.records();
        loop {
            let last = acknowledged(&self.writing.acknowledged)?;
            self.round(&records, &mut session, last).during("a reader in another process")?;
            File::create(&self.ready)?;
            match self.until {
                ReadUntil::Seen(number) if last >= number => break,
                ReadUntil::Seen(_) => {}
                ReadUntil::Killed => rest(bench, &records, &mut session)?,
            }
        }
        drop(session);
        database.close().during("a reader in another process, closing the database")
    }

    /// Reads every record once, while it is known that write `last` was acknowledged.
    fn round(&self, records: &Records, session: &mut Session<'_>, last: u64) -> Result<(), Finding> {
        for group in 0..self.writing.groups {
            let newest = self.writing.newest(group, last).unwrap_or_default();
            let version = records.version(session, group)?;
            ensure!(
                version >= newest,
                "write {last} was acknowledged, but record {group}, last stored by write {newest}, is that of \
                 write {version}"
            );
        }
        Ok(())
    }
}

/// Does nothing, holding what a reader may hold: a value, or a cursor on a record.
fn rest(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    if bench.can(abi::CAN_SCAN) {
        let mut cursor = session.cursor().during("opening a cursor")?;
        cursor.seek(Some(&records.key(1)), abi::FORWARD).during("seek")?;
        sleep_for_ever();
    }
    let answer = session.get(&records.key(1)).during("get")?;
    if let Answer::Hit(_) = answer {
        sleep_for_ever();
    }
    Err(wrong("record 1 is missing"))
}

fn sleep_for_ever() {
    std::thread::sleep(Duration::from_secs(3600));
}
