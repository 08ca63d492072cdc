//! One loop of the driver's in this process: what is measured.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use kvdyno_dataset::subseed;
use kvdyno_engine::catalog;
use kvdyno_engine::{Adapter, Choice, Database, Probe};
use kvdyno_experiment::Experiment;
use kvdyno_model::{Distribution, EngineName, OptionText, WorkloadName};
use kvdyno_results::ClientKind;
use kvdyno_worker::TrialSpec;
use kvdyno_worker::worker::{driver_check, hints};
use kvdyno_worker::workloads::{Data, TrialEnd, Workload, WorkloadParameters, WorkloadSpec};
use serde::{Deserialize, Serialize};

use crate::BenchError;

/// Records of the benchmarks on a real engine: 16 + 100 bytes each.
pub const RECORDS: u64 = 1_000_000;
/// Records of those on the null engine: so few that its answers are made beforehand and are no cost of the driver's.
pub const NULL_RECORDS: u64 = 1000;
/// The seed of every benchmark.
const SEED: u64 = 1;

/// The task of one loop.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Drive {
    /// The engine.
    pub engine: String,
    /// Its database.
    pub folder: PathBuf,
    /// The workload.
    pub workload: Workload,
    /// Records in the database.
    pub records: u64,
    /// Threads that the workload is about.
    pub threads: u32,
    /// Operations of each.
    pub operations: u64,
    /// Reads in a transaction.
    pub reads_per_transaction: u64,
    /// Puts in a batch.
    pub batch: u64,
    /// How likely each record is to come next.
    pub distribution: Distribution,
    /// Operations a second of the readers; absent in a closed loop.
    pub read_rate: Option<f64>,
}

impl Drive {
    /// Gets of one thread, each in a transaction of its own, of records that are drawn evenly.
    pub fn gets(engine: &str, folder: &Path, records: u64) -> Drive {
        Drive {
            engine: engine.to_owned(),
            folder: folder.to_owned(),
            workload: WorkloadName::ReadRandom.into(),
            records,
            threads: 1,
            operations: 0,
            reads_per_transaction: 1,
            batch: 1,
            distribution: Distribution::default(),
            read_rate: None,
        }
    }

    /// This program, to do it with so many operations of each thread.
    pub fn command(&self, operations: u64) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("drive").arg(serde_json::to_string(&Drive { operations, ..self.clone() })?);
        Ok(command)
    }
}

/// The seed of the random stream of reader 0, for a bare loop that asks for the same keys.
pub fn reader_seed() -> u64 {
    subseed(SEED, &[0, 0])
}

/// The seed of the random stream of writer 0.
pub fn writer_seed() -> u64 {
    subseed(SEED, &[1, 0])
}

/// Drives what [`Drive::command`] gives.
pub fn run(drive: &str) -> Result<(), BenchError> {
    let drive: Drive = serde_json::from_str(drive).map_err(|error| BenchError::Program(error.to_string()))?;
    print(&choice(&drive.engine, &[])?, &spec(&drive))
}

/// Drives, and prints nanoseconds of a thread for an operation, operations, and nanoseconds of CPU time for an
/// operation.
pub fn print(choice: &Choice, spec: &TrialSpec) -> Result<(), BenchError> {
    let check = driver_check(choice, spec).map_err(|failure| BenchError::Program(failure.reason))?;
    if check.failures > 0 {
        return Err(BenchError::Program(format!("{} answers were not right", check.failures)));
    }
    writeln!(io::stdout(), "{:.3} {} {:.3}", check.ns, check.operations, check.cpu_ns)?;
    Ok(())
}

/// An engine with options beyond its preset.
pub fn choice(engine: &str, options: &[OptionText]) -> Result<Choice, BenchError> {
    let failed = |error: String| BenchError::Program(error);
    let name = EngineName::parse(engine);
    let location = catalog::find(&name).map_err(|error| failed(error.to_string()))?;
    let adapter = Adapter::load(&location.adapter).map_err(|error| failed(error.to_string()))?;
    let library = match adapter.probe(location.library.as_deref()) {
        Probe::Available { .. } => location.library,
        Probe::Missing { .. } => catalog::fallback(&name),
    };
    Choice::new(adapter, name.preset.as_deref(), options, library).map_err(|error| failed(error.to_string()))
}

fn spec(drive: &Drive) -> TrialSpec {
    let (readers, writers) = drive.workload.threads(drive.threads);
    let data = Data { value_seed: SEED, ..Data::of_records(drive.records) };
    let parameters = WorkloadParameters {
        readers,
        writers,
        batch: drive.batch,
        reads_per_transaction: drive.reads_per_transaction,
        reads: drive.workload.profile().reads,
        distribution: drive.distribution,
        read_rate: drive.read_rate,
        seed: SEED,
        ..WorkloadParameters::on(data, TrialEnd::Operations(drive.operations))
    };
    let workload = WorkloadSpec { name: drive.workload, parameters };
    TrialSpec {
        create: false,
        ..TrialSpec::without_parent(workload, Experiment::default().engine_settings(), drive.folder.to_owned())
    }
}

/// Makes a database of so many records in `folder`.
pub fn load(engine: &str, folder: &Path, records: u64) -> Result<(), BenchError> {
    let failed = |error: &dyn std::fmt::Display| BenchError::Program(format!("loading {engine}: {error}"));
    let workload = spec(&Drive::gets(engine, folder, records)).workload;
    let keys = workload.parameters.data.keys().map_err(|error| failed(&error))?;
    let values = workload.parameters.data.values();
    let choice = choice(engine, &[])?;
    let database = Database::open(
        &choice,
        &Experiment::default().engine_settings(),
        &hints(&workload, ClientKind::Threads),
        folder,
        true,
    )
    .map_err(|error| failed(&error))?;
    {
        let host = kvdyno_engine::Host { size: 0, reserved: 0, context: std::ptr::null_mut(), recall: None };
        // SAFETY: `host` outlives the session; an engine that stores what it is given calls no `recall`.
        let mut session = unsafe { database.session(&host) }.map_err(|error| failed(&error))?;
        let mut key = keys.blank();
        let mut value = vec![0; values.size()];
        const BATCH: u64 = 1000;
        for first in (0..records).step_by(BATCH as usize) {
            let batch: Vec<(Vec<u8>, Vec<u8>)> = (first..first + BATCH)
                .map(|id| {
                    keys.write(id, &mut key);
                    values.write(id, 0, &mut value);
                    (key.clone(), value.clone())
                })
                .collect();
            let steps: Vec<_> = batch.iter().map(|(key, value)| (key.as_slice(), Some(value.as_slice()))).collect();
            session.write(&steps).map_err(|error| failed(&error))?;
        }
    }
    database.close().map_err(|error| failed(&error))
}
