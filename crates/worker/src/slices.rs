//! Trials in slices: the parent orders each slice, and between two slices all clients stand still.
//!
//! Slices let trials be measured side by side: one at a time for a moment each, and two at once on the same processors.
//! In a slice of the first kind a trial has the machine to itself; these slices are its measured part. In a slice of
//! the second kind, a *duet*, only operations and processor time are used, and they are counted separately. A client
//! reads the parameters of a slice before it, and notes its counts after it, so slices add no work to the measured
//! loop. Operations for the account of CPU time are those of both parts of a slice, for the parent reads the account of
//! the whole slice.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::{self, Clock};
use crate::counter::bump;
use crate::futex::{wait_while, wake_all};
use crate::thread_accounts::{LEAST_SWITCH_NS, PartTimes, Reading, ThreadAccounts};
use crate::usage::Usage;

/// The part of a trial's specification that says that it works in slices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceSpec {
    /// Client i runs on the i-th of these processors alone; empty: wherever its worker may.
    pub cpus: Vec<u32>,
}

/// One slice, as it was ordered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// The first part, which is not counted.
    pub lead: Duration,
    /// The part that is.
    pub length: Duration,
    /// Another trial works on the same processors at the same time.
    pub is_duet: bool,
    /// Operations a second of all clients whose highest rate is searched; infinite for as many as they can do. Absent
    /// where none is searched.
    pub per_s: Option<f64>,
}

/// The moment at which a slice begins. Trials that work at the same time have one for both: neither has a head start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceMoment(u64);

impl SliceMoment {
    /// This one.
    pub fn now() -> SliceMoment {
        SliceMoment(clock::monotonic_ns())
    }
}

/// A slice by its moments, which are the same for all clients: one that gets its processor late has less of it, and has
/// not worked faster. Nanoseconds of `CLOCK_MONOTONIC`.
struct OrderedSlice {
    number: u32,
    has_lead: bool,
    counted_from_ns: u64,
    until_ns: u64,
    is_duet: bool,
}

/// The coordination of slices between parent and clients. It lies in shared memory; all zero means that no slice was
/// ordered yet.
#[repr(C)]
#[derive(Debug)]
pub struct SliceControl {
    /// The number of the slice under way or ended; clients wait for the next.
    number: AtomicU32,
    /// Clients that have reached its end.
    ended: AtomicU32,
    /// Clients that take no slice any more.
    left: AtomicU32,
    /// 1 when no slice comes any more.
    over: AtomicU32,
    is_duet: AtomicU32,
    _unused: u32,
    /// When it begins, ns of `CLOCK_MONOTONIC`: its parts begin and end at the same moments for all clients.
    ordered_ns: AtomicU64,
    lead_ns: AtomicU64,
    length_ns: AtomicU64,
    /// The bits of the slice's rate, operations a second; 0 for none.
    per_s: AtomicU64,
}

impl SliceControl {
    /// Orders the next slice, from `moment` on. The one before it has ended.
    pub fn order(&self, slice: Slice, moment: SliceMoment) {
        self.ordered_ns.store(moment.0, Ordering::Relaxed);
        self.lead_ns.store(slice.lead.as_nanos() as u64, Ordering::Relaxed);
        self.length_ns.store(slice.length.as_nanos() as u64, Ordering::Relaxed);
        self.is_duet.store(slice.is_duet.into(), Ordering::Relaxed);
        self.per_s.store(slice.per_s.unwrap_or(0.0).to_bits(), Ordering::Relaxed);
        self.ended.store(0, Ordering::SeqCst);
        self.number.fetch_add(1, Ordering::SeqCst);
        wake_all(&self.number);
    }

    /// Says that no slice comes any more.
    pub fn finish(&self) {
        self.over.store(1, Ordering::SeqCst);
        self.number.fetch_add(1, Ordering::SeqCst);
        wake_all(&self.number);
    }

    /// Waits until `clients` have ended the slice or left, for at most `timeout`. Returns whether they have.
    pub fn wait_ended(&self, clients: u32, timeout: Duration) -> bool {
        let are_through = || {
            let ended = self.ended.load(Ordering::SeqCst);
            (ended.saturating_add(self.left.load(Ordering::SeqCst)) >= clients, ended)
        };
        let (through, ended) = are_through();
        if through {
            return true;
        }
        wait_while(&self.ended, ended, Some(timeout));
        are_through().0
    }

