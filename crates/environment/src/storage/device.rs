//! Block devices, as `/sys/dev/block` shows them.

use std::path::{Path, PathBuf};

use kvdyno_results::Device;

use crate::tree::{Tree, chosen};

/// The unit of `stat`, independent of the device's own sector (`Documentation/block/stat.rst`).
const SECTOR: u64 = 512;

/// The place of the flushes completed in `stat`, since Linux 5.5.
const FLUSHES: usize = 15;

/// A disk or a partition of one.
#[derive(Clone, Debug)]
pub(super) struct BlockDevice {
    pub(super) name: String,
    tree: Tree,
    folder: PathBuf,
}

impl BlockDevice {
    /// The device of these numbers; `None` for the made-up numbers of a filesystem without a device.
    pub(super) fn find(tree: &Tree, (major, minor): (u32, u32)) -> Option<Self> {
        // A link into `/sys/devices/…/nvme0n1/nvme0n1p2`, whose last part is the kernel's name.
        let folder = tree.path(format!("sys/dev/block/{major}:{minor}")).canonicalize().ok()?;
        let name = folder.file_name()?.to_str()?.to_owned();
        Some(Self { name, tree: tree.clone(), folder })
    }

    /// Whether it reports that it rotates.
    pub(super) fn rotational(&self) -> Option<bool> {
        self.queue("rotational").map(|flag| flag != 0)
    }

    /// The kernel's read-ahead of it, KiB.
    pub(super) fn read_ahead_kib(&self) -> Option<u64> {
        self.queue("read_ahead_kb").map(u64::from)
    }

    /// The read-ahead of a btrfs on it, KiB.
    pub(super) fn btrfs_read_ahead_kib(&self) -> Option<u64> {
        let filesystems = self.tree.path("sys/fs/btrfs").read_dir().ok()?.flatten().map(|entry| entry.path());
        let here = filesystems.filter(|filesystem| filesystem.join("devices").join(&self.name).exists());
        here.filter_map(|filesystem| self.tree.value(filesystem.join("bdi/read_ahead_kb"))).next()
    }

    /// Its reads and writes since the machine started.
    pub(super) fn counters(&self) -> Option<Device> {
        if self.queue("iostats") == Some(0) {
            return None;
        }
        let counters = parse_stat(&self.name, &self.tree.text(self.folder.join("stat"))?)?;
        Some(Device { flushes: self.flushes(), ..counters })
    }

    /// Flushes of its disk's write cache since the machine started. The kernel counts them for whole disks, and not
    /// for devices that pass requests on to others (`mq` is absent).
    fn flushes(&self) -> Option<u64> {
        let disk = self.disk()?;
        let is_counted = disk.join("mq").is_dir();
        let caches = self.tree.text(disk.join("queue/write_cache"))?.trim() == "write back";
        let writes_through = self.queue("fua") != Some(0);
        let stat = (is_counted && caches && !writes_through).then(|| self.tree.text(disk.join("stat")))??;
        stat.split_whitespace().nth(FLUSHES)?.parse().ok()
    }

    /// Its I/O scheduler: `mq-deadline`, or `none`.
    pub(super) fn scheduler(&self) -> Option<String> {
        self.tree.text(self.disk()?.join("queue/scheduler")).map(|words| chosen(&words).to_owned())
    }

    /// The disk's model, as it names itself. Disks of virtual machines have none as a rule.
    pub(super) fn model(&self) -> Option<String> {
        self.tree.text(self.disk()?.join("device/model")).map(|model| model.trim().to_owned())
    }

    /// A setting of its request queue.
    fn queue(&self, setting: &str) -> Option<u32> {
        self.tree.value(self.disk()?.join("queue").join(setting))
    }

    /// The disk's folder, of a partition too.
    fn disk(&self) -> Option<&Path> {
        let is_partition = self.folder.join("partition").exists();
        if is_partition { self.folder.parent() } else { Some(&self.folder) }
    }
}

