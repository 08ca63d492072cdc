//! The sections of an experiment file. Each key is declared here, once: its name, its type with unit and bounds, its
//! default and what it is. `[environment]` is declared by [`kvdyno_model::EnvironmentSection`].

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::time::Duration;

use kvdyno_dataset::KeyFormat;
use kvdyno_model::{
    Arrival, Audit, ByteSize, ClientKind, Compression, Count, DatabaseOrigin, Design, Distribution, Durability,
    FilePath, Fraction, IsolationLevel, Json, KeyPath, KeyStep, KeyValue, Keys, LatencyPromise, LeaveOut, Length, List,
    Loads, MissingEngines, Multiple, OperationMix, OptionText, Order, PositiveFraction, Question, RangeCursors,
    RangeLengths, ReadRate, Repeat, Spelling, TimeSpan, VerdictFigure, Verify, WorkloadName, WriteRate,
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
    #[key(absent = "16; for `3n1` the size of its numbers")]
    pub key_size: Option<Length<8, 65_535>>,
    /// Spelling of a record's number in its key.
    #[key(default = KeyFormat::Hex)]
    pub key_format: KeyFormat,
    /// Spelling of the numbers of `3n1`, in `key_format` or by the names of their digits.
    #[key(default = Spelling::Plain)]
    pub spelling: Spelling,
    /// Size of the key prefix; kvdyno passes this size to the engines.
    #[key(absent = "none")]
    pub prefix_size: Option<Length<1, 65_535>>,
    /// Records whose keys share one prefix; requires `prefix_size`.
    #[key(absent = "a key is one number")]
    pub keys_per_prefix: Option<Count<1, { 1 << 48 }>>,
    /// Size of a value; or a distribution, from which each version of a record draws a size of at least 24 bytes.
    #[key(absent = "100; for `3n1` the size of its numbers")]
    pub value_size: Option<ValueSize>,
    /// Fraction of a value's size that compression can save.
    #[key(default = Fraction(0.5))]
    pub compressibility: Fraction,
}

/// Settings of all engines; each adapter maps them to settings of its engine, or refuses them.
#[derive(Clone, Debug, Deserialize, Serialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "settings", key = SettingsKey)]
pub struct SettingsSection {
    /// Durability of acknowledged writes.
    #[key(default = Durability::default())]
    pub durability: Durability,
    /// Time between two syncs with durability `periodic`.
    #[key(default = TimeSpan::seconds(1))]
    pub sync_period: TimeSpan<1>,
    /// Size limit of the engine's own cache.
    #[key(default = ByteSize::mib(512))]
    pub cache: ByteSize,
    /// Size limit of the engine's buffer of new writes.
    #[key(default = ByteSize::mib(64))]
    pub write_buffer: ByteSize,
    /// Compression of stored blocks.
    #[key(default = Compression::default())]
    pub compression: Compression,
    /// Verification of the values that are read.
    #[key(default = Verify::default())]
    pub verify: Verify,
}

/// Loading of the databases.
#[derive(Clone, Debug, Deserialize, Serialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "load", key = LoadKey)]
pub struct LoadSection {
    /// Workload that fills the databases: `fillseq` in key order, `fillrandom` in random order, or `3n1`.
    #[key(default = WorkloadName::FillSeq, flag = "load")]
    pub workload: WorkloadName,
    /// Records in each write; 1 for single puts.
    #[key(absent = "1000; for `3n1` 1", flag = "load-batch")]
    pub batch: Option<BatchSize>,
    /// Durability of the load's acknowledged writes.
    #[key(absent = "as `settings.durability`", flag = "load-durability")]
    pub durability: Option<Durability>,
    /// Number of writers; each loads its own part of the records.
    #[key(default = Count(1), flag = "load-writers")]
    pub writers: Clients,
    /// Kind of the writers.
    #[key(default = ClientKind::Threads, flag = "load-clients")]
    pub clients: ClientKind,
}

