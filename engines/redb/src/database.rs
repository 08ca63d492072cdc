//! An open database, and what is done to it as a whole.

use crate::backend::SharedFile;
use crate::error::failed;
use crate::session::RedbSession;
use crate::settings::{self, Commits};
use kvdyno_abi::adapter::support::{SessionLocks, Syncer};
use kvdyno_abi::adapter::{Config, Description, Durability, Engine, Error, Host, Listing};
use redb::backends::FileBackend;
use redb::{CompactionError, Database, ReadOnlyTable, ReadableDatabase, ReadableTableMetadata, TableDefinition};
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Keys and values are bytes, in the order of `memcmp`.
pub type ByteSlice = &'static [u8];
/// The records at the begin of a read transaction, which lasts as long as the table and what it lends.
pub type RecordTable = ReadOnlyTable<ByteSlice, ByteSlice>;
pub const RECORDS: TableDefinition<ByteSlice, ByteSlice> = TableDefinition::new("records");

const FILE: &str = "data.redb";

/// How long a compaction waits for the transactions that are open, before it says that they are.
const PATIENCE: Duration = Duration::from_secs(20);

/// A session's way to the database. A compaction must have the database to itself and takes it from here meanwhile.
pub type Door = Option<Arc<Database>>;

pub struct Redb {
    database: Mutex<Arc<Database>>,
    pub doors: SessionLocks<Door>,
    pub commits: Commits,
    storage: SharedFile,
    /// Some commits stay in redb's memory.
    puts_off: bool,
    pub durability: Durability,
    syncer: Option<Syncer>,
    tree_statistics: bool,
}

impl Engine for Redb {
    const DESCRIPTION: Description = crate::DESCRIPTION;
    const BUILT_IN: Option<&'static str> = Some(env!("ENGINE_VERSION"));
    type Session<'db> = RedbSession<'db>;

    fn settings(config: &Config<'_>, list: &mut Listing<'_>) -> Result<(), Error> {
        settings::list(config, list)
    }

    fn open(path: &Path, config: &Config<'_>) -> Result<Self, Error> {
        settings::check(config)?;
        let durability = config.durability();
        let file = FileBackend::new(open_file(path, config.create())?).map_err(failed)?;
        let storage = SharedFile::new(file, settings::puts_syncs_off(durability));
        let database = settings::builder(config).create_with_backend(storage.clone()).map_err(failed)?;
        if config.create() {
            create_table(&database)?;
        }
        let syncer = match durability {
            Durability::Periodic(interval) => {
                let storage = storage.clone();
                Some(Syncer::start(interval, move || Ok(storage.sync()?))?)
            }
            _ => None,
        };
        Ok(Self {
            database: Mutex::new(Arc::new(database)),
            doors: SessionLocks::new(),
            commits: Commits::new(config),
            puts_off: settings::puts_commits_off(config),
            storage,
            durability,
            syncer,
            tree_statistics: config.bool("tree_statistics"),
        })
    }

    fn close(mut self) -> Result<(), Error> {
        let synced = self.syncer.take().map_or(Ok(()), Syncer::stop);
        let database = self.database.into_inner().map_err(Error::new)?;
        let database = Arc::into_inner(database).ok_or_else(|| Error::new("a session is still open"))?;
        database.close().map_err(failed)?;
        synced
    }

    fn session(&self, _host: Host) -> Result<RedbSession<'_>, Error> {
        RedbSession::new(self)
    }

    fn flush(&self) -> Result<(), Error> {
        if self.puts_off {
            self.with(|database| self.commits.begin_durable(database)?.commit().map_err(failed))?;
        }
        match settings::puts_syncs_off(self.durability) {
            true => Ok(self.storage.sync()?),
            false => Ok(()),
        }
    }

    fn compact(&self) -> Result<(), Error> {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.alone(Database::compact)? {
                Err(CompactionError::TransactionInProgress) if Instant::now() < end => {
                    thread::sleep(Duration::from_millis(1));
                }
                done => return done.map(|_| ()).map_err(failed),
            }
        }
    }

    fn statistics(&self, list: &mut Listing<'_>) -> Result<(), Error> {
        let records = self.with(|database| records(database))?;
        list.say("table", "len", records.len().map_err(failed)?);
        if self.tree_statistics {
            let tree = records.stats().map_err(failed)?;
            list.say("table", "tree_height", tree.tree_height());
            list.say("table", "leaf_pages", tree.leaf_pages());
            list.say("table", "branch_pages", tree.branch_pages());
            list.say("table", "stored_bytes", tree.stored_bytes());
            list.say("table", "metadata_bytes", tree.metadata_bytes());
            list.say("table", "fragmented_bytes", tree.fragmented_bytes());
        }
        Ok(())
    }
}

impl Redb {
    /// Another handle on the database, for a session.
    pub fn handle(&self) -> Result<Arc<Database>, Error> {
        self.with(|database| Ok(Arc::clone(database)))
    }

    fn with<T>(&self, call: impl FnOnce(&Arc<Database>) -> Result<T, Error>) -> Result<T, Error> {
        call(&*self.database.lock().map_err(Error::new)?)
    }

    /// Does what needs the database to itself, while no session is in a call that uses it.
    fn alone<T>(&self, call: impl FnOnce(&mut Database) -> T) -> Result<T, Error> {
        self.doors.with_all(|doors| {
            let mut own = self.database.lock().map_err(Error::new)?;
            doors.iter_mut().for_each(|door| **door = None);
            let done = Arc::get_mut(&mut own).map(call);
            doors.iter_mut().for_each(|door| **door = Some(Arc::clone(&own)));
            done.ok_or_else(|| Error::new("the database is in use"))
        })?
    }
}

/// The records as they are now.
pub fn records(database: &Database) -> Result<RecordTable, Error> {
    database.begin_read().map_err(failed)?.open_table(RECORDS).map_err(failed)
}

/// redb makes what is not there; so the adapter opens the file, where that is not asked for.
fn open_file(folder: &Path, create: bool) -> Result<File, Error> {
    let path = folder.join(FILE);
    let file = OpenOptions::new().read(true).write(true).create_new(create).open(&path);
    let file = file.map_err(|error| Error::from(error).during(path.display()))?;
    if create {
        // redb syncs the file, not that there is one.
        File::open(folder)?.sync_all()?;
    }
    Ok(file)
}

/// So that readers find a table, though nothing was ever written.
fn create_table(database: &Database) -> Result<(), Error> {
    let transaction = database.begin_write().map_err(failed)?;
    transaction.open_table(RECORDS).map_err(failed)?;
    transaction.commit().map_err(failed)
}
