//! Works a plan off: each trial is saved before the next begins, and a run that was ended at any moment goes on where it
//! stopped.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kvdyno_engine::LabSettings;
use kvdyno_environment::lock::FolderLock;
use kvdyno_results::folder::{ReadError, ResultsFolder};
use kvdyno_results::{Phase, TrialResult};

use crate::databases::Slot;
use crate::engine_cleanup::EngineCleanup;
use crate::pace::Pace;
use crate::progress::{Live, Progress};
use crate::stop::Stop;
use crate::trial::{self, Ended, TrialContext, TrialRequest};
use kvdyno_plan::PlannedTrial;
use kvdyno_plan::backing_store;
use kvdyno_plan::{Checked, CheckedVariant, Setup};

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Trials that were there before, or are now.
    pub ended: usize,
    /// Of those, trials that failed.
    pub failed: usize,
    /// The user stopped it before the end.
    pub interrupted: bool,
}

/// Why the lab cannot work.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file or a process could not be had.
    #[error("{what}: {cause}")]
    Io {
        /// The attempt.
        what: String,
        /// Why not.
        cause: io::Error,
    },
    /// Saved results could not be read.
    #[error(transparent)]
    ResultsFolder(#[from] ReadError),
}

fn failed<T>(what: impl Into<String>) -> impl FnOnce(io::Error) -> Result<T, RunError> {
    let what = what.into();
    move |cause| Err(RunError::Io { what, cause })
}

/// Runs every trial of `checked` that `folder` does not have yet.
///
/// `worker` is the program, with its first arguments, that runs a trial when given the path of its specification. Call
/// it from a thread that lives as long as the process: clients are ended with the thread that started them.
///
/// # Errors
/// If the lab itself cannot work. What happens to an engine is in the results.
pub fn run(
    checked: &Checked,
    folder: &ResultsFolder,
    worker: &[OsString],
    stop: &Stop,
    progress: &mut dyn Progress,
) -> Result<Summary, RunError> {
    let mut runner = Runner::new(checked, folder, worker, stop)?;
    let outcome = runner.work(progress);
    let released = runner.release();
    if !checked.experiment.lab.keep && !runner.interrupted {
        runner.remove_base();
    }
    outcome.and_then(|summary| released.map(|()| summary))
}

struct Runner<'a> {
    checked: &'a Checked,
    folder: &'a ResultsFolder,
    worker: &'a [OsString],
    stop: &'a Stop,
    /// Where databases go.
    base: PathBuf,
    /// The results so far, by number of the trial.
    results: HashMap<u32, TrialResult>,
    /// Databases that could not be loaded, with the reason.
    unusable: HashMap<DatabaseId, String>,
    interrupted: bool,
    pace: Pace,
    /// While what databases lie on is made for them: it is the mark of a run in progress, which `kvdyno clean` leaves
    /// alone.
    lock: Option<FolderLock>,
}

impl<'a> Runner<'a> {
    fn new(
        checked: &'a Checked,
        folder: &'a ResultsFolder,
        worker: &'a [OsString],
        stop: &'a Stop,
    ) -> Result<Self, RunError> {
        let base = database_base(checked, folder);
        fs::create_dir_all(&base).or_else(failed(format!("cannot make {}", base.display())))?;
        let makes = checked.variants.iter().any(|one| one.environment.requested.storage.is_made());
        let lock = makes.then(|| FolderLock::acquire(&base)).transpose();
        let lock = lock.map_err(io::Error::other).or_else(failed(format!("cannot lock {}", base.display())))?;
        let results = folder.results()?.into_iter().map(|result| (result.trial.number, result)).collect();
        Ok(Runner {
            checked,
            folder,
            worker,
            stop,
            base,
            results,
            unusable: HashMap::new(),
            interrupted: false,
            pace: Pace::default(),
            lock,
        })
    }

    fn work(&mut self, progress: &mut dyn Progress) -> Result<Summary, RunError> {
        let trials = &self.checked.plan.trials;
        for (index, planned) in trials.iter().enumerate() {
            if !self.results.contains_key(&planned.key.number) {
                progress.begin(&planned.key, index, trials.len());
                let Some(result) = self.one(planned, progress)? else {
                    self.interrupted = true;
                    break;
                };
                progress.end(&result);
                self.pace.learn(planned, &result);
                self.results.insert(planned.key.number, result);
            }
            self.after(planned, progress)?;
        }
        Ok(Summary {
            ended: self.results.len(),
            failed: self.results.values().filter(|result| !result.is_finished()).count(),
            interrupted: self.interrupted,
        })
    }

    fn slot(&self, planned: &PlannedTrial) -> Slot {
        let variant = self.variant(planned);
        Slot::new(&self.base, &planned.key, |folder| {
            backing_store::of(&variant.variant.experiment, &variant.environment.requested, folder)
        })
    }

