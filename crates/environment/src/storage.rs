//! The storage below a database: free space, the filesystem, its block device, and what a folder takes.

use std::collections::HashSet;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use kvdyno_results::{Device, Filesystem};
use rustix::fs::{AtFlags, CWD, StatxFlags};

use crate::mount::{self, Mount};
use crate::tree::Tree;

pub mod backing_store;
mod copy;
mod device;
pub mod kinds;
pub mod pages;

pub use copy::{CopyWay, copy_tree};
use device::BlockDevice;

/// Bytes that this user may still write to the filesystem of `path`. A block device has no end that the system would
/// know of: the engine finds it.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    if is_device(path) {
        return Ok(u64::MAX);
    }
    let fs = rustix::fs::statvfs(path)?;
    Ok(fs.f_bavail * fs.f_frsize)
}

/// The filesystem of `path`, or of the nearest folder above it that exists.
///
/// `device` is absent where the filesystem has no block device of its own: tmpfs, overlay, NFS, ZFS. A btrfs on several
/// devices names the one that was mounted. `kind` and `options` are empty and `free_bytes` 0 where the system does not
/// say.
pub fn filesystem(path: &Path) -> Filesystem {
    let Some(path) = existing(path) else { return filesystem_of(None, None, 0) };
    let mount = mount_of(path);
    let device = mount.as_ref().and_then(|mount| device_of(path, mount));
    filesystem_of(mount, device, free_bytes(path).unwrap_or(0))
}

fn filesystem_of(mount: Option<Mount>, device: Option<BlockDevice>, free_bytes: u64) -> Filesystem {
    let (kind, options) = mount.map(|mount| (mount.kind, mount.options)).unwrap_or_default();
    let rotational = device.as_ref().and_then(BlockDevice::rotational);
    let read_ahead_kib = device.as_ref().and_then(|device| match kind.as_str() {
        // It has a setting of its own, and begins with much more than its device.
        "btrfs" => device.btrfs_read_ahead_kib(),
        _ => device.read_ahead_kib(),
    });
    Filesystem { kind, options, device: device.map(|device| device.name), rotational, read_ahead_kib, free_bytes }
}

/// The drive below a filesystem.
#[derive(Clone, Debug, Default)]
pub(crate) struct DriveFacts {
    /// Its I/O scheduler: `mq-deadline`.
    pub(crate) scheduler: Option<String>,
    /// The drive's own name for its model.
    pub(crate) model: Option<String>,
}

/// The drive below `path`; absent where the filesystem has no block device of its own.
pub(crate) fn drive(path: &Path) -> Option<DriveFacts> {
    let path = existing(path)?;
    let device = device_of(path, &mount_of(path)?)?;
    Some(DriveFacts { scheduler: device.scheduler(), model: device.model() })
}

fn existing(path: &Path) -> Option<&Path> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    // The parent of `folder` is the empty path.
    path.ancestors()
        .map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path })
        .find(|path| path.exists())
}

fn mount_of(path: &Path) -> Option<Mount> {
    let mounts = mount::all();
    let device = fs::metadata(path).ok()?.dev();
    let absolute = path.canonicalize().ok()?;
    // Since Linux 5.8 the kernel says which mount it is; before, the device and the longest mount point must do.
    let id = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID)
        .ok()
        .filter(|stat| stat.stx_mask & StatxFlags::MNT_ID.bits() != 0)
        .map(|stat| stat.stx_mnt_id);
    mount::find(mounts, id, (rustix::fs::major(device), rustix::fs::minor(device)), &absolute)
}

/// The block device below `path`. A raw block device lies below itself.
fn device_of(path: &Path, mount: &Mount) -> Option<BlockDevice> {
    let metadata = fs::metadata(path).ok()?;
    if metadata.file_type().is_block_device() {
        return BlockDevice::find(&Tree::live(), numbers(metadata.rdev()));
    }
    BlockDevice::find(&Tree::live(), mount.device).or_else(|| {
        // btrfs numbers its subvolumes itself; what was mounted leads to the device.
        let source = fs::metadata(&mount.source).ok().filter(|source| source.file_type().is_block_device())?;
        BlockDevice::find(&Tree::live(), numbers(source.rdev()))
    })
}

