//! Finds adapters by name or by path.
//!
//! Adapters are files `libkvdyno_NAME.so`, looked for in the folders of `$KVDYNO_ENGINES` (separated by `:`), in
//! `engines/` beside the program, in `../lib/kvdyno/engines` from it, and in the user's
//! `$XDG_DATA_HOME/kvdyno/engines`. The same folders are searched for what was installed, `NAME@VERSION/` (see
//! [`crate::installed`]).

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use kvdyno_model::{EngineName, did_you_mean};

use crate::adapter::{Adapter, AdapterError};
use crate::installed::{self, Installed};

/// The location of an engine: its adapter, and its library if that is not the system's.
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
    /// No engine has this name.
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

/// Finds the engine. If a version is requested, it is the one that was installed. Without a version, it is the
/// adapter that is here, with the system's library; if there is no such adapter, the newest installed version. A
/// version that is a path replaces the library only.
///
/// # Errors
/// If no folder has it.
pub fn find(name: &EngineName) -> Result<EngineLocation, FindError> {
    if let Some(library) = name.library() {
        let location = find(&EngineName { version: None, ..name.clone() })?;
        // A loader looks for a bare name elsewhere.
        let library = std::path::absolute(library).unwrap_or_else(|_| library.to_owned());
        return Ok(EngineLocation { library: Some(library), ..location });
    }
    if name.is_path() {
        return Ok(EngineLocation { adapter: PathBuf::from(&name.adapter), library: None });
    }
    let folders = folders();
    let common = find_named(&name.adapter, &folders);
    let installed = installed::versions(&name.adapter, &folders);
    let location = |installed: &Installed| {
        let adapter = installed.adapter.clone().or_else(|| common.clone())?;
        Some(EngineLocation { adapter, library: installed.library.clone() })
    };
    let engine_location = match &name.version {
        Some(version) => installed.iter().find(|one| one.version == *version).and_then(location),
        None => common
            .clone()
            .map(|adapter| EngineLocation { adapter, library: None })
            .or_else(|| location(installed.last()?)),
    };
    engine_location.ok_or_else(|| missing(name, &installed))
}

/// Whether there is an adapter of this name that is of no installed version alone.
pub fn has_adapter(name: &str) -> bool {
    find_named(name, &folders()).is_some()
}

fn missing(name: &EngineName, installed: &[Installed]) -> FindError {
    let known: Vec<String> = list().into_keys().collect();
    match &name.version {
        Some(version) if !installed.is_empty() || known.contains(&name.adapter) => FindError::Version {
            name: name.adapter.clone(),
            version: version.clone(),
            here: installed.iter().map(|one| one.version.clone()).collect(),
        },
        _ => FindError::Unknown { name: name.adapter.clone(), known },
    }
}

/// The libraries that belong to the newest version installed, for an adapter whose system has none.
pub fn fallback(name: &EngineName) -> Option<PathBuf> {
    let usable = !name.is_path() && name.version.is_none();
    let mut versions = usable.then(|| installed::versions(&name.adapter, &folders()))?;
    versions.retain(|one| one.adapter.is_none());
    versions.pop()?.library
}

/// Finds and loads the adapter.
///
/// # Errors
/// If there is none, or it cannot be used.
pub fn load(name: &EngineName) -> Result<Adapter, FindError> {
    Ok(Adapter::load(&find(name)?.adapter)?)
}

/// The folder of a user's own engines: `$XDG_DATA_HOME/kvdyno/engines`. `None` if the user has no home.
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

/// Every adapter in the folders, by the name in its file's name. Nothing is loaded.
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
