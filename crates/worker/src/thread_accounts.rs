//! The kernel's accounts of threads, a client's or the engine's, read before and after a part of a trial and never
//! within it.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use kvdyno_environment::event_counter::EventCounter;
use kvdyno_environment::interference::are_waits_told;
use rustix::fs::{Mode, OFlags};

use crate::clock;
use crate::counter::bump;
use crate::usage::{Usage, given_up};

/// The time of a client's thread in the measured part, or in parts of its slices.
#[repr(C)]
#[derive(Debug)]
pub struct PartTimes {
    /// From their beginnings to their ends, ns.
    pub wall_ns: AtomicU64,
    /// On a processor, ns.
    pub cpu_ns: AtomicU64,
    /// In wait for a processor, ns.
    pub delayed_ns: AtomicU64,
    /// Asleep, ns: neither on a processor nor in wait for one.
    pub asleep_ns: AtomicU64,
    /// Times that it was given a processor.
    pub turns: AtomicU64,
}

impl PartTimes {
    pub(crate) fn note(&self, from: &Reading, until: &Reading) {
        bump(&self.wall_ns, until.wall_ns.saturating_sub(from.wall_ns));
        bump(&self.cpu_ns, until.cpu_ns.saturating_sub(from.cpu_ns));
        bump(&self.delayed_ns, until.delays.waited_ns.saturating_sub(from.delays.waited_ns));
        bump(&self.asleep_ns, until.asleep_since(from));
        bump(&self.turns, until.delays.turns.saturating_sub(from.delays.turns));
    }

    /// Each figure, as a phrase that the name of the part completes, with its bound after `ns` of a trial.
    pub(crate) fn figures(&self, ns: u64) -> [(&'static str, &AtomicU64, u64); 5] {
        [
            ("nanoseconds of", &self.wall_ns, ns),
            ("nanoseconds on a processor in", &self.cpu_ns, ns),
            ("nanoseconds in wait for one in", &self.delayed_ns, ns),
            ("nanoseconds asleep in", &self.asleep_ns, ns),
            ("turns on one in", &self.turns, ns / LEAST_SWITCH_NS),
        ]
    }
}

/// A context switch takes longer than this.
pub(crate) const LEAST_SWITCH_NS: u64 = 100;

/// The accounts of a thread at a moment.
pub(crate) struct Reading {
    pub(crate) wall_ns: u64,
    cpu_ns: u64,
    delays: Delays,
    /// On a processor by the machine's clock, ns; absent where the kernel does not count it.
    on_processor_ns: Option<u64>,
    /// Times that it gave its processor up by itself.
    given_up: u64,
    /// The usage of its process, if this client notes that.
    pub(crate) used: Option<Usage>,
}

impl Reading {
    /// The time that its thread slept since `before`, ns.
    ///
    /// CPU time is without what interrupts and a hypervisor take, so that the rest of the time is not all sleep. A
    /// thread that never gave its processor up did not sleep; of another the clock tells that counts these, too. Where
    /// there is none, all the rest counts as sleep.
    fn asleep_since(&self, before: &Reading) -> u64 {
        if self.given_up == before.given_up {
            return 0;
        }
        let on_processor_ns = match self.on_processor_ns.zip(before.on_processor_ns) {
            Some((until, from)) => until.saturating_sub(from),
            None => self.cpu_ns.saturating_sub(before.cpu_ns),
        };
        let delayed_ns = self.delays.waited_ns.saturating_sub(before.delays.waited_ns);
        self.wall_ns.saturating_sub(before.wall_ns).saturating_sub(on_processor_ns.saturating_add(delayed_ns))
    }
}

/// The kernel's account of a thread's waits for a processor.
#[derive(Clone, Copy, Default)]
struct Delays {
    waited_ns: u64,
    turns: u64,
}

/// The accounts of the thread that made it.
pub(crate) struct ThreadAccounts {
    /// `/proc/thread-self/schedstat`; absent where the kernel has none.
    schedstat: Option<OwnedFd>,
    /// Absent where this process may not have it.
    on_processor: Option<EventCounter>,
    notes_process: bool,
}

impl ThreadAccounts {
    pub(crate) fn of_this_thread(notes_process: bool) -> ThreadAccounts {
        let open = rustix::fs::open("/proc/thread-self/schedstat", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        let on_processor = EventCounter::of_thread_time().ok();
        ThreadAccounts { schedstat: open.ok(), on_processor, notes_process }
    }

    pub(crate) fn read(&self) -> Reading {
        Reading {
            wall_ns: clock::monotonic_ns(),
            cpu_ns: clock::thread_cpu_ns(),
            delays: self.schedstat.as_ref().and_then(delays).unwrap_or_default(),
            on_processor_ns: self.on_processor.as_ref().and_then(EventCounter::read),
            given_up: given_up(),
            used: self.notes_process.then(Usage::now),
        }
    }
}

/// The second and the third figure of `/proc/PID/task/TID/schedstat`: the time in wait for a processor, and the number
/// of turns on one (the kernel's Documentation/scheduler/sched-stats.rst).
fn delays(schedstat: &OwnedFd) -> Option<Delays> {
    let mut text = [0; 96];
    let size = rustix::io::pread(schedstat, &mut text, 0).ok()?;
    let [_, waited_ns, turns] = figures(std::str::from_utf8(&text[..size]).ok()?)?;
    Some(Delays { waited_ns, turns })
}

/// The figures of a `schedstat`: ns on a processor, ns in wait for one, and turns on one.
fn figures(schedstat: &str) -> Option<[u64; 3]> {
    let mut figures = schedstat.split_ascii_whitespace().map(str::parse);
    let mut next = || figures.next()?.ok();
    Some([next()?, next()?, next()?])
}

/// The times of the threads of this process that are no clients: the engine's, and the one that coordinates.
#[derive(Debug)]
pub(crate) struct OtherThreads {
    /// On a processor and in wait for one, ns, by the thread's id.
    times: BTreeMap<i32, [u64; 2]>,
}

impl OtherThreads {
    /// Their times so far; `clients` has the ids of the clients' threads. Absent where the kernel does not say.
    pub(crate) fn read(clients: &[AtomicI32]) -> Option<OtherThreads> {
        let is_client = |id: i32| clients.iter().any(|client| client.load(Ordering::Relaxed) == id);
        let mut times = BTreeMap::new();
        for thread in fs::read_dir("/proc/self/task").ok().filter(|_| are_waits_told())? {
            let thread = thread.ok()?;
            let id = thread.file_name().to_str()?.parse().ok()?;
            // One that has just ended has no account any more.
            let text = fs::read_to_string(thread.path().join("schedstat")).ok();
            if let Some([cpu_ns, waited_ns, _]) = text.as_deref().and_then(figures).filter(|_| !is_client(id)) {
                times.insert(id, [cpu_ns, waited_ns]);
            }
        }
        Some(OtherThreads { times })
    }

