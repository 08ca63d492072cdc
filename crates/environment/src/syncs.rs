//! Syncs that filesystems do for this process, counted by the kernel's tracepoints.
//!
//! A filesystem passes its tracepoint for each `fsync`, `fdatasync` and `msync`, io_uring's too, and for each write to
//! a file that is opened with `O_DSYNC` or written with `RWF_DSYNC`. Only a write with `O_DIRECT` need not pass it, if
//! the device writes through its cache (`iomap_dio_rw` in `fs/iomap/direct-io.c`). Other than a tracepoint of a system
//! call, it makes no other call slower.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags, StatFs, openat, statfs};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use crate::event_counter::EventCounter;

/// The filesystems: the magic number of `linux/magic.h`, and the tracepoints of syncs of a file and of all.
const FILESYSTEMS: [(u64, &[&str]); 4] = [
    (0xef53, &["ext4/ext4_sync_file_enter", "ext4/ext4_sync_fs"]),
    (0x5846_5342, &["xfs/xfs_file_fsync", "xfs/xfs_dir_fsync", "xfs/xfs_fs_sync_fs"]),
    (0x9123_683e, &["btrfs/btrfs_sync_file", "btrfs/btrfs_sync_fs"]),
    (0xf2f5_2010, &["f2fs/f2fs_sync_file_enter", "f2fs/f2fs_sync_fs"]),
];

/// Counters of this process's syncs, threads and children included that begin later.
#[derive(Debug)]
pub struct SyncCounters(Vec<EventCounter>);

impl SyncCounters {
    /// Begins to count the syncs of the filesystem of `path`. `None` if it has no tracepoint, or this process may not
    /// count.
    pub fn begin(path: &Path) -> Option<SyncCounters> {
        let kind = magic(&statfs(path).ok()?);
        let (_, names) = FILESYSTEMS.iter().find(|(magic, _)| *magic == kind)?;
        let tree = tracing_tree()?;
        let counters = names
            .iter()
            .map(|name| EventCounter::of_process(tracepoint(&tree, name)?).ok())
            .collect::<Option<Vec<_>>>()?;
        Some(SyncCounters(counters))
    }

    /// Syncs so far. `None` if a file below `path` is open in a way in which a sync need not be counted.
    pub fn count(&self, path: &Path) -> Option<u64> {
        if writes_directly(path)? {
            return None;
        }
        self.0.iter().map(EventCounter::read).sum()
    }
}

fn magic(facts: &StatFs) -> u64 {
    // Its type differs between architectures; the numbers have 32 bits.
    facts.f_type as u64 & 0xffff_ffff
}

/// The folder of tracefs: mounted for this process alone, and nowhere to be seen.
fn tracing_tree() -> Option<OwnedFd> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC).ok()?;
    fsconfig_create(&context).ok()?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::MOUNT_ATTR_RDONLY).ok()
}

/// The number of a tracepoint; `None` where the filesystem is not there.
fn tracepoint(tree: &OwnedFd, name: &str) -> Option<u64> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = openat(tree, format!("events/{name}/id"), flags, Mode::empty()).ok()?;
    let mut text = String::new();
    File::from(file).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// Whether this process has a file below `path` open with `O_DIRECT`. `None` if the kernel does not tell.
fn writes_directly(path: &Path) -> Option<bool> {
    let folder = fs::canonicalize(path).ok()?;
    for entry in fs::read_dir("/proc/self/fdinfo").ok()?.flatten() {
        let name = entry.file_name();
        let Ok(target) = fs::read_link(Path::new("/proc/self/fd").join(&name)) else { continue };
        if target.starts_with(&folder) {
            let text = fs::read_to_string(entry.path()).ok()?;
            let flags = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
            if i32::from_str_radix(flags.trim(), 8).ok()? & libc::O_DIRECT != 0 {
                return Some(true);
            }
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    use std::thread;

    use super::*;

    /// Where this process may count at all: as root, on a filesystem that has a tracepoint.
    #[test]
    fn each_sync_of_this_process_counts_and_direct_files_do_not_tell() {
        let folder = tempfile::tempdir().unwrap();
        let Some(counters) = SyncCounters::begin(folder.path()) else {
            assert!(!rustix::process::geteuid().is_root() || tracing_tree().is_none(), "root may");
            return;
        };
        assert_eq!(counters.count(folder.path()), Some(0));
        let mut file = File::create(folder.path().join("file")).unwrap();
        file.write_all(b"one").unwrap();
        assert_eq!(counters.count(folder.path()), Some(0));
        file.sync_data().unwrap();
        file.sync_all().unwrap();
        thread::scope(|scope| scope.spawn(|| file.sync_all().unwrap()).join().unwrap());
        assert_eq!(counters.count(folder.path()), Some(3));
        let synced = File::options().append(true).custom_flags(libc::O_DSYNC).open(folder.path().join("file"));
        synced.unwrap().write_all(b"two").unwrap();
        assert_eq!(counters.count(folder.path()), Some(4));
        let direct = File::options().read(true).custom_flags(libc::O_DIRECT).open(folder.path().join("file")).unwrap();
        assert_eq!(counters.count(folder.path()), None);
        drop(direct);
        assert_eq!(counters.count(folder.path()), Some(4));
    }
}
