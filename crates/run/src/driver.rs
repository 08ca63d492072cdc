//! The driver's own cost on this machine, measured against an engine that answers at once.

use std::time::Duration;

use kvdyno_dataset::KeyFormat;
use kvdyno_engine::{Choice, Compression, Durability, EngineSettings};
use kvdyno_model::{Arrival, Audit, Distribution, Spelling, Verify};
use kvdyno_results::{ClientKind, DriverCost, Failure};
use kvdyno_worker::workloads::{Data, Reads, TrialEnd, WorkloadName, WorkloadParameters, WorkloadSpec};
use kvdyno_worker::{DriverCheck, KnownContents, TrialSpec, worker::driver_check};

/// So few that the null engine's answers are made beforehand, and are no cost of the driver's.
const RECORDS: u64 = 1000;

/// Rounds of which the median is taken.
const ROUNDS: usize = 5;

/// Measures it, on one thread and on `threads`, for `time` in all. `choice` is the null engine.
///
/// # Errors
/// If the engine reports one.
pub fn driver_cost(choice: &Choice, threads: u32, time: Duration) -> Result<DriverCost, Failure> {
    let round = time / (2 * ROUNDS as u32);
    let mut single = Vec::new();
    let mut scaling = Vec::new();
    for _ in 0..ROUNDS {
        // In pairs, so that a drift of the machine's speed falls on both.
        let one = measure(choice, 1, round)?;
        let all = measure(choice, threads, round)?;
        single.push(one.ns);
        scaling.push(f64::from(threads) * one.ns / all.ns);
    }
    single.sort_by(f64::total_cmp);
    scaling.sort_by(f64::total_cmp);
    Ok(DriverCost {
        get_ns: single[ROUNDS / 2],
        get_ns_range: (single[0], single[ROUNDS - 1]),
        scaling: scaling[ROUNDS / 2],
        scaling_threads: threads,
    })
}

fn measure(choice: &Choice, readers: u32, duration: Duration) -> Result<DriverCheck, Failure> {
    driver_check(choice, &spec(readers, duration))
}

fn spec(readers: u32, duration: Duration) -> TrialSpec {
    TrialSpec {
        adapter: std::path::PathBuf::new(),
        preset: None,
        options: Vec::new(),
        library: None,
        lab: EngineSettings {
            durability: Durability::None,
            sync_period_ms: 1000,
            compression: Compression::None,
            cache_bytes: 0,
            write_buffer_bytes: 0,
        },
        workload: WorkloadSpec {
            name: WorkloadName::driver_check(),
            parameters: WorkloadParameters {
                data: Data {
                    records: RECORDS,
                    key_size: 16,
                    key_format: KeyFormat::Hex,
                    prefix_size: None,
                    keys_per_prefix: None,
                    value_size: 100,
                    value_sizes: None,
                    compressibility: 0.5,
                    seed: 1,
                    spelling: Spelling::Plain,
                },
                readers,
                writers: 0,
                batch: 1,
                reads_per_transaction: 1,
                reads: Reads::default(),
                mix: None,
                roles: Vec::new(),
                distribution: Distribution::default(),
                write_rate: None,
                read_rate: None,
                arrival: Arrival::default(),
                isolation: None,
                durability: None,
                warmup: duration / 10,
                end: TrialEnd::After(duration),
                verify: Verify::Full,
                seed: 1,
            },
        },
        audit: Audit::Off,
        clients: ClientKind::Threads,
        slices: None,
        database: std::env::temp_dir(),
        create: true,
        settle: false,
        contents: KnownContents::loaded(RECORDS),
        shared_fd: -1,
        ledger_fd: -1,
        report: std::path::PathBuf::new(),
    }
}
