//! Which trials of a run are compared with each other.

use crate::{ClientKind, TrialKey, TrialResult};

/// The work that several setups do, in every repeat.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkKey {
    /// Which of the experiment's variants.
    pub variant: String,
    /// The workload.
    pub workload: String,
    /// Clients that read.
    pub readers: u32,
    /// Clients that write.
    pub writers: u32,
    /// Threads or processes.
    pub clients: ClientKind,
}

impl From<&TrialKey> for WorkKey {
    fn from(trial: &TrialKey) -> WorkKey {
        let TrialKey { variant, workload, readers, writers, clients, .. } = trial.clone();
        WorkKey { variant, workload, readers, writers, clients }
    }
}

impl From<&TrialResult> for WorkKey {
    fn from(result: &TrialResult) -> WorkKey {
        WorkKey::from(&result.trial)
    }
}
