//! The audit by a fresh process, from the parent's side: starts it, waits for it, and reports which trials its findings
//! fail.

use std::ffi::OsString;
use std::fs;
use std::io::{self, PipeWriter};
use std::path::{Path, PathBuf, absolute};
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use kvdyno_engine::EngineSettings;
use kvdyno_environment::memory::ControlGroup;
use kvdyno_environment::ownership::Register;
use kvdyno_environment::process::{Exit, WorkerCommand, WorkerProcess};
use kvdyno_experiment::LabSection;
use kvdyno_plan::{PlannedTrial, Setup};
use kvdyno_results::{Failure, FailureKind, Phase, ReadBack, TrialOutcome, TrialResult, files};
use kvdyno_worker::shared::{LedgerMemory, SharedMemory, WorkerState};
use kvdyno_worker::{AuditReport, AuditSpec, KnownContents, TrialSpec, Written};

use crate::databases::{PartWritten, Slot, fetch_pages};
use crate::engine_cleanup::library_path;
use crate::stop::Stop;
use crate::trial::logs::WorkerLogs;
use crate::trial::{inherit, last_words, survivors_note};

/// Between two looks at the process.
const TICK: Duration = Duration::from_millis(100);

/// The reader's name in the reason of a failure.
const READER: &str = "a fresh process";

/// A database of which something is still to be read back.
pub(crate) struct ProcessAudit<'a> {
    pub(crate) setup: &'a Setup,
    pub(crate) lab: &'a LabSection,
    pub(crate) settings: EngineSettings,
    /// Number of the trial that worked on it last.
    pub(crate) trial: u32,
    /// Its load.
    pub(crate) load: &'a PlannedTrial,
    pub(crate) slot: Slot,
    pub(crate) ledger: LedgerMemory,
    /// The writes of each trial into it.
    pub(crate) parts: Vec<PartWritten>,
    pub(crate) value_seed: u64,
    /// Folder for the process's files.
    pub(crate) folder: PathBuf,
    /// Notes its control group.
    pub(crate) register: Register,
    pub(crate) stop: &'a Stop,
}

/// The outcome of an audit.
pub(crate) struct Audited {
    /// The finding on each part; a failure if nothing could be read.
    pub(crate) finding: Result<Vec<ReadBack>, Failure>,
    /// Tells of processes that were still there when it had ended.
    pub(crate) survivors: Option<String>,
}

