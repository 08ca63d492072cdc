//! The processes that checks run in.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use kvdyno_engine::Durability;
use kvdyno_environment::process::{self, Exit, WorkerProcess};
use kvdyno_model::TimeSpan;
use serde::{Deserialize, Serialize};

use crate::bench::{Bench, Effort, Relaunch, STEP, STEP_MARK};
use crate::finding::{CheckVerdict, Finding, wrong};
use crate::progress::{self, Seen};
use crate::reader::ReaderTask;
use crate::refused::RefusedTask;
use crate::subject::Subject;
use crate::writer::WriterTask;

/// The task of a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    pub subject: Subject,
    /// The process's own.
    pub folder: PathBuf,
    /// The file to which all output of the check's processes is appended.
    pub log: PathBuf,
    pub effort: Effort,
    pub kind: TaskKind,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum TaskKind {
    /// Run the check of this name.
    Check(String),
    /// Writes until it is stopped or killed.
    Write(WriterTask),
    /// Read what another process writes.
    Read(ReaderTask),
    /// Have a small filesystem made full.
    Fill,
    /// Write to a device whose flushes are counted, at this durability.
    Sync(Durability),
    /// Write where writes are refused.
    Refused(RefusedTask),
    /// Open what such a process left.
    Reopen(RefusedTask),
    /// Give back what the engine keeps outside the folder of this database.
    Destroy(PathBuf),
}

/// The file in a process's folder that says what came of it.
pub(crate) const VERDICT: &str = "verdict.json";

impl Task {
    /// The bench of this process, which does it.
    pub fn bench(&self, relaunch: Relaunch) -> Result<Bench, Finding> {
        Bench::new(self.subject.clone(), self.folder.clone(), self.log.clone(), self.effort, relaunch)
    }

    /// Starts a process for it in a new folder.
    pub fn start(&self, relaunch: Relaunch) -> io::Result<Running> {
        fs::create_dir_all(&self.folder)?;
        progress::prepare(&self.folder)?;
        let mut command = relaunch(&serde_json::to_string(self)?)?;
        let noise = fs::File::options().create(true).append(true).open(&self.log)?;
        let said_before = noise.metadata()?.len();
        command.stdin(Stdio::null()).stdout(noise.try_clone()?).stderr(noise);
        let worker = process::spawn(&mut command)?;
        Ok(Running { worker, folder: self.folder.clone(), log: self.log.clone(), said_before })
    }
}

/// How often a process is looked at, and how often the log is told.
const LOOKED_AT: Duration = Duration::from_secs(1);
const NOTED: Duration = Duration::from_secs(10);

/// A process that was started for a task. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Running {
    worker: WorkerProcess,
    folder: PathBuf,
    log: PathBuf,
    /// Bytes that were in the log when it was started.
    said_before: u64,
}

impl Running {
    /// Waits for its end, but not longer than `patience`, and says what came of it.
    pub fn verdict(self, patience: Duration) -> io::Result<CheckVerdict> {
        self.verdict_watched(patience, |_| ())
    }

    /// The same. How far it has come is put into the log from time to time, and handed to `watch` each second.
    pub fn verdict_watched(mut self, patience: Duration, mut watch: impl FnMut(&str)) -> io::Result<CheckVerdict> {
        let (started, mut seen) = (Instant::now(), Seen::nothing());
        let (until, mut noted) = (started + patience, started);
        loop {
            self.worker.wait_event(until.saturating_duration_since(Instant::now()).min(LOOKED_AT))?;
            if let Some(finished) = self.worker.try_finish()? {
                return Ok(self.judge(&finished.exit));
            }
            seen.look(&self.folder);
            if Instant::now() >= until {
                let time = TimeSpan::<1>(Duration::from_millis(patience.as_millis() as u64));
                let (doing, told) = (self.doing(), seen.told_at_end());
                return Ok(CheckVerdict::Failed(format!("no end after {time}{doing}; {told}")));
            }
            let progress = format!("after {} s: {}", started.elapsed().as_secs(), seen.told());
            watch(&progress);
            if noted.elapsed() >= NOTED {
                noted = Instant::now();
                writeln!(fs::File::options().append(true).open(&self.log)?, "{STEP_MARK}{progress}")?;
            }
        }
    }

    /// Its process number.
    pub fn pid(&self) -> u32 {
        self.worker.pid()
    }

    /// Waits until it has made a file, but not longer than `patience`.
    pub fn has_made(mut self, file: &Path, patience: Duration) -> Result<Running, Finding> {
        let until = Instant::now() + patience;
        while !file.exists() {
            if !self.is_running()? || Instant::now() >= until {
                return Err(match self.verdict(Duration::ZERO)? {
                    CheckVerdict::Failed(how) => wrong(how),
                    CheckVerdict::NotApplicable(why) => Finding::NotApplicable(why),
                    _ => wrong("the process ended before its time"),
                });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(self)
    }

    /// Waits for its end, but not longer than `patience`: all must have gone well.
    pub fn passes(self, patience: Duration) -> Result<(), Finding> {
        match self.verdict(patience)? {
            CheckVerdict::Passed => Ok(()),
            CheckVerdict::Failed(how) => Err(wrong(how)),
            CheckVerdict::NotApplicable(why) | CheckVerdict::NotRun(why) => Err(Finding::NotApplicable(why)),
        }
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> io::Result<bool> {
        Ok(self.worker.try_finish()?.is_none())
    }

    /// Kills it as the kernel would (SIGKILL), and waits until it is gone.
    pub fn kill(mut self) -> io::Result<()> {
        self.worker.kill()?;
        while self.worker.try_finish()?.is_none() {
            self.worker.wait_event(Duration::from_secs(1))?;
        }
        Ok(())
    }

    fn judge(&self, exit: &Exit) -> CheckVerdict {
        let left = fs::read(self.folder.join(VERDICT)).ok().and_then(|text| serde_json::from_slice(&text).ok());
        match (left, exit) {
            (Some(verdict), Exit::Code(0)) => verdict,
            (Some(CheckVerdict::Failed(how)), _) => CheckVerdict::Failed(how),
            (Some(_), _) => CheckVerdict::Failed(format!("at the end of the process: {exit}{}", self.last_words())),
            (None, _) => {
                CheckVerdict::Failed(format!("the process ended with {exit}{}{}", self.doing(), self.last_words()))
            }
        }
    }

    fn doing(&self) -> String {
        fs::read_to_string(self.folder.join(STEP)).map(|step| format!(", while {step}")).unwrap_or_default()
    }

    /// The last line that the engine printed: the log has all of them.
    fn last_words(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = text.get(self.said_before as usize..).unwrap_or_default();
        let text = String::from_utf8_lossy(text);
        let of_the_engine = |line: &&str| !line.is_empty() && !line.starts_with(STEP_MARK);
        let line = text.lines().rev().map(str::trim).find(of_the_engine);
        line.map(|line| format!("; it said: {line}")).unwrap_or_default()
    }
}

/// Starts a process in a folder of its own beside the check's databases.
pub(crate) fn start(bench: &Bench, name: &str, kind: TaskKind) -> Result<Running, Finding> {
    let (subject, folder, log) = (bench.subject.clone(), bench.folder.join(name), bench.log.clone());
    let task = Task { subject, folder, log, effort: bench.effort, kind };
    Ok(task.start(bench.relaunch)?)
}

/// Starts a writer in a process of its own.
pub(crate) fn start_writer(bench: &Bench, name: &str, writing: WriterTask) -> Result<Running, Finding> {
    start(bench, name, TaskKind::Write(writing))
}
