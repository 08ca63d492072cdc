//! Data that the engine keeps outside its database's folder, and files of that folder in which there is nothing.

use kvdyno_abi::adapter::Error;
use std::ffi::{CStr, c_void};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::ptr;

use crate::outside;

/// The options of where `fill_limit` bytes are, as they are spelled.
pub const LOCATIONS: &CStr = c"nowhere|memory|shared-memory|file|mapped|dummy|moved";

unsafe extern "C" {
    fn mmap(
        address: *mut c_void,
        size: usize,
        protection: i32,
        flags: i32,
        descriptor: i32,
        offset: i64,
    ) -> *mut c_void;
    fn posix_fallocate(descriptor: i32, offset: i64, bytes: i64) -> i32;
}

/// Readable and writable, and shared with the file.
const READ_WRITE: i32 = 3;
const SHARED: i32 = 1;

/// Data that is kept there until the database is closed.
#[derive(Debug)]
pub enum Hidden {
    Nothing,
    Memory { _bytes: Vec<u8> },
    File { _deleted: File },
}

impl Hidden {
    /// Keeps `bytes` bytes at a location. A file outside the folder has no name any more.
    pub fn keep(location: &str, bytes: usize, folder: &Path) -> Result<Hidden, Error> {
        let beside = folder.parent().unwrap_or(folder);
        match location {
            "memory" => return Ok(Hidden::Memory { _bytes: vec![7; bytes] }),
            "shared-memory" => return Ok(Hidden::File { _deleted: deleted(Path::new("/dev/shm"), bytes)? }),
            "file" => return Ok(Hidden::File { _deleted: deleted(beside, bytes)? }),
            "mapped" => map(&deleted(beside, bytes)?, bytes)?,
            "dummy" | "moved" => allocate(&folder.join("faulty.dummy"), bytes)?,
            _ => {}
        }
        Ok(Hidden::Nothing)
    }
}

/// The folder of the database's files: in memory where they are moved, and then [`outside::destroy`] removes it.
pub fn home(location: &str, folder: &Path) -> Result<PathBuf, Error> {
    if location != "moved" {
        return Ok(folder.into());
    }
    let home = outside::folder_of(folder);
    fs::create_dir_all(&home)?;
    Ok(home)
}

fn deleted(folder: &Path, bytes: usize) -> Result<File, Error> {
    let path = folder.join(format!("kvdyno-faulty-hidden-{}", std::process::id()));
    let mut file = File::options().read(true).write(true).create_new(true).open(&path)?;
    fs::remove_file(&path)?;
    file.write_all(&vec![7; bytes])?;
    file.sync_all()?;
    Ok(file)
}

/// Maps a file until the process ends.
fn map(file: &File, bytes: usize) -> Result<(), Error> {
    // SAFETY: a new mapping is nobody's memory yet, and nobody uses it.
    let mapped = unsafe { mmap(ptr::null_mut(), bytes, READ_WRITE, SHARED, file.as_raw_fd(), 0) };
    if mapped.addr() == usize::MAX { Err(io::Error::last_os_error().into()) } else { Ok(()) }
}

/// Makes a file that takes its blocks, and nothing was written to them.
fn allocate(path: &Path, bytes: usize) -> Result<(), Error> {
    let file = File::create(path)?;
    // SAFETY: it takes numbers alone.
    match unsafe { posix_fallocate(file.as_raw_fd(), 0, bytes as i64) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error).into()),
    }
}
