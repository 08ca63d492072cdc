//! The faulty engine: a correct ordered store in memory that goes wrong on demand, in one chosen way, at chosen
//! operations. The lab is tested with it: every fault must be noticed, named and survived.
//!
//! `fault` says what goes wrong (`fault::Fault` lists them), `after` how many operations that it could hit are left
//! alone, `every` how many later ones there are to one that is hit. Reads that a fault can hit are gets, the keys of
//! multi-gets and, where it changes values, records of cursors too. Opening and closing happen once, so the faults
//! there always strike.
//!
//! `hook` and `does` are about the process and not about records: what the engine does to who measures it
//! (`hostile`).

use kvdyno_abi::adapter::{
    self, ALL_DURABILITIES, Batch, BatchEntry, Change, Config, Cursor, Description, Direction, Durability, Engine,
    Error, Host, Housekeeping, Listing, MultiGetAnswers, MultiGetKeys, Opt, Record, Session,
};
use kvdyno_abi::{
    CAN_BATCH, CAN_DELETE, CAN_MULTI_GET, CAN_READ_MODIFY_WRITE, CAN_SCAN, CAN_SCAN_REVERSE, CAN_SHARE_PROCESSES,
    CAN_WRITE_CONCURRENTLY, IS_SINGLE, export_engine,
};
use std::path::{Path, PathBuf};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

mod fault;
mod hostile;
mod outside;
mod single;
mod store;
#[cfg(test)]
mod tests;

use fault::{Fault, Faults};
use hostile::Hostile;
use single::{Guest, Home};
use store::{Blob, Store, Version};

/// An open database.
struct Faulty {
    folder: PathBuf,
    store: RwLock<Store>,
    faults: Faults,
    hostile: Hostile,
    home: Home,
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
            | IS_SINGLE,
        durabilities: ALL_DURABILITIES,
        // Within what a frame keeps in 32 bits.
        options: &[
            Opt::choice(c"fault", c"none", Fault::CHOICES, c"what goes wrong"),
            Opt::integer(c"every", c"1000", 1, i64::MAX, c"each so-manieth operation that the fault can hit is hit"),
            Opt::integer(c"after", c"0", 0, i64::MAX, c"operations that are left alone before the count begins"),
            Opt::size(c"fill_limit", c"1GiB", 0, i64::MAX, c"fill-disk gives up when it has written this much"),
            Opt::choice(
                c"hook",
                c"none",
                hostile::HOOKS,
                c"the call in which the engine does something to its process",
            ),
            Opt::choice(c"does", c"crash", hostile::DEEDS, c"what it does there, once, after so many calls as `after`"),
            Opt::bool(c"outside", false, c"keep something in shared memory, which only its destroy gives back"),
            // The last two: see `single::effective_capabilities`.
            Opt::bool(
                c"concurrent",
                false,
                c"declare read-modify-write, and that writers work side by side, though they share a lock",
            ),
            Opt::bool(
                c"single",
                false,
                c"know no threads: one session a process, called from the thread that opened it",
            ),
        ],
        housekeeping: Housekeeping { flush: true, statistics: true, ..Housekeeping::NONE },
        ..Description::new(c"faulty", c"an ordered store in memory that goes wrong on demand: tests the lab")
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
        let mut store = Store::open(path, config.create(), config.durability(), shares(config)?)?;
        if fault == Fault::Phantom && config.create() {
            let [low, high] = [&[0][..], &[0xff]].map(|key| BatchEntry::Put { key, value: b"nobody wrote this" });
            store.apply(&[low, high])?;
        }
        let (store, home) = (RwLock::new(store), Home::new(config.bool("single")));
        Ok(Self { folder: path.into(), store, faults, hostile, home })
    }

    fn close(self) -> Result<(), Error> {
        self.home.check()?;
        self.faults.at_close();
        self.hostile.at("close")?;
        let kept = |store: &Store, index, key: &[u8], version: &Version| self.faults.saved(store, index, key, version);
        let saved = self.writing()?.save(kept);
        if self.faults.fault == Fault::CloseAsOk { Ok(()) } else { saved }
    }

    fn session(&self, host: Host) -> Result<FaultySession<'_>, Error> {
        self.hostile.at("session")?;
        self.faults.at_session();
        let withheld = Store::of_session();
        Ok(FaultySession { db: self, lent: None, lent_many: Vec::new(), withheld, host, _guest: self.home.enter()? })
    }

    fn flush(&self) -> Result<(), Error> {
        self.home.check()?;
        self.hostile.at("flush")?;
        self.writing()?.save(|_, _, _, version| Some(Blob::clone(&version.now)))
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

/// Whether other processes have the database open too.
fn shares(config: &Config<'_>) -> Result<bool, Error> {
    match (config.processes() > 1, config.durability()) {
        (true, Durability::None) => {
            Err(Error::unsupported("durability: what processes share is the log, and none has no log"))
        }
        (shared, _) => Ok(shared),
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

    /// A write, and what a fault makes of its answer.
    fn apply(&self, entries: &[BatchEntry<'_>]) -> Result<(), Error> {
        self.faults.after_write(self.writing()?.apply(entries))
    }

    /// A read, and what a fault makes of it.
    fn read(&self, key: &[u8]) -> Result<Option<Blob>, Error> {
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

    fn value(&self, store: &Store, key: &[u8], version: &Version) -> Blob {
        let wrong = if self.faults.distorts() { self.faults.distort(store, key, version) } else { None };
        wrong.unwrap_or_else(|| Blob::clone(&version.now))
    }

    /// Whether a write is done; otherwise it is only acknowledged.
    fn takes(&self) -> Result<bool, Error> {
        self.faults.at_put(&self.folder)?;
        Ok(!self.faults.strikes(Fault::DroppedWrite))
    }
}

/// A thread's access, with the values that its last call lent out.
struct FaultySession<'db> {
    db: &'db Faulty,
    lent: Option<Blob>,
    lent_many: Vec<Result<Option<Blob>, Error>>,
    /// Puts that nobody else knows of.
    withheld: Store,
    host: Host,
    _guest: Guest<'db>,
}

impl<'db> Session for FaultySession<'db> {
    type Cursor = FaultyCursor<'db>;

    fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, Error> {
        self.db.hostile.at("get")?;
        if self.db.faults.withholds() {
            match self.db.faults.fault {
                Fault::Recalled => return Ok(self.host.recall(key).unwrap_or(None)),
                _ => self.lent = self.withheld.get(key).map(|version| Blob::clone(&version.now)),
            }
            if self.lent.is_some() {
                return Ok(self.lent.as_deref());
            }
        }
        self.lent = self.db.read(key)?;
        Ok(self.lent.as_deref())
    }

    fn multi_get<'s>(&'s mut self, keys: MultiGetKeys<'_>, answers: &mut MultiGetAnswers<'_, 's>) -> Result<(), Error> {
        self.db.hostile.at("multi-get")?;
        self.lent_many.clear();
        self.lent_many.extend(keys.map(|key| self.db.read(key)));
        for (index, value) in self.lent_many.iter().enumerate() {
            answers.set(index, value.as_ref().map(Option::as_deref).map_err(Error::clone));
        }
        Ok(())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.db.hostile.at("put")?;
        if self.db.takes()? { self.apply(&[BatchEntry::Put { key, value }]) } else { Ok(()) }
    }

    fn remove(&mut self, key: &[u8]) -> Result<bool, Error> {
        let takes = self.db.takes()?;
        let mut store = self.db.writing()?;
        let there = store.get(key).is_some();
        if takes {
            self.db.faults.after_write(store.apply(&[BatchEntry::Delete { key }]))?;
        }
        Ok(there)
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

    /// While the change is asked for, nobody else writes: there is one lock.
    fn read_modify_write(&mut self, key: &[u8], change: &mut Change<'_>) -> Result<(), Error> {
        let mut store = self.db.writing()?;
        let old = store.get(key).map(|version| Blob::clone(&version.now));
        let value = change.apply(old.as_deref())?;
        store.apply(&[BatchEntry::Put { key, value }])
    }

    fn cursor(&mut self) -> Result<FaultyCursor<'db>, Error> {
        self.db.hostile.at("cursor")?;
        Ok(FaultyCursor { db: self.db, at: None, lent: None, held_back: None })
    }
}

impl FaultySession<'_> {
    fn apply(&mut self, entries: &[BatchEntry<'_>]) -> Result<(), Error> {
        match self.db.faults.fault {
            Fault::Private if self.db.faults.withholds() => self.withheld.apply(entries),
            Fault::Recalled if self.db.faults.withholds() => Ok(()),
            _ => self.db.apply(entries),
        }
    }
}

impl Drop for FaultySession<'_> {
    fn drop(&mut self) {
        // The end of a session answers nothing.
        let _ = self.db.hostile.at("session-close");
    }
}

/// A position among the keys.
struct FaultyCursor<'db> {
    db: &'db Faulty,
    at: Option<Blob>,
    lent: Option<(Blob, Blob)>,
    /// A record that another one came before.
    held_back: Option<(Blob, Blob)>,
}

