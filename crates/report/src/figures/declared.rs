//! The declarations. The order is that of the columns in CSV, those of the published tables first.

use kvdyno_results::{Closing, EngineFile, Failure, NodePages, ObservedEnvironment, Phase, Settling, TrialResult};

use super::FigureSource::{Exact, Number, Words};
use super::amplification::{AMPLIFICATION, COUNTERS, TRAFFIC};
use super::{Figure, Unit};
use crate::remarks::failure;

/// The engine as the experiment names it.
pub(crate) const ENGINE: Figure =
    Figure::given("engine", "the engine as the experiment names it", Words(|r| Some(r.trial.engine.clone())));

/// Clients that read.
pub(crate) const READERS: Figure =
    Figure::given("readers", "clients that read", Exact(|r| Some(r.trial.readers.into()))).only(Phase::Run);

/// Accounts of the whole worker, as `time` prints them and as the published tables have them.
pub(crate) const COSTS: [Figure; 9] = [
    Figure::measured("wall_s", "wall", "from the worker's start to its end", Unit::Clock, |r| Some(r.os.wall_s)),
    Figure::measured("user_s", "user", "user CPU time of the worker", Unit::Clock, |r| Some(r.os.user_s)),
    Figure::measured("sys_s", "sys", "system CPU time of the worker", Unit::Clock, |r| Some(r.os.sys_s)),
    Figure::measured("cpu_pct", "CPU %", "(user + system) / wall", Unit::Percent, |r| Some(r.os.cpu_pct as f64)),
    Figure::measured("db_kib", "DB KiB", "allocated blocks of the database", Unit::Kib, |r| {
        Some(r.space.db_kib as f64)
    }),
    PROCESS_KIB,
    Figure::measured("total_kib", "total KiB", "both together; of a mapped engine the larger", Unit::Kib, |r| {
        Some(r.total_kib() as f64)
    }),
    Figure::measured("ctx_voluntary", "ctx vol", "context switches: the worker waited", Unit::Count, |r| {
        Some(r.os.ctx_voluntary as f64)
    }),
    Figure::measured("ctx_involuntary", "invol", "context switches: it was made to wait", Unit::Count, |r| {
        Some(r.os.ctx_involuntary as f64)
    }),
];

/// It needs an explanation where there are several processes.
pub(crate) const PROCESS_KIB: Figure = Figure::measured(
    "process_kib",
    "process KiB",
    "peak resident size; of several processes their peak proportional size",
    Unit::Kib,
    |r| Some(r.process_kib() as f64),
);

/// The rate of writes.
pub(crate) const WRITES: Figure = Figure::measured(
    "writes_per_s",
    "writes/s",
    "records written a second, measured part alone",
    Unit::PerSecond,
    |r| Some(r.writes_per_s()),
);

/// The rate of reads.
pub(crate) const READS: Figure =
    Figure::measured("reads_per_s", "reads/s", "records read a second, measured part alone", Unit::PerSecond, |r| {
        Some(r.reads_per_s())
    });

/// The rate of a load.
pub(crate) const LOADED: Figure =
    Figure::measured("records_per_s", "records/s", "records loaded a second", Unit::PerSecond, |r| {
        Some(r.writes_per_s())
    });

fn file(result: &TrialResult) -> Option<&EngineFile> {
    result.engine.file.as_ref()
}

fn package(result: &TrialResult) -> Option<String> {
    Some(file(result)?.package.as_ref()?.to_string())
}

/// The trial's outcome and its identity.
const IDENTITY: [Figure; 16] = [
    Figure::given("outcome", "`finished`, or the kind of failure", Words(|r| Some(outcome(r)))),
    Figure::given("reason", "why it failed", Words(|r| failure(r).map(|failure| failure.reason.clone()))),
    Figure::given("tainted", "settings that promise less durability than they seem to", Words(tainted)),
    Figure::given("preset", "the preset of the engine's name", Words(|r| r.trial.preset().map(str::to_owned))),
    Figure::given("version", "the version that the library reported", Words(|r| Some(r.engine.version.clone()))),
    Figure::given("library", "the library that the user chose", Words(|r| r.engine.library.clone())),
    Figure::given("engine_file", "the file that has the engine's code", Words(|r| Some(file(r)?.path.clone()))),
    Figure::given("engine_sha256", "its SHA-256", Words(|r| file(r)?.sha256.clone())),
    Figure::given("engine_package", "the package that it came with", Words(package)),
    Figure::given("workload", "the workload", Words(|r| Some(r.trial.workload.clone()))),
    Figure::given("variant", "the experiment's variant", Words(|r| Some(r.trial.variant.clone()))),
    Figure::given("writers", "clients that write", Exact(|r| Some(r.trial.writers.into()))),
    Figure::given("clients", "`threads` or `processes`", Words(|r| Some(r.trial.clients.to_string()))),
    Figure::given("processes", "processes that had the database open", Exact(|r| Some(r.trial.processes().into()))),
    Figure::given("repeat", "which repeat of its cell", Exact(|r| Some(r.trial.repeat.into()))),
    Figure::given("trial", "its number in the order of the plan", Exact(|r| Some(r.trial.number.into()))),
];

