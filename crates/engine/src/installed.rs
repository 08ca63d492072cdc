//! Engines that `kvdyno engines install` brought: a folder `NAME@VERSION` each, with a note of what is in it.

use std::cmp::Ordering;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The file in such a folder that says what is in it. It is written last, so a folder without it is no engine.
pub const NOTE: &str = "installed.toml";

/// The contents of an installed folder. Paths are those of its files, in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The engine's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The source that it was fetched from: client, package, version.
    pub source: String,
    /// An adapter of its own, where it was built for this very version.
    pub adapter: Option<PathBuf>,
    /// The library for the adapter to load.
    pub library: Option<PathBuf>,
}

/// [`NOTE`] as it is in the file; names are of files beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstallNote {
    /// The source that it was fetched from.
    pub source: String,
    /// SHA-256 of the fetched archive, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The adapter's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// The library's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
}

/// The versions of `name` that `folders` hold, oldest first. The first folder that has a version counts.
pub fn versions(name: &str, folders: &[PathBuf]) -> Vec<Installed> {
    let mut engines = all(folders);
    engines.retain(|one| one.name == name);
    engines
}

/// Everything installed that `folders` hold, by name and version, oldest version first.
pub fn all(folders: &[PathBuf]) -> Vec<Installed> {
    let mut engines: Vec<Installed> = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Some(one) = in_folder(&entry.path()) else { continue };
            if !engines.iter().any(|known| known.name == one.name && known.version == one.version) {
                engines.push(one);
            }
        }
    }
    engines.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| compare_versions(&a.version, &b.version)));
    engines
}

/// The engine installed in `folder`; `None` if it is no such folder.
pub fn in_folder(folder: &Path) -> Option<Installed> {
    let (name, version) = folder.file_name()?.to_str()?.split_once('@')?;
    let note: InstallNote = toml::from_str(&fs::read_to_string(folder.join(NOTE)).ok()?).ok()?;
    let file = |name: Option<String>| name.map(|name| folder.join(name));
    Some(Installed {
        name: name.to_owned(),
        version: version.to_owned(),
        source: note.source,
        adapter: file(note.adapter),
        library: file(note.library),
    })
}

/// `5.7.3` is older than `10.10.1`: numbers are compared as numbers, all else as text.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    let parts = |text: &str| -> Vec<(u64, String)> {
        text.split(['.', '-', '+']).map(|part| (part.parse().unwrap_or(0), part.to_owned())).collect()
    };
    let (a, b) = (parts(a), parts(b));
    let numbers = |parts: &[(u64, String)]| parts.iter().map(|part| part.0).collect::<Vec<_>>();
    numbers(&a).cmp(&numbers(&b)).then_with(|| a.cmp(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, name: &str, note: &str) {
        fs::create_dir_all(root.join(name)).unwrap();
        fs::write(root.join(name).join(NOTE), note).unwrap();
    }

    #[test]
    fn versions_are_in_order_and_folders_without_a_note_are_none() {
        let root = tempfile::tempdir().unwrap();
        let note = "source = \"maven x 1\"\nlibrary = \"lib.so\"\n";
        for name in ["rocksdb@10.10.1", "rocksdb@5.7.3", "lmdb@0.9.90"] {
            put(root.path(), name, note);
        }
        fs::create_dir(root.path().join("rocksdb@9.0.0")).unwrap();
        put(root.path(), "rocksdb@8.0.0", "no note");
        let engines = versions("rocksdb", &[root.path().to_owned()]);
        assert_eq!(engines.iter().map(|one| one.version.as_str()).collect::<Vec<_>>(), ["5.7.3", "10.10.1"]);
        assert_eq!(engines[0].library, Some(root.path().join("rocksdb@5.7.3/lib.so")));
        assert_eq!(engines[0].adapter, None);
    }

    #[test]
    fn the_first_folder_that_has_a_version_counts() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put(one.path(), "lmdb@1", "source = \"one\"\n");
        put(two.path(), "lmdb@1", "source = \"two\"\n");
        let engines = all(&[one.path().to_owned(), two.path().to_owned()]);
        assert_eq!(engines.len(), 1);
        assert_eq!(engines[0].source, "one");
    }
}
