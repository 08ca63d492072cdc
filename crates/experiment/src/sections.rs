//! The sections of an experiment file, each with the defaults of its keys.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use kvdyno_dataset::KeyFormat;
use kvdyno_engine::{Compression, Durability, OptionText};
use kvdyno_results::ClientKind;
use kvdyno_worker::Distribution;
use kvdyno_worker::workloads::{Spelling, Verify, WorkloadName};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::units::{Bytes, Span, WriteRate};

fn is_plain(spelling: &Spanned<Spelling>) -> bool {
    *spelling.get_ref() == Spelling::Plain
}

/// `[data]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataSection {
    /// How many records.
    pub records: Spanned<u64>,
    /// Bytes of a key, from 8; absent: 16, or of the 3n+1 workload what its numbers take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_size: Option<Spanned<u64>>,
    /// `hex`, `decimal` or `binary`.
    pub key_format: KeyFormat,
    /// How the 3n+1 workload writes its numbers: `plain`, in `key_format`, or `enhanced`, by the names of their digits.
    #[serde(skip_serializing_if = "is_plain")]
    pub spelling: Spanned<Spelling>,
    /// The leading bytes of a key that engines are told to be its prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix_size: Option<Spanned<u64>>,
    /// How many keys have a prefix in common; absent: as many as a key that is one number gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys_per_prefix: Option<Spanned<u64>>,
    /// Bytes of a value, from 0; absent: 100, or of the 3n+1 workload what its numbers take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_size: Option<Spanned<u64>>,
    /// The part of a value that a compressor can take away, 0 to 1.
    pub compressibility: Spanned<f64>,
}

/// `[settings]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SettingsSection {
    /// When a write is acknowledged: `none`, `process`, `interval` or `commit`.
    pub durability: Durability,
    /// Between syncs at `interval`.
    pub sync_period: Span,
    /// What an engine may cache of its data in memory of its own.
    pub cache: Bytes,
    /// New writes that it may gather before it writes them out.
    pub write_buffer: Bytes,
    /// Of stored blocks: `none`, `snappy`, `lz4`, `zstd`, `zlib`.
    pub compression: Compression,
    /// `full`: every byte of every value read is checked. `off`: hits and misses only.
    pub verify: Verify,
}

/// `[load]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LoadSection {
    /// `fillseq`, `fillrandom` or `3n1`.
    pub workload: Spanned<WorkloadName>,
    /// Records in each write, 1 for single puts; absent: 1000, or 1 for `3n1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<Spanned<u64>>,
    /// Every write is synced before it is acknowledged, whatever `durability` says.
    pub sync: bool,
    /// When a write of the load is acknowledged; absent: as `[settings]` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<Spanned<Durability>>,
    /// Threads or processes that load.
    pub writers: Spanned<u32>,
    /// `threads` of one process, or `processes` of their own.
    pub clients: Spanned<ClientKind>,
}

/// `[[run]]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunSection {
    /// Anything but a load: see `kvdyno workloads`.
    pub workload: Spanned<WorkloadName>,
    /// Numbers of threads that the workload is about, a trial each: readers, or for `overwrite` writers.
    pub readers: Spanned<Vec<u32>>,
    /// Whether readers and writers are `threads` of one process, or `processes` of their own.
    pub clients: Spanned<ClientKind>,
    /// Of the measured part; absent: 10 s, or until `operations` are done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Spanned<Span>>,
    /// Instead of `duration`: operations of each such thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// Instead of either: operations of all such threads together, as a part of the number of records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Spanned<f64>>,
    /// Before the measured part.
    pub warmup: Span,
    /// Records in each write.
    pub batch: Spanned<u64>,
    /// Reads in one read-only transaction (`readrandom`).
    pub reads_per_transaction: Spanned<u64>,
    /// Of ranges: steps after each seek; absent: 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seek_nexts: Option<Spanned<u64>>,
    /// Ranges begin at one of the first so many records; absent: at any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seek_within: Option<Spanned<u64>>,
    /// Records in each call of `multireadrandom`; absent: 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys_per_multiget: Option<Spanned<u64>>,
    /// How likely each record is to come next, where records are drawn at random; absent: `uniform`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distribution: Option<Spanned<Distribution>>,
    /// The most written a second, by all writers: records, or bytes of keys and values; absent: as much as the engine
    /// takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_rate: Option<Spanned<WriteRate>>,
}