/// Work on the loaded databases. The sections run in this order, on the same databases.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "run", key = RunKey)]
pub struct RunSection {
    /// Workload (see `kvdyno workloads`).
    #[key(default = WorkloadName::ReadWhileWriting)]
    pub workload: WorkloadName,
    /// Numbers of clients, with a trial for each number: readers, or writers for `overwrite` and similar workloads.
    #[key(default = List(vec![Count(1), Count(2), Count(4)]))]
    pub readers: List<Clients, 1>,
    /// Kind of the readers and writers.
    #[key(default = ClientKind::Threads)]
    pub clients: ClientKind,
    /// Duration of the measured part. The flag does not apply to `overwritesome`, which ends after its updates.
    #[key(absent = "10s if no other key ends the run")]
    pub duration: Option<TimeSpan<1>>,
    /// Number of operations of each of the clients that `readers` counts, instead of `duration`.
    #[key(absent = "no limit")]
    pub operations: Option<Count<1, { i64::MAX as u64 }>>,
    /// Number of operations of all these clients together, as a fraction of `records`, instead of `duration` or
    /// `operations`.
    #[key(absent = "no limit; for `overwritesome` 0.1")]
    pub records_fraction: Option<Multiple>,
    /// Duration of the warm-up: the same work before the measured part.
    #[key(default = TimeSpan::seconds(1))]
    pub warmup: TimeSpan,
    /// Records in each write; in a mix, in each put and insert.
    #[key(default = Count(1))]
    pub batch: BatchSize,
    /// Gets in one read-only transaction, for `readrandom`.
    #[key(default = Count(1))]
    pub reads_per_transaction: Count<1, 1_000_000>,
    /// Operations of the workload `mix`, with their weights in percent.
    #[key(absent = "required by `mix`; other workloads have their own")]
    pub mix: Option<OperationMix>,
    /// Cursor steps after the seek of each range.
    #[key(absent = "10; for `ycsb-e` 99")]
    pub seek_nexts: Option<Count<1, 1_000_000>>,
    /// Lengths of the ranges of a mix.
    #[key(absent = "fixed; for `ycsb-e` uniform")]
    pub range_lengths: Option<RangeLengths>,
    /// Limits that the engine gets for the cursor of each range of a mix, and whether it may omit values.
    #[key(default = RangeCursors::Plain)]
    pub range_cursors: RangeCursors,
    /// Number of first records, in key order, within which ranges begin.
    #[key(absent = "all")]
    pub seek_within: Option<Count<1, { 1 << 48 }>>,
    /// Records in each multi-get of `multireadrandom`, and in each get of a mix.
    #[key(absent = "10; for mixes 1")]
    pub keys_per_multiget: Option<Count<1, 100_000>>,
    /// Distribution of the accessed records, where the workload draws them.
    #[key(absent = "uniform; for `ycsb-d` latest, for other `ycsb` workloads zipf")]
    pub distribution: Option<Distribution>,
    /// Limit of the write rate of all writers together: records a second, or bytes of keys and values (`2MiB/s`).
    #[key(absent = "no limit")]
    pub write_rate: Option<WriteRate>,
    /// Operations a second of all readers together, on a schedule that does not wait for the engine.
    #[key(absent = "closed loop: a reader starts an operation when its last one ends")]
    pub read_rate: Option<ReadRate>,
    /// Operations a second of all kinds and clients of a mix, on a schedule that does not wait for the engine.
    #[key(absent = "closed loop: a client starts an operation when its last one ends")]
    pub rate: Option<ReadRate>,
    /// Highest rate that keeps this promise: the run searches for it, with the clients that `readers` counts.
    #[key(absent = "no search")]
    pub find_max_rate: Option<LatencyPromise>,
    /// Arrival of operations with a `rate`, `read_rate`, `write_rate` or `find_max_rate`.
    #[key(absent = "fixed")]
    pub arrival: Option<Arrival>,
    /// Required isolation of the transactions of `transfer` and of `transactional-update`; engines with a weaker
    /// isolation are refused.
    #[key(absent = "the engine's own")]
    pub isolation: Option<IsolationLevel>,
    /// Durability of the clients' acknowledged writes, for engines that set it for each session.
    #[key(absent = "as `settings.durability`", flag = "run-durability")]
    pub durability: Option<Durability>,
    /// The roles of its clients, where they differ.
    #[key(skip)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub role: Vec<RoleSection>,
}

