//! The result of one trial.

use std::fmt;

use jiff::Timestamp;
use kvdyno_dataset::ValueSizes;
use kvdyno_model::{Arrival, Compression, Distribution, Durability, Verify};
use serde::{Deserialize, Serialize};

pub use kvdyno_model::{FailureKind, Phase};

use crate::{
    AuditFacts, ClientKind, CpuFacts, DesignFacts, Latency, NamedFigure, ObservedEnvironment, OpKind, OsFacts,
    RoleFacts, RoleOperations, Space, WorkloadFigures,
};

/// The version of the result's schema. A reader refuses a result with a higher one.
pub const SCHEMA: u32 = 1;

/// Everything that one trial gave. A trial that failed has a result too: the figures up to the failure, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialResult {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// Which trial of the experiment this was.
    pub trial: TrialKey,
    /// The engine and how it was set up.
    pub engine: EngineFacts,
    /// The experiment as far as it concerns the trial: every key, defaults included, by section; null without a value.
    #[serde(default)]
    pub experiment: serde_json::Value,
    /// The work that was requested.
    pub workload: WorkloadFacts,
    /// Its outcome.
    pub outcome: TrialOutcome,
    /// When the worker was started.
    pub started: Timestamp,
    /// The design of its measurement; absent for loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design: Option<DesignFacts>,
    /// The copy of a loaded database that this run had; absent if its database was its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied_from: Option<DatabaseCopy>,
    /// The measured part of the worker's life; absent if it was never reached.
    pub window: Option<Window>,
    /// The CPU time of everything in its control group.
    #[serde(default)]
    pub cpu: CpuFacts,
    /// One entry for each kind of operation, in the measured window.
    pub operations: Vec<Operations>,
    /// The same of the clients of each role; empty where clients are all alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_roles: Vec<RoleOperations>,
    /// Answers by how right they were, warm-up included: a wrong answer counts whenever it comes.
    pub answers: AnswerCounts,
    /// The audit of what it wrote; absent if it wrote nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditFacts>,
    /// The figures of the workload's own; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<WorkloadFigures>,
    /// The operating system's accounts to the worker, from its start to its end.
    pub os: OsFacts,
    /// The environment that was observed.
    #[serde(default)]
    pub environment: ObservedEnvironment,
    /// The database's size on the storage.
    pub space: Space,
    /// Bytes of keys and values that the workload wrote, over the worker's whole life.
    pub user_bytes_written: u64,
    /// Bytes of keys and values that it read, over the same time; absent if records have no known size, and in older
    /// results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_bytes_read: Option<u64>,
    /// The engine's own statistics, read before it was closed. Topic, name and value are the engine's.
    pub statistics: Vec<Setting>,
    /// Remarks for a reader of the figures: "the database was loaded again after an interruption".
    pub notes: Vec<String>,
}

/// A copy of a loaded database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseCopy {
    /// The load, by its trial's number.
    pub load: u32,
    /// Which of its copies.
    pub number: u32,
}

/// Names a trial within its experiment.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TrialKey {
    /// From 1, in the order in which trials run.
    pub number: u32,
    /// The engine as the user named it: `rocksdb`, `wiredtiger:lsm`.
    pub engine: String,
    /// Which of the experiment's variants; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// Loading the database, or running on the loaded one.
    pub phase: Phase,
    /// `fillseq`, `readwhilewriting`.
    pub workload: String,
    /// Threads or processes that read. 0 for a load.
    pub readers: u32,
    /// Threads or processes that write.
    pub writers: u32,
    /// Whether clients are threads or processes.
    #[serde(default)]
    pub clients: ClientKind,
    /// From 1 to the number of repeats.
    pub repeat: u32,
}

impl TrialKey {
    /// The preset of the engine's name: `lsm` of `wiredtiger:lsm`; absent if none was chosen.
    pub fn preset(&self) -> Option<&str> {
        self.engine.split_once(':').map(|(_, preset)| preset)
    }

    /// Number of processes that had the database open.
    pub fn processes(&self) -> u32 {
        self.clients.processes(self.readers + self.writers)
    }
}

/// An engine of the experiment's that is not measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// In which of the experiment's variants; empty if it has none.
    pub variant: String,
    /// The engine, as the user named it.
    pub engine: String,
    /// It is not here, or cannot do what is requested.
    pub reason: String,
    /// The one workload that it is left out of; empty if it is left out of all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub workload: String,
}

impl LeftOut {
    /// For people: `sled (smt-off), revrange`.
    pub fn what(&self) -> String {
        let variant = if self.variant.is_empty() { String::new() } else { format!(" ({})", self.variant) };
        let workload = if self.workload.is_empty() { String::new() } else { format!(", {}", self.workload) };
        format!("{}{variant}{workload}", self.engine)
    }
}

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

