//! Which fault, when it strikes, and what it does.

use crate::store::{Blob, Store, Version};
use kvdyno_abi::adapter::{DurabilityLevel, Error};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Bound;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $name:literal $fault:ident)*) => {
        /// The kind of failure.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault {
            /// Nothing does.
            None,
            $($(#[doc = $doc])+ $fault),*
        }

        impl Fault {
            /// All names, as an option's choices are spelled.
            pub const CHOICES: &CStr = {
                let names = concat!("none", $("|", $name,)* "\0");
                match CStr::from_bytes_with_nul(names.as_bytes()) {
                    Ok(text) => text,
                    Err(_) => panic!("a name with a zero byte"),
                }
            };

            /// The fault of that name.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    "none" => Some(Self::None),
                    $($name => Some(Self::$fault),)*
                    _ => None,
                }
            }
        }
    };
}

faults! {
    /// A read writes to an address near NULL.
    "segv-get" SegvGet
    /// A write writes to an address near NULL.
    "segv-put" SegvPut
    /// The opening writes to an address near NULL.
    "segv-open" SegvOpen
    /// The closing writes to an address near NULL, before anything is saved.
    "segv-close" SegvClose
    /// A read aborts the process.
    "abort-get" AbortGet
    /// A read leaves the process with exit code 0, as if all were well.
    "exit-get" ExitGet
    /// The opening leaves the process with exit code 3.
    "exit-open" ExitOpen
    /// A read never returns.
    "hang-get" HangGet
    /// A write never returns.
    "hang-put" HangPut
    /// The opening never returns.
    "hang-open" HangOpen
    /// The closing never returns.
    "hang-close" HangClose
    /// A read answers ERROR.
    "error-get" ErrorGet
    /// A write answers ERROR and stores nothing.
    "error-put" ErrorPut
    /// The opening answers ERROR.
    "error-open" ErrorOpen
    /// A write meets a full device (`/dev/full`), answers NO_SPACE and stores nothing.
    "enospc-put" EnospcPut
    /// A write fills the filesystem of the database with garbage, which stays; then as `enospc-put`.
    "fill-disk" FillDisk
    /// A read gives the value of another key.
    "other-key" OtherKey
    /// A read gives the value before the newest.
    "old-value" OldValue
    /// A read gives the first half of the newest value and the second half of the one before or of another key's.
    "torn-value" TornValue
    /// A read gives the value with one bit changed, each time another one.
    "flipped-bit" FlippedBit
    /// A read gives the value without its last byte.
    "short-value" ShortValue
    /// A read gives the value with a byte more.
    "long-value" LongValue
    /// A read of a key that is there answers MISS.
    "missing" Missing
    /// A put, a delete or a step of a batch is acknowledged and not done.
    "dropped-write" DroppedWrite
    /// A delete is acknowledged and not done.
    "undone-delete" UndoneDelete
    /// A record that was deleted is there again after the next delete.
    "ghost" Ghost
    /// The deletion of a range takes the key after it, too.
    "long-range" LongRange
    /// The deletion of a range is two steps, which others can see between.
    "half-range" HalfRange
    /// The deletion of a range in which nothing lies answers ERROR.
    "empty-range" EmptyRange
    /// An insert-if-absent replaces what is there.
    "blind-insert" BlindInsert
    /// An insert-if-absent is answered as if the key were there, which it is not.
    "refused-insert" RefusedInsert
    /// A cursor passes over a record.
    "scan-skip" ScanSkip
    /// A cursor gives two records in the wrong order.
    "scan-order" ScanOrder
    /// A cursor gives a record twice.
    "scan-twice" ScanTwice
    /// A cursor ends before the last record.
    "scan-short" ScanShort
    /// A seek forward passes over the first record.
    "seek-skip" SeekSkip
    /// A seek forward gives a record that was deleted, if one stood before the first.
    "seek-ghost" SeekGhost
    /// A cursor goes beyond its bounds.
    "unbounded" Unbounded
    /// A cursor's seek finds what lies beyond its bounds.
    "unbounded-seek" UnboundedSeek
    /// A transaction does not see what it wrote itself.
    "blind-transaction" BlindTransaction
    /// A snapshot shows what was written after its begin.
    "late-snapshot" LateSnapshot
    /// A commit applies only the first write of a transaction.
    "half-transaction" HalfTransaction
    /// A transaction reads what another has written and not committed.
    "dirty-read" DirtyRead
    /// A transaction commits over what another has committed since it read.
    "lost-update" LostUpdate
    /// A read-modify-write builds on the value before the newest, as if another had come between: one of both is lost.
    "lost-atomic-update" LostAtomicUpdate
    /// A transaction that reads a record again sees what another has committed since.
    "unrepeated-read" UnrepeatedRead
    /// A session keeps the durability of its database, whatever level it was told.
    "weak-write" WeakWrite
    /// A write at durability `commit` is acknowledged without a sync.
    "unsynced-commit" UnsyncedCommit
    /// The same, but a file that has nothing to do with it is synced.
    "synced-elsewhere" SyncedElsewhere
    /// At durability `periodic` the log is never synced.
    "unsynced-log" UnsyncedLog
    /// A read takes 50 ms longer.
    "slow-get" SlowGet
    /// Before the first record and after the last one stands another, which nobody wrote.
    "phantom" Phantom
    /// A session is the only one that sees its writes.
    "private" Private
    /// Nothing is kept, and reads are left to the host's `recall`; without one they answer MISS.
    "recalled" Recalled
    /// The closing saves every other record only, and says OK.
    "lost-at-close" LostAtClose
    /// The closing saves nothing, and says OK.
    "forgotten-at-close" ForgottenAtClose
    /// The closing saves of each record the version before the newest, and none where there is none.
    "older-at-close" OlderAtClose
    /// The closing saves each record with the value of another.
    "swapped-at-close" SwappedAtClose
    /// The closing saves each record with half of its value and half of another.
    "torn-at-close" TornAtClose
    /// The closing saves each record without the last byte of its value.
    "short-at-close" ShortAtClose
    /// The closing saves the records that were deleted, too.
    "undeleted-at-close" UndeletedAtClose
    /// Opening, closing and every N-th operation print a lot to stdout and stderr.
    "noisy" Noisy
    /// A write that the storage refuses is acknowledged all the same.
    "error-as-ok" ErrorAsOk
    /// A deletion of a record or a range, or an insert on condition, is acknowledged though the storage refuses it.
    /// Other writes are not.
    "error-as-done" ErrorAsDone
    /// Whether a key is there is answered with no if a file cannot be opened.
    "error-as-absent" ErrorAsAbsent
    /// In a snapshot a write is acknowledged, and done.
    "written-snapshot" WrittenSnapshot
    /// A read opens a file first, and answers MISS if it cannot.
    "error-as-miss" ErrorAsMiss
    /// An error leaves no text.
    "error-without-text" ErrorWithoutText
    /// The closing saves nothing if the storage refuses it, and says OK.
    "close-as-ok" CloseAsOk
    /// The counters say that nothing was counted.
    "counters-back" CountersBack
    /// A session leaves 290 bytes behind.
    "leaky-session" LeakySession
    /// The opening takes 50 ms longer.
    "slow-open" SlowOpen
    /// The closing takes 300 ms longer.
    "slow-close" SlowClose
}