/// The blocks of the database by kind.
pub(crate) const KINDS: [Figure; 3] = [
    Figure::measured("data_kib", "data KiB", "blocks that are neither log nor preallocated", Unit::Kib, |r| {
        r.space.data_kib().map(|kib| kib as f64)
    }),
    Figure::measured("log_kib", "log KiB", "blocks of log files, as far as they were written", Unit::Kib, |r| {
        r.space.log_kib.map(|kib| kib as f64)
    }),
    Figure::measured("preallocated_kib", "preallocated KiB", "blocks set aside and never written", Unit::Kib, |r| {
        r.space.preallocated_kib.map(|kib| kib as f64)
    }),
];

/// Space, storage and faults.
const RESOURCES: [Figure; 10] = [
    Figure::measured("db_peak_kib", "", "the most that the database took", Unit::Kib, |r| {
        Some(r.space.db_peak_kib as f64)
    }),
    Figure::measured("dirty_kib", "", "in memory and not on the storage yet after the measured part", Unit::Kib, |r| {
        r.space.dirty_kib.map(|kib| kib as f64)
    }),
    KINDS[0],
    KINDS[1],
    KINDS[2],
    Figure::measured("peak_rss_kib", "", "peak resident size; of several processes their sum", Unit::Kib, |r| {
        Some(r.os.peak_rss_kib as f64)
    }),
    Figure::measured("peak_pss_kib", "", "of several processes, shared pages counted once", Unit::Kib, |r| {
        r.os.peak_pss_kib.map(|kib| kib as f64)
    }),
    Figure::measured("duet_background_cpu_s", "", "CPU time of background work in duets", Unit::Seconds, |r| {
        Some(r.design.as_ref()?.duet?.background_cpu_s())
    }),
    Figure::measured("minor_faults", "", "page faults without I/O", Unit::Count, |r| Some(r.os.minor_faults as f64)),
    Figure::measured("major_faults", "", "page faults with I/O", Unit::Count, |r| Some(r.os.major_faults as f64)),
];

/// Traffic to and from the storage.
const BLOCKS: [Figure; 4] = [
    Figure::measured("fs_in_ops", "", "filesystem inputs, blocks of 512 bytes", Unit::Count, |r| {
        Some(r.os.fs_in_ops as f64)
    }),
    Figure::measured("fs_out_ops", "", "filesystem outputs, blocks of 512 bytes", Unit::Count, |r| {
        Some(r.os.fs_out_ops as f64)
    }),
    Figure::measured("read_bytes", "", "bytes that the worker caused to be read", Unit::Bytes, |r| {
        r.os.read_bytes.map(|bytes| bytes as f64)
    }),
    Figure::measured("write_bytes", "", "bytes that the worker caused to be written", Unit::Bytes, |r| {
        r.os.write_bytes.map(|bytes| bytes as f64)
    }),
];

/// The columns of the tables of storage, after which they have the size of the database.
pub(crate) const STORAGE: [Figure; 4] = [
    Figure::measured("fs_in_per_op", "in/op", "inputs for each operation, or record loaded", Unit::Ratio, |r| {
        r.fs_in_per_operation()
    }),
    Figure::measured("fs_out_per_op", "out/op", "outputs for each operation, or record loaded", Unit::Ratio, |r| {
        r.fs_out_per_operation()
    }),
    Figure::measured(
        "device_read_bytes",
        "device read MB",
        "read from the block device, by anybody",
        Unit::Megabytes,
        |r| Some(r.os.device.as_ref()?.read_bytes as f64),
    ),
    Figure::measured(
        "device_write_bytes",
        "written MB",
        "written to the block device, by anybody",
        Unit::Megabytes,
        |r| Some(r.os.device.as_ref()?.write_bytes as f64),
    ),
];

