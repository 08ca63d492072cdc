//! Groups of a dead kvdyno, and groups that only look like them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{group, hierarchy};
use crate::ownership::{Inode, Register, Thing, is_still};

/// A group of a dead kvdyno.
#[derive(Clone, Debug)]
pub(crate) struct LeftoverGroup {
    /// Its folder below the mounted hierarchy.
    pub(crate) folder: PathBuf,
    inode: Option<Inode>,
    /// Processes that are still in it.
    pub(crate) processes: Vec<u32>,
}

/// The group that a process registered, if it is there. One that was about to be made has no processes of ours.
pub(crate) fn leftover(folder: &Path, inode: Option<Inode>) -> Option<LeftoverGroup> {
    let processes = group::processes(folder).into_iter().map(|pid| pid.as_raw_pid() as u32).collect();
    is_still(folder, inode).then(|| LeftoverGroup { folder: folder.to_owned(), inode, processes })
}

impl LeftoverGroup {
    /// Ends its processes and removes it, if it is still the same group.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match (is_still(&self.folder, self.inode), self.inode) {
            (false, _) => Ok(()),
            (true, Some(_)) => group::remove(&self.folder),
            (true, None) => fs::remove_dir(&self.folder),
        }
    }
}

/// Removes the groups in the register of a process that has made none yet: those of its run's dead processes.
///
/// # Errors
/// If one stays: its processes would work beside the run.
pub(crate) fn remove_taken_over(register: &Register) -> io::Result<()> {
    for thing in register.things() {
        if let Thing::Group { path, inode } = thing {
            leftover(&path, inode).map_or(Ok(()), |group| group.remove())?;
            register.gone(&path)?;
        }
    }
    Ok(())
}

/// Groups with a name that kvdyno would give, whoever made them.
pub(crate) fn lookalikes() -> Vec<PathBuf> {
    let mut folders = hierarchy::points();
    let mut groups = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // A link is no group.
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            match entry.file_name().to_string_lossy().starts_with("kvdyno-") {
                true => groups.push(entry.path()),
                false => folders.push(entry.path()),
            }
        }
    }
    groups
}
