//! What an experiment asks of the environment: words and numbers, held against no machine yet.
//!
//! A part that is not requested for stays as it is where kvdyno was started.

mod numbers;
mod words;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use numbers::{Cpus, Numbers};
pub use words::{Allocator, CacheState, NamedAllocator, NumaPolicy, Smt, Storage};

/// The whole of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requested {
    /// On which processors the worker may run.
    pub cpus: Option<Cpus>,
    /// Whether it may use more than one hardware thread of a core.
    pub smt: Option<Smt>,
    /// Where its memory comes from.
    pub numa: Option<NumaPolicy>,
    /// Only on processors of these nodes.
    pub numa_cpus: Option<Numbers>,
    /// The most memory that it may have, page cache included, bytes.
    pub memory: Option<u64>,
    /// What gives it memory for `malloc`.
    pub allocator: Option<Allocator>,
    /// What of the database is in the page cache when a run begins.
    pub cache_state: CacheState,
    /// What the database lies on.
    pub storage: Storage,
    /// Bytes of the file below a filesystem that is made for the experiment; absent: as the data needs.
    pub storage_size: Option<u64>,
    /// The block device instead of a file. It is erased.
    pub device: Option<PathBuf>,
}

/// Something that was requested for and cannot be had on this machine, or with this user's rights.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The key of the experiment file that asks for it.
    pub key: &'static str,
    /// What cannot be, why, and what would be right.
    pub message: String,
}

impl Refusal {
    /// A refusal of what `key` asks for.
    pub fn new(key: &'static str, message: impl Into<String>) -> Refusal {
        Refusal { key, message: message.into() }
    }
}
