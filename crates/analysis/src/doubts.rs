//! Figures of a result that do not fit each other.

mod storage;

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use kvdyno_results::{
    AgainstCpuTime, Audit, DurableCommits, Machine, OpKind, Operations, Pacing, Side, Syncs, TrialResult,
};

/// Largest relative difference between figures that should agree. The published tables are consistent to within it.
const TOLERANCE: f64 = 0.02;

/// `time` gives seconds to two places, so that user + system and wall may be off by this much.
const ROUNDING_S: f64 = 0.015;

/// The driver's share of a thread's time above which it is the driver that is measured.
const DRIVER_SHARE: f64 = 0.2;

/// The most that the driver may take for a record, where its cost is not known.
const DRIVER_AT_MOST_NS: f64 = 1000.0;

/// Largest ratio of the time per operation, computed from the rate, to the mean latency plus the driver's cost. A
/// thread that waits for a CPU waits inside calls and between them in the same proportion.
const LATENCY_FACTOR: f64 = 2.0;

/// Seconds. Shorter windows hold too few of an engine's own cycles, and of the scheduler's.
pub const SHORTEST_WINDOW_S: f64 = 1.0;

/// The fewest operations for a 99.99th percentile. With fewer it is the worst of them, and a matter of chance.
const FEWEST_FOR_P99_99: u64 = 1000;

