//! Estimates of time, never used for figures.

use kvdyno_experiment::Experiment;
use kvdyno_worker::workloads::Workload;

use crate::work::{data, ends_after_fraction, load_batch};

/// Rates at which engines load on a small machine, on average: for estimates of time, never for figures.
const LOAD_BYTES_PER_S: f64 = 60e6;
const LOAD_RECORDS_PER_S: f64 = 150e3;
/// The rate of loading by single puts, records/s.
const PUTS_PER_S: f64 = 40e3;

/// The time of a load, in seconds.
pub(crate) fn load_seconds(experiment: &Experiment) -> f64 {
    let (load, data) = (Workload::from(experiment.load.workload), data(experiment));
    let own = load.load_seconds(&data, load_batch(experiment), experiment.load_settings().durability);
    if let Some(seconds) = own {
        return seconds;
    }
    let bytes = (data.key_size + data.value_size) as f64;
    let records_per_s = if load_batch(experiment) > 1 { LOAD_RECORDS_PER_S } else { PUTS_PER_S };
    data.records as f64 * (bytes / LOAD_BYTES_PER_S).max(1.0 / records_per_s)
}

/// The time of runs that end after a fraction of the records, in seconds. It shrinks with the database, as the load's
/// does.
pub(super) fn fraction_seconds(experiment: &Experiment) -> f64 {
    let records = experiment.data.records.get() as f64;
    let fractions = experiment.run.iter().filter_map(|run| Some(ends_after_fraction(run)? * run.readers.len() as f64));
    fractions.map(|fraction| fraction * records / PUTS_PER_S).sum()
}
