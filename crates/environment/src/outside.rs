//! Memory and files that a process keeps outside the folder of its database.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::fd::RawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use kvdyno_results::KeptOutside;
use procfs::process::{FDPermissions, MMPermissions, Process};
use rustix::fs::statfs;

/// The kind of a filesystem in memory, which shared memory and `memfd_create(2)` have, too: `statfs(2)`.
const TMPFS: i64 = 0x0102_1994;

/// The anonymous memory of this process, KiB; absent where the kernel does not say (before Linux 4.5).
pub fn anonymous_kib() -> Option<u64> {
    Process::myself().and_then(|process| process.status()).ok()?.rssanon
}

/// Memory of this process beyond `before_kib`, and files outside the folder `database` that it can write to. The files
/// `own` are the lab's, and not counted. `before_kib` is the [`anonymous_kib`] from before the engine was loaded.
///
/// Files that are only mapped are known to root alone. Those that are closed and not mapped are not known.
pub fn kept_outside(database: &Path, own: &[RawFd], before_kib: u64) -> Option<KeptOutside> {
    let anonymous_kib = anonymous_kib()?.saturating_sub(before_kib);
    let database = fs::canonicalize(database).ok()?;
    let mut files = held_files(&Process::myself().ok()?);
    for file in own.iter().filter_map(|fd| held_file(&link_of(*fd))) {
        files.remove(&file.0);
    }
    let outside = files.into_values().filter(|file| !file.path.starts_with(&database));
    let (in_memory, on_storage): (Vec<HeldFile>, Vec<HeldFile>) = outside.partition(|file| file.is_in_memory);
    let sum = |files: &[HeldFile]| files.iter().map(|file| file.kib).sum::<u64>();
    Some(KeptOutside {
        memory_kib: anonymous_kib + sum(&in_memory),
        files_kib: sum(&on_storage),
        largest_file: on_storage.into_iter().max_by_key(|file| file.kib).map(|file| file.path),
    })
}

/// A file by its device and its inode.
type FileId = (u64, u64);

struct HeldFile {
    path: PathBuf,
    kib: u64,
    is_in_memory: bool,
}

/// The files that a process can write to, because it has them open or mapped.
fn held_files(process: &Process) -> BTreeMap<FileId, HeldFile> {
    let open = process.fd().into_iter().flatten().flatten();
    let open = open.filter(|fd| fd.mode().contains(FDPermissions::WRITE)).map(|fd| link_of(fd.fd));
    let mapped = process.maps().into_iter().flatten();
    let mapped = mapped
        .filter(|map| map.inode != 0 && map.perms.contains(MMPermissions::SHARED | MMPermissions::WRITE))
        .map(|map| PathBuf::from(format!("/proc/self/map_files/{:x}-{:x}", map.address.0, map.address.1)));
    open.chain(mapped).filter_map(|link| held_file(&link)).collect()
}

fn link_of(fd: RawFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{fd}"))
}

/// The file that a link of `/proc` leads to, if it is a regular one; it may be deleted.
fn held_file(link: &Path) -> Option<(FileId, HeldFile)> {
    let facts = fs::metadata(link).ok().filter(Metadata::is_file)?;
    let is_in_memory = statfs(link).is_ok_and(|filesystem| filesystem.f_type == TMPFS);
    let file = HeldFile { path: fs::read_link(link).ok()?, kib: facts.blocks() / 2, is_in_memory };
    Some(((facts.dev(), facts.ino()), file))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::AsRawFd;

    use rustix::fs::{MemfdFlags, memfd_create};

    use super::*;

    const MIB: usize = 1 << 20;

    fn file(path: PathBuf, bytes: usize) -> File {
        let mut file = File::create_new(path).unwrap();
        file.write_all(&vec![7; bytes]).unwrap();
        file.sync_all().unwrap();
        file
    }

    /// Other tests of the process have files and memory of their own.
    #[test]
    fn files_outside_the_folder_are_found_even_if_they_are_deleted() {
        // The folder of temporary files may be in memory.
        let program = std::env::current_exe().unwrap();
        let home = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
        let database = home.path().join("database");
        fs::create_dir(&database).unwrap();
        let observed = || {
            let files = held_files(&Process::myself().unwrap()).into_values();
            let mine = files.filter(|file| file.path.starts_with(home.path()));
            mine.map(|file| (file.path.file_name().unwrap().to_owned(), file.kib)).collect::<Vec<_>>()
        };
        let _inside = file(database.join("inside"), MIB);
        let outside = file(home.path().join("outside"), 2 * MIB);
        fs::remove_file(home.path().join("outside")).unwrap();
        let mut names = observed();
        names.sort();
        assert_eq!(names, [("inside".into(), 1024), ("outside (deleted)".into(), 2048)]);
        let kept = kept_outside(&database, &[], 0).unwrap();
        assert!(kept.files_kib >= 2048, "{kept:?}");
        let without = kept_outside(&database, &[outside.as_raw_fd()], 0).unwrap();
        assert!(without.largest_file.is_none_or(|path| !path.starts_with(home.path())), "the lab's own");
    }

    #[test]
    fn files_in_memory_are_memory() {
        let home = tempfile::tempdir().unwrap();
        let hidden = memfd_create("hidden", MemfdFlags::CLOEXEC).unwrap();
        let (id, _) = held_file(&link_of(hidden.as_raw_fd())).unwrap();
        let mut hidden = File::from(hidden);
        hidden.write_all(&vec![7; 64 * MIB]).unwrap();
        let held = held_files(&Process::myself().unwrap());
        assert!(held[&id].is_in_memory && held[&id].kib == 64 * 1024);
        let memory_kib = |own: &[RawFd]| kept_outside(home.path(), own, 0).unwrap().memory_kib;
        assert!(memory_kib(&[]) > memory_kib(&[hidden.as_raw_fd()]));
        assert!(memory_kib(&[]) >= 64 * 1024);
    }
}