/// Whether `path` is a block device, or a link to one.
pub fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.file_type().is_block_device())
}

fn numbers(device: u64) -> (u32, u32) {
    (rustix::fs::major(device), rustix::fs::minor(device))
}

/// The counters of the block device below a path at one moment: all reads and writes since the machine started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceCounters(Device);

impl DeviceCounters {
    /// Reads them. Pages that are dirty now are not counted yet: [`settle`] first.
    ///
    /// `None` where `path` has no block device of its own (see [`filesystem`]), or its device keeps no accounts
    /// (`queue/iostats` is 0).
    pub fn read(path: &Path) -> Option<Self> {
        let path = existing(path)?;
        device_of(path, &mount_of(path)?)?.counters().map(Self)
    }

    /// Flushes of its disk's write cache, where each sync must be one ([`Device::flushes`]).
    pub fn flushes(&self) -> Option<u64> {
        self.0.flushes
    }

    /// Reads and writes of the device since `earlier`.
    pub fn since(&self, earlier: &Self) -> Device {
        let (now, then) = (&self.0, &earlier.0);
        Device {
            name: now.name.clone(),
            read_bytes: now.read_bytes.saturating_sub(then.read_bytes),
            write_bytes: now.write_bytes.saturating_sub(then.write_bytes),
            reads: now.reads.saturating_sub(then.reads),
            writes: now.writes.saturating_sub(then.writes),
            flushes: now.flushes.zip(then.flushes).map(|(now, then)| now.saturating_sub(then)),
        }
    }
}

/// The block device below a path, whose counters are read again and again.
#[derive(Clone, Debug)]
pub struct WatchedDevice(BlockDevice);

impl WatchedDevice {
    /// The device; `None` where [`DeviceCounters::read`] gives nothing.
    pub fn below(path: &Path) -> Option<Self> {
        let path = existing(path)?;
        device_of(path, &mount_of(path)?).map(Self)
    }

    /// Its counters now.
    pub fn counters(&self) -> Option<DeviceCounters> {
        self.0.counters().map(DeviceCounters)
    }
}

/// Writes out all dirty pages of the filesystem of `path`, so that the device's counters include them; for a block
/// device, its own.
pub fn settle(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    if is_device(path) {
        return file.sync_all();
    }
    Ok(rustix::fs::syncfs(file)?)
}

/// KiB allocated for everything in a folder, its folders included, as `du -k` counts: holes take nothing, a file with
/// several names counts once, symbolic links are not followed.
///
/// Files may come and go meanwhile. A file that was removed while still open is not seen. The filesystem may count
/// later: [`settle`] first where it matters.
pub fn allocated_kib(path: &Path) -> io::Result<u64> {
    // `st_blocks` counts in 512 bytes, whatever the filesystem's block is.
    Ok(sum_over(path, |file| file.blocks())?.div_ceil(2))
}

/// Bytes that the files in a folder are long together, as `du --apparent-size` counts, but without the folders: holes
/// count as if they were full.
pub fn apparent_bytes(path: &Path) -> io::Result<u64> {
    sum_over(path, |file| if file.is_file() { file.len() } else { 0 })
}

/// The sum of something over all that is in a folder and the folder itself.
fn sum_over(path: &Path, figure: fn(&Metadata) -> u64) -> io::Result<u64> {
    let mut sum = 0;
    for_each(path, |_, metadata| {
        sum += figure(metadata);
        Ok(())
    })?;
    Ok(sum)
}

/// Shows everything in a folder, and the folder itself, once.
fn for_each(path: &Path, mut look: impl FnMut(&Path, &Metadata) -> io::Result<()>) -> io::Result<()> {
    let top = fs::symlink_metadata(path)?;
    let mut counted = HashSet::new();
    look(path, &top)?;
    let mut folders = Vec::from_iter(top.is_dir().then(|| path.to_owned()));
    while let Some(folder) = folders.pop() {
        let Some(entries) = unless_vanished(fs::read_dir(folder))? else { continue };
        for entry in entries {
            let Some(entry) = unless_vanished(entry)? else { continue };
            let Some(metadata) = unless_vanished(entry.metadata())? else { continue };
            if metadata.is_dir() {
                folders.push(entry.path());
            } else if metadata.nlink() > 1 && !counted.insert((metadata.dev(), metadata.ino())) {
                continue;
            }
            look(&entry.path(), &metadata)?;
        }
    }
    Ok(())
}

