//! `[environment]`: what surrounds the trials, as the experiment file says it.

use std::ops::Range;
use std::path::PathBuf;

use kvdyno_environment::requested::{
    Allocator, CacheState, Cpus, NumaPolicy, Numbers, Refusal, Requested, Smt, Storage,
};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::file_error::FileError;
use crate::units::Bytes;

/// `[environment]`. What it does not say stays as it is where kvdyno is started.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct EnvironmentSection {
    /// Processors that the clients may run on: how many, or a list such as `"0-3,8"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Spanned<Cpus>>,
    /// `off`: one hardware thread of each core. `on`: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smt: Option<Spanned<Smt>>,
    /// Where memory comes from: `local`, `interleave`, `interleave:0-3`, `bind:0`, `preferred:1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numa: Option<Spanned<NumaPolicy>>,
    /// Only processors of these NUMA nodes: `"0,2"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numa_cpus: Option<Spanned<Numbers>>,
    /// The most memory that a trial may have, page cache included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Spanned<Bytes>>,
    /// `libc`, `jemalloc`, `tcmalloc`, `mimalloc`, or a library's path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocator: Option<Spanned<Allocator>>,
    /// What of the database is in the page cache when a run begins: `warm` or `dropped`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_state: Option<Spanned<CacheState>>,
    /// `folder`, a filesystem that is made anew before each load (`ext4`, `ext4-nojournal`, `xfs`, `btrfs`), or `raw`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<Spanned<Storage>>,
    /// The size of the file below such a filesystem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_size: Option<Spanned<Bytes>>,
    /// The block device instead of a file. It is erased, if the command line confirms it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Spanned<PathBuf>>,
    /// The device that the command line gave up. No file can.
    #[serde(skip)]
    pub yes_erase: Option<PathBuf>,
}

fn value<T: Clone>(key: &Option<Spanned<T>>) -> Option<T> {
    key.as_ref().map(|value| value.get_ref().clone())
}

fn span<T>(key: &Option<Spanned<T>>) -> Range<usize> {
    key.as_ref().map_or(0..0, Spanned::span)
}

impl EnvironmentSection {
    /// What it asks for.
    pub fn requested(&self) -> Requested {
        Requested {
            cpus: value(&self.cpus),
            smt: value(&self.smt),
            numa: value(&self.numa),
            numa_cpus: value(&self.numa_cpus),
            memory: value(&self.memory).map(|size| size.0),
            allocator: value(&self.allocator),
            cache_state: value(&self.cache_state).unwrap_or_default(),
            storage: value(&self.storage).unwrap_or_default(),
            storage_size: value(&self.storage_size).map(|size| size.0),
            device: value(&self.device),
        }
    }

    /// Where a key stands in the file.
    fn place(&self, key: &str) -> Range<usize> {
        match key {
            "cpus" => span(&self.cpus),
            "smt" => span(&self.smt),
            "numa" => span(&self.numa),
            "numa_cpus" => span(&self.numa_cpus),
            "memory" => span(&self.memory),
            "allocator" => span(&self.allocator),
            "cache_state" => span(&self.cache_state),
            "storage" => span(&self.storage),
            "storage_size" => span(&self.storage_size),
            "device" => span(&self.device),
            _ => 0..0,
        }
    }

    /// The error that a refusal is in the file.
    pub fn refused(&self, refusal: &Refusal) -> FileError {
        FileError::new(format!("environment.{}: {}", refusal.key, refusal.message), self.place(refusal.key))
    }
}
