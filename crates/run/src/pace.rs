//! Durations of past work, and the time left that follows from them.

use std::collections::HashMap;
use std::time::Duration;

use kvdyno_results::TrialResult;

use kvdyno_plan::PlannedTrial;

/// Durations of loads and trials, learnt during the run.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Seconds of each engine's load.
    loads: HashMap<usize, f64>,
    /// Seconds of trials beyond the planned ones, and the number of trials.
    overhead: (f64, u32),
}

impl Pace {
    /// Learns from a trial. Trials that were open together share their time.
    pub(crate) fn learn(&mut self, planned: &PlannedTrial, result: &TrialResult) {
        let together = 1 + result.design.as_ref().map_or(0, |design| design.beside.len());
        match planned.expected_time() {
            None => {
                self.loads.insert(planned.engine, result.os.wall_s);
            }
            Some(time) => {
                self.overhead.0 += (result.os.wall_s / together as f64 - time.as_secs_f64()).max(0.0);
                self.overhead.1 += 1;
            }
        }
    }

    /// The time from the beginning of trial `number` to the end of these trials; unknown until some engine was loaded.
    pub(crate) fn left<'a>(&self, trials: impl Iterator<Item = &'a PlannedTrial>, number: u32) -> Option<Duration> {
        let overhead = if self.overhead.1 == 0 { 0.5 } else { self.overhead.0 / f64::from(self.overhead.1) };
        let mean_load = match self.loads.len() {
            0 => return None,
            count => self.loads.values().sum::<f64>() / count as f64,
        };
        let seconds = trials.filter(|trial| trial.key.number >= number).map(|trial| match trial.expected_time() {
            Some(time) => time.as_secs_f64() + overhead,
            None => self.loads.get(&trial.engine).copied().unwrap_or(mean_load),
        });
        Some(Duration::from_secs_f64(seconds.sum()))
    }
}
