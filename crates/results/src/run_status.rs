//! How far a run has come, from its results folder alone.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::folder::{ReadError, ResultsFolder};
use crate::{CellKey, HostFacts, PartFacts, SavedPlan, TrialKey, TrialOutcome};

/// A trial that ended.
#[derive(Clone, Debug)]
pub struct EndedTrial {
    /// Which.
    pub trial: TrialKey,
    /// The engine's version.
    pub engine: EngineRelease,
    /// Its outcome.
    pub outcome: TrialOutcome,
}

/// Of an engine's facts, what a version is told by.
#[derive(Clone, Debug, Deserialize)]
pub struct EngineRelease {
    /// The version that its library reported; empty if it could not be asked.
    pub version: String,
}

/// The trials of a results folder by how far they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStatus {
    /// The part of a plan that it is; absent for a whole plan.
    pub part: Option<PartFacts>,
    /// The numbers of the parts that merged results have, and of those that they do not have.
    pub merged: (Vec<u32>, Vec<u32>),
    /// The machines that it was measured on.
    pub hosts: Vec<HostFacts>,
    /// The trials of each cell.
    pub cells: BTreeMap<CellKey, StatusCounts>,
    /// Trials that have begun and not ended, in order: of a run that was ended early, too.
    pub begun: Vec<TrialKey>,
    /// The results decide how many repeats there will be, so that nobody knows how many trials are left.
    pub is_open: bool,
}

/// Numbers of trials by how far they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StatusCounts {
    /// They finished.
    pub finished: usize,
    /// They failed.
    pub failed: usize,
    /// They are under way, or were ended early.
    pub begun: usize,
    /// They have not begun. If the results decide how many there will be: those of the repeats that have begun.
    pub waiting: usize,
}

impl StatusCounts {
    /// Those that have a result.
    pub fn ended(self) -> usize {
        self.finished + self.failed
    }

    /// Those that have none.
    pub fn left(self) -> usize {
        self.begun + self.waiting
    }
}

impl AddAssign for StatusCounts {
    fn add_assign(&mut self, other: StatusCounts) {
        self.finished += other.finished;
        self.failed += other.failed;
        self.begun += other.begun;
        self.waiting += other.waiting;
    }
}

impl RunStatus {
    /// Reads it. A run may be at work there.
    ///
    /// # Errors
    /// If a file cannot be read, or is damaged.
    pub fn read(folder: &ResultsFolder) -> Result<RunStatus, ReadError> {
        let folder = ResultsFolder::open(folder.root())?;
        // Before the results: a trial that ends in between is one that has ended.
        let plan = folder.plan()?.unwrap_or_else(|| SavedPlan::new(serde_json::Value::Null, Vec::new(), None));
        let ended: BTreeMap<u32, EndedTrial> =
            folder.ended()?.into_iter().map(|ended| (ended.trial.number, ended)).collect();
        let has_begun = |trial: &TrialKey| folder.trial_folder(trial).is_dir();
        let is_open = plan.is_open() && plan.expected().any(|trial| !ended.contains_key(&trial.number));
        let expected = plan.expected_so_far(|trial| ended.contains_key(&trial.number) || has_begun(trial));
        let mut trials: BTreeMap<u32, TrialKey> = expected.map(|trial| (trial.number, trial.clone())).collect();
        // Older results have no plan.
        trials.extend(ended.values().map(|ended| (ended.trial.number, ended.trial.clone())));
        let (mut cells, mut begun) = (BTreeMap::<CellKey, StatusCounts>::new(), Vec::new());
        for trial in trials.into_values() {
            let counts = cells.entry(CellKey::from(&trial)).or_default();
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
        let merged = plan.merged.iter().map(|merged| merged.facts.part.number()).collect();
        Ok(RunStatus {
            merged: (merged, plan.absent_parts()),
            hosts: plan.hosts,
            part: plan.part,
            cells,
            begun,
            is_open,
        })
    }

    /// All cells together.
    pub fn total(&self) -> StatusCounts {
        let mut total = StatusCounts::default();
        self.cells.values().for_each(|counts| total += *counts);
        total
    }

    /// Whether nothing is left to do.
    pub fn is_complete(&self) -> bool {
        !self.is_open && self.merged.1.is_empty() && self.total().left() == 0
    }
}
