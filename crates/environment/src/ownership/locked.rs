//! A file that is locked as long as this process says so.

use std::fs::File;

/// Holds the lock (`flock`) of a file, and gives it back when it is dropped.
///
/// To close the file is not enough: the lock is the open file's, and a process that another thread is just starting has
/// a copy of that between `fork` and `exec`.
#[derive(Debug)]
pub(crate) struct LockedFile(File);

impl LockedFile {
    /// Takes over a file that is locked already.
    pub(crate) fn of(file: File) -> LockedFile {
        LockedFile(file)
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // If that fails, the lock ends with the last copy.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_the_file_does_not_keep_the_lock() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (first, second) = (file.reopen().unwrap(), file.reopen().unwrap());
        let _copy = first.try_clone().unwrap();
        first.try_lock().unwrap();
        let locked = LockedFile::of(first);
        assert!(second.try_lock().is_err());
        drop(locked);
        second.try_lock().unwrap();
    }
}
