//! The file that has an engine's code: its hash, and the package that it came with.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use kvdyno_engine::installed;
use kvdyno_results::{EngineFile, EnginePackage};

use crate::archive::sha256;

/// Descriptions of engines' files, each made once, and again if the file becomes another.
#[derive(Debug, Default)]
pub struct EngineFiles {
    known: Mutex<HashMap<PathBuf, (FileStamp, EngineFile)>>,
}

/// Device, inode, length, and when it was changed.
type FileStamp = (u64, u64, u64, i64, i64);

impl EngineFiles {
    /// The description of a file whose path has no links.
    pub fn describe(&self, path: &Path) -> EngineFile {
        let stamp = path.metadata().map(|facts| (facts.dev(), facts.ino(), facts.len(), facts.mtime(), facts.ctime()));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match (known.get(path), stamp) {
            (Some((before, file)), Ok(now)) if *before == now => file.clone(),
            (_, Ok(now)) => {
                let file = describe(path);
                known.insert(path.to_owned(), (now, file.clone()));
                file
            }
            (_, Err(_)) => describe(path),
        }
    }
}

fn describe(path: &Path) -> EngineFile {
    EngineFile {
        path: path.display().to_string(),
        // Absent if the file can no longer be read.
        sha256: sha256(path).ok(),
        package: of_installed(path).or_else(|| of_dpkg(path)),
    }
}

/// The version folder of `kvdyno engines install` that it lies in.
fn of_installed(path: &Path) -> Option<EnginePackage> {
    let installed = path.ancestors().skip(1).find_map(installed::in_folder)?;
    Some(EnginePackage { name: installed.name, version: installed.version, source: installed.source })
}

/// The source of a Debian package.
const DPKG: &str = "dpkg";

/// The folders below which packages put libraries (Debian Policy 9.1 and the Filesystem Hierarchy Standard 3.0). No
/// package uses `/usr/local`. For a file elsewhere dpkg is not run, because it reads the lists of all packages.
const OF_PACKAGES: [&str; 5] = ["/usr", "/lib", "/lib32", "/lib64", "/opt"];

/// The Debian package that dpkg says it belongs to.
fn of_dpkg(path: &Path) -> Option<EnginePackage> {
    if path.starts_with("/usr/local") || !OF_PACKAGES.iter().any(|folder| path.starts_with(folder)) {
        return None;
    }
    let path = path.to_str()?;
    // Packages from before `/lib` became a link to `/usr/lib` still say `/lib`.
    let owner = owner(path).or_else(|| owner(path.strip_prefix("/usr")?))?;
    let version = dpkg_query(&["--show", "--showformat", "${Version}", &owner])?;
    let name = owner.split(':').next().unwrap_or_default().to_owned();
    (!version.is_empty()).then(|| EnginePackage { name, version, source: DPKG.to_owned() })
}

/// `liblmdb0:amd64`.
fn owner(path: &str) -> Option<String> {
    // dpkg takes these for a pattern, and would name packages of other files.
    if path.contains(['*', '?', '[', '\\']) {
        return None;
    }
    owner_in(&dpkg_query(&["--search", path])?, path)
}

/// From lines `PACKAGE: PATH`; several packages, separated by commas, may have a file in common, and diversions have
/// lines of their own.
fn owner_in(answer: &str, path: &str) -> Option<String> {
    let of_line = |line: &str| line.strip_suffix(path)?.strip_suffix(": ").map(str::to_owned);
    let owners = answer.lines().filter(|line| !line.starts_with("diversion by ")).find_map(of_line)?;
    owners.split(", ").next().map(str::to_owned)
}

fn dpkg_query(arguments: &[&str]) -> Option<String> {
    let output = Command::new("dpkg-query").args(arguments).env("LC_ALL", "C").stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_described_once_and_again_when_it_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let (path, files) = (folder.path().join("lib.so"), EngineFiles::default());
        fs::write(&path, "abc").unwrap();
        let first = files.describe(&path);
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((first.sha256.as_deref(), &first.package), (Some(abc), &None));
        assert_eq!(files.describe(&path), first);
        fs::write(&path, "abcd").unwrap();
        assert_ne!(files.describe(&path).sha256, first.sha256);
        fs::remove_file(&path).unwrap();
        assert_eq!(files.describe(&path).sha256, None);
    }

    #[test]
    fn a_version_folder_names_the_package() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("rocksdb@8.5.4");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("lib.so"), "").unwrap();
        fs::write(folder.join(installed::NOTE), "source = \"maven x 8.5.4\"\nlibrary = \"lib.so\"\n").unwrap();
        let package = describe(&folder.join("lib.so")).package.unwrap();
        assert_eq!(
            (package.name, package.version, package.source),
            ("rocksdb".into(), "8.5.4".into(), "maven x 8.5.4".to_owned())
        );
    }

    #[test]
    fn the_owner_of_a_file_is_told_from_diversions_and_other_files() {
        let path = "/usr/lib/liblmdb.so.0";
        assert_eq!(owner_in("liblmdb0:amd64: /usr/lib/liblmdb.so.0\n", path).as_deref(), Some("liblmdb0:amd64"));
        assert_eq!(owner_in("a, b: /usr/lib/liblmdb.so.0\n", path).as_deref(), Some("a"));
        assert_eq!(owner_in("diversion by x from: /usr/lib/liblmdb.so.0\n", path), None);
        assert_eq!(owner_in("a: /chroot/usr/lib/liblmdb.so.0\n", path), None);
        assert_eq!(owner("/usr/lib/*"), None);
    }
}
