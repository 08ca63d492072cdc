//! Estimates of time, never used for figures.

use std::time::Duration;

use kvdyno_experiment::Experiment;
use kvdyno_worker::workloads::Workload;

use crate::work::{data, ends_after_fraction, load_batch};

/// Rates at which engines load on a machine of today, on average.
const LOAD_BYTES_PER_S: f64 = 180e6;
const LOAD_RECORDS_PER_S: f64 = 500e3;
/// The rate of loading by single puts, records/s.
const PUTS_PER_S: f64 = 120e3;
/// The time of a trial beside its work, of a worker's start, opening, looking and closing.
pub(crate) const OVERHEAD: Duration = Duration::from_millis(200);

/// The factor by which what has to end in a budget may take longer than on average: slow engines, machines and storage.
pub(super) const CAUTION: u32 = 3;

/// The time of a load, in seconds.
pub(crate) fn load_seconds(experiment: &Experiment) -> f64 {
    of_workload(experiment).unwrap_or_else(|| by_rates(experiment))
}

/// The time that a load may well take, in seconds. What a workload says of itself is cautious.
pub(super) fn cautious_load_seconds(experiment: &Experiment) -> f64 {
    of_workload(experiment).unwrap_or_else(|| f64::from(CAUTION) * by_rates(experiment))
}

fn of_workload(experiment: &Experiment) -> Option<f64> {
    let load = Workload::from(experiment.load.workload);
    load.load_seconds(&data(experiment), load_batch(experiment), experiment.load_settings().durability)
}

fn by_rates(experiment: &Experiment) -> f64 {
    let data = data(experiment);
    let bytes = (data.key_size + data.value_size) as f64;
    let records_per_s = if load_batch(experiment) > 1 { LOAD_RECORDS_PER_S } else { PUTS_PER_S };
    data.records as f64 * (bytes / LOAD_BYTES_PER_S).max(1.0 / records_per_s)
}

/// The time that runs may well take that end after a fraction of the records, in seconds. It shrinks with the database,
/// as the load's does.
pub(super) fn cautious_fraction_seconds(experiment: &Experiment) -> f64 {
    let records = experiment.data.records.get() as f64;
    let fractions = experiment.run.iter().filter_map(|run| Some(ends_after_fraction(run)? * run.readers.len() as f64));
    fractions.map(|fraction| f64::from(CAUTION) * fraction * records / PUTS_PER_S).sum()
}
