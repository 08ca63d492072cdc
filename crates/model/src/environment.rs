//! The environment that an experiment requests: the keys of `[environment]`, not yet compared with any machine.

use serde::{Deserialize, Serialize};

use crate::{
    Allocator, ByteSize, CacheState, Cpus, FilePath, HugePages, IndexList, Keys, NumaPolicy, Smt, StorageKind,
};

/// The environment of the trials. Keys that are absent leave it as it is where kvdyno is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "environment", key = EnvironmentKey)]
pub struct EnvironmentSection {
    /// CPUs that a trial may use: how many, or which, as in `0-3,8`; the one CPU 5 is `5-5`.
    #[key(absent = "all that kvdyno may use")]
    pub cpus: Option<Cpus>,
    /// Hyperthreads: `off` uses one hardware thread of each core, `on` all of them.
    #[key(absent = "as they come")]
    pub smt: Option<Smt>,
    /// NUMA policy of memory: `local`, `interleave`, `interleave:NODES`, `bind:NODES` or `preferred:NODE`.
    #[key(absent = "as where kvdyno is started")]
    pub numa: Option<NumaPolicy>,
    /// Only CPUs of these NUMA nodes: `0,2`.
    #[key(absent = "of all nodes")]
    pub numa_cpus: Option<IndexList>,
    /// The most memory that a trial may have, page cache included.
    #[key(absent = "no limit")]
    pub memory: Option<ByteSize>,
    /// Use of transparent huge pages for a worker's memory; the machine's switch is the upper limit.
    #[key(absent = "as where kvdyno is started")]
    pub huge_pages: Option<HugePages>,
    /// The allocator behind `malloc`: `libc`, `jemalloc`, `tcmalloc`, `mimalloc`, or the path of a library.
    #[key(absent = "as where kvdyno is started")]
    pub allocator: Option<Allocator>,
    /// The state of the page cache when a run begins, as far as it concerns the database.
    #[key(default = CacheState::Warm)]
    pub cache_state: CacheState,
    /// The storage below a database; all but a folder is made anew before each load.
    #[key(default = StorageKind::Folder)]
    pub storage: StorageKind,
    /// The size of the file below a filesystem that is made.
    #[key(absent = "three times keys and values, `min_free`, and 256 MiB")]
    pub storage_size: Option<ByteSize>,
    /// A block device instead of a file. It is erased, and the command line must say so too, by `--yes-erase`.
    #[key(absent = "a file", no_flag)]
    pub device: Option<FilePath>,
}
