//! The adapters' sources, inside the program.

use std::fs;
use std::io;
use std::path::Path;

use rust_embed::{Embed, EmbeddedFile};

#[derive(Embed)]
#[folder = "../../engines"]
#[exclude = "*/target/*"]
struct EngineSources;

#[derive(Embed)]
#[folder = "../abi"]
#[exclude = "target/*"]
#[exclude = "tests/*"]
struct AbiSources;

/// Files that pin what a build fetches.
#[cfg(test)]
const PINS: [&str; 2] = ["Cargo.lock", "go.sum"];

/// Name and text of every recipe, by name.
pub fn recipes() -> Vec<(String, String)> {
    let mut recipes: Vec<(String, String)> = EngineSources::iter()
        .filter_map(|path| {
            let name = path.strip_suffix("/recipe.toml")?.to_owned();
            let file = EngineSources::get(&path)?;
            Some((name, String::from_utf8_lossy(&file.data).into_owned()))
        })
        .collect();
    recipes.sort();
    recipes
}

/// Whether the engine's adapter is one in C that the makefile of the adapters builds.
pub fn has_adapter_in_c(engine: &str) -> bool {
    has(engine, &format!("{engine}.c"))
}

/// The distribution's package with the headers that the engine's adapter includes.
pub fn headers_package(engine: &str) -> Option<String> {
    let flags = EngineSources::get(&format!("{engine}/flags.mk"))?.data;
    let flags = String::from_utf8_lossy(&flags).into_owned();
    let needs = flags.lines().find_map(|line| line.strip_prefix(&format!("NEEDS_{engine} = ")));
    needs.map(|package| package.trim().to_owned())
}

/// Whether the engine's folder has the file.
pub fn has(engine: &str, file: &str) -> bool {
    EngineSources::get(&format!("{engine}/{file}")).is_some()
}

/// Whether the engine's folder has a lock file, which its build keeps to.
#[cfg(test)]
pub fn pins(engine: &str) -> bool {
    PINS.iter().any(|file| has(engine, file)) || has("go", "go.sum") && has(engine, "build.sh")
}

/// Path and bytes of every file of the crate of the ABI.
pub fn abi_sources() -> impl Iterator<Item = (String, Vec<u8>)> {
    AbiSources::iter().filter_map(|path| Some((path.to_string(), AbiSources::get(&path)?.data.into_owned())))
}

/// Name and bytes of every file of the package that adapters in Go share, but for its tests.
pub fn go_adapter() -> impl Iterator<Item = (String, Vec<u8>)> {
    EngineSources::iter().filter_map(|path| {
        let name = path.strip_prefix("go/adapter/").filter(|name| !name.ends_with("_test.go"))?;
        Some((name.to_owned(), EngineSources::get(&path)?.data.into_owned()))
    })
}

/// Lays the sources out below `root` as they are in the project, `engines/` and `crates/abi/`, and the headers that an
/// adapter includes in `include/`.
pub fn lay_out(root: &Path) -> io::Result<()> {
    let write = |path: &Path, file: EmbeddedFile| -> io::Result<()> {
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        fs::write(path, file.data)
    };
    for path in EngineSources::iter() {
        if let Some(file) = EngineSources::get(&path) {
            write(&root.join("engines").join(path.as_ref()), file)?;
        }
    }
    for path in AbiSources::iter() {
        if let Some(file) = AbiSources::get(&path) {
            write(&root.join("crates/abi").join(path.as_ref()), file)?;
        }
    }
    let include = root.join("include");
    fs::create_dir_all(&include)?;
    fs::copy(root.join("crates/abi/include/kvdyno.h"), include.join("kvdyno.h"))?;
    for header in fs::read_dir(root.join("engines/common"))? {
        let header = header?;
        fs::copy(header.path(), include.join(header.file_name()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_in_c_are_told_with_the_package_of_their_headers() {
        assert!(has_adapter_in_c("lmdb") && has_adapter_in_c("basho-leveldb"));
        assert!(!has_adapter_in_c("redb") && !has_adapter_in_c("pebble") && !has_adapter_in_c("tokuft"));
        assert_eq!(headers_package("bdb").as_deref(), Some("libdb5.3-dev"));
        assert_eq!(headers_package("rocksdb"), None);
        assert_eq!(headers_package("sqlite"), None);
    }

    #[test]
    fn the_layout_has_what_a_build_needs() {
        let root = tempfile::tempdir().unwrap();
        lay_out(root.path()).unwrap();
        let headers = ["include/kvdyno.h", "include/adapter.h", "include/transactions.h"];
        for file in headers.into_iter().chain(["crates/abi/src/lib.rs", "engines/skeleton/skeleton.c"]) {
            assert!(root.path().join(file).is_file(), "{file}");
        }
        assert_eq!(PINS.len(), 2);
    }
}
