//! Finds adapters by name or by path.
//!
//! Adapters are files `libkvdyno_NAME.so`, looked for in the folders of `$KVDYNO_ENGINES` (separated by `:`), in
//! `engines/` beside the program, in `../lib/kvdyno/engines` from it, and in the user's
//! `$XDG_DATA_HOME/kvdyno/engines`. The same folders are searched for what was installed, `NAME@VERSION/` (see
//! [`crate::installed`]).

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use kvdyno_model::did_you_mean;

use crate::adapter::{Adapter, AdapterError};
use crate::installed::{self, Installed};

/// How a user names an engine: `lmdb`, `wiredtiger:lsm`, `rocksdb@8.5.4:pfx`, `lmdb@/old/liblmdb.so`, `./libmine.so`,
/// `./libmine.so:fast`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineName {
    /// Name or path.
    pub adapter: String,
    /// One of the versions that were installed, or the path of the library that the adapter loads.
    pub version: Option<String>,
    /// A preset of the adapter's.
    pub preset: Option<String>,
}

/// Where an engine is: its adapter, and the library that belongs to it if that is not the system's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineLocation {
    /// The adapter's file.
    pub adapter: PathBuf,
    /// The engine's own library.
    pub library: Option<PathBuf>,
}

/// Why there is no such engine.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Nobody has heard of it.
    #[error("there is no engine `{name}`{}", advice(name, known))]
    Unknown {
        /// The text that was written.
        name: String,
        /// The engines that there are.
        known: Vec<String>,
    },
    /// A version that is not here.
    #[error(
        "{name}@{version} is not installed{}; to get it: kvdyno engines install {name}@{version}",
        versions_here(here)
    )]
    Version {
        /// The engine.
        name: String,
        /// The requested version.
        version: String,
        /// The versions that are installed.
        here: Vec<String>,
    },
    /// The adapter's file is no good.
    #[error(transparent)]
    Adapter(#[from] AdapterError),
}

fn versions_here(here: &[String]) -> String {
    if here.is_empty() { String::new() } else { format!(" (here: {})", here.join(", ")) }
}

fn advice(name: &str, known: &[String]) -> String {
    let others = match known {
        [] => "no adapters were found; name their folder in KVDYNO_ENGINES".to_owned(),
        known => format!("known are {}; or give the path of an adapter, such as ./libmine.so", known.join(", ")),
    };
    match did_you_mean(name, known).as_str() {
        "" => format!("; {others}"),
        meant => format!("{meant} ({others})"),
    }
}

impl EngineName {
    /// Splits what a user wrote.
    pub fn parse(text: &str) -> EngineName {
        let (adapter, preset) = match text.rsplit_once(':') {
            Some((adapter, preset)) if !preset.contains('/') => (adapter, Some(preset.to_owned())),
            _ => (text, None),
        };
        let (adapter, version) = match split_version(adapter) {
            Some((name, version)) => (name, Some(version.to_owned())),
            None => (adapter, None),
        };
        EngineName { adapter: adapter.to_owned(), version, preset }
    }

    /// The library that it names by its path, in the place of a version.
    pub fn library(&self) -> Option<&Path> {
        self.version.as_deref().filter(|version| is_path(version)).map(Path::new)
    }

    /// The same with paths that begin at `base`.
    #[must_use]
    pub fn below(&self, base: &Path) -> EngineName {
        let absolute = |text: &String| match is_path(text) {
            true => base.join(text).to_string_lossy().into_owned(),
            false => text.clone(),
        };
        EngineName {
            adapter: absolute(&self.adapter),
            version: self.version.as_ref().map(absolute),
            preset: self.preset.clone(),
        }
    }

    /// Whether it is the path of an adapter.
    pub fn is_path(&self) -> bool {
        is_path(&self.adapter)
    }

    /// Finds the engine. If a version is requested, it is the one that was installed. Without a version, it is the
    /// adapter that is here, with the system's library; if there is no such adapter, the newest installed version. A
    /// version that is a path replaces the library only.
    ///
    /// # Errors
    /// If no folder has it.
    pub fn find(&self) -> Result<EngineLocation, FindError> {
        if let Some(library) = self.library() {
            let location = EngineName { version: None, ..self.clone() }.find()?;
            // A loader looks for a bare name elsewhere.
            let library = std::path::absolute(library).unwrap_or_else(|_| library.to_owned());
            return Ok(EngineLocation { library: Some(library), ..location });
        }
        if self.is_path() {
            return Ok(EngineLocation { adapter: PathBuf::from(&self.adapter), library: None });
        }
        let folders = folders();
        let common = find_named(&self.adapter, &folders);
        let installed = installed::versions(&self.adapter, &folders);
        let location = |installed: &Installed| {
            let adapter = installed.adapter.clone().or_else(|| common.clone())?;
            Some(EngineLocation { adapter, library: installed.library.clone() })
        };
        let engine_location = match &self.version {
            Some(version) => installed.iter().find(|one| one.version == *version).and_then(location),
            None => common
                .clone()
                .map(|adapter| EngineLocation { adapter, library: None })
                .or_else(|| location(installed.last()?)),
        };
        engine_location.ok_or_else(|| self.missing(&installed))
    }