/// One reason not to believe a figure. Its `Display` is a plain sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// User + system over wall time is not the CPU % that was recorded.
    CpuDisagrees {
        /// The recorded use of processors, %.
        recorded_pct: f64,
        /// The same, computed from user, system and wall time, %.
        computed_pct: f64,
    },
    /// More CPU time than the machine has.
    MoreCpuThanMachine {
        /// The use of processors, computed from user, system and wall time, %.
        used_pct: f64,
        /// Logical processors.
        processors: u32,
    },
    /// The driver takes a good part of the time.
    DriverDominates {
        /// Kind of operation.
        kind: OpKind,
        /// The driver's own cost of it.
        driver_ns: f64,
        /// Its mean latency.
        mean_ns: u64,
    },
    /// The rate is lower than the mean latency and the number of threads imply, though nothing limited it.
    LatencyBelowRate {
        /// Kind of operation.
        kind: OpKind,
        /// Its mean latency.
        mean_ns: u64,
        /// The time that one takes by the rate and the number of threads.
        each_ns: f64,
    },
    /// The rate is higher than the mean latency and the number of threads allow.
    RateBeyondLatency {
        /// Kind of operation.
        kind: OpKind,
        /// The recorded rate, operations a second.
        per_s: f64,
        /// The most that threads and mean latency allow.
        possible_per_s: f64,
    },
    /// The measured window is very short.
    ShortWindow {
        /// Its length.
        seconds: f64,
    },
    /// Nothing of what was written was read back by a fresh process.
    NotReadBack {
        /// Why not.
        why: &'static str,
    },
    /// The database takes less than what cannot be compressed of its values.
    DatabaseTooSmall {
        /// Bytes that it takes.
        taken: u64,
        /// Bytes of values that no compression takes away.
        least: u64,
    },
    /// Much of a database was not on the storage yet whenever it was frozen between its slices.
    DirtyWhenFrozen {
        /// The most, KiB.
        dirty_kib: u64,
        /// The dirty data as a fraction of the database's size.
        share: f64,
    },
    /// All starts of an engine have the same addresses, so repeats do not show the effect of another memory layout.
    OneLayout,
    /// CPU time does not compare the setups of a duet.
    DuetNotCompared {
        /// Why not.
        why: AgainstCpuTime,
    },
    /// Most of the database's blocks are none of its data.
    MostlyLog {
        /// The size of the whole database, KiB.
        db_kib: u64,
        /// The size of its logs, KiB.
        log_kib: u64,
        /// Set aside and not written, KiB.
        preallocated_kib: u64,
    },
    /// A load wrote less than what cannot be compressed of its values.
    WrittenElsewhere {
        /// Bytes that went to files or to the device.
        written: u64,
        /// Bytes of values that no compression takes away.
        least: u64,
    },
    /// Writes were acknowledged, and nothing was written anywhere.
    WrittenNowhere {
        /// Bytes of keys and values.
        acknowledged: u64,
    },
    /// Files outside the database's folder hold a good part of its size.
    KeptInFiles {
        /// Their size, KiB.
        files_kib: u64,
        /// The largest.
        largest: PathBuf,
    },
    /// Memory that cache and write buffer do not explain can hold a good part of the records, which the cache cannot.
    KeptInMemory {
        /// The memory, KiB.
        memory_kib: u64,
        /// The memory that the engine was to have at most, KiB.
        given_kib: u64,
        /// The keys and values of the database, KiB.
        live_kib: u64,
    },
    /// Writes were acknowledged at durability `commit`, and the device was flushed too seldom.
    NotSynced(DurableCommits),
    /// Operations were to come at a rate, and the clients fell behind.
    RateNotKept {
        /// Kind of operation.
        kind: OpKind,
        /// The rate, and that which was reached, a second; absent where each role has its own.
        rates: Option<(f64, f64)>,
        /// The time that the client that was furthest behind was late at the end, seconds.
        behind_s: f64,
        /// The most that it may be late, seconds.
        allowed_s: f64,
    },
    /// Clients slept longer than they should, and their operations began late.
    PacerInTheWay {
        /// Kind of operation.
        kind: OpKind,
        /// Mean delay of an operation by oversleeping, nanoseconds.
        late_ns: f64,
        /// Its mean latency, that included.
        mean_ns: u64,
    },
    /// A high percentile of few operations.
    FewOperations {
        /// Kind of operation.
        kind: OpKind,
        /// The number of such operations.
        operations: u64,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::CpuDisagrees { recorded_pct, computed_pct } => write!(
                f,
                "CPU is recorded as {recorded_pct:.0} %, but user + system over wall time gives {computed_pct:.0} %."
            ),
            Doubt::MoreCpuThanMachine { used_pct, processors } => {
                write!(f, "{used_pct:.0} % CPU is more than the machine's {processors} processors can give.")
            }
            Doubt::DriverDominates { kind, driver_ns, mean_ns } => write!(
                f,
                "The driver itself takes {driver_ns:.0} ns for a {kind}, beside the {mean_ns} ns of the call: {:.0} % \
                 of a reader's time is the driver's.",
                100.0 * driver_share(*driver_ns, *mean_ns)
            ),
            Doubt::LatencyBelowRate { kind, mean_ns, each_ns } => write!(
                f,
                "A {kind} took {mean_ns} ns by its mean latency, but {each_ns:.0} ns by the rate and the number of \
                 threads: one of the two is wrong, or the threads did something else."
            ),
            Doubt::RateBeyondLatency { kind, per_s, possible_per_s } => write!(
                f,
                "{per_s:.0} {kind} operations a second are more than the {possible_per_s:.0} that their threads and \
                 mean latency allow."
            ),
            Doubt::ShortWindow { seconds } => {
                write!(f, "The measured window is only {seconds:.2} s long: its rates are a matter of chance.")
            }
            Doubt::NotReadBack { why } => {
                write!(f, "What was written was not read back by a fresh process: {why}.")
            }
            Doubt::DatabaseTooSmall { taken, least } => write!(
                f,
                "The database takes {taken} bytes, and its values have {least} that cannot be compressed: something is \
                 not stored."
            ),
            Doubt::WrittenElsewhere { written, least } => write!(
                f,
                "The load wrote {written} bytes to files, and its values have {least} that cannot be compressed: they \
                 are kept elsewhere, or not at all."
            ),
            Doubt::DirtyWhenFrozen { dirty_kib, share } => write!(
                f,
                "Up to {dirty_kib} KiB, {:.0} % of its database, were not on the storage yet when its process was \
                 frozen between slices: the kernel may have written them in slices of other setups.",
                100.0 * share
            ),
            Doubt::OneLayout => f.write_str(
                "The kernel gives each process the same addresses (randomize_va_space is 0): the effect of the memory \
                 layout on a rate is the same in all repeats, and no interval includes it.",
            ),
            Doubt::DuetNotCompared { why } => {
                write!(f, "The CPU time of a duet is not compared, because {why}.")
            }
            Doubt::MostlyLog { db_kib, log_kib, preallocated_kib } => write!(
                f,
                "Of the database's {db_kib} KiB, logs take {log_kib} KiB and preallocated space takes \
                 {preallocated_kib} KiB: its size says little about the size of a larger database."
            ),
            Doubt::WrittenNowhere { acknowledged } => write!(
                f,
                "{acknowledged} bytes of writes were acknowledged, but nothing was written: not by the worker to any \
                 file, and not to the device."
            ),
            Doubt::KeptInFiles { files_kib, largest } => write!(
                f,
                "The engine had files of {files_kib} KiB open outside its database's folder, the largest {}: they are \
                 not in the size of the database, and need not be on its storage.",
                largest.display()
            ),
            Doubt::KeptInMemory { memory_kib, given_kib, live_kib } => write!(
                f,
                "The engine used {memory_kib} KiB of memory, where its cache and write buffers were to have \
                 {given_kib} KiB: it may keep more of its {live_kib} KiB of records in memory than others."
            ),
            Doubt::NotSynced(DurableCommits { commits, clients, syncs }) => {
                write!(f, "{commits} commits of {clients} clients were acknowledged as durable, but the ")?;
                match syncs {
                    Syncs::OfDevice { flushes, writes } => {
                        write!(f, "device had only {flushes} flushes and {writes} writes, by whomever.")
                    }
                    Syncs::OfWorker(syncs) => write!(f, "filesystem did only {syncs} syncs for the engine."),
                }
            }
            Doubt::RateNotKept { kind, rates, behind_s, allowed_s } => {
                write!(f, "The rate of {kind} operations was not kept: ")?;
                if let Some((requested, reached)) = rates {
                    write!(f, "{requested} a second were requested and {reached:.1} were reached; ")?;
                }
                write!(
                    f,
                    "at the end a client was {behind_s:.2} s behind, and more than {allowed_s:.2} s is a backlog that \
                     grows. Their latency is that of the backlog, and rises with the window."
                )
            }
            Doubt::PacerInTheWay { kind, late_ns, mean_ns } => write!(
                f,
                "A {kind} began {late_ns:.0} ns late in the mean because its client slept too long: {:.0} % of its \
                 mean latency of {mean_ns} ns is the driver's and the scheduler's.",
                100.0 * late_ns / *mean_ns as f64
            ),
            Doubt::FewOperations { kind, operations } => {
                write!(
                    f,
                    "Only {operations} {kind} operations were measured: their p99.99 is just the slowest of them."
                )
            }
        }
    }
}

