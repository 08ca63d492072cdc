//! The databases of an experiment: made for a load, kept for its runs, removed after the last.
//!
//! Beside each lies what the lab knows of it, so that an interrupted experiment finds out whether it can go on with it:
//! a state, which is clean only between trials, and the ledger of acknowledged versions.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kvdyno_engine::Durability;
use kvdyno_environment::machine::available_kib;
use kvdyno_environment::ownership::Register;
use kvdyno_environment::storage::backing_store::BackingStore;
use kvdyno_environment::storage::{CopyWay, copy_tree, pages};
use kvdyno_model::fnv1a;
use kvdyno_results::{Phase, TrialKey, files};
use kvdyno_worker::shared::LedgerMemory;
use kvdyno_worker::{KnownContents, Written};
use serde::{Deserialize, Serialize};

/// One database with the files beside it.
#[derive(Debug)]
pub struct Slot {
    folder: PathBuf,
    backing_store: BackingStore,
    register: Register,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    /// Loaded, and no trial is or was left in the middle.
    clean: bool,
    /// The contents, as far as they are known; absent before a load has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    contents: Option<KnownContents>,
    /// No trial was killed in it, and no audit by a fresh process was since the last trial.
    #[serde(default)]
    auditable: bool,
    /// The writes of each trial since the load.
    #[serde(default)]
    written: Vec<PartWritten>,
    /// A run has begun on it since the load.
    #[serde(default)]
    worked_on: bool,
    /// The boot of the system in which a load reached its measured part, so that the database exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    load_begun: Option<String>,
}

/// The writes of one trial into a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartWritten {
    /// Its number.
    pub trial: u32,
    /// The load, or the versions.
    pub written: Written,
}

/// The use of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotUse {
    /// It was loaded, and runs work on it.
    WorkedOn,
    /// It was loaded, and runs work on copies of it.
    CopiedFrom,
    /// Runs work on it; it is the copy of this number.
    Copy(usize),
}

/// The state of a database after a trial whose processes ended in order.
pub struct Left {
    /// It can be gone on with.
    pub clean: bool,
    /// Its writes; absent if there were none.
    pub part: Option<PartWritten>,
    /// Its contents now.
    pub contents: KnownContents,
}

/// A database that takes more than one part in so many of the available memory is not kept in the page cache.
const PART_OF_MEMORY: u64 = 2;

/// Reads the pages again that the kernel paged out of a database that is copied, or of a copy: that they are gone is no
/// work of the engine's.
pub(crate) fn fetch_pages(database: &Path) -> io::Result<()> {
    pages::fetch(database, (available_kib() << 10) / PART_OF_MEMORY)
}

/// The kernel's name for the time since it was started.
fn boot() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

impl Slot {
    /// The database that the load `key` makes, or a copy of it, below `base`. `backing_store` makes the backing store
    /// of its folder.
    pub fn new(
        base: &Path,
        key: &TrialKey,
        use_of: SlotUse,
        register: &Register,
        backing_store: impl FnOnce(&Path) -> BackingStore,
    ) -> Slot {
        let (variant, engine, repeat) = (&key.variant, &key.engine, key.repeat);
        let label = if variant.is_empty() { engine.clone() } else { format!("{variant} {engine}") };
        let name: String = label.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        // Two labels may give one name; a hash of the label keeps them apart.
        let tag = fnv1a(label.bytes());
        let suffix = match use_of {
            SlotUse::WorkedOn => String::new(),
            SlotUse::CopiedFrom => "-loaded".to_owned(),
            SlotUse::Copy(number) => format!("-copy{number}"),
        };
        let folder = base.join(format!("{}-{:04x}-{repeat}{suffix}", name.trim_matches('-'), tag & 0xffff));
        Slot { backing_store: backing_store(&folder), folder, register: register.clone() }
    }

    /// The path of the engine's files.
    pub fn database(&self) -> PathBuf {
        self.backing_store.database()
    }

    /// The backing store of the database.
    pub fn backing_store(&self) -> &BackingStore {
        &self.backing_store
    }

    /// Takes what the database lies on from the system: it stays in its file.
    pub fn release(&self) -> io::Result<()> {
        self.backing_store.release(&self.register)
    }

    fn state_file(&self) -> PathBuf {
        self.folder.join("state.json")
    }

    fn ledger_file(&self) -> PathBuf {
        self.folder.join("ledger")
    }

    /// Makes an empty folder or device for a new database. Gives back what [`Slot::remove`] does.
    pub fn prepare(&self, destroy: impl FnOnce(&Path) -> io::Result<Option<String>>) -> io::Result<Option<String>> {
        let complaint = self.remove(destroy)?;
        self.backing_store.make(&self.register)?;
        Ok(complaint)
    }

    /// Whether the database is loaded and no trial was left in the middle. Makes its storage available again if it was
    /// not.
    ///
    /// # Errors
    /// If it is there and cannot be made available.
    pub fn is_clean(&self) -> io::Result<bool> {
        Ok(self.state().clean && self.backing_store.reopen(&self.register)?)
    }

