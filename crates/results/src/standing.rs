//! How far a run has come, from its results folder alone.

use std::collections::{BTreeMap, HashMap};
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::folder::{ReadError, ResultsFolder};
use crate::{ClientKind, PartFacts, Phase, SavedPlan, TrialKey, TrialOutcome};

/// A trial that ended.
#[derive(Clone, Debug, Deserialize)]
pub struct EndedTrial {
    /// Which.
    pub trial: TrialKey,
    /// Its outcome.
    pub outcome: TrialOutcome,
}

/// The trials of a results folder by how far they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The part of a plan that it is; absent for a whole plan.
    pub part: Option<PartFacts>,
    /// The numbers of the parts that merged results do not have.
    pub absent: Vec<u32>,
    /// The trials of each cell.
    pub cells: BTreeMap<CellName, TrialCounts>,
    /// Trials that have begun and not ended, in order: of a run that was ended early, too.
    pub begun: Vec<TrialKey>,
    /// The results decide how many repeats there will be, so that nobody knows how many trials are left.
    pub is_open: bool,
}

/// All that the trials of a cell have in common by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CellName {
    /// Which of the experiment's variants; empty if it has none.
    pub variant: String,
    /// Loading, or running on the loaded database.
    pub phase: Phase,
    /// The workload.
    pub workload: String,
    /// Clients that read.
    pub readers: u32,
    /// Clients that write.
    pub writers: u32,
    /// Threads or processes.
    pub clients: ClientKind,
    /// The engine as the user named it.
    pub engine: String,
}

impl From<&TrialKey> for CellName {
    fn from(trial: &TrialKey) -> CellName {
        let TrialKey { engine, variant, phase, workload, readers, writers, clients, .. } = trial.clone();
        CellName { engine, variant, phase, workload, readers, writers, clients }
    }
}

/// Numbers of trials by how far they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TrialCounts {
    /// They finished.
    pub finished: usize,
    /// They failed.
    pub failed: usize,
    /// They are under way, or were ended early.
    pub begun: usize,
    /// They have not begun. If the results decide how many there will be: those of the repeats that have begun.
    pub waiting: usize,
}

impl TrialCounts {
    /// Those that have a result.
    pub fn ended(self) -> usize {
        self.finished + self.failed
    }

    /// Those that have none.
    pub fn left(self) -> usize {
        self.begun + self.waiting
    }
}

impl AddAssign for TrialCounts {
    fn add_assign(&mut self, other: TrialCounts) {
        self.finished += other.finished;
        self.failed += other.failed;
        self.begun += other.begun;
        self.waiting += other.waiting;
    }
}

impl Standing {
    /// Reads it. A run may be at work there.
    ///
    /// # Errors
    /// If a file cannot be read, or is damaged.
    pub fn read(folder: &ResultsFolder) -> Result<Standing, ReadError> {
        let folder = ResultsFolder::open(folder.root())?;
        // Before the results: a trial that ends in between is one that has ended.
        let plan = folder.plan()?.unwrap_or_else(|| SavedPlan::new(serde_json::Value::Null, Vec::new(), None));
        let ended: BTreeMap<u32, EndedTrial> =
            folder.ended()?.into_iter().map(|ended| (ended.trial.number, ended)).collect();
        let is_open = plan.ordered.is_none() && plan.enough.is_none() && plan.merged.is_empty();
        let has_begun = |trial: &TrialKey| folder.trial_folder(trial).is_dir();
        let mut repeats: HashMap<u32, bool> = HashMap::new();
        let mut begun_repeat = |trial: &TrialKey| {
            let begins = || ended.contains_key(&trial.number) || has_begun(trial);
            *repeats.entry(trial.repeat).or_insert_with(begins)
        };
        let expected = plan.expected().filter(|trial| !is_open || trial.repeat == 1 || begun_repeat(trial));
        let mut trials: BTreeMap<u32, TrialKey> = expected.map(|trial| (trial.number, trial.clone())).collect();
        // Older results have no plan.
        trials.extend(ended.values().map(|ended| (ended.trial.number, ended.trial.clone())));
        let (mut cells, mut begun) = (BTreeMap::<CellName, TrialCounts>::new(), Vec::new());
        for trial in trials.into_values() {
            let counts = cells.entry(CellName::from(&trial)).or_default();
            match ended.get(&trial.number).map(|ended| &ended.outcome) {
                Some(TrialOutcome::Finished) => counts.finished += 1,
                Some(TrialOutcome::Failed(_)) => counts.failed += 1,
                None if has_begun(&trial) => {
                    counts.begun += 1;
                    begun.push(trial);
                }
                None => counts.waiting += 1,
            }
        }
        Ok(Standing { absent: plan.absent_parts(), part: plan.part, cells, begun, is_open })
    }

    /// All cells together.
    pub fn total(&self) -> TrialCounts {
        let mut total = TrialCounts::default();
        self.cells.values().for_each(|counts| total += *counts);
        total
    }

    /// Whether nothing is left to do.
    pub fn is_complete(&self) -> bool {
        !self.is_open && self.absent.is_empty() && self.total().left() == 0
    }
}
