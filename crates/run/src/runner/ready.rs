//! Databases before trials: copied, or loaded again where one was left in the middle.

use std::fs;
use std::io;

use kvdyno_engine::EngineSettings;
use kvdyno_environment::requested::CacheState;
use kvdyno_environment::storage::CopyWay;
use kvdyno_model::DatabaseOrigin;
use kvdyno_plan::PlannedTrial;
use kvdyno_plan::design::StepDesign;
use kvdyno_results::{Failure, FailureKind, Phase, TrialOutcome, TrialResult};

use super::{RunError, Runner, failed};
use crate::databases::Slot;
use crate::progress::Progress;
use crate::trial;

/// Whether a trial can be run on its database.
pub(super) enum Readiness {
    /// It can; with notes for its result.
    Ready(Vec<String>),
    /// It cannot; its result, saved.
    Unusable(Box<TrialResult>),
    /// The storage is too full for its copy; why, in words.
    NoSpace(String),
    Interrupted,
}

enum Reloaded {
    Done,
    Failed(String),
    Interrupted,
}

enum Copied {
    Done,
    /// The storage is too full for the copy; why, in words.
    NoSpace(String),
    Interrupted,
}

impl<'a> Runner<'a> {
    /// Makes the database of a trial ready.
    pub(super) fn prepared(
        &mut self,
        planned: &PlannedTrial,
        progress: &mut dyn Progress,
    ) -> Result<Readiness, RunError> {
        let mut notes = Vec::new();
        notes.extend(
            self.repeats.repeated(planned.key.repeat).map(|repeated| {
                format!("repeats repeat {}, which had interference: {}", repeated.repeat, repeated.why)
            }),
        );
        if planned.key.phase == Phase::Run && !self.unusable.contains_key(&planned.origin) {
            let copied = match planned.copied {
                true => self.copied(planned, &mut notes, progress)?,
                false if self.loaded(planned, &mut notes, progress)? => Copied::Done,
                false => Copied::Interrupted,
            };
            match copied {
                Copied::Done => {}
                Copied::NoSpace(reason) => return Ok(Readiness::NoSpace(reason)),
                Copied::Interrupted => return Ok(Readiness::Interrupted),
            }
        }
        match self.unusable.get(&planned.origin) {
            Some(reason) => {
                let result = self.left_out(planned, FailureKind::NotRun, reason.clone())?;
                Ok(Readiness::Unusable(Box::new(result)))
            }
            None => Ok(Readiness::Ready(notes)),
        }
    }

    /// Saves the result of a trial that cannot be started.
    pub(super) fn left_out(
        &self,
        planned: &PlannedTrial,
        kind: FailureKind,
        reason: String,
    ) -> Result<TrialResult, RunError> {
        let failure = Failure { kind, reason };
        let result = trial::not_run(planned, self.setup(planned), self.request(planned), failure);
        self.save(&result)?;
        Ok(result)
    }

    /// Makes sure that a trial's database is loaded, and no trial was left in the middle: else it is loaded again, or
    /// cannot be used. False if the user interrupted.
    fn loaded(
        &mut self,
        planned: &PlannedTrial,
        notes: &mut Vec<String>,
        progress: &mut dyn Progress,
    ) -> Result<bool, RunError> {
        let slot = self.slot(planned);
        let unavailable = || format!("cannot make {} available", slot.database().display());
        let is_fresh = self.checked.experiment.lab.database != DatabaseOrigin::Fresh || !slot.was_worked_on();
        if slot.is_clean().or_else(failed(unavailable()))? && is_fresh {
            return Ok(true);
        }
        if !self.audit(&[planned], progress)? {
            return Ok(false);
        }
        // It may have been found that the load itself has failed.
        if self.unusable.contains_key(&planned.origin) {
            return Ok(true);
        }
        if is_fresh {
            progress.note(&format!("{}: loading the database again", planned.key.engine));
        }
        match self.reload(planned, slot, progress)? {
            Reloaded::Interrupted => return Ok(false),
            Reloaded::Failed(reason) => drop(self.unusable.insert(planned.origin, reason)),
            Reloaded::Done if is_fresh => notes.push(
                "the database was loaded again before this trial, because the previous one did not end cleanly: \
                 updates of earlier trials are not in it"
                    .to_owned(),
            ),
            Reloaded::Done => {}
        }
        Ok(true)
    }

