//! An open database, and what is done to it as a whole.

use crate::error::failed;
use crate::isolation::Isolation;
use crate::session::FjallSession;
use crate::settings::{self, Made};
use fjall::{Database, Keyspace, OptimisticTxDatabase, OptimisticTxKeyspace, OptimisticWriteTx, PersistMode};
use kvdyno_abi::adapter::support::{Syncer, expect_file};
use kvdyno_abi::adapter::{Config, Description, Durability, Engine, Error, Host, Listing};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// fjall writes it last when it makes a database.
const MARKER: &str = "version";
/// Ends the name of a keyspace that does not write its journal out with each write: that too is kept from its creation.
const MANUAL: &str = "_manual";

pub struct Fjall {
    pub db: OptimisticTxDatabase,
    pub keyspace: OptimisticTxKeyspace,
    pub isolation: Isolation,
    /// How the journal is written with each write.
    persist: Option<PersistMode>,
    /// The part of that which is left to do after a plain write.
    after_plain_write: Option<PersistMode>,
    syncer: Option<Syncer>,
}

impl Engine for Fjall {
    const DESCRIPTION: Description = crate::DESCRIPTION;
    const BUILT_IN: Option<&'static str> = Some(env!("ENGINE_VERSION"));
    type Session<'db> = FjallSession<'db>;

    fn settings(config: &Config<'_>, list: &mut Listing<'_>) -> Result<(), Error> {
        settings::list(config, list)
    }

    fn open(path: &Path, config: &Config<'_>) -> Result<Self, Error> {
        settings::check(config)?;
        let marker = path.join(MARKER);
        expect_file(&marker, config.create())?;
        let db = settings::builder(path, config).open().map_err(failed)?;
        let (keyspace, manual) = open_keyspace(&db, config)?;
        let persist = settings::persist_mode(config);
        let syncer = match config.durability() {
            Durability::Periodic(interval) => {
                let (db, mode) = (db.clone(), settings::sync_mode(config));
                Some(Syncer::start(interval, move || db.persist(mode).map_err(failed))?)
            }
            _ => None,
        };
        let after_plain_write = persist.filter(|mode| manual || *mode != PersistMode::Buffer);
        Ok(Self { db, keyspace, isolation: Isolation::default(), persist, after_plain_write, syncer })
    }

    fn close(mut self) -> Result<(), Error> {
        let synced = self.syncer.take().map_or(Ok(()), Syncer::stop);
        self.flush()?;
        synced
    }

    fn session(&self, _host: Host) -> Result<FjallSession<'_>, Error> {
        FjallSession::new(self)
    }

    fn flush(&self) -> Result<(), Error> {
        self.db.persist(PersistMode::SyncAll).map_err(failed)
    }

    fn compact(&self) -> Result<(), Error> {
        self.plain().rotate_memtable().map_err(failed)?;
        self.wait_while(|| self.plain().sealed_memtable_count() > 0)?;
        self.plain().major_compact().map_err(failed)
    }

    /// Background work has come to rest when none is seen for a while: what a flush leaves to be compacted is queued
    /// where it cannot be counted.
    fn wait_idle(&self) -> Result<(), Error> {
        const QUIET: u32 = 20;
        let mut quiet = 0;
        self.wait_while(|| {
            let db = self.plain_db();
            let works =
                db.outstanding_flushes() > 0 || db.active_compactions() > 0 || self.plain().sealed_memtable_count() > 0;
            quiet = if works { 0 } else { quiet + 1 };
            quiet < QUIET
        })
    }

    fn statistics(&self, list: &mut Listing<'_>) -> Result<(), Error> {
        let (db, keyspace) = (self.plain_db(), self.plain());
        list.say("database", "cache_size", db.cache_size());
        list.say("database", "write_buffer_size", db.write_buffer_size());
        list.say("database", "outstanding_flushes", db.outstanding_flushes());
        list.say("database", "active_compactions", db.active_compactions());
        list.say("database", "compactions_completed", db.compactions_completed());
        list.say("database", "time_compacting_us", db.time_compacting().as_micros());
        list.say("database", "journal_count", db.journal_count());
        list.say("database", "journal_disk_space", db.journal_disk_space().map_err(failed)?);
        list.say("keyspace", "disk_space", keyspace.disk_space());
        list.say("keyspace", "approximate_len", keyspace.approximate_len());
        list.say("keyspace", "sealed_memtable_count", keyspace.sealed_memtable_count());
        list.say("keyspace", "l0_table_count", keyspace.l0_table_count());
        list.say("keyspace", "table_count", keyspace.table_count());
        list.say("keyspace", "blob_file_count", keyspace.blob_file_count());
        list.say("keyspace", "fragmented_blob_bytes", keyspace.fragmented_blob_bytes());
        Ok(())
    }
}

