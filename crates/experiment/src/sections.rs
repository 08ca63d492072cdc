//! The sections of an experiment file. Each key is declared here, once: its name, its type with unit and bounds, its
//! default and what it is. `[environment]` is declared by [`kvdyno_model::EnvironmentSection`].

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::time::Duration;

use kvdyno_dataset::KeyFormat;
use kvdyno_model::{
    Arrival, Audit, ByteSize, ClientKind, Compression, Count, DatabaseOrigin, Design, Distribution, Durability,
    FilePath, Fraction, IsolationLevel, Json, KeyPath, KeyStep, KeyValue, Keys, LeaveOut, Length, List, MissingEngines,
    Multiple, OperationMix, OptionText, Order, PositiveFraction, Question, RangeCursors, RangeLengths, ReadRate,
    Repeat, Spelling, TimeSpan, VerdictFigure, Verify, WorkloadName, WriteRate,
};
use serde::{Deserialize, Serialize};

use crate::value_size::ValueSize;

/// A number of threads or processes.
pub type Clients = Count<1, 4096>;
/// Records in one call.
pub type BatchSize = Count<1, 1_000_000>;

/// The records.
#[derive(Clone, Debug, Deserialize, Serialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "data", key = DataKey)]
pub struct DataSection {
    /// Records in each database.
    #[key(default = Count(1_000_000))]
    pub records: Count<1, { 1 << 48 }>,
    /// Size of a key.
    #[key(absent = "16; for `3n1` what its numbers take")]
    pub key_size: Option<Length<8, 65_535>>,
    /// Spelling of a record's number as a key.
    #[key(default = KeyFormat::Hex)]
    pub key_format: KeyFormat,
    /// Spelling of the numbers of `3n1`: `plain`, as `key_format` says, or `enhanced`, by the names of their digits.
    #[key(default = Spelling::Plain)]
    pub spelling: Spelling,
    /// Leading bytes of a key that engines are told to be its prefix.
    #[key(absent = "none")]
    pub prefix_size: Option<Length<1, 65_535>>,
    /// Records whose keys share a prefix; needs `prefix_size`.
    #[key(absent = "as a key that is one number gives")]
    pub keys_per_prefix: Option<Count<1, { 1 << 48 }>>,
    /// Size of a value, or the distribution of sizes, drawn by record and version, then at least 24 bytes.
    #[key(absent = "100; for `3n1` what its numbers take")]
    pub value_size: Option<ValueSize>,
    /// Fraction of a value that a compressor can save.
    #[key(default = Fraction(0.5))]
    pub compressibility: Fraction,
}

/// Settings that are the same for every engine; each adapter maps them to the engine's words or refuses them.
#[derive(Clone, Debug, Deserialize, Serialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "settings", key = SettingsKey)]
pub struct SettingsSection {
    /// When a write is acknowledged.
    #[key(default = Durability::default())]
    pub durability: Durability,
    /// Time between two syncs at durability `periodic`.
    #[key(default = TimeSpan::seconds(1))]
    pub sync_period: TimeSpan<1>,
    /// The most that an engine may cache of its data in memory of its own.
    #[key(default = ByteSize::mib(512))]
    pub cache: ByteSize,
    /// New writes that it may gather before it writes them out.
    #[key(default = ByteSize::mib(64))]
    pub write_buffer: ByteSize,
    /// Compression of stored blocks.
    #[key(default = Compression::default())]
    pub compression: Compression,
    /// Verification of values that are read.
    #[key(default = Verify::default())]
    pub verify: Verify,
}

/// Loading of the databases.
#[derive(Clone, Debug, Deserialize, Serialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "load", key = LoadKey)]
pub struct LoadSection {
    /// The workload that fills them: `fillseq` in key order, `fillrandom` in a random order, or `3n1`.
    #[key(default = WorkloadName::FillSeq, flag = "load")]
    pub workload: WorkloadName,
    /// Records in each write; 1 for single puts.
    #[key(absent = "1000; for `3n1` 1", flag = "load-batch")]
    pub batch: Option<BatchSize>,
    /// When a write of the load is acknowledged.
    #[key(absent = "as `settings.durability`", flag = "load-durability")]
    pub durability: Option<Durability>,
    /// Threads or processes that load, each a part of the order of its own.
    #[key(default = Count(1), flag = "load-writers")]
    pub writers: Clients,
    /// Whether the clients are threads or processes.
    #[key(default = ClientKind::Threads, flag = "load-clients")]
    pub clients: ClientKind,
}

