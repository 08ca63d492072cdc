//! Works a plan off: each trial is saved before the next begins, and a run that was ended at any moment goes on where
//! it stopped.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;

use kvdyno_engine::LabSettings;
use kvdyno_environment::lock::{FolderLock, LockError};
use kvdyno_environment::ownership::{Register, RunName};
use kvdyno_model::{Audit, Design};
use kvdyno_plan::design::{DesignMachine, StepDesign, step_design};
use kvdyno_results::files;
use kvdyno_results::folder::{ReadError, ResultsFolder};
use kvdyno_results::{DesignFacts, Phase, SeriesPoint, TrialKey, TrialOutcome, TrialResult};

use crate::audit::{self, ProcessAudit};
use crate::begun::Begun;
use crate::databases::Slot;
use crate::engine_cleanup::EngineCleanup;
use crate::pace::Pace;
use crate::progress::{Live, Progress};
use crate::repeats::{Repeats, StoppingRule};
use crate::stop::Stop;
use crate::trial::{self, Ended, LabError, TrialContext, TrialRequest};
use kvdyno_worker::slices::SliceSpec;
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
    /// The folder of the databases is another's; nothing was touched.
    #[error(transparent)]
    Base(#[from] LockError),
}

fn failed<T>(what: impl Into<String>) -> impl FnOnce(io::Error) -> Result<T, RunError> {
    let what = what.into();
    move |cause| Err(RunError::Io { what, cause })
}