fn unless_vanished<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        // Another process may put a file where a folder was.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    /// Bytes that do not compress, so that a compressing filesystem allocates them.
    fn noise(kib: usize) -> Vec<u8> {
        let mut state = 1u64;
        let next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 56) as u8
        };
        std::iter::repeat_with(next).take(kib * 1024).collect()
    }

    fn write(path: &Path, kib: usize) {
        let mut file = File::create(path).unwrap();
        file.write_all(&noise(kib)).unwrap();
        file.sync_all().unwrap();
    }

    #[test]
    fn allocated_blocks_of_a_tree() {
        let folder = folder();
        let empty = allocated_kib(folder.path()).unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        write(&folder.path().join("a/one"), 256);
        write(&folder.path().join("a/b/two"), 128);
        let full = allocated_kib(folder.path()).unwrap();
        assert!((empty + 384..empty + 384 + 64).contains(&full), "{empty} {full}");
    }

    #[test]
    fn holes_take_nothing() {
        let folder = folder();
        File::create(folder.path().join("sparse")).unwrap().set_len(1 << 30).unwrap();
        assert!(allocated_kib(folder.path()).unwrap() < 64);
        assert_eq!(apparent_bytes(folder.path()).unwrap(), 1 << 30);
    }

    #[test]
    fn a_file_of_many_names_counts_once() {
        let folder = folder();
        write(&folder.path().join("one"), 256);
        let once = allocated_kib(folder.path()).unwrap();
        fs::create_dir(folder.path().join("checkpoint")).unwrap();
        fs::hard_link(folder.path().join("one"), folder.path().join("checkpoint/one")).unwrap();
        std::os::unix::fs::symlink("one", folder.path().join("link")).unwrap();
        assert!(allocated_kib(folder.path()).unwrap() < once + 64);
    }

    #[test]
    fn a_single_file_and_nothing_at_all() {
        let folder = folder();
        write(&folder.path().join("one"), 64);
        assert!((64..128).contains(&allocated_kib(&folder.path().join("one")).unwrap()));
        assert_eq!(allocated_kib(&folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn files_may_vanish_meanwhile() {
        let folder = folder();
        std::thread::scope(|scope| {
            let churn = scope.spawn(|| {
                for round in 0..60 {
                    let sub = folder.path().join(format!("d{}", round % 7));
                    fs::create_dir_all(&sub).unwrap();
                    for file in 0..5 {
                        fs::write(sub.join(file.to_string()), b"x").unwrap();
                    }
                    fs::remove_dir_all(&sub).unwrap();
                }
            });
            while !churn.is_finished() {
                allocated_kib(folder.path()).unwrap();
            }
        });
    }

    #[test]
    fn this_filesystem() {
        let folder = folder();
        let here = filesystem(folder.path());
        assert!(!here.kind.is_empty() && !here.options.is_empty() && here.free_bytes > 0, "{here:?}");
        assert_eq!(here.rotational.is_some(), here.device.is_some());
        let yet_to_be = filesystem(&folder.path().join("a/b"));
        assert_eq!((here.kind, here.device), (yet_to_be.kind, yet_to_be.device));
    }

    #[test]
    fn a_relative_path_that_does_not_exist() {
        assert!(!filesystem(Path::new("surely/not/here")).kind.is_empty());
        assert!(!filesystem(Path::new("")).kind.is_empty());
    }

    #[test]
    fn memory_and_kernel_filesystems_have_no_device() {
        let proc = filesystem(Path::new("/proc"));
        assert_eq!((proc.kind.as_str(), proc.device, proc.rotational), ("proc", None, None));
        assert_eq!(DeviceCounters::read(Path::new("/proc")), None);
    }
}
