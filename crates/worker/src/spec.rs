//! The specification that the parent gives a worker, and the report that the worker returns.

use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::time::Duration;

use kvdyno_engine::EngineSettings;
use kvdyno_environment::memory::GroupCpuAccount;
use kvdyno_model::{Audit, OptionText};
use kvdyno_results::{CallBytes, ClientKind, Failure, ObservedEnvironment, OsFacts, ReadBack, Setting, Window};
use serde::{Deserialize, Serialize};

use crate::slices::SliceSpec;
use crate::workloads::WorkloadSpec;

/// Everything a worker needs to know. If readers and writers are processes, all get the same specification, and each is
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
    pub lab: EngineSettings,
    /// The workload.
    pub workload: WorkloadSpec,
    /// The extent of the audit.
    pub audit: Audit,
    /// Whether readers and writers are threads of one process or processes of their own.
    pub clients: ClientKind,
    /// The database's folder.
    pub database: PathBuf,
    /// The slices that it works in; absent if it works without a break.
    pub slices: Option<SliceSpec>,
    /// The account of the CPU time of its control group; absent if it has none, and in slices, where the parent reads
    /// it.
    #[serde(default)]
    pub cpu_account: Option<GroupCpuAccount>,
    /// Whether to create the database.
    pub create: bool,
    /// Whether it fills the engine's cache before the warm-up.
    #[serde(default)]
    pub fills_cache: bool,
    /// Whether it flushes at its end and waits for the engine's background work.
    #[serde(default)]
    pub settle: bool,
    /// The contents of the database as earlier trials left them.
    pub contents: KnownContents,
    /// Inherited: the memory of the trial.
    pub shared_fd: i32,
    /// Inherited: the database's ledger.
    pub ledger_fd: i32,
    /// Path of the [`WorkerReport`]; for several processes see [`of_process`].
    pub report: PathBuf,
}

impl TrialSpec {
    /// A trial without a parent, for [`crate::worker::driver_check`]: the engine is already chosen, nothing is
    /// inherited, and nothing reported. The database is new unless `create` is changed.
    pub fn without_parent(workload: WorkloadSpec, lab: EngineSettings, database: PathBuf) -> TrialSpec {
        let contents = KnownContents::loaded(workload.parameters.data.records);
        TrialSpec {
            adapter: PathBuf::new(),
            preset: None,
            options: Vec::new(),
            library: None,
            lab,
            workload,
            audit: Audit::Off,
            clients: ClientKind::Threads,
            database,
            slices: None,
            cpu_account: None,
            create: true,
            fills_cache: false,
            settle: false,
            contents,
            shared_fd: -1,
            ledger_fd: -1,
            report: PathBuf::new(),
        }
    }

    /// Number of processes of the trial.
    pub fn processes(&self) -> u32 {
        self.clients.processes(self.workload.roles().len() as u32)
    }
}

/// The contents of a database, as far as the lab knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownContents {
    /// Versions up to this one may have been written.
    pub last_version: u64,
    /// The ids that are there.
    pub present: PresentIds,
    /// The sum of the versions of all records; absent if it was not counted.
    pub version_sum: Option<u64>,
    /// The sum of the versions of the records that the audit of a sample adds up; absent if it was not counted.
    pub sampled_version_sum: Option<u64>,
}

impl KnownContents {
    /// After a load.
    pub fn loaded(records: u64) -> KnownContents {
        let present = PresentIds::loaded(records);
        KnownContents { last_version: 0, present, version_sum: Some(0), sampled_version_sum: Some(0) }
    }
}

/// The ids in a database: those that were loaded, later ones if records were inserted, fewer if the oldest were taken.
/// It is unknown whether the ids from `gone` to `taken`, and from `there` to `given_out`, are in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PresentIds {
    /// All below were taken.
    #[serde(default)]
    pub gone: u64,
    /// No id from here on was taken.
    #[serde(default)]
    pub taken: u64,
    /// All below are there, but for those that were taken or deleted.
    pub there: u64,
    /// No id from here on is there.
    pub given_out: u64,
}

impl PresentIds {
    /// After a load.
    pub fn loaded(records: u64) -> PresentIds {
        PresentIds { gone: 0, taken: 0, there: records, given_out: records }
    }
}

/// The file of one of several processes, counted from 0: `worker.json` becomes `worker-3.json`.
pub fn of_process(file: &Path, number: usize) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let extension = file.extension().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{stem}-{}.{extension}", number + 1))
}

/// The request to release what an engine keeps outside a database's folder.
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
    /// The file that has the engine's code; absent if no database was opened.
    pub engine_file: Option<PathBuf>,
    /// The measured part.
    pub window: Option<Window>,
    /// CPU seconds of everything in its control group within it; absent in slices, and where nobody counts it.
    #[serde(default)]
    pub group_cpu_s: Option<f64>,
    /// The engine's own statistics.
    pub statistics: Vec<Setting>,
    /// The environment that it observed when its work was done.
    pub state: ObservedEnvironment,
    /// The audit of what it wrote; absent if there was none.
    pub audit: Option<SessionAudit>,
    /// The bytes of its calls from before it opened the database until it had closed it, the audit's included; absent
    /// if it did not come so far.
    pub calls: Option<CallBytes>,
    /// Syncs that the filesystem did for it up to the end of the measured part; absent if nothing was to be durable at
    /// commit, where the device's flushes tell, and where nobody counts.
    #[serde(default)]
    pub syncs: Option<u64>,
    /// The peak resident size of its process once it had closed the database, KiB; absent where the kernel does not
    /// say.
    #[serde(default)]
    pub peak_rss_kib: Option<u64>,
}

/// The audit by fresh sessions at the end of a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionAudit {
    /// Its finding.
    pub finding: ReadBack,
    /// The longest time that opening one took.
    pub opening: Duration,
    /// The costs of it, which are none of the trial's.
    pub costs: OsFacts,
}

/// The writes of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Written {
    /// All records, at version 0: it loaded them.
    Load,
    /// It updated and inserted.
    Run {
        /// The loaded records that it wrote: those whose newest acknowledged version is one of these.
        versions: RangeInclusive<u64>,
        /// The ids that it inserted for certain.
        inserted: Range<u64>,
        /// The oldest ids, which it took for certain.
        #[serde(default)]
        taken: Range<u64>,
    },
}

impl Written {
    /// Whether the writes include the record `id` with the newest acknowledged version `version`, in a database that
    /// was loaded with `records` records.
    pub(crate) fn holds(&self, id: u64, version: u64, records: u64) -> bool {
        match self {
            Written::Load => id < records && version == 0,
            Written::Run { taken, .. } if taken.contains(&id) => true,
            Written::Run { versions, inserted, .. } => {
                if id < records {
                    versions.contains(&version)
                } else {
                    inserted.contains(&id)
                }
            }
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
