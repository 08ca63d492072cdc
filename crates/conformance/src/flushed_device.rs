//! An ext4 on a loop device of its own for one process. The kernel counts the device's flushes, and removes both when
//! the process ends.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use kvdyno_environment::requested::StorageKind;
use kvdyno_environment::storage::WatchedDevice;
use kvdyno_environment::storage::backing_store::mount_until_the_end;

use crate::finding::{Finding, wrong};
use crate::small_filesystem::have_mounts_of_its_own;

/// Bytes of the sparse file below the device: room for any engine's empty database.
const SIZE: u64 = 1 << 30;

/// The filesystem of this process.
#[derive(Debug)]
pub(crate) struct FlushedDevice {
    /// A folder for a database.
    pub database: PathBuf,
    device: WatchedDevice,
}

impl FlushedDevice {
    /// Mounts it for this thread, and for those that it starts later. Only what is synced flushes the device: the
    /// journal would be written every 5 s, and is not for as long as any check lasts (`commit`).
    ///
    /// # Errors
    /// If that is not allowed, or the device's flushes are not counted: the check does not apply.
    pub fn mount(folder: &Path) -> Result<FlushedDevice, Finding> {
        let (image, mounted) = (folder.join("flushed.img"), folder.join("flushed"));
        fs::create_dir_all(&mounted)?;
        File::create(&image)?.set_len(SIZE)?;
        have_mounts_of_its_own()?;
        mount_until_the_end(StorageKind::Ext4, &image, &mounted, "commit=3600")
            .map_err(|why| Finding::NotApplicable(format!("no filesystem on a loop device here: {why}")))?;
        let database = mounted.join("database");
        fs::create_dir(&database)?;
        let nothing = || Finding::NotApplicable("the kernel counts no flushes of a loop device here".to_owned());
        let device = WatchedDevice::below(&database).ok_or_else(nothing)?;
        let flushed = FlushedDevice { database, device };
        flushed.flushes().map_err(|_| nothing())?;
        Ok(flushed)
    }

    /// Flushes so far.
    pub fn flushes(&self) -> Result<u64, Finding> {
        let flushes = self.device.counters().and_then(|counters| counters.flushes());
        flushes.ok_or_else(|| wrong("the check itself failed: the kernel counts no flushes any more"))
    }
}
