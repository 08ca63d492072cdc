//! The trials of one step: together if their design says so, else one after the other.

use std::io;
use std::path::PathBuf;

use kvdyno_model::{Design, VerdictFigure};
use kvdyno_plan::design::{StepDesign, loads_at_once, step_design};
use kvdyno_plan::{PlannedTrial, Setup};
use kvdyno_results::{
    DatabaseCopy, DesignFacts, EngineIdentity, Failure, FailureKind, Phase, TrialKey, TrialOutcome, TrialResult,
    WorkKey,
};
use kvdyno_worker::KnownContents;
use kvdyno_worker::slices::SliceSpec;

use super::ready::Readiness;
use super::{RunError, Runner, failed};
use crate::begun::Begun;
use crate::databases::Slot;
use crate::progress::{Live, Progress};
use crate::trial::{Ended, TrialContext};

/// The end of a step.
pub(super) struct StepEnd<'a> {
    pub(super) results: Vec<TrialResult>,
    /// Those that were not run, because their copies had no space.
    pub(super) without_space: Vec<&'a PlannedTrial>,
}

impl<'a> Runner<'a> {
    /// Runs trials of a step, together if possible, and saves them. If `may_wait`, those whose copies have no space are
    /// left for later. `None` if the user interrupted.
    pub(super) fn step(
        &mut self,
        trials: &[&'a PlannedTrial],
        may_wait: bool,
        progress: &mut dyn Progress,
    ) -> Result<Option<StepEnd<'a>>, RunError> {
        let (mut results, mut without_space) = (Vec::new(), Vec::new());
        let mut runnable = Vec::new();
        for &planned in trials {
            match self.prepared(planned, progress)? {
                Readiness::Interrupted => return Ok(None),
                Readiness::Unusable(result) => results.push(*result),
                Readiness::NoSpace(_) if may_wait => without_space.push(planned),
                Readiness::NoSpace(reason) => results.push(self.left_out(planned, FailureKind::NoSpace, reason)?),
                Readiness::Ready(notes) => runnable.push((planned, notes)),
            }
        }
        let all: Vec<&PlannedTrial> = runnable.iter().map(|(planned, _)| *planned).collect();
        let design = self.design(&all);
        let at_once = match design.design.is_one_by_one() {
            true => self.loads_at_once(&all),
            false => all.len(),
        };
        if design.design.is_one_by_one() && at_once > 1 {
            // Loads that take about as long begin together, so that few processors wait for the slower one.
            runnable.sort_by(|(one, _), (other, _)| self.load_seconds(other).total_cmp(&self.load_seconds(one)));
        }
        while !runnable.is_empty() {
            let group = runnable.drain(..at_once.min(runnable.len())).collect();
            let Some(ended) = self.together(group, &design, progress)? else { return Ok(None) };
            let Some(ended) = self.rerun_alone_if_others_may_be_the_cause(ended, progress)? else { return Ok(None) };
            for (_, ended) in ended {
                let Some(result) = ended.result else { return Ok(None) };
                results.push(self.save_with_series(result, &ended.series, &ended.resources)?);
            }
        }
        results.sort_by_key(|result| result.trial.number);
        Ok(Some(StepEnd { results, without_space }))
    }

