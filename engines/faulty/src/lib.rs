//! The faulty engine: a correct ordered store in memory that goes wrong on demand, in one chosen way, at chosen
//! operations. The lab is tested with it: every fault must be noticed, named and survived.
//!
//! `fault` selects what goes wrong (`fault::Fault` lists the faults). Of the operations that it can hit, the first
//! `after` are left alone, and then every `every`-th is hit. Reads that a fault can hit are gets, the keys of
//! multi-gets and, where it changes values, records of cursors too. Opening and closing happen once, so the faults
//! there always strike.
//!
//! `hook` and `does` are about the process and not about records: what the engine does to who measures it
//! (`hostile`).

use kvdyno_abi::adapter::{
    self, ALL_DURABILITIES, Batch, BatchEntry, Change, Config, Counters, CursorLimits, Description, Durability,
    DurabilityLevel, Engine, Error, Host, Housekeeping, Listing, MultiGetAnswers, MultiGetKeys, Session, Transaction,
};
use kvdyno_abi::{
    CAN_BATCH, CAN_BOUND, CAN_CONTAIN, CAN_COUNT, CAN_DELETE, CAN_DELETE_RANGE, CAN_INSERT_IF_ABSENT, CAN_MULTI_GET,
    CAN_READ_MODIFY_WRITE, CAN_SCAN, CAN_SCAN_KEYS, CAN_SCAN_PREFIX, CAN_SCAN_REVERSE, CAN_SET_DURABILITY,
    CAN_SHARE_PROCESSES, CAN_SNAPSHOT, CAN_TRANSACT, CAN_WRITE_CONCURRENTLY, IS_SERIALIZABLE, IS_SINGLE, READS_REPEAT,
    export_engine,
};
use std::path::{Path, PathBuf};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

mod counting;
mod cursor;
mod fault;
mod hostile;
mod options;
mod order;
mod outside;
mod ranges;
mod single;
mod store;
mod striking;
#[cfg(test)]
mod tests;
mod transactions;
mod withheld;

use counting::Flushed;
use cursor::FaultyCursor;
use fault::Fault;
use hostile::Hostile;
use options::OPTIONS;
use order::{CallOrder, OpenSession};
use single::{Guest, Home, sessions_can, shares};
use store::{Blob, Store, Version, entries};
use striking::Faults;
use transactions::{OpenTransaction, Uncommitted};
use withheld::Withheld;

/// An open database.
struct Faulty {
    folder: PathBuf,
    store: RwLock<Store>,
    /// Durability of sessions that set none of their own.
    level: DurabilityLevel,
    faults: Faults,
    hostile: Hostile,
    home: Home,
    order: CallOrder,
    flushed: Flushed,
    uncommitted: Uncommitted,
}

export_engine!(
    table = kvdyno_abi::Engine {
        destroy: Some(outside::destroy),
        effective_capabilities: Some(single::effective_capabilities),
        ..adapter::table::<Faulty>()
    }
);

impl Engine for Faulty {
    const DESCRIPTION: Description = Description {
        capabilities: CAN_SCAN
            | CAN_SCAN_REVERSE
            | CAN_DELETE
            | CAN_BATCH
            | CAN_MULTI_GET
            | CAN_READ_MODIFY_WRITE
            | CAN_WRITE_CONCURRENTLY
            | CAN_SHARE_PROCESSES
            | CAN_SET_DURABILITY
            | IS_SINGLE
            | CAN_COUNT
            | CAN_TRANSACT
            | CAN_SNAPSHOT
            | READS_REPEAT
            | IS_SERIALIZABLE
            | CAN_DELETE_RANGE
            | CAN_CONTAIN
            | CAN_INSERT_IF_ABSENT
            | CAN_BOUND
            | CAN_SCAN_KEYS
            | CAN_SCAN_PREFIX,
        durabilities: ALL_DURABILITIES,
        options: OPTIONS,
        housekeeping: Housekeeping { flush: true, compact: true, wait_idle: true, statistics: true },
        ..Description::new(c"faulty", c"an ordered store in memory that goes wrong on demand, to test kvdyno")
    };

