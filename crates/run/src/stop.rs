//! Stopping in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kvdyno_environment::process::Exit;

/// The signals by which whole jobs are ended.
const ENDS_JOBS: [&str; 4] = ["SIGHUP", "SIGINT", "SIGTERM", "SIGKILL"];
/// Between the signals to two processes of a job, at most.
const TOGETHER: Duration = Duration::from_millis(300);

/// A user's request to stop: the first for an orderly end, the second for an immediate one.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicUsize>);

impl Stop {
    /// The counter to be raised, by a signal handler for example.
    pub fn counter(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0)
    }

    /// Whether to stop.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }

    /// Whether a process that ended as `exit` was ended together with the lab. Who ends a whole job sends each of its
    /// processes the same signal, in any order, so this waits a moment for the lab's own. Then there is no result, and
    /// the trial is done again.
    pub(crate) fn comes_with(&self, exit: &Exit) -> bool {
        let Exit::Signal { name, .. } = exit else { return false };
        let begun = Instant::now();
        while ENDS_JOBS.contains(&name.as_str()) && !self.is_requested() && begun.elapsed() < TOGETHER {
            thread::sleep(TOGETHER / 30);
        }
        self.is_requested()
    }

    /// Whether to stop without waiting for anything.
    pub fn is_urgent(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 1
    }
}
