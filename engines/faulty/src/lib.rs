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
    self, ALL_DURABILITIES, BatchEntry, Config, Counters, Description, Durability, DurabilityLevel, Engine, Error,
    Host, Housekeeping, Listing,
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
mod folding;
mod hidden;
mod hostile;
mod late;
mod options;
mod order;
mod outside;
mod ranges;
mod session;
mod single;
mod store;
mod striking;
mod syncing;
#[cfg(test)]
mod tests;
mod transactions;
mod withheld;

use counting::Flushed;
use fault::Fault;
use hidden::Hidden;
use hostile::Hostile;
use options::OPTIONS;
use order::CallOrder;
use session::FaultySession;
use single::{Home, sessions_can, shares};
use store::{Blob, Store, Version};
use striking::Faults;
use transactions::Uncommitted;

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
    _hidden: Hidden,
}

export_engine!(
    table = kvdyno_abi::Engine {
        destroy: Some(outside::destroy),
        effective_capabilities: Some(single::effective_capabilities),
        ..adapter::table::<Faulty>()
    }
);

fn words_are_known(words: &str) -> Result<(), Error> {
    let names = words.split(';').map(|word| word.split('=').next().unwrap_or_default().trim());
    match names.filter(|name| !name.is_empty()).find(|name| *name != "quietly") {
        Some(unknown) => Err(Error::unsupported(format_args!("words: {unknown} is not known"))),
        None => Ok(()),
    }
}

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
        let words = config.text("words");
        if Fault::named(config.text("fault")) != Some(Fault::UnreadWords) {
            words_are_known(words)?;
        }
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
        list.say("options", "hides", config.text("hides"));
        list.say("options", "writes_first", config.integer("writes_first"));
        list.say("options", "linger", config.bool("linger"));
        list.say("options", "delay", config.integer("delay"));
        list.say("options", "words", if words.is_empty() { "none" } else { words });
        list.say("options", "concurrent", config.bool("concurrent"));
        list.say("options", "single", config.bool("single"));
        Ok(())
    }

    fn open(path: &Path, config: &Config<'_>) -> Result<Self, Error> {
        let name = config.text("fault");
        let fault = Fault::named(name).ok_or_else(|| Error::unsupported(format_args!("fault={name}")))?;
        let number = |option| config.integer(option).unsigned_abs();
        let most = config.size("fill_limit");
        let faults = Faults::new(fault, number("after"), number("every").max(1), most, number("delay") as usize);
        let hostile = Hostile::new(config.text("hook"), config.text("does"), number("after"), most, path);
        faults.at_open()?;
        hostile.at("open")?;
        if config.bool("outside") || !hostile.of_destroy().is_empty() {
            outside::leave(path, hostile.of_destroy())?;
        }
        sessions_can(config)?;
        let mut levels = config.session_durabilities().chain([config.durability().level()]);
        let logs = levels.any(|level| level > DurabilityLevel::None);
        let home = hidden::home(config.text("hides"), path)?;
        let mut store = Store::open(&home, config.create(), fault.of_log(config.durability()), logs, shares(config)?)?;
        if fault == Fault::FoldedValues {
            folding::unfold(&mut store, path)?;
        }
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
            _hidden: Hidden::keep(config.text("hides"), config.size("fill_limit") as usize, path)?,
        })
    }

    fn close(self) -> Result<(), Error> {
        self.home.check()?;
        self.faults.at_close();
        self.hostile.at("close")?;
        self.hostile.wait();
        let kept = |store: &Store, index, key: &[u8], version: &Version| self.faults.saved(store, index, key, version);
        self.do_late_puts()?;
        if self.faults.fault == Fault::FoldedValues {
            folding::fold(&mut *self.writing()?, &self.folder)?;
        }
        let saved = self.writing()?.close(kept, self.faults.undeletes());
        if self.faults.fault == Fault::CloseAsOk { Ok(()) } else { saved }
    }

    fn session(&self, host: Host) -> Result<FaultySession<'_>, Error> {
        self.hostile.at("session")?;
        self.faults.at_session();
        self.do_late_puts()?;
        FaultySession::begin(self, host)
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
        (store.level, store.syncs) = (level, self.faults.synced_at(level));
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
        match self.faults.late.all() {
            late if late.is_empty() => Ok(()),
            late => self.writing()?.apply(&entries_of(&late)),
        }
    }

    /// Whether a write is done; otherwise it is only acknowledged.
    fn takes(&self) -> Result<bool, Error> {
        self.faults.at_put(&self.folder)?;
        Ok(!self.faults.strikes(Fault::DroppedWrite) && !self.faults.strikes(Fault::DroppedWhile))
    }
}

fn entries_of(puts: &[(Blob, Blob)]) -> Vec<BatchEntry<'_>> {
    puts.iter().map(|(key, value)| BatchEntry::Put { key, value }).collect()
}