    const BUILT_IN: Option<&'static str> = Some(env!("CARGO_PKG_VERSION"));

    type Session<'db> = FaultySession<'db>;

    fn settings(config: &Config<'_>, list: &mut Listing<'_>) -> Result<(), Error> {
        shares(config)?;
        let most = config.size("fill_limit");
        Hostile::new(config.text("hook"), config.text("does"), 0, most, Path::new(".")).at("settings")?;
        let log = match config.durability() {
            Durability::None => "no log; all records are saved at close".into(),
            Durability::Process => "each write is appended to a log with write(2), not synced".into(),
            Durability::Periodic(pause) => format!("each write is appended to a log, synced every {pause:?}"),
            Durability::Commit => "each write is appended to a log and fdatasync'ed; no group commit".into(),
        };
        list.say("durability", "faulty.log", log);
        if config.session_durabilities().next().is_some() {
            sessions_can(config)?;
            list.say("durability", "sessions", "each write is logged, and that synced, as its session says");
        }
        list.say("cache", "memory", "holds all records, whatever size is requested");
        list.say("write_buffer", "memory", "holds all records, whatever size is requested");
        list.say("compression", "faulty.data", "none");
        list.say("checksums", "faulty.data", "that of each write as the database is opened; reads are from memory");
        list.say("options", "fault", config.text("fault"));
        list.say("options", "every", config.integer("every"));
        list.say("options", "after", config.integer("after"));
        list.say("options", "fill_limit", config.size("fill_limit"));
        list.say("options", "hook", config.text("hook"));
        list.say("options", "does", config.text("does"));
        list.say("options", "outside", config.bool("outside"));
        list.say("options", "writes_first", config.integer("writes_first"));
        list.say("options", "linger", config.bool("linger"));
        list.say("options", "concurrent", config.bool("concurrent"));
        list.say("options", "single", config.bool("single"));
        Ok(())
    }

    fn open(path: &Path, config: &Config<'_>) -> Result<Self, Error> {
        let name = config.text("fault");
        let fault = Fault::named(name).ok_or_else(|| Error::unsupported(format_args!("fault={name}")))?;
        let number = |option| config.integer(option).unsigned_abs();
        let faults = Faults::new(fault, number("after"), number("every").max(1), config.size("fill_limit"));
        let most = config.size("fill_limit");
        let hostile = Hostile::new(config.text("hook"), config.text("does"), number("after"), most, path);
        faults.at_open()?;
        hostile.at("open")?;
        if config.bool("outside") || !hostile.of_destroy().is_empty() {
            outside::leave(path, hostile.of_destroy())?;
        }
        sessions_can(config)?;
        let mut levels = config.session_durabilities().chain([config.durability().level()]);
        let logs = levels.any(|level| level > DurabilityLevel::None);
        let durability = match config.durability() {
            Durability::Periodic(_) if fault == Fault::UnsyncedLog => Durability::Process,
            level => level,
        };
        let mut store = Store::open(path, config.create(), durability, logs, shares(config)?)?;
        if fault == Fault::UndeletedAtClose {
            store.remember_deleted();
        }
        if fault == Fault::Phantom && config.create() {
            let [low, high] = [&[0][..], &[0xff]].map(|key| BatchEntry::Put { key, value: b"nobody wrote this" });
            store.apply(&[low, high])?;
        }
        let (store, home) = (RwLock::new(store), Home::new(config.bool("single")));
        Ok(Self {
            folder: path.into(),
            store,
            level: config.durability().level(),
            faults,
            hostile,
            home,
            order: CallOrder::new(
                number("writes_first"),
                config.bool("linger") || fault.needs_two_transactions(),
                shares(config)?,
            ),
            flushed: Flushed::default(),
            uncommitted: Uncommitted::default(),
        })
    }

