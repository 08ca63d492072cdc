//! Checks that the contents of a trial's memory are possible: engines can write there, by a bug or on purpose.
//!
//! The parent holds it against its own clock and against the work that it ordered. Every bound is one that no sound
//! worker can exceed, however fast: a client ends at most one operation a tick, and works no longer than the trial
//! took.

use std::sync::atomic::{AtomicU64, Ordering};

use kvdyno_experiment::RunKey;

use crate::clock::{Calibration, Clock, Monotonic, Tsc, has_invariant_tsc};
use crate::histogram::{BUCKETS, at_least};
use crate::observer::Observer;
use crate::shared::{ClientOps, ClientStats, OpStats, PacingStats};
use crate::spec::KnownContents;
use crate::workloads::{TrialEnd, WorkloadSpec};

/// Tolerated relative difference between two measurements of one clock's rate. Over a tenth of a second they were seen
/// to agree to a thousandth.
const RATE_TOLERANCE: f64 = 0.05;
/// The time that reading may take, nanoseconds.
const READING_NS: f64 = 1e9;
/// Units of work that clients take at once, at the most.
const MOST_GIVEN_OUT: u64 = 1 << 16;
/// Bytes that a client can write in a tick: more than any memory takes.
const BYTES_A_TICK: u64 = 64;

/// The parent's own clock of a trial, which is the worker's too.
#[derive(Clone, Copy, Debug)]
pub struct TrialClock(ClockKind);

#[derive(Clone, Copy, Debug)]
enum ClockKind {
    Tsc(u64, Calibration<Tsc>),
    Monotonic(u64, Calibration<Monotonic>),
}

/// A time of the clock, ticks.
#[derive(Clone, Copy, Debug)]
struct TickSpan {
    from: u64,
    until: u64,
    per_ns: f64,
}

impl TrialClock {
    /// To be called before a worker is started.
    pub fn begin() -> TrialClock {
        TrialClock(match has_invariant_tsc() {
            true => ClockKind::Tsc(Tsc.now(), Calibration::begin(Tsc)),
            false => ClockKind::Monotonic(Monotonic.now(), Calibration::begin(Monotonic)),
        })
    }

    /// From the trial's beginning until a moment from now: the worker goes on while its counters are read.
    fn span(&self) -> TickSpan {
        let (from, now, per_ns) = match self.0 {
            ClockKind::Tsc(from, calibration) => (from, Tsc.now(), calibration.ticks_per_ns()),
            ClockKind::Monotonic(from, calibration) => (from, Monotonic.now(), calibration.ticks_per_ns()),
        };
        TickSpan { from, until: now.saturating_add((READING_NS * per_ns) as u64), per_ns }
    }
}

impl TickSpan {
    fn ticks(&self) -> u64 {
        self.until.saturating_sub(self.from)
    }

    /// Whether a moment lies in it, or was not noted yet.
    fn has(&self, moment: u64) -> bool {
        moment == 0 || (self.from..=self.until).contains(&moment)
    }
}

impl Observer<'_> {
    /// Why the contents of the shared memory are impossible; `None` if they are possible.
    ///
    /// `before` is what earlier trials left. If the trial `is_over`, everything that it had to count must be there.
    pub fn implausible(
        &self,
        workload: &WorkloadSpec,
        clock: &TrialClock,
        before: KnownContents,
        is_over: bool,
    ) -> Option<String> {
        let span = clock.span();
        let told = |what: String| format!("what lies in the trial's shared memory cannot be true: {what}");
        self.implausible_control(workload, &span, before, is_over)
            .or_else(|| {
                let roles = workload.roles();
                let clients = self.client_stats().iter().zip(&roles).enumerate();
                clients.into_iter().find_map(|(number, (stats, role))| {
                    let own = WorkloadSpec {
                        parameters: workload.parameters.of_client(number as u64).into_owned(),
                        name: workload.name,
                    };
                    let is_primary = number < workload.parameters.primary_clients() as usize;
                    let what = implausible_client(stats, &own, is_primary, &span, before).or_else(|| {
                        let expected = role.operations(&own.parameters);
                        let kinds: Vec<_> = stats.op_kinds().into_iter().flatten().collect();
                        // They are noted before a session is opened, one after the other.
                        let wrong = if is_over { kinds != expected } else { !expected.starts_with(&kinds) };
                        wrong.then(|| "it does other kinds of operations than its role".to_owned())
                    });
                    what.map(|what| format!("client {} of {}: {what}", number + 1, roles.len()))
                })
            })
            .map(told)
    }

    fn implausible_control(
        &self,
        workload: &WorkloadSpec,
        span: &TickSpan,
        before: KnownContents,
        is_over: bool,
    ) -> Option<String> {
        let control = self.control();
        if let Some(number) = control.unknown_state() {
            return Some(format!("the worker's state is {number}"));
        }
        let warmup = (workload.parameters.warmup.as_nanos() as f64 * span.per_ns) as u64;
        let from = control.measured_from.load(Ordering::Relaxed);
        if from != 0 && !(span.from..=span.until.saturating_add(warmup)).contains(&from) {
            return Some("the measured part began at another time than the trial".to_owned());
        }
        if is_over && from == 0 {
            return Some("the measured part never began".to_owned());
        }
        // In this order: more may be given out in between.
        let taken = control.taken.0.load(Ordering::Acquire);
        let given_out = control.shared_work.0.load(Ordering::Relaxed);
        if given_out > span.ticks().saturating_mul(MOST_GIVEN_OUT) {
            return Some(format!("{given_out} units of work given out in {} ticks", span.ticks()));
        }
        if taken > before.present.given_out.saturating_add(given_out) {
            return Some(format!("{taken} of the oldest records are to be deleted, more than there are"));
        }
        let rate = control.ticks_per_ns() / span.per_ns;
        if is_over && !((1.0 - RATE_TOLERANCE)..(1.0 + RATE_TOLERANCE)).contains(&rate) {
            return Some(format!("its clock runs at {rate:.3} of the lab's rate"));
        }
        None
    }
}