    /// The rate of the slice under way, operations a second, of the clients whose highest rate is searched. Absent
    /// where it has none.
    pub(crate) fn per_s(&self) -> Option<f64> {
        Some(f64::from_bits(self.per_s.load(Ordering::Relaxed))).filter(|rate| *rate > 0.0)
    }

    /// Waits for the slice after number `seen`; `None` if there is none.
    fn next(&self, seen: u32) -> Option<OrderedSlice> {
        loop {
            let number = self.number.load(Ordering::SeqCst);
            if self.over.load(Ordering::SeqCst) == 1 {
                return None;
            }
            if number != seen {
                let of = |ns: &AtomicU64| ns.load(Ordering::Relaxed);
                let counted_from_ns = of(&self.ordered_ns).saturating_add(of(&self.lead_ns));
                return Some(OrderedSlice {
                    number,
                    has_lead: of(&self.lead_ns) > 0,
                    counted_from_ns,
                    until_ns: counted_from_ns.saturating_add(of(&self.length_ns)),
                    is_duet: self.is_duet.load(Ordering::Relaxed) == 1,
                });
            }
            wait_while(&self.number, seen, None);
        }
    }

    fn end(&self) {
        self.ended.fetch_add(1, Ordering::SeqCst);
        wake_all(&self.ended);
    }

    fn leave(&self) {
        self.left.fetch_add(1, Ordering::SeqCst);
        wake_all(&self.ended);
    }
}

/// A client's slices together. All zero: it works in none.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct SliceStats {
    /// Slices of the measured part.
    pub count: AtomicU64,
    /// The time by which the operations of the measured part are counted, ns: from the moment at which all may begin to
    /// the client's own end.
    pub counted_ns: AtomicU64,
    /// The first parts of all.
    pub lead: PartTimes,
    /// The counted parts of those of the measured part.
    pub counted: PartTimes,
    used: SharedUsage,
    /// Both parts of those of the measured part. Without slices, the times in the measured part, and no operations.
    pub alone: WorkTotals,
    /// Both parts of duets.
    pub duets: WorkTotals,
}

/// Operations of a client, and the time of its thread meanwhile.
#[repr(C)]
#[derive(Debug)]
pub struct WorkTotals {
    /// Operations.
    pub operations: AtomicU64,
    /// The time of its thread.
    pub times: PartTimes,
}

impl WorkTotals {
    fn note(&self, from: &Reading, until: &Reading, operations: u64) {
        bump(&self.operations, operations);
        self.times.note(from, until);
    }
}

/// The costs of a process, noted by one of its clients.
#[repr(C)]
#[derive(Debug)]
struct SharedUsage {
    user_us: AtomicU64,
    sys_us: AtomicU64,
    ctx_switches: AtomicU64,
    inputs: AtomicU64,
}

impl SharedUsage {
    fn note(&self, from: &Reading, until: &Reading) {
        let (Some(from), Some(until)) = (from.used, until.used) else { return };
        let used = until.since(from);
        bump(&self.user_us, (used.user_s * 1e6).round() as u64);
        bump(&self.sys_us, (used.sys_s * 1e6).round() as u64);
        bump(&self.ctx_switches, used.ctx_switches);
        bump(&self.inputs, used.inputs);
    }

    fn get(&self) -> Usage {
        let seconds = |us: &AtomicU64| us.load(Ordering::Relaxed) as f64 / 1e6;
        Usage {
            user_s: seconds(&self.user_us),
            sys_s: seconds(&self.sys_us),
            ctx_switches: self.ctx_switches.load(Ordering::Relaxed),
            inputs: self.inputs.load(Ordering::Relaxed),
        }
    }
}

impl SliceStats {
    /// The costs of the client's process in the measured part, if it is the one that notes them.
    pub(crate) fn used(&self) -> Usage {
        self.used.get()
    }