fn is_false(value: &bool) -> bool {
    !value
}

/// The requested work of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkloadFacts {
    /// `fillseq`, `readwhilewriting`.
    pub name: String,
    /// Records in the database.
    pub records: u64,
    /// Bytes of a key.
    pub key_size: u64,
    /// `hex`, `decimal` or `binary`.
    pub key_format: String,
    /// The leading bytes of a key that the engine takes for its prefix; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_size: Option<u64>,
    /// Keys with the same prefix; absent if no groups were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_per_prefix: Option<u64>,
    /// Bytes of a value; of sizes that were drawn, the mean.
    pub value_size: u64,
    /// Distribution of the sizes of values; absent if all had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_sizes: Option<ValueSizes>,
    /// The part of a value that a compressor can take away, 0 to 1.
    pub compressibility: f64,
    /// Records in a batch; 1 for single writes.
    pub batch: u64,
    /// Reads in one read-only transaction; 1 where each read sees the newest state.
    pub reads_per_transaction: u64,
    /// Steps of the cursor after each seek of a range; absent for other workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seek_nexts: Option<u64>,
    /// Ranges begin within this number of records, counted from the first; absent if they begin at any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seek_within: Option<u64>,
    /// Records in each batch of reads; absent for other workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_per_multiget: Option<u64>,
    /// The distribution of the records that are drawn at random; absent for workloads that draw none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<Distribution>,
    /// Its clients do other work between operations of one kind, so that the rate of a kind does not follow from its
    /// latency.
    #[serde(default, skip_serializing_if = "is_false")]
    pub think_time: bool,
    /// When a write was acknowledged: that of sessions, if a run has one for them.
    pub durability: Durability,
    /// The engine's cache, bytes.
    pub cache_bytes: u64,
    /// The engine's write buffer, bytes.
    pub write_buffer_bytes: u64,
    /// Compression of stored blocks.
    pub compression: Compression,
    /// Whether answers were checked.
    pub verify: Verify,
    /// The seed of this trial's random streams.
    pub seed: u64,
    /// The most writes a second that were requested; absent if not limited.
    pub write_rate: Option<f64>,
    /// The operations of readers that were to come each second; absent in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_rate: Option<f64>,
    /// The operations of a mix that were to come each second, of all kinds; absent in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Arrival of operations; absent if none came at a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival: Option<Arrival>,
    /// The roles of its clients; empty where these are all alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<RoleFacts>,
}

impl WorkloadFacts {
    /// Whether operations of a side came at a rate of their own.
    pub fn is_paced(&self, side: Side) -> bool {
        let of_side = match side {
            Side::Reads => self.read_rate,
            Side::Writes => self.write_rate,
        };
        of_side.or(self.rate).is_some() || self.roles.iter().any(|role| role.rate.is_some())
    }

    /// Bytes of a key and of a value: `16 + 100 bytes`, `16 + 41 bytes (pareto 0.2615 25.45 1024)`.
    pub fn sizes(&self, number: fn(u64) -> String) -> String {
        let drawn = self.value_sizes.as_ref().map(|sizes| format!(" ({sizes})")).unwrap_or_default();
        format!("{} + {} bytes{drawn}", number(self.key_size), number(self.value_size))
    }

    /// The form of keys: `hex`, `hex, 10 to each prefix of 12 bytes`.
    pub fn keys(&self) -> String {
        match (self.prefix_size, self.keys_per_prefix) {
            (Some(size), Some(keys)) => format!("{}, {keys} to each prefix of {size} bytes", self.key_format),
            (Some(size), None) => format!("{}, with a prefix of {size} bytes", self.key_format),
            _ => self.key_format.clone(),
        }
    }
}

/// The outcome of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "state")]
pub enum TrialOutcome {
    /// To its end, with every answer right.
    Finished,
    /// Its figures are not to be compared.
    Failed(Failure),
}

/// Why a trial failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Its sort.
    pub kind: FailureKind,
    /// For people: one line.
    pub reason: String,
}

/// The measured part of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// From the first thread's start to the last one's end. For a trial in slices, the counted parts of the slices in
    /// which it had the machine to itself.
    pub seconds: f64,
    /// Before it.
    pub warmup_seconds: f64,
    /// User CPU seconds of the worker within it; of several processes their sum.
    pub user_s: f64,
    /// System CPU seconds of the worker within it; of several processes their sum.
    pub sys_s: f64,
    /// Context switches of the worker within it, voluntary or not; for several processes, their sum. Absent in older
    /// results.
    #[serde(default)]
    pub ctx_switches: Option<u64>,
    /// The clock that timed each operation: `tsc at 2.1 GHz` or `clock_gettime`.
    pub clock: String,
    /// The counts of the engine within it; absent if it counts nothing, in slices, which stand still in between, and in
    /// older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<EngineCounters>,
    /// The settling after it, where the workload asks for that (`overwriteandwait`), or for a load `[lab] settle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settling: Option<Settling>,
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

