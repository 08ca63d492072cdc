//! The tools of a check: the engine, folders for its databases, and a file to say what it is doing.

use std::fs;
use std::io::{self, Write, stderr};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use kvdyno_dataset::Stream;
use kvdyno_engine::{
    AbiCode, Adapter, Choice, Compression, Database, Durability, EngineError, EngineSettings, Hints, Host, Session, abi,
};
use serde::{Deserialize, Serialize};

use crate::finding::{During, Finding};
use crate::progress;
use crate::records::Records;
use crate::subject::Subject;

/// Makes the command that starts this program again and brings it to call [`crate::child()`] with this text.
pub type Relaunch = fn(&str) -> io::Result<Command>;

/// The pains that a check takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// Time limit of the check: one that takes longer hangs.
    pub patience: Duration,
    /// Number of processes that it kills while they write, if that is what it does.
    pub kills: u32,
    /// Its random moments come from this.
    pub seed: u64,
}

/// The engine that is checked, and a folder of the check's own.
#[derive(Debug)]
pub struct Bench {
    /// The choice of engine and options.
    pub subject: Subject,
    /// The same, loaded.
    pub choice: Choice,
    /// For everything that the check leaves behind.
    pub folder: PathBuf,
    /// The check's log: all that its processes print.
    pub(crate) log: PathBuf,
    /// The pains that the check takes; its seed is no other check's.
    pub effort: Effort,
    pub(crate) relaunch: Relaunch,
    locations: AtomicU32,
}

const LONGEST_SPELL: Duration = Duration::from_secs(30);

/// Prefix of a log line that says what a check does next; lines without it are the engine's output.
pub(crate) const STEP_MARK: &str = "kvdyno: ";
/// The file in a check's folder with its current step.
pub(crate) const STEP: &str = "step";
/// The file in a check's folder with a remark beside its verdict.
pub(crate) const REMARK: &str = "remark";
/// The file in a check's folder with the number of its kills.
pub(crate) const KILLS: &str = "kills";
/// Prefix of the names of a check's databases.
pub(crate) const DATABASE: &str = "database-";
/// The file in a check's folder that says that the engine may keep something outside of its databases' folders.
pub(crate) const DESTROYS: &str = "destroys";

impl Bench {
    pub(crate) fn new(
        subject: Subject,
        folder: PathBuf,
        log: PathBuf,
        effort: Effort,
        relaunch: Relaunch,
    ) -> Result<Bench, Finding> {
        progress::begin(&folder);
        let choice = subject.choose()?;
        if choice.adapter().table().destroy.is_some() {
            fs::write(folder.join(DESTROYS), "")?;
        }
        Ok(Bench { choice, subject, folder, log, effort, relaunch, locations: AtomicU32::new(0) })
    }

    /// The adapter.
    pub fn adapter(&self) -> &'static Adapter {
        self.choice.adapter()
    }

    /// Whether every one of `capabilities` is declared, and holds with the options.
    pub fn can(&self, capabilities: u64) -> bool {
        self.choice.adapter().can(capabilities)
    }

    /// Whether a durability level is declared.
    pub fn meets(&self, level: Durability) -> bool {
        self.adapter().table().durabilities >> level.code() & 1 == 1
    }

    /// Whether a compression is declared.
    pub fn compresses(&self, kind: Compression) -> bool {
        self.adapter().table().compressions >> kind.code() & 1 == 1
    }

    /// Time for which a check may repeat an action as often as it can: half of its time limit, at most half a minute.
    /// The other half is reserved for a busy machine. Longer repetition finds nothing new: a longer limit is for slower
    /// machines and engines.
    pub fn spell(&self) -> Duration {
        (self.effort.patience / 2).min(LONGEST_SPELL)
    }

    /// The moments of a check's random actions: the same for the same seed.
    pub(crate) fn moments(&self) -> Stream {
        Stream::new(self.effort.seed)
    }

    /// Notes what is done next, for the case that it is the last that was heard of the process.
    pub fn step(&self, what: &str) {
        // A failure to write it is no fault of the engine.
        let _ = fs::write(self.folder.join(STEP), what);
        let _ = writeln!(stderr(), "{STEP_MARK}{what}");
    }

    /// Leaves a remark beside the verdict, such as that less was tried than would have been.
    pub fn remark(&self, what: &str) {
        // As above.
        let _ = fs::write(self.folder.join(REMARK), what);
    }

    /// Leaves the number of processes that were killed.
    pub fn killed(&self, number: u32) {
        // As above.
        let _ = fs::write(self.folder.join(KILLS), number.to_string());
    }

    /// The settings that a check opens databases with if it has no reason for others: a write buffer that little data
    /// fills, and a cache that holds all of it; durability `process` and no compression where there is a choice.
    pub fn lab(&self) -> EngineSettings {
        let durability = [Durability::Process, Durability::Periodic, Durability::Commit, Durability::None];
        let compression = Compression::ALL.iter().copied().find(|kind| self.compresses(*kind));
        EngineSettings {
            durability: durability.into_iter().find(|level| self.meets(*level)).unwrap_or(Durability::None),
            sync_period_ms: 50,
            compression: compression.unwrap_or(Compression::None),
            cache_bytes: 64 << 20,
            write_buffer_bytes: 4 << 20,
        }
    }

    /// Records whose keys and values fit the engine.
    pub fn records(&self) -> Records {
        Records::fitting(self.adapter().table(), 100)
    }

    /// A new, empty folder with the usual settings.
    pub fn location(&self) -> Result<DatabaseLocation<'_>, Finding> {
        self.location_with(&self.choice, self.lab())
    }

    /// A new, empty folder with other options or settings.
    pub fn location_with<'b>(
        &'b self,
        choice: &'b Choice,
        lab: EngineSettings,
    ) -> Result<DatabaseLocation<'b>, Finding> {
        let number = self.locations.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.join(format!("{DATABASE}{number}"));
        fs::create_dir(&folder).during("making a folder")?;
        let sessions = if self.can(abi::IS_SINGLE) { 1 } else { HINTS.sessions };
        Ok(DatabaseLocation { choice, lab, hints: Hints { sessions, ..HINTS }, folder })
    }

    /// Works on a new database, and closes it.
    pub fn with_database(&self, work: impl FnOnce(&Database) -> Result<(), Finding>) -> Result<(), Finding> {
        self.location()?.created(work)
    }

    /// Works on a new database through one session, and closes it.
    pub fn with_session(&self, work: impl FnOnce(&mut Session<'_>) -> Result<(), Finding>) -> Result<(), Finding> {
        self.with_database(|database| work(&mut session(database)?))
    }
}

