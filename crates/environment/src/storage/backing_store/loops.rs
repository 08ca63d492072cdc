//! Loop devices: files as block devices.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{PATIENCE, tool};
use crate::ownership::{Inode, Register};
use crate::patience::patiently;

/// The kernel's read-ahead of a disk, KiB (`VM_READAHEAD_PAGES`, `include/linux/mm.h`). A loop device begins with much
/// more where the disk below it prefers large requests, and each page of a mapped file then brings megabytes.
const READ_AHEAD_KIB: u64 = 128;

/// A loop device and the file behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) device: PathBuf,
    pub(super) file: PathBuf,
}

impl Loop {
    /// Whether its file has, or had, this path.
    fn is_named(&self, file: &Path) -> bool {
        // The kernel's suffix for the name of a removed file.
        let mut removed = file.as_os_str().to_owned();
        removed.push(" (deleted)");
        self.file == file || self.file.as_os_str() == removed
    }
}

/// All loop devices that have a file.
pub(super) fn all() -> Vec<Loop> {
    let device = |entry: fs::DirEntry| {
        let file = fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
        let file = file.trim_end_matches('\n').into();
        Some(Loop { device: Path::new("/dev").join(entry.file_name()), file })
    };
    fs::read_dir("/sys/block").into_iter().flatten().flatten().filter_map(device).collect()
}

/// The device of a file; absent if it has none.
///
/// # Errors
/// If the kernel does not tell.
pub(super) fn of(file: &Path) -> io::Result<Option<PathBuf>> {
    let (Ok(file), Ok(inode)) = (file.canonicalize(), Inode::of(file)) else { return Ok(None) };
    Ok(all_of(&file, inode)?.into_iter().next())
}

/// The devices of a file.
///
/// # Errors
/// If the kernel does not tell.
pub(super) fn all_of(file: &Path, inode: Inode) -> io::Result<Vec<PathBuf>> {
    let mut devices = Vec::new();
    for one in all() {
        if has(&one.device, file, inode)? {
            devices.push(one.device);
        }
    }
    Ok(devices)
}

/// Whether a device is backed by this very file, by the kernel's word, and not by another of its name.
///
/// # Errors
/// If the kernel does not tell: it does to root alone.
pub(super) fn has(device: &Path, file: &Path, inode: Inode) -> io::Result<bool> {
    // The name first: to ask for more would wait for other devices' files, which may hang.
    if !all().iter().any(|one| one.device == device && one.is_named(file)) {
        return Ok(false);
    }
    let mut command = Command::new("losetup");
    let told = tool::says(command.args(["--list", "--noheadings", "--output", "BACK-INO,BACK-MAJ:MIN"]).arg(device))?;
    match behind(&told) {
        Some(behind) => Ok(behind == inode),
        // It was let go in the meantime.
        None if told.is_empty() => Ok(false),
        None => Err(io::Error::other(format!("losetup does not tell which file {} has", device.display()))),
    }
}

/// `1234 254:0`
fn behind(told: &str) -> Option<Inode> {
    let (number, device) = told.trim().split_once(' ')?;
    let (major, minor) = device.trim().split_once(':')?;
    let device = rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?);
    Some(Inode { device, number: number.parse().ok()? })
}

/// Makes a device of a file, which is read and written past the page cache.
///
/// # Errors
/// If no device is to be had, or the file's filesystem allows no direct I/O.
pub(super) fn attach(file: &Path, register: &Register) -> io::Result<PathBuf> {
    let mut command = Command::new("losetup");
    command.args(["--find", "--show", "--direct-io=on"]).arg(file);
    let device = PathBuf::from(tool::makes(&mut command, register)?);
    if is_direct(&device) {
        read_ahead(&device, READ_AHEAD_KIB)?;
        return Ok(device);
    }
    detach(&device, &file.canonicalize()?, PATIENCE)?;
    Err(io::Error::other(format!(
        "the filesystem of {} allows no direct I/O on a loop file: its pages would be cached twice; choose another \
         lab.dir",
        file.display()
    )))
}

fn read_ahead(device: &Path, kib: u64) -> io::Result<()> {
    let name = device.file_name().unwrap_or_default();
    fs::write(Path::new("/sys/block").join(name).join("queue/read_ahead_kb"), kib.to_string())
}

fn is_direct(device: &Path) -> bool {
    let Some(name) = device.file_name() else { return false };
    fs::read_to_string(Path::new("/sys/block").join(name).join("loop/dio")).is_ok_and(|text| text.trim() == "1")
}

/// Takes a file, by its canonical path, from its device. Another program may give the device a file of its own as soon
/// as it is free: no attempt may take that from it.
///
/// # Errors
/// If the device is still in use after a while.
pub(super) fn detach(device: &Path, file: &Path, patience: Duration) -> io::Result<()> {
    let has_it = || all().iter().any(|one| one.device == device && one.is_named(file));
    patiently(patience, || {
        if !has_it() {
            return Ok(());
        }
        tool::run(Command::new("losetup").arg("--detach").arg(device))?;
        // A device in use is let go when its last user does.
        match has_it() {
            true => Err(io::Error::other(format!("{} is still in use", device.display()))),
            false => Ok(()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_behind_a_device_is_known_by_its_number() {
        let inode = Inode { device: rustix::fs::makedev(254, 3), number: 1234 };
        assert_eq!(behind("1234       254:3  \n"), Some(inode));
        assert_eq!(behind(""), None);
    }
}