/// What a run measures for unless it says otherwise.
pub const DURATION: Duration = Duration::from_secs(10);
/// Of the records, what `overwritesome` updates unless it says otherwise.
const PART: f64 = 0.1;

impl RunSection {
    /// Operations of all threads that it is about, as a part of the number of records; absent if it ends otherwise.
    pub fn ends_after_part(&self) -> Option<f64> {
        let otherwise = self.operations.is_some() || self.duration.is_some();
        let usual = (self.workload.get_ref().ends_by_part() && !otherwise).then_some(PART);
        self.part.as_ref().map(|part| *part.get_ref()).or(usual)
    }
}

/// `[lab]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LabSection {
    /// How often everything is done, each time on new databases.
    pub repeat: Spanned<u32>,
    /// What all random streams are made from.
    pub seed: u64,
    /// `turns`: engines take turns, all databases are there at once. `engine`: one engine after the other.
    pub order: Order,
    /// Where databases go; absent: into the results folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<PathBuf>,
    /// Databases stay after the last trial.
    pub keep: bool,
    /// What is done about an engine that is not here, or cannot do what is requested.
    pub missing: Missing,
    /// A worker in which nothing happens for so long is ended.
    pub hang_timeout: Span,
    /// The same while it opens or closes a database, where compaction may take its time.
    pub close_timeout: Span,
    /// A trial that takes longer is ended, and has failed; absent: it takes what it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest: Option<Span>,
    /// A trial ends when the storage has less left than this.
    pub min_free: Bytes,
}

/// What is done about an engine that is not here, or cannot do what is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// The experiment is refused.
    Refuse,
    /// It is left out, and the report says so.
    Skip,
}

/// The order of trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Engines take turns.
    Turns,
    /// One engine after the other; its database is removed before the next one's is made.
    Engine,
}

/// `[engine.NAME]`
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct EngineSection {
    /// The engine; absent: NAME itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is: Option<Spanned<String>>,
    /// The library to load instead of the system's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub library: Option<PathBuf>,
    /// The engine's own options.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, Spanned<toml::Value>>,
}

/// Wraps a value that stands nowhere in a file.
pub fn unplaced<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}

impl Default for DataSection {
    fn default() -> Self {
        DataSection {
            records: unplaced(1_000_000),
            key_size: None,
            key_format: KeyFormat::Hex,
            spelling: unplaced(Spelling::Plain),
            prefix_size: None,
            keys_per_prefix: None,
            value_size: None,
            compressibility: unplaced(0.5),
        }
    }
}

impl Default for SettingsSection {
    fn default() -> Self {
        SettingsSection {
            durability: Durability::Process,
            sync_period: Span(Duration::from_secs(1)),
            cache: Bytes(512 << 20),
            write_buffer: Bytes(64 << 20),
            compression: Compression::None,
            verify: Verify::Full,
        }
    }
}

impl Default for LoadSection {
    fn default() -> Self {
        LoadSection {
            workload: unplaced(WorkloadName::default_load()),
            batch: None,
            sync: false,
            durability: None,
            writers: unplaced(1),
            clients: unplaced(ClientKind::Threads),
        }
    }
}

impl Default for RunSection {
    fn default() -> Self {
        RunSection {
            workload: unplaced(WorkloadName::default_run()),
            readers: unplaced(vec![1, 2, 4]),
            clients: unplaced(ClientKind::Threads),
            duration: None,
            operations: None,
            part: None,
            warmup: Span(Duration::from_secs(1)),
            batch: unplaced(1),
            reads_per_transaction: unplaced(1),
            seek_nexts: None,
            seek_within: None,
            keys_per_multiget: None,
            distribution: None,
            write_rate: None,
        }
    }
}

impl Default for LabSection {
    fn default() -> Self {
        LabSection {
            repeat: unplaced(1),
            seed: 1,
            order: Order::Turns,
            dir: None,
            keep: false,
            missing: Missing::Refuse,
            hang_timeout: Span(Duration::from_secs(60)),
            close_timeout: Span(Duration::from_secs(1800)),
            longest: None,
            min_free: Bytes(256 << 20),
        }
    }
}

impl EngineSection {
    /// The options as texts, with where each stands.
    pub fn option_texts(&self) -> Vec<(OptionText, Range<usize>)> {
        let text = |value: &toml::Value| match value {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.options.iter().map(|(name, value)| ((name.clone(), text(value.get_ref())), value.span())).collect()
    }
}
