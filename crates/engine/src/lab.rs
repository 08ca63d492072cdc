//! Settings that are the same for every engine in a comparison.

use std::fmt;
use std::str::FromStr;

use kvdyno_abi as abi;
use serde::{Deserialize, Serialize};

/// When a write is acknowledged: one scale for all engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// At once: nothing need reach the OS before close.
    None,
    /// When it would survive the death of the process.
    Process,
    /// As `Process`, and synced in the background.
    Periodic,
    /// When it would survive a loss of power.
    Commit,
}

/// How blocks are compressed on the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Compression {
    None,
    Snappy,
    Lz4,
    Zstd,
    Zlib,
}

/// A word that is none of the words that can stand there.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not {what}; it can be {}", words.join(", "))]
pub struct WordError {
    word: String,
    what: &'static str,
    words: Vec<&'static str>,
}

macro_rules! words {
    ($type:ident, $what:literal, $($variant:ident = $word:literal = $code:expr),+) => {
        impl $type {
            /// Every level, weakest first.
            pub const ALL: &[$type] = &[$($type::$variant),+];

            /// Its number in the ABI.
            pub fn code(self) -> u32 {
                match self { $($type::$variant => $code),+ }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $($type::$variant => $word),+ })
            }
        }

        impl FromStr for $type {
            type Err = WordError;
            fn from_str(word: &str) -> Result<Self, WordError> {
                match word {
                    $($word => Ok($type::$variant),)+
                    _ => Err(WordError { word: word.to_owned(), what: $what, words: vec![$($word),+] }),
                }
            }
        }
    };
}

words!(
    Durability,
    "a durability level",
    None = "none" = abi::DURABILITY_NONE,
    Process = "process" = abi::DURABILITY_PROCESS,
    Periodic = "periodic" = abi::DURABILITY_PERIODIC,
    Commit = "commit" = abi::DURABILITY_COMMIT
);

words!(
    Compression,
    "a compression",
    None = "none" = abi::COMPRESSION_NONE,
    Snappy = "snappy" = abi::COMPRESSION_SNAPPY,
    Lz4 = "lz4" = abi::COMPRESSION_LZ4,
    Zstd = "zstd" = abi::COMPRESSION_ZSTD,
    Zlib = "zlib" = abi::COMPRESSION_ZLIB
);

/// The settings that every engine is opened with. An adapter maps each of these to the engine's words or refuses it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabSettings {
    /// When a write is acknowledged.
    pub durability: Durability,
    /// For [`Durability::Periodic`]: milliseconds between syncs.
    pub sync_period_ms: u32,
    /// Of stored blocks.
    pub compression: Compression,
    /// Bytes that the engine may cache of its data in its own memory.
    pub cache_bytes: u64,
    /// Bytes of new writes that it may gather before it writes them out.
    pub write_buffer_bytes: u64,
}

/// Hints that an engine may want beforehand; it changes no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hints {
    /// Records there will be.
    pub records: u64,
    /// Bytes of a key.
    pub key_size: u64,
    /// Bytes of a value.
    pub value_size: u64,
    /// Leading bytes of a key that a group of keys has in common; 0: no such groups.
    pub prefix_size: u64,
    /// The most sessions open at once in one process.
    pub sessions: u32,
    /// Processes that will have the database open at once.
    pub processes: u32,
}
