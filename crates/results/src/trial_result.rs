//! The result of one trial.

use jiff::Timestamp;
use kvdyno_model::text::threads;
use serde::{Deserialize, Serialize};

pub use kvdyno_model::{FailureKind, Phase};

use crate::{
    AuditFacts, ClientKind, CpuFacts, DesignFacts, EngineCounters, EngineFacts, NamedFigure, ObservedEnvironment,
    Operations, OsFacts, RateSearch, RoleOperations, Setting, Side, Space, WorkloadFacts, WorkloadFigures,
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
    /// Its outcome.
    pub outcome: TrialOutcome,
    /// The engine and how it was set up.
    pub engine: EngineFacts,
    /// The experiment as far as it concerns the trial: every key, defaults included, by section; null without a value.
    #[serde(default)]
    pub experiment: serde_json::Value,
    /// The work that was requested.
    pub workload: WorkloadFacts,
    /// When the worker was started.
    pub started: Timestamp,
    /// The design of its measurement; absent for loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design: Option<DesignFacts>,
    /// Its search for a rate; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<RateSearch>,
    /// Its profile; absent if none was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileFacts>,
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

/// The samples of call stacks in the measured part of a run. Their flame graph is the file [`ProfileFacts::FILE`] in
/// the trial's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileFacts {
    /// Samples of all threads together.
    pub samples: u64,
    /// Samples of a thread in a second of its CPU time.
    pub per_s: u32,
    /// Whether they are of user time alone, because the user may not see the kernel's part.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub user_only: bool,
}

impl ProfileFacts {
    /// The file of the flame graph.
    pub const FILE: &str = "flame.svg";
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
    /// The trial for people: `rocksdb readwhilewriting, 4 readers, 1 writer, repeat 2`.
    pub fn title(&self) -> String {
        let threads = match self.phase {
            Phase::Load => String::new(),
            Phase::Run => format!(", {}", threads(self.readers, self.writers)),
        };
        let processes = if self.processes() > 1 { " as processes" } else { "" };
        format!("{} {}{threads}{processes}, repeat {}", self.engine, self.workload, self.repeat)
    }

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
    pub ctx_switches: Option<u64>,
    /// Bytes that the worker caused to be read from the storage within it, those read ahead included; of several
    /// processes their sum. Absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// The waits for processors within it. Absent in slices, of several processes, where threads that ended within it
    /// used CPU time, where the kernel does not say, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// The clock that timed each operation: `tsc at 2.1 GHz` or `clock_gettime`.
    pub clock: String,
    /// The counts of the engine within it; absent if it counts nothing, in slices, which stand still in between, and in
    /// older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<EngineCounters>,
    /// The settling after it, where the workload asks for that (`overwriteandwait`), or for a load `[lab] settle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settling: Option<Settling>,
    /// The closing of the database, by the process that closed it last; absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing: Option<Closing>,
}

/// The time by which waits of the worker's threads for processors that others had made a measured part longer, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Waits {
    /// At least: the waits of the client, where it worked alone and hardly slept, less the CPU time of all threads and
    /// processes of the engine and the lab that it may have waited for, or might wait for without others.
    pub least_s: f64,
    /// At most: the sum of the waits of all threads.
    pub most_s: f64,
}

/// The closing of a database, with all that an engine does after the last operation, in the process that closes it.
/// The lab's own work, such as reading back, is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Closing {
    /// Seconds of its calls: from the last operation to the end of the clients' sessions, the statistics, the opening
    /// of the session that reads back, and the closing. In slices only the last three: trials wait for each other.
    pub seconds: f64,
    /// CPU seconds, user and system, from the end of the clients' sessions on, settling included.
    pub cpu_s: f64,
    /// Bytes written to the storage from then on (`write_bytes`), settling included; absent where the kernel does not
    /// say.
    pub written_bytes: Option<u64>,
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
    /// Records that their writers read back during the trial, besides its operations.
    #[serde(default)]
    pub read_back: u64,
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
    /// The part of settling and closing that is of the measured part and not of the warm-up, by their lengths, seconds.
    /// Trials in slices are closed at once and wait for each other, so that of theirs the CPU time counts at most.
    pub fn put_off_s(&self) -> Option<f64> {
        let window = self.window.as_ref()?;
        let closing = window.closing?;
        let is_alone = self.design.as_ref().is_none_or(|facts| facts.design.is_one_by_one());
        let closed = if is_alone { closing.seconds } else { closing.seconds.min(closing.cpu_s) };
        let seconds = closed + window.settling.map_or(0.0, |settling| settling.seconds);
        let length = window.seconds + window.warmup_seconds;
        (length > 0.0).then(|| seconds * window.seconds / length)
    }

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
            search: None,
            profile: None,
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

    /// The level of durability that its engine meets instead of the weaker one that was requested, by its own
    /// declaration: an entry of the topic `stronger`. Absent where it meets what was requested.
    pub fn stronger_durability(&self) -> Option<&str> {
        self.engine.settings.iter().find(|setting| setting.topic == "stronger").map(|setting| setting.name.as_str())
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

    /// Bytes that came from the storage in the measured window for each operation that reads, and bytes of the records
    /// that one of these reads. Absent in older results, where nothing was read, and where records have no known size.
    pub fn read_bytes_per_read(&self) -> Option<(f64, f64)> {
        let reads = || self.operations.iter().filter(|one| one.side() == Side::Reads);
        let operations: u64 = reads().map(|one| one.operations).sum();
        let records: u64 = reads().map(|one| one.records).sum();
        let read = self.window.as_ref()?.read_bytes.filter(|_| operations > 0)?;
        // The bytes of what was read are known only where all records have one size.
        self.user_bytes_read?;
        let record_bytes = self.workload.key_size + self.workload.value_size;
        Some((read as f64 / operations as f64, (records * record_bytes) as f64 / operations as f64))
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

    /// Records a second in the measured window, over all kinds of a side. After a search that found no rate, what was
    /// measured is no rate of the side either.
    pub fn rate(&self, side: Side) -> f64 {
        if self.has_no_rate() && self.workload.is_searched(side) {
            return 0.0;
        }
        self.operations.iter().filter(|o| o.side() == side).map(|o| o.records_per_s).fold(0.0, |sum, rate| sum + rate)
    }

    /// Whether a search found no rate that keeps its promise.
    pub fn has_no_rate(&self) -> bool {
        self.search.as_ref().is_some_and(|search| search.highest_per_s.is_none())
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
