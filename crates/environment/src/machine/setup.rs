//! Settings of kernel, firmware and drive.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use kvdyno_results::MachineSetup;

use crate::storage::DriveFacts;
use crate::tree::{Tree, chosen, field};

/// The setup that `tree` shows, with the drive of the databases.
pub(super) fn of(tree: &Tree, drive: Option<DriveFacts>) -> MachineSetup {
    let drive = drive.unwrap_or_default();
    let switch = tree.text("sys/kernel/mm/transparent_hugepage/enabled");
    MachineSetup {
        transparent_huge_pages: switch.map(|words| chosen(&words).to_owned()),
        io_scheduler: drive.scheduler,
        drive: drive.model,
        microcode: tree.text("proc/cpuinfo").and_then(|text| field(&text, "microcode").map(str::to_owned)),
        mitigations: mitigations(tree),
        randomize_va_space: tree.text("proc/sys/kernel/randomize_va_space").and_then(|text| text.trim().parse().ok()),
        damon_actions: damon_actions(tree),
        reports_free_pages: reports_free_pages(tree),
        kernel_command_line: tree.text("proc/cmdline"),
    }
}

/// The actions of the schemes of all DAMON threads that work, and of the module that reclaims
/// (`Documentation/admin-guide/mm/damon` of the kernel).
fn damon_actions(tree: &Tree) -> BTreeSet<String> {
    const THREADS: &str = "sys/kernel/mm/damon/admin/kdamonds";
    let module = tree.text("sys/module/damon_reclaim/parameters/enabled").filter(|enabled| enabled == "Y");
    let mut actions: BTreeSet<String> = module.map(|_| "pageout".to_owned()).into_iter().collect();
    for thread in tree.numbered(THREADS, "").into_iter().map(|number| format!("{THREADS}/{number}")) {
        if tree.text(format!("{thread}/state")).as_deref() != Some("on") {
            continue;
        }
        let contexts = format!("{thread}/contexts");
        for schemes in tree.numbered(&contexts, "").into_iter().map(|number| format!("{contexts}/{number}/schemes")) {
            let action = |number: u32| tree.text(format!("{schemes}/{number}/action"));
            actions.extend(tree.numbered(&schemes, "").into_iter().filter_map(action));
        }
    }
    actions
}

/// Whether a memory balloon tells the host which pages are free: the feature `VIRTIO_BALLOON_F_PAGE_REPORTING`, bit 5
/// (*Virtual I/O Device (VIRTIO) Version 1.2*, section 5.5).
fn reports_free_pages(tree: &Tree) -> bool {
    const DEVICES: &str = "sys/bus/virtio/devices";
    const PAGE_REPORTING: usize = 5;
    let balloon = |number: u32| {
        let of_device = |file: &str| tree.text(format!("{DEVICES}/virtio{number}/{file}"));
        of_device("features").filter(|_| of_device("device").as_deref() == Some("0x0005"))
    };
    let mut features = tree.numbered(DEVICES, "virtio").into_iter().filter_map(balloon);
    features.any(|bits| bits.as_bytes().get(PAGE_REPORTING) == Some(&b'1'))
}

/// A file for each weakness.
fn mitigations(tree: &Tree) -> BTreeMap<String, String> {
    const FOLDER: &str = "sys/devices/system/cpu/vulnerabilities";
    let Ok(entries) = fs::read_dir(tree.path(FOLDER)) else { return BTreeMap::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| tree.text(format!("{FOLDER}/{name}")).map(|state| (name, state))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing::{empty, write};

    #[test]
    fn a_machine_that_tells_all() {
        let (root, tree) = empty();
        for (path, text) in [
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/devices/system/cpu/vulnerabilities/mds", "Mitigation: Clear CPU buffers; SMT vulnerable\n"),
            ("sys/devices/system/cpu/vulnerabilities/l1tf", "Not affected\n"),
            ("proc/cpuinfo", "processor\t: 0\nmicrocode\t: 0xa0011d5\n"),
            ("proc/sys/kernel/randomize_va_space", "2\n"),
            ("sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds", "2\n"),
            ("sys/kernel/mm/damon/admin/kdamonds/0/state", "on\n"),
            ("sys/kernel/mm/damon/admin/kdamonds/0/contexts/0/schemes/0/action", "pageout\n"),
            ("sys/kernel/mm/damon/admin/kdamonds/1/state", "off\n"),
            ("sys/kernel/mm/damon/admin/kdamonds/1/contexts/0/schemes/0/action", "lru_prio\n"),
            ("sys/bus/virtio/devices/virtio0/device", "0x0005\n"),
            ("sys/bus/virtio/devices/virtio0/features", "0110010100000000\n"),
            ("proc/cmdline", "root=/dev/vda1 mitigations=auto\n"),
        ] {
            write(root.path(), path, text);
        }
        let drive = DriveFacts { scheduler: Some("none".into()), model: Some("X1".into()) };
        let setup = of(&tree, Some(drive));
        assert_eq!(setup.transparent_huge_pages.as_deref(), Some("madvise"));
        assert_eq!((setup.io_scheduler.as_deref(), setup.drive.as_deref()), (Some("none"), Some("X1")));
        assert_eq!(setup.microcode.as_deref(), Some("0xa0011d5"));
        assert_eq!(setup.mitigations["mds"], "Mitigation: Clear CPU buffers; SMT vulnerable");
        assert_eq!(setup.randomize_va_space, Some(2));
        assert_eq!(setup.damon_actions, BTreeSet::from(["pageout".to_owned()]));
        assert!(setup.reports_free_pages);
        assert_eq!(setup.kernel_command_line.as_deref(), Some("root=/dev/vda1 mitigations=auto"));
    }

    #[test]
    fn other_devices_and_other_balloons_report_no_free_pages() {
        for (device, features) in
            [("0x0002", "0110010100000000\n"), ("0x0005", "0110000100000000\n"), ("0x0005", "011\n")]
        {
            let (root, tree) = empty();
            write(root.path(), "sys/bus/virtio/devices/virtio0/device", device);
            write(root.path(), "sys/bus/virtio/devices/virtio0/features", features);
            assert!(!of(&tree, None).reports_free_pages, "{device}: {features}");
        }
    }

    #[test]
    fn a_machine_that_tells_nothing() {
        let (_root, tree) = empty();
        assert_eq!(of(&tree, None), MachineSetup::default());
    }
}
