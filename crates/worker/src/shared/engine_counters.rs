//! The engine's counters, at the parent's request.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kvdyno_engine::Counters;

use crate::futex::{wait_while, wake_all};

/// Counts of an engine's own work, which a thread of the worker's reads at the parent's request. Each word of them is
/// one more than its count; 0 stands for one that is absent.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct SharedCounters {
    /// 1 while somebody answers.
    is_served: AtomicU32,
    /// The number of requests.
    wanted: AtomicU32,
    /// The last of them that was answered.
    answered: AtomicU32,
    flushed_bytes: AtomicU64,
    compacted_bytes: AtomicU64,
    stalled_ns: AtomicU64,
}

impl SharedCounters {
    /// The counts of this moment; `None` if nobody answers within `patience`.
    pub fn request(&self, patience: Duration) -> Option<Counters> {
        if self.is_served.load(Ordering::Acquire) == 0 {
            return None;
        }
        let wanted = self.want();
        let until = Instant::now() + patience;
        loop {
            let answered = self.answered.load(Ordering::Acquire);
            if answered.wrapping_sub(wanted) < u32::MAX / 2 {
                let counters = self.read();
                // The end answers everything, with nothing new.
                return (self.is_served.load(Ordering::Acquire) == 1).then_some(counters);
            }
            let left = until.checked_duration_since(Instant::now())?;
            wait_while(&self.answered, answered, Some(left));
        }
    }

    /// The number of a new request.
    fn want(&self) -> u32 {
        let wanted = self.wanted.fetch_add(1, Ordering::AcqRel).wrapping_add(1);
        wake_all(&self.wanted);
        wanted
    }

    /// Answers requests by what `counters` reads, until [`SharedCounters::end`].
    pub(crate) fn serve(&self, counters: impl Fn() -> Option<Counters>) {
        let mut answered = 0;
        while self.is_served.load(Ordering::Acquire) == 1 {
            let wanted = self.wanted.load(Ordering::Acquire);
            if wanted == answered {
                wait_while(&self.wanted, wanted, None);
                continue;
            }
            // What the engine does not tell is absent.
            self.publish(&counters().unwrap_or_default());
            answered = wanted;
            self.answered.store(answered, Ordering::Release);
            wake_all(&self.answered);
        }
    }

    /// Requests will be answered.
    pub(crate) fn begin(&self) {
        self.is_served.store(1, Ordering::Release);
    }

    /// Requests are not answered any more.
    pub(crate) fn end(&self) {
        self.is_served.store(0, Ordering::Release);
        let wanted = self.want();
        self.answered.store(wanted, Ordering::Release);
        wake_all(&self.answered);
    }

    fn publish(&self, counters: &Counters) {
        let store = |word: &AtomicU64, count: Option<u64>| {
            word.store(count.map_or(0, |count| count.saturating_add(1)), Ordering::Relaxed);
        };
        store(&self.flushed_bytes, counters.flushed_bytes);
        store(&self.compacted_bytes, counters.compacted_bytes);
        store(&self.stalled_ns, counters.stalled_ns);
    }

    fn read(&self) -> Counters {
        let count = |word: &AtomicU64| word.load(Ordering::Relaxed).checked_sub(1);
        Counters {
            flushed_bytes: count(&self.flushed_bytes),
            compacted_bytes: count(&self.compacted_bytes),
            stalled_ns: count(&self.stalled_ns),
        }
    }
}
