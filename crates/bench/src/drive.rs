//! One loop of the driver's in this process: what is measured.

use std::path::Path;

use kvdyno_dataset::subseed;
use kvdyno_engine::catalog;
use kvdyno_engine::{Adapter, Choice, Database, Probe};
use kvdyno_experiment::Experiment;
use kvdyno_model::{Distribution, EngineName, OperationMix, OptionText, WorkloadName};
use kvdyno_results::ClientKind;
use kvdyno_worker::TrialSpec;
use kvdyno_worker::worker::{driver_check, hints};
use kvdyno_worker::workloads::{Data, TrialEnd, Workload, WorkloadParameters, WorkloadSpec};

use crate::BenchError;

/// Records of the benchmarks on a real engine: 16 + 100 bytes each.
pub const RECORDS: u64 = 1_000_000;
/// Records of those on the null engine: so few that its answers are made beforehand and are no cost of the driver's.
pub const NULL_RECORDS: u64 = 1000;
/// The seed of every benchmark.
const SEED: u64 = 1;

/// Stands for a workload with operations of its own.
const NO_MIX: &str = "-";

/// The task of one loop.
#[derive(Clone, Debug)]
pub struct Drive<'a> {
    /// The engine.
    pub engine: &'a str,
    /// Its database.
    pub folder: &'a Path,
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
    /// The operations of a mix that has none of its own.
    pub mix: Option<OperationMix>,
}

impl Drive<'_> {
    /// The command line that makes this program do it.
    pub fn arguments(&self) -> Vec<String> {
        [
            "drive",
            self.engine,
            &self.folder.to_string_lossy(),
            &self.workload.to_string(),
            &self.records.to_string(),
            &self.threads.to_string(),
            &self.operations.to_string(),
            &self.reads_per_transaction.to_string(),
            &self.batch.to_string(),
            &self.distribution.to_string(),
            &self.mix.map_or(NO_MIX.to_owned(), |mix| mix.to_string()),
        ]
        .map(str::to_owned)
        .to_vec()
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

/// Drives, and prints nanoseconds for an operation and operations.
pub fn run(arguments: &[&str]) -> Result<(), BenchError> {
    let usage = || {
        let words = "drive ENGINE FOLDER WORKLOAD RECORDS THREADS OPERATIONS READS-PER-TRANSACTION BATCH DISTRIBUTION \
                     MIX";
        BenchError::Program(words.to_owned())
    };
    let [engine, folder, workload, records, threads, operations, reads, batch, distribution, mix] = arguments else {
        return Err(usage());
    };
    let drive = Drive {
        engine,
        folder: Path::new(folder),
        workload: self::workload(workload).map_err(|_| usage())?,
        records: records.parse().map_err(|_| usage())?,
        threads: threads.parse().map_err(|_| usage())?,
        operations: operations.parse().map_err(|_| usage())?,
        reads_per_transaction: reads.parse().map_err(|_| usage())?,
        batch: batch.parse().map_err(|_| usage())?,
        distribution: distribution.parse().map_err(|_| usage())?,
        mix: (*mix != NO_MIX).then(|| mix.parse()).transpose().map_err(|_| usage())?,
    };
    let check =
        driver_check(&choice(engine, &[])?, &spec(&drive)).map_err(|failure| BenchError::Program(failure.reason))?;
    if check.failures > 0 {
        return Err(BenchError::Program(format!("{} answers were not right", check.failures)));
    }
    use std::io::Write;
    writeln!(std::io::stdout(), "{:.3} {}", check.ns, check.operations)?;
    Ok(())
}

/// A workload by its name.
pub fn workload(name: &str) -> Result<Workload, BenchError> {
    name.parse::<WorkloadName>().map(Workload::from).map_err(BenchError::Program)
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

fn spec(drive: &Drive<'_>) -> TrialSpec {
    let (readers, writers) = drive.workload.threads(drive.threads);
    let data = Data { seed: SEED, ..Data::of_records(drive.records) };
    let parameters = WorkloadParameters {
        readers,
        writers,
        batch: drive.batch,
        reads_per_transaction: drive.reads_per_transaction,
        reads: drive.workload.profile().reads,
        mix: drive.mix,
        distribution: drive.distribution,
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
    let workload = WorkloadName::ReadRandom.into();
    let drive = Drive {
        engine,
        folder,
        workload,
        records,
        threads: 1,
        operations: 0,
        reads_per_transaction: 1,
        batch: 1,
        distribution: Distribution::default(),
        mix: None,
    };
    let workload = spec(&drive).workload;
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