/// Runs every trial of `checked` that `folder` does not have yet. `run` is the run whose results they are.
///
/// `worker` is the program, with its first arguments, that runs a trial when given the path of its specification. Where
/// the results decide how often everything is repeated, `rule` tells when they are enough.
///
/// # Errors
/// If the lab itself cannot work before a trial or after one, or nothing can be saved any more. What happens during a
/// trial, to an engine or to the lab, is in the results.
pub fn run(
    checked: &Checked,
    folder: &ResultsFolder,
    run: &RunName,
    worker: &[OsString],
    rule: &dyn StoppingRule,
    stop: &Stop,
    progress: &mut dyn Progress,
) -> Result<Summary, RunError> {
    let mut runner = Runner::new(checked, folder, run, worker, rule, stop)?;
    let outcome = runner.work(progress);
    let released = runner.release();
    if outcome.is_ok() && !checked.experiment.lab.keep && !runner.interrupted {
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
    /// How often everything is done.
    repeats: Repeats<'a>,
    pace: Pace,
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
        worker: &'a [OsString],
        rule: &'a dyn StoppingRule,
        stop: &'a Stop,
    ) -> Result<Self, RunError> {
        let base = database_base(checked, folder, run);
        match fs::create_dir(&base) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.or_else(failed(format!("cannot make {}", base.display())))?,
        }
        let lock = FolderLock::acquire_for(&base, run)?;
        let register = Register::resumed(run.clone()).or_else(failed("cannot note what is made"))?;
        let results: HashMap<u32, TrialResult> =
            folder.results()?.into_iter().map(|result| (result.trial.number, result)).collect();
        Ok(Runner {
            checked,
            folder,
            worker,
            repeats: Repeats::begin(&checked.experiment.lab, rule, results.values(), folder.plan()?),
            stop,
            base,
            results,
            unusable: HashMap::new(),
            interrupted: false,
            pace: Pace::default(),
            lock,
            register,
        })
    }

    fn work(&mut self, progress: &mut dyn Progress) -> Result<Summary, RunError> {
        let plan = &self.checked.plan;
        for step in plan.steps() {
            if self.is_enough_before(step[0].key.repeat, progress)? {
                break;
            }
            let missing: Vec<&PlannedTrial> =
                step.iter().filter(|planned| !self.results.contains_key(&planned.key.number)).collect();
            for planned in &missing {
                progress.begin(&planned.key, planned.key.number as usize - 1, plan.trials.len());
            }
            let Some(results) = self.step(&missing, progress)? else {
                self.interrupted = true;
                break;
            };
            for (planned, result) in missing.iter().zip(results) {
                progress.end(&result);
                self.pace.learn(planned, &result);
                self.results.insert(planned.key.number, result);
            }
            for planned in step {
                if !self.after(planned, progress)? {
                    self.interrupted = true;
                    break;
                }
            }
            if self.interrupted {
                break;
            }
        }
        Ok(Summary {
            ended: self.results.len(),
            failed: self.results.values().filter(|result| !result.is_finished()).count(),
            interrupted: self.interrupted,
        })
    }

    /// Whether nothing need be repeated any more, before the first trial of a repeat.
    fn is_enough_before(&mut self, repeat: u32, progress: &mut dyn Progress) -> Result<bool, RunError> {
        let Some(enough) = self.repeats.enough_before(repeat, &self.results) else { return Ok(false) };
        progress.note(&format!("{}: {}", times(enough.repeat), enough.why));
        if let Some(mut plan) = self.folder.plan()? {
            plan.enough = Some(enough);
            files::write_json(&self.folder.plan_file(), &plan).or_else(failed("cannot save plan.json"))?;
        }
        Ok(true)
    }

    /// Runs the trials of a step, beside each other if they can be, and saves them. `None` if the user interrupted.
    fn step(
        &mut self,
        trials: &[&'a PlannedTrial],
        progress: &mut dyn Progress,
    ) -> Result<Option<Vec<TrialResult>>, RunError> {
        let mut results = Vec::new();
        let mut runnable = Vec::new();
        for &planned in trials {
            match self.prepared(planned, progress)? {
                Prepared::Interrupted => return Ok(None),
                Prepared::Unusable(result) => results.push(*result),
                Prepared::Ready(notes) => runnable.push((planned, notes)),
            }
        }
        let all: Vec<&PlannedTrial> = runnable.iter().map(|(planned, _)| *planned).collect();
        let design = self.design(&all);
        let one_by_one = design.design == Design::Turns;
        let mut groups = Vec::new();
        match one_by_one {
            true => groups.extend(runnable.into_iter().map(|one| vec![one])),
            false => groups.push(runnable),
        }
        for group in groups {
            let Some(ended) = self.together(group, &design, progress)? else { return Ok(None) };
            results.extend(ended);
        }
        results.sort_by_key(|result| result.trial.number);
        Ok(Some(results))
    }

    /// Runs trials at the same time and saves them.
    fn together(
        &mut self,
        trials: Vec<(&'a PlannedTrial, Vec<String>)>,
        design: &StepDesign,
        progress: &mut dyn Progress,
    ) -> Result<Option<Vec<TrialResult>>, RunError> {
        let begun: Vec<Begun<'a>> = trials
            .into_iter()
            .map(|(planned, notes)| {
                let folder = self.folder.trial_folder(&planned.key);
                self.begin(planned, self.slot(planned), folder, notes, design, progress)
            })
            .collect::<Result<_, _>>()?;
        let ended = self.coordinate(&begun, design, progress)?;
        if ended.iter().any(|ended| ended.result.is_none()) {
            return Ok(None);
        }
        let mut results = Vec::new();
        for (one, ended) in begun.iter().zip(ended) {
            let Some(result) = ended.result else { return Ok(None) };
            if one.planned.key.phase == Phase::Load
                && let TrialOutcome::Failed(failure) = &result.outcome
            {
                let reason = format!("the load failed: {}", failure.reason);
                self.unusable.insert(DatabaseId::of(one.planned), reason);
            }
            results.push(self.save_with_series(result, &ended.series)?);
        }
        Ok(Some(results))
    }

    /// The design for trials of one step; those that had another before keep that, as far as they still can.
    fn design(&self, trials: &[&PlannedTrial]) -> StepDesign {
        let Some(first) = trials.first() else { return StepDesign::turns("there is nothing to run") };
        if first.key.phase == Phase::Load {
            return StepDesign::turns("a load");
        }
        let variant = self.variant(first);
        let machine = DesignMachine::of(&variant.environment);
        let design = step_design(&variant.variant.experiment, trials, &machine)
            // It was checked with all setups; those that are left may not be enough for it.
            .unwrap_or_else(|refused| StepDesign::turns(&refused.message));
        match (design.design, self.design_before(first)) {
            (Design::Auto, Some(before)) => StepDesign { design: before.design, why: before.why.clone(), ..design },
            _ => design,
        }
    }

    /// The design of the same step in the first repeat in which it was a duet or slices.
    fn design_before(&self, planned: &PlannedTrial) -> Option<&DesignFacts> {
        let step = |trial: &TrialKey| {
            (trial.variant.clone(), trial.workload.clone(), trial.readers, trial.writers, trial.clients)
        };
        let mut earlier: Vec<&TrialResult> = self
            .results
            .values()
            .filter(|result| result.trial.repeat < planned.key.repeat && step(&result.trial) == step(&planned.key))
            .collect();
        earlier.sort_by_key(|result| result.trial.number);
        earlier.into_iter().filter_map(|result| result.design.as_ref()).find(|facts| facts.design != Design::Turns)
    }

    fn slot(&self, planned: &PlannedTrial) -> Slot {
        let variant = self.variant(planned);
        Slot::new(&self.base, &planned.key, &self.register, |folder| {
            backing_store::of(&variant.variant.experiment, &variant.environment.requested, folder)
        })
    }

    /// Makes the database of a trial ready.
    fn prepared(&mut self, planned: &PlannedTrial, progress: &mut dyn Progress) -> Result<Prepared, RunError> {
        let id = DatabaseId::of(planned);
        let slot = self.slot(planned);
        let mut notes = Vec::new();
        let unavailable = || format!("cannot make {} available", slot.database().display());
        if planned.key.phase == Phase::Run
            && !self.unusable.contains_key(&id)
            && !slot.is_clean().or_else(failed(unavailable()))?
            && !self.audit(planned, &slot, progress)?
        {
            return Ok(Prepared::Interrupted);
        }
        if planned.key.phase == Phase::Run
            && !self.unusable.contains_key(&id)
            && !slot.is_clean().or_else(failed(unavailable()))?
        {
            progress.note(&format!("{}: loading the database again", planned.key.engine));
            match self.reload(planned, slot, progress)? {
                Reloaded::Interrupted => return Ok(Prepared::Interrupted),
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
            return Ok(Prepared::Unusable(Box::new(result)));
        }
        Ok(Prepared::Ready(notes))
    }

    /// Saves a trial whole. If that cannot be, its result alone, as a failure, in the space of its other files: then at
    /// least the next one runs.
    fn save_with_series(&self, result: TrialResult, series: &[SeriesPoint]) -> Result<TrialResult, RunError> {
        let saved = self.folder.save_series(&result.trial, series).and_then(|()| self.folder.save(&result));
        let Err(cause) = saved else { return Ok(result) };
        self.folder.forsake(&result.trial);
        let outcome = match result.outcome {
            TrialOutcome::Finished => LabError::new("save the trial", cause).outcome(),
            failed => failed,
        };
        let result = TrialResult { outcome, ..result };
        self.save(&result)?;
        Ok(result)
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

    /// Takes a database into use for a trial.
    fn begin(
        &self,
        planned: &'a PlannedTrial,
        slot: Slot,
        folder: PathBuf,
        notes: Vec<String>,
        design: &StepDesign,
        progress: &mut dyn Progress,
    ) -> Result<Begun<'a>, RunError> {
        let settings = self.settings(planned);
        let goes_on = self.goes_on(planned, &slot, &settings).or_else(failed(cannot_run(planned)))?;
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
        let (ledger, last_version) = prepared.or_else(failed(cannot_run(planned)))?;
        let slices = (design.design != Design::Turns).then(|| SliceSpec { cpus: design.cpus.clone() });
        Ok(Begun { planned, slot, folder, settings, create, ledger, last_version, notes, slices })
    }

    /// Runs trials on their databases, which are clean afterwards only if all went well.
    fn coordinate(
        &self,
        trials: &[Begun<'a>],
        design: &StepDesign,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Ended>, RunError> {
        let Some(first) = trials.first() else { return Ok(Vec::new()) };
        let at_work: Vec<_> = trials.iter().map(|one| || one.note_at_work()).collect();
        let contexts: Vec<TrialContext<'_>> =
            trials.iter().zip(&at_work).map(|(one, at_work)| self.context(one, at_work)).collect();
        // Nobody knows how much is to come if the results decide that.
        let is_auto = self.checked.experiment.lab.repeat.is_auto();
        let left = self.pace.left(&self.checked.plan.trials, first.planned.key.number).filter(|_| !is_auto);
        let ended = trial::run(&contexts, design, &mut |live: &Live| {
            progress.live(&Live { left: left.map(|left| left.saturating_sub(live.elapsed)), ..live.clone() });
        });
        let mut ended = ended.or_else(failed(cannot_run(first.planned)))?;
        trials.iter().zip(&mut ended).for_each(|(one, ended)| one.end(ended));
        Ok(ended)
    }

    fn context<'b>(&'b self, one: &'b Begun<'a>, at_work: &'b dyn Fn() -> io::Result<()>) -> TrialContext<'b> {
        TrialContext {
            planned: one.planned,
            setup: self.setup(one.planned),
            environment: &self.variant(one.planned).environment,
            engine_cleanup: self.engine_cleanup(one.planned),
            lab: &self.checked.experiment.lab,
            settings: one.settings.clone(),
            request: self.request(one.planned),
            database: one.slot.database(),
            backing_store: one.slot.backing_store(),
            register: &self.register,
            slices: one.slices.clone(),
            create: one.create,
            ledger: &one.ledger,
            last_version: one.last_version,
            folder: &one.folder,
            worker: self.worker,
            stop: self.stop,
            at_work,
            notes: one.notes.clone(),
        }
    }

    /// Lets a fresh process read back what the trials on a database wrote, if that is still to be done. Trials whose
    /// writes are lost have failed by that. False if the user interrupted.
    fn audit(&mut self, planned: &PlannedTrial, slot: &Slot, progress: &mut dyn Progress) -> Result<bool, RunError> {
        let what = || format!("cannot read back what is in {}", slot.database().display());
        let lab = &self.checked.experiment.lab;
        if lab.audit == Audit::Off || self.setup(planned).volatile {
            return Ok(true);
        }
        let parts = slot.to_be_audited(&self.register).or_else(failed(what()))?;
        let load = self.load_of(planned);
        let (Some(load), false) = (load, parts.is_empty()) else { return Ok(true) };
        let folder = self.folder.root().join("auditing");
        let ledger = slot.ledger().or_else(failed(what()))?;
        let audit = ProcessAudit {
            worker: self.worker,
            setup: self.setup(planned),
            lab,
            settings: self.variant(planned).variant.experiment.lab_settings(),
            load,
            database: slot.database(),
            ledger: &ledger,
            folder: &folder,
            stop: self.stop,
        };
        let Some(finding) = audit.run(&parts).or_else(failed(what()))? else { return Ok(false) };
        for (index, part) in parts.iter().enumerate() {
            let Some(result) = self.results.get_mut(&part.trial) else { continue };
            let failed = audit::note(result, finding.as_ref().map(|finding| finding.get(index)));
            let result = result.clone();
            self.save(&result)?;
            let Some(reason) = failed else { continue };
            progress.note(&format!("{}: trial {} has failed: {reason}", planned.key.engine, part.trial));
            if result.trial.phase == Phase::Load {
                self.unusable.insert(DatabaseId::of(planned), format!("the load failed: {reason}"));
            }
        }
        slot.end_audit().or_else(failed(what()))?;
        fs::remove_dir_all(&folder).or_else(failed(format!("cannot remove {}", folder.display())))?;
        Ok(true)
    }

    /// The load of a trial's database.
    fn load_of(&self, planned: &PlannedTrial) -> Option<&'a PlannedTrial> {
        let mut trials = self.checked.plan.trials.iter();
        trials.find(|trial| trial.key.phase == Phase::Load && DatabaseId::of(trial) == DatabaseId::of(planned))
    }

    /// Whether a load was ended in the middle and can go on there.
    fn goes_on(&self, planned: &PlannedTrial, slot: &Slot, settings: &LabSettings) -> io::Result<bool> {
        Ok(can_go_on(planned) && slot.has_part_of_load(settings.durability)?)
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

    /// Does what is left to do once a trial has ended, now or in an earlier run. False if the user interrupted.
    fn after(&mut self, planned: &PlannedTrial, progress: &mut dyn Progress) -> Result<bool, RunError> {
        let id = DatabaseId::of(planned);
        let result = self.results.get(&planned.key.number);
        if planned.key.phase == Phase::Load
            && let Some(TrialOutcome::Failed(failure)) = result.map(|result| &result.outcome)
        {
            self.unusable.entry(id).or_insert_with(|| format!("the load failed: {}", failure.reason));
        }
        // A database that is of no more use makes room for the others, a half-loaded one above all.
        if planned.last_on_database
            && !self.unusable.contains_key(&id)
            && !self.audit(planned, &self.slot(planned), progress)?
        {
            return Ok(false);
        }
        let useless = self.unusable.contains_key(&id);
        if useless || (planned.last_on_database && !self.checked.experiment.lab.keep) {
            let slot = self.slot(planned);
            let removed = slot.remove(self.engine_cleanup(planned));
            let complaint = removed.or_else(failed(format!("cannot remove {}", slot.database().display())))?;
            complaint.into_iter().for_each(|complaint| progress.note(&complaint));
        }
        Ok(true)
    }

    /// Takes what databases lie on from the system: they stay in their files.
    fn release(&self) -> Result<(), RunError> {
        let slots = self.checked.plan.trials.iter().map(|planned| self.slot(planned));
        let mut outcomes = slots.map(|slot| {
            let what = || format!("cannot release {}", slot.database().display());
            slot.release().or_else(failed(what()))
        });
        // All are tried; the first complaint is told.
        let first = outcomes.find(Result::is_err);
        outcomes.for_each(drop);
        first.unwrap_or(Ok(()))
    }

    /// Removes the folder of the databases if nothing is left in it.
    fn remove_base(&self) {
        self.lock.remove();
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

/// `once`, `5 times`.
fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn cannot_run(planned: &PlannedTrial) -> String {
    format!("cannot run trial {} ({})", planned.key.number, planned.key.engine)
}

/// Whether a trial can be run on its database.
enum Prepared {
    /// It can; with notes for its result.
    Ready(Vec<String>),
    /// It cannot; its result, saved.
    Unusable(Box<TrialResult>),
    Interrupted,
}

enum Reloaded {
    Done,
    Failed(String),
    Interrupted,
}

/// Where the databases of a run go: no two runs have them in one folder.
fn database_base(checked: &Checked, folder: &ResultsFolder, run: &RunName) -> PathBuf {
    match &checked.experiment.lab.dir {
        None => folder.root().join("databases"),
        Some(dir) => {
            let name = folder.root().file_name().map_or("results".into(), |name| name.to_string_lossy().into_owned());
            dir.join(format!("kvdyno-{name}-{}", run.short()))
        }
    }
}