    fn close(self) -> Result<(), Error> {
        self.home.check()?;
        self.faults.at_close();
        self.hostile.at("close")?;
        let kept = |store: &Store, index, key: &[u8], version: &Version| self.faults.saved(store, index, key, version);
        self.do_late_puts()?;
        let saved = self.writing()?.close(kept, self.faults.undeletes());
        if self.faults.fault == Fault::CloseAsOk { Ok(()) } else { saved }
    }

    fn session(&self, host: Host) -> Result<FaultySession<'_>, Error> {
        self.hostile.at("session")?;
        self.faults.at_session();
        self.do_late_puts()?;
        Ok(FaultySession {
            db: self,
            level: self.level,
            lent: None,
            lent_many: Vec::new(),
            withheld: Withheld::default(),
            open: None,
            host,
            _guest: self.home.enter()?,
            _open: self.order.enter(),
        })
    }

    fn flush(&self) -> Result<(), Error> {
        self.home.check()?;
        self.hostile.at("flush")?;
        self.writing()?.save(|_, _, key, version| {
            self.flushed.add(key, &version.now);
            Some(Blob::clone(&version.now))
        })
    }

    fn compact(&self) -> Result<(), Error> {
        self.home.check()?;
        self.hostile.at("compact")
    }

    fn wait_idle(&self) -> Result<(), Error> {
        self.home.check()?;
        self.hostile.at("wait-idle")
    }

    fn counters(&self) -> Result<Counters, Error> {
        self.home.check()?;
        self.hostile.at("counters")?;
        Ok(self.flushed.told(&self.faults))
    }

    fn statistics(&self, list: &mut Listing<'_>) -> Result<(), Error> {
        self.home.check()?;
        self.hostile.at("statistics")?;
        let (seen, injected) = self.faults.counts();
        list.say("faults", "operations", seen);
        list.say("faults", "injected", injected);
        Ok(())
    }
}

impl Faulty {
    fn reading(&self) -> Result<RwLockReadGuard<'_, Store>, Error> {
        let store = self.store.read().map_err(Error::new)?;
        if !store.is_behind()? {
            return Ok(store);
        }
        drop(store);
        self.writing()?.look()?;
        self.store.read().map_err(Error::new)
    }

    fn writing(&self) -> Result<RwLockWriteGuard<'_, Store>, Error> {
        self.store.write().map_err(Error::new)
    }

    /// The same, for writes of a level.
    fn writing_at(&self, level: DurabilityLevel) -> Result<RwLockWriteGuard<'_, Store>, Error> {
        let mut store = self.writing()?;
        store.level = self.faults.stored_at(level)?;
        Ok(store)
    }

    /// A write, and what a fault makes of its answer.
    fn apply(&self, entries: &[BatchEntry<'_>], level: DurabilityLevel) -> Result<(), Error> {
        self.faults.after_write(self.writing_at(level)?.apply(entries))
    }

    /// A read, and what a fault makes of it.
    fn read(&self, key: &[u8]) -> Result<Option<Blob>, Error> {
        self.let_writes_come_first()?;
        self.faults.at_get()?;
        if self.faults.cannot_look(&self.folder) {
            return Ok(None);
        }
        let store = self.reading()?;
        let Some(version) = store.get(key) else { return Ok(None) };
        if self.faults.strikes(Fault::Missing) {
            return Ok(None);
        }
        Ok(Some(self.value(&store, key, version)))
    }

    /// Before a read or a seek, while no lock is held.
    fn let_writes_come_first(&self) -> Result<(), Error> {
        self.order.let_writes_come_first(|| Ok(self.faults.writes() + self.reading()?.written_by_others))
    }

    fn value(&self, store: &Store, key: &[u8], version: &Version) -> Blob {
        let wrong = if self.faults.distorts() { self.faults.distort(store, key, version) } else { None };
        wrong.unwrap_or_else(|| Blob::clone(&version.now))
    }

    /// The store is locked only if there are any: a session begins while another is within an update.
    fn do_late_puts(&self) -> Result<(), Error> {
        match self.faults.late_puts() {
            late if late.is_empty() => Ok(()),
            late => self.writing()?.apply(&entries_of(&late)),
        }
    }

    /// Whether a write is done; otherwise it is only acknowledged.
    fn takes(&self) -> Result<bool, Error> {
        self.faults.at_put(&self.folder)?;
        Ok(!self.faults.strikes(Fault::DroppedWrite))
    }
}

