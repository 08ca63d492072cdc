//! Leftovers of kvdyno processes that have ended: things that are listed in their registers and still exist unchanged.
//!
//! Nothing is identified by its name. A thing that only looks like kvdyno's is reported, and left alone.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::memory::{self, LeftoverGroup};
use crate::ownership::{
    self, FOLDER_VARIABLE, Inode, ReadRegister, Register, RegisterFolder, RunName, Thing, is_still,
};
use crate::storage::backing_store::{self, LeftoverStorage};

/// Time limit for looking at or removing one thing: one that hangs (a network filesystem, a broken disk) is left.
const PATIENCE: Duration = Duration::from_secs(10);

/// One thing that is left over, in words as it is displayed.
#[derive(Clone, Debug)]
pub struct Leftover(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Group(LeftoverGroup),
    Storage(LeftoverStorage),
    Folder(PathBuf, Option<Inode>),
}

/// The leftovers of one process.
#[derive(Debug)]
pub struct LeftoversOfProcess {
    /// In the order in which they can be removed.
    pub things: Vec<Leftover>,
    /// Absent if something could not be looked at: then the register stays.
    register: Option<ReadRegister>,
}

/// Something that is not touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// In words.
    pub what: String,
    /// Why it is left alone.
    pub why: String,
}

/// The register of a process that goes on with a run. Databases that earlier processes of the run left are now its own;
/// their control groups are of no use to it, and removed.
///
/// # Errors
/// If its folder cannot be made, another process works on the leftovers, or a group cannot be removed.
pub fn resumed(run: RunName) -> io::Result<Register> {
    let register = Register::resumed(run)?;
    memory::remove_taken_over(&register)?;
    Ok(register)
}

/// Waits until what killed processes had started has ended, too, but not longer than `patience`: a worker or a tool
/// holds their registers that long. What goes on is left alone by [`leftovers`].
pub fn wait_for_ending(folders: &[RegisterFolder], patience: Duration) {
    let since = Instant::now();
    let is_ending = |register: &ReadRegister| !register.maker.is_alive() && !register.is_abandoned();
    let ending = |folder: &RegisterFolder| folder.registers().is_ok_and(|all| all.iter().any(is_ending));
    while folders.iter().any(ending) && since.elapsed() < patience {
        thread::sleep(Duration::from_millis(20));
    }
}

/// All leftovers of processes with registers in these folders, and the things that are left alone.
pub fn leftovers(folders: &[RegisterFolder]) -> (Vec<LeftoversOfProcess>, Vec<Kept>) {
    let (mut left, mut kept) = (Vec::new(), Vec::new());
    let mut registered = HashSet::new();
    for folder in folders {
        let registers = folder.registers().unwrap_or_else(|cause| {
            kept.push(Kept { what: format!("what stands in {}", folder.path.display()), why: cause.to_string() });
            Vec::new()
        });
        for register in registers {
            registered.extend(register.things.iter().map(|thing| thing.path().to_owned()));
            match register.is_abandoned() {
                true => left.push(of_process(register, &mut kept)),
                false => kept.extend(in_use(&register)),
            }
        }
    }
    kept.extend(lookalikes(&registered, folders));
    (left, kept)
}

fn of_process(register: ReadRegister, kept: &mut Vec<Kept>) -> LeftoversOfProcess {
    let mut things = Vec::new();
    let mut all_seen = true;
    for thing in register.things.clone() {
        let what = thing.path().display().to_string();
        match bounded(move || there(thing)) {
            Ok(one) => things.extend(one),
            Err(cause) => {
                all_seen = false;
                kept.push(Kept { what, why: cause.to_string() });
            }
        }
    }
    // Processes before what they use, filesystems before their devices; they are in this order; folders last.
    things.sort_by_key(|one: &Leftover| match one.0 {
        Kind::Group(_) => 0,
        Kind::Storage(_) => 1,
        Kind::Folder(..) => 2,
    });
    LeftoversOfProcess { things, register: all_seen.then_some(register) }
}

