//! The environment that an experiment requests, and why it may be refused.

pub use kvdyno_model::{
    Allocator, ByteSize, CacheState, Cpus, EnvironmentKey, EnvironmentSection, HugePages, IndexList, NamedAllocator,
    NumaPolicy, Smt, StorageKind,
};

/// Something that was requested and cannot be had on this machine, or with this user's rights.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The key of the experiment file that requests it.
    pub key: EnvironmentKey,
    /// The reason, and what would be right.
    pub message: String,
}

impl Refusal {
    /// A refusal of what `key` requests.
    pub fn new(key: EnvironmentKey, message: impl Into<String>) -> Refusal {
        Refusal { key, message: message.into() }
    }
}
