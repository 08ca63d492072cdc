//! The design by which a trial was measured beside those that it is compared with.

use kvdyno_model::Design;
use serde::{Deserialize, Serialize};

/// The design by which a trial was compared. Trials are compared only if they were measured together, or all by turns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DesignFacts {
    /// Never `auto`.
    pub design: Design,
    /// Why this one.
    pub why: String,
    /// The numbers of the trials that were open at the same time, without its own; empty for turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<u32>,
    /// Slices of the measured part; 0 for turns.
    #[serde(default)]
    pub slices: u64,
    /// The share of the measured part in which readers and writers neither worked nor waited for a processor, of 1;
    /// absent for turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slept: Option<f64>,
    /// The slices in which another trial worked on the same processors; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duet: Option<DuetFacts>,
    /// Each of those slices, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub duet_slices: Vec<DuetSlice>,
    /// The most of its database's files that was not on the storage yet when it was frozen after a slice, KiB. Absent
    /// for turns, where nothing is written, and where the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_kib: Option<u64>,
}

/// The work of a trial in one slice of a duet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DuetSlice {
    /// Operations.
    pub operations: u64,
    /// CPU seconds of its worker.
    pub cpu_s: f64,
}

/// The share of their time that clients of a duet may sleep, of 1: a duet is compared by CPU time, which has no sleep.
pub const MOST_SLEEP: f64 = 0.01;

impl DesignFacts {
    /// The share of the measured part that the clients of a duet slept, if it is more than they may.
    pub fn overslept(&self) -> Option<f64> {
        self.slept.filter(|slept| self.duet.is_some() && *slept > MOST_SLEEP)
    }
}

/// The work of a trial while another worked on the same processors. It is in no other figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DuetFacts {
    /// Operations of its readers or writers.
    pub operations: u64,
    /// CPU seconds of its worker.
    pub cpu_s: f64,
    /// CPU seconds of the readers and writers themselves; the rest are of the engine's own threads.
    pub client_cpu_s: f64,
}

impl DuetFacts {
    /// CPU seconds of the engine's own threads.
    pub fn background_cpu_s(&self) -> f64 {
        (self.cpu_s - self.client_cpu_s).max(0.0)
    }

    /// Operations for each CPU second; absent if there were none.
    pub fn operations_per_cpu_s(&self) -> Option<f64> {
        (self.operations > 0 && self.cpu_s > 0.0).then(|| self.operations as f64 / self.cpu_s)
    }
}
