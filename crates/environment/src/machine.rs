//! The machine that a trial runs on: processors, caches, memory, NUMA nodes, kernel and filesystem.
//!
//! Containers and virtual machines show a part of `/proc` and `/sys`. Facts that they hide stay absent, empty or 0.

use std::path::Path;

use kvdyno_results::{Filesystem, HostFacts, Machine, MachineSetup};

use crate::storage::{drive, filesystem};
use crate::tree::{Tree, field, kilobytes};

mod available;
mod cache;
mod cpu;
mod hypervisor;
mod numa;
mod setup;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use cpu::{siblings, usable as usable_cpus};
pub(crate) use numa::nodes as numa_nodes;

/// The machine as this process sees it, with the filesystem of `path`, where the databases will be.
///
/// `clock` is empty, and `build` and `driver` are absent: the caller fills them in.
pub fn machine(path: &Path) -> Machine {
    let tree = Tree::live();
    let cpus = cpu::usable(&tree);
    Machine { setup: setup::of(&tree, drive(path)), ..describe(&tree, &cpus, filesystem(path)) }
}

/// The machine that `tree` shows without its setup, for a process that may use the processors `cpus`.
fn describe(tree: &Tree, cpus: &[u32], filesystem: Filesystem) -> Machine {
    Machine {
        cpu: cpu::describe(tree, cpus),
        caches: cache::of(tree, cpus.first().copied().unwrap_or(0)),
        memory_kib: total_memory_kib(tree).unwrap_or(0),
        numa: numa::nodes(tree),
        kernel: tree.text("proc/sys/kernel/osrelease").unwrap_or_default(),
        system: system(tree).unwrap_or_default(),
        filesystem,
        clock: String::new(),
        setup: MachineSetup::default(),
        kvdyno: env!("CARGO_PKG_VERSION").to_owned(),
        build: None,
        driver: None,
        limits: None,
    }
}

/// This machine, to be told from others; absent where the kernel does not show it.
pub fn host() -> Option<HostFacts> {
    let tree = Tree::live();
    let name = tree.text("proc/sys/kernel/hostname")?;
    let boot = tree.text("proc/sys/kernel/random/boot_id")?;
    Some(HostFacts { name, id: tree.text("etc/machine-id").unwrap_or_default(), boot })
}

/// The memory that can still be had without swapping, KiB: what the kernel says is available, and no more than a
/// container's limit. 0 where the kernel does not show it.
pub fn available_kib() -> u64 {
    available::kib(&Tree::live()).unwrap_or(0)
}

/// The machine's memory, KiB; 0 where the kernel does not show it.
pub fn memory_kib() -> u64 {
    total_memory_kib(&Tree::live()).unwrap_or(0)
}

fn total_memory_kib(tree: &Tree) -> Option<u64> {
    kilobytes(field(&tree.text("proc/meminfo")?, "MemTotal")?)
}