fn implausible_client(
    stats: &ClientStats,
    workload: &WorkloadSpec,
    is_primary: bool,
    span: &TickSpan,
    before: KnownContents,
) -> Option<String> {
    let most = span.ticks();
    let counters: [(&str, &AtomicU64, u64); 11] = [
        ("missing records", &stats.missing, most),
        ("errors", &stats.errors, most),
        ("wrong values", &stats.wrong, most),
        ("torn values", &stats.torn, most),
        ("stale values", &stats.stale, most),
        ("records read back", &stats.read_back, most),
        ("bytes written", &stats.user_bytes, most.saturating_mul(BYTES_A_TICK)),
        ("versions", &stats.version, before.last_version.saturating_add(most)),
        ("ids inserted", &stats.inserts.low_water, before.present.given_out.saturating_add(most)),
        ("oldest ids deleted", &stats.takes.low_water, before.present.given_out.saturating_add(most)),
        ("ids deleted", &stats.changing, workload.name.ids(&workload.parameters.data)),
    ];
    let exceeded = counters.into_iter().find_map(|(what, counter, most)| {
        let count = counter.load(Ordering::Relaxed);
        (count > most).then(|| format!("{count} {what} in {most} ticks"))
    });
    let of_slices = || {
        let slices = stats.slices.exceeding((most as f64 / span.per_ns) as u64, most, processors());
        slices.map(|(what, count, bound)| format!("{count} {what}, where {bound} can be"))
    };
    let of_workload = || {
        let bounds = workload.name.most_counted(&workload.parameters.data, most);
        let counts = stats.counters().into_iter().zip(bounds).enumerate();
        let exceeded = counts.into_iter().find(|(_, (count, bound))| count > bound);
        exceeded.map(|(number, (count, _))| format!("{count} in counter {number} of `{}`", workload.name))
    };
    let operations = match workload.parameters.end {
        // Others go on until those have done theirs.
        TrialEnd::Operations(operations) if is_primary && !workload.name.profile().loads => Some(operations),
        _ => None,
    };
    exceeded
        .or_else(of_slices)
        .or_else(of_workload)
        .or_else(|| implausible_part(&stats.warmup, stats, workload, span, None))
        .or_else(|| implausible_part(&stats.measured, stats, workload, span, operations))
}

/// The number of processors of the machine, whichever this process may run on.
fn processors() -> u64 {
    // SAFETY: it asks for a number, and answers -1 where there is none.
    let configured = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    u64::try_from(configured).unwrap_or(u64::MAX)
}

/// Why the counts of the warm-up or of the measured part are impossible; `None` if they are possible. `ordered` is the
/// number of operations that ends the measured part; no kind may have more.
fn implausible_part(
    part: &ClientOps,
    stats: &ClientStats,
    workload: &WorkloadSpec,
    span: &TickSpan,
    ordered: Option<u64>,
) -> Option<String> {
    let kinds = part.iter().zip(stats.op_kinds());
    let mut used = kinds.filter_map(|(ops, kind)| kind.map(|kind| (ops, kind)));
    used.find_map(|(ops, kind)| {
        // Operations at a given rate are timed from when they were due, so that their times overlap.
        // The clients of a mix are writers, whatever they do.
        let writes = kind.writes() || workload.name.accepts(RunKey::Rate);
        let paced = workload.parameters.interval_s(writes).is_some();
        implausible_operations(ops, span, paced, ordered)
    })
}

