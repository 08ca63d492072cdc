//! An open database, and what is done to it as a whole.

use crate::error::failed;
use crate::session::SledSession;
use crate::settings;
use kvdyno_abi::adapter::support::expect_file;
use kvdyno_abi::adapter::{Config, Description, Durability, Engine, Error, Host, Listing};
use sled::Db;
use std::fs::File;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The file that sled keeps its log in.
const LOG: &str = "db";

pub struct Sled {
    pub db: Db,
    after_write: AfterWrite,
    log: File,
}

/// The work before a write is acknowledged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AfterWrite {
    Nothing,
    Flush,
    Sync,
}

impl Engine for Sled {
    const DESCRIPTION: Description = crate::DESCRIPTION;
    const BUILT_IN: Option<&'static str> = Some(env!("ENGINE_VERSION"));
    type Session<'db> = SledSession<'db>;

    fn settings(config: &Config<'_>, list: &mut Listing<'_>) -> Result<(), Error> {
        settings::list(config, list)
    }

    fn open(path: &Path, config: &Config<'_>) -> Result<Self, Error> {
        settings::check(config)?;
        let log = path.join(LOG);
        expect_file(&log, config.create())?;
        let db = settings::builder(config).path(path).open().map_err(failed)?;
        let log = File::open(log)?;
        if config.create() {
            // sled syncs the file, not that there is one.
            File::open(path)?.sync_all()?;
        }
        let after_write = match config.durability() {
            Durability::None => AfterWrite::Nothing,
            Durability::Process | Durability::Periodic(_) => AfterWrite::Flush,
            Durability::Commit => AfterWrite::Sync,
        };
        Ok(Self { db, after_write, log })
    }

    fn close(self) -> Result<(), Error> {
        let brought = self.flush();
        drop(self.db);
        wait_for_release(&self.log)?;
        brought
    }

    fn session(&self, _host: Host) -> Result<SledSession<'_>, Error> {
        Ok(SledSession::new(self))
    }

    fn flush(&self) -> Result<(), Error> {
        self.db.flush().map_err(failed)?;
        Ok(self.log.sync_data()?)
    }

    fn statistics(&self, list: &mut Listing<'_>) -> Result<(), Error> {
        list.say("database", "size_on_disk", self.db.size_on_disk().map_err(failed)?);
        list.say("database", "was_recovered", self.db.was_recovered());
        Ok(())
    }
}

impl Sled {
    /// To be called before a record is written.
    pub fn check(&self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        match self.after_write {
            AfterWrite::Sync => settings::check_record(key.len() as u64, value.len() as u64),
            _ => Ok(()),
        }
    }

    /// To be called before a write is acknowledged.
    pub fn acknowledge(&self) -> Result<(), Error> {
        match self.after_write {
            AfterWrite::Nothing => Ok(()),
            AfterWrite::Flush => self.db.flush().map(|_| ()).map_err(failed),
            AfterWrite::Sync => self.flush(),
        }
    }
}

/// sled lets the file and its memory go when crossbeam's epochs have moved on, which by themselves they do with use: a
/// database that is opened at once after its close would be found locked.
fn wait_for_release(log: &File) -> Result<(), Error> {
    const PATIENCE: Duration = Duration::from_secs(10);
    let end = Instant::now() + PATIENCE;
    loop {
        for _ in 0..100 {
            crossbeam_epoch::pin().flush();
        }
        // Given back when the file is closed.
        match log.try_lock() {
            Ok(()) => return Ok(()),
            Err(error) if Instant::now() > end => {
                return Err(Error::from(std::io::Error::from(error)).during("closing"));
            }
            Err(_) => thread::sleep(Duration::from_micros(100)),
        }
    }
}