impl Fjall {
    /// The plain database within.
    pub fn plain_db(&self) -> &Database {
        self.db.inner()
    }

    /// The keyspace of the plain database.
    pub fn plain(&self) -> &Keyspace {
        self.keyspace.inner()
    }

    /// To be called after a plain write, before it is acknowledged.
    pub fn persist_plain_write(&self) -> Result<(), Error> {
        self.after_plain_write.map_or(Ok(()), |mode| self.db.persist(mode).map_err(failed))
    }

    /// A batch of the plain database.
    pub fn batch(&self, capacity: usize) -> fjall::OwnedWriteBatch {
        fjall::OwnedWriteBatch::with_capacity(self.plain_db().clone(), capacity).durability(self.persist)
    }

    /// A transaction.
    pub fn write_tx(&self) -> Result<OptimisticWriteTx, Error> {
        Ok(self.db.write_tx().map_err(failed)?.durability(self.persist))
    }

    /// Waits for the workers, unless they have given up.
    fn wait_while(&self, mut works: impl FnMut() -> bool) -> Result<(), Error> {
        while works() {
            // Fails if a worker has failed.
            self.db.persist(PersistMode::Buffer).map_err(failed)?;
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }
}

/// Makes the keyspace or opens it, and says whether its writes leave the journal to the caller.
fn open_keyspace(db: &OptimisticTxDatabase, config: &Config<'_>) -> Result<(OptimisticTxKeyspace, bool), Error> {
    let made = Made::new(config);
    let (name, manual) = if config.create() {
        let manual = config.durability() == Durability::None;
        (made.name() + if manual { MANUAL } else { "" }, manual)
    } else {
        stored_keyspace(db, &made.name())?
    };
    let options = || made.options().manual_journal_persist(manual);
    Ok((db.keyspace(&name, options).map_err(failed)?, manual))
}

/// The name of the keyspace that is there, if it was made as is asked for now.
fn stored_keyspace(db: &OptimisticTxDatabase, requested: &str) -> Result<(String, bool), Error> {
    let names = db.list_keyspace_names();
    let [stored] = names.as_slice() else {
        return Err(Error::new(format_args!("the database has {} keyspaces, not one", names.len())));
    };
    let made = stored.strip_suffix(MANUAL);
    if made.unwrap_or(stored) != requested {
        return Err(Error::unsupported(format_args!(
            "fjall keeps from a keyspace's creation: {stored}; it cannot be opened with: {requested}"
        )));
    }
    Ok((stored.to_string(), made.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fjall::KeyspaceCreateOptions;
    use kvdyno_abi::adapter::Status;

    fn database_with(keyspaces: &[&str]) -> (tempfile::TempDir, OptimisticTxDatabase) {
        let folder = tempfile::tempdir().unwrap();
        let db = OptimisticTxDatabase::builder(folder.path()).open().unwrap();
        for name in keyspaces {
            db.keyspace(name, KeyspaceCreateOptions::default).unwrap();
        }
        (folder, db)
    }

    #[test]
    fn a_keyspace_is_opened_as_it_was_made_and_no_other_way() {
        let (_folder, db) = database_with(&["memtable-4096"]);
        assert_eq!(stored_keyspace(&db, "memtable-4096"), Ok(("memtable-4096".into(), false)));
        let refused = stored_keyspace(&db, "memtable-8192").unwrap_err();
        assert_eq!(refused.status(), Status::Unsupported);
        assert!(refused.text().contains("memtable-4096") && refused.text().contains("memtable-8192"));
    }

    #[test]
    fn whether_it_writes_its_journal_out_is_known_whatever_is_asked_for() {
        let (_folder, db) = database_with(&["memtable-4096_manual"]);
        assert_eq!(stored_keyspace(&db, "memtable-4096"), Ok(("memtable-4096_manual".into(), true)));
    }

    #[test]
    fn a_database_of_somebody_else_is_refused() {
        let (_folder, db) = database_with(&["one", "two"]);
        assert!(stored_keyspace(&db, "one").is_err());
    }
}
