//! Databases between trials: read back by a fresh process, and loaded again where one was left in the middle.

use std::fs;
use std::io;
use std::path::PathBuf;

use kvdyno_engine::EngineSettings;
use kvdyno_environment::requested::CacheState;
use kvdyno_environment::storage::CopyWay;
use kvdyno_model::{Audit, DatabaseOrigin};
use kvdyno_plan::design::{DesignMachine, StepDesign, databases_at_once};
use kvdyno_plan::{PlannedTrial, Setup};
use kvdyno_results::{Failure, FailureKind, Phase, TrialOutcome, TrialResult};
use kvdyno_worker::shared::LedgerMemory;

use super::{RunError, Runner, failed};
use crate::audit::{self, Audited, ProcessAudit};
use crate::databases::{PartWritten, Slot};
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

/// A database of which something is still to be read back.
struct Unaudited<'a> {
    /// Number of the trial that worked on it last.
    trial: u32,
    setup: &'a Setup,
    settings: EngineSettings,
    load: &'a PlannedTrial,
    slot: Slot,
    ledger: LedgerMemory,
    /// The writes of each trial into it.
    parts: Vec<PartWritten>,
    /// For the files of the process that reads it.
    folder: PathBuf,
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

    /// Reads back in fresh processes what was written into the databases of trials of a step, where that is still to be
    /// done. Trials with lost writes fail by that. False if the user interrupted.
    pub(super) fn audit(&mut self, trials: &[&PlannedTrial], progress: &mut dyn Progress) -> Result<bool, RunError> {
        let unaudited = trials.iter().filter_map(|planned| self.unaudited(planned).transpose());
        let unaudited: Vec<Unaudited<'a>> = unaudited.collect::<Result<_, _>>()?;
        for group in unaudited.chunks(self.audits_at_once(&unaudited)) {
            let audits: Vec<ProcessAudit<'_>> = group.iter().map(|one| self.process_audit(one)).collect();
            let audited = self.executor.audit(&audits);
            let mut is_interrupted = false;
            for (one, audited) in group.iter().zip(audited) {
                match audited.or_else(failed(cannot_read_back(&one.slot)))? {
                    Some(audited) => self.note_audited(one, &audited, progress)?,
                    None => is_interrupted = true,
                }
            }
            if is_interrupted {
                return Ok(false);
            }
        }
        if !unaudited.is_empty() {
            let folder = self.auditing();
            fs::remove_dir_all(&folder).or_else(failed(format!("cannot remove {}", folder.display())))?;
        }
        Ok(true)
    }

    /// The folder for the files of the processes that read back.
    fn auditing(&self) -> PathBuf {
        self.folder.root().join("auditing")
    }

    /// The part of a trial's database that is still to be read back; `None` if nothing is.
    fn unaudited(&self, planned: &PlannedTrial) -> Result<Option<Unaudited<'a>>, RunError> {
        let (setup, slot) = (self.setup(planned), self.slot(planned));
        if self.checked.experiment.lab.audit == Audit::Off || setup.volatile {
            return Ok(None);
        }
        let parts = slot.to_be_audited(&self.register).or_else(failed(cannot_read_back(&slot)))?;
        let Some(load) = self.load_of(planned).filter(|_| !parts.is_empty()) else { return Ok(None) };
        let ledger = slot.ledger(0).or_else(failed(cannot_read_back(&slot)))?;
        let settings = self.variant(planned).variant.experiment.engine_settings();
        let trial = planned.key.number;
        let folder = self.auditing().join(trial.to_string());
        Ok(Some(Unaudited { trial, setup, settings, load, slot, ledger, parts, folder }))
    }

    /// How many of these databases are read back at once.
    fn audits_at_once(&self, unaudited: &[Unaudited<'a>]) -> usize {
        let loads: Vec<&PlannedTrial> = unaudited.iter().map(|one| one.load).collect();
        let Some(first) = loads.first() else { return 1 };
        let variant = self.variant(first);
        databases_at_once(&variant.variant.experiment, &loads, &DesignMachine::of(&variant.environment))
    }

    fn process_audit<'b>(&'b self, one: &'b Unaudited<'a>) -> ProcessAudit<'b> {
        ProcessAudit {
            setup: one.setup,
            lab: &self.checked.experiment.lab,
            settings: one.settings.clone(),
            trial: one.trial,
            load: one.load,
            database: one.slot.database(),
            ledger: &one.ledger,
            parts: &one.parts,
            value_seed: self.value_seed,
            contents: one.slot.contents(),
            folder: &one.folder,
            register: &self.register,
            stop: self.stop,
        }
    }

    /// Saves what was found in a database.
    fn note_audited(
        &mut self,
        one: &Unaudited<'a>,
        Audited { finding, survivors }: &Audited,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        for (index, part) in one.parts.iter().enumerate() {
            let Some(result) = self.results.get_mut(&part.trial) else { continue };
            let failed = audit::note(result, finding.as_ref().map(|finding| finding.get(index)));
            // It is unknown which part left the survivors: the last trial's result reports them.
            result.notes.extend(survivors.clone().filter(|_| index + 1 == one.parts.len()));
            let result = result.clone();
            self.save(&result)?;
            let Some(reason) = failed else { continue };
            progress.note(&format!("{}: trial {} has failed: {reason}", one.setup.label, part.trial));
            if result.trial.phase == Phase::Load {
                self.unusable.insert(one.load.origin, format!("the load failed: {reason}"));
            }
        }
        one.slot.end_audit().or_else(failed(cannot_read_back(&one.slot)))
    }

    /// The load of a trial's database.
    pub(super) fn load_of(&self, planned: &PlannedTrial) -> Option<&'a PlannedTrial> {
        let mut trials = self.checked.plan.trials.iter();
        trials.find(|trial| trial.key.phase == Phase::Load && trial.origin == planned.origin)
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

fn cannot_read_back(slot: &Slot) -> String {
    format!("cannot read back what is in {}", slot.database().display())
}
