//! How a write at durability `commit` is synced before it is acknowledged; and what an engine does that only seems to.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use kvdyno_abi::adapter::Durability;

use crate::fault::Fault;

unsafe extern "C" {
    fn sync_file_range(descriptor: i32, offset: i64, bytes: i64, flags: u32) -> i32;
}

/// Waits for what is being written, writes, and waits for that.
const WRITE_OUT: u32 = 7;

/// The thing that is synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synced {
    Log,
    Nothing,
    /// A file that has nothing to do with it.
    Program,
    Folder,
    /// The log, but not the cache of its device.
    WrittenOut,
}

impl Synced {
    /// Syncs it.
    pub fn sync(self, log: &File, folder: &Path) -> io::Result<()> {
        match self {
            Synced::Log => log.sync_data(),
            Synced::Nothing => Ok(()),
            Synced::Program => File::open("/proc/self/exe")?.sync_all(),
            Synced::Folder => File::open(folder)?.sync_all(),
            // SAFETY: it takes numbers alone.
            Synced::WrittenOut => match unsafe { sync_file_range(log.as_raw_fd(), 0, 0, WRITE_OUT) } {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            },
        }
    }
}

impl Fault {
    /// The thing that is synced where it strikes; `number` counts its strikes from 1.
    pub fn syncs(self, number: u64) -> Synced {
        match self {
            Fault::SyncedElsewhere => Synced::Program,
            Fault::SyncedFolder => Synced::Folder,
            Fault::WrittenOut => Synced::WrittenOut,
            Fault::SyncedSeldom if number.is_multiple_of(100) => Synced::Log,
            _ => Synced::Nothing,
        }
    }

    /// Whether it changes what is synced at durability `commit`.
    pub fn changes_syncs(self) -> bool {
        use Fault::{
            SyncedBehind, SyncedEachSecond, SyncedElsewhere, SyncedFolder, SyncedSeldom, UnsyncedCommit, WrittenOut,
        };
        matches!(
            self,
            UnsyncedCommit
                | SyncedElsewhere
                | SyncedFolder
                | WrittenOut
                | SyncedSeldom
                | SyncedBehind
                | SyncedEachSecond
        )
    }

    /// The durability at which the log is kept, where the database has `durability`.
    pub fn of_log(self, durability: Durability) -> Durability {
        match (self, durability) {
            (Fault::UnsyncedLog, Durability::Periodic(_)) => Durability::Process,
            (Fault::SyncedBehind, Durability::Commit) => Durability::Periodic(Duration::from_millis(10)),
            (Fault::SyncedEachSecond, Durability::Commit) => Durability::Periodic(Duration::from_secs(1)),
            (_, durability) => durability,
        }
    }
}

/// Syncs a log each `pause` if it has grown, until the sender is dropped.
pub fn sync_every(log: &File, pause: Duration, stopped: &Receiver<()>) -> io::Result<()> {
    let mut synced = log.metadata()?.len();
    while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let size = log.metadata()?.len();
        if size != synced {
            log.sync_data()?;
            synced = size;
        }
    }
    Ok(())
}
