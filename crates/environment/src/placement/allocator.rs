//! Allocators: libraries that the loader puts before the C library (`LD_PRELOAD`), in the worker alone.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::requested::{Allocator, EnvironmentKey, NamedAllocator, Refusal};
use crate::tree::Tree;

const KEY: EnvironmentKey = EnvironmentKey::Allocator;
const PRELOAD: &str = "LD_PRELOAD";

/// The library that goes before the C library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Preload {
    /// Nothing, even if something is set where kvdyno was started.
    Nothing,
    /// This library, and nothing else.
    Library(PathBuf),
}

impl Preload {
    pub(super) fn set_on(&self, command: &mut Command) {
        match self {
            Preload::Nothing => command.env_remove(PRELOAD),
            Preload::Library(library) => command.env(PRELOAD, library),
        };
    }

    /// `observed`: the library that the worker's `malloc` came from.
    pub(super) fn contradiction(&self, observed: &str) -> Option<String> {
        let (right, requested) = match self {
            Preload::Nothing => (observed == "libc", "libc".into()),
            Preload::Library(library) => (is_same(library, Path::new(observed)), library.to_string_lossy()),
        };
        (!right)
            .then(|| format!("malloc was to come from {requested}, and the worker found it to come from {observed}"))
    }
}

/// Links included: the loader names a library as it was requested.
fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

/// Its files, the best first, and Debian's package of it.
fn files(named: NamedAllocator) -> (&'static [&'static str], &'static str) {
    match named {
        NamedAllocator::Jemalloc => (&["libjemalloc.so.2"], "libjemalloc2"),
        NamedAllocator::Tcmalloc => (&["libtcmalloc_minimal.so.4", "libtcmalloc.so.4"], "libtcmalloc-minimal4"),
        NamedAllocator::Mimalloc => (&["libmimalloc.so.3", "libmimalloc.so.2", "libmimalloc.so"], "libmimalloc2.0"),
    }
}

/// The library of `allocator` on this machine.
pub(super) fn resolve(allocator: &Allocator, tree: &Tree) -> Result<Preload, Refusal> {
    let refused = |message: String| Err(Refusal::new(KEY, message));
    match allocator {
        Allocator::Libc => Ok(Preload::Nothing),
        Allocator::Named(named) => match find(*named, tree) {
            Some(library) => Ok(Preload::Library(library)),
            None => {
                let (files, package) = files(*named);
                let file = files[0];
                refused(format!(
                    "{allocator} is not here: no {file} in the system's folders (Debian: apt install {package})"
                ))
            }
        },
        Allocator::Path(path) if !path.is_absolute() => refused(format!(
            "`{allocator}` is none of libc, jemalloc, tcmalloc, mimalloc, nor a whole path that begins with /"
        )),
        Allocator::Path(path) if allocator.to_string().contains([' ', ':']) => {
            refused(format!("{}: the loader takes no path with a blank or a colon in {PRELOAD}", path.display()))
        }
        Allocator::Path(path) => check(path)
            .map_or_else(|why| refused(format!("{}: {why}", path.display())), |()| Ok(Preload::Library(path.clone()))),
    }
}

/// The allocators that are known by name, each with its library if it is here.
pub fn known() -> Vec<(String, Option<PathBuf>)> {
    let tree = Tree::live();
    let all = [NamedAllocator::Jemalloc, NamedAllocator::Tcmalloc, NamedAllocator::Mimalloc];
    all.into_iter().map(|named| (Allocator::Named(named).to_string(), find(named, &tree))).collect()
}

fn find(named: NamedAllocator, tree: &Tree) -> Option<PathBuf> {
    let folders = folders(tree);
    let candidates = files(named).0.iter().flat_map(|file| folders.iter().map(move |folder| folder.join(file)));
    candidates.into_iter().find(|library| check(library).is_ok())
}

/// The loader's search folders: those of its configuration, then its built-in ones (`ld.so(8)`), including Debian's and
/// Ubuntu's folders of this architecture.
fn folders(tree: &Tree) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(tree.path("etc/ld.so.conf.d"))
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    files.sort();
    files.push(tree.path("etc/ld.so.conf"));
    let texts: Vec<String> = files.iter().filter_map(|file| fs::read_to_string(file).ok()).collect();
    let named = texts.iter().flat_map(|text| text.lines()).map(str::trim).filter_map(|line| line.strip_prefix('/'));
    let multiarch = format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let usual = [multiarch.as_str(), "usr/local/lib", "lib64", "usr/lib64", "lib", "usr/lib"];
    named.chain(usual).map(|folder| tree.path(folder)).collect()
}