    /// Runs trials at the same time. `None` if the user interrupted.
    fn together(
        &self,
        trials: Vec<(&'a PlannedTrial, Vec<String>)>,
        design: &StepDesign,
        progress: &mut dyn Progress,
    ) -> Result<Option<Vec<(&'a PlannedTrial, Ended)>>, RunError> {
        let begun: Vec<Begun<'a>> = trials
            .into_iter()
            .map(|(planned, notes)| {
                let folder = self.folder.trial_folder(&planned.key);
                self.begin(planned, self.slot(planned), folder, notes, design, progress)
            })
            .collect::<Result<_, _>>()?;
        let ended = self.coordinate(&begun, design, progress)?;
        let is_interrupted = ended.iter().any(|ended| ended.result.is_none());
        Ok((!is_interrupted).then(|| begun.iter().map(|one| one.planned).zip(ended).collect()))
    }

    /// If of trials that ran together one failed for want of space, or several for want of memory, another may be the
    /// cause: each of them runs again by itself. `None` if the user interrupted.
    fn rerun_alone_if_others_may_be_the_cause(
        &mut self,
        ended: Vec<(&'a PlannedTrial, Ended)>,
        progress: &mut dyn Progress,
    ) -> Result<Option<Vec<(&'a PlannedTrial, Ended)>>, RunError> {
        let count = |kind| ended.iter().filter(|(_, ended)| lacked(ended, kind)).count();
        let (space, memory) = (count(FailureKind::NoSpace), count(FailureKind::NoMemory));
        if ended.len() < 2 || (space == 0 && memory < 2) {
            return Ok(Some(ended));
        }
        let turns = StepDesign::turns("trials that ran together lacked space or memory");
        let mut again = Vec::new();
        for (planned, ended) in ended {
            if !lacked(&ended, FailureKind::NoSpace) && !lacked(&ended, FailureKind::NoMemory) {
                again.push((planned, ended));
                continue;
            }
            progress.note(&format!("{}: running again alone: {}", planned.key.engine, turns.why));
            match self.prepared(planned, progress)? {
                Readiness::Interrupted => return Ok(None),
                // If loading again fails, the first failure stands.
                Readiness::Unusable(_) | Readiness::NoSpace(_) => again.push((planned, ended)),
                Readiness::Ready(notes) => match self.together(vec![(planned, notes)], &turns, progress)? {
                    None => return Ok(None),
                    Some(ended) => again.extend(ended),
                },
            }
        }
        Ok(Some(again))
    }

    /// The design for trials of one step; those that had another before keep that, as far as they still can. Where the
    /// figure is CPU time, which only duets have, slices are not kept: by chance a client may have slept in the warm-up
    /// of an earlier repeat.
    fn design(&self, trials: &[&PlannedTrial]) -> StepDesign {
        let Some(first) = trials.first() else { return StepDesign::turns("there is nothing to run") };
        if first.key.phase == Phase::Load {
            return StepDesign::turns("a load");
        }
        let engines: Vec<EngineIdentity> = self.variant(first).setups.iter().map(Setup::engine).collect();
        let design = step_design(self.experiment(first), trials, &engines, &self.design_machine(first))
            // It was checked with all setups; those that are left may not be enough for it.
            .unwrap_or_else(|refused| StepDesign::turns(&refused.message));
        let needs_duets = self.experiment(first).lab.figure == VerdictFigure::CpuTime;
        let is_kept = |before: &&DesignFacts| !needs_duets || before.design == Design::Duet;
        match (design.design, self.design_before(first).filter(is_kept)) {
            (Design::Auto, Some(before)) => StepDesign { design: before.design, why: before.why.clone(), ..design },
            _ => design,
        }
    }

    /// How many trials of a step that has turns are done at once: of runs, one.
    fn loads_at_once(&self, trials: &[&PlannedTrial]) -> usize {
        let Some(first) = trials.first().filter(|first| first.key.phase == Phase::Load) else { return 1 };
        loads_at_once(self.experiment(first), trials, &self.design_machine(first))
    }

    /// How long the same load took when it was last done, seconds; 0 if it was not.
    fn load_seconds(&self, planned: &PlannedTrial) -> f64 {
        let same = |result: &&TrialResult| {
            let trial = &result.trial;
            trial.phase == Phase::Load && (&trial.engine, &trial.variant) == (&planned.key.engine, &planned.key.variant)
        };
        let last = self.results.values().filter(same).max_by_key(|result| result.trial.repeat);
        last.map_or(0.0, |result| result.os.wall_s)
    }

    /// The design of the same step in the first repeat in which it was a duet or slices.
    fn design_before(&self, planned: &PlannedTrial) -> Option<&DesignFacts> {
        let step = |trial: &TrialKey| WorkKey::from(trial);
        let mut earlier: Vec<&TrialResult> = self
            .results
            .values()
            .filter(|result| result.trial.repeat < planned.key.repeat && step(&result.trial) == step(&planned.key))
            .collect();
        earlier.sort_by_key(|result| result.trial.number);
        earlier.into_iter().filter_map(|result| result.design.as_ref()).find(|facts| !facts.design.is_one_by_one())
    }

    /// Takes a database into use for a trial.
    pub(super) fn begin(
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
            if create && let Some(complaint) = slot.prepare(self.destroy(planned))? {
                progress.note(&complaint);
            }
            Ok((slot.ledger(planned.workload.deletable())?, slot.begin_use(planned.key.phase)?))
        })();
        let (ledger, known) = prepared.or_else(failed(cannot_run(planned)))?;
        let loaded = || KnownContents::loaded(planned.workload.parameters.data.records);
        let contents = known.unwrap_or_else(loaded);
        planned.workload.prepare(&ledger, &contents);
        // A search orders a slice for each rate that it tries.
        let searches = planned.workload.parameters.run.searches();
        let is_sliced = searches || !design.design.is_one_by_one();
        let slices = is_sliced.then(|| SliceSpec { cpus: design.cpus.clone() });
        Ok(Begun { planned, slot, folder, settings, create, ledger, contents, notes, slices })
    }