    /// Runs one trial and saves it. `None` if the user interrupted.
    fn one(&mut self, planned: &PlannedTrial, progress: &mut dyn Progress) -> Result<Option<TrialResult>, RunError> {
        let id = DatabaseId::of(planned);
        let slot = self.slot(planned);
        let mut notes = Vec::new();
        let unavailable = || format!("cannot make {} available", slot.database().display());
        if planned.key.phase == Phase::Run
            && !self.unusable.contains_key(&id)
            && !slot.is_clean().or_else(failed(unavailable()))?
        {
            progress.note(&format!("{}: loading the database again", planned.key.engine));
            match self.reload(planned, &slot, progress)? {
                Reloaded::Interrupted => return Ok(None),
                Reloaded::Failed(reason) => {
                    self.unusable.insert(id, reason);
                }
                Reloaded::Done => notes.push(
                    "the database was loaded again before this trial, because the one before it did not end well: \
                     updates of earlier trials are not in it"
                        .to_owned(),
                ),
            }
        }
        if let Some(reason) = self.unusable.get(&id) {
            let result = trial::not_run(planned, self.setup(planned), self.request(planned), reason.clone());
            self.save(&result)?;
            return Ok(Some(result));
        }
        let folder = self.folder.trial_folder(&planned.key);
        let ended = self.coordinate(planned, &slot, &folder, notes, progress)?;
        let Some(result) = ended.result else { return Ok(None) };
        if planned.key.phase == Phase::Load
            && let kvdyno_results::TrialOutcome::Failed(failure) = &result.outcome
        {
            self.unusable.insert(id, format!("the load failed: {}", failure.reason));
        }
        let unsaved = || format!("cannot save trial {}", planned.key.number);
        self.folder.save_series(&planned.key, &ended.series).or_else(failed(unsaved()))?;
        self.save(&result)?;
        Ok(Some(result))
    }

    fn save(&self, result: &TrialResult) -> Result<(), RunError> {
        self.folder.save(result).or_else(failed(format!("cannot save trial {}", result.trial.number)))
    }

