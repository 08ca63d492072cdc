//! The environment of a trial as it was observed, not as it was requested.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Interference, NamedFigure};

/// The environment as it was during one trial. Facts that the system does not report are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ObservedEnvironment {
    /// The logical processors that the worker could run on: `0-3,8`.
    pub cpus: String,
    /// Whether two of them were hardware threads of one core.
    pub smt: Option<bool>,
    /// The source of the worker's memory, as experiment files spell it: `interleave:0-3`; `default` if nobody set it.
    pub numa_policy: Option<String>,
    /// The worker's pages by node when its work was done, before it closed the database. For several processes, the
    /// sum, in which a page that they share counts in each.
    pub numa_pages: Vec<NodePages>,
    /// The most memory that the worker could have, page cache included, bytes; absent if it was not limited.
    pub memory_limit: Option<u64>,
    /// The most that it had of it, bytes.
    pub memory_peak: Option<u64>,
    /// The part of the worker's wall time in which some of its threads waited for memory, 0 to 1.
    pub memory_pressure: Option<f64>,
    /// The allocator that was loaded: `libc`, or a library's path.
    pub allocator: String,
    /// Pages of the database that were in the page cache when the worker began, and all of its pages; absent if they
    /// were not counted.
    pub cached: Option<CachedPages>,
    /// `folder`, or what was made for the database: `ext4`, `raw`.
    pub storage: String,
    /// The filesystem below the database with its options; `raw` for a block device.
    pub filesystem: String,
    /// The kernel's read-ahead of its block device, KiB.
    pub read_ahead_kib: Option<u64>,
    /// Memory and files that the worker kept outside the database's folder when its work was done, before it closed the
    /// database; absent where the kernel does not say, and in older results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<KeptOutside>,
    /// Figures of parts of the environment that bring their own names. For several processes, the sum.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<NamedFigure>,
    /// The means that held the trial's processes together: `control group, keeper`, or `keeper` and why no group could
    /// be made. Empty in older results.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub held_by: String,
    /// Interference with the trial, as far as it is worth telling.
    #[serde(deserialize_with = "Interference::read_all")]
    pub interference: Vec<Interference>,
}

/// A process's pages on one NUMA node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodePages {
    /// The node.
    pub node: u32,
    /// KiB of them.
    pub kib: u64,
    /// The part of it in mappings of files and of shared memory, which may have been there before, KiB.
    #[serde(default)]
    pub file_kib: u64,
}

/// Memory and files of a worker outside the folder of its database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptOutside {
    /// Memory that no file on storage backs, beyond the lab's own, KiB.
    pub memory_kib: u64,
    /// Blocks of files on storage that it had open or mapped for writing, KiB.
    pub files_kib: u64,
    /// The largest of these files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_file: Option<PathBuf>,
}

impl KeptOutside {
    /// That of two processes. Files are taken to be the same ones.
    pub fn with(self, other: KeptOutside) -> KeptOutside {
        let files = if other.files_kib > self.files_kib { &other } else { &self };
        let (files_kib, largest_file) = (files.files_kib, files.largest_file.clone());
        KeptOutside { memory_kib: self.memory_kib + other.memory_kib, files_kib, largest_file }
    }
}

/// The part of a database in the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachedPages {
    /// Bytes of it in the page cache.
    pub cached: u64,
    /// Bytes of it.
    pub total: u64,
}