    /// Makes a run's database a copy of the loaded one, if that can be used.
    fn copied(
        &mut self,
        planned: &PlannedTrial,
        notes: &mut Vec<String>,
        progress: &mut dyn Progress,
    ) -> Result<Copied, RunError> {
        let Some(load) = self.load_of(planned) else {
            self.unusable.insert(planned.origin, "the plan has no load for it".to_owned());
            return Ok(Copied::Done);
        };
        if !self.loaded(load, notes, progress)? || !self.audit(&[load], progress)? {
            return Ok(Copied::Interrupted);
        }
        if self.unusable.contains_key(&planned.origin) {
            return Ok(Copied::Done);
        }
        let slot = self.slot(planned);
        let what = || format!("cannot make {} a copy of the loaded database", slot.database().display());
        // Reading leaves a database unchanged, so its copy is kept. With `snapshot` a new copy is made all the same.
        let is_kept = self.checked.experiment.lab.database != DatabaseOrigin::Snapshot;
        if is_kept && slot.is_clean().or_else(failed(what()))? && !slot.was_written() {
            return Ok(Copied::Done);
        }
        let complaint = slot.prepare(self.destroy(planned)).or_else(failed(what()))?;
        complaint.into_iter().for_each(|complaint| progress.note(&complaint));
        // A run that begins without a page cache needs none of the copy either.
        let way = match self.variant(planned).environment.requested.cache_state {
            CacheState::Dropped => CopyWay::Blocks,
            CacheState::Warm | CacheState::Filled => CopyWay::Bytes,
        };
        match slot.copy_from(&self.slot(load), way, &|| !self.stop.is_requested()) {
            Ok(true) => Ok(Copied::Done),
            Ok(false) => Ok(Copied::Interrupted),
            Err(cause) if matches!(cause.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
                // The part that was copied takes no space from the others.
                slot.prepare(self.destroy(planned)).or_else(failed(what()))?;
                Ok(Copied::NoSpace(format!("{}: {cause}", what())))
            }
            Err(cause) => failed(what())(cause),
        }
    }

    /// Whether a load was interrupted and can go on from there.
    pub(super) fn goes_on(&self, planned: &PlannedTrial, slot: &Slot, settings: &EngineSettings) -> io::Result<bool> {
        Ok(!planned.workload.name.leaves_records() && slot.has_part_of_load(settings.durability)?)
    }

    /// Loads a database again that cannot be trusted any more, without measuring it.
    fn reload(&self, planned: &PlannedTrial, slot: Slot, progress: &mut dyn Progress) -> Result<Reloaded, RunError> {
        let Some(load) = self.load_of(planned) else {
            return Ok(Reloaded::Failed("the plan has no load for it".to_owned()));
        };
        let folder = self.folder.root().join("reloading");
        let turns = StepDesign::turns("a load");
        let begun = self.begin(load, slot, folder.clone(), Vec::new(), &turns, progress)?;
        let ended = self.coordinate(&[begun], &turns, progress)?;
        fs::remove_dir_all(&folder).or_else(failed(format!("cannot remove {}", folder.display())))?;
        let result = ended.into_iter().next().and_then(|ended| ended.result);
        Ok(match result.map(|result| result.outcome) {
            None => Reloaded::Interrupted,
            Some(TrialOutcome::Finished) => Reloaded::Done,
            Some(TrialOutcome::Failed(failure)) => {
                Reloaded::Failed(format!("the database could not be loaded again: {}", failure.reason))
            }
        })
    }
}
