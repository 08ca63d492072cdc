//! The machine that an experiment ran on.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A machine, as far as it matters to a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Processor.
    pub cpu: Cpu,
    /// Data caches and unified caches, by level.
    pub caches: Vec<Cache>,
    /// Memory, KiB.
    pub memory_kib: u64,
    /// NUMA nodes.
    pub numa: Vec<NumaNode>,
    /// Kernel release.
    pub kernel: String,
    /// Distribution, as `/etc/os-release` names it.
    pub system: String,
    /// The filesystem of the databases.
    pub filesystem: Filesystem,
    /// The clock that times an operation.
    pub clock: String,
    /// Settings of kernel, firmware and drive.
    #[serde(default)]
    pub setup: MachineSetup,
    /// Version of kvdyno.
    pub kvdyno: String,
    /// The build of that version; absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<KvdynoBuild>,
    /// The driver's own cost, if it was measured.
    pub driver: Option<DriverCost>,
    /// Limits of memory and storage, if they were measured before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<MachineLimits>,
}

/// Limits of a machine without any engine, as `kvdyno machine --limits` measures them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineLimits {
    /// Mean time of a load from memory whose address the load before gave, nanoseconds.
    pub memory_latency_ns: f64,
    /// Bytes a second that all processors together read from memory.
    pub memory_bytes_per_s: f64,
    /// Writes of 4 KiB a second to the databases' filesystem, each synced before the next.
    pub syncs_per_s: f64,
    /// Reads of 4 KiB a second at random from there, past the page cache, each awaited before the next. Absent where
    /// the filesystem has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_per_s: Option<f64>,
}

/// Settings of a machine that change figures. Absent or empty if the system does not report them, or in older results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MachineSetup {
    /// The machine's switch for transparent huge pages: `madvise`.
    pub transparent_huge_pages: Option<String>,
    /// The I/O scheduler of the databases' drive: `mq-deadline`.
    pub io_scheduler: Option<String>,
    /// The drive's model, as it names itself.
    pub drive: Option<String>,
    /// The processor's microcode: `0xa0011d5`.
    pub microcode: Option<String>,
    /// For each weakness of processors that the kernel knows, its state: `Mitigation: PTI`, `Vulnerable`.
    pub mitigations: BTreeMap<String, String>,
    /// The kernel's switch for random addresses (`randomize_va_space`): 2 for all, 0 for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub randomize_va_space: Option<u32>,
    /// The actions on memory that the kernel takes by its own watch of accesses (DAMON): `pageout` writes out what it
    /// takes for unused, however much is free.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub damon_actions: BTreeSet<String>,
    /// Whether a virtual machine gives free memory back to its host (free page reporting). Then the first write to such
    /// a page takes the host's time too, which counts as system time of the writer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reports_free_pages: bool,
    /// The words that the kernel was started with.
    pub kernel_command_line: Option<String>,
}

impl MachineSetup {
    /// For people, a name and its words each; what is not known is left out.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mitigations = (!self.mitigations.is_empty()).then(|| self.mitigations_in_words());
        let damon: Vec<&str> = self.damon_actions.iter().map(String::as_str).collect();
        let damon = (!damon.is_empty()).then(|| damon.join(", "));
        let facts = [
            ("huge pages", self.transparent_huge_pages.clone()),
            ("I/O scheduler", self.io_scheduler.clone()),
            ("drive", self.drive.clone()),
            ("microcode", self.microcode.clone()),
            ("mitigations", mitigations),
            ("address randomization", self.randomize_va_space.map(|level| level.to_string())),
            ("DAMON", damon),
            ("free pages", self.reports_free_pages.then(|| "given back to the host".to_owned())),
            ("command line", self.kernel_command_line.clone()),
        ];
        facts.into_iter().filter_map(|(name, words)| words.map(|words| (name, words))).collect()
    }

    /// `mds, l1tf vulnerable; 12 mitigated, 6 not affected`.
    fn mitigations_in_words(&self) -> String {
        let of = |word: &str| self.mitigations.iter().filter(|(_, state)| state.starts_with(word)).count();
        let vulnerable: Vec<&str> = self
            .mitigations
            .iter()
            .filter(|(_, state)| state.contains("Vulnerable"))
            .map(|(name, _)| name.as_str())
            .collect();
        let names = if vulnerable.is_empty() { "none".to_owned() } else { vulnerable.join(", ") };
        format!("{names} vulnerable; {} mitigated, {} not affected", of("Mitigation"), of("Not affected"))
    }
}

/// A build of kvdyno.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KvdynoBuild {
    /// The commit of its sources, `-changed` if they were; absent if they came without their history.
    pub commit: Option<String>,
    /// `release` or `debug`.
    pub profile: String,
    /// The compiler.
    pub rust: String,
}

/// A processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// The processor's own name.
    pub model: String,
    /// Logical processors that this process may use.
    pub threads: u32,
    /// Cores behind them.
    pub cores: u32,
    /// Sockets behind them.
    pub sockets: u32,
    /// The frequency governor, where there is one.
    pub governor: Option<String>,
    /// The hypervisor, where there is one.
    pub hypervisor: Option<String>,
}

/// One level of cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// 1, 2, 3.
    pub level: u32,
    /// `data` or `unified`.
    pub kind: String,
    /// KiB of one.
    pub size_kib: u64,
    /// Logical processors that share one.
    pub shared_by: u32,
}

/// One NUMA node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NumaNode {
    /// Its number.
    pub node: u32,
    /// Its processors, as the kernel lists them: `0-7`.
    pub cpus: String,
    /// Its memory, KiB.
    pub memory_kib: u64,
    /// Distances to all nodes.
    pub distances: Vec<u32>,
}

/// The filesystem of a folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Filesystem {
    /// `ext4`.
    pub kind: String,
    /// Mount options.
    pub options: String,
    /// The block device's name, where there is one.
    pub device: Option<String>,
    /// Whether the device reports that it rotates.
    pub rotational: Option<bool>,
    /// The kernel's read-ahead of it, KiB: the most that a page fault in a mapped file brings.
    pub read_ahead_kib: Option<u64>,
    /// Bytes free.
    pub free_bytes: u64,
}

/// The cost of an operation on the null engine: the driver and nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriverCost {
    /// Nanoseconds for a verified `get` with its latency recorded, one thread, median of several rounds.
    pub get_ns: f64,
    /// The least and the greatest of those rounds.
    pub get_ns_range: (f64, f64),
    /// Operations of all processors at once over those of one thread.
    pub scaling: f64,
    /// Threads in that.
    pub scaling_threads: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setup_is_told_as_far_as_it_is_known() {
        assert_eq!(MachineSetup::default().facts(), []);
        let states = [("mds", "Vulnerable"), ("l1tf", "Mitigation: PTE Inversion"), ("srbds", "Not affected")];
        let mitigations = states.map(|(name, state)| (name.to_owned(), state.to_owned())).into();
        let setup = MachineSetup { drive: Some("X1".into()), mitigations, ..MachineSetup::default() };
        let words = "mds vulnerable; 1 mitigated, 1 not affected".to_owned();
        assert_eq!(setup.facts(), [("drive", "X1".to_owned()), ("mitigations", words)]);
    }
}