/// Whatever speaks against the figures of a setup, as a predicate in a sentence that compares it with another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakness {
    /// Of one setup: `was not steady`.
    pub of_one: Cow<'static, str>,
    /// Of two: `were not steady`. Absent where it speaks against neither if it is true of both.
    pub of_both: Option<Cow<'static, str>>,
    /// The side of the work whose comparison it may decide; absent if it may decide any.
    pub side: Option<Side>,
}

impl Weakness {
    /// One that may decide any comparison.
    pub fn new(of_one: &'static str, of_both: &'static str) -> Weakness {
        Weakness { of_one: of_one.into(), of_both: Some(of_both.into()), side: None }
    }
}

impl Doubt {
    /// The doubt as a weakness of its setup, if what it doubts may decide a comparison.
    pub fn weakness(&self) -> Option<Weakness> {
        let alike = |predicate| Some(Weakness::new(predicate, predicate));
        match self {
            Doubt::LatencyBelowRate { .. } | Doubt::RateBeyondLatency { .. } => Some(Weakness::new(
                "has a rate and a latency that disagree",
                "each have a rate and a latency that disagree",
            )),
            Doubt::CpuDisagrees { .. } | Doubt::MoreCpuThanMachine { .. } => Some(Weakness::new(
                "has accounts of CPU time that disagree",
                "each have accounts of CPU time that disagree",
            )),
            Doubt::DatabaseTooSmall { .. } => {
                Some(Weakness::new("stored less than its values take", "stored less than their values take"))
            }
            Doubt::WrittenNowhere { .. } => alike("wrote nothing anywhere"),
            Doubt::WrittenElsewhere { .. } => {
                Some(Weakness::new("wrote less than its values take", "wrote less than their values take"))
            }
            Doubt::KeptInFiles { .. } => {
                Some(Weakness::new("kept data outside its folder", "kept data outside their folders"))
            }
            Doubt::KeptInMemory { .. } => Some(Weakness::new(
                "used more memory than its cache and write buffers",
                "used more memory than their caches and write buffers",
            )),
            Doubt::NotSynced(_) => alike("acknowledged commits that were not synced"),
            Doubt::DirtyWhenFrozen { .. } => alike("left data that the kernel may have written in slices of others")
                .map(|one| Weakness { side: Some(Side::Writes), ..one }),
            Doubt::DriverDominates { .. }
            | Doubt::ShortWindow { .. }
            | Doubt::NotReadBack { .. }
            | Doubt::OneLayout
            | Doubt::DuetNotCompared { .. }
            | Doubt::MostlyLog { .. }
            | Doubt::RateNotKept { .. }
            | Doubt::PacerInTheWay { .. }
            | Doubt::FewOperations { .. } => None,
        }
    }
}

