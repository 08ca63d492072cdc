//! The program that is tried: the commit that it was built from, and a hash that tells it from others.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use kvdyno_results::Machine;

/// The program and what it is of.
#[derive(Clone, Debug)]
pub struct TriedProgram {
    /// Its file.
    pub path: PathBuf,
    /// The commit of its sources, `-changed` if they were; absent if they came without their history. The program
    /// itself tells it (`kvdyno machine`).
    pub commit: Option<String>,
    /// A hash of the program and of the adapters in the folders beside it, without the commit's name and the linker's
    /// hash: after a commit that changes neither it is the same program.
    pub code: u64,
}

impl TriedProgram {
    /// The program at `path`.
    ///
    /// # Errors
    /// If it cannot be read, or does not describe its machine and its build.
    pub fn of(path: &Path) -> io::Result<TriedProgram> {
        let path = path.canonicalize()?;
        let output = Command::new(&path).args(["machine", "--json"]).output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("{} machine: {}", path.display(), said.trim())));
        }
        let machine: Machine = serde_json::from_slice(&output.stdout).map_err(io::Error::other)?;
        let commit = machine.build.and_then(|build| build.commit);
        let code = code_of(&path, commit.as_deref().unwrap_or_default())?;
        Ok(TriedProgram { path, commit, code })
    }
}

/// A hash of the files one of which a commit changes, if it changes more than its name.
fn code_of(kvdyno: &Path, commit: &str) -> io::Result<u64> {
    let mut files = vec![kvdyno.to_owned()];
    for folder in ["engines", "slow"].map(|name| kvdyno.with_file_name(name)) {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        let adapters = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
        files.extend(adapters.into_iter().filter(|path| path.extension().is_some_and(|end| end == "so")));
    }
    files.sort();
    files.iter().try_fold(FNV_START, |hash, file| Ok(fnv(hash, &without_name(fs::read(file)?, commit.as_bytes()))))
}

/// The note before the 20 bytes of a hash that the linker makes of all others: lengths of its name and of the hash, its
/// type, its name.
const BUILD_ID: &[u8] = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";

/// The bytes of a program with zeros for the name of its commit, and for the linker's hash, which depends on that.
fn without_name(mut bytes: Vec<u8>, commit: &[u8]) -> Vec<u8> {
    for at in positions(&bytes, commit) {
        bytes[at..at + commit.len()].fill(0);
    }
    for at in positions(&bytes, BUILD_ID).into_iter().map(|at| at + BUILD_ID.len()) {
        let end = bytes.len().min(at + 20);
        bytes[at..end].fill(0);
    }
    bytes
}

/// The indices at which `part` begins; none for an empty one.
fn positions(bytes: &[u8], part: &[u8]) -> Vec<usize> {
    let windows = bytes.windows(part.len().max(1)).enumerate();
    windows.filter(|(_, window)| *window == part).map(|(at, _)| at).collect()
}

/// FNV-1a, 64 bits.
pub fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The hash of nothing.
pub const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str, commit: &str, adapter: &str) -> u64 {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("kvdyno");
        fs::write(&program, text).unwrap();
        fs::create_dir(folder.path().join("engines")).unwrap();
        fs::write(folder.path().join("engines/libkvdyno_x.so"), adapter).unwrap();
        code_of(&program, commit).unwrap()
    }

    #[test]
    fn another_commit_of_the_same_program_is_no_other_program() {
        let first = code("a 1a2b b 1a2b", "1a2b", "x");
        assert_eq!(code("a 9f8e b 9f8e", "9f8e", "x"), first);
        assert_ne!(code("a 9f8e c 9f8e", "9f8e", "x"), first, "another program");
        assert_ne!(code("a 1a2b b 1a2b", "1a2b", "y"), first, "another adapter");
        assert_eq!(code("a", "", "x"), code("a", "1a2b", "x"), "sources without their history");
        let note = |hash: &str, rest: &str| format!("{}{hash:0>20}{rest}", String::from_utf8_lossy(BUILD_ID));
        assert_eq!(code(&note("1", "x"), "", "x"), code(&note("2", "x"), "", "x"), "the linker's hash");
        assert_ne!(code(&note("1", "x"), "", "x"), code(&note("1", "y"), "", "x"));
    }
}
