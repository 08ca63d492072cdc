//! Finds adapters by name or by path.
//!
//! Adapters are files `libkvdyno_NAME.so`, looked for in the folders of `$KVDYNO_ENGINES` (separated by `:`), in
//! `engines/` beside the program, in `../lib/kvdyno/engines` from it, and in the user's `$XDG_DATA_HOME/kvdyno/engines`.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::adapter::{Adapter, AdapterError};
use crate::text::closest;

/// How a user names an engine: `lmdb`, `wiredtiger:lsm`, `./libmine.so`, `./libmine.so:fast`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineName {
    /// Name or path.
    pub adapter: String,
    /// A preset of the adapter's.
    pub preset: Option<String>,
}

/// Why there is no such engine.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Nobody has heard of it.
    #[error("there is no engine `{name}`{}", advice(suggestion, known))]
    Unknown {
        /// What was written.
        name: String,
        /// What was probably meant.
        suggestion: Option<String>,
        /// What there is.
        known: Vec<String>,
    },
    /// A version was asked for.
    #[error("`{0}` asks for a version; give the library of that version instead: --library NAME=PATH")]
    Version(String),
    /// The adapter's file is no good.
    #[error(transparent)]
    Adapter(#[from] AdapterError),
}

fn advice(suggestion: &Option<String>, known: &[String]) -> String {
    let others = match known {
        [] => "no adapters were found; name their folder in KVDYNO_ENGINES".to_owned(),
        known => format!("known are {}; or give the path of an adapter, such as ./libmine.so", known.join(", ")),
    };
    match suggestion {
        Some(word) => format!("; did you mean `{word}`? ({others})"),
        None => format!("; {others}"),
    }
}

impl EngineName {
    /// Splits what a user wrote.
    pub fn parse(text: &str) -> EngineName {
        match text.rsplit_once(':') {
            Some((adapter, preset)) if !preset.contains('/') => {
                EngineName { adapter: adapter.to_owned(), preset: Some(preset.to_owned()) }
            }
            _ => EngineName { adapter: text.to_owned(), preset: None },
        }
    }

    fn is_path(&self) -> bool {
        self.adapter.contains('/') || self.adapter.ends_with(".so")
    }

    /// The adapter's file.
    ///
    /// # Errors
    /// If no folder has an adapter of that name.
    pub fn find(&self) -> Result<PathBuf, FindError> {
        if self.is_path() {
            return Ok(PathBuf::from(&self.adapter));
        }
        if let Some(path) = find_named(&self.adapter, &folders()) {
            return Ok(path);
        }
        if self.adapter.contains('@') {
            return Err(FindError::Version(self.adapter.clone()));
        }
        let known: Vec<String> = list().into_keys().collect();
        let suggestion = closest(&self.adapter, known.iter().map(String::as_str)).map(str::to_owned);
        Err(FindError::Unknown { name: self.adapter.clone(), suggestion, known })
    }

    /// Finds and loads the adapter.
    ///
    /// # Errors
    /// If there is none, or it cannot be used.
    pub fn load(&self) -> Result<Adapter, FindError> {
        Ok(Adapter::load(&self.find()?)?)
    }
}

/// The folders that are searched, first one first.
pub fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        env::var_os("KVDYNO_ENGINES").map(|list| env::split_paths(&list).collect()).unwrap_or_default();
    if let Some(program) = env::current_exe().ok().as_deref().and_then(Path::parent) {
        folders.push(program.join("engines"));
        folders.push(program.join("../lib/kvdyno/engines"));
    }
    let data = env::var_os("XDG_DATA_HOME")
        .map(PathBuf::from)
        .or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share")));
    folders.extend(data.map(|data| data.join("kvdyno/engines")));
    folders
}

fn find_named(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    folders.iter().map(|folder| folder.join(format!("libkvdyno_{name}.so"))).find(|path| path.is_file())
}

/// Every adapter that the folders have, by the name in its file's name. Nothing is loaded.
pub fn list() -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for folder in folders() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(name) = name.strip_prefix("libkvdyno_").and_then(|name| name.strip_suffix(".so")) {
                found.entry(name.to_owned()).or_insert_with(|| entry.path());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, Option<String>) {
        let name = EngineName::parse(text);
        (name.adapter, name.preset)
    }

    #[test]
    fn a_name_may_have_a_preset_and_may_be_a_path() {
        assert_eq!(parsed("lmdb"), ("lmdb".into(), None));
        assert_eq!(parsed("wiredtiger:lsm"), ("wiredtiger".into(), Some("lsm".into())));
        assert_eq!(parsed("./libmine.so"), ("./libmine.so".into(), None));
        assert_eq!(parsed("./a:b/libmine.so"), ("./a:b/libmine.so".into(), None));
        assert_eq!(parsed("./libmine.so:fast"), ("./libmine.so".into(), Some("fast".into())));
    }
}
