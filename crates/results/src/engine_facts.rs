//! The engine of a trial: its identity, its settings, its own counts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An entry that an engine reports of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// For settings the lab's word (`durability`, `cache`, …), for statistics a group.
    pub topic: String,
    /// The engine's own word.
    pub name: String,
    /// The value, as the engine reports it.
    pub value: String,
}

/// The engine under test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EngineFacts {
    /// The adapter's name for it: `rocksdb`.
    pub name: String,
    /// The version that its library reported.
    pub version: String,
    /// The library that the user chose; absent for the system's.
    pub library: Option<String>,
    /// The adapter's file.
    pub adapter: String,
    /// The file that has the engine's code; absent if no database was opened, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<EngineFile>,
    /// Settings that the adapter made, in the engine's words.
    pub settings: Vec<Setting>,
    /// Its pages in memory are the database's file (LMDB), so that process size includes database size.
    pub mapped: bool,
}

/// The engine of a setup: what two versions, builds or settings of one engine have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineIdentity {
    /// The adapter's name for it.
    pub name: String,
    /// The preset, which may be an engine of its own: `wiredtiger:lsm`.
    pub preset: Option<String>,
}

/// The file that has an engine's code: its library, or the adapter if that carries the engine itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineFile {
    /// Without links.
    pub path: String,
    /// SHA-256, hexadecimal; absent if it could not be read.
    pub sha256: Option<String>,
    /// Absent where neither `kvdyno engines install` nor dpkg knows the file.
    pub package: Option<EnginePackage>,
}

/// A package that a file came with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnginePackage {
    /// Its name: `liblmdb0`.
    pub name: String,
    /// Its version: `0.9.24-1`.
    pub version: String,
    /// `dpkg`, or of an engine that kvdyno installed the package client, its package and version.
    pub source: String,
}

impl fmt::Display for EnginePackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.name, self.version, self.source)
    }
}

/// An engine's counts of its own work between two moments. Counts that the engine does not have are absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EngineCounters {
    /// Bytes of new data that it wrote from its memory to the database's files, without logs.
    pub flushed_bytes: Option<u64>,
    /// Bytes that it wrote anew to bring data that was in files into another form.
    pub compacted_bytes: Option<u64>,
    /// Seconds that it held writers back, all together, because background work was behind.
    pub stalled_s: Option<f64>,
}
