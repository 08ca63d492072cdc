//! Processors.

use std::collections::BTreeSet;

use kvdyno_results::Cpu;
use rustix::thread::{CpuSet, sched_getaffinity};

use super::hypervisor;
use crate::tree::{Tree, field, fields, number_list};

/// The logical processors that this thread may use.
pub(crate) fn usable(tree: &Tree) -> Vec<u32> {
    match sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect(),
        // The kernel has more processors than the set.
        Err(_) => allowed(tree).unwrap_or_default(),
    }
}

/// The same without a limit. The list of allowed processors includes those that are switched off.
fn allowed(tree: &Tree) -> Option<Vec<u32>> {
    let mut allowed = number_list(field(&tree.text("proc/self/status")?, "Cpus_allowed_list")?)?;
    let online: BTreeSet<u32> = number_list(&tree.text("sys/devices/system/cpu/online")?)?.into_iter().collect();
    allowed.retain(|cpu| online.contains(cpu));
    Some(allowed)
}

/// The cores and sockets behind the logical processors `cpus`. Cores and sockets are 0 where neither `/sys` nor
/// `/proc/cpuinfo` tells them.
pub(super) fn describe(tree: &Tree, cpus: &[u32]) -> Cpu {
    let cpuinfo = tree.text("proc/cpuinfo").unwrap_or_default();
    let (cores, sockets) = topology(tree, cpus).or_else(|| topology_of_cpuinfo(&cpuinfo, cpus)).unwrap_or_default();
    Cpu {
        model: model(&cpuinfo).unwrap_or_default(),
        threads: cpus.len() as u32,
        cores,
        sockets,
        governor: governor(tree, cpus),
        hypervisor: hypervisor::name(tree, &cpuinfo),
    }
}

/// Cores and sockets.
fn topology(tree: &Tree, cpus: &[u32]) -> Option<(u32, u32)> {
    let (mut cores, mut sockets) = (BTreeSet::new(), BTreeSet::new());
    for cpu in cpus {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}/topology");
        // `core_id` repeats, on some machines from die to die; the list of a core's threads does not.
        cores.insert(siblings(tree, *cpu)?);
        sockets.insert(tree.text(format!("{folder}/physical_package_id"))?);
    }
    Some((cores.len() as u32, sockets.len() as u32))
}

/// The hardware threads of a logical processor's core, itself included.
pub(crate) fn siblings(tree: &Tree, cpu: u32) -> Option<Vec<u32>> {
    let folder = format!("sys/devices/system/cpu/cpu{cpu}/topology");
    // The first is the newer name.
    let lists = ["core_cpus_list", "thread_siblings_list"];
    number_list(&lists.iter().find_map(|list| tree.text(format!("{folder}/{list}")))?)
}

/// The same from `/proc/cpuinfo`, which x86 fills in.
fn topology_of_cpuinfo(cpuinfo: &str, cpus: &[u32]) -> Option<(u32, u32)> {
    let (mut cores, mut sockets, mut described) = (BTreeSet::new(), BTreeSet::new(), 0);
    for block in cpuinfo.split("\n\n") {
        let Some(cpu) = field(block, "processor").and_then(|number| number.parse().ok()) else { continue };
        if cpus.contains(&cpu) {
            let socket = field(block, "physical id")?;
            cores.insert((socket, field(block, "core id")?));
            sockets.insert(socket);
            described += 1;
        }
    }
    (described > 0 && described == cpus.len()).then_some((cores.len() as u32, sockets.len() as u32))
}