/// The work on the loaded databases; sections run in this order, on the same databases.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "run", key = RunKey)]
pub struct RunSection {
    /// The workload: see `kvdyno workloads`.
    #[key(default = WorkloadName::ReadWhileWriting)]
    pub workload: WorkloadName,
    /// Numbers of client threads, a trial each: readers, or for `overwrite` and similar workloads writers.
    #[key(default = List(vec![Count(1), Count(2), Count(4)]))]
    pub readers: List<Clients, 1>,
    /// Whether readers and writers are threads or processes.
    #[key(default = ClientKind::Threads)]
    pub clients: ClientKind,
    /// Duration of the measured part. Its flag does not apply to `overwritesome`, which ends by its number of updates.
    #[key(absent = "10s, where nothing else ends the run")]
    pub duration: Option<TimeSpan<1>>,
    /// Operations of each such thread, instead of `duration`.
    #[key(absent = "as many as fit")]
    pub operations: Option<Count<1, { i64::MAX as u64 }>>,
    /// Operations of all such threads together, as a fraction of the number of records, instead of either.
    #[key(absent = "as many as fit; for `overwritesome` 0.1")]
    pub records_fraction: Option<Multiple>,
    /// Duration of the warm-up: the same work before the measured part.
    #[key(default = TimeSpan::seconds(1))]
    pub warmup: TimeSpan,
    /// Records in each write; of a mix in each put and insert.
    #[key(default = Count(1))]
    pub batch: BatchSize,
    /// Gets in one read-only transaction (`readrandom`).
    #[key(default = Count(1))]
    pub reads_per_transaction: Count<1, 1_000_000>,
    /// The operations of `mix`, with their weights in percent.
    #[key(absent = "`mix` needs it; other workloads have their own")]
    pub mix: Option<OperationMix>,
    /// Steps of the cursor after each seek of a range.
    #[key(absent = "10; for `ycsb-e` 99")]
    pub seek_nexts: Option<Count<1, 1_000_000>>,
    /// Lengths of the ranges of a mix.
    #[key(absent = "fixed; for `ycsb-e` uniform")]
    pub range_lengths: Option<RangeLengths>,
    /// Limits given to the cursors of the ranges of a mix.
    #[key(default = RangeCursors::Plain)]
    pub range_cursors: RangeCursors,
    /// Ranges begin within this number of records, counted from the first.
    #[key(absent = "at any")]
    pub seek_within: Option<Count<1, { 1 << 48 }>>,
    /// Records in each call of `multireadrandom`, and in each get of a mix.
    #[key(absent = "10; for mixes 1")]
    pub keys_per_multiget: Option<Count<1, 100_000>>,
    /// Distribution of the records that are accessed, if they are drawn at random.
    #[key(absent = "uniform; for `ycsb-d` latest, for its like zipf")]
    pub distribution: Option<Distribution>,
    /// Highest write rate of all writers together: records a second, or bytes of keys and values such as `2MiB/s`.
    #[key(absent = "as much as the engine takes")]
    pub write_rate: Option<WriteRate>,
    /// Operations a second of all readers together, whether the engine is ready or not.
    #[key(absent = "a closed loop: each reader asks again when it was answered")]
    pub read_rate: Option<ReadRate>,
    /// Operations a second of all clients of a mix together, of all kinds, whether the engine is ready or not.
    #[key(absent = "a closed loop: each client goes on when it was answered")]
    pub rate: Option<ReadRate>,
    /// Arrival of operations that have a `rate`, a `read_rate` or a `write_rate`.
    #[key(absent = "fixed")]
    pub arrival: Option<Arrival>,
    /// Required isolation of transactions (`transfer`): engines that promise less are refused.
    #[key(absent = "as well as the engine does")]
    pub isolation: Option<IsolationLevel>,
    /// When a session acknowledges the writes of its client, for engines that can set it for each session.
    #[key(absent = "as `settings.durability`", flag = "run-durability")]
    pub durability: Option<Durability>,
    /// The roles of its clients, where these are not all alike.
    #[key(skip)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub role: Vec<RoleSection>,
}

