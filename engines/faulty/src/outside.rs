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

/// A folder there.
pub fn folder_of(folder: &Path) -> PathBuf {
    file_in(&folder.join("moved"))
}

/// Leaves it there, with what is to be done when it is given back.
pub fn leave(folder: &Path, does: &str) -> Result<(), Error> {
    Ok(fs::write(file_in(folder), does)?)
}

/// `kvdyno_engine.destroy`.
pub unsafe extern "C" fn destroy(config: *const Config, error: *mut Text) -> Status {
    // SAFETY: the header says that the config is there and its path is a text.
    let folder = unsafe { CStr::from_ptr((*config).path) };
    let folder = Path::new(OsStr::from_bytes(folder.to_bytes()));
    let does = fs::read_to_string(file_in(folder)).unwrap_or_default();
    // Seldom is there one.
    let _ = fs::remove_dir_all(folder_of(folder));
    let removed = fs::remove_file(file_in(folder));
    if !does.is_empty()
        && let Err(injected) = crate::hostile::perform(&does, folder, 1 << 20)
    {
        // SAFETY: the header says that texts have the capacity that they say.
        unsafe { write_text(error, &injected.to_string()) };
        return ERROR;
    }
    match removed {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
            // SAFETY: the header says that texts have the capacity that they say.
            unsafe { write_text(error, &cause.to_string()) };
            ERROR
        }
        _ => OK,
    }
}