/// Hints about the checks' databases.
const HINTS: Hints = Hints {
    records: 100_000,
    key_size: 16,
    value_size: 100,
    largest_value: 100,
    prefix_size: 0,
    sessions: 16,
    processes: 1,
    session_durabilities: 0,
};

/// A folder for a database, and what the database is opened with.
#[derive(Clone, Debug)]
pub struct DatabaseLocation<'b> {
    /// The engine with its options.
    pub choice: &'b Choice,
    /// The lab's settings.
    pub lab: EngineSettings,
    /// The hints for the engine.
    pub hints: Hints,
    /// The folder.
    pub folder: PathBuf,
}

impl DatabaseLocation<'_> {
    /// Makes the database.
    ///
    /// # Errors
    /// The engine's error.
    pub fn create(&self) -> Result<Database, EngineError> {
        let created = Database::open(self.choice, &self.lab, &self.hints, &self.folder, true);
        progress::answered();
        created
    }

    /// Opens the database that is there.
    ///
    /// # Errors
    /// The engine's error.
    pub fn open(&self) -> Result<Database, EngineError> {
        let opened = Database::open(self.choice, &self.lab, &self.hints, &self.folder, false);
        progress::answered();
        opened
    }

    /// Works on the database after making it, and closes it.
    pub fn created(&self, work: impl FnOnce(&Database) -> Result<(), Finding>) -> Result<(), Finding> {
        closing(self.create().during("creating a database")?, work)
    }

    /// Works on the database that is there, and closes it.
    pub fn opened(&self, work: impl FnOnce(&Database) -> Result<(), Finding>) -> Result<(), Finding> {
        closing(self.open().during("opening the database again")?, work)
    }
}

fn closing(database: Database, work: impl FnOnce(&Database) -> Result<(), Finding>) -> Result<(), Finding> {
    work(&database)?;
    database.close().during("closing the database")
}

/// The answer of [`recall`] for every key.
pub(crate) const RECALLED: &[u8] = b"what the lab last stored under the key";

/// A session for this thread. For an engine without threads a check that wants more than one session in its process, or
/// one on another thread than the database's, ends here: it does not apply.
///
/// # Errors
/// The engine's error.
pub fn session(database: &Database) -> Result<Session<'_>, Finding> {
    if let Some(reason) = database.refuses_session() {
        return Err(Finding::NotApplicable(reason.to_owned()));
    }
    // SAFETY: the host is static and nobody writes to it; `recall` takes no context.
    let opened = unsafe { database.session(&raw const HOST.0) };
    progress::answered();
    opened.during("opening a session")
}

struct SharedHost(Host);

// SAFETY: its one pointer is NULL.
unsafe impl Sync for SharedHost {}

static HOST: SharedHost = SharedHost(Host {
    size: size_of::<Host>() as u32,
    reserved: 0,
    context: std::ptr::null_mut(),
    recall: Some(recall),
});

unsafe extern "C" fn recall(
    _context: *mut std::ffi::c_void,
    _key: *const std::ffi::c_void,
    _key_size: usize,
    value: *mut abi::Bytes,
) -> abi::Status {
    // SAFETY: the caller, who follows the header, gives memory for the bytes' address and size.
    unsafe { *value = abi::Bytes { data: RECALLED.as_ptr().cast(), size: RECALLED.len() } };
    abi::OK
}

/// Whether an error has a text of the engine's own. Without one the host says so.
pub(crate) fn has_text(error: &EngineError) -> bool {
    !error.reason.ends_with("no reason")
}
