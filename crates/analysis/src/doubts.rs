//! Figures of a result that do not fit each other.

use std::fmt;

use kvdyno_results::{Audit, Machine, OpKind, Operations, Phase, Side, TrialResult};

/// How far figures that should agree may differ: the published tables agree with themselves to this.
const TOLERANCE: f64 = 0.02;

/// `time` gives seconds to two places, so that user + system and wall may be off by this much.
const ROUNDING_S: f64 = 0.015;

/// The driver's share of a thread's time above which it is the driver that is measured.
const DRIVER_SHARE: f64 = 0.2;

/// The most that the driver may take for a record, where its cost is not known.
const DRIVER_AT_MOST_NS: f64 = 1000.0;

/// How many times longer an operation may take by its rate than by its latency, beside what the driver takes. A thread
/// that waits for a CPU waits inside of calls and between them in like proportion.
const LATENCY_FACTOR: f64 = 2.0;

/// Bytes of a value's incompressible part that its maker does not count on.
const COMPRESSED_REST: f64 = 32.0;

/// The part of the bytes that must be stored at the least: engines round, and may fold what they can.
const SMALLEST_SHARE: f64 = 0.9;

/// Filesystems of which the kernel counts in a process's account what it writes; `raw` is a device.
const COUNTED: [&str; 7] = ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "raw"];

/// Shorter windows hold too few of an engine's own cycles, and of the scheduler's.
const SHORTEST_WINDOW_S: f64 = 1.0;

/// With fewer operations the 99.99th percentile is the worst of them, and a matter of chance.
const FEWEST_FOR_P99_99: u64 = 1000;