fn parse_stat(name: &str, text: &str) -> Option<Device> {
    let fields: Vec<u64> = text.split_whitespace().map(|field| field.parse().ok()).collect::<Option<_>>()?;
    let [reads, _, read_sectors, _, writes, _, write_sectors, ..] = fields[..] else { return None };
    let (read_bytes, write_bytes) = (read_sectors * SECTOR, write_sectors * SECTOR);
    Some(Device { name: name.to_owned(), read_bytes, write_bytes, reads, writes, flushes: None })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    const STAT: &str =
        "   53975     9924  4483082    16469    27834    18614  3224648    11303        0     7848    28372";

    /// A disk `sda` that rotates, with one partition.
    fn machine() -> (tempfile::TempDir, Tree) {
        let root = tempfile::tempdir().unwrap();
        let disk = root.path().join("sys/devices/pci0/sda");
        fs::create_dir_all(disk.join("queue")).unwrap();
        fs::create_dir_all(disk.join("sda1")).unwrap();
        fs::create_dir_all(root.path().join("sys/dev/block")).unwrap();
        fs::write(disk.join("queue/rotational"), "1\n").unwrap();
        fs::write(disk.join("queue/iostats"), "1\n").unwrap();
        fs::write(disk.join("queue/scheduler"), "none [mq-deadline] kyber\n").unwrap();
        fs::create_dir(disk.join("device")).unwrap();
        fs::write(disk.join("device/model"), "X1 4TB         \n").unwrap();
        fs::write(disk.join("sda1/partition"), "1\n").unwrap();
        fs::write(disk.join("sda1/stat"), STAT).unwrap();
        symlink("../../devices/pci0/sda", root.path().join("sys/dev/block/8:0")).unwrap();
        symlink("../../devices/pci0/sda/sda1", root.path().join("sys/dev/block/8:1")).unwrap();
        let tree = Tree::at(root.path());
        (root, tree)
    }

    #[test]
    fn a_partition_has_its_own_counters_and_its_disks_nature() {
        let (_root, tree) = machine();
        let partition = BlockDevice::find(&tree, (8, 1)).unwrap();
        assert_eq!(partition.name, "sda1");
        assert_eq!(partition.rotational(), Some(true));
        assert_eq!(partition.scheduler().as_deref(), Some("mq-deadline"));
        assert_eq!(partition.model().as_deref(), Some("X1 4TB"));
        let counters = partition.counters().unwrap();
        assert_eq!((counters.reads, counters.read_bytes), (53975, 4483082 * 512));
        assert_eq!((counters.writes, counters.write_bytes), (27834, 3224648 * 512));
    }

    #[test]
    fn flushes_are_those_of_a_disk_that_must_be_flushed() {
        let (root, tree) = machine();
        let disk = root.path().join("sys/devices/pci0/sda");
        let flushes = || BlockDevice::find(&tree, (8, 1)).unwrap().counters().unwrap().flushes;
        assert_eq!(flushes(), None);
        fs::create_dir(disk.join("mq")).unwrap();
        fs::write(disk.join("stat"), format!("{STAT} 0 0 0 0 1077 5")).unwrap();
        fs::write(disk.join("queue/write_cache"), "write back\n").unwrap();
        fs::write(disk.join("queue/fua"), "0\n").unwrap();
        assert_eq!(flushes(), Some(1077));
        for (file, value) in [("queue/fua", "1\n"), ("queue/write_cache", "write through\n"), ("stat", STAT)] {
            let before = fs::read(disk.join(file)).unwrap();
            fs::write(disk.join(file), value).unwrap();
            assert_eq!(flushes(), None, "{file}");
            fs::write(disk.join(file), before).unwrap();
        }
        // Device mapper: what is flushed are the disks below it.
        fs::remove_dir(disk.join("mq")).unwrap();
        assert_eq!(flushes(), None);
    }

    #[test]
    fn no_accounts_no_counters() {
        let (root, tree) = machine();
        fs::write(root.path().join("sys/devices/pci0/sda/queue/iostats"), "0\n").unwrap();
        assert_eq!(BlockDevice::find(&tree, (8, 1)).unwrap().counters(), None);
    }

    #[test]
    fn made_up_numbers_have_no_device() {
        let (_root, tree) = machine();
        assert!(BlockDevice::find(&tree, (0, 44)).is_none());
        assert_eq!(parse_stat("x", "1 2 3"), None);
    }
}