/// The measured part's length.
const WINDOW: Figure = Figure::measured("window_s", "", "length of the measured part", Unit::Seconds, |r| {
    r.window.as_ref().map(|window| window.seconds)
});

/// The closing of the database after it.
const CLOSING: [Figure; 3] = [
    Figure::measured(
        "close_s",
        "",
        "ends of sessions, statistics and the closing of the database, after the measured part",
        Unit::Seconds,
        |r| closing(r).map(|closing| closing.seconds),
    ),
    Figure::measured(
        "close_cpu_s",
        "",
        "CPU time after the measured part, settling and closing included",
        Unit::Seconds,
        |r| closing(r).map(|closing| closing.cpu_s),
    ),
    Figure::measured(
        "close_write_bytes",
        "",
        "written to the storage after the measured part, settling and closing included",
        Unit::Megabytes,
        |r| closing(r)?.written_bytes.map(|bytes| bytes as f64),
    ),
];

/// CPU time and context switches of the measured part.
pub(crate) const CPU: [Figure; 7] = [
    Figure::measured(
        "operations_per_s",
        "ops/s",
        "operations a second of the clients that the workload is about",
        Unit::PerSecond,
        |r| Some(r.operations_per_s()),
    ),
    Figure::measured("user_us_per_op", "user µs/op", "user CPU time for each of them", Unit::Micros, |r| {
        Some(r.cpu_us_per_operation()?.0)
    }),
    Figure::measured("sys_us_per_op", "sys µs/op", "system CPU time for each of them", Unit::Micros, |r| {
        Some(r.cpu_us_per_operation()?.1)
    }),
    Figure::measured("switches_per_s", "switches/s", "context switches a second", Unit::PerSecond, |r| {
        r.context_switches_per_s()
    }),
    Figure::measured("window_user_pct", "us %", "user CPU time over the measured part", Unit::Percent, |r| {
        Some(r.window_cpu_pct()?.0)
    }),
    Figure::measured("window_sys_pct", "sy %", "system CPU time over the measured part", Unit::Percent, |r| {
        Some(r.window_cpu_pct()?.1)
    }),
    SETTLING,
];

/// Only a workload has it that waits at its end, and a load that does.
pub(crate) const SETTLING: Figure = Figure::measured(
    "settling_s",
    "settling",
    "the flush and the wait for background work after it",
    Unit::Seconds,
    |r| settling(r).map(|settling| settling.seconds),
);

/// The work that was requested.
const WORKLOAD: [Figure; 11] = [
    Figure::given("records", "records in the database", Exact(|r| Some(r.workload.records))),
    Figure::given("key_size", "bytes of a key", Exact(|r| Some(r.workload.key_size))),
    Figure::given("value_size", "bytes of a value", Exact(|r| Some(r.workload.value_size))),
    Figure::given("batch", "records in a batch", Exact(|r| Some(r.workload.batch))),
    Figure::given("durability", "when a write is acknowledged", Words(|r| Some(r.workload.durability.to_string()))),
    Figure::given("cache_bytes", "the engine's cache", Exact(|r| Some(r.workload.cache_bytes))),
    Figure::given("write_buffer_bytes", "the engine's write buffer", Exact(|r| Some(r.workload.write_buffer_bytes))),
    Figure::given("compression", "the engine's compression", Words(|r| Some(r.workload.compression.to_string()))),
    Figure::given("verify", "`full` or `off`", Words(|r| Some(r.workload.verify.to_string()))),
    Figure::given(
        "audit",
        "`full`, `sample` or `off`",
        Words(|r| r.audit.as_ref().map(|audit| audit.extent.to_string())),
    ),
    Figure::given("seed", "the seed of the trial's random streams", Exact(|r| Some(r.workload.seed))),
];

/// The records that were read back after the trial.
const AUDIT: [Figure; 2] = [
    Figure::given("audited", "records that were read back after the trial", Exact(|r| Some(r.audit.as_ref()?.read()))),
    Figure::given(
        "audit_s",
        "seconds that this took, which are in no other figure",
        Number(Unit::Seconds, |r| Some(r.audit.as_ref()?.seconds())),
    ),
];

