//! Data of `fill_limit` bytes that the engine keeps outside its database's folder.

use kvdyno_abi::adapter::Error;
use std::ffi::CStr;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// The locations, as an option is spelled.
pub const LOCATIONS: &CStr = c"nowhere|memory|shared-memory|file";

/// The data that is kept until the database is closed.
#[derive(Debug)]
pub enum Hidden {
    Nothing,
    Memory { _bytes: Vec<u8> },
    File { _deleted: File },
}

impl Hidden {
    /// Keeps `bytes` bytes at a location. A file has no name any more.
    pub fn keep(location: &str, bytes: usize, folder: &Path) -> Result<Hidden, Error> {
        let beside = folder.parent().unwrap_or(folder);
        match location {
            "memory" => Ok(Hidden::Memory { _bytes: vec![7; bytes] }),
            "shared-memory" => deleted(Path::new("/dev/shm"), bytes),
            "file" => deleted(beside, bytes),
            _ => Ok(Hidden::Nothing),
        }
    }
}

fn deleted(folder: &Path, bytes: usize) -> Result<Hidden, Error> {
    let path = folder.join(format!("kvdyno-faulty-hidden-{}", std::process::id()));
    let mut file = File::create_new(&path)?;
    fs::remove_file(&path)?;
    file.write_all(&vec![7; bytes])?;
    file.sync_all()?;
    Ok(Hidden::File { _deleted: file })
}
