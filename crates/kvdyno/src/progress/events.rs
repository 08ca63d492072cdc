//! `--json`: what happens, one JSON object a line on standard output.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use kvdyno_results::{Operations, TrialKey, TrialOutcome, TrialResult};
use kvdyno_run::{Live, Progress};
use serde::Serialize;

use super::complain;
use crate::output::print;

/// Between two events of progress.
const PERIOD: Duration = Duration::from_secs(1);

/// Prints them.
#[derive(Default)]
pub struct Events {
    has_complained: bool,
    /// Time of the report of progress.
    told: Option<Instant>,
}

/// A line: the time of it and what happened.
#[derive(Serialize)]
struct EventLine<'a> {
    time: Timestamp,
    #[serde(flatten)]
    event: RunEvent<'a>,
}

/// A happening.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
enum RunEvent<'a> {
    /// A trial begins.
    TrialBegun {
        trial: &'a TrialKey,
        /// Trials of the plan.
        of: usize,
    },
    /// It goes on.
    TrialProgress {
        trial: &'a TrialKey,
        /// The state of its worker: `opening`, `measuring`.
        state: &'static str,
        elapsed_s: f64,
        /// The part of it that is done; null where that is not known.
        done: Option<f64>,
        /// Rates and latencies over the measured part so far; null before it.
        reads_per_s: Option<f64>,
        writes_per_s: Option<f64>,
        read_p99_ns: Option<u64>,
        write_p99_ns: Option<u64>,
        /// The seconds that it still needs, about; null where that is not known.
        trial_left_s: Option<f64>,
        /// The seconds that the whole plan still needs.
        plan_left_s: Option<f64>,
    },
    /// It ended well.
    TrialFinished {
        trial: &'a TrialKey,
        wall_s: f64,
        reads_per_s: f64,
        writes_per_s: f64,
        operations: &'a [Operations],
    },
    /// It did not.
    TrialFailed {
        trial: &'a TrialKey,
        /// The kind, as results spell it: `wrong-answer`.
        kind: kvdyno_results::FailureKind,
        reason: &'a str,
    },
    /// Something worth knowing, for people.
    Note { text: &'a str },
}

impl Events {
    fn say(&mut self, event: RunEvent<'_>) {
        let line = EventLine { time: Timestamp::now(), event };
        let printed = serde_json::to_string(&line).map(|line| print(&(line + "\n")));
        match printed {
            Ok(Ok(())) => {}
            Ok(Err(error)) => complain(&mut self.has_complained, "events cannot be printed", &error),
            Err(error) => complain(&mut self.has_complained, "events cannot be printed", &error),
        }
    }
}

impl Progress for Events {
    fn begin(&mut self, trial: &TrialKey, _: usize, count: usize) {
        self.say(RunEvent::TrialBegun { trial, of: count });
    }

    fn live(&mut self, live: &Live) {
        if self.told.is_some_and(|told| told.elapsed() < PERIOD) {
            return;
        }
        self.told = Some(Instant::now());
        self.say(RunEvent::TrialProgress {
            trial: &live.trial,
            state: live.state,
            elapsed_s: live.elapsed.as_secs_f64(),
            done: live.fraction,
            reads_per_s: live.so_far.map(|so_far| so_far.reads_per_s),
            writes_per_s: live.so_far.map(|so_far| so_far.writes_per_s),
            read_p99_ns: live.so_far.and_then(|so_far| so_far.read_p99_ns),
            write_p99_ns: live.so_far.and_then(|so_far| so_far.write_p99_ns),
            trial_left_s: live.trial_left().map(|left| left.as_secs_f64()),
            plan_left_s: live.left.map(|left| left.as_secs_f64()),
        });
    }

    fn end(&mut self, result: &TrialResult) {
        let trial = &result.trial;
        self.say(match &result.outcome {
            TrialOutcome::Finished => RunEvent::TrialFinished {
                trial,
                wall_s: result.os.wall_s,
                reads_per_s: result.reads_per_s(),
                writes_per_s: result.writes_per_s(),
                operations: &result.operations,
            },
            TrialOutcome::Failed(failure) => {
                RunEvent::TrialFailed { trial, kind: failure.kind, reason: &failure.reason }
            }
        });
    }

    fn note(&mut self, text: &str) {
        self.say(RunEvent::Note { text });
    }
}