/// The parts of a registered thing that still exist.
fn there(thing: Thing) -> io::Result<Vec<Leftover>> {
    let kinds: Vec<Kind> = match thing {
        Thing::Group { path, inode } => memory::leftover(&path, inode).map(Kind::Group).into_iter().collect(),
        Thing::Storage { point, below } => {
            backing_store::leftovers(&point, &below)?.into_iter().map(Kind::Storage).collect()
        }
        Thing::Folder { path, inode } => {
            is_still(&path, inode).then_some(Kind::Folder(path, inode)).into_iter().collect()
        }
    };
    Ok(kinds.into_iter().map(Leftover).collect())
}

fn in_use(register: &ReadRegister) -> impl Iterator<Item = Kept> {
    let pid = register.maker.pid;
    let why = match register.maker.is_alive() {
        true => format!("process {pid} works with it"),
        false => format!("process {pid} is not seen here, but it or what it started works with it"),
    };
    register.things.iter().map(move |thing| {
        let path = thing.path().display();
        let what = match thing {
            Thing::Group { .. } => format!("the control group {path}"),
            Thing::Storage { .. } => format!("the storage at {path}"),
            Thing::Folder { .. } => format!("the folder {path}"),
        };
        Kept { what, why: why.clone() }
    })
}

fn lookalikes(registered: &HashSet<PathBuf>, folders: &[RegisterFolder]) -> Vec<Kept> {
    let groups = memory::lookalikes().into_iter();
    let groups = groups.map(|path| (format!("the control group {}", path.display()), path));
    let all = groups.chain(backing_store::lookalikes()).filter(|(_, path)| !registered.contains(path));
    let paths: Vec<_> = folders.iter().map(|folder| folder.path.display().to_string()).collect();
    let why = format!(
        "no register in {} has it: another user's kvdyno, one with another {FOLDER_VARIABLE}, or another program made \
         it",
        paths.join(" or ")
    );
    all.map(|(what, _)| Kept { what, why: why.clone() }).collect()
}

impl Leftover {
    /// Whether it is a folder directly in `folder`.
    pub fn is_folder_in(&self, folder: &Path) -> bool {
        matches!(&self.0, Kind::Folder(path, _) if path.parent() == Some(folder))
    }

    /// Removes it, if it is still the same thing.
    ///
    /// # Errors
    /// If it cannot be removed, or that takes too long.
    pub fn remove(&self) -> io::Result<()> {
        let kind = self.0.clone();
        bounded(move || match kind {
            Kind::Group(group) => group.remove(),
            Kind::Storage(storage) => storage.remove(),
            Kind::Folder(path, inode) => ownership::folder::remove(&path, inode),
        })
    }
}

impl LeftoversOfProcess {
    /// Removes the register, once everything in it is removed.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn close(self) -> io::Result<()> {
        self.register.map_or(Ok(()), ReadRegister::close)
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Group(group) => {
                write!(f, "the control group {}", group.folder.display())?;
                let pids: Vec<_> = group.processes.iter().map(u32::to_string).collect();
                if pids.is_empty() { Ok(()) } else { write!(f, " with the processes {}", pids.join(", ")) }
            }
            Kind::Storage(LeftoverStorage::Mount { point, .. }) => write!(f, "the mount at {}", point.display()),
            Kind::Storage(LeftoverStorage::Loop { device, file, .. }) => {
                write!(f, "the loop device {} of {}", device.display(), file.display())
            }
            Kind::Folder(path, _) => write!(f, "the folder {}", path.display()),
        }
    }
}

/// Does the work on a thread of its own, and waits for it for [`PATIENCE`] at most. Work that still hangs ends with
/// this process.
fn bounded<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    let (done, outcome) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    let slow = |_| Err(io::Error::other(format!("no answer within {PATIENCE:?}; it may hang")));
    outcome.recv_timeout(PATIENCE).unwrap_or_else(slow)
}
