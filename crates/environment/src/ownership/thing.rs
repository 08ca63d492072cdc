//! Things that outlive the process that made them, and what tells each from others of the same name.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A file or folder itself, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inode {
    /// The number of the filesystem's device.
    pub device: u64,
    /// Its number there.
    pub number: u64,
}

impl Inode {
    /// The inode of a file or folder; for a link, its own.
    ///
    /// # Errors
    /// If there is none.
    pub fn of(path: &Path) -> io::Result<Inode> {
        Ok(Inode::from(&fs::symlink_metadata(path)?))
    }
}

impl From<&Metadata> for Inode {
    fn from(facts: &Metadata) -> Self {
        Inode { device: facts.dev(), number: facts.ino() }
    }
}

/// The file or device on which a storage was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Below {
    /// A file of ours, by way of a loop device.
    Image {
        /// Its path.
        path: PathBuf,
        /// The file itself.
        inode: Inode,
    },
    /// A block device that the user gave up, by its number.
    Device(u64),
}

/// Something that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Thing {
    /// A folder of files.
    Folder {
        /// Its path.
        path: PathBuf,
        /// The folder itself; absent as long as it is about to be made: then there is nothing in it.
        inode: Option<Inode>,
    },
    /// A control group.
    Group {
        /// Its folder below the mounted hierarchy.
        path: PathBuf,
        /// The folder's inode; absent while the group is about to be made.
        inode: Option<Inode>,
    },
    /// A filesystem on a mount point, or a bare device: its mount and its loop device.
    Storage {
        /// The mount point.
        point: PathBuf,
        /// The file or device below, by which the mount is known.
        below: Below,
    },
}

impl Thing {
    /// The path by which it is registered.
    pub fn path(&self) -> &Path {
        match self {
            Thing::Folder { path, .. } | Thing::Group { path, .. } => path,
            Thing::Storage { point, .. } => point,
        }
    }
}

/// Whether `path` still is the folder of this inode. Without an inode it was about to be made: its name makes an
/// existing folder ours, which may be removed only if it is empty.
pub(crate) fn is_still(path: &Path, inode: Option<Inode>) -> bool {
    fs::symlink_metadata(path)
        .is_ok_and(|facts| facts.is_dir() && inode.is_none_or(|inode| inode == Inode::from(&facts)))
}
