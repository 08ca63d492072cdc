//! When a fault strikes, and what it does.

use crate::fault::Fault;
use crate::late::{LatePuts, Put};
use crate::store::{Blob, Store, Version};
use crate::syncing::Synced;
use kvdyno_abi::adapter::{DurabilityLevel, Error};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Bound;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

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
    /// Reads, where the fault needs to know.
    reads: AtomicU64,
    pub late: LatePuts,
}

impl Faults {
    pub fn new(fault: Fault, after: u64, every: u64, fill_limit: u64, delay: usize) -> Self {
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
            reads: zero(),
            late: LatePuts::new(delay),
        }
    }

    /// The thing that is synced before a write is acknowledged at `level`.
    pub fn synced_at(&self, level: DurabilityLevel) -> Synced {
        let strikes = level == DurabilityLevel::Commit && self.fault.changes_syncs() && self.strikes(self.fault);
        if strikes { self.fault.syncs(self.injected.load(Relaxed)) } else { Synced::Log }
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
        let due = number > self.after
            && match fault {
                Fault::DroppedWhile => number <= self.after + self.every,
                _ => (number - self.after).is_multiple_of(self.every),
            };
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

    /// The puts to be done instead of one that is put off; absent if it is not.
    pub fn at_late_put(&self, key: &[u8], value: &[u8]) -> Option<Vec<Put>> {
        use Fault::{LateLastWrite, LateWrite, SwappedWrites};
        let is_late = matches!(self.fault, LateWrite | LateLastWrite | SwappedWrites) && self.strikes(self.fault);
        is_late.then(|| self.late.put_off(self.fault, (key.into(), value.into())))
    }

    /// Counts a read for `seen` too, the number of those that its session knows of.
    pub fn count_read(&self, seen: &mut u64) {
        if self.fault == Fault::DroppedBesideReads {
            self.reads.fetch_add(1, Relaxed);
            *seen += 1;
        }
    }

    /// Whether a put is dropped because another session has read since the put before it. `seen` are the reads that its
    /// session knows of.
    pub fn drops_beside_reads(&self, seen: &mut u64) -> bool {
        let reads = self.reads.load(Relaxed);
        std::mem::replace(seen, reads) != reads && self.strikes(Fault::DroppedBesideReads)
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
        use Fault::{EnospcPut, ErrorPut, FillDisk, HangPut, Noisy, SegvPut, SlowPut};
        if !matches!(self.fault, SegvPut | HangPut | ErrorPut | EnospcPut | FillDisk | SlowPut | Noisy)
            || !self.strikes(self.fault)
        {
            return Ok(());
        }
        match self.fault {
            SegvPut => segv(),
            HangPut => hang(),
            EnospcPut => File::options().write(true).open("/dev/full")?.write_all(b"x")?,
            FillDisk => self.fill(folder)?,
            SlowPut => thread::sleep(Duration::from_millis(50)),
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
                Fault::MadeUpValues => made_up(now),
                Fault::LongValue => [now, &[0][..]].concat().into(),
                _ => return None,
            };
            (wrong != *now).then_some(wrong)
        })
    }

    /// Whether the fault changes what reads give.
    pub fn distorts(&self) -> bool {
        use Fault::{FlippedBit, LongValue, MadeUpValues, OldValue, OtherKey, ShortValue, TornValue};
        matches!(self.fault, OtherKey | OldValue | TornValue | FlippedBit | ShortValue | LongValue | MadeUpValues)
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

/// A value of which only the first two words were kept, its record and its version. The rest comes from them and from
/// a seed that is guessed.
fn made_up(now: &[u8]) -> Blob {
    const SEED: u64 = 1;
    let (kept, rest) = now.split_at(now.len().min(16));
    let mix = |state: u64, byte: &u8| (state ^ u64::from(*byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let mut state = kept.iter().fold(SEED, mix);
    let made_up = rest.iter().map(|_| {
        state = mix(state, &0);
        (state >> 56) as u8
    });
    kept.iter().copied().chain(made_up).collect()
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
