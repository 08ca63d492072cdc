//! Runs the checks, each in a process of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::bench::Relaunch;
use crate::bench::{DATABASE, DESTROYS, REMARK};
use crate::check::Check;
use crate::checks::checks;
use crate::finding::Verdict;
use crate::process::{Task, TaskKind};
use crate::subject::Subject;

/// The checks to run.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The engine.
    pub subject: Subject,
    /// A folder for the checks' databases; each check removes what it made there.
    pub folder: PathBuf,
    /// How this program is started again.
    pub relaunch: Relaunch,
    /// How long one check may take: one that takes longer hangs.
    pub patience: Duration,
    /// Only the checks of these names; none: all of them.
    pub only: Vec<String>,
}

/// The outcome of a check.
#[derive(Clone, Debug)]
pub struct CheckOutcome {
    /// The check.
    pub check: &'static Check,
    /// The outcome.
    pub verdict: Verdict,
    /// A remark beside it.
    pub remark: Option<String>,
    /// How long that took.
    pub took: Duration,
}

impl Suite {
    /// All checks on `subject`, with a minute for each.
    pub fn new(subject: Subject, folder: PathBuf, relaunch: Relaunch) -> Suite {
        Suite { subject, folder, relaunch, patience: Duration::from_secs(60), only: Vec::new() }
    }

    /// Runs the checks one after the other and hands each outcome to `each` as it comes.
    ///
    /// # Errors
    /// If the folder cannot be written to, or a process not be started.
    pub fn run(&self, mut each: impl FnMut(&CheckOutcome)) -> io::Result<Vec<CheckOutcome>> {
        let wanted = |check: &&Check| self.only.is_empty() || self.only.iter().any(|name| name == check.name);
        let mut outcomes = Vec::new();
        for check in checks().iter().filter(wanted) {
            let outcome = self.run_one(check)?;
            each(&outcome);
            outcomes.push(outcome);
        }
        Ok(outcomes)
    }

    fn run_one(&self, check: &'static Check) -> io::Result<CheckOutcome> {
        let started = Instant::now();
        let folder = self.folder.join(check.name);
        let kind = TaskKind::Check(check.name.to_owned());
        let task = Task { subject: self.subject.clone(), folder: folder.clone(), kind };
        let verdict = task.start(self.relaunch)?.verdict(self.patience)?;
        let remark = fs::read_to_string(folder.join(REMARK)).ok();
        let cleaned = self.destroy(&folder)?;
        let verdict = if verdict == Verdict::Passed { cleaned } else { verdict };
        fs::remove_dir_all(&folder)?;
        Ok(CheckOutcome { check, verdict, remark, took: started.elapsed() })
    }

    /// Lets the engine give back what it keeps outside the databases that a check left, be it that the check crashed.
    fn destroy(&self, folder: &Path) -> io::Result<Verdict> {
        if !folder.join(DESTROYS).exists() {
            return Ok(Verdict::Passed);
        }
        for (number, entry) in fs::read_dir(folder)?.enumerate() {
            let database = entry?.path();
            let is_one = database.file_name().is_some_and(|name| name.to_string_lossy().starts_with(DATABASE));
            if is_one && database.is_dir() {
                let task = Task {
                    subject: self.subject.clone(),
                    folder: folder.join(format!("destroying-{number}")),
                    kind: TaskKind::Destroy(database),
                };
                let verdict = task.start(self.relaunch)?.verdict(self.patience)?;
                if verdict != Verdict::Passed {
                    return Ok(verdict);
                }
            }
        }
        Ok(Verdict::Passed)
    }
}
