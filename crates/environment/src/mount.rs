//! The mounts that this thread sees.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::tree::Tree;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) id: u64,
    /// The device's major and minor number. Filesystems without a block device have made-up ones.
    pub(crate) device: (u32, u32),
    pub(crate) point: PathBuf,
    pub(crate) kind: String,
    pub(crate) source: PathBuf,
    /// Options of the mount, then options of the filesystem, as `/proc/mounts` joins them.
    pub(crate) options: String,
}

/// All of them; the one that was mounted last is the last.
pub(crate) fn all() -> Vec<Mount> {
    Tree::live().text("proc/thread-self/mountinfo").map(|text| parse(&text)).unwrap_or_default()
}

/// Whether a filesystem is mounted at `folder` or in it. `folder` is absolute and leads through no link.
pub(crate) fn is_below(folder: &Path) -> bool {
    all().iter().any(|mount| mount.point.starts_with(folder))
}

/// The text of `/proc/thread-self/mountinfo`, described in `proc_pid_mountinfo(5)`. Lines that are not understood are
/// left out.
///
/// The crate `procfs` is not used: it loses the order of the options and keeps `\040` in paths.
fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Mount> {
    // A number of optional fields ends with a lone hyphen.
    let (mount, filesystem) = line.split_once(" - ")?;
    let mut mount = mount.split(' ');
    let id = mount.next()?.parse().ok()?;
    let (major, minor) = mount.nth(1)?.split_once(':')?;
    let point = unescape(mount.nth(1)?);
    let mut options: Vec<&str> = mount.next()?.split(',').collect();

    let mut filesystem = filesystem.split(' ');
    let kind = filesystem.next()?.to_owned();
    let source = unescape(filesystem.next()?);
    for option in filesystem.next()?.split(',') {
        match option {
            // Written to where both allow it.
            "ro" => options.iter_mut().filter(|option| **option == "rw").for_each(|option| *option = "ro"),
            "rw" => {}
            option => options.push(option),
        }
    }
    let device = (major.parse().ok()?, minor.parse().ok()?);
    Some(Mount { id, device, point, kind, source, options: options.join(",") })
}

/// Space, tab, newline and backslash are written as `\` and three octal digits.
fn unescape(text: &str) -> PathBuf {
    let mut parts = text.split('\\');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend_from_slice(&part.as_bytes()[3..]);
            }
            None => {
                bytes.push(b'\\');
                bytes.extend_from_slice(part.as_bytes());
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// The mount that shows `path`: the one with this id; else that of this device with the longest mount point above
/// `path`; else, for a filesystem whose files bear another number than its mount (btrfs), that of any device. If two
/// share a mount point, the later one hides the other.
pub(crate) fn find(mounts: Vec<Mount>, id: Option<u64>, device: (u32, u32), path: &Path) -> Option<Mount> {
    let above = |mount: &&Mount| path.starts_with(&mount.point);
    let longest = |mount: &&Mount| mount.point.components().count();
    mounts
        .iter()
        .find(|mount| Some(mount.id) == id)
        .or_else(|| mounts.iter().filter(above).filter(|mount| mount.device == device).max_by_key(longest))
        .or_else(|| mounts.iter().filter(above).max_by_key(longest))
        .cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard,data=ordered
30 27 259:2 / /data rw,noatime shared:5 master:2 - xfs /dev/nvme0n1p2 rw,attr2,inode64
31 30 0:44 /db /data/my\\040folder rw,relatime - btrfs /dev/sdb rw,ssd,subvolid=256
32 27 259:2 /sub /data rw,nodev - xfs /dev/nvme0n1p2 ro,attr2,inode64
33 27 0:50 / /merged ro,relatime - overlay overlay rw,lowerdir=/a,upperdir=/b
not a mount
";

    fn at(id: Option<u64>, device: (u32, u32), path: &str) -> Mount {
        find(parse(TEXT), id, device, Path::new(path)).unwrap()
    }

    #[test]
    fn lines() {
        let mounts = parse(TEXT);
        assert_eq!(mounts.len(), 6);
        assert_eq!(mounts[1].options, "rw,relatime,discard,data=ordered");
        assert_eq!(mounts[4].options, "ro,nodev,attr2,inode64");
        assert_eq!(mounts[2].source, Path::new("/dev/nvme0n1p2"));
        assert_eq!(mounts[3].point, Path::new("/data/my folder"));
        assert_eq!(mounts[5].options, "ro,relatime,lowerdir=/a,upperdir=/b");
    }

    #[test]
    fn by_the_kernels_word() {
        assert_eq!(at(Some(30), (254, 0), "/").kind, "xfs");
    }

    #[test]
    fn by_device_and_longest_mount_point() {
        assert_eq!(at(None, (254, 0), "/data/x").kind, "ext4");
        assert_eq!(at(None, (259, 2), "/data/x").id, 32);
        assert_eq!(at(None, (254, 0), "/database").kind, "ext4");
    }

    #[test]
    fn files_of_a_subvolume_bear_another_number() {
        assert_eq!(at(None, (0, 45), "/data/my folder/db").kind, "btrfs");
    }
}