/// The environment as it was observed; of a failed trial too, for which it may be the reason.
const ENVIRONMENT: [Figure; 13] = [
    Figure::given("cpus", "CPUs that the worker could run on", Words(|r| Some(r.environment.cpus.clone()))),
    Figure::given(
        "smt",
        "whether two of them were of one core: `on`, `off`",
        Words(|r| smt(&r.environment).map(str::to_owned)),
    ),
    Figure::given("numa_policy", "where its memory came from", Words(|r| r.environment.numa_policy.clone())),
    Figure::given("numa_pages_kib", "its pages by node: `0:123;1:456`", Words(|r| Some(by_node(r)))),
    Figure::given("allocator", "the library that `malloc` came from", Words(|r| Some(r.environment.allocator.clone()))),
    Figure::given("memory_limit_bytes", "the most memory that it could have", Exact(|r| r.environment.memory_limit)),
    Figure::given("memory_peak_bytes", "the most that it had of it", Exact(|r| r.environment.memory_peak)),
    Figure::given(
        "memory_pressure",
        "the part of the time in which threads waited for memory",
        Number(Unit::Ratio, |r| r.environment.memory_pressure),
    ),
    Figure::given(
        "cached_bytes",
        "the database's pages in the page cache before",
        Exact(|r| r.environment.cached.map(|pages| pages.cached)),
    ),
    Figure::given(
        "cached_of_bytes",
        "all pages of the database before",
        Exact(|r| r.environment.cached.map(|pages| pages.total)),
    ),
    Figure::given("storage", "`folder`, or what was made for it", Words(|r| Some(r.environment.storage.clone()))),
    Figure::given("filesystem", "the filesystem below it", Words(|r| Some(r.environment.filesystem.clone()))),
    Figure::given("interference", "interference by others", Words(|r| Some(interference(r)))),
];

/// The columns before the workload's own figures, in order.
pub(crate) fn first() -> Vec<Figure> {
    let (load, run) = (LOADED.only(Phase::Load), [WRITES, READS].map(|figure| figure.only(Phase::Run)));
    let mut figures = vec![ENGINE, READERS];
    figures.extend(COSTS);
    figures.extend(run);
    figures.push(load);
    figures.extend(IDENTITY);
    figures
}

/// The columns between the workload's own figures and the latencies, in order.
pub(crate) fn second() -> Vec<Figure> {
    let mut figures = Vec::from(RESOURCES);
    figures.extend(BLOCKS);
    figures.extend(STORAGE);
    figures.extend(TRAFFIC);
    figures.extend(AMPLIFICATION);
    figures.extend(COUNTERS);
    figures.push(WINDOW);
    figures.extend(CPU);
    figures.extend(CLOSING);
    figures
}

/// The columns after the latencies, in order.
pub(crate) fn last() -> Vec<Figure> {
    WORKLOAD.into_iter().chain(AUDIT).chain(ENVIRONMENT).collect()
}

/// `on`, `off`.
pub(crate) fn smt(environment: &ObservedEnvironment) -> Option<&'static str> {
    environment.smt.map(|on| if on { "on" } else { "off" })
}

fn closing(result: &TrialResult) -> Option<Closing> {
    result.window.as_ref()?.closing
}

fn settling(result: &TrialResult) -> Option<Settling> {
    result.window.as_ref()?.settling
}

/// The kind of failure is spelled as results spell it: `wrong-answer`.
fn outcome(result: &TrialResult) -> String {
    let kind = |failure: &Failure| serde_json::to_value(failure.kind).ok()?.as_str().map(str::to_owned);
    failure(result).map_or_else(|| "finished".to_owned(), |failure| kind(failure).unwrap_or_default())
}

fn tainted(result: &TrialResult) -> Option<String> {
    let names: Vec<&str> = result.taints().map(|taint| taint.name.as_str()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// A clause for each.
fn interference(result: &TrialResult) -> String {
    result.environment.interference.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// `0:123;1:456`
fn by_node(result: &TrialResult) -> String {
    let of_node = |pages: &NodePages| format!("{}:{}", pages.node, pages.kib);
    result.environment.numa_pages.iter().map(of_node).collect::<Vec<_>>().join(";")
}
