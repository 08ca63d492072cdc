//! The kernel's accounts of a client's thread, read before and after a part of a trial and never within it.

use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU64;

use rustix::fs::{Mode, OFlags};

use crate::clock;
use crate::counter::bump;
use crate::usage::Usage;

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
    /// Times that it was given a processor.
    pub turns: AtomicU64,
}

impl PartTimes {
    pub(crate) fn note(&self, from: &Reading, until: &Reading) {
        bump(&self.wall_ns, until.wall_ns.saturating_sub(from.wall_ns));
        bump(&self.cpu_ns, until.cpu_ns.saturating_sub(from.cpu_ns));
        bump(&self.delayed_ns, until.delays.waited_ns.saturating_sub(from.delays.waited_ns));
        bump(&self.turns, until.delays.turns.saturating_sub(from.delays.turns));
    }

    /// Each figure, as a phrase that the name of the part completes, with its bound after `ns` of a trial.
    pub(crate) fn figures(&self, ns: u64) -> [(&'static str, &AtomicU64, u64); 4] {
        [
            ("nanoseconds of", &self.wall_ns, ns),
            ("nanoseconds on a processor in", &self.cpu_ns, ns),
            ("nanoseconds in wait for one in", &self.delayed_ns, ns),
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
    /// The usage of its process, if this client notes that.
    pub(crate) used: Option<Usage>,
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
    notes_process: bool,
}

impl ThreadAccounts {
    pub(crate) fn of_this_thread(notes_process: bool) -> ThreadAccounts {
        let open = rustix::fs::open("/proc/thread-self/schedstat", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        ThreadAccounts { schedstat: open.ok(), notes_process }
    }

    pub(crate) fn read(&self) -> Reading {
        Reading {
            wall_ns: clock::monotonic_ns(),
            cpu_ns: clock::thread_cpu_ns(),
            delays: self.schedstat.as_ref().and_then(delays).unwrap_or_default(),
            used: self.notes_process.then(Usage::now),
        }
    }
}

/// The second and the third figure of `/proc/PID/task/TID/schedstat`: the time in wait for a processor, and the number
/// of turns on one (the kernel's Documentation/scheduler/sched-stats.rst).
fn delays(schedstat: &OwnedFd) -> Option<Delays> {
    let mut text = [0; 96];
    let size = rustix::io::pread(schedstat, &mut text, 0).ok()?;
    let mut figures = std::str::from_utf8(&text[..size]).ok()?.split_ascii_whitespace().skip(1);
    let mut next = || figures.next()?.parse().ok();
    Some(Delays { waited_ns: next()?, turns: next()? })
}
