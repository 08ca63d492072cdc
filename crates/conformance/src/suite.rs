//! Runs the checks, each in a process of its own.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kvdyno_dataset::subseed;
use kvdyno_environment::storage::{CopyWay, copy_tree};

use crate::bench::{DATABASE, DESTROYS, Effort, KILLS, REMARK, Relaunch};
use crate::check::Check;
use crate::checks::checks;
use crate::finding::CheckVerdict;
use crate::process::{Task, TaskKind};
use crate::subject::Subject;

/// The checks to run.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The engine.
    pub subject: Subject,
    /// A folder for the checks' databases; each check removes its own.
    pub folder: PathBuf,
    /// A folder for the checks' logs, a file for each; they stay. Beside its log stay the databases of a check that
    /// failed.
    pub logs: PathBuf,
    /// The way to start this program again.
    pub relaunch: Relaunch,
    /// The pains that each check takes.
    pub effort: Effort,
    /// Checks that have another time than the rest.
    pub patience: HashMap<&'static str, Duration>,
    /// The checks that are known to fail, and why.
    pub known: HashMap<&'static str, String>,
    /// Only the checks of these names; none: all of them.
    pub only: Vec<String>,
    /// Is told each second how far a check has come, and at its end the empty text.
    pub watch: fn(&str),
}

/// The outcome of a check.
#[derive(Clone, Debug)]
pub struct CheckOutcome {
    /// The check.
    pub check: &'static Check,
    /// The outcome.
    pub verdict: CheckVerdict,
    /// A remark on it.
    pub remark: Option<String>,
    /// The number of processes that it killed, if that is what it does.
    pub kills: Option<u32>,
    /// The folder with its databases, if it failed.
    pub kept: Option<PathBuf>,
    /// All that its processes printed, between the check and its verdict.
    pub log: PathBuf,
    /// The duration of the check.
    pub took: Duration,
}

/// The check without which there is nothing to check.
const FIRST_OF_ALL: &str = "create";

impl Suite {
    /// Runs the checks one after the other and hands each outcome to `each` as it comes. If no database can be made the
    /// rest are not run; so that is found out first, whichever are wanted.
    ///
    /// # Errors
    /// If the folders cannot be written to, or a process not be started.
    pub fn run(&self, mut each: impl FnMut(&CheckOutcome)) -> io::Result<Vec<CheckOutcome>> {
        fs::create_dir_all(&self.logs)?;
        let wanted = |check: &Check| self.only.is_empty() || self.only.iter().any(|name| name == check.name);
        let mut outcomes: Vec<CheckOutcome> = Vec::new();
        let mut shut = false;
        for check in checks().iter().filter(|check| wanted(check) || check.name == FIRST_OF_ALL) {
            let outcome = if shut { self.not_run(check) } else { self.run_one(check, self.log(check))? };
            let failed = matches!(outcome.verdict, CheckVerdict::Failed(_));
            if wanted(check) || failed {
                each(&outcome);
                outcomes.push(outcome);
            }
            shut |= failed && check.name == FIRST_OF_ALL;
        }
        Ok(outcomes)
    }

    /// Runs a check once more, with the same seed and a log of its own.
    ///
    /// # Errors
    /// As [`Suite::run`].
    pub fn repeat(&self, check: &'static Check) -> io::Result<CheckOutcome> {
        self.run_one(check, self.logs.join(format!("{}-again.log", check.name)))
    }

    fn not_run(&self, check: &'static Check) -> CheckOutcome {
        let verdict = CheckVerdict::NotRun("no database can be made".to_owned());
        let (log, took) = (self.log(check), Duration::ZERO);
        CheckOutcome { check, verdict, remark: None, kills: None, kept: None, log, took }
    }

    fn log(&self, check: &Check) -> PathBuf {
        self.logs.join(format!("{}.log", check.name))
    }

    fn run_one(&self, check: &'static Check, log: PathBuf) -> io::Result<CheckOutcome> {
        let started = Instant::now();
        let (folder, effort) = (self.folder.join(check.name), self.effort_of(check));
        fs::write(&log, format!("{}: {}\n", check.name, check.what))?;
        let task = self.task(folder.clone(), &log, effort, TaskKind::Check(check.name.to_owned()));
        let watch = |progress: &str| (self.watch)(&format!("{} {progress}", check.name));
        let verdict = task.start(self.relaunch)?.verdict_watched(effort.patience, watch)?;
        (self.watch)("");
        let remark = fs::read_to_string(folder.join(REMARK)).ok();
        let kills = fs::read_to_string(folder.join(KILLS)).ok().and_then(|number| number.parse().ok());
        let cleaned = self.destroy(&folder, &log, effort)?;
        let verdict = if verdict == CheckVerdict::Passed { cleaned } else { verdict };
        let (told, kept) = match (&verdict, self.known.get(check.name)) {
            (CheckVerdict::Failed(how), Some(reason)) => (format!("KNOWN: {how} ({reason})"), None),
            (CheckVerdict::Failed(_), None) => (verdict.to_string(), keep(&folder, &log.with_extension(""))?),
            _ => (verdict.to_string(), None),
        };
        fs::remove_dir_all(&folder)?;
        writeln!(fs::File::options().append(true).open(&log)?, "{}: {told}", check.name)?;
        Ok(CheckOutcome { check, verdict, remark, kills, kept, log, took: started.elapsed() })
    }

    /// A check has the same moments alone as among others: they come from the seed and its name.
    fn effort_of(&self, check: &Check) -> Effort {
        let name: Vec<u64> = check.name.bytes().map(u64::from).collect();
        let patience = self.patience.get(check.name).copied().unwrap_or(self.effort.patience);
        Effort { patience, seed: subseed(self.effort.seed, &name), ..self.effort }
    }

    fn task(&self, folder: PathBuf, log: &Path, effort: Effort, kind: TaskKind) -> Task {
        Task { subject: self.subject.clone(), folder, log: log.to_owned(), effort, kind }
    }

    /// Makes the engine release what it keeps outside the databases that a check left, even if the check crashed.
    fn destroy(&self, folder: &Path, log: &Path, effort: Effort) -> io::Result<CheckVerdict> {
        if !folder.join(DESTROYS).exists() {
            return Ok(CheckVerdict::Passed);
        }
        for (number, entry) in fs::read_dir(folder)?.enumerate() {
            let database = entry?.path();
            let is_one = database.file_name().is_some_and(|name| name.to_string_lossy().starts_with(DATABASE));
            if is_one && database.is_dir() {
                let folder = folder.join(format!("destroying-{number}"));
                let task = self.task(folder, log, effort, TaskKind::Destroy(database));
                let verdict = task.start(self.relaunch)?.verdict(effort.patience)?;
                if verdict != CheckVerdict::Passed {
                    return Ok(verdict);
                }
            }
        }
        Ok(CheckVerdict::Passed)
    }
}

/// Keeps the databases that a check left in its folder, if there are any, in the folder `to`.
fn keep(folder: &Path, to: &Path) -> io::Result<Option<PathBuf>> {
    let mut kept = None;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(DATABASE) && entry.file_type()?.is_dir() {
            // One of an earlier run may be there: the folder of the logs is the user's.
            if kept.is_none() && to.exists() {
                fs::remove_dir_all(to)?;
            }
            fs::create_dir_all(to)?;
            let path = to.join(entry.file_name());
            if fs::rename(entry.path(), &path).is_err() {
                // It is on another filesystem.
                copy_tree(&entry.path(), &path, CopyWay::Bytes, &|| true)?;
            }
            kept = Some(to.to_owned());
        }
    }
    Ok(kept)
}
