//! A run of an experiment of a few words, in a folder of its own.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use kvdyno_engine::inspect::{Declared, Inspection, Obstacle, Request};
use kvdyno_engine::{Probe, abi};
use kvdyno_environment::ownership::RunName;
use kvdyno_experiment::Experiment;
use kvdyno_model::EngineName;
use kvdyno_plan::inspection::Inspector;
use kvdyno_plan::{Checked, check_with};
use kvdyno_results::folder::ResultsFolder;
use kvdyno_results::{SavedPlan, TrialKey, TrialOutcome, TrialResult, WorkKey, files};
use tempfile::TempDir;

use super::super::{RunError, Summary, run_with};
use super::script::{Script, named};
use crate::progress::{Live, Progress};
use crate::repeats::{Look, OpenStep, StoppingRule};
use crate::stop::Stop;

/// Every name is one of an engine: that of `volatile` keeps nothing.
struct EveryEngine;

impl Inspector for EveryEngine {
    fn request(&self, name: &EngineName, _: Option<PathBuf>) -> Result<Request, Obstacle> {
        Ok(Request { adapter: name.adapter.clone().into(), ..Request::default() })
    }

    fn inspect(&self, request: &Request) -> Result<Inspection, Obstacle> {
        let volatile = if request.adapter.ends_with("volatile") { abi::IS_VOLATILE } else { 0 };
        let declared = Declared {
            name: "engine".to_owned(),
            summary: String::new(),
            origin: String::new(),
            capabilities: abi::CAN_BATCH | volatile,
            durabilities: u32::MAX,
            compressions: u32::MAX,
            min_key_size: 0,
            max_key_size: 0,
            max_value_size: 0,
            destroys: true,
            options: Vec::new(),
            presets: Vec::new(),
        };
        let probe = Probe::Available { version: "1".to_owned() };
        let settings = request.settings.iter().map(|_| Ok(Vec::new())).collect();
        Ok(Inspection { declared, probe, library: None, settings })
    }
}

/// Results are enough after some repeat, and others interfered with some trials.
#[derive(Debug, Default)]
pub(super) struct ScriptedRule {
    pub(super) enough_after: Option<u32>,
    pub(super) interfered_with: &'static str,
}

impl StoppingRule for ScriptedRule {
    fn look(&self, results: &[&TrialResult]) -> Look {
        let done = results.iter().map(|result| result.trial.repeat).max();
        let enough = (done >= self.enough_after).then(|| "it is decided".to_owned());
        let open = results.iter().map(|result| OpenStep { step: WorkKey::from(*result), half_width: None });
        Look { enough, open: open.collect() }
    }

    fn interfered<'r>(&self, results: &[&'r TrialResult]) -> Vec<(&'r TrialKey, String)> {
        let interfered = results.iter().map(|result| &result.trial).filter(|one| named(one) == self.interfered_with);
        interfered.map(|trial| (trial, "others took it".to_owned())).collect()
    }

    fn outlook(&self, _: &[&TrialResult], _: f64) -> Option<String> {
        None
    }
}

/// Everything that was reported while trials ran.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Trials that began, with their indices and the number of all.
    pub(super) begun: Vec<(String, usize, usize)>,
    pub(super) ended: Vec<String>,
    pub(super) notes: Vec<String>,
    /// The time left at each trial.
    pub(super) left: Vec<Option<Duration>>,
    /// The process dies when this trial was saved.
    dies_after: &'static str,
}

impl Progress for Heard {
    fn begin(&mut self, trial: &TrialKey, index: usize, count: usize) {
        self.begun.push((named(trial), index, count));
    }

    fn live(&mut self, live: &Live) {
        self.left.push(live.left);
    }

    fn end(&mut self, result: &TrialResult) {
        let name = named(&result.trial);
        if name == self.dies_after {
            resume_unwind(Box::new("killed"));
        }
        self.ended.push(name);
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }
}

/// A folder in memory, where the system has one: each file that is saved waits for a disk.
pub(super) fn home() -> TempDir {
    let memory = Path::new("/dev/shm");
    tempfile::tempdir_in(if memory.is_dir() { memory.to_owned() } else { env::temp_dir() }).unwrap()
}

/// A run that can be gone on with.
pub(super) struct TestRun {
    _home: TempDir,
    pub(super) folder: ResultsFolder,
    pub(super) name: RunName,
    pub(super) checked: Checked,
    pub(super) script: Script,
    pub(super) rule: ScriptedRule,
    pub(super) stop: Stop,
    pub(super) heard: Heard,
}

