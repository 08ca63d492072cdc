//! The lock that allows one run per folder.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::ownership::{LockedFile, Maker, RunName};

/// The file in the folder that bears the lock. It stays when the lock goes: removing it would let two in.
const NAME: &str = ".lock";

/// Time for which a holder's processes may outlive it.
const AFTER_DEATH: Duration = Duration::from_secs(1);

/// No token is as long.
const MOST_BYTES: u64 = 4096;

/// A folder that nobody else may work in while this lives.
///
/// The lock is the kernel's (`flock`), so it ends with its holder, however that dies. The file bears the token of the
/// holder, so that the folder is known as its run's when that is resumed, and the holder is named to others.
#[derive(Debug)]
pub struct FolderLock {
    _file: LockedFile,
    path: PathBuf,
    maker: Maker,
}

/// Why a folder was not locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another run works there.
    #[error("{} is in use by {}; wait for it to end, or choose another folder", path.display(), holder(*pid))]
    Held {
        /// The folder.
        path: PathBuf,
        /// The process that holds it, as far as it said.
        pid: Option<u32>,
    },
    /// It is another user's, who could put links where files are to be written.
    #[error(
        "{} belongs to the user {owner}, who could change what is written there; choose another folder, move this one \
         away, or run kvdyno as that user",
        path.display()
    )]
    NotOwn {
        /// The folder or its lock's file.
        path: PathBuf,
        /// The number of the user.
        owner: u32,
    },
    /// It is not the folder of this run.
    #[error("{} is not of this run, as its .lock says; move it away, or remove it if nobody needs it", path.display())]
    OtherRun {
        /// The folder.
        path: PathBuf,
    },
    /// The lock's file could not be made, read or locked.
    #[error("cannot lock {}: {cause}", path.display())]
    Io {
        /// The lock's file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

impl FolderLock {
    /// Locks the folder `path`, which exists. Does not wait. It is then known as the run's that locked it first.
    ///
    /// # Errors
    /// If another process works there, or could.
    pub fn acquire(path: &Path) -> Result<Self, LockError> {
        let (file, before) = open_and_lock(path)?;
        let run = before.map_or_else(RunName::new, |maker| Ok(maker.run));
        FolderLock::sign(path, file, run)
    }

    /// Locks the folder `path`, which exists, for a run alone: it is the run's from before, or has nothing in it.
    ///
    /// # Errors
    /// If another process works there, or could, or it is another run's.
    pub fn acquire_for(path: &Path, run: &RunName) -> Result<Self, LockError> {
        let (file, before) = open_and_lock(path)?;
        let is_of_this_run = match before {
            Some(maker) => maker.run == *run,
            None => is_empty(path).map_err(failed(path))?,
        };
        match is_of_this_run {
            true => FolderLock::sign(path, file, Ok(run.clone())),
            false => Err(LockError::OtherRun { path: path.to_owned() }),
        }
    }

    /// Writes the token of this process.
    fn sign(path: &Path, file: File, run: io::Result<RunName>) -> Result<Self, LockError> {
        let signed = || {
            let maker = Maker::this_process(run?)?;
            let mut text = serde_json::to_vec(&maker)?;
            text.push(b'\n');
            file.write_all_at(&text, 0)?;
            // Last, so that a process that is killed in between leaves the former token or this one.
            file.set_len(text.len() as u64)?;
            Ok(maker)
        };
        let maker = signed().map_err(failed(path))?;
        Ok(Self { _file: LockedFile::of(file), path: path.join(NAME), maker })
    }

    /// The process of this machine that works in the folder `path`; absent if none does. Takes no lock.
    ///
    /// # Errors
    /// If the lock's file cannot be read.
    pub fn holder(path: &Path) -> io::Result<Option<u32>> {
        let mut options = File::options();
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = match options.open(path.join(NAME)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        Ok(read(&file)?.filter(Maker::is_alive).map(|maker| maker.pid))
    }

    /// Whether a run has ever worked in the folder `path`.
    pub fn is_known(path: &Path) -> bool {
        path.join(NAME).is_file()
    }

    /// The run whose folder it is.
    pub fn run(&self) -> &RunName {
        &self.maker.run
    }

    /// Removes the lock's file, for a folder that will be removed: a process that locks it later has another file, so
    /// no process may be waiting for this one.
    pub fn remove(&self) {
        // A file that stays keeps nobody out.
        let _ = fs::remove_file(&self.path);
    }
}

fn failed(folder: &Path) -> impl FnOnce(io::Error) -> LockError {
    let path = folder.join(NAME);
    move |cause| LockError::Io { path, cause }
}

/// The lock's file, locked, and the token in it.
fn open_and_lock(folder: &Path) -> Result<(File, Option<Maker>), LockError> {
    let user = rustix::process::geteuid().as_raw();
    let facts = fs::symlink_metadata(folder).map_err(failed(folder))?;
    if facts.uid() != user || !facts.is_dir() {
        return Err(LockError::NotOwn { path: folder.to_owned(), owner: facts.uid() });
    }
    let file = open(&folder.join(NAME)).map_err(failed(folder))?;
    let facts = file.metadata().map_err(failed(folder))?;
    if facts.uid() != user {
        return Err(LockError::NotOwn { path: folder.join(NAME), owner: facts.uid() });
    }
    if !facts.is_file() || facts.nlink() > 1 {
        return Err(failed(folder)(io::Error::other("it is not a regular file of one name; remove it")));
    }
    let before = read(&file).map_err(failed(folder))?;
    match try_lock(&file, before.as_ref()) {
        Ok(()) => Ok((file, before)),
        Err(TryLockError::WouldBlock) => {
            Err(LockError::Held { path: folder.to_owned(), pid: before.map(|maker| maker.pid) })
        }
        Err(TryLockError::Error(error)) => Err(failed(folder)(error)),
    }
}

/// Takes the lock without waiting for a living holder. If the holder was killed while it was starting a process, that
/// process keeps a copy of the lock for a moment; this waits for it.
fn try_lock(file: &File, holder: Option<&Maker>) -> Result<(), TryLockError> {
    let since = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock)
                if since.elapsed() < AFTER_DEATH && holder.is_some_and(|holder| !holder.is_alive()) =>
            {
                thread::sleep(Duration::from_millis(10));
            }
            outcome => return outcome,
        }
    }
}

