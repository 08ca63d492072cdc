//! Which trials repeat each other.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{ClientKind, Phase, TrialKey};

/// The identity of a cell: all that repeated trials have in common by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct CellKey {
    /// The engine as the user named it.
    pub engine: String,
    /// Which of the experiment's variants; empty if it has none.
    pub variant: String,
    /// Loading or running.
    pub phase: Phase,
    /// `fillseq`, `readwhilewriting`.
    pub workload: String,
    /// Threads or processes that read.
    pub readers: u32,
    /// Threads or processes that write.
    pub writers: u32,
    /// Whether those are threads or processes.
    pub clients: ClientKind,
}

impl From<&TrialKey> for CellKey {
    fn from(trial: &TrialKey) -> Self {
        let TrialKey { engine, variant, phase, workload, readers, writers, clients, .. } = trial.clone();
        CellKey { engine, variant, phase, workload, readers, writers, clients }
    }
}
