//! The files that the dynamic linker has loaded into this process.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// All of them, in the order in which they were loaded.
pub(crate) fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    // SAFETY: the callback is called within this call alone, with the pointer to `files`.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut files).cast()) };
    files
}

unsafe extern "C" fn add(object: *mut libc::dl_phdr_info, _: usize, files: *mut c_void) -> c_int {
    // SAFETY: the linker's own description, whose name is a string that ends with a NUL; and the caller's list.
    let (name, files) = unsafe { ((*object).dlpi_name, &mut *files.cast::<Vec<PathBuf>>()) };
    if !name.is_null() {
        // SAFETY: as above.
        files.push(PathBuf::from(OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes())));
    }
    0
}

/// Libraries that the runtime of a compiler or of the C library loads when it needs them, whichever compiler it is.
const OF_A_RUNTIME: [&str; 3] = ["libgcc_s.so", "libnss_", "libresolv.so"];
/// Adapters, which may wrap others.
const ADAPTER: &str = "libkvdyno_";

/// The first library of `now` that was not there `before`, and is no adapter: the linker loads what was requested
/// before what that needs.
pub(crate) fn first_new<'a>(before: &[PathBuf], now: &'a [PathBuf]) -> Option<&'a Path> {
    let is_library = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.is_absolute() && !name.starts_with(ADAPTER) && !OF_A_RUNTIME.iter().any(|own| name.starts_with(own))
    };
    now.iter().filter(is_library).find(|path| !before.contains(path)).map(PathBuf::as_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths<const N: usize>(paths: [&str; N]) -> Vec<PathBuf> {
        paths.map(PathBuf::from).to_vec()
    }

    #[test]
    fn this_process_has_a_c_library() {
        let is_libc = |path: &PathBuf| path.to_string_lossy().contains("libc");
        assert!(files().iter().any(is_libc), "{:?}", files());
    }

    #[test]
    fn an_engines_library_comes_before_those_that_it_needs() {
        let before = paths(["", "/lib/libc.so.6", "/x/libkvdyno_a.so"]);
        let of = |more: &[&str]| {
            let now: Vec<PathBuf> = before.iter().cloned().chain(more.iter().map(PathBuf::from)).collect();
            first_new(&before, &now).map(Path::to_owned)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["/lib/libgcc_s.so.1", "/x/libkvdyno_b.so"]), None);
        assert_eq!(
            of(&["/x/libkvdyno_b.so", "/lib/librocksdb.so.9", "/lib/libsnappy.so.1"]),
            Some("/lib/librocksdb.so.9".into())
        );
    }
}