/// Opens the lock file, but not through a link, and without waiting for a writer of a FIFO. It is closed on exec, as
/// all files of the standard library are, so a worker does not inherit the lock.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    match options.clone().create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.open(path),
        made => made,
    }
}

/// The token; absent if there is none yet, or what stands there is none.
fn read(file: &File) -> io::Result<Option<Maker>> {
    let mut text = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text).ok())
}

/// Whether a folder holds nothing but the lock's file.
fn is_empty(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        if entry?.file_name() != NAME {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holder_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = FolderLock::acquire(folder.path()).unwrap();
        let second = FolderLock::acquire(folder.path()).unwrap_err();
        let LockError::Held { pid, .. } = &second else { panic!("{second}") };
        assert_eq!(*pid, Some(std::process::id()));
        assert!(second.to_string().contains(&format!("in use by process {}", std::process::id())), "{second}");
        assert_eq!(FolderLock::holder(folder.path()).unwrap(), pid.to_owned());
        drop(first);
        FolderLock::acquire(folder.path()).unwrap();
    }

    #[test]
    fn a_folder_without_a_living_holder_has_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(FolderLock::holder(folder.path()).unwrap(), None);
        fs::write(folder.path().join(NAME), "x").unwrap();
        assert_eq!(FolderLock::holder(folder.path()).unwrap(), None);
        let mut maker = serde_json::to_value(Maker::this_process(RunName::new().unwrap()).unwrap()).unwrap();
        maker["boot"] = "another".into();
        fs::write(folder.path().join(NAME), maker.to_string()).unwrap();
        assert_eq!(FolderLock::holder(folder.path()).unwrap(), None);
    }

    #[test]
    fn a_longer_text_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(NAME), "x".repeat(3000)).unwrap();
        let _first = FolderLock::acquire(folder.path()).unwrap();
        let text = fs::read_to_string(folder.path().join(NAME)).unwrap();
        assert!(text.contains(&format!("\"pid\":{}", std::process::id())) && !text.contains('x'), "{text}");
    }

    #[test]
    fn a_folder_stays_that_of_its_first_run() {
        let folder = tempfile::tempdir().unwrap();
        let run = FolderLock::acquire(folder.path()).unwrap().run().clone();
        assert_eq!(*FolderLock::acquire(folder.path()).unwrap().run(), run);
        FolderLock::acquire_for(folder.path(), &run).unwrap();
        let other = FolderLock::acquire_for(folder.path(), &RunName::new().unwrap()).unwrap_err();
        assert!(matches!(other, LockError::OtherRun { .. }), "{other}");
    }

    #[test]
    fn a_folder_without_a_token_is_taken_only_if_nothing_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunName::new().unwrap();
        fs::write(folder.path().join(NAME), "").unwrap();
        fs::write(folder.path().join("mine"), "").unwrap();
        assert!(matches!(FolderLock::acquire_for(folder.path(), &run), Err(LockError::OtherRun { .. })));
        fs::remove_file(folder.path().join("mine")).unwrap();
        FolderLock::acquire_for(folder.path(), &run).unwrap();
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("target"), "mine").unwrap();
        let links: [fn(PathBuf, PathBuf) -> io::Result<()>; 2] = [std::os::unix::fs::symlink, fs::hard_link];
        for link in links {
            link(folder.path().join("target"), folder.path().join(NAME)).unwrap();
            let error = FolderLock::acquire(folder.path()).unwrap_err();
            assert!(error.to_string().starts_with("cannot lock "), "{error}");
            assert_eq!(fs::read_to_string(folder.path().join("target")).unwrap(), "mine");
            fs::remove_file(folder.path().join(NAME)).unwrap();
        }
    }

    #[test]
    fn a_fifo_in_its_place_blocks_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(rustix::fs::CWD, folder.path().join(NAME), kind, mode, 0).unwrap();
        assert!(matches!(FolderLock::acquire(folder.path()), Err(LockError::Io { .. })));
    }

    #[test]
    fn the_folder_must_exist() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        let error = FolderLock::acquire(&missing).unwrap_err();
        let said = error.to_string();
        assert!(said.starts_with(&format!("cannot lock {}/.lock: No such file", missing.display())), "{said}");
    }
}