/// More than a pipe holds, so that a parent that does not read blocks us.
const NOISE_AT_OPEN: usize = 256 << 10;
const NOISE_AT_OPERATION: usize = 4 << 10;

/// A database's fault and its count of operations.
#[derive(Debug)]
pub struct Faults {
    pub fault: Fault,
    /// Operations before the count begins.
    after: u64,
    /// Interval between hits: every N-th of the later operations is hit.
    every: u64,
    /// `fill-disk` gives up here: a typing error must not fill a workstation.
    fill_limit: u64,
    seen: AtomicU64,
    /// Puts, inserts, deletes, read-modify-writes and steps of batches.
    puts: AtomicU64,
    /// A fault was due on an operation that could not take it: the next that can does.
    owed: AtomicBool,
    injected: AtomicU64,
    /// The record that comes back with the next delete.
    ghost: Mutex<Option<(Blob, Blob)>>,
    /// All that were deleted, where seeks give such.
    graves: Mutex<BTreeMap<Blob, Blob>>,
}

impl Faults {
    pub fn new(fault: Fault, after: u64, every: u64, fill_limit: u64) -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            fault,
            after,
            every,
            fill_limit,
            seen: zero(),
            puts: zero(),
            owed: AtomicBool::new(false),
            injected: zero(),
            ghost: Mutex::new(None),
            graves: Mutex::default(),
        }
    }

    /// The level at which a write is stored that is acknowledged at `level`.
    pub fn stored_at(&self, level: DurabilityLevel) -> Result<DurabilityLevel, Error> {
        if level == DurabilityLevel::Commit && self.strikes(Fault::UnsyncedCommit) {
            return Ok(DurabilityLevel::Process);
        }
        if level == DurabilityLevel::Commit && self.strikes(Fault::SyncedElsewhere) {
            File::open("/proc/self/exe")?.sync_all()?;
            return Ok(DurabilityLevel::Process);
        }
        Ok(level)
    }

    /// Puts, inserts, deletes, read-modify-writes and steps of batches that have begun.
    pub fn writes(&self) -> u64 {
        self.puts.load(Relaxed)
    }

    /// Operations that the fault could have hit, and those that it did hit.
    pub fn counts(&self) -> (u64, u64) {
        (self.seen.load(Relaxed), self.injected.load(Relaxed))
    }

    /// Counts an operation that `fault` can hit, and tries `harm` if this operation is due. If `harm` can do nothing
    /// here, for example because there is no older version, the next operation is due.
    pub fn strike<T>(&self, fault: Fault, harm: impl FnOnce() -> Option<T>) -> Option<T> {
        if fault != self.fault || fault == Fault::None {
            return None;
        }
        let number = self.seen.fetch_add(1, Relaxed) + 1;
        let due = number > self.after && (number - self.after).is_multiple_of(self.every);
        let owed = self.owed.load(Relaxed) && self.owed.swap(false, Relaxed);
        if !due && !owed {
            return None;
        }
        let harmed = harm();
        if harmed.is_some() {
            self.injected.fetch_add(1, Relaxed);
        } else {
            self.owed.store(true, Relaxed);
        }
        harmed
    }

    /// Whether it is this operation's turn.
    pub fn strikes(&self, fault: Fault) -> bool {
        self.strike(fault, || Some(())).is_some()
    }

    /// Before the database is opened. There is one opening, so it is always its turn.
    pub fn at_open(&self) -> Result<(), Error> {
        match self.fault {
            Fault::SegvOpen => segv(),
            Fault::ExitOpen => exit(3),
            Fault::HangOpen => hang(),
            Fault::ErrorOpen => return Err(Error::new("injected by fault=error-open")),
            Fault::Noisy => noise(NOISE_AT_OPEN),
            Fault::SlowOpen => thread::sleep(Duration::from_millis(50)),
            _ => {}
        }
        Ok(())
    }

    /// The answer to a write that the store tried.
    pub fn after_write(&self, tried: Result<(), Error>) -> Result<(), Error> {
        match (self.fault, tried) {
            (Fault::ErrorAsOk, Err(_)) => Ok(()),
            (Fault::ErrorWithoutText, Err(error)) => Err(Error::with_status(error.status(), "")),
            (_, tried) => tried,
        }
    }

    /// The same of one that deletes, or inserts on condition.
    pub fn after_change(&self, tried: Result<(), Error>) -> Result<(), Error> {
        match (self.fault, self.after_write(tried)) {
            (Fault::ErrorAsDone, Err(_)) => Ok(()),
            (_, tried) => tried,
        }
    }

    /// Whether a read finds nothing, for it cannot open a file.
    pub fn cannot_look(&self, folder: &Path) -> bool {
        self.fault == Fault::ErrorAsMiss && File::open(folder.join("faulty.data")).is_err()
    }

    /// Whether a key seems not to be there, for the same reason.
    pub fn cannot_tell(&self, folder: &Path) -> bool {
        self.fault == Fault::ErrorAsAbsent && File::open(folder.join("faulty.data")).is_err()
    }

    /// When a session is opened.
    pub fn at_session(&self) {
        if self.fault == Fault::LeakySession {
            std::hint::black_box(vec![0u8; 290].leak());
        }
    }

    /// Before the database is saved and closed.
    pub fn at_close(&self) {
        match self.fault {
            Fault::SegvClose => segv(),
            Fault::HangClose => hang(),
            Fault::SlowClose => thread::sleep(Duration::from_millis(300)),
            Fault::Noisy => noise(NOISE_AT_OPEN),
            _ => {}
        }
    }

    /// The record that comes back now, as `key` is deleted; and whether it is deleted at all.
    pub fn at_delete(&self, store: &Store, key: &[u8]) -> (Option<(Blob, Blob)>, bool) {
        let Some(version) = store.get(key) else { return (None, true) };
        if self.fault == Fault::SeekGhost {
            lock(&self.graves).insert(key.into(), Blob::clone(&version.now));
        }
        if self.strikes(Fault::UndoneDelete) {
            return (None, false);
        }
        let mut ghost = lock(&self.ghost);
        let back = ghost.take();
        if self.strikes(Fault::Ghost) {
            *ghost = Some((key.into(), Blob::clone(&version.now)));
        }
        (back, true)
    }

    /// The record that a seek from `key` on gives instead of the first one, which stands at `found`.
    pub fn at_seek(&self, store: &Store, key: &[u8], found: &[u8]) -> Option<(Blob, Blob)> {
        let grave = || {
            let graves = lock(&self.graves);
            let between = (Bound::Included(key), Bound::Excluded(found));
            let dead = graves.range::<[u8], _>(between).find(|(key, _)| store.get(key).is_none());
            dead.map(|(key, value)| (Blob::clone(key), Blob::clone(value)))
        };
        (key < found).then(|| self.strike(Fault::SeekGhost, grave)).flatten()
    }

    /// Before a read, while no lock is held.
    pub fn at_get(&self) -> Result<(), Error> {
        use Fault::{AbortGet, ErrorGet, ExitGet, HangGet, Noisy, SegvGet, SlowGet};
        if !matches!(self.fault, SegvGet | AbortGet | ExitGet | HangGet | ErrorGet | SlowGet | Noisy)
            || !self.strikes(self.fault)
        {
            return Ok(());
        }
        match self.fault {
            SegvGet => segv(),
            AbortGet => std::process::abort(),
            ExitGet => exit(0),
            HangGet => hang(),
            SlowGet => thread::sleep(Duration::from_millis(50)),
            Noisy => noise(NOISE_AT_OPERATION),
            _ => return Err(Error::new("injected by fault=error-get")),
        }
        Ok(())
    }

    /// The value of a record that the closing saves. Nothing is changed where there were no more writes than are left
    /// alone.
    pub fn saved(&self, store: &Store, index: usize, key: &[u8], version: &Version) -> Option<Blob> {
        use Fault::{ForgottenAtClose, LostAtClose, OlderAtClose, ShortAtClose, SwappedAtClose, TornAtClose};
        let now = &version.now;
        let other = || store.neighbour(key).map_or_else(|| Blob::from([]), |other| Blob::clone(&other.now));
        match self.fault {
            _ if self.puts.load(Relaxed) <= self.after => Some(Blob::clone(now)),
            LostAtClose => (index.is_multiple_of(2)).then(|| Blob::clone(now)),
            ForgottenAtClose => None,
            OlderAtClose => version.before.clone(),
            SwappedAtClose => Some(other()),
            TornAtClose => Some(torn(now, &other())),
            ShortAtClose => Some(now.split_last().map_or_else(|| Blob::from([]), |(_, rest)| rest.into())),
            _ => Some(Blob::clone(now)),
        }
    }

    /// Whether the closing saves what was deleted, too.
    pub fn undeletes(&self) -> bool {
        self.fault == Fault::UndeletedAtClose && self.puts.load(Relaxed) > self.after
    }

    /// Whether the session alone, or nobody, is to know of a write.
    pub fn withholds(&self) -> bool {
        matches!(self.fault, Fault::Private | Fault::Recalled) && self.puts.load(Relaxed) > self.after
    }

    /// Before a put, a delete or a step of a batch, while no lock is held.
    pub fn at_put(&self, folder: &Path) -> Result<(), Error> {
        self.puts.fetch_add(1, Relaxed);
        use Fault::{EnospcPut, ErrorPut, FillDisk, HangPut, Noisy, SegvPut};
        if !matches!(self.fault, SegvPut | HangPut | ErrorPut | EnospcPut | FillDisk | Noisy)
            || !self.strikes(self.fault)
        {
            return Ok(());
        }
        match self.fault {
            SegvPut => segv(),
            HangPut => hang(),
            EnospcPut => File::options().write(true).open("/dev/full")?.write_all(b"x")?,
            FillDisk => self.fill(folder)?,
            Noisy => noise(NOISE_AT_OPERATION),
            _ => return Err(Error::new("injected by fault=error-put")),
        }
        Ok(())
    }

    /// The wrong answer of a read.
    pub fn distort(&self, store: &Store, key: &[u8], version: &Version) -> Option<Blob> {
        let now = &version.now;
        self.strike(self.fault, || {
            let wrong: Blob = match self.fault {
                Fault::OtherKey => Blob::clone(&store.neighbour(key)?.now),
                Fault::OldValue => Blob::clone(version.before.as_ref()?),
                Fault::TornValue => torn(now, version.before.as_ref().or_else(|| Some(&store.neighbour(key)?.now))?),
                Fault::FlippedBit => flipped(now, self.injected.load(Relaxed))?,
                Fault::ShortValue => now.split_last()?.1.into(),
                Fault::LongValue => [now, &[0][..]].concat().into(),
                _ => return None,
            };
            (wrong != *now).then_some(wrong)
        })
    }

    /// Whether the fault changes what reads give.
    pub fn distorts(&self) -> bool {
        use Fault::{FlippedBit, LongValue, OldValue, OtherKey, ShortValue, TornValue};
        matches!(self.fault, OtherKey | OldValue | TornValue | FlippedBit | ShortValue | LongValue)
    }

    fn fill(&self, folder: &Path) -> Result<(), Error> {
        let path = folder.join("garbage");
        let block = vec![0xA5; 1 << 20];
        let mut file = File::options().create(true).append(true).open(&path)?;
        for _ in 0..self.fill_limit.div_ceil(block.len() as u64) {
            file.write_all(&block)?;
        }
        std::fs::remove_file(&path)?;
        let limit = self.fill_limit;
        Err(Error::new(format_args!("the filesystem is not full after {limit} bytes; use a smaller one or fill_limit")))
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn torn(now: &[u8], other: &[u8]) -> Blob {
    let half = now.len() / 2;
    [&now[..half], &other[half.min(other.len())..]].concat().into()
}

fn flipped(now: &[u8], number: u64) -> Option<Blob> {
    let mut wrong = now.to_vec();
    // A prime steps through all bits of any value, head and tail.
    let bit = number.wrapping_mul(7919).checked_rem(now.len() as u64 * 8)?;
    wrong[bit as usize / 8] ^= 1 << (bit % 8);
    Some(wrong.into())
}

/// The crash of C code at a member of a struct at NULL.
fn segv() {
    let nowhere = std::hint::black_box(std::ptr::without_provenance_mut::<u8>(16));
    // SAFETY: it is not safe, and is meant not to be: no page is mapped there, and the kernel sends SIGSEGV.
    unsafe { nowhere.write_volatile(1) }
}

#[expect(clippy::exit, reason = "the fault is that the process leaves")]
fn exit(code: i32) {
    std::process::exit(code)
}

fn hang() {
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

fn noise(bytes: usize) {
    let line = b"faulty: the engine has a lot to say and says it on the process's own streams\n";
    let text: Vec<u8> = line.iter().copied().cycle().take(bytes).collect();
    // Nobody may be listening; that is no concern of ours.
    let _ = io::stdout().write_all(&text);
    let _ = io::stderr().write_all(&text);
}