impl Cursor for FaultyCursor<'_> {
    fn seek(&mut self, key: Option<&[u8]>, direction: Direction) -> Result<Option<Record<'_>>, Error> {
        self.db.hostile.at("seek")?;
        let store = self.db.reading()?;
        let found = match (key, direction) {
            (Some(key), Direction::Forward) => store.forward(key, true),
            (Some(key), Direction::Backward) => store.backward(key, true),
            (None, Direction::Forward) => store.first(),
            (None, Direction::Backward) => store.last(),
        };
        self.held_back = None;
        self.at = found.map(|(key, _)| Blob::clone(key));
        self.lent = found.map(|(key, version)| (Blob::clone(key), self.db.value(&store, key, version)));
        Ok(self.record())
    }

    fn next(&mut self) -> Result<Option<Record<'_>>, Error> {
        self.db.hostile.at("next")?;
        self.step(|store, key| store.forward(key, false))
    }

    fn previous(&mut self) -> Result<Option<Record<'_>>, Error> {
        self.db.hostile.at("previous")?;
        self.step(|store, key| store.backward(key, false))
    }
}

impl FaultyCursor<'_> {
    /// Goes to the record `beside` the present one. At the end it stays where it was.
    fn step(
        &mut self,
        beside: impl for<'s> Fn(&'s Store, &[u8]) -> Option<(&'s Blob, &'s Version)>,
    ) -> Result<Option<Record<'_>>, Error> {
        self.lent = self.held_back.take();
        if self.lent.is_some() {
            return Ok(self.record());
        }
        let store = self.db.reading()?;
        let Some(first) = self.at.as_ref().and_then(|at| beside(&store, at)) else { return Ok(None) };
        let second = || beside(&store, first.0);
        let out = |(key, version): (&Blob, &Version)| (Blob::clone(key), self.db.value(&store, key, version));
        let faults = &self.db.faults;
        let given = if let Some(second) = faults.strike(Fault::ScanSkip, second) {
            second
        } else if let Some(second) = faults.strike(Fault::ScanOrder, second) {
            self.held_back = Some(out(first));
            second
        } else {
            first
        };
        self.lent = Some(out(given));
        self.at = Some(Blob::clone(given.0));
        Ok(self.record())
    }

    fn record(&self) -> Option<Record<'_>> {
        self.lent.as_ref().map(|(key, value)| (&**key, &**value))
    }
}
