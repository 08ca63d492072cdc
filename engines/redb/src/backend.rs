//! The file that redb writes to, with its syncs put off where the lab asks for it.
//!
//! redb's commits are either synced or kept in its memory; there is nothing between. What LMDB calls `MDB_NOSYNC`
//! is had through redb's own seam for storage: a commit writes to the operating system as always, and what would be a
//! sync there is left to the adapter.

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};
use std::io;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A file, shared between redb and who syncs it in its place.
#[derive(Clone, Debug)]
pub struct SharedFile(Arc<FileState>);

#[derive(Debug)]
struct FileState {
    file: FileBackend,
    puts_syncs_off: bool,
    /// A sync in the background failed: redb is to learn it with its next one.
    failed: AtomicBool,
}

impl SharedFile {
    pub fn new(file: FileBackend, puts_syncs_off: bool) -> Self {
        Self(Arc::new(FileState { file, puts_syncs_off, failed: AtomicBool::new(false) }))
    }

    /// Syncs what redb has written.
    pub fn sync(&self) -> io::Result<()> {
        self.0.file.sync_data().inspect_err(|_| self.0.failed.store(true, Ordering::Release))
    }
}

impl StorageBackend for SharedFile {
    fn len(&self) -> io::Result<u64> {
        self.0.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        if !self.0.puts_syncs_off {
            self.0.file.sync_data()
        } else if self.0.failed.load(Ordering::Acquire) {
            Err(io::Error::other("the file could not be synced in the background"))
        } else {
            Ok(())
        }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        let synced = if self.0.puts_syncs_off { self.sync() } else { Ok(()) };
        synced.and(self.0.file.close())
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.file.query_lock_range(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storage(puts_syncs_off: bool, failed: bool) -> SharedFile {
        let file = std::fs::File::open("/dev/null").unwrap();
        let storage = SharedFile::new(FileBackend::new(file).unwrap(), puts_syncs_off);
        storage.0.failed.store(failed, Ordering::Release);
        storage
    }

    /// /dev/null cannot be synced, which tells a sync from none.
    #[test]
    fn a_sync_is_put_off_only_where_that_is_asked_for() {
        assert!(storage(false, false).sync_data().is_err());
        assert!(storage(true, false).sync_data().is_ok());
    }

    #[test]
    fn a_sync_that_was_put_off_is_made_at_the_close() {
        assert!(storage(true, false).close().is_err());
        assert!(storage(false, false).close().is_ok());
    }

    #[test]
    fn redb_learns_of_a_sync_that_failed_in_the_background() {
        let storage = storage(true, false);
        assert!(storage.sync().is_err());
        assert!(storage.sync_data().is_err());
    }
}
