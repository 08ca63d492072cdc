//! Checks that a backing store can be made here; changes nothing.

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::process::Command;

use super::{format, numbers_of, tool};
use crate::mount;
use crate::requested::{EnvironmentKey, EnvironmentSection, Refusal, StorageKind};

const LOOP_CONTROL: &str = "/dev/loop-control";

/// The least bytes of a file for it: what its tool needs, and a little.
pub fn least(storage: StorageKind) -> u64 {
    match storage {
        StorageKind::Folder => 0,
        StorageKind::Raw => 16 << 20,
        StorageKind::Ext4 | StorageKind::Ext4NoJournal => 64 << 20,
        StorageKind::Btrfs => 128 << 20,
        StorageKind::Xfs => 320 << 20,
    }
}

/// Refuses what cannot be made here. `given_up` is the device that the user named on the command line as one that may
/// be erased.
///
/// # Errors
/// The first reason, with what would be right.
pub fn check(requested: &EnvironmentSection, given_up: Option<&Path>) -> Result<(), Refusal> {
    let storage = requested.storage;
    if !storage.is_made() {
        return match (&requested.device, &requested.storage_size) {
            (Some(_), _) => Err(means_nothing(EnvironmentKey::Device)),
            (_, Some(_)) => Err(means_nothing(EnvironmentKey::StorageSize)),
            _ => Ok(()),
        };
    }
    if !rustix::process::geteuid().is_root() {
        return Err(no_root(storage));
    }
    tools(storage, requested.device.is_some())?;
    kernel_knows(storage)?;
    match &requested.device {
        Some(_) if requested.storage_size.is_some() => Err(Refusal::new(
            EnvironmentKey::StorageSize,
            "a device has its own size; leave storage_size out, or device",
        )),
        Some(device) => is_free(device, given_up),
        None if !Path::new(LOOP_CONTROL).exists() => Err(Refusal::new(
            EnvironmentKey::Storage,
            format!("{LOOP_CONTROL} is not there, so no file can be a device; give a block device with --device"),
        )),
        None => Ok(()),
    }
}

fn means_nothing(key: EnvironmentKey) -> Refusal {
    let message =
        format!("{} means nothing to storage = \"folder\"; choose ext4, ext4-nojournal, xfs, btrfs or raw", key.name());
    Refusal::new(key, message)
}

fn no_root(storage: StorageKind) -> Refusal {
    let what = if storage == StorageKind::Raw { "a loop device" } else { "a filesystem" };
    let message =
        format!("{storage} needs root, because {what} is made for it; run kvdyno as root, or measure a folder");
    Refusal::new(EnvironmentKey::Storage, message)
}

fn tools(storage: StorageKind, on_device: bool) -> Result<(), Refusal> {
    let maker = format::maker(storage).into_iter();
    let mounting = [("mount", "mount"), ("umount", "mount")].into_iter().filter(|_| storage != StorageKind::Raw);
    let below = if on_device { ("blkid", "util-linux") } else { ("losetup", "mount") };
    match maker.chain(mounting).chain([below]).find(|(name, _)| tool::find(name).is_none()) {
        None => Ok(()),
        Some((name, package)) => Err(Refusal::new(
            EnvironmentKey::Storage,
            format!("{storage} needs `{name}`, which is not on PATH; on Debian the package {package} has it"),
        )),
    }
}

/// A kernel may have a filesystem built in, or as a module that it loads when one is mounted.
fn kernel_knows(storage: StorageKind) -> Result<(), Refusal> {
    let kind = format::kind(storage);
    let listed = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let built_in = listed.lines().any(|line| line.split_whitespace().next_back() == Some(kind));
    let loadable = || tool::run(Command::new("modprobe").args(["--dry-run", "--quiet", kind])).is_ok();
    match kind.is_empty() || built_in || loadable() {
        true => Ok(()),
        false => Err(Refusal::new(EnvironmentKey::Storage, format!("this kernel knows no {kind}"))),
    }
}

/// Checks that a device exists, is unused, and was given up by the user.
fn is_free(device: &Path, given_up: Option<&Path>) -> Result<(), Refusal> {
    let refused = |why: String| Err(Refusal::new(EnvironmentKey::Device, why));
    let shown = device.display();
    let Ok(facts) = fs::metadata(device) else { return refused(format!("there is no {shown}")) };
    if !facts.file_type().is_block_device() {
        return refused(format!("{shown} is no block device"));
    }
    let numbers = numbers_of(facts.rdev());
    if let Some(mount) = mount::all().into_iter().find(|mount| mount.device == numbers) {
        let point = mount.point.display();
        return refused(format!("{shown} is mounted at {point}; unmount it, or run `kvdyno clean` if a run left it"));
    }
    // Exclusive use is refused for what is mounted, swapped to, or part of another device.
    if let Err(cause) = File::options().read(true).custom_flags(libc::O_EXCL).open(device) {
        return refused(format!("{shown} cannot be had: {cause}; it may be mounted, or a part of another device"));
    }
    if given_up != Some(device) {
        let held = held(device).map(|what| format!(", and holds {what}")).unwrap_or_default();
        return refused(format!("{shown} would be erased{held}; if that is right, say so: --yes-erase {shown}"));
    }
    Ok(())
}

/// The contents of a device, as far as `blkid` knows.
fn held(device: &Path) -> Option<String> {
    let told = tool::says(Command::new("blkid").args(["-p", "-o", "export"]).arg(device)).ok()?;
    let value = |key: &str| told.lines().find_map(|line| line.strip_prefix(key)).map(str::to_owned);
    value("TYPE=").or_else(|| value("PTTYPE=").map(|kind| format!("a partition table ({kind})")))
}
