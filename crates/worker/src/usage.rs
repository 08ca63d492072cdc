//! Resources that a process uses, and the counters of its engine.

use std::mem;
use std::time::Duration;

use kvdyno_engine::{Counters, Database};
use kvdyno_environment::memory::GroupCpuAccount;
use kvdyno_results::EngineCounters;

/// The resources and the counters up to a moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UsedSoFar {
    pub(crate) usage: Usage,
    /// Absent where nobody counts it, and for a process that is not to read it.
    group: Option<Duration>,
    counters: Option<Counters>,
}

impl UsedSoFar {
    /// Up to now.
    pub(crate) fn now(database: &Database, group: Option<&GroupCpuAccount>) -> UsedSoFar {
        let group = group.and_then(|account| account.read().ok());
        UsedSoFar { counters: database.counters(), usage: Usage::now(), group }
    }

    /// The CPU time of everything in the group since then, seconds.
    pub(crate) fn group_cpu_s(&self, group: Option<&GroupCpuAccount>) -> Option<f64> {
        let (before, now) = (self.group?, group?.read().ok()?);
        Some(now.saturating_sub(before).as_secs_f64())
    }

    /// The difference of the counters since then.
    pub(crate) fn counted(&self, database: &Database) -> Option<EngineCounters> {
        let (before, now) = (self.counters?, database.counters()?);
        let since = |part: fn(&Counters) -> Option<u64>| Some(part(&now)?.saturating_sub(part(&before)?));
        Some(EngineCounters {
            flushed_bytes: since(|counters| counters.flushed_bytes),
            compacted_bytes: since(|counters| counters.compacted_bytes),
            stalled_s: since(|counters| counters.stalled_ns).map(|ns| ns as f64 / 1e9),
        })
    }
}

/// The resources that a process has used so far, or between two moments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) user_s: f64,
    pub(crate) sys_s: f64,
    pub(crate) ctx_switches: u64,
    /// Blocks of [`kvdyno_results::ACCOUNTED_BLOCK`] bytes that it caused to be read from the storage.
    pub(crate) inputs: u64,
}

/// The usage of the calling process or thread (`getrusage(2)`).
fn usage_of(who: libc::c_int) -> libc::rusage {
    let mut usage = mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage fills the struct that it is given; zeroes are valid if it fails.
    unsafe {
        libc::getrusage(who, usage.as_mut_ptr());
        usage.assume_init()
    }
}

/// Times that the calling thread has given its processor up by itself.
pub(crate) fn given_up() -> u64 {
    usage_of(libc::RUSAGE_THREAD).ru_nvcsw as u64
}

impl Usage {
    /// The resources that this process has used so far.
    pub(crate) fn now() -> Usage {
        let usage = usage_of(libc::RUSAGE_SELF);
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        Usage {
            user_s: seconds(usage.ru_utime),
            sys_s: seconds(usage.ru_stime),
            ctx_switches: (usage.ru_nvcsw + usage.ru_nivcsw) as u64,
            inputs: usage.ru_inblock as u64,
        }
    }

    pub(crate) fn plus(self, more: Usage) -> Usage {
        Usage {
            user_s: self.user_s + more.user_s,
            sys_s: self.sys_s + more.sys_s,
            ctx_switches: self.ctx_switches + more.ctx_switches,
            inputs: self.inputs + more.inputs,
        }
    }

    /// CPU seconds, user and system.
    pub(crate) fn cpu_s(self) -> f64 {
        self.user_s + self.sys_s
    }

    pub(crate) fn since(self, before: Usage) -> Usage {
        Usage {
            user_s: self.user_s - before.user_s,
            sys_s: self.sys_s - before.sys_s,
            ctx_switches: self.ctx_switches - before.ctx_switches,
            inputs: self.inputs - before.inputs,
        }
    }
}
