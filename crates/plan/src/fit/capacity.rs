//! The capacity of a machine, and a budget of time.

use std::time::Duration;

use super::engines::EnginesHere;

/// The machine that it is to fit.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineCapacity {
    /// Bytes of memory.
    pub memory: u64,
    /// Hardware threads.
    pub cores: u32,
    /// Hardware threads of a core.
    pub threads_per_core: u32,
    /// Bytes free where databases go.
    pub disk: u64,
    /// The time that everything may take.
    pub budget: Option<Duration>,
    /// The engines of the experiment.
    pub engines: EnginesHere,
}

/// The share of the budget that loading may take; the rest is for runs, their warm-ups, and opening and closing.
pub(super) const LOAD_SHARE: f64 = 0.35;
pub(super) const RUN_SHARE: f64 = 0.45;