    /// A counter that exceeds its bound after `ns` of a trial: its name, its value and the bound.
    pub(crate) fn exceeding(&self, ns: u64, ticks: u64, processors: u64) -> Option<(String, u64, u64)> {
        let process_us = (ns / 1000).saturating_mul(processors);
        let switches = (ns / LEAST_SWITCH_NS).saturating_mul(processors);
        let bounds = [
            // Each is ordered by a system call and waited for by another.
            ("slices", &self.count, ns / 1000),
            ("nanoseconds of slices", &self.counted_ns, ns),
            ("operations in slices", &self.alone.operations, ticks),
            ("operations in duets", &self.duets.operations, ticks),
            ("microseconds of its process", &self.used.user_us, process_us),
            ("microseconds of its process in the kernel", &self.used.sys_us, process_us),
            ("context switches of its process", &self.used.ctx_switches, switches),
            // 512 GB/s.
            ("blocks that its process read", &self.used.inputs, ns),
        ];
        let times = [
            ("first parts", &self.lead),
            ("counted parts", &self.counted),
            ("the measured part", &self.alone.times),
            ("duets", &self.duets.times),
        ];
        let of_times = times.into_iter().flat_map(|(part, times)| {
            times.figures(ns).map(|(what, word, most)| (format!("{what} {part}"), word.load(Ordering::Relaxed), most))
        });
        let counts = bounds.into_iter().map(|(what, word, most)| (what.to_owned(), word.load(Ordering::Relaxed), most));
        counts.chain(of_times).find(|(_, count, most)| count > most)
    }

    fn note(&self, counted_from_ns: u64, from: &Reading, until: &Reading) {
        bump(&self.count, 1);
        bump(&self.counted_ns, until.wall_ns.saturating_sub(counted_from_ns));
        self.counted.note(from, until);
        self.used.note(from, until);
    }
}

/// A client's way through its slices.
pub(crate) struct SlicedClient<'a> {
    pub(crate) control: &'a SliceControl,
    pub(crate) stats: &'a SliceStats,
    pub(crate) ticks_per_ns: f64,
    /// Whether this client notes the costs of its process.
    pub(crate) notes_process: bool,
}

/// A part of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlicePart {
    /// The first, which is not counted.
    Lead,
    /// The counted one of a slice of the measured part.
    Counted,
    /// The counted one of a duet.
    Duet,
}

impl SlicedClient<'_> {
    /// Calls `work` for each part of each slice, with the moment at which the part ends, ticks, until there are no more
    /// slices or `is_over`. `operations` gives all operations so far.
    pub(crate) fn run(
        &self,
        clock: impl Clock,
        is_over: impl Fn() -> bool,
        operations: impl Fn() -> u64,
        mut work: impl FnMut(SlicePart, &AtomicU64),
    ) {
        let accounts = ThreadAccounts::of_this_thread(self.notes_process);
        let moment = |ns: u64| {
            let left_ns = ns.saturating_sub(clock::monotonic_ns());
            AtomicU64::new(clock.now() + (left_ns as f64 * self.ticks_per_ns) as u64)
        };
        let (mut seen, mut total) = (0, operations());
        while let Some(slice) = self.control.next(seen) {
            if is_over() {
                break;
            }
            let begin = accounts.read();
            if slice.has_lead {
                work(SlicePart::Lead, &moment(slice.counted_from_ns));
                self.stats.lead.note(&begin, &accounts.read());
            }
            if slice.until_ns > slice.counted_from_ns {
                let part = if slice.is_duet { SlicePart::Duet } else { SlicePart::Counted };
                let from = accounts.read();
                work(part, &moment(slice.until_ns));
                let until = accounts.read();
                // To count takes some microseconds: it is done when the slice is over.
                let done = operations().saturating_sub(total);
                if slice.is_duet {
                    self.stats.duets.note(&begin, &until, done);
                } else {
                    self.stats.note(slice.counted_from_ns, &from, &until);
                    self.stats.alone.note(&begin, &until, done);
                }
            }
            total = operations();
            seen = slice.number;
            self.control.end();
        }
        self.control.leave();
    }
}

