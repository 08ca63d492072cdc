//! New adapters: small ones that work, with their build files, for an author to put an engine into.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rust_embed::Embed;

use crate::sources::{abi_sources, go_adapter};

#[derive(Embed)]
#[folder = "templates"]
struct Templates;

kvdyno_model::words! {
    /// The languages that there is a template for.
    pub enum Language: "a language that there is a template for", "LANGUAGE" {
        /// C.
        C = "c",
        /// C++.
        Cpp = "c++",
        /// Rust.
        Rust = "rust",
        /// Go.
        Go = "go",
    }
}

/// The placeholder of the engine's name in templates.
const NAME: &str = "NAME";
/// The header, as the crate of the ABI has it.
const HEADER: &str = "include/kvdyno.h";
/// The adapter in Rust, as the crate of the ABI has it: the example of its documentation.
const RUST_EXAMPLE: &str = "examples/table.rs";

impl Language {
    fn folder(self) -> &'static str {
        if self == Language::Cpp { "cpp" } else { self.word() }
    }

    /// The command that builds the adapter of an engine, in its folder.
    fn build(self, name: &str) -> String {
        match self {
            Language::C | Language::Cpp => "make".to_owned(),
            Language::Rust => "cargo build --release --offline".to_owned(),
            Language::Go => format!("go build -buildmode=c-shared -o libkvdyno_{name}.so ."),
        }
    }

    /// The adapter, from its folder.
    fn library(self, name: &str) -> String {
        let folder = if self == Language::Rust { "./target/release" } else { "." };
        format!("{folder}/libkvdyno_{name}.so")
    }

    /// Path and text of each file of an adapter.
    fn files(self, name: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let folder = self.folder().to_owned() + "/";
        let templates = Templates::iter().filter_map(|path| {
            let file = Templates::get(&path)?;
            // A manifest of its own name would be taken for one of this project.
            let path = path.strip_prefix(&folder)?.replace(NAME, name);
            let path = path.strip_suffix(".txt").unwrap_or(&path).to_owned();
            Some((PathBuf::from(path), String::from_utf8_lossy(&file.data).replace(NAME, name).into_bytes()))
        });
        let mut files: Vec<_> = templates.collect();
        let header = |to: &str| abi_sources().find(|(path, _)| path == HEADER).map(|(_, text)| (to.into(), text));
        match self {
            Language::C | Language::Cpp => files.extend(header("kvdyno.h")),
            Language::Rust => {
                files.extend(abi_sources().map(|(path, text)| (Path::new("kvdyno-abi").join(path), text)));
                let example = abi_sources().find(|(path, _)| path == RUST_EXAMPLE);
                files.extend(example.map(|(_, text)| ("src/lib.rs".into(), named(&text, name))));
            }
            Language::Go => {
                files.extend(header("adapter/kvdyno.h"));
                files.extend(go_adapter().map(|(file, text)| (Path::new("adapter").join(file), text)));
            }
        }
        files
    }
}

/// The example under another name.
fn named(example: &[u8], name: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(example).replace("c\"table\"", &format!("c\"{name}\""));
    text.replace("\"table.data\"", &format!("\"{name}.data\"")).into_bytes()
}

/// An adapter that was written.
#[derive(Clone, Debug)]
pub struct NewAdapter {
    /// Its folder.
    pub folder: PathBuf,
    /// The command that builds it there.
    pub build: String,
    /// The adapter that this gives, from there.
    pub library: String,
}

/// Why there is no new adapter. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
pub enum NewAdapterError {
    /// The name would not do as a file's, a crate's and an engine's.
    #[error("`{0}` cannot be the name of an engine: lower-case letters, digits and `_`, a letter first, 40 at most")]
    Name(String),
    /// Something is there already.
    #[error("{0} is there already: choose another name, or another folder with --dir")]
    Exists(PathBuf),
    /// It cannot be written.
    #[error("cannot write {path}: {cause}")]
    Write {
        /// Which file or folder.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
}

/// Writes an adapter for the engine `name` into a new folder of that name in `parent`.
///
/// # Errors
/// If the name does not do, the folder is there, or something cannot be written.
pub fn new_adapter(name: &str, language: Language, parent: &Path) -> Result<NewAdapter, NewAdapterError> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.len() > 40 || !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(fits) {
        return Err(NewAdapterError::Name(name.to_owned()));
    }
    let folder = parent.join(name);
    match fs::create_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(NewAdapterError::Exists(folder)),
        made => made.map_err(|cause| NewAdapterError::Write { path: folder.clone(), cause })?,
    }
    for (path, text) in language.files(name) {
        let path = folder.join(path);
        let written = fs::create_dir_all(path.parent().unwrap_or(&folder)).and_then(|()| fs::write(&path, text));
        if let Err(cause) = written {
            // The first error is the cause and is returned.
            let _ = fs::remove_dir_all(&folder);
            return Err(NewAdapterError::Write { path, cause });
        }
    }
    Ok(NewAdapter { folder, build: language.build(name), library: language.library(name) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_adapter_has_its_name_everywhere_and_what_its_build_needs() {
        let parent = tempfile::tempdir().unwrap();
        for (number, &language) in Language::ALL.iter().enumerate() {
            let made = new_adapter(&format!("mine_{number}"), language, parent.path()).unwrap();
            let source = ["mine_0.c", "mine_1.cc", "src/lib.rs", "main.go"][number];
            let text = fs::read_to_string(made.folder.join(source)).unwrap();
            assert!(text.contains(&format!("mine_{number}")) && !text.contains(NAME), "{source}: {text}");
            let needs = ["kvdyno.h", "kvdyno.h", "kvdyno-abi/src/lib.rs", "adapter/kvdyno.h"][number];
            assert!(made.folder.join(needs).is_file(), "{needs}");
            let build = ["Makefile", "Makefile", "Cargo.toml", "go.mod"][number];
            assert!(made.folder.join(build).is_file(), "{build}");
        }
    }
}