/// The length of the head of an ELF file, bytes: the fields before its addresses (`elf(5)`): magic number, class, byte
/// order, …, type, machine.
const HEAD: usize = 20;
/// `ET_DYN`: a shared object.
const SHARED: u16 = 3;

/// Whether it is a library that a process of this program's kind can load.
fn check(path: &Path) -> Result<(), String> {
    let library = head(path).map_err(|error| error.to_string())?;
    let own = head(Path::new("/proc/self/exe")).map_err(|error| format!("this program cannot be read: {error}"))?;
    let number = |head: &[u8; HEAD], at: usize| u16::from_ne_bytes([head[at], head[at + 1]]);
    let (kind, machine) = (16, 18);
    match () {
        () if !library.starts_with(b"\x7fELF") => Err("it is no library".to_owned()),
        () if library[4..6] != own[4..6] || number(&library, machine) != number(&own, machine) => {
            Err("it is a library for another kind of machine".to_owned())
        }
        () if number(&library, kind) != SHARED => Err("it is no library that can be loaded".to_owned()),
        () => Ok(()),
    }
}

fn head(path: &Path) -> std::io::Result<[u8; HEAD]> {
    let mut head = [0; HEAD];
    // A shorter file is no library either, which its zeros tell.
    let mut file = File::open(path)?.take(HEAD as u64);
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    head[..bytes.len()].copy_from_slice(&bytes);
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing;

    fn refusal(allocator: &str, tree: &Tree) -> String {
        resolve(&allocator.parse::<Allocator>().unwrap(), tree).unwrap_err().message
    }

    /// The head of a shared object of this machine.
    fn library() -> [u8; HEAD] {
        let mut head = head(Path::new("/proc/self/exe")).unwrap();
        head[16..18].copy_from_slice(&SHARED.to_ne_bytes());
        head
    }

    #[test]
    fn the_system_s_folders_are_searched() {
        let (root, tree) = testing::empty();
        assert_eq!(
            refusal("jemalloc", &tree),
            "jemalloc is not here: no libjemalloc.so.2 in the system's folders (Debian: apt install libjemalloc2)"
        );
        testing::write(root.path(), "etc/ld.so.conf.d/own.conf", "# own\n/opt/own\n");
        testing::write(root.path(), "opt/own/libjemalloc.so.2", "a text");
        testing::write(root.path(), "usr/lib/libjemalloc.so.2", "");
        refusal("jemalloc", &tree);
        fs::write(root.path().join("usr/lib/libjemalloc.so.2"), library()).unwrap();
        let resolved = |tree| resolve(&Allocator::Named(NamedAllocator::Jemalloc), tree).unwrap();
        assert_eq!(resolved(&tree), Preload::Library(root.path().join("usr/lib/libjemalloc.so.2")));
        fs::write(root.path().join("opt/own/libjemalloc.so.2"), library()).unwrap();
        assert_eq!(resolved(&tree), Preload::Library(root.path().join("opt/own/libjemalloc.so.2")));
    }

    #[test]
    fn paths_that_cannot_be() {
        let (root, tree) = testing::empty();
        let path = |name: &str| root.path().join(name).display().to_string();
        assert!(refusal("jemaloc", &tree).contains("none of libc, jemalloc, tcmalloc, mimalloc"));
        assert!(refusal("/nowhere/libx.so", &tree).starts_with("/nowhere/libx.so: No such file"));
        assert!(refusal("/a b.so", &tree).contains("blank or a colon"));
        testing::write(root.path(), "text", "a text");
        assert!(refusal(&path("text"), &tree).ends_with("text: it is no library"));
        let mut foreign = library();
        foreign[18] ^= 0xff;
        fs::write(root.path().join("foreign"), foreign).unwrap();
        assert!(refusal(&path("foreign"), &tree).ends_with("it is a library for another kind of machine"));
        let mut program = library();
        program[16..18].copy_from_slice(&2u16.to_ne_bytes());
        fs::write(root.path().join("program"), program).unwrap();
        assert!(refusal(&path("program"), &tree).ends_with("it is no library that can be loaded"));
    }

    #[test]
    fn libc_is_nothing_before_it() {
        let (_root, tree) = testing::empty();
        let preload = resolve(&Allocator::Libc, &tree).unwrap();
        assert_eq!(preload.contradiction("libc"), None);
        assert!(preload.contradiction("/x/libjemalloc.so.2").is_some());
        let mut command = Command::new("true");
        preload.set_on(&mut command);
        assert_eq!(command.get_envs().collect::<Vec<_>>(), [(PRELOAD.as_ref(), None)]);
    }
}