fn entries_of(puts: &[(Blob, Blob)]) -> Vec<BatchEntry<'_>> {
    puts.iter().map(|(key, value)| BatchEntry::Put { key, value }).collect()
}

/// A thread's access, with the values that its last call lent out.
struct FaultySession<'db> {
    db: &'db Faulty,
    lent: Option<Blob>,
    lent_many: Vec<Result<Option<Blob>, Error>>,
    withheld: Withheld,
    open: Option<OpenTransaction>,
    level: DurabilityLevel,
    host: Host,
    _guest: Guest<'db>,
    _open: OpenSession<'db>,
}

impl<'db> Session for FaultySession<'db> {
    type Cursor = FaultyCursor<'db>;

    fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, Error> {
        self.db.hostile.at("get")?;
        self.lent = self.reads(key)?;
        Ok(self.lent.as_deref())
    }

    fn multi_get<'s>(&'s mut self, keys: MultiGetKeys<'_>, answers: &mut MultiGetAnswers<'_, 's>) -> Result<(), Error> {
        self.db.hostile.at("multi-get")?;
        let lent = keys.map(|key| self.reads(key)).collect();
        self.lent_many = lent;
        for (index, value) in self.lent_many.iter().enumerate() {
            answers.set(index, value.as_ref().map(Option::as_deref).map_err(Error::clone));
        }
        Ok(())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.db.hostile.at("put")?;
        match (self.db.takes()?, self.db.faults.at_late_put(key, value)) {
            (false, _) => Ok(()),
            (true, None) => self.apply(&[BatchEntry::Put { key, value }]),
            (true, Some(late)) => self.db.apply(&entries_of(&late), self.level),
        }
    }

    fn contains(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.db.hostile.at("contains")?;
        if self.db.faults.cannot_tell(&self.db.folder) {
            return Ok(false);
        }
        self.get(key).map(|value| value.is_some())
    }

    fn insert_if_absent(&mut self, key: &[u8], value: &[u8]) -> Result<bool, Error> {
        self.db.hostile.at("insert-if-absent")?;
        let (takes, faults) = (self.db.takes()?, &self.db.faults);
        if let Some(open) = &mut self.open {
            open.writable(&self.db.faults)?;
            let now = self.db.reading()?.get(key).map(|version| Blob::clone(&version.now));
            let absent = open.read(key, now, faults, &self.db.uncommitted).is_none();
            if absent && takes {
                open.put(key, value, &self.db.uncommitted);
            }
            return Ok(absent);
        }
        if faults.withholds() {
            let absent = self.sees(key)?.is_none();
            let put = [BatchEntry::Put { key, value }];
            return self.apply(if absent { &put } else { &[] }).map(|()| absent);
        }
        let mut store = self.db.writing_at(self.level)?;
        let inserts = match store.get(key) {
            Some(_) => faults.strikes(Fault::BlindInsert),
            None => !faults.strikes(Fault::RefusedInsert),
        };
        if inserts && takes {
            faults.after_change(store.apply(&[BatchEntry::Put { key, value }]))?;
        }
        Ok(inserts)
    }

    fn remove(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.db.hostile.at("remove")?;
        let takes = self.db.takes()?;
        if let Some(open) = &mut self.open {
            open.writable(&self.db.faults)?;
            if takes {
                open.delete(key);
            }
            return Ok(true);
        }
        if self.db.faults.withholds() {
            let there = self.sees(key)?.is_some();
            return self.apply(&[BatchEntry::Delete { key }]).map(|()| there);
        }
        let mut store = self.db.writing_at(self.level)?;
        let there = store.get(key).is_some();
        let (back, is_done) = self.db.faults.at_delete(&store, key);
        let delete = (takes && is_done).then_some(BatchEntry::Delete { key });
        let back = back.as_ref().map(|(key, value)| BatchEntry::Put { key, value });
        let entries: Vec<_> = delete.into_iter().chain(back).collect();
        self.db.faults.after_change(store.apply(&entries))?;
        Ok(there)
    }

    fn delete_range(&mut self, from: &[u8], to: &[u8]) -> Result<(), Error> {
        self.db.hostile.at("delete-range")?;
        self.delete_keys(from, to)
    }

    fn write(&mut self, batch: Batch<'_>) -> Result<(), Error> {
        self.db.hostile.at("write")?;
        let mut entries = Vec::with_capacity(batch.len());
        for entry in batch {
            if self.db.takes()? {
                entries.push(entry);
            }
        }
        self.apply(&entries)
    }

    fn set_durability(&mut self, level: DurabilityLevel) -> Result<(), Error> {
        if self.db.faults.fault != Fault::WeakWrite {
            self.level = level;
        }
        Ok(())
    }

    fn begin(&mut self, kind: Transaction) -> Result<(), Error> {
        self.db.hostile.at("begin")?;
        self.open = Some(match kind {
            Transaction::ReadWrite => OpenTransaction::default(),
            Transaction::ReadOnly => OpenTransaction::snapshot(&*self.db.reading()?, &self.db.faults),
        });
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.db.hostile.at("commit")?;
        let open = self.open.take().ok_or_else(|| Error::new("commit: no transaction is open"))?;
        if self.db.faults.withholds() {
            return self.apply(&entries(&open.into_writes(&self.db.uncommitted)));
        }
        open.commit(&mut *self.db.writing_at(self.level)?, &self.db.faults, &self.db.uncommitted)
    }

    fn abort(&mut self) -> Result<(), Error> {
        self.db.hostile.at("abort")?;
        let open = self.open.take().ok_or_else(|| Error::new("abort: no transaction is open"))?;
        open.abort(&self.db.uncommitted);
        Ok(())
    }

    /// While the change is asked for, nobody else writes: there is one lock.
    fn read_modify_write(&mut self, key: &[u8], change: &mut Change<'_>) -> Result<(), Error> {
        self.db.hostile.at("read-modify-write")?;
        let (takes, faults) = (self.db.takes()?, &self.db.faults);
        if faults.withholds() {
            let old = self.sees(key)?;
            let value = change.apply(old.as_deref())?;
            return self.apply(&[BatchEntry::Put { key, value }]);
        }
        let mut store = self.db.writing_at(self.level)?;
        let version = store.get(key);
        let missed = || version.and_then(|version| version.before.clone());
        let wrong = faults.strike(Fault::LostAtomicUpdate, missed);
        let old = wrong.or_else(|| version.map(|version| self.db.value(&store, key, version)));
        let value = change.apply(old.as_deref())?;
        let put = [BatchEntry::Put { key, value }];
        faults.after_write(store.apply(if takes { &put } else { &[] }))
    }

    fn cursor(&mut self) -> Result<FaultyCursor<'db>, Error> {
        self.db.hostile.at("cursor")?;
        FaultyCursor::new(self.db, self.open.as_ref(), CursorLimits::default())
    }

    fn cursor_with(&mut self, limits: CursorLimits<'_>) -> Result<FaultyCursor<'db>, Error> {
        self.db.hostile.at("cursor-with")?;
        FaultyCursor::new(self.db, self.open.as_ref(), limits)
    }
}

impl Drop for FaultySession<'_> {
    fn drop(&mut self) {
        // The end of a session answers nothing.
        let _ = self.db.hostile.at("session-close");
    }
}