/// Checks a result for internal consistency, and against its machine if that is known. A failed trial has no figures to
/// doubt.
pub fn check(result: &TrialResult, machine: Option<&Machine>) -> Vec<Doubt> {
    if !result.is_finished() {
        return Vec::new();
    }
    let whole = [
        cpu_disagrees(result),
        more_cpu_than_machine(result, machine),
        short_window(result),
        not_read_back(result),
        storage::database_too_small(result),
        storage::written_elsewhere(result),
        storage::mostly_log(result),
        one_layout(machine),
        storage::dirty_when_frozen(result),
        result.against_cpu_time().map(|why| Doubt::DuetNotCompared { why }),
        storage::written_nowhere(result),
        storage::not_synced(result),
        storage::kept_in_files(result),
        storage::kept_in_memory(result),
    ];
    let by_kind = result.timed_operations().filter(|(o, _)| o.operations > 0).flat_map(|(o, seconds)| {
        let limited = result.workload.is_paced(o.side()) || result.workload.is_searched(o.side());
        let below = if limited || result.workload.think_time { None } else { latency_below_rate(o, machine) };
        let driver = if below.is_some() { None } else { driver_dominates(o, machine) };
        // At a requested rate, the latency of an operation counts from when it was due and not from its call.
        let beyond = if limited { None } else { rate_beyond_latency(o) };
        [driver, below, beyond, rate_not_kept(result, o, seconds), pacer_in_the_way(o), few_operations(o)]
    });
    whole.into_iter().chain(by_kind).flatten().collect()
}

/// Per cent of one processor; absent for a trial too short to say.
fn used_pct(result: &TrialResult) -> Option<f64> {
    (result.os.wall_s > 0.0).then(|| 100.0 * (result.os.user_s + result.os.sys_s) / result.os.wall_s)
}

/// `time` cuts CPU % to a whole number, so anything up to one above it agrees.
fn cpu_disagrees(result: &TrialResult) -> Option<Doubt> {
    let computed_pct = used_pct(result)?;
    let recorded_pct = result.os.cpu_pct as f64;
    let difference = (computed_pct - computed_pct.clamp(recorded_pct, recorded_pct + 1.0)).abs();
    let rounding = 100.0 * ROUNDING_S * (1.0 + computed_pct / 100.0) / result.os.wall_s;
    let allowed = TOLERANCE * computed_pct.max(recorded_pct) + rounding;
    (difference > allowed).then_some(Doubt::CpuDisagrees { recorded_pct, computed_pct })
}

fn more_cpu_than_machine(result: &TrialResult, machine: Option<&Machine>) -> Option<Doubt> {
    let processors = machine?.cpu.threads;
    let used_pct = used_pct(result)?;
    let rounding = 100.0 * ROUNDING_S / result.os.wall_s;
    let most = 100.0 * f64::from(processors) * (1.0 + TOLERANCE) + rounding;
    (used_pct > most).then_some(Doubt::MoreCpuThanMachine { used_pct, processors })
}

