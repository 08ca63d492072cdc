//! Records, operations and sizes, which shrink by one factor.

use kvdyno_environment::requested::EnvironmentKey;
use kvdyno_experiment::{DataKey, Experiment, RunKey, SettingsKey, ValueSize};
use kvdyno_model::{ByteSize, Count, KeyPath};
use kvdyno_worker::workloads::Workload;
use serde::Deserialize;
use toml::{Table, Value};

use super::change::FitChange;
use super::tables::{runs, tell, value_mut};

/// Below these an experiment would be about something else. Large values are fewer.
const LEAST_RECORDS: u64 = 10_000;
const LEAST_LARGE_RECORDS: u64 = 100;
const LEAST_LARGE_BYTES: u64 = 64 << 20;
const LEAST_CACHE: Least = Least { bytes: 8 << 20, unit: 1 << 20 };
pub(super) const LEAST_WRITE_BUFFER: Least = Least { bytes: 4 << 20, unit: 1 << 20 };
/// The bytes of a memory limit that are for the programs themselves.
pub(super) const LEAST_FOR_PROGRAMS: Least = Least { bytes: 64 << 20, unit: 1 << 20 };
pub(super) const LEAST_OPERATIONS: u64 = 1000;

/// A size that shrinks: how far, and in which steps.
#[derive(Clone, Copy)]
pub(super) struct Least {
    bytes: u64,
    unit: u64,
}

/// The scale at which a limit of memory still has room for the engine's cache and buffer and for the programs: smaller
/// data would no longer be the same multiple of memory.
pub(super) fn least_scale(experiment: &Experiment) -> f64 {
    let Some(limit) = experiment.environment.memory.map(ByteSize::get) else { return 0.0 };
    let shared =
        limit.saturating_sub(experiment.settings.cache.get()).saturating_sub(experiment.settings.write_buffer.get());
    (LEAST_FOR_PROGRAMS.bytes + LEAST_WRITE_BUFFER.bytes) as f64 / shared.max(1) as f64
}

/// The least cache of an experiment: the load's own, in quarters, or as with most.
pub(super) fn least_cache(experiment: &Experiment) -> Least {
    let own = Workload::from(experiment.load.workload).least_cache();
    own.map_or(LEAST_CACHE, |bytes| Least { bytes, unit: (bytes / 4).max(1) })
}

/// The least number of records with values of a size, in bytes.
fn least_records(value_size: u64) -> u64 {
    (LEAST_LARGE_BYTES / value_size.max(1)).clamp(LEAST_LARGE_RECORDS, LEAST_RECORDS)
}

/// Shrinks the keys of `table`, which is that of a variant or of the experiment, by `scale`.
pub(super) fn shrink(table: &mut Table, variant: &str, scale: f64, least_cache: Least, changes: &mut Vec<FitChange>) {
    let own_size = value_mut(table, DataKey::ValueSize).and_then(|size| ValueSize::deserialize(size.clone()).ok());
    if let Some(records) = value_mut(table, DataKey::Records) {
        let least = least_records(own_size.and_then(|size| size.mean()).unwrap_or(0));
        shrink_count(records, scale, least, |old, new| tell(changes, variant, DataKey::Records, (&old, &new)));
    }
    for run in runs(table) {
        let Some(operations) = run.get_mut(RunKey::Operations.name()) else { continue };
        let mut tell = |old, new| tell(changes, variant, RunKey::Operations, (&old, &new));
        shrink_count(operations, scale, LEAST_OPERATIONS, &mut tell);
    }
    let sizes: [(KeyPath, Least); 3] = [
        (SettingsKey::Cache.into(), least_cache),
        (SettingsKey::WriteBuffer.into(), LEAST_WRITE_BUFFER),
        (EnvironmentKey::Memory.into(), LEAST_FOR_PROGRAMS),
    ];
    for (key, least) in sizes {
        let Some(size) = value_mut(table, key.clone()) else { continue };
        let Ok(old) = ByteSize::deserialize(size.clone()) else { continue };
        let new = ((old.get() as f64 * scale).ceil() as u64).next_multiple_of(least.unit);
        let new = ByteSize(new.max(least.bytes).min(old.get()));
        tell(changes, variant, key, (&old, &new));
        *size = Value::String(new.to_string());
    }
}

/// A count that may be written with a unit: it becomes a number.
fn shrink_count(value: &mut Value, scale: f64, least: u64, mut tell: impl FnMut(u64, u64)) {
    let Ok(old) = Count::<0, { i64::MAX as u64 }>::deserialize(value.clone()) else { return };
    let new = two_digits(old.get() as f64 * scale).max(least).min(old.get());
    tell(old.get(), new);
    *value = Value::Integer(new as i64);
}

/// Down to two digits, so that numbers stay easy to read.
fn two_digits(number: f64) -> u64 {
    let unit = 10f64.powf((number.max(1.0).log10().floor() - 1.0).max(0.0));
    ((number / unit).floor() * unit) as u64
}
