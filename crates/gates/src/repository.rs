//! The files of this repository as they were written: nothing that a build leaves, nothing of version control.

#![allow(clippy::unwrap_used, reason = "a tree that cannot be read fails the test that reads it")]

use std::fs;
use std::path::{Path, PathBuf};

/// The folders whose files were written. What else lies at the top is taken file by file.
const FOLDERS: [&str; 8] = ["crates", "docs", "engines", "experiments", "fuzz", "published", "scripts", "tests"];

/// The names of what builds leave in those folders.
const BUILT: [&str; 4] = [".so", ".o", ".pending-snap", ".snap.new"];

/// A file of the repository.
pub struct File {
    /// Its path below the top folder.
    pub path: String,
    /// Its text; empty for what is not UTF-8.
    pub text: String,
}

impl File {
    /// The lines with their numbers, from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Whether its name ends with one of `extensions`.
    pub fn is_any_of(&self, extensions: &[&str]) -> bool {
        Path::new(&self.path).extension().is_some_and(|own| extensions.iter().any(|one| own == *one))
    }
}

/// The top folder: the one above the current folder that has the gate. A path from when this was compiled would be
/// that of another checkout where a `target` folder was copied.
pub fn top() -> PathBuf {
    let current = std::env::current_dir().unwrap();
    current.ancestors().find(|folder| folder.join(".ci/run").is_file()).unwrap().to_owned()
}

/// Every file that was written, sorted by path.
pub fn files() -> Vec<File> {
    let top = top();
    let mut paths: Vec<PathBuf> = entries(&top).into_iter().filter(|path| path.is_file()).collect();
    for folder in FOLDERS {
        collect(&top.join(folder), &mut paths);
    }
    let mut files: Vec<File> = paths.iter().map(|path| read(&top, path)).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn read(top: &Path, path: &Path) -> File {
    let name = path.strip_prefix(top).unwrap().to_string_lossy().into_owned();
    File { path: name, text: fs::read_to_string(path).unwrap_or_default() }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" {
            collect(&path, paths);
        } else if path.is_file() && !BUILT.iter().any(|ending| name.ends_with(ending)) {
            paths.push(path);
        }
    }
}
