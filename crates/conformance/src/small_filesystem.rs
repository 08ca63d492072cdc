//! A small filesystem for one process, which the kernel removes when the process ends.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use kvdyno_environment::storage::backing_store::leave_to_other_namespaces;
use rustix::fs::{FallocateFlags, fallocate, statvfs};
use rustix::mount::{MountFlags, MountPropagationFlags, mount as mount_at, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use serde::{Deserialize, Serialize};

use crate::finding::{During, Finding};

/// Number of tries to fill it beside an engine that writes.
const ATTEMPTS: usize = 100;
/// Bytes that are left free when it is filled: room for a few hundred records.
const LEFT: u64 = 384 << 10;

/// Its path in a process's folder.
fn mounted(folder: &Path) -> PathBuf {
    folder.join("small")
}

/// Mounts it for this thread, and for those that it starts later. It is invisible to all others.
///
/// # Errors
/// If that is not allowed: the check does not apply.
pub(crate) fn mount(folder: &Path) -> Result<(), Finding> {
    let mounted = mounted(folder);
    fs::create_dir_all(&mounted)?;
    have_mounts_of_its_own()?;
    // Room for any engine's empty database, in memory.
    mount_at("kvdyno-check", &mounted, "tmpfs", MountFlags::empty(), Some(c"size=256m")).map_err(refused)
}

/// Makes this thread's mounts, and those of threads that it starts later, invisible to all others.
///
/// # Errors
/// If that is not allowed: the check does not apply.
pub(crate) fn have_mounts_of_its_own() -> Result<(), Finding> {
    // SAFETY: this thread's view of the mounts becomes its own; file descriptors stay shared.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.map_err(refused)?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(refused)?;
    Ok(leave_to_other_namespaces()?)
}

fn refused(error: impl fmt::Display) -> Finding {
    Finding::NotApplicable(format!("a filesystem cannot be mounted here: {error}"))
}

/// The small filesystem of this process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SmallFilesystem {
    /// A folder for a database.
    pub database: PathBuf,
    ballast: PathBuf,
}

impl SmallFilesystem {
    /// The filesystem that [`mount`] mounted.
    pub fn of(folder: &Path) -> Result<SmallFilesystem, Finding> {
        let mounted = mounted(folder);
        let database = mounted.join("database");
        fs::create_dir(&database)?;
        Ok(SmallFilesystem { database, ballast: mounted.join("ballast") })
    }

    /// Fills it, but for room for a few hundred records. An engine may take of it meanwhile: then there is less to
    /// fill.
    pub fn fill(&self) -> Result<(), Finding> {
        let ballast = File::create(&self.ballast)?;
        let mut filled = Ok(());
        for _ in 0..ATTEMPTS {
            let folder = statvfs(&self.database).map_err(io::Error::from)?;
            let free = (folder.f_bavail * folder.f_frsize).saturating_sub(LEFT);
            filled = fallocate(&ballast, FallocateFlags::empty(), 0, free.max(1)).map_err(io::Error::from);
            if filled.is_ok() {
                break;
            }
        }
        filled.during("the check itself failed: filling the filesystem")
    }

    /// Makes room again.
    pub fn relieve(&self) -> Result<(), Finding> {
        Ok(fs::remove_file(&self.ballast)?)
    }
}