impl ProcessAudit<'_> {
    /// Reads back what was written, in a process of its own, which is held as those of trials are. `worker` is the
    /// program and first arguments that start it. `None` if the user interrupted.
    ///
    /// # Errors
    /// If the lab itself cannot work.
    pub(crate) fn run(&self, worker: &[OsString]) -> io::Result<Option<Audited>> {
        fs::create_dir_all(&self.folder)?;
        if self.load.copied {
            // The audit reads single records; the copies after it take all.
            fetch_pages(&self.slot.database())?;
        }
        let shared = SharedMemory::create(1)?;
        shared.control().set_value_seed(self.value_seed);
        let report = self.folder.join("audit.json");
        let log = self.folder.join("audit.log");
        let mut logs = WorkerLogs::default();
        let mut command = self.command(worker, &shared, &report, logs.add(&log)?)?;
        // Without control groups, the keeper alone holds the process.
        let group = ControlGroup::of_trial(&self.register, self.trial).ok();
        group.as_ref().map_or(Ok(()), |group| group.take_in(&mut command))?;
        let process = command.spawn()?;
        let logs = logs.start()?;
        let mut survivors = 0;
        let outcome = self.wait(process, &shared, &mut survivors)?;
        survivors += group.as_ref().map_or(Ok(0), ControlGroup::end)? as u32;
        // Errors in keeping the log are reported only with a failure.
        let complaints = logs.finish();
        let Some(outcome) = outcome else { return Ok(None) };
        let outcome = outcome.map_err(|Failure { kind, reason }| Failure {
            kind,
            reason: [format!("{reason}{}", last_words(&log))]
                .into_iter()
                .chain(complaints)
                .collect::<Vec<_>>()
                .join("; "),
        });
        let read = outcome.and_then(|()| read(&report));
        let finding = read.map_err(|Failure { kind, reason }| Failure {
            kind: if kind == FailureKind::NoSpace { kind } else { FailureKind::LostWrite },
            reason: format!("what it wrote could not be read back by {READER}: {reason}"),
        });
        let survivors = survivors_note(survivors, "the process that read it back");
        Ok(Some(Audited { finding, survivors }))
    }

    fn command(
        &self,
        worker: &[OsString],
        shared: &SharedMemory,
        report: &Path,
        log: PipeWriter,
    ) -> io::Result<WorkerCommand> {
        let loaded = || KnownContents::loaded(self.load.workload.parameters.data.records);
        let trial = TrialSpec {
            adapter: absolute(&self.setup.adapter)?,
            preset: self.setup.preset.clone(),
            options: self.setup.options.clone(),
            library: self.setup.library.as_deref().map(library_path).transpose()?,
            lab: self.settings.clone(),
            workload: self.load.workload.clone(),
            audit: self.lab.audit,
            clients: self.load.key.clients,
            database: absolute(self.slot.database())?,
            slices: None,
            cpu_account: None,
            create: false,
            fills_cache: false,
            settle: false,
            contents: self.slot.contents().unwrap_or_else(loaded),
            shared_fd: shared.fd(),
            ledger_fd: self.ledger.fd(),
            report: absolute(report)?,
        };
        let spec = AuditSpec { trial, parts: self.parts.iter().map(|part| part.written.clone()).collect() };
        let folder = absolute(&self.folder)?;
        let file = folder.join("spec.json");
        files::write_json(&file, &spec)?;
        let (program, arguments) = worker.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = WorkerCommand::new(program)?;
        command.args(arguments).arg("--audit").arg(file).current_dir(folder);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        inherit(&mut command, [shared.fd(), self.ledger.fd()]);
        Ok(command)
    }

    /// Waits for its end, as long as something happens. `None` if the user interrupted.
    fn wait(
        &self,
        mut process: WorkerProcess,
        shared: &SharedMemory,
        survivors: &mut u32,
    ) -> io::Result<Option<Result<(), Failure>>> {
        let failed = |kind, reason| Ok(Some(Err(Failure { kind, reason })));
        let look = || (shared.control().state(), shared.control().audited.load(Ordering::Relaxed));
        let mut last_change = (look(), Instant::now());
        loop {
            process.wait_event(TICK)?;
            if let Some(finished) = process.try_finish()? {
                *survivors = finished.survivors;
                let state = shared.control().state().word();
                return match finished.exit {
                    Exit::Code(0) => Ok(Some(Ok(()))),
                    exit if self.stop.comes_with(&exit) => Ok(None),
                    exit => failed(FailureKind::Crashed, format!("{exit} while {state}")),
                };
            }
            if self.stop.is_requested() {
                process.kill()?;
                return Ok(None);
            }
            let now = look();
            if now != last_change.0 {
                last_change = (now, Instant::now());
            }
            let patience = match now.0 {
                WorkerState::Auditing => self.lab.hang_timeout.0,
                _ => self.lab.close_timeout.0,
            };
            if last_change.1.elapsed() > patience {
                process.kill()?;
                let reason = format!("nothing happened for {:.0} s while {}", patience.as_secs_f64(), now.0.word());
                return failed(FailureKind::Hung, reason);
            }
        }
    }
}

fn read(report: &Path) -> Result<Vec<ReadBack>, Failure> {
    let unreadable = |error: String| Failure {
        kind: FailureKind::Exited,
        reason: format!("the process ended without its report, {}: {error}", report.display()),
    };
    let text = fs::read(report).map_err(|error| unreadable(error.to_string()))?;
    let report: AuditReport = serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
    report.failure.map_or(Ok(report.parts), Err)
}

/// Notes in a trial's result the finding of the fresh process on its writes. Returns why the trial fails by that, if it
/// had not failed before.
pub(crate) fn note(result: &mut TrialResult, finding: Result<Option<&ReadBack>, &Failure>) -> Option<String> {
    let failure = match finding {
        Ok(None) => None,
        Ok(Some(finding)) => {
            result.audit.get_or_insert_default().process = Some(finding.clone());
            finding.failure(READER)
        }
        Err(failure) => Some(failure.clone()),
    };
    let failure = failure.filter(|_| result.is_finished())?;
    let reason = failure.reason.clone();
    result.outcome = TrialOutcome::Failed(failure);
    Some(reason)
}

/// Whether the processes of a trial ended in order, so that the database is as the engine left it.
pub(crate) fn ended_in_order(result: &TrialResult) -> bool {
    use FailureKind::{EngineError, Environment, LostWrite, NotSynced, WrongAnswer};
    match &result.outcome {
        TrialOutcome::Finished => true,
        TrialOutcome::Failed(failure) => {
            matches!(failure.kind, EngineError | Environment | LostWrite | NotSynced | WrongAnswer)
        }
    }
}

/// The writes of a trial; absent if there were none.
pub(crate) fn written(planned: &PlannedTrial, before: KnownContents, after: KnownContents) -> Option<Written> {
    match planned.key.phase {
        Phase::Load => Some(Written::Load),
        Phase::Run => (after.last_version > before.last_version).then_some(Written::Run {
            versions: before.last_version + 1..=after.last_version,
            inserted: before.present.there..after.present.there,
            taken: before.present.gone..after.present.gone,
        }),
    }
}
