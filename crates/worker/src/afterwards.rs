//! Work that an engine does after the last operation.

use std::time::{Duration, Instant};

use kvdyno_environment::costs::own_written_bytes;
use kvdyno_results::Closing;

use crate::usage::Usage;

/// The time of the engine's calls after the last operation, and all that its process uses meanwhile.
pub(crate) struct Afterwards {
    took: Duration,
    used_before: Usage,
    written_before: Option<u64>,
    /// CPU seconds of the lab's own.
    not_counted_s: f64,
}

impl Afterwards {
    /// The clients' sessions have ended, so long after the last operation.
    pub(crate) fn since(took: Duration) -> Afterwards {
        Afterwards { took, used_before: Usage::now(), written_before: own_written_bytes(), not_counted_s: 0.0 }
    }

    /// Times a call of the engine's.
    pub(crate) fn timed<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let outcome = call();
        self.add(begun.elapsed());
        outcome
    }

    /// Adds the time of a call.
    pub(crate) fn add(&mut self, took: Duration) {
        self.took += took;
    }

    /// Does what the lab needs: its CPU time is not counted, nor is that of background work meanwhile.
    pub(crate) fn without<T>(&mut self, own: impl FnOnce() -> T) -> T {
        let before = Usage::now();
        let outcome = own();
        self.not_counted_s += Usage::now().since(before).cpu_s();
        outcome
    }

    /// The database is closed.
    pub(crate) fn end(self) -> Closing {
        let written = self.written_before.zip(own_written_bytes());
        Closing {
            seconds: self.took.as_secs_f64(),
            cpu_s: (Usage::now().since(self.used_before).cpu_s() - self.not_counted_s).max(0.0),
            written_bytes: written.map(|(before, now)| now.saturating_sub(before)),
        }
    }
}
