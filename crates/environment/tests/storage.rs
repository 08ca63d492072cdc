//! A real filesystem and its device.

// Helpers of tests are tests: a failure there is a failed test.
#![allow(clippy::unwrap_used)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use kvdyno_environment::storage::backing_store::leave_to_other_namespaces;
use kvdyno_environment::storage::{CopyWay, DeviceCounters, allocated_kib, copy_tree, filesystem, free_bytes, settle};
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount};
use rustix::thread::{UnshareFlags, unshare_unsafe};

mod rights;

#[test]
fn settled_writes_reach_the_device() {
    // `/tmp` is not used: it may be memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    settle(folder.path()).unwrap();
    let Some(before) = DeviceCounters::read(folder.path()) else { return };
    let file = folder.path().join("file");
    // The hundred bytes repeat at too great a distance for a filesystem to drop them as zeros.
    fs::write(&file, (0..4 << 20).map(|i: u32| (i.wrapping_mul(2654435761) >> 24) as u8).collect::<Vec<_>>()).unwrap();
    settle(&file).unwrap();
    let device = DeviceCounters::read(folder.path()).unwrap().since(&before);
    assert!(device.write_bytes >= 4 << 20 && device.writes > 0, "{device:?}");
    assert_eq!(Some(device.name), filesystem(&file).device);
    assert!(allocated_kib(&file).unwrap() >= 4 << 10);
}

/// A new btrfs in a file, mounted in a folder for as long as this lives.
struct Btrfs(tempfile::TempDir);

impl Btrfs {
    /// `None` where it cannot be had.
    fn mount() -> Option<Btrfs> {
        if !rights::may_set_the_environment() {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let (image, point) = (folder.path().join("image"), folder.path().join("mounted"));
        fs::File::create(&image).unwrap().set_len(512 << 20).unwrap();
        fs::create_dir(&point).unwrap();
        run("mkfs.btrfs", &["-q".as_ref(), image.as_ref()]);
        run("mount", &["-o".as_ref(), "loop".as_ref(), image.as_ref(), point.as_ref()]);
        Some(Btrfs(folder))
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("mounted")
    }
}

impl Drop for Btrfs {
    fn drop(&mut self) {
        run("umount", &[self.path().as_ref()]);
    }
}

fn run(program: &str, arguments: &[&OsStr]) {
    let advice = "this test mounts a filesystem: run it as root (in a container with SYS_ADMIN)";
    let ran = Command::new(program).args(arguments).output().expect(advice);
    assert!(ran.status.success(), "{advice}: {}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn a_copy_of_blocks_takes_none_and_is_its_own() {
    const MIB: u64 = 1 << 20;
    let Some(filesystem) = Btrfs::mount() else { return };
    let [loaded, shared, copied] = ["loaded", "shared", "copied"].map(|name| filesystem.path().join(name));
    for folder in [&loaded, &shared, &copied] {
        fs::create_dir(folder).unwrap();
    }
    let noise: Vec<u8> =
        (0..64 * MIB as u32).map(|i| (i.wrapping_mul(2654435761) >> 24) as u8 ^ (i >> 13) as u8).collect();
    fs::write(loaded.join("data"), &noise).unwrap();
    settle(&filesystem.path()).unwrap();
    let taken_by = |to: &Path, way| {
        let before = free_bytes(&filesystem.path()).unwrap();
        assert!(copy_tree(&loaded, to, way, &|| true).unwrap());
        settle(&filesystem.path()).unwrap();
        before.saturating_sub(free_bytes(&filesystem.path()).unwrap())
    };
    let of_blocks = taken_by(&shared, CopyWay::Blocks);
    assert!(of_blocks < 8 * MIB, "{of_blocks} bytes for a copy of the same blocks");
    let of_bytes = taken_by(&copied, CopyWay::Bytes);
    assert!(of_bytes > 48 * MIB, "{of_bytes} bytes for a copy of 64 MiB");
    // A write to one does not show in the other.
    fs::OpenOptions::new().write(true).open(shared.join("data")).unwrap().write_all_at(b"changed", 0).unwrap();
    assert!(fs::read(loaded.join("data")).unwrap() == noise);
    assert!(fs::read(shared.join("data")).unwrap()[7..] == noise[7..]);
}

/// Each check of a full filesystem has a namespace, and would hold the devices of other runs until it ends.
#[test]
fn a_new_mount_namespace_can_leave_the_filesystems_of_databases_to_others() {
    if !rights::may_mount() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let point = folder.path().canonicalize().unwrap().join("kvdyno-storage");
    fs::create_dir(&point).unwrap();
    mount("test", &point, "tmpfs", MountFlags::empty(), None).unwrap();
    let _mounted = Mounted(&point);
    let has = |mounts: &str| fs::read_to_string(mounts).unwrap().contains(point.to_str().unwrap());
    let of_thread = "/proc/thread-self/mountinfo";
    let [before, after] = thread::scope(|scope| {
        let in_a_namespace = || {
            // SAFETY: this thread's view of the mounts becomes its own; file descriptors stay shared.
            unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.unwrap();
            mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).unwrap();
            let before = has(of_thread);
            leave_to_other_namespaces().unwrap();
            [before, has(of_thread)]
        };
        scope.spawn(in_a_namespace).join().unwrap()
    });
    assert_eq!([before, after, has(of_thread)], [true, false, true]);
}

/// Unmounts the filesystem at this point when it is dropped, also if a test fails.
struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let unmounted = unmount(self.0, UnmountFlags::DETACH);
        assert!(thread::panicking() || unmounted.is_ok(), "{unmounted:?}");
    }
}
