//! Making filesystems, with the defaults of their tools.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use super::tool;
use crate::ownership::Register;
use crate::requested::StorageKind;

/// The kernel's name of it.
pub(super) fn kind(storage: StorageKind) -> &'static str {
    match storage {
        StorageKind::Ext4 | StorageKind::Ext4NoJournal => "ext4",
        StorageKind::Xfs => "xfs",
        StorageKind::Btrfs => "btrfs",
        StorageKind::Folder | StorageKind::Raw => "",
    }
}

/// The tool that makes it, and the package that has it on Debian.
pub(super) fn maker(storage: StorageKind) -> Option<(&'static str, &'static str)> {
    match storage {
        StorageKind::Ext4 | StorageKind::Ext4NoJournal => Some(("mkfs.ext4", "e2fsprogs")),
        StorageKind::Xfs => Some(("mkfs.xfs", "xfsprogs")),
        StorageKind::Btrfs => Some(("mkfs.btrfs", "btrfs-progs")),
        StorageKind::Folder | StorageKind::Raw => None,
    }
}

/// ext4 would go on to write its inode tables and its journal in the background, which then counts as the trial's.
const AT_ONCE: [&str; 2] = ["-E", "lazy_itable_init=0,lazy_journal_init=0"];

fn options(storage: StorageKind) -> Vec<&'static str> {
    match storage {
        StorageKind::Ext4 => [&["-q", "-F"], &AT_ONCE[..]].concat(),
        StorageKind::Ext4NoJournal => [&["-q", "-F", "-O", "^has_journal"], &AT_ONCE[..]].concat(),
        _ => vec!["-q", "-f"],
    }
}

/// The tool with its options and the device, or file, on which it makes a filesystem; absent where none is made.
pub(super) fn command(storage: StorageKind, device: &Path) -> Option<Command> {
    let mut command = Command::new(maker(storage)?.0);
    command.args(options(storage)).arg(device);
    Some(command)
}

/// Makes a filesystem on a device.
pub(super) fn format(storage: StorageKind, device: &Path, register: &Register) -> io::Result<()> {
    command(storage, device).map_or(Ok(()), |mut command| tool::makes(&mut command, register).map(drop))
}

/// Offset of an ext4's state (`s_state`, 2 bytes), and the bit of it that says that it was unmounted.
/// <https://docs.kernel.org/filesystems/ext4/super.html>
const EXT4_STATE: u64 = 1024 + 0x3a;
const EXT4_UNMOUNTED: u8 = 1;

/// Whether an ext4 was unmounted in order.
pub(super) fn is_clean_ext4(device: &Path) -> io::Result<bool> {
    let mut state = [0; 2];
    File::open(device)?.read_exact_at(&mut state, EXT4_STATE)?;
    Ok(state[0] & EXT4_UNMOUNTED != 0)
}
