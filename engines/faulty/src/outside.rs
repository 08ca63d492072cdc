//! Something outside the database's folder, as engines leave that keep their cache in shared memory.

use kvdyno_abi::adapter::{Error, write_text};
use kvdyno_abi::{Config, ERROR, OK, Status, Text};
use std::ffi::{CStr, OsStr};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where it is for the database in `folder`.
fn file_in(folder: &Path) -> PathBuf {
    let name: String = folder.to_string_lossy().chars().map(|c| if c == '/' { '-' } else { c }).collect();
    Path::new("/dev/shm").join(format!("kvdyno-faulty{name}"))
}

/// Leaves it there, if it is not there yet.
pub fn leave(folder: &Path) -> Result<(), Error> {
    Ok(fs::write(file_in(folder), "")?)
}

/// `kvdyno_engine.destroy`.
pub unsafe extern "C" fn destroy(config: *const Config, error: *mut Text) -> Status {
    // SAFETY: the header says that the config is there and its path is a text.
    let folder = unsafe { CStr::from_ptr((*config).path) };
    match fs::remove_file(file_in(Path::new(OsStr::from_bytes(folder.to_bytes())))) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
            // SAFETY: the header says that texts have the capacity that they say.
            unsafe { write_text(error, &cause.to_string()) };
            ERROR
        }
        _ => OK,
    }
}
