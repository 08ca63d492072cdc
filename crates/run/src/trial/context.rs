//! Everything that one trial is run with.

use std::io;
use std::path::{Path, PathBuf};

use kvdyno_engine::{EngineSettings, abi};
use kvdyno_environment::ownership::Register;
use kvdyno_environment::requested::CacheState;
use kvdyno_environment::storage::backing_store::BackingStore;
use kvdyno_environment::storage::{allocated_kib, is_device};
use kvdyno_experiment::LabSection;
use kvdyno_install::EngineFiles;
use kvdyno_plan::{Environment, PlannedTrial, Setup};
use kvdyno_results::{DatabaseCopy, Phase, WorkloadFacts};
use kvdyno_worker::KnownContents;
use kvdyno_worker::shared::LedgerMemory;
use kvdyno_worker::slices::SliceSpec;

use crate::stop::Stop;

/// The file in the trial's folder that takes everything that engine and worker print.
pub(super) const WORKER_LOG: &str = "worker.log";

/// Everything that a trial is run with.
pub struct TrialContext<'a> {
    pub planned: &'a PlannedTrial,
    pub setup: &'a Setup,
    /// Remembers what it said of engines' files.
    pub engine_files: &'a EngineFiles,
    pub environment: &'a Environment,
    pub lab: &'a LabSection,
    pub settings: EngineSettings,
    pub request: TrialRequest,
    pub database: PathBuf,
    pub backing_store: &'a BackingStore,
    /// The register of everything that this process makes.
    pub register: &'a Register,
    /// The slices that it works in, beside others or at the rates of a search; absent if it works in one piece.
    pub slices: Option<SliceSpec>,
    /// Whether other trials work at the same time: then no figure of the machine is its own.
    pub shares_machine: bool,
    pub create: bool,
    /// The copy that its database is.
    pub copied_from: Option<DatabaseCopy>,
    pub ledger: &'a LedgerMemory,
    pub value_seed: u64,
    pub contents: KnownContents,
    pub folder: &'a Path,
    pub stop: &'a Stop,
    /// Called once when the worker reaches its measured part.
    pub at_work: &'a dyn Fn() -> io::Result<()>,
    pub notes: Vec<String>,
}

impl TrialContext<'_> {
    /// Whether the worker fills the engine's cache before the warm-up.
    pub(super) fn fills_cache(&self) -> bool {
        self.is_to_fill_cache() && self.can_fill_cache()
    }

    /// Tells that a cache that is to be filled is not.
    pub(super) fn fill_note(&self) -> Option<String> {
        let is_missing = self.is_to_fill_cache() && !self.can_fill_cache();
        is_missing.then(|| "the engine's cache was not filled: the engine cannot scan".to_owned())
    }

    fn is_to_fill_cache(&self) -> bool {
        self.planned.key.phase == Phase::Run && self.environment.requested.cache_state == CacheState::Filled
    }

    fn can_fill_cache(&self) -> bool {
        self.setup.capabilities & abi::CAN_SCAN != 0
    }
}

/// The work that is requested of a trial, as its result keeps it.
#[derive(Clone, Debug)]
pub struct TrialRequest {
    pub workload: WorkloadFacts,
    /// The experiment as far as it concerns the trial.
    pub experiment: serde_json::Value,
}

/// KiB that the database takes.
pub(super) fn taken_kib(context: &TrialContext<'_>) -> io::Result<u64> {
    match is_device(&context.database) {
        true => Ok(context.backing_store.device_kib().unwrap_or(0)),
        false => allocated_kib(&context.database),
    }
}