impl TestRun {
    /// A run of these engines and workloads. `lab` has lines of `[lab]`, and sections after it. Trials take turns
    /// unless it says otherwise.
    pub(super) fn of(engines: &str, workloads: &str, lab: &str) -> TestRun {
        let design = if lab.contains("design") { "" } else { "design = \"turns\"" };
        let engines: Vec<&str> = engines.split(' ').collect();
        let run = |workload| {
            format!("[[run]]\nworkload = \"{workload}\"\nreaders = [1]\nduration = \"2s\"\nwarmup = \"1s\"\n")
        };
        let runs: String = workloads.split_whitespace().map(run).collect();
        let text = format!("engines = {engines:?}\n[data]\nrecords = 10\n{runs}[lab]\n{design}\n{lab}\n");
        let checked = check_with(Experiment::parse(&text).unwrap(), &EveryEngine).unwrap();
        let home = home();
        let folder = ResultsFolder::at(home.path());
        let trials = checked.plan.trials.iter().map(|trial| trial.key.clone()).collect();
        let repeat = checked.experiment.lab.repeat;
        let plan = SavedPlan::new(serde_json::Value::Null, trials, (!repeat.is_auto()).then(|| repeat.most()));
        files::write_json(&folder.plan_file(), &plan).unwrap();
        TestRun {
            _home: home,
            folder,
            name: RunName::new().unwrap(),
            checked,
            script: Script::default(),
            rule: ScriptedRule { enough_after: Some(1), ..ScriptedRule::default() },
            stop: Stop::default(),
            heard: Heard::default(),
        }
    }

    /// The trials of the plan, in order.
    pub(super) fn planned(&self) -> Vec<String> {
        self.checked.plan.ordered().map(|trial| named(&trial.key)).collect()
    }

    /// Begins, or goes on.
    pub(super) fn go_on(&mut self) -> Result<Summary, RunError> {
        self.heard = Heard { dies_after: self.heard.dies_after, ..Heard::default() };
        let TestRun { checked, folder, name, script, rule, stop, heard, .. } = self;
        run_with(checked, folder, name, script, rule, stop, heard)
    }

    /// The same where no error of the lab ends it: what was done.
    pub(super) fn calls(&mut self) -> String {
        self.go_on().unwrap();
        self.done()
    }

    /// The same of one engine alone.
    pub(super) fn calls_of(&mut self, engine: &str) -> String {
        let calls = self.calls();
        let of_engine = calls.split(", ").filter(|call| call.split(' ').any(|word| word == engine));
        of_engine.collect::<Vec<_>>().join(", ")
    }

    /// Everything done since the last look.
    pub(super) fn done(&self) -> String {
        self.script.calls.take().join(", ")
    }

    /// Is killed once this trial was saved.
    pub(super) fn die_after(&mut self, name: &'static str) {
        self.heard.dies_after = name;
        assert!(catch_unwind(AssertUnwindSafe(|| self.go_on())).is_err(), "{name} did not end");
        self.heard.dies_after = "";
    }

    /// The saved results, in order, with the sort of each failure.
    pub(super) fn saved(&self) -> String {
        let word = |result: TrialResult| match &result.outcome {
            TrialOutcome::Finished => named(&result.trial),
            TrialOutcome::Failed(failure) => format!("{}: {}", named(&result.trial), failure.kind),
        };
        self.folder.results().unwrap().into_iter().map(word).collect::<Vec<_>>().join(", ")
    }

    /// The saved result of a trial.
    pub(super) fn result(&self, name: &str) -> TrialResult {
        self.folder.results().unwrap().into_iter().find(|result| named(&result.trial) == name).unwrap()
    }

    /// Why a trial failed.
    pub(super) fn reason(&self, name: &str) -> String {
        match self.result(name).outcome {
            TrialOutcome::Failed(failure) => failure.reason,
            TrialOutcome::Finished => panic!("{name} finished"),
        }
    }

    /// The writers of the database before a trial.
    pub(super) fn before(&self, name: &str) -> String {
        self.script.before.borrow().iter().rev().find(|(of, _)| of == name).unwrap().1.clone()
    }

    /// Whether the folder of databases still exists.
    pub(super) fn has_databases(&self) -> bool {
        self.folder.root().join("databases").exists()
    }
}
