//! The engine's counters over time, which a thread of the worker's reads while clients work, and the parent finds in
//! shared memory.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use kvdyno_engine::{Database, abi};

use crate::futex::{wait_while, wake_all};
use crate::shared::SharedCounters;

const WAITING: u32 = 0;
const SAMPLING: u32 = 1;
const OVER: u32 = 2;

/// Reads the counters of a database at intervals, from [`CounterSampler::begin`] to [`CounterSampler::end`].
#[derive(Debug)]
pub(crate) struct CounterSampler<'a> {
    shared: &'a SharedCounters,
    interval: Duration,
    state: AtomicU32,
}

impl<'a> CounterSampler<'a> {
    /// A sampler for the engine's counters; none if it has none, or may be called from one thread alone.
    pub(crate) fn of(database: &Database, shared: &'a SharedCounters, interval: Duration) -> Option<Self> {
        let has_any = database.can(abi::CAN_COUNT) && !database.can(abi::IS_SINGLE);
        has_any.then(|| CounterSampler { shared, interval, state: AtomicU32::new(WAITING) })
    }

    /// The thread that samples.
    pub(crate) fn run(&self, database: &Database) {
        loop {
            match self.state.load(Ordering::Acquire) {
                WAITING => wait_while(&self.state, WAITING, None),
                SAMPLING => {
                    self.sample(database);
                    wait_while(&self.state, SAMPLING, Some(self.interval));
                }
                _ => return,
            }
        }
    }

    fn sample(&self, database: &Database) {
        if let Some(counters) = database.counters() {
            self.shared.publish(&counters);
        }
    }

    /// The measured part begins.
    pub(crate) fn begin(&self) {
        self.enter(SAMPLING);
    }

    /// Nothing is to be read any more.
    pub(crate) fn end(&self) {
        self.enter(OVER);
    }

    fn enter(&self, state: u32) {
        self.state.store(state, Ordering::Release);
        wake_all(&self.state);
    }
}