    /// CPU time and time in wait of those that are left, since `before`, ns.
    pub(crate) fn since(&self, before: &OtherThreads) -> [u64; 2] {
        let sum = |index: usize| {
            let of = |(id, times): (&i32, &[u64; 2])| {
                times[index].saturating_sub(before.times.get(id).map_or(0, |times| times[index]))
            };
            self.times.iter().map(of).sum()
        };
        [sum(0), sum(1)]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    #[test]
    fn times_are_those_of_threads_that_are_no_clients() {
        assert_eq!(figures("12 34 5\n"), Some([12, 34, 5]));
        assert_eq!(figures("12 34"), None);
        let (barrier, ids) = (Barrier::new(3), [const { AtomicI32::new(0) }; 2]);
        let [both, one] = thread::scope(|scope| {
            for id in &ids {
                let barrier = &barrier;
                scope.spawn(move || {
                    id.store(rustix::thread::gettid().as_raw_nonzero().get(), Ordering::Relaxed);
                    barrier.wait();
                    barrier.wait();
                });
            }
            barrier.wait();
            let read = [&ids[..], &ids[..1]].map(OtherThreads::read);
            barrier.wait();
            read
        });
        assert_eq!([both.is_some(), one.is_some()], [are_waits_told(); 2]);
        let Some((both, one)) = both.zip(one) else { return };
        let [id, other] = ids.map(AtomicI32::into_inner);
        let has = |threads: &OtherThreads| [id, other].map(|id| threads.times.contains_key(&id));
        assert_eq!((has(&both), has(&one)), ([false, false], [false, true]));
    }

    /// Of 1000 ns, 600 on a processor and 100 in wait for one.
    #[test]
    fn a_thread_that_never_gave_its_processor_up_did_not_sleep() {
        let at = |ns: u64, on_processor_ns: Option<u64>, given_up| Reading {
            wall_ns: 10 * ns,
            cpu_ns: 6 * ns,
            delays: Delays { waited_ns: ns, turns: 0 },
            on_processor_ns,
            given_up,
            used: None,
        };
        let asleep = |on_processor_ns: Option<u64>, given_up| {
            at(100, on_processor_ns, given_up).asleep_since(&at(0, on_processor_ns.map(|_| 0), 0))
        };
        assert_eq!([asleep(None, 0), asleep(Some(600), 0)], [0, 0]);
        assert_eq!([asleep(None, 1), asleep(Some(850), 1), asleep(Some(990), 1)], [300, 50, 0]);
    }

    #[test]
    fn a_thread_that_began_since_counts_whole_and_one_that_ended_does_not() {
        let of = |times: &[(i32, [u64; 2])]| OtherThreads { times: times.iter().copied().collect() };
        let [before, now] = [of(&[(1, [10, 20]), (2, [100, 100])]), of(&[(1, [13, 25]), (3, [4, 7])])];
        assert_eq!(now.since(&before), [7, 12]);
    }
}
