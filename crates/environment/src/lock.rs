//! One run a folder.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The file in the folder that bears the lock. It stays when the lock goes: removing it would let two in.
const NAME: &str = ".lock";

/// The file that bears the lock of a folder.
pub(crate) fn file_of(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// A folder that nobody else may work in while this lives.
///
/// The lock is the kernel's (`flock`), so it ends with its holder, however that dies. The file also names the holder,
/// for people.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
    path: PathBuf,
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
    /// The lock's file could not be made, read or locked.
    #[error("cannot lock {}", path.display())]
    Io {
        /// The lock's file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

impl FolderLock {
    /// Locks the folder `path`, which exists. Does not wait.
    pub fn acquire(path: &Path) -> Result<Self, LockError> {
        let lock = file_of(path);
        let failed = |source| LockError::Io { path: lock.clone(), source };
        // Closed on exec, as all files of the standard library are: a worker does not inherit the lock.
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(&lock).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LockError::Held { path: path.to_owned(), pid: read_pid(&file) });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        write_pid(&mut file).map_err(failed)?;
        Ok(Self { _file: file, path: lock })
    }

    /// Removes the lock's file, for a folder that is about to go: whoever locks it after that has another file, so
    /// nobody else may be waiting for this one.
    pub fn remove(&self) {
        // What stays keeps nobody out.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn read_pid(mut file: &File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
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
        drop(first);
        FolderLock::acquire(folder.path()).unwrap();
    }

    #[test]
    fn a_longer_number_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(NAME), "12345678901234567890\n").unwrap();
        let _first = FolderLock::acquire(folder.path()).unwrap();
        let text = std::fs::read_to_string(folder.path().join(NAME)).unwrap();
        assert_eq!(text, format!("{}\n", std::process::id()));
    }

    #[test]
    fn the_folder_must_exist() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        let error = FolderLock::acquire(&missing).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot lock {}/.lock", missing.display()));
    }
}
