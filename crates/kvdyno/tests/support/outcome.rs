//! The outcome of a command, and what must hold of it.

use std::fs;
use std::process::ExitStatus;

use kvdyno_results::{Phase, TrialOutcome, TrialResult};

use super::Lab;

/// A command that ended.
pub struct Ran {
    pub lab: Lab,
    pub(super) status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Its exit code.
    #[track_caller]
    pub fn exits(&self, code: i32) -> &Self {
        assert_eq!(self.status.code(), Some(code), "{}\n{}{}", self.status, self.stdout, self.stderr);
        self
    }

    /// A message on standard error, wherever its lines break.
    #[track_caller]
    pub fn says(&self, words: &str) -> &Self {
        assert!(
            squeezed(&self.stderr).contains(&squeezed(words)),
            "it should say `{words}`, but says:\n{}",
            self.stderr
        );
        self
    }

    /// All that ended, in order.
    pub fn results(&self) -> Vec<TrialResult> {
        self.lab.folder().results().unwrap()
    }

    /// The one trial of an engine with that workload; `load` is its load.
    #[track_caller]
    pub fn trial(&self, engine: &str, what: &str) -> EndedTrial {
        let mut trials = self.trials(engine, what);
        assert_eq!(trials.len(), 1, "trials of {engine} with {what}; it said:\n{}", self.stderr);
        trials.remove(0)
    }

    /// The trials of an engine with that workload; `load` is its load.
    pub fn trials(&self, engine: &str, what: &str) -> Vec<EndedTrial> {
        let is_it = |result: &TrialResult| {
            let key = &result.trial;
            let is_load = key.phase == Phase::Load;
            key.engine == engine && if what == "load" { is_load } else { key.workload == what && !is_load }
        };
        let results = self.results().into_iter().filter(is_it);
        results.map(|result| EndedTrial { lab: self.lab.clone(), result }).collect()
    }

    /// The workload that was run.
    pub fn workload(&self) -> &'static str {
        let runs = |result: &TrialResult| result.trial.phase == Phase::Run;
        let name = self.results().into_iter().find(runs).map(|result| result.trial.workload);
        name.expect("a run").leak()
    }

    /// Every trial of the plan has its result, and all of these engine's finished.
    #[track_caller]
    pub fn all_finished(&self, engine: &str) -> &Self {
        let trials: Vec<_> = self.results().into_iter().filter(|result| result.trial.engine == engine).collect();
        assert!(!trials.is_empty(), "no trials of {engine}");
        for result in trials {
            assert_eq!(result.outcome, TrialOutcome::Finished, "{:?}: {:?}", result.trial, result.answers);
        }
        self
    }

    /// Nothing went wrong in any trial, and no answer was wrong.
    #[track_caller]
    pub fn is_clean(&self) -> &Self {
        self.exits(0).is_whole();
        for result in self.results() {
            assert_eq!(result.outcome, TrialOutcome::Finished, "{:?}", result.trial);
            assert_eq!(result.answers.failures(), 0, "{:?}: {:?}", result.trial, result.answers);
            assert!(result.answers.right > 0, "{:?} did nothing", result.trial);
        }
        self
    }

    /// Each trial of the plan ended once, no process and no database is left.
    #[track_caller]
    pub fn is_whole(&self) -> &Self {
        let planned = self.planned();
        let numbers: Vec<u32> = self.results().iter().map(|result| result.trial.number).collect();
        assert_eq!(numbers, (1..=planned).collect::<Vec<_>>(), "{}", self.stderr);
        self.lab.has_no_workers();
        assert!(!self.lab.path("results/databases").exists(), "{:?} are left", self.lab.databases());
        self
    }

    /// How many trials were planned at first, as the first line of progress says, and how many more because a repeat
    /// with interference was done again, as `plan.json` says.
    fn planned(&self) -> u32 {
        let line = self.stderr.lines().find(|line| line.starts_with('['));
        let line = line.unwrap_or_else(|| panic!("no trial has ended; it said:\n{}", self.stderr));
        let first: u32 = line.split_once('/').unwrap().1.split_once(']').unwrap().0.parse().unwrap();
        let plan = self.lab.folder().plan().unwrap().expect("a plan");
        let is_again = |repeat: u32| plan.repeated.iter().any(|repeated| repeated.by == repeat);
        first + plan.expected().filter(|trial| is_again(trial.repeat)).count() as u32
    }

    /// Every failure is told by the table, the CSV files and the page.
    #[track_caller]
    pub fn reports_failures(&self) -> &Self {
        let page = fs::read_to_string(self.lab.path("results/report/index.html")).unwrap().replace("&#39;", "'");
        let told = [&self.stdout, &self.lab.report("csv"), &page].map(|text| squeezed(text));
        let mut failures = 0;
        for result in self.results() {
            let TrialOutcome::Failed(failure) = result.outcome else { continue };
            failures += 1;
            for text in &told {
                assert!(text.contains(&squeezed(&failure.reason)), "`{}` is not in\n{text}", failure.reason);
            }
        }
        assert!(failures > 0, "nothing failed");
        self.says(&format!("{failures} of {} trials failed", self.planned()))
    }
}

/// One trial that ended.
pub struct EndedTrial {
    lab: Lab,
    pub result: TrialResult,
}

impl EndedTrial {
    /// It came to its end.
    #[track_caller]
    pub fn finished(&self) -> &Self {
        assert_eq!(self.result.outcome, TrialOutcome::Finished, "{:?}", self.result.trial);
        self
    }

    /// It failed in this way, for a reason with these words in it.
    #[track_caller]
    pub fn failed(&self, kind: &str, words: &str) -> &Self {
        let TrialOutcome::Failed(failure) = &self.result.outcome else {
            panic!("{:?} did not fail", self.result.trial)
        };
        let actual = serde_json::to_value(failure.kind).unwrap();
        assert_eq!(actual, kind, "{}", failure.reason);
        assert!(failure.reason.contains(words), "the reason should have `{words}`: {}", failure.reason);
        self
    }

    /// A note for whoever reads the figures.
    #[track_caller]
    pub fn notes(&self, words: &str) -> &Self {
        assert!(self.result.notes.iter().any(|note| note.contains(words)), "{:?}", self.result.notes);
        self
    }

    /// One of its files.
    #[track_caller]
    pub fn file(&self, name: &str) -> String {
        fs::read_to_string(self.lab.folder().trial_folder(&self.result.trial).join(name)).unwrap()
    }
}

/// Without white space and the frame of messages, so that line breaks do not matter.
pub fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '│').collect()
}
