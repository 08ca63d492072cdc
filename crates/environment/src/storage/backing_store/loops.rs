//! Loop devices: files as block devices.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{patiently, tool};

/// The kernel's read-ahead of a disk, KiB (`VM_READAHEAD_PAGES`, `include/linux/mm.h`). A loop device begins with much
/// more where the disk below it prefers large requests, and each page of a mapped file then brings megabytes.
const READ_AHEAD_KIB: u64 = 128;

/// A loop device and the file behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) device: PathBuf,
    pub(super) file: PathBuf,
}

/// Those that have a file.
pub(super) fn all() -> Vec<Loop> {
    let device = |entry: fs::DirEntry| {
        let file = fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
        // What the kernel adds to the name of a file that was removed.
        let file = file.trim_end_matches('\n').trim_end_matches(" (deleted)").into();
        Some(Loop { device: Path::new("/dev").join(entry.file_name()), file })
    };
    fs::read_dir("/sys/block").into_iter().flatten().flatten().filter_map(device).collect()
}

/// The device of a file; absent if it has none.
pub(super) fn of(file: &Path) -> Option<PathBuf> {
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    all().into_iter().find(|device| device.file == file).map(|device| device.device)
}

/// Makes a device of a file, which is read and written past the page cache.
///
/// # Errors
/// If no device is to be had, or the file's filesystem allows no direct I/O.
pub(super) fn attach(file: &Path) -> io::Result<PathBuf> {
    let mut command = Command::new("losetup");
    command.args(["--find", "--show", "--direct-io=on"]).arg(file);
    let device = PathBuf::from(tool::says(&mut command)?);
    if is_direct(&device) {
        read_ahead(&device, READ_AHEAD_KIB)?;
        return Ok(device);
    }
    detach(&device)?;
    Err(io::Error::other(format!(
        "the filesystem of {} allows no direct I/O on a loop file: its pages would be cached twice; choose another lab.dir",
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

/// Takes the file from its device.
///
/// # Errors
/// If the device is still in use after a while.
pub(super) fn detach(device: &Path) -> io::Result<()> {
    patiently(|| {
        if all().iter().all(|other| other.device != device) {
            return Ok(());
        }
        tool::run(Command::new("losetup").arg("--detach").arg(device))?;
        // A device in use is let go when its last user does.
        match all().iter().all(|other| other.device != device) {
            true => Ok(()),
            false => Err(io::Error::other(format!("{} is still in use", device.display()))),
        }
    })
}