/// Clients of a `mix` with operations of their own. Roles work at the same time, or within `from` and `until`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "run.role", key = RoleKey, no_flags)]
pub struct RoleSection {
    /// Name in results: letters, digits, `_` and `-`.
    #[key(absent = "`role-` and its number")]
    pub name: Option<String>,
    /// Number of clients. The first role has as many as the run's `readers`.
    #[key(absent = "1")]
    pub clients: Option<Clients>,
    /// Operations, with their weights in percent.
    #[key(absent = "required")]
    pub mix: Option<OperationMix>,
    /// Distribution of the accessed records.
    #[key(absent = "as the run")]
    pub distribution: Option<Distribution>,
    /// Records in each put and insert.
    #[key(absent = "as the run")]
    pub batch: Option<BatchSize>,
    /// Records in each get.
    #[key(absent = "as the run")]
    pub keys_per_multiget: Option<Count<1, 100_000>>,
    /// Cursor steps after the seek of each range.
    #[key(absent = "as the run")]
    pub seek_nexts: Option<Count<1, 1_000_000>>,
    /// Lengths of the ranges.
    #[key(absent = "as the run")]
    pub range_lengths: Option<RangeLengths>,
    /// Operations a second of all its clients together, on a schedule that does not wait for the engine.
    #[key(absent = "closed loop: a client starts an operation when its last one ends")]
    pub rate: Option<ReadRate>,
    /// Arrival of the operations, if the role has a `rate`.
    #[key(absent = "as the run")]
    pub arrival: Option<Arrival>,
    /// Durability of the clients' acknowledged writes.
    #[key(absent = "as the run")]
    pub durability: Option<Durability>,
    /// Beginning of its work, as a time since the beginning of the measured part. Above 0s the role has no warm-up.
    #[key(absent = "0s")]
    pub from: Option<TimeSpan>,
    /// End of its work, as a time since the beginning of the measured part.
    #[key(absent = "the run's `duration`")]
    pub until: Option<TimeSpan>,
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
    /// Number of repeats, each on new databases; `"auto"` repeats until the comparisons are decided.
    #[key(default = Repeat::times(1))]
    pub repeat: Repeat,
    /// Smallest difference that matters, as a fraction; smaller differences count as the same.
    #[key(default = Fraction(0.03))]
    pub detect: Fraction,
    /// Relative half-width of each cell's interval at which `repeat = "auto"` also ends. A searched rate needs ten
    /// repeats.
    #[key(absent = "comparisons alone end repeats, and 10 % of searched rates")]
    pub precision: Option<PositiveFraction>,
    /// Question that `repeat = "auto"` answers.
    #[key(default = Question::Ranking)]
    pub question: Question,
    /// Figure whose comparisons end `repeat = "auto"` and decide the exit code of `kvdyno diff`.
    #[key(default = VerdictFigure::Throughput)]
    pub figure: VerdictFigure,
    /// Time limit of the whole command with `repeat = "auto"`: no work that would end later begins. The first repeat
    /// always runs.
    #[key(absent = "no limit")]
    pub budget: Option<TimeSpan<1>>,
    /// Seed of all random numbers but those of values, which differ in each run.
    #[key(default = Count(1))]
    pub seed: Count<0, { i64::MAX as u64 }>,
    /// Order of the engines' trials.
    #[key(default = Order::Interleaved)]
    pub order: Order,
    /// Design of the comparison of setups in a run.
    #[key(default = Design::Auto)]
    pub design: Design,
    /// Origin of the database of each run.
    #[key(default = DatabaseOrigin::Kept)]
    pub database: DatabaseOrigin,
    /// Order of the loads of a repeat.
    #[key(default = Loads::InTurns)]
    pub loads: Loads,
    /// Folder of the databases, on the storage to be measured.
    #[key(absent = "the results folder")]
    pub dir: Option<FilePath>,
    /// Keep databases after their last trial.
    #[key(default = false)]
    pub keep: bool,
    /// End each load with a flush, and wait for the engine's background work; both are timed separately.
    #[key(default = false)]
    pub settle: bool,
    /// Handling of an engine that is missing or cannot do the work.
    #[key(default = MissingEngines::Refuse)]
    pub missing_engines: MissingEngines,
    /// Written records that are read back: by fresh sessions at the end of the trial, and by a fresh process after
    /// the last trial on the database.
    #[key(default = Audit::Sample)]
    pub audit: Audit,
    /// Flame graph of the measured part of each run, by samples that `perf` takes.
    #[key(default = false)]
    pub profile: bool,
    /// Time without a completed operation after which a worker is killed.
    #[key(default = TimeSpan::seconds(60))]
    pub hang_timeout: TimeSpan<1>,
    /// Time limit for opening or closing a database, which may include compaction; after it the worker is killed.
    #[key(default = TimeSpan::seconds(1800))]
    pub close_timeout: TimeSpan<1>,
    /// Time limit of a trial, after which it is killed and fails as `too-slow`.
    #[key(absent = "no limit; `--fit --budget` sets a tenth of the budget")]
    pub trial_timeout: Option<TimeSpan<1>>,
    /// Free space of the storage below which a trial ends.
    #[key(default = ByteSize::mib(256))]
    pub min_free: ByteSize,
}

/// A setup, by its name in `engines`.
#[derive(Clone, Debug, Deserialize, Serialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "engine.NAME", key = EngineKey, no_flags)]
pub struct EngineSection {
    /// Engine, preset or adapter.
    #[key(absent = "NAME")]
    pub engine: Option<String>,
    /// Library of the engine to load instead of the system's.
    #[key(absent = "the system's")]
    pub library: Option<FilePath>,
    /// The engine's own options (see `kvdyno engines NAME`); they override those of a preset.
    #[key(default = EngineOptions::default())]
    #[serde(skip_serializing_if = "EngineOptions::is_empty")]
    pub options: EngineOptions,
}

/// The machine that the experiment was made for: see `kvdyno run --fit`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "fit", key = FitKey, no_flags)]
pub struct FitSection {
    /// Memory of the machine.
    #[key(absent = "sizes are not scaled to the memory")]
    pub memory: Option<ByteSize>,
    /// Cores of the machine, if `--fit` is to scale the numbers of threads with the cores.
    #[key(absent = "numbers of threads do not change")]
    pub cores: Option<Count<1, 1_000_000>>,
    /// Parts of the experiment to leave out, in this order, if the budget is too small.
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
    /// Whether its trials search the highest rate that keeps a promise.
    pub fn searches(&self) -> bool {
        self.find_max_rate.is_some()
    }

    /// Whether any of its clients works at a rate.
    pub fn has_rate(&self) -> bool {
        let rates = self.searches() || self.read_rate.is_some() || self.write_rate.is_some() || self.rate.is_some();
        rates || self.role.iter().any(|role| role.rate.is_some())
    }
}
