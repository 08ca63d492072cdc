//! Works a plan off: each trial is saved before the next begins, and a run that was ended at any moment goes on where
//! it stopped.

mod reading_back;
mod ready;
mod step;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kvdyno_engine::EngineSettings;
use kvdyno_environment::leftovers;
use kvdyno_environment::lock::{FolderLock, LockError};
use kvdyno_environment::ownership::{Register, RunName};
use kvdyno_experiment::Experiment;
use kvdyno_install::EngineFiles;
use kvdyno_model::text::times;
use kvdyno_plan::design::DesignMachine;
use kvdyno_plan::{Checked, CheckedVariant, LoadId, PlannedTrial, Setup, backing_store};
use kvdyno_results::folder::{ReadError, ResultsFolder};
use kvdyno_results::{
    Phase, Repeated, ResourcePoint, SavedPlan, SeriesPoint, TrialKey, TrialOutcome, TrialResult, files,
};

use self::step::StepEnd;
use crate::databases::{Slot, SlotUse};
use crate::executor::{self, Executor, LabProgram};
use crate::pace::Pace;
use crate::progress::Progress;
use crate::repeats::{RepeatDecision, Repeats, StoppingRule};
use crate::stop::Stop;
use crate::trial::{self, LabError, TrialRequest};

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Trials that were there before, or are now.
    pub ended: usize,
    /// Ended trials that failed.
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
    /// The folder of the databases is another's; nothing was touched.
    #[error(transparent)]
    Base(#[from] LockError),
}

fn failed<T>(what: impl Into<String>) -> impl FnOnce(io::Error) -> Result<T, RunError> {
    let what = what.into();
    move |cause| Err(RunError::Io { what, cause })
}

/// Runs every trial of `checked` that `folder` does not have yet. The results belong to `run`.
///
/// With `repeat = "auto"`, `rule` decides when the results are enough.
///
/// # Errors
/// If the lab itself cannot work before or after a trial, or can save nothing any more. Failures during a trial, of an
/// engine or of the lab, are in the results.
pub fn run(
    checked: &Checked,
    folder: &ResultsFolder,
    run: &RunName,
    program: &LabProgram,
    rule: &dyn StoppingRule,
    stop: &Stop,
    progress: &mut dyn Progress,
) -> Result<Summary, RunError> {
    let executor = executor::of(program, &checked.experiment.lab);
    run_with(checked, folder, run, &*executor, rule, stop, progress)
}

/// The same with any executor of trials.
fn run_with(
    checked: &Checked,
    folder: &ResultsFolder,
    run: &RunName,
    executor: &dyn Executor,
    rule: &dyn StoppingRule,
    stop: &Stop,
    progress: &mut dyn Progress,
) -> Result<Summary, RunError> {
    let mut runner = Runner::new(checked, folder, run, executor, rule, stop)?;
    let outcome = runner.work(progress);
    let outcome = outcome.and_then(|summary| runner.save_plan().map(|()| summary));
    let released = runner.release();
    if outcome.is_ok() && !checked.experiment.lab.keep && !runner.interrupted {
        runner.remove_base();
    }
    outcome.and_then(|summary| released.map(|()| summary))
}

struct Runner<'a> {
    checked: &'a Checked,
    folder: &'a ResultsFolder,
    executor: &'a dyn Executor,
    stop: &'a Stop,
    /// Folder of the databases.
    base: PathBuf,
    /// The results so far, by number of the trial.
    results: HashMap<u32, TrialResult>,
    /// Databases that could not be loaded, with the reason.
    unusable: HashMap<LoadId, String>,
    interrupted: bool,
    /// Decides the number of repeats.
    repeats: Repeats<'a>,
    pace: Pace,
    /// The seed of the values in all databases.
    value_seed: u64,
    engine_files: EngineFiles,
    /// No other run works in the folder of the databases.
    lock: FolderLock,
    /// Everything that is made for databases and trials is noted here, so that `kvdyno clean` finds it if this process
    /// is killed.
    register: Register,
}

