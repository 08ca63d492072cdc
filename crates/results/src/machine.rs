//! The machine that an experiment ran on.

use serde::{Deserialize, Serialize};

/// A machine, as far as it matters to a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Version of kvdyno.
    pub kvdyno: String,
    /// The driver's own cost, if it was measured.
    pub driver: Option<DriverCost>,
}

/// A processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// As the processor names itself.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// Where a folder lies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Filesystem {
    /// `ext4`.
    pub kind: String,
    /// Mount options.
    pub options: String,
    /// The block device's name, where there is one.
    pub device: Option<String>,
    /// Whether the device says it rotates.
    pub rotational: Option<bool>,
    /// The kernel's read-ahead of it, KiB: the most that a page fault in a mapped file brings.
    #[serde(default)]
    pub read_ahead_kib: Option<u64>,
    /// Bytes free.
    pub free_bytes: u64,
}

/// The cost of an operation on the null engine: the driver and nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
