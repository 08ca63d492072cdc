//! The design by which a trial was measured beside those that it is compared with.

use kvdyno_model::Design;
use serde::{Deserialize, Serialize};

use crate::CpuAccount;

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
    /// The share of the measured part in which readers and writers slept, of 1: what interrupts and a hypervisor take
    /// from a processor is no sleep. Absent for turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slept: Option<f64>,
    /// The slices in which another trial worked on the same processors, their first parts included; they are in no
    /// other figure. Absent if there were none, and where no control group counts CPU time.
    #[serde(default, rename = "duets", skip_serializing_if = "Option::is_none")]
    pub duet: Option<CpuAccount>,
    /// Each of those slices, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub duet_slices: Vec<DuetSlice>,
    /// The share of background work in the CPU time of the trial beside it in a duet, of 1, when that had the machine
    /// to itself; absent for other designs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background_beside: Option<f64>,
    /// The most of its database's files that was not on the storage yet when it was frozen after a slice, KiB. Absent
    /// for turns, where nothing is written, and where the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_kib: Option<u64>,
}

/// The work of a trial in one slice of a duet, its first part included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DuetSlice {
    /// Operations.
    pub operations: u64,
    /// CPU seconds of everything in its control group.
    pub cpu_s: f64,
}
