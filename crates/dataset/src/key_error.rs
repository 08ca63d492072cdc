//! Keys that cannot be made.

use crate::key_format::KeyFormat;

/// Keys that cannot be made.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Too short.
    #[error("keys of {0} bytes are too short; a key has 8 to 65535 bytes")]
    Size(u64),
    /// There are not enough keys.
    #[error(
        "{records} records do not fit into {format} keys of {size} bytes, of which there are {capacity}; use longer \
         keys, or another format"
    )]
    Capacity {
        /// Records wanted.
        records: u64,
        /// The format.
        format: KeyFormat,
        /// Bytes of a key.
        size: u64,
        /// Keys there are.
        capacity: u64,
    },
    /// A prefix without a byte, or longer than the key.
    #[error("a prefix of {prefix} bytes; keys of {size} bytes have prefixes of 1 to {size}")]
    PrefixSize {
        /// Bytes of the prefix.
        prefix: u64,
        /// Bytes of a key.
        size: u64,
    },
    /// Keys are to share what is not said.
    #[error("keys_per_prefix needs prefix_size, the bytes that so many keys share")]
    NoPrefix,
    /// A prefix that nobody has.
    #[error("keys_per_prefix is 0; it must be at least 1")]
    NoKeys,
    /// There are not enough prefixes.
    #[error(
        "{prefixes} prefixes, one for each {keys} of {records} records, do not fit into {size} bytes of {format}, of \
          which there are {capacity}; use a longer prefix, more keys for each, or another format"
    )]
    Prefixes {
        /// Prefixes wanted.
        prefixes: u64,
        /// Keys of a prefix.
        keys: u64,
        /// Records.
        records: u64,
        /// Bytes of a prefix.
        size: u64,
        /// The format.
        format: KeyFormat,
        /// Prefixes there are.
        capacity: u64,
    },
    /// Too few bytes behind the prefix.
    #[error(
        "{keys} keys of a prefix cannot be told apart by the {size} bytes that follow it, which give {capacity} in \
          {format}; use longer keys, a shorter prefix, fewer keys for each, or another format"
    )]
    Suffixes {
        /// Keys of a prefix.
        keys: u64,
        /// Bytes that follow the prefix.
        size: u64,
        /// The format.
        format: KeyFormat,
        /// Suffixes there are.
        capacity: u64,
    },
}
