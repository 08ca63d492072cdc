//! The backing store of a database: a folder, a filesystem that is made for it alone, or a bare block device.
//!
//! A filesystem or device is made anew before each load: on a sparse file behind a loop device, or on a block device
//! that the user gave up. The file is called `kvdyno-NAME.img` and the mount point `kvdyno-storage`, so that those
//! whose kvdyno was killed are known as [`leftovers`]. The loop device reads and writes the file directly: otherwise
//! the file's own pages would be in the page cache beside the database's, and outside any limit.

mod check;
mod format;
mod leftover;
mod loops;
mod tool;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::{mount, numbers as numbers_of};
use crate::requested::StorageKind;
use crate::tree::Tree;

pub use check::{check, least};
pub use leftover::{LeftoverStorage, leftovers};

/// The name of every mount point.
const MOUNT: &str = "kvdyno-storage";
/// How long a filesystem may stay busy after its last user ended: others look at new mounts, if only for a moment.
const PATIENCE: Duration = Duration::from_secs(10);
/// Where filesystems and partition tables have their marks.
const HEAD: usize = 1 << 20;

/// The backing store of one database.
#[derive(Clone, Debug)]
pub struct BackingStore {
    storage: StorageKind,
    /// The folder in which everything is.
    folder: PathBuf,
    /// Bytes of the file.
    size: u64,
    /// The block device instead of a file.
    device: Option<PathBuf>,
}

impl BackingStore {
    /// The backing store of the kind `storage` in `folder`; nothing is made yet.
    pub fn new(storage: StorageKind, folder: &Path, size: u64, device: Option<&Path>) -> BackingStore {
        BackingStore { storage, folder: folder.to_owned(), size, device: device.map(Path::to_owned) }
    }

    /// Where the engine has its files: a folder, or a link to the device. The same each time.
    pub fn database(&self) -> PathBuf {
        match self.storage {
            StorageKind::Folder | StorageKind::Raw => self.folder.join("database"),
            _ => self.point().join("database"),
        }
    }

    fn point(&self) -> PathBuf {
        self.folder.join(MOUNT)
    }

    fn image(&self) -> PathBuf {
        let name = self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        self.folder.join(format!("kvdyno-{name}.img"))
    }

    /// Makes it anew. What was there must have been removed.
    ///
    /// # Errors
    /// If it cannot be made: a tool that fails, a device that somebody uses.
    pub fn make(&self) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        if self.storage.is_made() {
            let device = match &self.device {
                Some(device) => {
                    blank(device)?;
                    device.clone()
                }
                None => {
                    File::create(self.image())?.set_len(self.size)?;
                    loops::attach(&self.image())?
                }
            };
            if self.storage != StorageKind::Raw {
                format::format(self.storage, &device)?;
            }
            self.show(&device)?;
        }
        match self.storage {
            StorageKind::Raw => Ok(()),
            _ => fs::create_dir_all(self.database()),
        }
    }

    /// Whether what is at [`BackingStore::database`] now is this database's: a link of an earlier run may lead to a
    /// loop device that has another file since.
    pub fn is_available(&self) -> bool {
        !self.storage.is_made() || self.is_shown()
    }

    /// Makes it available again after [`BackingStore::release`], or a reboot. Whether a database can be there.
    ///
    /// # Errors
    /// If it is there and cannot be mounted.
    pub fn reopen(&self) -> io::Result<bool> {
        if !self.is_available() {
            let device = match &self.device {
                Some(device) => device.clone(),
                None if !self.image().is_file() => return Ok(false),
                None => loops::of(&self.image()).map_or_else(|| loops::attach(&self.image()), Ok)?,
            };
            if !self.is_trusted(&device)? {
                return Ok(false);
            }
            self.show(&device)?;
        }
        Ok(self.database().exists())
    }

    /// Without a journal, a filesystem that was not unmounted may be damaged.
    fn is_trusted(&self, device: &Path) -> io::Result<bool> {
        Ok(self.storage != StorageKind::Ext4NoJournal || format::is_clean_ext4(device)?)
    }

    fn is_shown(&self) -> bool {
        match self.storage {
            StorageKind::Raw => {
                let to = fs::read_link(self.database()).ok();
                to.is_some() && (to == self.device || to == loops::of(&self.image()))
            }
            _ => is_mounted(&self.point()),
        }
    }

    fn show(&self, device: &Path) -> io::Result<()> {
        if self.storage == StorageKind::Raw {
            match fs::remove_file(self.database()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => return symlink(device, self.database()),
            }
        }
        fs::create_dir_all(self.point())?;
        let kind = format::kind(self.storage);
        tool::run(Command::new("mount").args(["-t", kind]).arg(device).arg(self.point()))
    }

    /// Takes it from the system: what is in it stays in its file, or on its device.
    ///
    /// # Errors
    /// If somebody uses it.
    pub fn release(&self) -> io::Result<()> {
        if !self.storage.is_made() {
            return Ok(());
        }
        while is_mounted(&self.point()) {
            unmount(&self.point())?;
        }
        while let Some(device) = loops::of(&self.image()) {
            loops::detach(&device)?;
        }
        Ok(())
    }

    /// Releases it and removes what is in it.
    ///
    /// # Errors
    /// If somebody uses it.
    pub fn remove(&self) -> io::Result<()> {
        let had_device = self.is_shown();
        self.release()?;
        if let Some(device) = self.device.as_ref().filter(|_| had_device) {
            blank(device)?;
        }
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// KiB that a database takes that is a whole device: of a file, what was ever written to; of a device nobody knows.
    pub fn device_kib(&self) -> Option<u64> {
        let made_of_file = self.storage == StorageKind::Raw && self.device.is_none();
        made_of_file.then(|| Some(fs::metadata(self.image()).ok()?.blocks().div_ceil(2)))?
    }
}

fn is_mounted(point: &Path) -> bool {
    let Ok(point) = point.canonicalize() else { return false };
    mounts().iter().any(|mount| mount.point == point)
}

fn mounts() -> Vec<mount::Mount> {
    Tree::live().text("proc/self/mountinfo").map(|text| mount::parse(&text)).unwrap_or_default()
}

/// Takes the uppermost mount from a point.
fn unmount(point: &Path) -> io::Result<()> {
    patiently(|| tool::run(Command::new("umount").arg(point)))
}

/// Tries again for a while.
fn patiently(mut attempt: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    let since = Instant::now();
    loop {
        match attempt() {
            Err(_) if since.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(50)),
            outcome => return outcome,
        }
    }
}

/// Clears the marks at a device's beginning. Refused by the kernel if somebody uses the device.
fn blank(device: &Path) -> io::Result<()> {
    let told = |cause: io::Error| io::Error::new(cause.kind(), format!("cannot clear {}: {cause}", device.display()));
    let clear = || {
        let file = File::options().write(true).custom_flags(libc::O_EXCL).open(device)?;
        file.write_all_at(&vec![0; HEAD], 0)?;
        file.sync_all()
    };
    clear().map_err(told)
}
