//! Machines for tests: folders that look like `/`.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::tree::Tree;

/// Node distances of the machine of Symas's report of 2014, "In-Memory Microbenchmark (Scaling/NUMA)".
const DISTANCES: [&str; 8] = [
    "10 16 16 22 16 22 16 22",
    "16 10 22 16 22 16 22 16",
    "16 22 10 16 16 22 16 22",
    "22 16 16 10 22 16 22 16",
    "16 22 16 22 10 16 16 22",
    "22 16 22 16 16 10 22 16",
    "16 22 16 22 16 22 10 16",
    "22 16 22 16 22 16 16 10",
];

/// An empty tree.
pub(crate) fn empty() -> (TempDir, Tree) {
    let root = tempfile::tempdir().unwrap();
    let tree = Tree::at(root.path());
    (root, tree)
}

/// Writes a file and the folders above it.
pub(crate) fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Two sockets of 32 cores with two threads each, eight nodes. Numbered as kernels do: the second threads of all cores
/// come after the first ones.
pub(crate) fn two_sockets() -> (TempDir, Tree) {
    let (root, tree) = empty();
    let put = |path: &str, text: &str| write(root.path(), path, text);
    let mut cpuinfo = String::new();
    for cpu in 0..128 {
        let core = cpu % 64;
        let (socket, core_id) = (core / 32, core % 32);
        // Tabs as in the kernel's text.
        write!(
            cpuinfo,
            "processor\t: {cpu}\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 7543 32-Core Processor\n\
             physical id\t: {socket}\nsiblings\t: 64\ncore id\t\t: {core_id}\ncpu cores\t: 32\n\
             flags\t\t: fpu vme de pse tsc msr constant_tsc nonstop_tsc\n\n"
        )
        .unwrap();
        let folder = format!("sys/devices/system/cpu/cpu{cpu}");
        put(&format!("{folder}/topology/physical_package_id"), &format!("{socket}\n"));
        put(&format!("{folder}/topology/core_id"), &format!("{core_id}\n"));
        put(&format!("{folder}/topology/thread_siblings_list"), &format!("{core},{}\n", core + 64));
        put(&format!("{folder}/cpufreq/scaling_governor"), "performance\n");
        let (first, last) = (core / 8 * 8, core / 8 * 8 + 7);
        let pair = format!("{core},{}", core + 64);
        let node = format!("{first}-{last},{}-{}", first + 64, last + 64);
        let caches = [
            ("1", "Data", "32K", &pair),
            ("1", "Instruction", "32K", &pair),
            ("2", "Unified", "512K", &pair),
            ("3", "Unified", "32768K", &node),
        ];
        for (index, (level, kind, size, shared)) in caches.into_iter().enumerate() {
            let folder = format!("{folder}/cache/index{index}");
            put(&format!("{folder}/level"), &format!("{level}\n"));
            put(&format!("{folder}/type"), &format!("{kind}\n"));
            put(&format!("{folder}/size"), &format!("{size}\n"));
            put(&format!("{folder}/shared_cpu_list"), &format!("{shared}\n"));
        }
    }
    put("proc/cpuinfo", &cpuinfo);
    put("proc/meminfo", "MemTotal:       264093696 kB\nMemFree:        1000 kB\nMemAvailable:   2000 kB\n");
    put("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    put("etc/os-release", "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n");
    put("sys/devices/system/node/online", "0-7\n");
    for (node, distances) in DISTANCES.iter().enumerate() {
        let folder = format!("sys/devices/system/node/node{node}");
        let first = node * 8;
        put(&format!("{folder}/cpulist"), &format!("{first}-{},{}-{}\n", first + 7, first + 64, first + 71));
        put(&format!("{folder}/distance"), &format!("{distances}\n"));
        put(
            &format!("{folder}/meminfo"),
            &format!("Node {node} MemTotal:       33011712 kB\nNode {node} MemFree: 1 kB\n"),
        );
    }
    (root, tree)
}

/// A virtual machine of four cores without NUMA, caches or a governor to be seen.
pub(crate) fn aarch64() -> (TempDir, Tree) {
    let (root, tree) = empty();
    let put = |path: &str, text: &str| write(root.path(), path, text);
    let mut cpuinfo = String::new();
    for cpu in 0..4 {
        write!(
            cpuinfo,
            "processor\t: {cpu}\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics\n\
             CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n"
        )
        .unwrap();
        put(&format!("sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id"), "0\n");
        put(&format!("sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list"), &format!("{cpu}\n"));
    }
    put("proc/cpuinfo", &cpuinfo);
    put("proc/meminfo", "MemTotal:        7982104 kB\n");
    put("etc/os-release", "NAME=\"Amazon Linux\"\nPRETTY_NAME=\"Amazon Linux 2023\"\n");
    put("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
    put("sys/class/dmi/id/product_name", "c6g.xlarge\n");
    (root, tree)
}