/// The governor, or all of them if they differ.
fn governor(tree: &Tree, cpus: &[u32]) -> Option<String> {
    let governors: BTreeSet<String> = cpus
        .iter()
        .filter_map(|cpu| tree.text(format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor")))
        .collect();
    (!governors.is_empty()).then(|| Vec::from_iter(governors).join(", "))
}

/// The processor's own name; for an ARM, which has none, its part number.
fn model(cpuinfo: &str) -> Option<String> {
    let named = field(cpuinfo, "model name").map(str::to_owned);
    named.or_else(|| arm_model(cpuinfo)).or_else(|| field(cpuinfo, "cpu").map(str::to_owned))
}

/// A machine may have several kinds of cores.
fn arm_model(cpuinfo: &str) -> Option<String> {
    let parts = fields(cpuinfo, "CPU implementer").zip(fields(cpuinfo, "CPU part"));
    let names: BTreeSet<String> = parts.map(|(implementer, part)| arm_name(implementer, part)).collect();
    (!names.is_empty()).then(|| Vec::from_iter(names).join(" + "))
}

fn arm_name(implementer: &str, part: &str) -> String {
    let known = ARM.iter().find(|(i, p, _)| (*i, *p) == (implementer, part));
    known.map_or_else(|| format!("ARM implementer {implementer} part {part}"), |(_, _, name)| (*name).to_owned())
}

/// Cores of servers and of boards that people measure on, as util-linux `sys-utils/lscpu-arm.c` names them.
const ARM: [(&str, &str, &str); 25] = [
    ("0x41", "0xd03", "ARM Cortex-A53"),
    ("0x41", "0xd05", "ARM Cortex-A55"),
    ("0x41", "0xd07", "ARM Cortex-A57"),
    ("0x41", "0xd08", "ARM Cortex-A72"),
    ("0x41", "0xd09", "ARM Cortex-A73"),
    ("0x41", "0xd0a", "ARM Cortex-A75"),
    ("0x41", "0xd0b", "ARM Cortex-A76"),
    ("0x41", "0xd0c", "ARM Neoverse-N1"),
    ("0x41", "0xd40", "ARM Neoverse-V1"),
    ("0x41", "0xd41", "ARM Cortex-A78"),
    ("0x41", "0xd44", "ARM Cortex-X1"),
    ("0x41", "0xd49", "ARM Neoverse-N2"),
    ("0x41", "0xd4a", "ARM Neoverse-E1"),
    ("0x41", "0xd4f", "ARM Neoverse-V2"),
    ("0x41", "0xd84", "ARM Neoverse-V3"),
    ("0x41", "0xd8e", "ARM Neoverse-N3"),
    ("0x43", "0x0a1", "Cavium ThunderX"),
    ("0x43", "0x0af", "Cavium ThunderX2"),
    ("0x46", "0x001", "Fujitsu A64FX"),
    ("0x48", "0xd01", "HiSilicon TaiShan-v110"),
    ("0x4e", "0x004", "NVIDIA Carmel"),
    ("0x51", "0xc00", "Qualcomm Falkor"),
    ("0x61", "0x022", "Apple Icestorm-M1"),
    ("0x61", "0x023", "Apple Firestorm-M1"),
    ("0xc0", "0xac3", "Ampere-1"),
];

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn arms_of_two_kinds_and_an_unknown_one() {
        let text = "CPU implementer\t: 0x41\nCPU part\t: 0xd0b\n\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n";
        assert_eq!(model(text).as_deref(), Some("ARM Cortex-A55 + ARM Cortex-A76"));
        assert_eq!(arm_name("0x99", "0x001"), "ARM implementer 0x99 part 0x001");
        assert_eq!(model("processor : 0\n"), None);
    }

    #[test]
    fn processors_that_are_off_are_not_usable() {
        let (root, tree) = testing::empty();
        testing::write(root.path(), "proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-127\n");
        testing::write(root.path(), "sys/devices/system/cpu/online", "0-1\n");
        assert_eq!(allowed(&tree), Some(vec![0, 1]));
    }

    #[test]
    fn governors_that_differ_are_all_named() {
        let (root, tree) = testing::two_sockets();
        testing::write(root.path(), "sys/devices/system/cpu/cpu5/cpufreq/scaling_governor", "powersave\n");
        assert_eq!(governor(&tree, &[4, 5]).as_deref(), Some("performance, powersave"));
        assert_eq!(governor(&tree, &[4, 6]).as_deref(), Some("performance"));
    }
}
