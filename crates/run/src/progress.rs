//! Progress, for a person to see while the lab works. The lab tells; the command line draws.

use std::time::Duration;

use kvdyno_results::{Percentile, SeriesPoint, TrialKey, TrialResult};

/// Figures of a trial's measured part up to now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SoFar {
    /// Records read a second.
    pub reads_per_s: f64,
    /// Records written a second.
    pub writes_per_s: f64,
    /// Nanoseconds that 99 of 100 reads took at most, of the kind that it made most of; absent without reads.
    pub read_p99_ns: Option<u64>,
    /// 99th percentile of write latency, ns, of the most frequent kind of write; absent without writes.
    pub write_p99_ns: Option<u64>,
}

impl SoFar {
    /// From one point for each kind of operation, over all of the time up to now.
    pub fn of(points: &[SeriesPoint]) -> SoFar {
        let of_side = |writes: bool| {
            let points: Vec<&SeriesPoint> = points.iter().filter(|point| point.kind.writes() == writes).collect();
            let main = points.iter().max_by_key(|point| point.operations).filter(|point| point.operations > 0);
            let rate = points.iter().map(|point| point.records_per_s).fold(0.0, |sum, rate| sum + rate);
            (rate, main.map(|point| point.percentiles[Percentile::P99]))
        };
        let ((reads_per_s, read_p99_ns), (writes_per_s, write_p99_ns)) = (of_side(false), of_side(true));
        SoFar { reads_per_s, writes_per_s, read_p99_ns, write_p99_ns }
    }
}

/// A trial under way.
#[derive(Clone, Debug)]
pub struct Live {
    /// The trial.
    pub trial: TrialKey,
    /// Time since the worker was started.
    pub elapsed: Duration,
    /// The worker's state, in words.
    pub state: &'static str,
    /// Records read a second, lately.
    pub reads_per_s: f64,
    /// Records written a second, lately.
    pub writes_per_s: f64,
    /// Figures of all of the measured part; absent in its first moments and before.
    pub so_far: Option<SoFar>,
    /// The part of the trial that is done, where that is known.
    pub fraction: Option<f64>,
    /// The time that the whole plan still needs, if it is known.
    pub left: Option<Duration>,
}

impl Live {
    /// The time that the trial still needs, if it goes on as it went; absent while nothing of it is done.
    pub fn trial_left(&self) -> Option<Duration> {
        let done = self.fraction.filter(|done| *done > 0.0)?;
        Duration::try_from_secs_f64(self.elapsed.as_secs_f64() * (1.0 - done) / done).ok()
    }
}

/// A receiver of progress reports.
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
