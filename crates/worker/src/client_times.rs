//! The time that a trial's clients took for their work.

/// The work of a trial's clients, and the CPU time of their threads over the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClientWork {
    /// Operations of all clients.
    pub operations: u64,
    /// CPU seconds of their threads.
    pub cpu_s: f64,
}

/// The time of clients in the measured part, or in parts of their slices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientTimes {
    /// From their beginnings to their ends, ns.
    pub wall_ns: u64,
    /// On a processor, ns.
    pub cpu_ns: u64,
    /// In wait for one, ns.
    pub delayed_ns: u64,
    /// Asleep, ns.
    pub asleep_ns: u64,
    /// Times that they were given one.
    pub turns: u64,
}

impl ClientTimes {
    /// The share of the time in which they slept, of 1; absent without any time.
    pub fn slept(&self) -> Option<f64> {
        (self.wall_ns > 0).then(|| (self.asleep_ns as f64 / self.wall_ns as f64).min(1.0))
    }

    /// The times of what came after `before`.
    #[must_use]
    pub fn since(self, before: ClientTimes) -> ClientTimes {
        ClientTimes {
            wall_ns: self.wall_ns.saturating_sub(before.wall_ns),
            cpu_ns: self.cpu_ns.saturating_sub(before.cpu_ns),
            delayed_ns: self.delayed_ns.saturating_sub(before.delayed_ns),
            asleep_ns: self.asleep_ns.saturating_sub(before.asleep_ns),
            turns: self.turns.saturating_sub(before.turns),
        }
    }
}