/// Bringing a database to rest after the measured part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settling {
    /// Duration, seconds.
    pub seconds: f64,
    /// The engine has a call that brings what was written to the storage.
    pub flushed: bool,
    /// The engine has a call that waits for its background work.
    pub waited: bool,
}

/// One kind of operation in the measured window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operations {
    /// The kind.
    pub kind: OpKind,
    /// Threads that did it, be they of one process or of several.
    pub threads: u32,
    /// Calls.
    pub operations: u64,
    /// Records read or written by them: a batch has many.
    pub records: u64,
    /// Operations a second, of all threads together.
    pub operations_per_s: f64,
    /// Records a second, of all threads together.
    pub records_per_s: f64,
    /// Latency of a call.
    pub latency: Latency,
    /// Its pacing at the requested rate; absent in a closed loop, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing: Option<Pacing>,
}

/// Pacing of operations at the requested rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pacing {
    /// Time that the clients slept until operations were due, seconds, all together.
    pub sleeping_s: f64,
    /// Time that they kept their processors to meet the moment, seconds, all together.
    pub spinning_s: f64,
    /// Time that operations began late because a sleep lasted longer than it should, seconds, all together.
    pub overslept_s: f64,
    /// Delay at the end of the client that was furthest behind its schedule, seconds; over slices, the sum.
    pub behind_s: f64,
    /// The furthest that any of them was, seconds.
    pub most_behind_s: f64,
    /// Whether the rate was kept: no client was further behind at the end than [`Pacing::allowed_s`].
    pub kept: bool,
}

impl Pacing {
    /// Tolerated delay of a client at the end of a window of so many seconds: a hundredth of it, which keeps the rate
    /// to 1 %, and at least the time for which a scheduler may take a thread off its processor.
    pub fn allowed_s(window_s: f64) -> f64 {
        (window_s / 100.0).max(0.01)
    }
}

impl Operations {
    /// The side of the work that this kind is of.
    pub fn side(&self) -> Side {
        if self.kind.writes() { Side::Writes } else { Side::Reads }
    }

    /// Whether this kind writes.
    pub fn writes(&self) -> bool {
        self.side() == Side::Writes
    }
}

/// A side of an engine's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Gets, scans.
    Reads,
    /// Puts, batches, deletes.
    Writes,
}

impl Side {
    /// Both.
    pub const ALL: [Side; 2] = [Side::Reads, Side::Writes];

    /// Its deed: `read`.
    pub fn verb(self) -> &'static str {
        match self {
            Side::Reads => "read",
            Side::Writes => "write",
        }
    }
}

/// Its operations: `reads`.
impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s", self.verb())
    }
}

/// Answers by how right they were. Hit, miss and error are three answers; the rest are hits that were not right.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerCounts {
    /// Reads that gave the right value, and writes that were acknowledged.
    pub right: u64,
    /// Reads that gave nothing where a record must be.
    pub missing: u64,
    /// Calls that the engine answered with an error.
    pub errors: u64,
    /// Reads that returned the value of another key, or bytes that were never written.
    pub wrong: u64,
    /// Reads that gave a value put together from several.
    pub torn: u64,
    /// Reads that gave a value older than one acknowledged before the read began.
    pub stale: u64,
    /// The first failure, for people.
    pub first_failure: Option<String>,
}

impl AnswerCounts {
    /// Answers that fail a trial.
    pub fn failures(&self) -> u64 {
        [self.missing, self.errors, self.wrong, self.torn, self.stale].into_iter().fold(0, u64::saturating_add)
    }
}