    fn state(&self) -> State {
        fs::read(self.state_file()).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    /// Makes it a copy of another, which is clean: the database, and what is known of it. It must have been prepared.
    /// False if `goes_on` said in between that it should not.
    ///
    /// # Errors
    /// If it cannot be copied.
    pub fn copy_from(&self, loaded: &Slot, way: CopyWay, goes_on: &dyn Fn() -> bool) -> io::Result<bool> {
        if !copy_tree(&loaded.database(), &self.database(), way, goes_on)? {
            return Ok(false);
        }
        match fs::copy(loaded.ledger_file(), self.ledger_file()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // A load is read back in the database that is copied.
        let state = State { clean: true, contents: loaded.state().contents, ..State::default() };
        files::write_json(&self.state_file(), &state)?;
        Ok(true)
    }

    /// Whether a trial has written into it since it was loaded or copied.
    pub fn was_written(&self) -> bool {
        !self.state().written.is_empty()
    }

    /// Whether a run has worked on it since it was loaded.
    pub fn was_worked_on(&self) -> bool {
        self.state().worked_on
    }

    /// Marks the database as in use by a trial of this phase. Gives back what is known to be in it, if
    /// its load has ended.
    pub fn begin_use(&self, phase: Phase) -> io::Result<Option<KnownContents>> {
        let state = State { clean: false, auditable: false, worked_on: phase == Phase::Run, ..self.state() };
        files::write_json(&self.state_file(), &state)?;
        Ok(state.contents)
    }

    /// Says how a trial left it, and keeps what `ledger` knows if it wrote anything. Gives back why that cannot be
    /// true: engines can write there, too. Then nothing is kept.
    pub fn end_use(&self, left: Left, ledger: &LedgerMemory) -> io::Result<Option<String>> {
        let Left { clean, part, contents } = left;
        if let Some(reason) = ledger.implausible(&self.ledger(0)?, contents.last_version) {
            return Ok(Some(reason));
        }
        let State { mut written, worked_on, .. } = self.state();
        if let Some(part) = part {
            files::write_whole(&self.ledger_file(), &ledger.save())?;
            written.push(part);
        }
        let state = State { clean, auditable: true, written, worked_on, contents: Some(contents), load_begun: None };
        files::write_json(&self.state_file(), &state)?;
        Ok(None)
    }

    /// The writes that a fresh process can read back now: those of each trial since the load. The backing store of the
    /// database is made available again if it was not.
    ///
    /// # Errors
    /// If it is there and cannot be made available.
    pub fn to_be_audited(&self) -> io::Result<Vec<PartWritten>> {
        let state = self.state();
        Ok(if state.auditable && self.backing_store.reopen(&self.register)? { state.written } else { Vec::new() })
    }

    /// Notes that a fresh process has read back what there was.
    pub fn end_audit(&self) -> io::Result<()> {
        files::write_json(&self.state_file(), &State { auditable: false, ..self.state() })
    }

    /// Notes that the database was made and its load is under way.
    pub fn begin_load(&self) -> io::Result<()> {
        match files::write_json(&self.state_file(), &State { load_begun: Some(boot()?), ..self.state() }) {
            // The load will not get far either; all that is lost is that it could have gone on.
            Err(error) if error.kind() == io::ErrorKind::StorageFull => Ok(()),
            written => written,
        }
    }

    /// Whether an interrupted load left what it had acknowledged, by the promise of its durability: at `commit` always,
    /// at the levels below as long as the system was not started again.
    pub fn has_part_of_load(&self, durability: Durability) -> io::Result<bool> {
        let State { clean: false, load_begun: Some(begun), .. } = self.state() else { return Ok(false) };
        Ok(self.database().is_dir()
            && match durability {
                Durability::None => false,
                Durability::Process | Durability::Periodic => begun == boot()?,
                Durability::Commit => true,
            })
    }

    /// The ledger after the last trial; a new one for a new database. It records deletions of `deletable` records, and
    /// of records that were deletable before.
    pub fn ledger(&self, deletable: u64) -> io::Result<LedgerMemory> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the saved ledger of the database is damaged");
        match fs::read(self.ledger_file()) {
            Ok(saved) => LedgerMemory::restore(&saved, deletable)?.ok_or_else(damaged),
            Err(error) if error.kind() == io::ErrorKind::NotFound => LedgerMemory::create(deletable),
            Err(error) => Err(error),
        }
    }

    /// The contents that its last trial left; absent if it has none that are known.
    pub fn contents(&self) -> Option<KnownContents> {
        self.state().contents
    }

    /// Removes the database and what is known of it. Before that, `destroy` makes the engine release what it keeps
    /// outside. Returns why the engine could not.
    pub fn remove(&self, destroy: impl FnOnce(&Path) -> io::Result<Option<String>>) -> io::Result<Option<String>> {
        let complaint = match self.backing_store.is_available()? {
            true => destroy(&self.database())?,
            false => None,
        };
        self.backing_store.remove(&self.register)?;
        Ok(complaint)
    }
}
