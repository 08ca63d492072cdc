//! `[stage]`: what surrounds the trials, as the experiment file says it and as this machine can give it.

use std::ops::Range;
use std::path::PathBuf;

use kvdyno_engine::LabSettings;
use kvdyno_stage::asked::{Allocator, Asked, CacheState, Cpus, NumaPolicy, Numbers, Refusal, Smt, Storage};
use kvdyno_stage::memory::{LEAST_LIMIT, MemoryControl};
use kvdyno_stage::surroundings::Surroundings;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::experiment::FileError;
use crate::units::Bytes;

/// `[stage]`. What it does not say stays as it is where kvdyno is started.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct StageSection {
    /// Processors that the workers may run on: how many, or a list such as `"0-3,8"`.
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

impl StageSection {
    /// What it asks for.
    pub fn asked(&self) -> Asked {
        Asked {
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
    pub(crate) fn refused(&self, refusal: &Refusal) -> FileError {
        FileError::new(format!("stage.{}: {}", refusal.key, refusal.message), self.place(refusal.key))
    }
}

/// The stage of a variant's trials, as this machine can give it: what it takes to set each part was found out, and
/// nothing is set yet.
#[derive(Clone, Debug)]
pub struct Stage {
    /// What was asked for.
    pub asked: Asked,
    /// CPUs, NUMA policy and allocator of the worker.
    pub surroundings: Surroundings,
    /// Where groups can be made that limit memory; absent if it is not limited.
    pub memory: Option<MemoryControl>,
}

impl Stage {
    /// Finds out whether this machine can give what `section` asks for, without changing anything.
    ///
    /// # Errors
    /// The first thing that it cannot, with what would be right.
    pub fn check(section: &StageSection) -> Result<Stage, FileError> {
        let asked = section.asked();
        Stage::of(asked).map_err(|refusal| section.refused(&refusal))
    }

    fn of(asked: Asked) -> Result<Stage, Refusal> {
        let surroundings = Surroundings::resolve(&asked)?;
        let memory = memory_control(asked.memory)?;
        Ok(Stage { asked, surroundings, memory })
    }
}

/// Where memory can be limited, if it is to be.
fn memory_control(limit: Option<u64>) -> Result<Option<MemoryControl>, Refusal> {
    if let Some(limit) = limit.filter(|limit| *limit < LEAST_LIMIT) {
        let (limit, least) = (Bytes(limit), Bytes(LEAST_LIMIT));
        return Err(Refusal::new("memory", format!("{limit} is too little for any engine; {least} is the least")));
    }
    limit.map(|_| MemoryControl::find()).transpose()
}

/// Refuses a limit that the engine's own cache and write buffer would exceed. An engine that maps its database has
/// neither: what it caches is the page cache, which the kernel keeps below the limit.
pub(crate) fn check_room(
    stage: &StageSection,
    settings: &LabSettings,
    label: &str,
    mapped: bool,
) -> Result<(), FileError> {
    let Some(limit) = value(&stage.memory).map(|limit| limit.0).filter(|_| !mapped) else { return Ok(()) };
    let needed = settings.cache_bytes.saturating_add(settings.write_buffer_bytes).saturating_add(LEAST_LIMIT);
    if limit >= needed {
        return Ok(());
    }
    let message = format!(
        "{} is too little for {label}: settings.cache = {}, settings.write_buffer = {} and {} for the rest need {}",
        Bytes(limit),
        Bytes(settings.cache_bytes),
        Bytes(settings.write_buffer_bytes),
        Bytes(LEAST_LIMIT),
        Bytes(needed)
    );
    Err(stage.refused(&Refusal::new("memory", message)))
}