    fn variant(&self, planned: &PlannedTrial) -> &'a CheckedVariant {
        &self.checked.variants[planned.variant]
    }

    fn setup(&self, planned: &PlannedTrial) -> &'a Setup {
        &self.variant(planned).setups[planned.engine]
    }

    fn request(&self, planned: &PlannedTrial) -> TrialRequest {
        TrialRequest {
            workload: trial::workload_facts(&planned.workload, &self.settings(planned)),
            experiment: self.variant(planned).variant.experiment.resolved_for(planned.section),
        }
    }

    /// The lab's settings for a trial.
    fn settings(&self, planned: &PlannedTrial) -> LabSettings {
        match planned.key.phase {
            Phase::Load => self.variant(planned).variant.experiment.load_settings(),
            Phase::Run => self.variant(planned).variant.experiment.lab_settings(),
        }
    }

    fn engine_cleanup(&self, planned: &PlannedTrial) -> EngineCleanup<'a> {
        let patience = self.checked.experiment.lab.hang_timeout.0;
        EngineCleanup { worker: self.worker, setup: self.setup(planned), patience }
    }

    /// Runs a trial on its database, which is clean afterwards only if all went well.
    fn coordinate(
        &self,
        planned: &PlannedTrial,
        slot: &Slot,
        folder: &Path,
        notes: Vec<String>,
        progress: &mut dyn Progress,
    ) -> Result<Ended, RunError> {
        let what = || format!("cannot run trial {} ({})", planned.key.number, planned.key.engine);
        let settings = self.settings(planned);
        let goes_on = self.goes_on(planned, slot, &settings).or_else(failed(what()))?;
        let create = planned.key.phase == Phase::Load && !goes_on;
        if goes_on {
            progress.note(&format!("{}: going on with what the ended run has computed", planned.key.engine));
        }
        let prepared = (|| {
            if create && let Some(complaint) = slot.prepare(self.engine_cleanup(planned))? {
                progress.note(&complaint);
            }
            Ok((slot.ledger()?, slot.begin_use()?))
        })();
        let (ledger, last_version) = prepared.or_else(failed(what()))?;
        let context = TrialContext {
            planned,
            setup: self.setup(planned),
            environment: &self.variant(planned).environment,
            engine_cleanup: self.engine_cleanup(planned),
            lab: &self.checked.experiment.lab,
            settings,
            request: self.request(planned),
            database: slot.database(),
            backing_store: slot.backing_store(),
            create,
            ledger: &ledger,
            last_version,
            folder,
            worker: self.worker,
            stop: self.stop,
            at_work: &|| if create && can_go_on(planned) { slot.begin_load() } else { Ok(()) },
            notes,
        };
        let left = self.pace.left(&self.checked.plan.trials, planned.key.number);
        let ended = trial::run(&context, &mut |live: &Live| {
            progress.live(&Live { left: left.map(|left| left.saturating_sub(live.elapsed)), ..live.clone() });
        })
        .or_else(failed(what()))?;
        if ended.result.as_ref().is_some_and(TrialResult::is_finished) {
            let wrote = ended.last_version > last_version;
            slot.end_use(ended.last_version, wrote, &ledger).or_else(failed(what()))?;
        }
        Ok(ended)
    }

    /// Whether a load was ended in the middle and can go on there.
    fn goes_on(&self, planned: &PlannedTrial, slot: &Slot, settings: &LabSettings) -> io::Result<bool> {
        Ok(can_go_on(planned) && slot.has_part_of_load(settings.durability)?)
    }

    /// Loads a database again that cannot be trusted any more, without measuring it.
    fn reload(&self, planned: &PlannedTrial, slot: &Slot, progress: &mut dyn Progress) -> Result<Reloaded, RunError> {
        let load = self
            .checked
            .plan
            .trials
            .iter()
            .find(|trial| trial.key.phase == Phase::Load && DatabaseId::of(trial) == DatabaseId::of(planned));
        let Some(load) = load else { return Ok(Reloaded::Failed("the plan has no load for it".to_owned())) };
        let folder = self.folder.root().join("reloading");
        let ended = self.coordinate(load, slot, &folder, Vec::new(), progress)?;
        fs::remove_dir_all(&folder).or_else(failed(format!("cannot remove {}", folder.display())))?;
        Ok(match ended.result.map(|result| result.outcome) {
            None => Reloaded::Interrupted,
            Some(kvdyno_results::TrialOutcome::Finished) => Reloaded::Done,
            Some(kvdyno_results::TrialOutcome::Failed(failure)) => {
                Reloaded::Failed(format!("the database could not be loaded again: {}", failure.reason))
            }
        })
    }

    /// Does what is left to do once a trial has ended, now or in an earlier run.
    fn after(&mut self, planned: &PlannedTrial, progress: &mut dyn Progress) -> Result<(), RunError> {
        let id = DatabaseId::of(planned);
        let result = self.results.get(&planned.key.number);
        if planned.key.phase == Phase::Load
            && let Some(kvdyno_results::TrialOutcome::Failed(failure)) = result.map(|result| &result.outcome)
        {
            self.unusable.entry(id).or_insert_with(|| format!("the load failed: {}", failure.reason));
        }
        // A database that is of no more use makes room for the others, a half-loaded one above all.
        let useless = self.unusable.contains_key(&id);
        if useless || (planned.last_on_database && !self.checked.experiment.lab.keep) {
            let slot = self.slot(planned);
            let removed = slot.remove(self.engine_cleanup(planned));
            let complaint = removed.or_else(failed(format!("cannot remove {}", slot.database().display())))?;
            complaint.into_iter().for_each(|complaint| progress.note(&complaint));
        }
        Ok(())
    }

    /// Takes what databases lie on from the system: they stay in their files.
    fn release(&self) -> Result<(), RunError> {
        let slots = self.checked.plan.trials.iter().map(|planned| self.slot(planned));
        let mut outcomes = slots.map(|slot| {
            let what = || format!("cannot release {}", slot.database().display());
            slot.backing_store().release().or_else(failed(what()))
        });
        // All are tried; the first complaint is told.
        let first = outcomes.find(Result::is_err);
        outcomes.for_each(drop);
        first.unwrap_or(Ok(()))
    }

    /// Removes the folder of the databases if nothing is left in it.
    fn remove_base(&self) {
        if let Some(lock) = &self.lock {
            lock.remove();
        }
        // Not empty is no failure: somebody else's files stay.
        let _ = fs::remove_dir(&self.base);
    }
}

/// Whether its load, ended in the middle, need not begin anew.
fn can_go_on(planned: &PlannedTrial) -> bool {
    planned.workload.name.can_go_on()
}

/// The database of a trial: that of a variant's engine in a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct DatabaseId {
    variant: usize,
    engine: usize,
    repeat: u32,
}

impl DatabaseId {
    fn of(planned: &PlannedTrial) -> DatabaseId {
        DatabaseId { variant: planned.variant, engine: planned.engine, repeat: planned.key.repeat }
    }
}

enum Reloaded {
    Done,
    Failed(String),
    Interrupted,
}

/// Where the databases of an experiment go.
fn database_base(checked: &Checked, folder: &ResultsFolder) -> PathBuf {
    match &checked.experiment.lab.dir {
        None => folder.root().join("databases"),
        Some(dir) => {
            let name = folder.root().file_name().map_or("results".into(), |name| name.to_string_lossy().into_owned());
            dir.join(format!("kvdyno-{name}"))
        }
    }
}