impl<'a> Runner<'a> {
    fn new(
        checked: &'a Checked,
        folder: &'a ResultsFolder,
        run: &RunName,
        executor: &'a dyn Executor,
        rule: &'a dyn StoppingRule,
        stop: &'a Stop,
    ) -> Result<Self, RunError> {
        let base = database_base(checked, folder, run);
        match fs::create_dir(&base) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.or_else(failed(format!("cannot make {}", base.display())))?,
        }
        let lock = FolderLock::acquire_for(&base, run)?;
        let register = leftovers::resumed(run.clone()).or_else(failed("cannot note what is made"))?;
        let results: HashMap<u32, TrialResult> =
            folder.results()?.into_iter().map(|result| (result.trial.number, result)).collect();
        Ok(Runner {
            checked,
            folder,
            executor,
            repeats: Repeats::begin(&checked.experiment.lab, rule, results.values(), saved_plan(folder)?),
            stop,
            base,
            results,
            unusable: HashMap::new(),
            interrupted: false,
            pace: Pace::default(),
            value_seed: folder.value_seed()?.unwrap_or(checked.experiment.lab.seed.get()),
            engine_files: EngineFiles::default(),
            lock,
            register,
        })
    }

    fn work(&mut self, progress: &mut dyn Progress) -> Result<Summary, RunError> {
        let plan = &self.checked.plan;
        for step in plan.steps() {
            if self.is_enough_before(step[0].key.repeat, progress)? {
                self.remove_copies(progress)?;
                break;
            }
            let is_missing = |planned: &&PlannedTrial| {
                let number = planned.key.number;
                !self.results.contains_key(&number) && !self.repeats.is_skipped(number)
            };
            let missing: Vec<&PlannedTrial> = step.iter().filter(is_missing).collect();
            let all = plan.trials.iter().filter(|planned| self.is_to_come(planned)).count() + self.results.len();
            for (before, planned) in (self.results.len()..).zip(&missing) {
                progress.begin(&planned.key, before, all);
            }
            if !self.work_on(step, &missing, progress)? {
                self.interrupted = true;
                break;
            }
        }
        Ok(Summary {
            ended: self.results.len(),
            failed: self.results.values().filter(|result| !result.is_finished()).count(),
            interrupted: self.interrupted,
        })
    }

    /// Runs the missing trials of a step. A copy that has no space beside those of the others gets theirs when they are
    /// through. False if the user interrupted.
    fn work_on(
        &mut self,
        step: &'a [PlannedTrial],
        missing: &[&'a PlannedTrial],
        progress: &mut dyn Progress,
    ) -> Result<bool, RunError> {
        let Some(StepEnd { results, without_space }) = self.step(missing, step.len() > 1, progress)? else {
            return Ok(false);
        };
        self.note_results(missing, results, progress);
        let waits = |planned: &&PlannedTrial| without_space.iter().any(|other| other.key.number == planned.key.number);
        let through: Vec<&PlannedTrial> = step.iter().filter(|planned| !waits(planned)).collect();
        if !self.after(&through, progress)? {
            return Ok(false);
        }
        for &planned in &without_space {
            let engine = &planned.key.engine;
            progress.note(&format!("{engine}: its copy had no space beside those of the others, and gets theirs"));
            let others = step.iter().filter(|other| other.copied && other.key.number != planned.key.number);
            others.filter(|other| other.key.phase == Phase::Run).try_for_each(|other| self.remove(other, progress))?;
            let Some(StepEnd { results, .. }) = self.step(&[planned], false, progress)? else { return Ok(false) };
            self.note_results(&[planned], results, progress);
            if !self.after(&[planned], progress)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn note_results(&mut self, trials: &[&PlannedTrial], results: Vec<TrialResult>, progress: &mut dyn Progress) {
        for result in results {
            progress.end(&result);
            if let Some(planned) = trials.iter().find(|planned| planned.key.number == result.trial.number) {
                self.pace.learn(planned, &result);
            }
            self.results.insert(result.trial.number, result);
        }
    }

    /// Whether nothing more needs repeating; asked before the first trial of a repeat.
    fn is_enough_before(&mut self, repeat: u32, progress: &mut dyn Progress) -> Result<bool, RunError> {
        let trials: Vec<&PlannedTrial> =
            self.checked.plan.trials.iter().filter(|planned| planned.key.repeat == repeat).collect();
        match self.repeats.before(repeat, &trials, &self.results) {
            RepeatDecision::Known => return Ok(false),
            RepeatDecision::Done => {
                if let Some(repeated) = self.repeats.repeated(repeat) {
                    progress.note(&repeated_because(repeated));
                }
                if let Some(outlook) = self.repeats.take_outlook() {
                    progress.note(&outlook);
                }
                self.save_plan()?;
                return Ok(false);
            }
            RepeatDecision::End(None) => {}
            RepeatDecision::End(Some(enough)) => progress.note(&format!("{}: {}", times(enough.repeat), enough.why)),
        }
        self.save_plan()?;
        Ok(true)
    }

    /// Keeps what was decided about repeats, and the time that it took.
    fn save_plan(&mut self) -> Result<(), RunError> {
        // Older results have none, and get none.
        if self.folder.plan()?.is_none() {
            return Ok(());
        }
        let plan = self.repeats.saved(self.results.len());
        files::write_json(&self.folder.plan_file(), plan).or_else(failed("cannot save plan.json"))
    }

    /// Whether a trial has no result yet and is not known to be left out.
    fn is_to_come(&self, planned: &PlannedTrial) -> bool {
        let (number, repeat) = (planned.key.number, planned.key.repeat);
        let is_repeated = !planned.extra || self.repeats.repeated(repeat).is_some();
        !self.results.contains_key(&number) && !self.repeats.is_skipped(number) && is_repeated
    }

    /// The database of a trial: where runs are done on copies, that of a load is the one they are made from.
    fn slot(&self, planned: &PlannedTrial) -> Slot {
        let experiment = self.experiment(planned);
        let use_of = match (planned.copied, planned.key.phase) {
            (false, _) => SlotUse::WorkedOn,
            (true, Phase::Load) => SlotUse::CopiedFrom,
            (true, Phase::Run) => SlotUse::Copy(planned.copy),
        };
        let LoadId { engine, repeat, .. } = planned.origin;
        let engine = experiment.engines[engine].clone();
        let load = TrialKey { engine, repeat, ..planned.key.clone() };
        Slot::new(&self.base, &load, use_of, &self.register, |folder| {
            backing_store::of(experiment, &self.variant(planned).environment.requested, folder)
        })
    }

    /// The load of a trial's database.
    fn load_of(&self, planned: &PlannedTrial) -> Option<&'a PlannedTrial> {
        let mut trials = self.checked.plan.trials.iter();
        trials.find(|trial| trial.key.phase == Phase::Load && trial.origin == planned.origin)
    }

    /// Saves a trial whole. If that cannot be, its result alone, as a failure, in the space of its other files: then at
    /// least the next one runs.
    fn save_with_series(
        &self,
        result: TrialResult,
        series: &[SeriesPoint],
        resources: &[ResourcePoint],
    ) -> Result<TrialResult, RunError> {
        let (folder, trial) = (&self.folder, &result.trial);
        let saved = folder.save_series(trial, series).and_then(|()| folder.save_resources(trial, resources));
        let saved = saved.and_then(|()| folder.save(&result));
        let Err(cause) = saved else { return Ok(result) };
        self.folder.discard_files(&result.trial);
        let outcome = match result.outcome {
            TrialOutcome::Finished => LabError::new("save the trial", cause).outcome(),
            failed => failed,
        };
        let result = TrialResult { outcome, profile: None, ..result };
        self.save(&result)?;
        Ok(result)
    }

    fn save(&self, result: &TrialResult) -> Result<(), RunError> {
        self.folder.save(result).or_else(failed(format!("cannot save trial {}", result.trial.number)))
    }

    fn variant(&self, planned: &PlannedTrial) -> &'a CheckedVariant {
        &self.checked.variants[planned.variant]
    }

    /// The experiment of a trial's variant.
    fn experiment(&self, planned: &PlannedTrial) -> &'a Experiment {
        &self.variant(planned).variant.experiment
    }

    /// The machine as a trial's variant leaves it to designs.
    fn design_machine(&self, planned: &PlannedTrial) -> DesignMachine {
        DesignMachine::of(&self.variant(planned).environment)
    }

    fn setup(&self, planned: &PlannedTrial) -> &'a Setup {
        &self.variant(planned).setups[planned.engine]
    }

    fn request(&self, planned: &PlannedTrial) -> TrialRequest {
        TrialRequest {
            workload: trial::workload_facts(&planned.workload, &self.settings(planned)),
            experiment: self.experiment(planned).resolved_for(planned.section),
        }
    }

    /// The lab's settings for a trial.
    fn settings(&self, planned: &PlannedTrial) -> EngineSettings {
        match planned.key.phase {
            Phase::Load => self.experiment(planned).load_settings(),
            Phase::Run => self.experiment(planned).engine_settings(),
        }
    }

    /// Makes the engine of a trial release what it keeps outside a database.
    fn destroy(&self, planned: &PlannedTrial) -> impl FnOnce(&Path) -> io::Result<Option<String>> {
        |database| self.executor.destroy(self.setup(planned), database)
    }

    /// Does what is left to do once trials of a step have ended, now or in an earlier run. False if interrupted.
    fn after(&mut self, trials: &[&PlannedTrial], progress: &mut dyn Progress) -> Result<bool, RunError> {
        for planned in trials.iter().filter(|planned| planned.key.phase == Phase::Load) {
            let result = self.results.get(&planned.key.number);
            if let Some(TrialOutcome::Failed(failure)) = result.map(|result| &result.outcome) {
                let why = format!("the load failed: {}", failure.reason);
                self.unusable.entry(planned.origin).or_insert(why);
            }
        }
        // What is copied is read back before, and a copy before another setup gets it.
        let is_audited = |planned: &&PlannedTrial| {
            (planned.last_on_database || planned.copied) && !self.unusable.contains_key(&planned.origin)
        };
        let audited: Vec<&PlannedTrial> = trials.iter().copied().filter(is_audited).collect();
        if !self.audit(&audited, progress)? {
            return Ok(false);
        }
        trials.iter().try_for_each(|planned| self.remove_if_useless(planned, progress))?;
        Ok(true)
    }

    /// A database that is of no more use makes room for the others, a half-loaded one above all.
    fn remove_if_useless(&self, planned: &PlannedTrial, progress: &mut dyn Progress) -> Result<(), RunError> {
        let keep = self.checked.experiment.lab.keep;
        if self.unusable.contains_key(&planned.origin) || (planned.last_on_database && !keep) {
            self.remove(planned, progress)?;
        }
        match self.load_of(planned) {
            Some(load) if planned.last_on_origin && !keep => self.remove(load, progress),
            _ => Ok(()),
        }
    }

    /// Removes databases that further repeats would have stood on copies of, and the copies.
    fn remove_copies(&self, progress: &mut dyn Progress) -> Result<(), RunError> {
        let is_ours = |planned: &&PlannedTrial| planned.copied && self.results.contains_key(&planned.key.number);
        match self.checked.experiment.lab.keep {
            true => Ok(()),
            false => self.checked.plan.trials.iter().filter(is_ours).try_for_each(|load| self.remove(load, progress)),
        }
    }

    /// Removes the database of a trial.
    fn remove(&self, planned: &PlannedTrial, progress: &mut dyn Progress) -> Result<(), RunError> {
        let slot = self.slot(planned);
        let removed = slot.remove(self.destroy(planned));
        let complaint = removed.or_else(failed(format!("cannot remove {}", slot.database().display())))?;
        complaint.into_iter().for_each(|complaint| progress.note(&complaint));
        Ok(())
    }

    /// Takes what databases lie on from the system: they stay in their files.
    fn release(&self) -> Result<(), RunError> {
        let slots = self.checked.plan.trials.iter().map(|planned| self.slot(planned));
        let mut outcomes = slots.map(|slot| {
            let what = || format!("cannot release {}", slot.database().display());
            slot.release().or_else(failed(what()))
        });
        // All are tried; the first error is reported.
        let first = outcomes.find(Result::is_err);
        outcomes.for_each(drop);
        first.unwrap_or(Ok(()))
    }

    /// Removes the folder of the databases if nothing is left in it.
    fn remove_base(&self) {
        self.lock.remove();
        // A folder that is not empty is no failure: other files stay.
        let _ = fs::remove_dir(&self.base);
    }
}

fn saved_plan(folder: &ResultsFolder) -> Result<SavedPlan, RunError> {
    Ok(folder.plan()?.unwrap_or_else(|| SavedPlan::new(serde_json::Value::Null, Vec::new(), None)))
}

/// Why a repeat is done, for people.
fn repeated_because(repeated: &Repeated) -> String {
    format!("repeat {} had interference, and is repeated as repeat {}: {}", repeated.repeat, repeated.by, repeated.why)
}

/// The folder of a run's databases: each run has its own.
fn database_base(checked: &Checked, folder: &ResultsFolder, run: &RunName) -> PathBuf {
    match &checked.experiment.lab.dir {
        None => folder.root().join("databases"),
        Some(dir) => {
            let name = folder.root().file_name().map_or("results".into(), |name| name.to_string_lossy().into_owned());
            dir.join(format!("kvdyno-{name}-{}", run.short()))
        }
    }
}

#[cfg(test)]
mod tests;
