//! Making filesystems, with the defaults of their tools.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use super::tool;
use crate::requested::Storage;

/// The kernel's name of it.
pub(super) fn kind(storage: Storage) -> &'static str {
    match storage {
        Storage::Ext4 | Storage::Ext4NoJournal => "ext4",
        Storage::Xfs => "xfs",
        Storage::Btrfs => "btrfs",
        Storage::Folder | Storage::Raw => "",
    }
}

/// The tool that makes it, and the package that has it on Debian.
pub(super) fn maker(storage: Storage) -> Option<(&'static str, &'static str)> {
    match storage {
        Storage::Ext4 | Storage::Ext4NoJournal => Some(("mkfs.ext4", "e2fsprogs")),
        Storage::Xfs => Some(("mkfs.xfs", "xfsprogs")),
        Storage::Btrfs => Some(("mkfs.btrfs", "btrfs-progs")),
        Storage::Folder | Storage::Raw => None,
    }
}

/// ext4 would go on to write its inode tables and its journal in the background, which then counts as the trial's.
const AT_ONCE: [&str; 2] = ["-E", "lazy_itable_init=0,lazy_journal_init=0"];

fn options(storage: Storage) -> Vec<&'static str> {
    match storage {
        Storage::Ext4 => [&["-q", "-F"], &AT_ONCE[..]].concat(),
        Storage::Ext4NoJournal => [&["-q", "-F", "-O", "^has_journal"], &AT_ONCE[..]].concat(),
        _ => vec!["-q", "-f"],
    }
}

/// Makes a filesystem on a device.
pub(super) fn format(storage: Storage, device: &Path) -> io::Result<()> {
    match maker(storage) {
        Some((tool, _)) => tool::run(Command::new(tool).args(options(storage)).arg(device)),
        None => Ok(()),
    }
}

/// Where an ext4 keeps its state (`s_state`, 2 bytes), and the bit of it that says that it was unmounted.
/// <https://docs.kernel.org/filesystems/ext4/super.html>
const EXT4_STATE: u64 = 1024 + 0x3a;
const EXT4_UNMOUNTED: u8 = 1;

/// Whether an ext4 was unmounted in order.
pub(super) fn is_clean_ext4(device: &Path) -> io::Result<bool> {
    let mut state = [0; 2];
    File::open(device)?.read_exact_at(&mut state, EXT4_STATE)?;
    Ok(state[0] & EXT4_UNMOUNTED != 0)
}