fn implausible_operations(ops: &OpStats, span: &TickSpan, paced: bool, ordered: Option<u64>) -> Option<String> {
    let (from, until) = (ops.from.load(Ordering::Relaxed), ops.until.load(Ordering::Relaxed));
    if !span.has(from) || !span.has(until) {
        return Some("it worked at another time than the trial".to_owned());
    }
    let mut counts = vec![0; BUCKETS];
    ops.latency.add_to(&mut counts);
    let (operations, records) = (counts.iter().sum::<u64>(), ops.records.load(Ordering::Relaxed));
    let ticks = span.ticks();
    if operations > ticks || records > ticks {
        return Some(format!("{operations} operations with {records} records in {ticks} ticks"));
    }
    if let Some(ordered) = ordered.filter(|ordered| operations > *ordered) {
        return Some(format!("{operations} operations where {ordered} were ordered"));
    }
    let PacingStats { operations: due, sleeping, spinning, overslept, behind, most_behind, queued } = &ops.pacing;
    let waits = [due, sleeping, spinning, overslept, behind, most_behind];
    if let Some(most) = waits.map(|word| word.load(Ordering::Relaxed)).into_iter().find(|waited| *waited > ticks) {
        return Some(format!("it waited {most} ticks for its operations in {ticks}"));
    }
    let queued = queued.load(Ordering::Relaxed);
    if queued > operations.saturating_add(1).saturating_mul(ticks) {
        return Some(format!("{operations} operations that were queued for {queued} ticks, in {ticks}"));
    }
    let (highest, sum) = at_least(&counts);
    if highest > ticks {
        return Some(format!("an operation of {highest} ticks in {ticks}"));
    }
    if !paced && sum > ticks as f64 {
        return Some(format!("{operations} operations that took {sum:.0} ticks, one after the other, in {ticks}"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::{ClientCounter, SharedMemory, WorkerState};
    use crate::thread_accounts::PartTimes;
    use crate::workloads::parameters::testing;
    use kvdyno_model::WorkloadName;
    use kvdyno_results::OpKind;
    use proptest::prelude::*;
    use std::time::Duration;

    const LIE: Ordering = Ordering::Relaxed;

    /// A reader that does a hundred operations.
    fn workload() -> WorkloadSpec {
        WorkloadSpec { name: WorkloadName::ReadRandom.into(), parameters: testing::a_hundred_reads() }
    }

    fn now() -> u64 {
        match TrialClock::begin().0 {
            ClockKind::Tsc(now, _) | ClockKind::Monotonic(now, _) => now,
        }
    }

    /// The memory of a trial that went well, and its clock.
    fn sound() -> (SharedMemory, TrialClock) {
        let (shared, clock) = (SharedMemory::create(1).unwrap(), TrialClock::begin());
        let (control, stats) = (shared.control(), &shared.client_stats()[0]);
        control.measured_from.store(now(), Ordering::Relaxed);
        stats.set_op_kinds(&[OpKind::Get]);
        let gets = &stats.measured[0];
        gets.from.store(now(), Ordering::Relaxed);
        (0..100).for_each(|_| gets.latency.record(20));
        std::thread::sleep(Duration::from_millis(20));
        gets.until.store(now(), Ordering::Relaxed);
        control.set_ticks_per_ns(clock.span().per_ns);
        control.enter(WorkerState::Done);
        (shared, clock)
    }

    fn implausible(shared: &SharedMemory, clock: &TrialClock) -> Option<String> {
        Observer::new(shared).implausible(&workload(), clock, KnownContents::loaded(1000), true)
    }

    #[test]
    fn a_sound_trial_is_believed() {
        let (shared, clock) = sound();
        assert_eq!(implausible(&shared, &clock), None);
    }

    #[test]
    fn what_cannot_be_is_told() {
        type Lie = fn(&SharedMemory);
        fn alone(shared: &SharedMemory) -> &PartTimes {
            &shared.client_stats()[0].slices.alone.times
        }
        let lies: [(Lie, &str); 22] = [
            (|shared| shared.control().set_ticks_per_ns(f64::NAN), "of the lab's rate"),
            (|shared| shared.control().set_ticks_per_ns(1e9), "of the lab's rate"),
            (|shared| shared.control().measured_from.store(0, Ordering::Relaxed), "the measured part never began"),
            (|shared| shared.control().measured_from.store(1, Ordering::Relaxed), "began at another time"),
            (|shared| shared.client_stats()[0].set_op_kinds(&[OpKind::Put]), "other kinds of operations than its role"),
            (|shared| shared.client_stats()[0].wrong.store(u64::MAX, Ordering::Relaxed), "wrong values in"),
            (|shared| shared.client_stats()[0].user_bytes.store(u64::MAX, Ordering::Relaxed), "bytes written in"),
            (|shared| shared.client_stats()[0].measured[0].until.store(u64::MAX, Ordering::Relaxed), "at another time"),
            (|shared| shared.client_stats()[0].measured[0].latency.record(20), "101 operations where 100 were ordered"),
            (|shared| shared.client_stats()[0].warmup[0].latency.record(u64::MAX / 2), "an operation of"),
            (|shared| shared.client_stats()[0].counter(ClientCounter(15)).store(1 << 60, LIE), "in counter 15 of"),
            (|shared| shared.control().taken.0.store(1001, LIE), "the oldest records are to be deleted"),
            (|shared| shared.client_stats()[0].slices.count.store(1 << 60, LIE), "slices, where"),
            (|shared| shared.client_stats()[0].slices.lead.cpu_ns.store(1 << 60, LIE), "on a processor in first"),
            (|shared| shared.client_stats()[0].slices.counted.delayed_ns.store(1 << 60, LIE), "in wait for one"),
            (|shared| shared.client_stats()[0].slices.duets.operations.store(1 << 60, LIE), "operations in duets"),
            (
                |shared| shared.client_stats()[0].slices.duets.times.cpu_ns.store(1 << 60, LIE),
                "on a processor in duets",
            ),
            (|shared| alone(shared).wall_ns.store(1 << 60, LIE), "nanoseconds of the measured part"),
            (|shared| alone(shared).cpu_ns.store(1 << 60, LIE), "on a processor in the measured part"),
            (|shared| alone(shared).delayed_ns.store(1 << 60, LIE), "in wait for one in the measured part"),
            (|shared| alone(shared).asleep_ns.store(1 << 60, LIE), "nanoseconds asleep in the measured part"),
            (|shared| alone(shared).turns.store(1 << 60, LIE), "turns on one in the measured part"),
        ];
        for (lie, words) in lies {
            let (shared, clock) = sound();
            lie(&shared);
            let told = implausible(&shared, &clock).unwrap_or_default();
            assert!(told.contains(words), "{words}: {told}");
        }
    }

    /// Each word of a client's slices has its bound, including those without a name outside.
    #[test]
    fn no_word_of_slices_is_believed_whatever_it_says() {
        let (shared, clock) = sound();
        let slices = &shared.client_stats()[0].slices;
        // SAFETY: it is of such words alone, and aligned to more than eight bytes.
        let words: &[AtomicU64] =
            unsafe { std::slice::from_raw_parts(std::ptr::from_ref(slices).cast(), size_of_val(slices) / 8) };
        let believed = |word: &&AtomicU64| {
            word.store(1 << 60, LIE);
            let told = implausible(&shared, &clock);
            word.store(0, LIE);
            told.is_none()
        };
        // 28 words in two blocks of 128 bytes: what is left is padding.
        assert_eq!((words.len(), words.iter().filter(believed).count()), (32, 4));
    }

    /// All words of the segment, by the way that the statistics are mapped.
    fn words(shared: &SharedMemory) -> &[AtomicU64] {
        let stats = shared.client_stats();
        // SAFETY: the statistics are of atomics alone, aligned to more than eight bytes, and as long as said.
        unsafe { std::slice::from_raw_parts(stats.as_ptr().cast(), size_of_val(stats) / 8) }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// Reading arbitrary bytes ends, and a trial over which they were written is not believed.
        #[test]
        fn any_bytes_are_looked_at_without_harm(seed: u64, zero: bool) {
            let (shared, clock) = sound();
            let mut state = seed | 1;
            for word in words(&shared) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                word.store(if zero { 0 } else { state }, Ordering::Relaxed);
            }
            let observer = Observer::new(&shared);
            prop_assert!(implausible(&shared, &clock).is_some());
            let _ = observer.operations(&workload().parameters);
            let _ = (observer.answers(), observer.user_bytes(), observer.histograms());
            let _ = observer.measured().rows_since(&observer.warmup(), 1.0, 1.0, f64::NAN);
        }
    }
}
