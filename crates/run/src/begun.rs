//! A trial whose database is in use.

use std::io;
use std::path::PathBuf;

use kvdyno_engine::EngineSettings;
use kvdyno_plan::PlannedTrial;
use kvdyno_results::{Failure, FailureKind, TrialOutcome};
use kvdyno_worker::KnownContents;
use kvdyno_worker::shared::LedgerMemory;
use kvdyno_worker::slices::SliceSpec;

use crate::audit;
use crate::databases::{Left, PartWritten, Slot};
use crate::trial::{Ended, LabError};

/// A trial whose database is in use.
pub(crate) struct Begun<'a> {
    pub(crate) planned: &'a PlannedTrial,
    pub(crate) slot: Slot,
    /// The folder of its results.
    pub(crate) folder: PathBuf,
    pub(crate) settings: EngineSettings,
    /// It begins with a new database.
    pub(crate) create: bool,
    pub(crate) ledger: LedgerMemory,
    /// The contents of its database before.
    pub(crate) contents: KnownContents,
    pub(crate) notes: Vec<String>,
    /// Present if other trials run beside it, or it searches a rate.
    pub(crate) slices: Option<SliceSpec>,
}

impl Begun<'_> {
    /// Notes that it has reached its measured part.
    pub(crate) fn note_at_work(&self) -> io::Result<()> {
        let resumable = self.create && !self.planned.workload.name.leaves_records();
        if resumable { self.slot.begin_load() } else { Ok(()) }
    }

    /// Says how it left the database; what cannot be kept of that fails it.
    pub(crate) fn end(&self, ended: &mut Ended) {
        let Some(result) = ended.result.as_mut().filter(|result| audit::ended_in_order(result)) else { return };
        let left = Left {
            clean: result.is_finished(),
            part: audit::written(self.planned, self.contents, ended.contents)
                .map(|written| PartWritten { trial: self.planned.key.number, written }),
            contents: ended.contents,
        };
        let kept = self.slot.end_use(left, &self.ledger);
        if !result.is_finished() {
            return;
        }
        match kept {
            Ok(None) => {}
            Ok(Some(reason)) => {
                result.outcome = TrialOutcome::Failed(Failure { kind: FailureKind::Implausible, reason });
            }
            // It was not marked as clean, and is loaded again.
            Err(cause) => result.outcome = LabError::new("keep what it knows of the database", cause).outcome(),
        }
    }
}
