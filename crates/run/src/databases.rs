//! The databases of an experiment: made for a load, kept for its runs, removed after the last.
//!
//! Beside each lies what the lab knows of it, so that an interrupted experiment finds out whether it can go on with it:
//! a state, which is clean only between trials, and the ledger of acknowledged versions.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kvdyno_engine::Durability;
use kvdyno_environment::ownership::Register;
use kvdyno_environment::storage::backing_store::BackingStore;
use kvdyno_results::{TrialKey, files};
use kvdyno_worker::Written;
use kvdyno_worker::shared::LedgerMemory;
use serde::{Deserialize, Serialize};

use crate::engine_cleanup::EngineCleanup;

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
    /// Versions up to this one have been written.
    last_version: u64,
    /// No trial was killed in it, and no audit by a fresh process was since the last trial.
    #[serde(default)]
    auditable: bool,
    /// The writes of each trial since the load.
    #[serde(default)]
    written: Vec<PartWritten>,
    /// The system's boot in which a load came to its measured part, so that the database is there.
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

/// How a trial left a database, its processes having ended in order.
pub struct Left {
    /// It can be gone on with.
    pub clean: bool,
    /// Its writes; absent if there were none.
    pub part: Option<PartWritten>,
    /// Versions up to this one have been written.
    pub last_version: u64,
}

/// The kernel's name for the time since it was started.
fn boot() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

impl Slot {
    /// The database of a variant's engine in a repeat, below `base`. `backing_store` says what the folder that it is
    /// given comes to.
    pub fn new(
        base: &Path,
        key: &TrialKey,
        register: &Register,
        backing_store: impl FnOnce(&Path) -> BackingStore,
    ) -> Slot {
        let (variant, engine, repeat) = (&key.variant, &key.engine, key.repeat);
        let label = if variant.is_empty() { engine.clone() } else { format!("{variant} {engine}") };
        let name: String = label.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        // Two labels may come to one name; a hash of the label keeps them apart.
        let tag = label
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        let folder = base.join(format!("{}-{:04x}-{repeat}", name.trim_matches('-'), tag & 0xffff));
        Slot { backing_store: backing_store(&folder), folder, register: register.clone() }
    }

    /// Where the engine keeps its files.
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
    pub fn prepare(&self, engine: EngineCleanup<'_>) -> io::Result<Option<String>> {
        let complaint = self.remove(engine)?;
        self.backing_store.make(&self.register)?;
        Ok(complaint)
    }

    /// Whether the database is loaded and no trial was left in the middle. What it lies on is made available again if
    /// it was not.
    ///
    /// # Errors
    /// If it is there and cannot be made available.
    pub fn is_clean(&self) -> io::Result<bool> {
        Ok(self.state().clean && self.backing_store.reopen(&self.register)?)
    }

    fn state(&self) -> State {
        fs::read(self.state_file()).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    /// Marks the database as in use.
    pub fn begin_use(&self) -> io::Result<u64> {
        let state = State { clean: false, auditable: false, ..self.state() };
        files::write_json(&self.state_file(), &state)?;
        Ok(state.last_version)
    }

    /// Says how a trial left it, and keeps what `ledger` knows if it wrote anything. Gives back why that cannot be
    /// true: engines can write there, too. Then nothing is kept.
    pub fn end_use(&self, left: Left, ledger: &LedgerMemory) -> io::Result<Option<String>> {
        let Left { clean, part, last_version } = left;
        if let Some(reason) = ledger.implausible(&self.ledger()?, last_version) {
            return Ok(Some(reason));
        }
        let mut written = self.state().written;
        if let Some(part) = part {
            files::write_whole(&self.ledger_file(), &ledger.save())?;
            written.push(part);
        }
        let state = State { clean, auditable: true, written, last_version, load_begun: None };
        files::write_json(&self.state_file(), &state)?;
        Ok(None)
    }

    /// The writes that a fresh process can read back now: those of each trial since the load. The backing store of the
    /// database is made available again if it was not.
    ///
    /// # Errors
    /// If it is there and cannot be made available.
    pub fn to_be_audited(&self, register: &Register) -> io::Result<Vec<PartWritten>> {
        let state = self.state();
        Ok(if state.auditable && self.backing_store.reopen(register)? { state.written } else { Vec::new() })
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

    /// Whether a load that was ended in the middle left what it had acknowledged, by the promise of its durability: at
    /// `commit` always, at the levels below as long as the system was not started again.
    pub fn has_part_of_load(&self, durability: Durability) -> io::Result<bool> {
        let State { clean: false, load_begun: Some(begun), .. } = self.state() else { return Ok(false) };
        Ok(self.database().is_dir()
            && match durability {
                Durability::None => false,
                Durability::Process | Durability::Periodic => begun == boot()?,
                Durability::Commit => true,
            })
    }

    /// The ledger as it was after the last trial; a new one for a new database.
    pub fn ledger(&self) -> io::Result<LedgerMemory> {
        let ledger = LedgerMemory::create()?;
        match fs::read(self.ledger_file()) {
            Ok(saved) if ledger.restore(&saved) => Ok(ledger),
            Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "the saved ledger of the database is damaged")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(ledger),
            Err(error) => Err(error),
        }
    }

    /// Removes the database and what is known of it, and before that what the engine keeps outside. Gives back why the
    /// engine could not.
    pub fn remove(&self, engine: EngineCleanup<'_>) -> io::Result<Option<String>> {
        let complaint = match self.backing_store.is_available()? {
            true => engine.destroy(&self.database())?,
            false => None,
        };
        self.backing_store.remove(&self.register)?;
        Ok(complaint)
    }
}
