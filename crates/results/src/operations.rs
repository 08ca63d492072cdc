//! The operations of a trial's measured part, by kind.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Latency, OpKind};

/// One kind of operation in the measured window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operations {
    /// The kind.
    pub kind: OpKind,
    /// Threads that did it, be they of one process or of several.
    pub threads: u32,
    /// Calls.
    pub operations: u64,
    /// Records read or written by them: a batch has many.
    pub records: u64,
    /// Operations a second, of all threads together.
    pub operations_per_s: f64,
    /// Records a second, of all threads together.
    pub records_per_s: f64,
    /// Latency of a call.
    pub latency: Latency,
    /// Its pacing at the requested rate; absent in a closed loop, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing: Option<Pacing>,
}

/// Pacing of operations at the requested rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pacing {
    /// Time that the clients slept until operations were due, seconds, all together.
    pub sleeping_s: f64,
    /// Time that they kept their processors to meet the moment, seconds, all together.
    pub spinning_s: f64,
    /// Time that operations began late because a sleep lasted longer than it should, seconds, all together.
    pub overslept_s: f64,
    /// Time from the moments at which operations were due until those before had ended, seconds, together; absent in
    /// older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_s: Option<f64>,
    /// Delay at the end of the client that was furthest behind its schedule, seconds; over slices, the sum.
    pub behind_s: f64,
    /// The furthest that any of them was, seconds.
    pub most_behind_s: f64,
    /// Whether the rate was kept: no client was further behind at the end than [`Pacing::allowed_s`].
    pub kept: bool,
}

impl Pacing {
    /// Tolerated delay of a client at the end of a window of so many seconds: a hundredth of it, which keeps the rate
    /// to 1 %, and at least the time for which a scheduler may take a thread off its processor.
    pub fn allowed_s(window_s: f64) -> f64 {
        (window_s / 100.0).max(0.01)
    }
}

impl Operations {
    /// The mean time from the beginning of an operation at a rate to its answer, nanoseconds: its latency without the
    /// time since it was due. Absent in a closed loop, whose latency is that, in older results, and if it is below a
    /// twentieth of the latency, which is known to a hundredth.
    pub fn service_ns(&self) -> Option<f64> {
        let pacing = self.pacing.filter(|_| self.operations > 0)?;
        let late_ns = 1e9 * (pacing.queued_s? + pacing.overslept_s) / self.operations as f64;
        let mean_ns = self.latency.mean_ns as f64;
        Some(mean_ns - late_ns).filter(|service| *service >= 0.05 * mean_ns)
    }

    /// The side of the work that this kind is of.
    pub fn side(&self) -> Side {
        if self.kind.writes() { Side::Writes } else { Side::Reads }
    }

    /// Whether this kind writes.
    pub fn writes(&self) -> bool {
        self.side() == Side::Writes
    }
}

/// A side of an engine's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Gets, scans.
    Reads,
    /// Puts, batches, deletes.
    Writes,
}

impl Side {
    /// Both.
    pub const ALL: [Side; 2] = [Side::Reads, Side::Writes];

    /// Its deed: `read`.
    pub fn verb(self) -> &'static str {
        match self {
            Side::Reads => "read",
            Side::Writes => "write",
        }
    }
}

/// Its operations: `reads`.
impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s", self.verb())
    }
}