/// Clients of a `mix` with operations of their own; the sections of a run work beside each other.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "run.role", key = RoleKey, no_flags)]
pub struct RoleSection {
    /// Its name in results: letters, digits, `_` and `-`.
    #[key(absent = "`role-` and its number")]
    pub name: Option<String>,
    /// Number of clients; the first role has as many as `readers` of the run.
    #[key(absent = "1")]
    pub clients: Option<Clients>,
    /// Their operations, with their weights in percent.
    #[key(absent = "each role needs it")]
    pub mix: Option<OperationMix>,
    /// Distribution of the records that are accessed.
    #[key(absent = "as the run has it")]
    pub distribution: Option<Distribution>,
    /// Records in each put and insert.
    #[key(absent = "as the run has it")]
    pub batch: Option<BatchSize>,
    /// Records in each get.
    #[key(absent = "as the run has it")]
    pub keys_per_multiget: Option<Count<1, 100_000>>,
    /// Steps of the cursor after each seek of a range.
    #[key(absent = "as the run has it")]
    pub seek_nexts: Option<Count<1, 1_000_000>>,
    /// Lengths of the ranges.
    #[key(absent = "as the run has it")]
    pub range_lengths: Option<RangeLengths>,
    /// Operations a second of all its clients together, whether the engine is ready or not.
    #[key(absent = "a closed loop: each client goes on when it was answered")]
    pub rate: Option<ReadRate>,
    /// Arrival of its operations, if it has a `rate`.
    #[key(absent = "as the run has it")]
    pub arrival: Option<Arrival>,
    /// When a session acknowledges the writes of its client.
    #[key(absent = "as the run has it")]
    pub durability: Option<Durability>,
}

impl RoleSection {
    /// Its name, if it is the `index`th of its run, counted from 0.
    pub fn name(&self, index: usize) -> String {
        self.name.clone().unwrap_or_else(|| format!("role-{}", index + 1))
    }
}

impl RoleKey {
    /// Its path in the `index`th role of a run.
    pub fn of_role(self, index: usize) -> KeyPath {
        role_path(index).then(KeyStep::Key(self.name().to_owned()))
    }
}

/// The `index`th role of a run.
pub fn role_path(index: usize) -> KeyPath {
    KeyPath::new("run", "role").then(KeyStep::Index(index))
}