impl TrialResult {
    /// The result of a trial without figures, without a clock and without the keys of its experiment.
    pub fn without_figures(
        trial: TrialKey,
        engine: EngineFacts,
        workload: WorkloadFacts,
        outcome: TrialOutcome,
    ) -> TrialResult {
        TrialResult {
            schema: SCHEMA,
            trial,
            engine,
            experiment: serde_json::Value::Null,
            workload,
            outcome,
            started: Timestamp::default(),
            design: None,
            copied_from: None,
            window: None,
            cpu: CpuFacts::default(),
            operations: Vec::new(),
            of_roles: Vec::new(),
            answers: AnswerCounts::default(),
            audit: None,
            figures: None,
            os: OsFacts::default(),
            environment: ObservedEnvironment::default(),
            space: Space::default(),
            user_bytes_written: 0,
            user_bytes_read: None,
            statistics: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Whether the figures may be compared.
    pub fn is_finished(&self) -> bool {
        self.outcome == TrialOutcome::Finished
    }

    /// The figures that bring their own names: the workload's, then the environment's.
    pub fn named_figures(&self) -> impl Iterator<Item = &NamedFigure> {
        self.figures.iter().flat_map(|own| &own.figures).chain(&self.environment.figures)
    }

    /// Settings of the engine that promise less durability than they seem to: those of the topic `tainted`.
    pub fn taints(&self) -> impl Iterator<Item = &Setting> {
        self.engine.settings.iter().filter(|setting| setting.topic == "tainted")
    }

    /// Memory that the process held at its peak, KiB; of several processes that of all together, as far as that is
    /// known.
    pub fn process_kib(&self) -> u64 {
        self.os.peak_pss_kib.unwrap_or(self.os.peak_rss_kib)
    }

    /// Database and process together, KiB, as the reports count them: a mapped database is part of the process.
    pub fn total_kib(&self) -> u64 {
        match self.engine.mapped {
            true => self.space.db_kib.max(self.process_kib()),
            false => self.space.db_kib + self.process_kib(),
        }
    }

    /// Operations a second of the threads that the workload is about: its readers, or all where it has none.
    pub fn operations_per_s(&self) -> f64 {
        self.main_operations().map(|o| o.operations_per_s).sum()
    }

    /// User and system CPU microseconds of the worker in the measured window for each operation of the client threads
    /// that the workload measures. The work of a writer beside them and of the engine's own threads is included.
    pub fn cpu_us_per_operation(&self) -> Option<(f64, f64)> {
        let window = self.window.as_ref()?;
        let operations: u64 = self.main_operations().map(|o| o.operations).sum();
        let each = |seconds: f64| 1e6 * seconds / operations as f64;
        (operations > 0).then(|| (each(window.user_s), each(window.sys_s)))
    }

    /// User and system CPU time of the worker over the length of the measured window, per cent: 100 is one processor.
    pub fn window_cpu_pct(&self) -> Option<(f64, f64)> {
        let window = self.window.as_ref().filter(|window| window.seconds > 0.0)?;
        Some((100.0 * window.user_s / window.seconds, 100.0 * window.sys_s / window.seconds))
    }

    /// Context switches a second in the measured window; in older records, in the worker's life.
    pub fn context_switches_per_s(&self) -> Option<f64> {
        let in_window = self.window.as_ref().and_then(|window| Some((window.ctx_switches?, window.seconds)));
        let (switches, seconds) =
            in_window.unwrap_or((self.os.ctx_voluntary + self.os.ctx_involuntary, self.os.wall_s));
        (seconds > 0.0).then(|| switches as f64 / seconds)
    }

    fn main_operations(&self) -> impl Iterator<Item = &Operations> {
        // A writer beside readers is not what the workload measures.
        let readers = self.trial.readers;
        self.operations.iter().filter(move |o| readers == 0 || o.side() == Side::Reads)
    }

    /// Operations in the worker's whole life, warm-up included; of a load, the records that it loaded.
    fn work(&self) -> u64 {
        match self.trial.phase {
            Phase::Load => self.workload.records,
            Phase::Run => self.answers.right + self.answers.failures(),
        }
    }

    /// Filesystem inputs for each operation, or for each record loaded, as Symas's reports count them.
    pub fn fs_in_per_operation(&self) -> Option<f64> {
        (self.work() > 0).then(|| self.os.fs_in_ops as f64 / self.work() as f64)
    }

    /// The same of filesystem outputs.
    pub fn fs_out_per_operation(&self) -> Option<f64> {
        (self.work() > 0).then(|| self.os.fs_out_ops as f64 / self.work() as f64)
    }

    /// Records a second in the measured window, over all kinds of a side.
    pub fn rate(&self, side: Side) -> f64 {
        self.operations.iter().filter(|o| o.side() == side).map(|o| o.records_per_s).fold(0.0, |sum, rate| sum + rate)
    }

    /// Records read a second in the measured window, over all kinds of reads.
    pub fn reads_per_s(&self) -> f64 {
        self.rate(Side::Reads)
    }

    /// Records written a second in the measured window, over all kinds of writes.
    pub fn writes_per_s(&self) -> f64 {
        self.rate(Side::Writes)
    }

    /// The kind of read or of write that it made most of.
    pub fn main_kind(&self, side: Side) -> Option<&Operations> {
        self.operations.iter().filter(|o| o.side() == side).max_by_key(|o| o.operations)
    }
}
