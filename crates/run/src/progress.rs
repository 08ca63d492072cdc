//! Progress, for a person to see while the lab works. The lab tells; the command line draws.

use std::time::Duration;

use kvdyno_results::{TrialKey, TrialResult};

/// A trial under way.
#[derive(Clone, Debug)]
pub struct Live {
    /// Since the worker was started.
    pub elapsed: Duration,
    /// The worker's state, in words.
    pub state: &'static str,
    /// Records read a second, lately.
    pub reads_per_s: f64,
    /// Records written a second, lately.
    pub writes_per_s: f64,
    /// The part of the trial that is done, where that is known.
    pub fraction: Option<f64>,
    /// The time that the whole plan still needs, where that can be told.
    pub left: Option<Duration>,
}

/// Somebody who wants to know.
pub trait Progress {
    /// A trial begins; it is the `index`-th of `count`.
    fn begin(&mut self, trial: &TrialKey, index: usize, count: usize);
    /// Some time passed in it.
    fn live(&mut self, live: &Live);
    /// It ended, and its result is saved.
    fn end(&mut self, result: &TrialResult);
    /// Something worth knowing happened between trials.
    fn note(&mut self, text: &str);
}