/// The name for people in `os-release(5)`.
fn system(tree: &Tree) -> Option<String> {
    let text = tree.text("etc/os-release").or_else(|| tree.text("usr/lib/os-release"))?;
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?.trim();
    let quoted = ['"', '\''].iter().find_map(|&quote| name.strip_prefix(quote)?.strip_suffix(quote));
    Some(quoted.unwrap_or(name).replace('\\', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nowhere() -> Filesystem {
        filesystem(Path::new("/proc"))
    }

    #[test]
    fn two_sockets_with_hyperthreads_and_eight_nodes() {
        let (_root, tree) = testing::two_sockets();
        let all: Vec<u32> = (0..128).collect();
        let machine = describe(&tree, &all, nowhere());

        assert_eq!(machine.cpu.model, "AMD EPYC 7543 32-Core Processor");
        assert_eq!((machine.cpu.threads, machine.cpu.cores, machine.cpu.sockets), (128, 64, 2));
        assert_eq!(machine.cpu.governor.as_deref(), Some("performance"));
        assert_eq!(machine.cpu.hypervisor, None);
        assert_eq!(machine.memory_kib, 264_093_696);
        assert_eq!(machine.kernel, "6.1.0-18-amd64");
        assert_eq!(machine.system, "Debian GNU/Linux 12 (bookworm)");
        assert_eq!((machine.clock.as_str(), machine.driver), ("", None));

        let caches = machine.caches.iter().map(|c| (c.level, c.kind.as_str(), c.size_kib, c.shared_by));
        assert_eq!(caches.collect::<Vec<_>>(), [(1, "data", 32, 2), (2, "unified", 512, 2), (3, "unified", 32768, 16)]);

        assert_eq!(machine.numa.len(), 8);
        assert_eq!(machine.numa[1].cpus, "8-15,72-79");
        assert_eq!(machine.numa[1].memory_kib, 33_011_712);
        assert_eq!(machine.numa[1].distances, [16, 10, 22, 16, 22, 16, 22, 16]);
        let distances = |node: usize| machine.numa[node].distances.clone();
        assert!((0..8).all(|a| (0..8).all(|b| distances(a)[b] == distances(b)[a])));
    }

    #[test]
    fn a_process_bound_to_one_node() {
        let (_root, tree) = testing::two_sockets();
        let node: Vec<u32> = (8..16).chain(72..80).collect();
        let cpu = describe(&tree, &node, nowhere()).cpu;
        assert_eq!((cpu.threads, cpu.cores, cpu.sockets), (16, 8, 1));
        let first_threads: Vec<u32> = (0..64).collect();
        let cpu = describe(&tree, &first_threads, nowhere()).cpu;
        assert_eq!((cpu.threads, cpu.cores, cpu.sockets), (64, 64, 2));
    }

    #[test]
    fn aarch64_in_a_cloud() {
        let (_root, tree) = testing::aarch64();
        let machine = describe(&tree, &[0, 1, 2, 3], nowhere());
        assert_eq!(machine.cpu.model, "ARM Neoverse-N1");
        assert_eq!((machine.cpu.threads, machine.cpu.cores, machine.cpu.sockets), (4, 4, 1));
        assert_eq!(machine.cpu.governor, None);
        assert_eq!(machine.cpu.hypervisor.as_deref(), Some("Amazon EC2 c6g.xlarge"));
        assert_eq!(machine.system, "Amazon Linux 2023");
        assert!(machine.numa.is_empty());
    }

    #[test]
    fn a_machine_that_shows_nothing() {
        let (_root, tree) = testing::empty();
        let machine = describe(&tree, &[0, 1], nowhere());
        assert_eq!((machine.cpu.threads, machine.cpu.cores, machine.cpu.sockets), (2, 0, 0));
        assert_eq!((machine.cpu.model.as_str(), machine.cpu.governor, machine.cpu.hypervisor), ("", None, None));
        assert!(machine.caches.is_empty() && machine.numa.is_empty());
        assert_eq!((machine.memory_kib, machine.kernel.as_str(), machine.system.as_str()), (0, "", ""));
    }

    #[test]
    fn a_container_without_sys() {
        let (root, tree) = testing::two_sockets();
        std::fs::remove_dir_all(root.path().join("sys")).unwrap();
        let all: Vec<u32> = (0..128).collect();
        let machine = describe(&tree, &all, nowhere());
        assert_eq!((machine.cpu.threads, machine.cpu.cores, machine.cpu.sockets), (128, 64, 2));
        assert!(machine.caches.is_empty() && machine.numa.is_empty());
    }

    #[test]
    fn this_machine() {
        let machine = machine(Path::new("."));
        assert!(machine.cpu.threads > 0 && machine.memory_kib > 0 && !machine.kernel.is_empty(), "{machine:?}");
        assert!(machine.cpu.cores <= machine.cpu.threads && machine.cpu.sockets <= machine.cpu.cores, "{machine:?}");
        assert!(!machine.filesystem.kind.is_empty(), "{machine:?}");
    }
}
