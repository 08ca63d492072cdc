//! Settings that are the same for every engine in a comparison.

use kvdyno_abi as abi;
use serde::{Deserialize, Serialize};

pub use kvdyno_model::{Compression, Durability, EngineSettings};

/// A word of the lab that has a number in the ABI.
pub trait AbiCode {
    /// Its number in the ABI.
    fn code(self) -> u32;
}

impl AbiCode for Durability {
    fn code(self) -> u32 {
        match self {
            Durability::None => abi::DURABILITY_NONE,
            Durability::Process => abi::DURABILITY_PROCESS,
            Durability::Periodic => abi::DURABILITY_PERIODIC,
            Durability::Commit => abi::DURABILITY_COMMIT,
        }
    }
}

impl AbiCode for Compression {
    fn code(self) -> u32 {
        match self {
            Compression::None => abi::COMPRESSION_NONE,
            Compression::Snappy => abi::COMPRESSION_SNAPPY,
            Compression::Lz4 => abi::COMPRESSION_LZ4,
            Compression::Zstd => abi::COMPRESSION_ZSTD,
            Compression::Zlib => abi::COMPRESSION_ZLIB,
        }
    }
}

/// Hints that an engine may want beforehand; it changes no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hints {
    /// Records there will be.
    pub records: u64,
    /// Bytes of a key.
    pub key_size: u64,
    /// Bytes of a value, in the mean.
    pub value_size: u64,
    /// Bytes of the largest value.
    pub largest_value: u64,
    /// Leading bytes of a key that a group of keys has in common; 0: no such groups.
    pub prefix_size: u64,
    /// The most sessions open at once in one process.
    pub sessions: u32,
    /// Processes that will have the database open at once.
    pub processes: u32,
    /// Levels of durability that sessions will ask for what they write; bit N: level N. No hint, but a request.
    #[serde(default)]
    pub session_durabilities: u32,
}