/// Execution settings.
#[derive(Clone, Debug, Deserialize, Serialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "lab", key = LabKey)]
pub struct LabSection {
    /// Number of repeats, each on new databases; `"auto"`: until the comparisons are decided.
    #[key(default = Repeat::times(1))]
    pub repeat: Repeat,
    /// Smallest difference that matters, as a fraction; setups that differ by less are the same.
    #[key(default = Fraction(0.03))]
    pub detect: Fraction,
    /// `repeat = "auto"` also ends when half of each cell's interval is at most this fraction of its value.
    #[key(absent = "comparisons alone decide")]
    pub precision: Option<PositiveFraction>,
    /// Question that `repeat = "auto"` answers.
    #[key(default = Question::Ranking)]
    pub question: Question,
    /// Figure whose differences end `repeat = "auto"`, and decide the exit code of `kvdyno diff`.
    #[key(default = VerdictFigure::Throughput)]
    pub figure: VerdictFigure,
    /// Time limit of the whole command with `repeat = "auto"`: no work begins that would end later. The first repeat is
    /// done in any case.
    #[key(absent = "as long as it takes")]
    pub budget: Option<TimeSpan<1>>,
    /// Seed of all random streams and all values.
    #[key(default = Count(1))]
    pub seed: Count<0, { i64::MAX as u64 }>,
    /// Order of trials: whether engines take turns.
    #[key(default = Order::Interleaved)]
    pub order: Order,
    /// Design of the comparison of set-ups in a run.
    #[key(default = Design::Auto)]
    pub design: Design,
    /// Origin of the database of each run.
    #[key(default = DatabaseOrigin::Kept)]
    pub database: DatabaseOrigin,
    /// Folder of the databases, on the storage to be measured.
    #[key(absent = "into the results folder")]
    pub dir: Option<FilePath>,
    /// Databases stay after their last trial.
    #[key(default = false)]
    pub keep: bool,
    /// A load ends with a flush and the engine's background work, which are timed separately.
    #[key(default = false)]
    pub settle: bool,
    /// Handling of an engine that is missing or cannot do what is requested.
    #[key(default = MissingEngines::Refuse)]
    pub missing_engines: MissingEngines,
    /// Records that a trial wrote and that are read back: by a fresh session at its end, and by a fresh process after
    /// the last trial on the database.
    #[key(default = Audit::Sample)]
    pub audit: Audit,
    /// A worker in which no operation ends for this time is killed.
    #[key(default = TimeSpan::seconds(60))]
    pub hang_timeout: TimeSpan<1>,
    /// The same limit while it opens or closes a database, which may include compaction.
    #[key(default = TimeSpan::seconds(1800))]
    pub close_timeout: TimeSpan<1>,
    /// A trial that takes longer is killed and fails as `too-slow`.
    #[key(absent = "it takes what it takes; `--fit --budget` sets a tenth of the budget")]
    pub trial_timeout: Option<TimeSpan<1>>,
    /// A trial ends when the storage has less free space than this.
    #[key(default = ByteSize::mib(256))]
    pub min_free: ByteSize,
}

/// A set-up of its own, by the name that `engines` has.
#[derive(Clone, Debug, Deserialize, Serialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "engine.NAME", key = EngineKey, no_flags)]
pub struct EngineSection {
    /// The engine, preset or adapter that it is.
    #[key(absent = "NAME")]
    pub engine: Option<String>,
    /// The engine's library to load instead of the system's.
    #[key(absent = "the system's")]
    pub library: Option<FilePath>,
    /// The engine's own options, over those of a preset: see `kvdyno engines NAME`.
    #[key(default = EngineOptions::default())]
    #[serde(skip_serializing_if = "EngineOptions::is_empty")]
    pub options: EngineOptions,
}

/// The machine that the experiment was made for: see `kvdyno run --fit`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "fit", key = FitKey, no_flags)]
pub struct FitSection {
    /// Its memory.
    #[key(absent = "memory does not matter")]
    pub memory: Option<ByteSize>,
    /// Its cores, if numbers of threads are to follow those of cores.
    #[key(absent = "numbers of threads stay")]
    pub cores: Option<Count<1, 1_000_000>>,
    /// Things to leave out if the budget is too small, in this order.
    #[key(default = List::default())]
    pub leave_out: List<LeaveOut>,
}

/// An engine's own options, by their names.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct EngineOptions(pub BTreeMap<String, toml::Value>);

impl EngineOptions {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The options as texts.
    pub fn texts(&self) -> Vec<OptionText> {
        let text = |value: &toml::Value| match value {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.0.iter().map(|(name, value)| (name.clone(), text(value))).collect()
    }
}

impl Deref for EngineOptions {
    type Target = BTreeMap<String, toml::Value>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl fmt::Display for EngineOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if self.is_empty() { "{}" } else { "{…}" })
    }
}

impl KeyValue for EngineOptions {
    const PLACEHOLDER: &'static str = "TABLE";

    fn describe() -> String {
        "a table".to_owned()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        Err(format!("`{text}` is not a table such as {{ block_size = \"8KiB\" }}"))
    }

    fn schema() -> Json {
        serde_json::json!({ "type": "object" })
    }
}

/// Length of the measured part, where nothing else ends a run.
pub const DURATION: Duration = Duration::from_secs(10);
impl RunSection {
    /// Whether any of its clients works at a rate.
    pub fn has_rate(&self) -> bool {
        let rates = self.read_rate.is_some() || self.write_rate.is_some() || self.rate.is_some();
        rates || self.role.iter().any(|role| role.rate.is_some())
    }
}