    /// Runs trials on their databases, which are clean afterwards only if all went well.
    pub(super) fn coordinate(
        &self,
        trials: &[Begun<'a>],
        design: &StepDesign,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Ended>, RunError> {
        let Some(first) = trials.first() else { return Ok(Vec::new()) };
        let at_work: Vec<_> = trials.iter().map(|one| || one.note_at_work()).collect();
        let contexts: Vec<TrialContext<'_>> =
            trials.iter().zip(&at_work).map(|(one, at_work)| self.context(one, trials.len(), at_work)).collect();
        // If results decide the number of repeats, the remaining work is unknown.
        let is_auto = self.checked.experiment.lab.repeat.is_auto();
        let to_come = self.checked.plan.trials.iter().filter(|planned| self.is_to_come(planned));
        let left = self.pace.left(to_come, first.planned.key.number).filter(|_| !is_auto);
        let ended = self.executor.run(&contexts, design, &mut |live: &Live| {
            // Trials that run together take longer than was planned for one: the plan takes at least as long.
            let of_trial = live.trial_left().unwrap_or_default();
            let left = left.map(|left| left.saturating_sub(live.elapsed).max(of_trial));
            progress.live(&Live { left, ..live.clone() });
        });
        let mut ended = ended.or_else(failed(cannot_run(first.planned)))?;
        trials.iter().zip(&mut ended).for_each(|(one, ended)| one.end(ended));
        Ok(ended)
    }

    /// The copy of a loaded database that a run is done on.
    fn copied_from(&self, planned: &PlannedTrial) -> Option<DatabaseCopy> {
        let copy = |load: &PlannedTrial| DatabaseCopy { load: load.key.number, number: planned.copy as u32 };
        (planned.copied && planned.key.phase == Phase::Run).then(|| self.load_of(planned).map(copy)).flatten()
    }

    /// Of a trial that is one of `count` that are open at the same time.
    fn context<'b>(
        &'b self,
        one: &'b Begun<'a>,
        count: usize,
        at_work: &'b dyn Fn() -> io::Result<()>,
    ) -> TrialContext<'b> {
        TrialContext {
            planned: one.planned,
            setup: self.setup(one.planned),
            engine_files: &self.engine_files,
            environment: &self.variant(one.planned).environment,
            lab: &self.checked.experiment.lab,
            settings: one.settings.clone(),
            request: self.request(one.planned),
            database: one.slot.database(),
            backing_store: one.slot.backing_store(),
            register: &self.register,
            slices: one.slices.clone(),
            shares_machine: count > 1 && one.slices.is_none(),
            create: one.create,
            copied_from: self.copied_from(one.planned),
            ledger: &one.ledger,
            value_seed: self.value_seed,
            contents: one.contents,
            folder: &one.folder,
            stop: self.stop,
            at_work,
            notes: self.executor.note().map(str::to_owned).into_iter().chain(one.notes.clone()).collect(),
        }
    }
}

/// Whether a trial failed for want of this.
fn lacked(ended: &Ended, what: FailureKind) -> bool {
    let outcome = ended.result.as_ref().map(|result| &result.outcome);
    matches!(outcome, Some(TrialOutcome::Failed(Failure { kind, .. })) if *kind == what)
}

fn cannot_run(planned: &PlannedTrial) -> String {
    format!("cannot run trial {} ({})", planned.key.number, planned.key.engine)
}