/// One reason not to believe a figure. Its `Display` is a plain sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// User + system over wall time is not the CPU % that was recorded.
    CpuDisagrees {
        /// As recorded.
        recorded_pct: f64,
        /// From user, system and wall time.
        computed_pct: f64,
    },
    /// More CPU time than the machine has.
    MoreCpuThanMachine {
        /// From user, system and wall time.
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
    /// Fewer operations than threads with such a latency would do, though nothing held them back.
    LatencyBelowRate {
        /// Kind of operation.
        kind: OpKind,
        /// Its mean latency.
        mean_ns: u64,
        /// The time that one takes by the rate and the number of threads.
        each_ns: f64,
    },
    /// More operations than their latency leaves time for.
    RateBeyondLatency {
        /// Kind of operation.
        kind: OpKind,
        /// As recorded.
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
    /// Writes were acknowledged, and nothing was written anywhere.
    WrittenNowhere {
        /// Bytes of keys and values.
        acknowledged: u64,
    },
    /// A high percentile of few operations.
    FewOperations {
        /// Kind of operation.
        kind: OpKind,
        /// How many.
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
            Doubt::WrittenNowhere { acknowledged } => write!(
                f,
                "{acknowledged} bytes of writes were acknowledged, but nothing was written: not by the worker to any \
                 file, and not to the device."
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

/// Holds a result against itself, and against its machine if that is known. A failed trial has no figures to doubt.
pub fn check(result: &TrialResult, machine: Option<&Machine>) -> Vec<Doubt> {
    if !result.is_finished() {
        return Vec::new();
    }
    let whole = [
        cpu_disagrees(result),
        more_cpu_than_machine(result, machine),
        short_window(result),
        not_read_back(result),
        database_too_small(result),
        written_nowhere(result),
    ];
    let by_kind = result.operations.iter().filter(|operations| operations.operations > 0).flat_map(|o| {
        let limited = o.side() == Side::Writes && result.workload.write_rate.is_some();
        let below = if limited || result.workload.think_time { None } else { latency_below_rate(o, machine) };
        let driver = if below.is_some() { None } else { driver_dominates(o, machine) };
        // Where operations wait for their turn, their latency counts from when they were due, not from their call.
        let beyond = if limited { None } else { rate_beyond_latency(o) };
        [driver, below, beyond, few_operations(o)]
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

/// A load's values have random bytes in them that no compressor takes away, and the database has them all.
fn database_too_small(result: &TrialResult) -> Option<Doubt> {
    let volatile = result.audit.as_ref().is_none_or(|audit| audit.volatile);
    if volatile || result.trial.phase != Phase::Load || result.operations.is_empty() {
        return None;
    }
    let workload = &result.workload;
    let records: u64 = result.operations.iter().map(|operations| operations.records).sum();
    let of_value = match workload.compression.as_str() {
        "none" => workload.value_size as f64,
        _ => workload.value_size as f64 * (1.0 - workload.compressibility) - COMPRESSED_REST,
    };
    let (least, taken) = (SMALLEST_SHARE * records as f64 * of_value.max(0.0), 1024 * result.space.db_kib);
    ((taken as f64) < least).then_some(Doubt::DatabaseTooSmall { taken, least: least as u64 })
}

/// The kernel counts a page of a file as written when a process makes it dirty. A page that is dirty already counts no
/// more, so there is no telling how much must be counted for so many bytes; but files are clean when a trial begins,
/// for the one before has closed the database. At durability none an engine may keep all until the close.
fn written_nowhere(result: &TrialResult) -> Option<Doubt> {
    let keeps = result.audit.as_ref().is_some_and(|audit| !audit.volatile) && result.workload.durability != "none";
    let counted = result.environment.filesystem.split(' ').next().is_some_and(|kind| COUNTED.contains(&kind));
    let os = &result.os;
    let nothing =
        os.write_bytes == Some(0) && os.fs_out_ops == 0 && os.device.as_ref().is_none_or(|it| it.write_bytes == 0);
    let acknowledged = result.user_bytes_written;
    (keeps && counted && nothing && acknowledged > 0).then_some(Doubt::WrittenNowhere { acknowledged })
}

/// The driver's cost is known for a `get` only.
fn driver_dominates(operations: &Operations, machine: Option<&Machine>) -> Option<Doubt> {
    let driver_ns = machine?.driver.as_ref()?.get_ns;
    let mean_ns = operations.latency.mean_ns;
    let dominates = operations.kind == OpKind::Get && driver_share(driver_ns, mean_ns) > DRIVER_SHARE;
    dominates.then_some(Doubt::DriverDominates { kind: operations.kind, driver_ns, mean_ns })
}

/// Of a thread's time; the mean latency is that of the call alone.
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

fn few_operations(operations: &Operations) -> Option<Doubt> {
    let few = operations.operations < FEWEST_FOR_P99_99;
    few.then_some(Doubt::FewOperations { kind: operations.kind, operations: operations.operations })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use kvdyno_results::{AuditFacts, ReadBack};

    use super::*;
    use crate::testing::{failed, machine, result};

    fn sentences(result: &TrialResult) -> Vec<String> {
        check(result, Some(&machine())).iter().map(Doubt::to_string).collect()
    }

    #[test]
    fn a_sound_result_has_no_doubts() {
        assert_eq!(sentences(&result("lmdb", 1, 1, 100_000.0)), Vec::<String>::new());
    }

    #[test]
    fn a_failed_trial_has_nothing_to_doubt() {
        assert_eq!(check(&failed("lmdb", 1, 1), Some(&machine())), []);
    }

    /// `published/symas-2014-inmem-numa-interleave.csv`: wall, user, system, CPU %.
    #[test]
    fn the_slip_in_the_published_table_is_found_and_nothing_else() {
        let sound = [
            (623.66, 1025.96, 150.28, 188),
            (602.16, 1173.07, 27.88, 199),
            (944.78, 359.99, 116.32, 50),
            (601.35, 38117.47, 106.09, 6356),
        ];
        for (wall_s, user_s, sys_s, cpu_pct) in sound {
            let mut result = result("lmdb", 1, 1, 100_000.0);
            (result.os.wall_s, result.os.user_s, result.os.sys_s, result.os.cpu_pct) = (wall_s, user_s, sys_s, cpu_pct);
            assert_eq!(check(&result, None), [], "{wall_s}");
        }
        let mut slip = result("wiredtiger:btree", 1, 1, 100_000.0);
        (slip.os.wall_s, slip.os.user_s, slip.os.sys_s, slip.os.cpu_pct) = (958.84, 2120.18, 57.05, 132);
        let doubts: Vec<_> = check(&slip, None).iter().map(Doubt::to_string).collect();
        assert_eq!(doubts, ["CPU is recorded as 132 %, but user + system over wall time gives 227 %."]);
    }

    #[test]
    fn more_cpu_than_there_is() {
        let mut result = result("lmdb", 1, 1, 100_000.0);
        (result.os.user_s, result.os.cpu_pct) = (result.os.wall_s * 5.0, 500);
        result.os.sys_s = 0.0;
        assert_eq!(sentences(&result), ["500 % CPU is more than the machine's 4 processors can give."]);
    }

    #[test]
    fn what_was_not_read_back_is_told() {
        let mut result = result("lmdb", 1, 1, 100_000.0);
        let read = AuditFacts { process: Some(ReadBack::default()), ..AuditFacts::default() };
        result.audit = Some(read.clone());
        assert_eq!(sentences(&result), Vec::<String>::new());
        result.audit = Some(AuditFacts { process: None, ..read.clone() });
        let lost = "What was written was not read back by a fresh process: its database was lost before, or the run \
                    did not come to it.";
        assert_eq!(sentences(&result), [lost]);
        result.audit = Some(AuditFacts { extent: Audit::Off, process: None, ..read.clone() });
        assert_eq!(sentences(&result), ["What was written was not read back by a fresh process: the audit is off."]);
        result.audit = Some(AuditFacts { volatile: true, process: None, ..read });
        assert_eq!(sentences(&result), Vec::<String>::new());
    }

    #[test]
    fn a_database_smaller_than_its_values() {
        let mut load = result("lmdb", 1, 1, 100_000.0);
        load.trial.phase = Phase::Load;
        load.audit = Some(AuditFacts { process: Some(ReadBack::default()), ..AuditFacts::default() });
        // A million values of 100 bytes, incompressible or compressed by half.
        load.space.db_kib = 120_000;
        assert_eq!(sentences(&load), Vec::<String>::new());
        load.space.db_kib = 4;
        assert!(sentences(&load)[0].starts_with("The database takes 4096 bytes, and its values have 90000000 that"));
        (load.workload.compression, load.space.db_kib) = ("lz4".into(), 20_000);
        assert_eq!(sentences(&load), Vec::<String>::new());
    }

    #[test]
    fn writes_that_went_nowhere() {
        let mut run = result("lmdb", 1, 1, 100_000.0);
        run.audit = Some(AuditFacts { process: Some(ReadBack::default()), ..AuditFacts::default() });
        (run.user_bytes_written, run.workload.durability) = (5000, "process".into());
        run.environment.filesystem = "ext4 rw,relatime".into();
        (run.os.write_bytes, run.os.fs_out_ops, run.os.device) = (Some(0), 0, None);
        let expected = "5000 bytes of writes were acknowledged, but nothing was written: not by the worker to any \
                        file, and not to the device.";
        assert_eq!(sentences(&run), [expected]);
        // Each of these is enough to believe it, or not to know.
        let others: [fn(&mut TrialResult); 7] = [
            |run| run.os.write_bytes = Some(4096),
            |run| run.os.write_bytes = None,
            |run| run.os.fs_out_ops = 8,
            |run| run.user_bytes_written = 0,
            |run| run.workload.durability = "none".into(),
            |run| run.environment.filesystem = "tmpfs rw".into(),
            |run| run.audit = Some(AuditFacts { volatile: true, ..AuditFacts::default() }),
        ];
        for change in others {
            let mut other = run.clone();
            change(&mut other);
            assert_eq!(sentences(&other), Vec::<String>::new());
        }
    }

    #[test]
    fn the_driver_in_the_way() {
        let mut fast = result("null", 1, 1, 5_000_000.0);
        fast.operations[0].latency.mean_ns = 140;
        let expected = "The driver itself takes 60 ns for a get, beside the 140 ns of the call: 30 % of a reader's \
                        time is the driver's.";
        assert_eq!(sentences(&fast), [expected]);
    }

    #[test]
    fn rates_that_cannot_be() {
        let mut result = result("lmdb", 1, 1, 100_000.0);
        result.operations[0].latency.mean_ns = 20_000;
        let doubts = sentences(&result);
        assert!(doubts[0].starts_with("100000 get operations a second are more than the 50001"), "{doubts:?}");
    }

    /// As a histogram gives that wraps round.
    #[test]
    fn latencies_that_cannot_be() {
        let mut result = result("rocksdb", 4, 1, 115_336.0);
        result.operations[0].latency.mean_ns = 4;
        let expected = "A get took 4 ns by its mean latency, but 34681 ns by the rate and the number of threads: one \
                        of the two is wrong, or the threads did something else.";
        assert!(sentences(&result).contains(&expected.to_owned()), "{:?}", sentences(&result));
    }

    #[test]
    fn a_limited_rate_leaves_time_between_writes() {
        let mut result = result("lmdb", 1, 1, 1000.0);
        result.operations[0].kind = OpKind::Put;
        result.operations[0].latency.mean_ns = 3000;
        assert_eq!(sentences(&result).len(), 1);
        result.workload.write_rate = Some(1000.0);
        assert_eq!(sentences(&result), Vec::<String>::new());
    }

    #[test]
    fn too_short_and_too_few() {
        let mut result = result("lmdb", 1, 1, 100_000.0);
        if let Some(window) = &mut result.window {
            window.seconds = 0.25;
        }
        result.operations[0].operations = 900;
        let doubts = sentences(&result);
        assert_eq!(doubts[0], "The measured window is only 0.25 s long: its rates are a matter of chance.");
        assert_eq!(doubts[1], "Only 900 get operations were measured: their p99.99 is just the slowest of them.");
    }

    proptest! {
        /// The figures that `time` prints of any run agree with each other.
        #[test]
        fn the_truth_to_two_places_is_never_doubted(wall in 0.05f64..1e5, user in 0.0f64..64.0, sys in 0.0f64..16.0) {
            let cents = |v: f64| (v * 100.0).round() / 100.0;
            let mut result = result("lmdb", 1, 1, 100_000.0);
            result.os.wall_s = cents(wall);
            result.os.user_s = cents(user * wall);
            result.os.sys_s = cents(sys * wall);
            result.os.cpu_pct = (100.0 * (user + sys)) as u64;
            prop_assert_eq!(cpu_disagrees(&result), None);
        }

        #[test]
        fn a_tenth_off_is_always_doubted(wall in 10.0f64..1e5, busy in 0.5f64..64.0) {
            let mut result = result("lmdb", 1, 1, 100_000.0);
            (result.os.wall_s, result.os.user_s, result.os.sys_s) = (wall, busy * wall, 0.0);
            result.os.cpu_pct = (110.0 * busy) as u64 + 1;
            prop_assert!(cpu_disagrees(&result).is_some());
        }
    }
}
