//! The order that the parent gives a worker, and the report that the worker gives back.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use kvdyno_engine::{LabSettings, OptionText};
use kvdyno_model::Audit;
use kvdyno_results::{ClientKind, Failure, ObservedEnvironment, OsFacts, ReadBack, Setting, Window};
use serde::{Deserialize, Serialize};

use crate::slices::SliceSpec;
use crate::workloads::WorkloadSpec;

/// Everything a worker needs to know. Where readers and writers are processes, all of them get the same, and each is
/// told its client beside it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialSpec {
    /// The adapter's file.
    pub adapter: PathBuf,
    /// One of its presets.
    pub preset: Option<String>,
    /// Options beyond the preset.
    pub options: Vec<OptionText>,
    /// The engine's library, if not the system's.
    pub library: Option<PathBuf>,
    /// Settings that are the same for all engines.
    pub lab: LabSettings,
    /// The workload.
    pub workload: WorkloadSpec,
    /// How much of what is written is read back.
    pub audit: Audit,
    /// Whether readers and writers are threads of one process or processes of their own.
    pub clients: ClientKind,
    /// The database's folder.
    pub database: PathBuf,
    /// How it works in slices; absent if it works without a break.
    #[serde(default)]
    pub slices: Option<SliceSpec>,
    /// Whether to make a new database in it.
    pub create: bool,
    /// Versions up to this one have been written by earlier trials.
    pub last_version: u64,
    /// Inherited: the memory of the trial.
    pub shared_fd: i32,
    /// Inherited: the database's ledger.
    pub ledger_fd: i32,
    /// Where to write the [`WorkerReport`]; of several processes see [`of_process`].
    pub report: PathBuf,
}

impl TrialSpec {
    /// How many processes the trial has.
    pub fn processes(&self) -> u32 {
        self.clients.processes(self.workload.roles().len() as u32)
    }
}

/// The file of one of several processes, counted from 0: `worker.json` becomes `worker-3.json`.
pub fn of_process(file: &Path, number: usize) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let extension = file.extension().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{stem}-{}.{extension}", number + 1))
}

/// The order to give back what an engine keeps outside a database's folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DestroySpec {
    /// The adapter's file.
    pub adapter: PathBuf,
    /// The engine's library, if not the system's.
    pub library: Option<PathBuf>,
    /// The database's folder.
    pub database: PathBuf,
}

/// A worker's report of itself at its orderly end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WorkerReport {
    /// Why it could not do what was asked, if it could not.
    pub failure: Option<Failure>,
    /// Version of the engine's library.
    pub version: String,
    /// The measured part.
    pub window: Option<Window>,
    /// The engine's own statistics.
    pub statistics: Vec<Setting>,
    /// The environment that it observed when its work was done.
    pub state: ObservedEnvironment,
    /// The audit of what it wrote; absent if there was none.
    pub audit: Option<SessionAudit>,
}

/// The audit by a fresh session at the end of a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionAudit {
    /// Its finding.
    pub finding: ReadBack,
    /// The costs of it, which are none of the trial's.
    pub costs: OsFacts,
}

/// The writes of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Written {
    /// All records, at version 0: it loaded them.
    Load,
    /// The records whose newest acknowledged version is one of these.
    Versions(RangeInclusive<u64>),
}

impl Written {
    /// Whether a record whose newest acknowledged version is `version` is of it.
    pub(crate) fn holds(&self, version: u64) -> bool {
        match self {
            Written::Load => version == 0,
            Written::Versions(versions) => versions.contains(&version),
        }
    }
}

/// The order to read back what trials wrote, in a process of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AuditSpec {
    /// The load of the database, as a trial; its report is an [`AuditReport`].
    pub trial: TrialSpec,
    /// The writes of each trial on the database.
    pub parts: Vec<Written>,
}

/// The report of a process that read back.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AuditReport {
    /// Why it could not, if it could not.
    pub failure: Option<Failure>,
    /// The findings of each part.
    pub parts: Vec<ReadBack>,
}

/// The driver's own cost, as measured by [`crate::worker::driver_check`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriverCheck {
    /// Operations done by all threads.
    pub operations: u64,
    /// Nanoseconds a thread spent for one.
    pub ns: f64,
    /// Nanoseconds of CPU time that the process spent for one, without opening and closing the database.
    pub cpu_ns: f64,
    /// Answers that were not right.
    pub failures: u64,
}
