//! The backing store of a database: a folder, a filesystem that is made for it alone, or a bare block device.
//!
//! A filesystem or device is made anew before each load: on a sparse file behind a loop device, or on a block device
//! that the user gave up. Both are in the maker's [`Register`] before they exist: a mount or a loop device is ours if
//! it lies on the file that was made, or on the device that was given up, under any name. The loop device reads and
//! writes the file directly: otherwise the file's own pages would be in the page cache beside the database's, and
//! outside any limit.

mod check;
mod format;
mod leftover;
mod loops;
mod tool;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::numbers as numbers_of;
use crate::mount::{self, Mount};
use crate::ownership::{Below, Inode, Register, Thing};
use crate::patience::patiently;
use crate::requested::StorageKind;

pub use check::{check, least};
pub use leftover::leave_to_other_namespaces;
pub(crate) use leftover::{LeftoverStorage, leftovers, lookalikes};

/// The name of every mount point.
const MOUNT: &str = "kvdyno-storage";
/// Time for which a filesystem may stay busy after its last user ended: others look at new mounts, if only for a
/// moment.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes at the start of a device that hold the marks of filesystems and partition tables.
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

    /// The path of the engine's files: a folder, or a link to the device. It does not change.
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

    /// Makes it anew. Its predecessor must have been removed.
    ///
    /// # Errors
    /// If it cannot be made: a tool fails, or the device is in use.
    pub fn make(&self, register: &Register) -> io::Result<()> {
        fs::create_dir(&self.folder).map_err(|cause| told("make", &self.folder, &cause))?;
        if self.storage.is_made() {
            match &self.device {
                Some(device) => blank(device)?,
                None => File::options().write(true).create_new(true).open(self.image())?.set_len(self.size)?,
            }
            let device = self.attach(register)?;
            if self.storage != StorageKind::Raw {
                format::format(self.storage, &device, register)?;
            }
            self.show(&device, register)?;
        }
        match self.storage {
            StorageKind::Raw => Ok(()),
            _ => fs::create_dir_all(self.database()),
        }
    }

    /// The device, which is registered before it is one.
    fn attach(&self, register: &Register) -> io::Result<PathBuf> {
        let Some(below) = self.below()? else { return Err(io::ErrorKind::NotFound.into()) };
        register.add(Thing::Storage { point: self.canonical_point()?, below })?;
        match &self.device {
            Some(device) => Ok(device.clone()),
            None => loops::of(&self.image())?.map_or_else(|| loops::attach(&self.image(), register), Ok),
        }
    }

    /// The file or device that it lies on, as far as that is there.
    fn below(&self) -> io::Result<Option<Below>> {
        let Some(device) = &self.device else {
            let facts = match fs::symlink_metadata(self.image()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                facts => facts?,
            };
            let path = self.image().canonicalize()?;
            return Ok(facts.is_file().then(|| Below::Image { path, inode: Inode::from(&facts) }));
        };
        Ok(Some(Below::Device(fs::metadata(device)?.rdev())))
    }

    /// The path by which it is registered, whether its folder is there or was removed.
    fn canonical_point(&self) -> io::Result<PathBuf> {
        let (Some(parent), Some(name)) = (self.folder.parent(), self.folder.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        Ok(parent.canonicalize()?.join(name).join(MOUNT))
    }

    /// Whether [`BackingStore::database`] leads to this database now: a link of an earlier run may lead to a loop
    /// device that has another file since.
    ///
    /// # Errors
    /// If another filesystem is mounted in its place.
    pub fn is_available(&self) -> io::Result<bool> {
        Ok(!self.storage.is_made() || self.is_shown()?)
    }

    /// Makes it available again after [`BackingStore::release`], or a reboot. Returns whether a database can be there.
    ///
    /// # Errors
    /// If it is there and cannot be mounted.
    pub fn reopen(&self, register: &Register) -> io::Result<bool> {
        if !self.is_available()? {
            if self.below()?.is_none() {
                return Ok(false);
            }
            let device = self.attach(register)?;
            if !self.is_trusted(&device)? {
                return Ok(false);
            }
            self.show(&device, register)?;
        }
        Ok(self.database().exists())
    }

    /// Without a journal, a filesystem that was not unmounted may be damaged.
    fn is_trusted(&self, device: &Path) -> io::Result<bool> {
        Ok(self.storage != StorageKind::Ext4NoJournal || format::is_clean_ext4(device)?)
    }

    fn is_shown(&self) -> io::Result<bool> {
        match self.storage {
            StorageKind::Raw => {
                let to = fs::read_link(self.database()).ok();
                Ok(to.is_some() && (to == self.device || to == loops::of(&self.image())?))
            }
            _ => self.is_mounted(),
        }
    }

    /// Whether it is mounted at its point.
    ///
    /// # Errors
    /// If something else is.
    fn is_mounted(&self) -> io::Result<bool> {
        let Ok(point) = self.canonical_point() else { return Ok(false) };
        let Some(mount) = at(&point) else { return Ok(false) };
        match self.below()?.map_or(Ok(false), |below| lies_on(&mount, &below))? {
            true => Ok(true),
            false => Err(io::Error::other(format!(
                "{} is mounted at {}, and kvdyno did not do that: unmount it",
                mount.source.display(),
                point.display()
            ))),
        }
    }

    fn show(&self, device: &Path, register: &Register) -> io::Result<()> {
        if self.storage == StorageKind::Raw {
            match fs::remove_file(self.database()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => return symlink(device, self.database()),
            }
        }
        fs::create_dir_all(self.point())?;
        let kind = format::kind(self.storage);
        tool::makes(Command::new("mount").args(["-t", kind]).arg(device).arg(self.point()), register).map(drop)
    }

    /// Takes it from the system: what is in it stays in its file, or on its device.
    ///
    /// # Errors
    /// If it is in use, or something else is in its place.
    pub fn release(&self, register: &Register) -> io::Result<()> {
        if !self.storage.is_made() {
            return Ok(());
        }
        while self.is_mounted()? {
            unmount(&self.canonical_point()?, PATIENCE)?;
        }
        while let Some(device) = loops::of(&self.image())? {
            loops::detach(&device, &self.image().canonicalize()?, PATIENCE)?;
        }
        // Without its parent it stays registered.
        self.canonical_point().map_or(Ok(()), |point| {
            detach_registered(register, &point)?;
            register.gone(&point)
        })
    }

    /// Releases it and removes what is in it.
    ///
    /// # Errors
    /// If it is in use, or something is mounted in it.
    pub fn remove(&self, register: &Register) -> io::Result<()> {
        let had_device = self.is_shown()?;
        self.release(register)?;
        if let Some(device) = self.device.as_ref().filter(|_| had_device) {
            blank(device)?;
        }
        if self.folder.canonicalize().is_ok_and(|folder| mount::is_below(&folder)) {
            let shown = self.folder.display();
            return Err(io::Error::other(format!("a filesystem is mounted in {shown}, and kvdyno did not do that")));
        }
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether its device has nothing else on it: it was made, or given up, for this database.
    pub fn has_own_device(&self) -> bool {
        self.storage.is_made()
    }

    /// KiB that a raw database takes of its file: the blocks ever written to. Unknown for a block device.
    pub fn device_kib(&self) -> Option<u64> {
        let made_of_file = self.storage == StorageKind::Raw && self.device.is_none();
        made_of_file.then(|| Some(fs::metadata(self.image()).ok()?.blocks().div_ceil(2)))?
    }
}

/// Makes a filesystem in the file `image` and mounts it with `options` at the folder `point`, in a mount namespace that
/// ends with this process: it is in no register, because the kernel then removes the mount and its loop device.
///
/// # Errors
/// If it cannot be made: a tool is missing or fails.
pub fn mount_until_the_end(storage: StorageKind, image: &Path, point: &Path, options: &str) -> io::Result<()> {
    let Some(mut maker) = format::command(storage, image) else { return Err(io::ErrorKind::InvalidInput.into()) };
    tool::run(&mut maker)?;
    let options = format!("loop,{options}");
    tool::run(Command::new("mount").args(["-t", format::kind(storage), "-o", &options]).args([image, point]))
}

/// Detaches the registered file from its devices: it may have been removed or replaced.
fn detach_registered(register: &Register, at: &Path) -> io::Result<()> {
    for thing in register.things() {
        if let Thing::Storage { point, below: Below::Image { path, inode } } = thing
            && point == at
        {
            loops::all_of(&path, inode)?.iter().try_for_each(|device| loops::detach(device, &path, PATIENCE))?;
        }
    }
    Ok(())
}

/// The uppermost mount at a point.
fn at(point: &Path) -> Option<Mount> {
    mount::all().into_iter().rev().find(|mount| mount.point == point)
}

/// Whether a mount shows this store: its device is that of our file, or the one that was given up.
///
/// # Errors
/// If the kernel does not tell.
fn lies_on(mount: &Mount, below: &Below) -> io::Result<bool> {
    match below {
        Below::Image { path, inode } => loops::has(&mount.source, path, *inode),
        Below::Device(number) => Ok(fs::metadata(&mount.source)
            .is_ok_and(|facts| facts.file_type().is_block_device() && facts.rdev() == *number)),
    }
}

fn told(what: &str, path: &Path, cause: &io::Error) -> io::Error {
    io::Error::new(cause.kind(), format!("cannot {what} {}: {cause}", path.display()))
}

/// Takes the uppermost mount from a point.
fn unmount(point: &Path, patience: Duration) -> io::Result<()> {
    patiently(patience, || tool::run(Command::new("umount").arg("--no-canonicalize").arg(point)))
}

/// Clears the marks at a device's beginning. The kernel refuses if the device is in use.
fn blank(device: &Path) -> io::Result<()> {
    let clear = || {
        let file = File::options().write(true).custom_flags(libc::O_EXCL).open(device)?;
        file.write_all_at(&vec![0; HEAD], 0)?;
        file.sync_all()
    };
    // A mount namespace that began while the filesystem was mounted has it until it ends.
    patiently(PATIENCE, clear).map_err(|cause| told("clear", device, &cause))
}
