//! Mounts and loop devices of a kvdyno that is no more.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::{MOUNT, loops, mounts, unmount};
use crate::lock;

/// Something of a kvdyno that is no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftoverStorage {
    /// A filesystem at this point.
    Mount(PathBuf),
    /// A loop device.
    Loop {
        /// `/dev/loop0`
        device: PathBuf,
        /// The file behind it, which stays: it belongs to the results.
        file: PathBuf,
    },
}

/// The leftovers, in the order in which they can be removed.
///
/// A run in progress has the folder of its databases locked.
pub fn leftovers() -> Vec<LeftoverStorage> {
    let points = mounts().into_iter().map(|mount| mount.point).filter(|point| is_point(point) && is_abandoned(point));
    let mut leftovers: Vec<_> = points.map(LeftoverStorage::Mount).collect();
    // The one that was mounted last hides the others.
    leftovers.reverse();
    let images = loops::all().into_iter().filter(|one| is_image(&one.file) && is_abandoned(&one.file));
    leftovers.extend(images.map(|one| LeftoverStorage::Loop { device: one.device, file: one.file }));
    leftovers
}

fn is_point(point: &Path) -> bool {
    point.file_name().is_some_and(|name| name == MOUNT)
}

/// `kvdyno-NAME.img` in a folder NAME.
fn is_image(file: &Path) -> bool {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let folder = file.parent().and_then(name);
    folder.is_some_and(|folder| name(file) == Some(format!("kvdyno-{folder}.img")))
}

/// Whether nobody has the folder of the databases locked. `path` lies in a database's folder.
fn is_abandoned(path: &Path) -> bool {
    let Some(databases) = path.ancestors().nth(2) else { return false };
    match File::open(lock::file_of(databases)) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

impl LeftoverStorage {
    /// Takes it from the system. What is in it stays.
    ///
    /// # Errors
    /// If somebody uses it.
    pub fn remove(&self) -> io::Result<()> {
        match self {
            LeftoverStorage::Mount(point) => unmount(point),
            LeftoverStorage::Loop { device, .. } => loops::detach(device),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_known_by_its_name_and_its_folders() {
        assert!(is_image(Path::new("/r/databases/lmdb-1/kvdyno-lmdb-1.img")));
        assert!(!is_image(Path::new("/r/databases/lmdb-2/kvdyno-lmdb-1.img")));
        assert!(!is_image(Path::new("/r/disk.img")));
    }

    #[test]
    fn what_a_living_run_has_locked_is_not_left_over() {
        let base = tempfile::tempdir().unwrap();
        let point = base.path().join("lmdb-1").join(MOUNT);
        assert!(is_abandoned(&point));
        let lock = lock::FolderLock::acquire(base.path()).unwrap();
        assert!(!is_abandoned(&point));
        drop(lock);
        assert!(is_abandoned(&point));
    }
}