fn short_window(result: &TrialResult) -> Option<Doubt> {
    let seconds = result.window.as_ref()?.seconds;
    (seconds < SHORTEST_WINDOW_S).then_some(Doubt::ShortWindow { seconds })
}

fn not_read_back(result: &TrialResult) -> Option<Doubt> {
    let audit = result.audit.as_ref().filter(|audit| !audit.volatile && audit.process.is_none())?;
    let why = match audit.extent {
        Audit::Off => "the audit is off",
        _ => "its database was lost before, or the run did not come to it",
    };
    Some(Doubt::NotReadBack { why })
}

fn one_layout(machine: Option<&Machine>) -> Option<Doubt> {
    (machine?.setup.randomize_va_space == Some(0)).then_some(Doubt::OneLayout)
}

/// The driver's cost is known for a `get` only.
fn driver_dominates(operations: &Operations, machine: Option<&Machine>) -> Option<Doubt> {
    let driver_ns = machine?.driver.as_ref()?.get_ns;
    let mean_ns = operations.latency.mean_ns;
    let dominates = operations.kind == OpKind::Get && driver_share(driver_ns, mean_ns) > DRIVER_SHARE;
    dominates.then_some(Doubt::DriverDominates { kind: operations.kind, driver_ns, mean_ns })
}

/// The driver's share of a thread's time. The mean latency is that of the call alone.
fn driver_share(driver_ns: f64, mean_ns: u64) -> f64 {
    driver_ns / (driver_ns + mean_ns as f64)
}

fn latency_below_rate(operations: &Operations, machine: Option<&Machine>) -> Option<Doubt> {
    let known_ns = machine.and_then(|machine| machine.driver.as_ref()).map_or(0.0, |driver| driver.get_ns);
    let records = operations.records as f64 / operations.operations as f64;
    let driver_ns = known_ns.max(DRIVER_AT_MOST_NS) * records.max(1.0);
    let each_ns = f64::from(operations.threads) * 1e9 / operations.operations_per_s;
    let mean_ns = operations.latency.mean_ns;
    let below = each_ns.is_finite() && each_ns > LATENCY_FACTOR * (mean_ns as f64 + driver_ns);
    below.then_some(Doubt::LatencyBelowRate { kind: operations.kind, mean_ns, each_ns })
}

/// A thread has one call under way at a time, so it makes at most 1 / latency of them a second.
fn rate_beyond_latency(operations: &Operations) -> Option<Doubt> {
    let shortest_ns = operations.latency.mean_ns as f64 - 0.5;
    let possible_per_s = f64::from(operations.threads) * 1e9 / shortest_ns;
    let beyond = shortest_ns > 0.0 && operations.operations_per_s > possible_per_s * (1.0 + TOLERANCE);
    let kind = operations.kind;
    beyond.then_some(Doubt::RateBeyondLatency { kind, per_s: operations.operations_per_s, possible_per_s })
}

fn rate_not_kept(result: &TrialResult, operations: &Operations, seconds: Option<f64>) -> Option<Doubt> {
    let pacing = operations.pacing.filter(|pacing| !pacing.kept)?;
    let (side, allowed_s) = (operations.side(), Pacing::allowed_s(seconds?));
    let rates = result.requested_per_s(side).map(|requested| (requested, result.reached_per_s(side)));
    Some(Doubt::RateNotKept { kind: operations.kind, rates, behind_s: pacing.behind_s, allowed_s })
}

fn pacer_in_the_way(operations: &Operations) -> Option<Doubt> {
    let late_ns = 1e9 * operations.pacing?.overslept_s / operations.operations as f64;
    let mean_ns = operations.latency.mean_ns;
    let dominates = late_ns > DRIVER_SHARE * mean_ns as f64;
    dominates.then_some(Doubt::PacerInTheWay { kind: operations.kind, late_ns, mean_ns })
}

fn few_operations(operations: &Operations) -> Option<Doubt> {
    let few = operations.operations < FEWEST_FOR_P99_99;
    few.then_some(Doubt::FewOperations { kind: operations.kind, operations: operations.operations })
}

#[cfg(test)]
mod tests;
