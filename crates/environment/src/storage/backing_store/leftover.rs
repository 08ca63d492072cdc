//! Mounts and loop devices of a dead kvdyno, and things that only look like them.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::mount::UnmountFlags;

use super::{MOUNT, at, lies_on, loops, unmount};
use crate::mount;
use crate::ownership::{Below, Inode};

/// Time limit for a leftover that is busy: its users are not about to let go of it.
const PATIENCE: Duration = Duration::from_secs(2);

/// A thing of a dead kvdyno.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LeftoverStorage {
    /// A filesystem at this point.
    Mount { point: PathBuf, below: Below },
    Loop {
        /// `/dev/loop0`
        device: PathBuf,
        /// The file behind it, which stays: it belongs to the results.
        file: PathBuf,
        inode: Inode,
    },
}

/// The parts that are there of a storage that a process registered, in the order in which it can be removed.
///
/// # Errors
/// If the kernel does not tell.
pub(crate) fn leftovers(point: &Path, below: &Below) -> io::Result<Vec<LeftoverStorage>> {
    let mut things = Vec::new();
    if is_ours(point, below)? {
        things.push(LeftoverStorage::Mount { point: point.to_owned(), below: below.clone() });
    }
    if let Below::Image { path, inode } = below {
        let of_file = |device| LeftoverStorage::Loop { device, file: path.clone(), inode: *inode };
        things.extend(loops::all_of(path, *inode)?.into_iter().map(of_file));
    }
    Ok(things)
}

/// Whether the topmost mount at a point is ours.
fn is_ours(point: &Path, below: &Below) -> io::Result<bool> {
    at(point).map_or(Ok(false), |mount| lies_on(&mount, below))
}

impl LeftoverStorage {
    /// Unmounts or detaches it, if it is still the same. Its contents stay.
    ///
    /// # Errors
    /// If it is in use.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match self {
            LeftoverStorage::Mount { point, below } => match is_ours(point, below)? {
                true => unmount(point, PATIENCE),
                false => Ok(()),
            },
            LeftoverStorage::Loop { device, file, inode } => match loops::has(device, file, *inode)? {
                true => loops::detach(device, file, PATIENCE),
                false => Ok(()),
            },
        }
    }
}

/// Mounts and loop devices with the names that kvdyno gives, whoever made them: a description of each, and the point by
/// which it would be registered.
pub(crate) fn lookalikes() -> Vec<(String, PathBuf)> {
    let mounts = points().map(|point| (format!("the mount at {}", point.display()), point));
    let images = loops::all().into_iter().filter(|one| is_image(&one.file));
    let devices = images.map(|one| {
        let what = format!("the loop device {} of {}", one.device.display(), one.file.display());
        (what, one.file.with_file_name(MOUNT))
    });
    mounts.chain(devices).collect()
}

/// Every mount point that has the name of a backing store's, as often as something is mounted there.
fn points() -> impl Iterator<Item = PathBuf> {
    let is_point = |point: &PathBuf| point.file_name().is_some_and(|name| name == MOUNT);
    mount::all().into_iter().map(|mount| mount.point).filter(is_point)
}

/// Takes the backing stores of all databases from this thread's mount namespace, which must be private. A namespace
/// that keeps them would hold their devices until it ends, however often others unmount them.
///
/// # Errors
/// If the kernel refuses.
pub fn leave_to_other_namespaces() -> io::Result<()> {
    Ok(points().try_for_each(|point| rustix::mount::unmount(point, UnmountFlags::DETACH))?)
}

/// `kvdyno-….img`
fn is_image(file: &Path) -> bool {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.starts_with("kvdyno-") && name.trim_end_matches(" (deleted)").ends_with(".img")
}
