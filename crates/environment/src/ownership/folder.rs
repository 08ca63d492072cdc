//! A temporary folder that bears a token.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::thing::is_still;
use super::{Inode, Register, RunName};
use crate::mount;

/// A new folder for this user alone. It is removed with its contents when this is dropped; if the process is killed
/// before, `kvdyno clean` finds it.
#[derive(Debug)]
pub struct OwnedFolder {
    path: PathBuf,
    inode: Inode,
    register: Register,
}

impl OwnedFolder {
    /// Makes it in the folder `parent`.
    ///
    /// # Errors
    /// If it cannot be made, or not be registered.
    pub fn new(parent: &Path) -> io::Result<OwnedFolder> {
        OwnedFolder::noted_in(Register::new(RunName::new()?)?, parent)
    }

    fn noted_in(register: Register, parent: &Path) -> io::Result<OwnedFolder> {
        let path = parent.canonicalize()?.join(register.name(0));
        let told = |cause: io::Error| io::Error::new(cause.kind(), format!("cannot make {}: {cause}", path.display()));
        register.make_folder(&path).map_err(told)?;
        Ok(OwnedFolder { inode: Inode::of(&path)?, path, register })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for OwnedFolder {
    fn drop(&mut self) {
        // A destructor cannot report errors; the register keeps what stays, for `kvdyno clean`.
        if remove(&self.path, Some(self.inode)).is_ok() {
            let _ = self.register.gone(&self.path);
        }
    }
}

/// Removes a folder that a process left, if it is still the same and no filesystem is mounted in it. One of which
/// nothing is known but its name is removed only if it is empty.
pub(crate) fn remove(path: &Path, inode: Option<Inode>) -> io::Result<()> {
    if !is_still(path, inode) {
        return Ok(());
    }
    if mount::is_below(path) {
        return Err(io::Error::other("something is mounted in it"));
    }
    match inode {
        Some(_) => fs::remove_dir_all(path),
        None => fs::remove_dir(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_with_everything_in_it() {
        let (parent, registers) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let register = Register::below(registers.path(), RunName::new().unwrap()).unwrap();
        let folder = OwnedFolder::noted_in(register, parent.path()).unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        fs::write(folder.path().join("sub/file"), "").unwrap();
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
        assert_eq!(fs::read_dir(registers.path()).unwrap().count(), 0, "nor is it registered");
    }

    #[test]
    fn a_folder_that_took_its_place_stays() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("one");
        fs::create_dir(&path).unwrap();
        let inode = Inode::of(&path).unwrap();
        fs::rename(&path, parent.path().join("away")).unwrap();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("file"), "").unwrap();
        remove(&path, Some(inode)).unwrap();
        assert!(path.join("file").exists());
        assert!(remove(&path, None).is_err(), "not empty, and nothing known of it");
        fs::remove_dir_all(&path).unwrap();
        std::os::unix::fs::symlink(parent.path().join("away"), &path).unwrap();
        remove(&path, Some(inode)).unwrap();
        assert!(path.is_symlink() && parent.path().join("away").exists());
    }
}