/// Lets the calling thread run on one processor alone.
///
/// # Errors
/// If it may not run there.
pub(crate) fn pin_to(cpu: u32) -> io::Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu as usize);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Monotonic;
    use crate::shared::SharedMemory;
    use std::thread;

    fn slice(lead: u64, length: u64) -> Slice {
        Slice { lead: Duration::from_millis(lead), length: Duration::from_millis(length), is_duet: false, per_s: None }
    }

    fn until_ended(control: &SliceControl, clients: u32) {
        while !control.wait_ended(clients, Duration::from_secs(1)) {}
    }

    #[test]
    fn turns_are_as_many_as_the_time_has_room_for() {
        let shared = SharedMemory::create(1).unwrap();
        let stats = &shared.client_stats()[0].slices;
        let told = |turns: u64| {
            stats.alone.times.turns.store(turns, Ordering::Relaxed);
            stats.exceeding(1_000_000, 1, 1)
        };
        let most = 1_000_000 / LEAST_SWITCH_NS;
        assert_eq!(told(most), None);
        assert_eq!(told(most + 1), Some(("turns on one in the measured part".to_owned(), most + 1, most)));
    }

    #[test]
    fn clients_work_only_in_slices_and_count_duets_by_themselves() {
        let shared = SharedMemory::create(2).unwrap();
        let control = &shared.control().slices;
        let worked = [(); 2].map(|()| AtomicU64::new(0));
        thread::scope(|scope| {
            for (stats, worked) in shared.client_stats().iter().zip(&worked) {
                let client = SlicedClient { control, stats: &stats.slices, ticks_per_ns: 1.0, notes_process: true };
                scope.spawn(move || {
                    let operations = || worked.load(Ordering::Relaxed);
                    client.run(
                        Monotonic,
                        || false,
                        operations,
                        |part, until| {
                            bump(worked, if part == SlicePart::Lead { 1 } else { 10 });
                            while Monotonic.now() < until.load(Ordering::Relaxed) {}
                        },
                    );
                });
            }
            for (length, is_duet) in [(0, false), (1, false), (1, true), (1, false)] {
                control.order(Slice { is_duet, ..slice(1, length) }, SliceMoment::now());
                until_ended(control, 2);
            }
            // Before any assertion: a client that waits for a slice would block the report of a failure.
            control.finish();
        });
        assert_eq!(worked.each_ref().map(|worked| worked.load(Ordering::Relaxed)), [4 + 3 * 10; 2]);
        for stats in shared.client_stats() {
            let of = |word: &AtomicU64| word.load(Ordering::Relaxed);
            assert_eq!(of(&stats.slices.count), 2);
            // From the moment at which both may begin: who comes late has the same time, and does less in it.
            assert!(of(&stats.slices.counted_ns) >= 2_000_000, "{}", of(&stats.slices.counted_ns));
            // With those of their first parts; the slice without a counted part is warm-up.
            assert_eq!(of(&stats.slices.duets.operations), 11);
            assert_eq!(of(&stats.slices.alone.operations), 2 * 11);
            let [duets, alone] = [&stats.slices.duets, &stats.slices.alone].map(|work| &work.times);
            assert!(of(&duets.cpu_ns) > 0 && of(&alone.cpu_ns) > 0);
            assert!(of(&alone.wall_ns) > of(&stats.slices.counted.wall_ns), "the first parts, too");
            assert!(of(&stats.slices.lead.wall_ns) > 0);
        }
    }

    /// Whichever hears of it first.
    #[test]
    fn two_trials_that_begin_at_one_moment_end_at_one() {
        let shared = [SharedMemory::create(1).unwrap(), SharedMemory::create(1).unwrap()];
        let moment = SliceMoment::now();
        for one in &shared {
            thread::sleep(Duration::from_millis(2));
            one.control().slices.order(slice(3, 5), moment);
        }
        let [one, other] = shared.each_ref().map(|one| one.control().slices.next(0).unwrap());
        assert_eq!((one.counted_from_ns, one.until_ns), (other.counted_from_ns, other.until_ns));
        assert_eq!(one.until_ns, moment.0 + 8_000_000);
    }

    #[test]
    fn nobody_waits_for_a_client_that_has_left() {
        let shared = SharedMemory::create(1).unwrap();
        let control = &shared.control().slices;
        control.order(slice(0, 1), SliceMoment::now());
        assert!(!control.wait_ended(1, Duration::from_millis(1)));
        let client =
            SlicedClient { control, stats: &shared.client_stats()[0].slices, ticks_per_ns: 1.0, notes_process: false };
        client.run(Monotonic, || true, || 0, |_, _| panic!("it is over"));
        assert!(control.wait_ended(1, Duration::from_secs(60)));
    }
}
