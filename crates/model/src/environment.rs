//! The environment that an experiment requests: the keys of `[environment]`, not yet compared with any machine.

use serde::{Deserialize, Serialize};

use crate::{
    Allocator, ByteSize, CacheState, Cpus, FilePath, HugePages, IndexList, Keys, NumaPolicy, Smt, StorageKind,
};

/// The environment of the trials. For an absent key, trials inherit kvdyno's own setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "environment", key = EnvironmentKey)]
pub struct EnvironmentSection {
    /// CPUs of a trial: a number of CPUs, or a list such as `0-3,8`; CPU 5 alone is `5-5`.
    #[key(absent = "all that kvdyno may use")]
    pub cpus: Option<Cpus>,
    /// Hyperthreads: `off` uses one hardware thread of each core, `on` all of them.
    #[key(absent = "as `cpus` selects them")]
    pub smt: Option<Smt>,
    /// NUMA policy of memory: `local`, `interleave`, `interleave:NODES`, `bind:NODES` or `preferred:NODE`.
    #[key(absent = "inherited from kvdyno")]
    pub numa: Option<NumaPolicy>,
    /// NUMA nodes whose CPUs a trial may use, such as `0,2`.
    #[key(absent = "all nodes")]
    pub numa_cpus: Option<IndexList>,
    /// Memory limit of a trial, page cache included.
    #[key(absent = "no limit")]
    pub memory: Option<ByteSize>,
    /// Transparent huge pages of a worker's memory, at most as the machine's setting allows.
    #[key(absent = "inherited from kvdyno")]
    pub huge_pages: Option<HugePages>,
    /// Allocator behind `malloc`: `libc`, `jemalloc`, `tcmalloc`, `mimalloc`, or the path of a library.
    #[key(absent = "inherited from kvdyno")]
    pub allocator: Option<Allocator>,
    /// State of the page cache, and of the engine's cache, when a run begins.
    #[key(default = CacheState::Warm)]
    pub cache_state: CacheState,
    /// Storage of a database; all but a folder is created anew before each load.
    #[key(default = StorageKind::Folder)]
    pub storage: StorageKind,
    /// Size of the file that holds a storage other than a folder.
    #[key(absent = "3 times the keys and values + `min_free` + 256 MiB")]
    pub storage_size: Option<ByteSize>,
    /// Block device instead of a file. kvdyno erases it, if the command line confirms that by `--yes-erase`.
    #[key(absent = "a file", no_flag)]
    pub device: Option<FilePath>,
}