    fn missing(&self, installed: &[Installed]) -> FindError {
        let known: Vec<String> = list().into_keys().collect();
        match &self.version {
            Some(version) if !installed.is_empty() || known.contains(&self.adapter) => FindError::Version {
                name: self.adapter.clone(),
                version: version.clone(),
                here: installed.iter().map(|one| one.version.clone()).collect(),
            },
            _ => FindError::Unknown { name: self.adapter.clone(), known },
        }
    }

    /// The libraries that belong to the newest version installed, for an adapter whose system has none.
    pub fn fallback(&self) -> Option<PathBuf> {
        let usable = !self.is_path() && self.version.is_none();
        let mut versions = usable.then(|| installed::versions(&self.adapter, &folders()))?;
        versions.retain(|one| one.adapter.is_none());
        versions.pop()?.library
    }

    /// Finds and loads the adapter.
    ///
    /// # Errors
    /// If there is none, or it cannot be used.
    pub fn load(&self) -> Result<Adapter, FindError> {
        Ok(Adapter::load(&self.find()?.adapter)?)
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.adapter)?;
        self.version.as_ref().map_or(Ok(()), |version| write!(f, "@{version}"))?;
        self.preset.as_ref().map_or(Ok(()), |preset| write!(f, ":{preset}"))
    }
}

/// Name and version. In a path `@` is a letter like others, but behind an adapter's file begins its library.
fn split_version(adapter: &str) -> Option<(&str, &str)> {
    let at = adapter.find('@').filter(|at| !is_path(&adapter[..*at]));
    let at = at.or_else(|| adapter.find(".so@").map(|end| end + ".so".len()))?;
    Some((&adapter[..at], &adapter[at + 1..]))
}

/// `liblmdb.so.0` is one as `./liblmdb.so.0`.
fn is_path(text: &str) -> bool {
    text.contains('/') || text.ends_with(".so")
}

/// Where a user's own engines go: `$XDG_DATA_HOME/kvdyno/engines`. `None` if the user has no home.
pub fn own_folder() -> Option<PathBuf> {
    let data = env::var_os("XDG_DATA_HOME").filter(|data| !data.is_empty()).map(PathBuf::from);
    let data = data.or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share")));
    data.map(|data| data.join("kvdyno/engines"))
}

/// The folders that are searched, first one first.
pub fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        env::var_os("KVDYNO_ENGINES").map(|list| env::split_paths(&list).collect()).unwrap_or_default();
    if let Some(program) = env::current_exe().ok().as_deref().and_then(Path::parent) {
        folders.push(program.join("engines"));
        folders.push(program.join("../lib/kvdyno/engines"));
    }
    folders.extend(own_folder());
    folders
}

fn find_named(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    folders.iter().map(|folder| folder.join(format!("libkvdyno_{name}.so"))).find(|path| path.is_file())
}

/// Every adapter that the folders have, by the name in its file's name. Nothing is loaded.
pub fn list() -> BTreeMap<String, PathBuf> {
    let mut adapters = BTreeMap::new();
    for folder in folders() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(name) = name.strip_prefix("libkvdyno_").and_then(|name| name.strip_suffix(".so")) {
                adapters.entry(name.to_owned()).or_insert_with(|| entry.path());
            }
        }
    }
    adapters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, Option<String>, Option<String>) {
        let name = EngineName::parse(text);
        (name.adapter, name.version, name.preset)
    }

    #[test]
    fn a_name_may_have_a_version_and_a_preset_and_may_be_a_path() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(parsed("lmdb"), ("lmdb".into(), None, None));
        assert_eq!(parsed("wiredtiger:lsm"), ("wiredtiger".into(), None, some("lsm")));
        assert_eq!(parsed("rocksdb@8.5.4"), ("rocksdb".into(), some("8.5.4"), None));
        assert_eq!(parsed("rocksdb@8.5.4:pfx"), ("rocksdb".into(), some("8.5.4"), some("pfx")));
        assert_eq!(parsed("./libmine.so"), ("./libmine.so".into(), None, None));
        assert_eq!(parsed("./a@1/b:c/libmine.so"), ("./a@1/b:c/libmine.so".into(), None, None));
        assert_eq!(parsed("./libmine.so:fast"), ("./libmine.so".into(), None, some("fast")));
    }

    #[test]
    fn a_version_may_be_a_path() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(parsed("lmdb@/old/liblmdb.so"), ("lmdb".into(), some("/old/liblmdb.so"), None));
        assert_eq!(parsed("rocksdb@./a@1/lib.so.8:pfx"), ("rocksdb".into(), some("./a@1/lib.so.8"), some("pfx")));
        assert_eq!(parsed("./libmine.so@old.so"), ("./libmine.so".into(), some("old.so"), None));
        let name = EngineName::parse("./libmine.so@old.so:fast").below(Path::new("/base"));
        assert_eq!(name.to_string(), "/base/./libmine.so@/base/old.so:fast");
        assert_eq!(EngineName::parse("rocksdb@8.5.4").below(Path::new("/base")).to_string(), "rocksdb@8.5.4");
        assert_eq!(EngineName::parse("lmdb@0.9.90").library(), None);
    }
}
