//! The driver's own cost on this machine, measured against an engine that answers at once.

use std::env;
use std::time::Duration;

use kvdyno_engine::Choice;
use kvdyno_experiment::Experiment;
use kvdyno_model::WorkloadName;
use kvdyno_results::{DriverCost, Failure};
use kvdyno_worker::workloads::{Data, TrialEnd, WorkloadParameters, WorkloadSpec};
use kvdyno_worker::{DriverCheck, TrialSpec, worker::driver_check};

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
    let end = TrialEnd::After(duration);
    let parameters =
        WorkloadParameters { readers, warmup: duration / 10, ..WorkloadParameters::on(Data::of_records(RECORDS), end) };
    let workload = WorkloadSpec { name: WorkloadName::ReadRandom.into(), parameters };
    TrialSpec::without_parent(workload, Experiment::default().engine_settings(), env::temp_dir())
}
