//! Records, operations and sizes, which shrink by one factor.

use toml::{Table, Value};

use super::parts::{runs, section, tell};
use kvdyno_experiment::Bytes;
use kvdyno_experiment::Experiment;

/// Below these an experiment would be about something else.
pub(super) const LEAST_RECORDS: u64 = 10_000;
const LEAST_CACHE: Least = Least { bytes: 8 << 20, unit: 1 << 20 };
pub(super) const LEAST_WRITE_BUFFER: Least = Least { bytes: 4 << 20, unit: 1 << 20 };
/// Of a memory limit, what is for the programs themselves.
pub(super) const LEAST_FOR_PROGRAMS: Least = Least { bytes: 64 << 20, unit: 1 << 20 };
pub(super) const LEAST_OPERATIONS: u64 = 1000;

/// A size that shrinks: how far, and in which steps.
#[derive(Clone, Copy)]
pub(super) struct Least {
    bytes: u64,
    unit: u64,
}

/// The scale at which a limit of memory still has room for the engine's cache and buffer and for the programs: data that
/// shrank further would no longer be so many times the memory.
pub(super) fn least_scale(experiment: &Experiment) -> f64 {
    let Some(limit) = experiment.environment.requested().memory else { return 0.0 };
    let shared = limit.saturating_sub(experiment.settings.cache.0).saturating_sub(experiment.settings.write_buffer.0);
    (LEAST_FOR_PROGRAMS.bytes + LEAST_WRITE_BUFFER.bytes) as f64 / shared.max(1) as f64
}

/// The least cache of an experiment: the load's own, in quarters, or as with most.
pub(super) fn least_cache(experiment: &Experiment) -> Least {
    let own = experiment.load.workload.get_ref().least_cache();
    own.map_or(LEAST_CACHE, |bytes| Least { bytes, unit: (bytes / 4).max(1) })
}

/// Shrinks a part by `scale`.
pub(super) fn shrink(part: &mut Table, name: &str, scale: f64, least_cache: Least, changes: &mut Vec<String>) {
    if let Some(records) = section(part, "data").and_then(|data| data.get_mut("records")) {
        let old = records.as_integer().unwrap_or(0).max(0) as u64;
        let new = two_digits(old as f64 * scale).max(LEAST_RECORDS).min(old);
        tell(changes, &format!("{name}records"), &old, &new);
        *records = Value::Integer(new as i64);
    }
    for run in runs(part) {
        let Some(operations) = run.get_mut("operations") else { continue };
        let old = operations.as_integer().unwrap_or(0).max(0) as u64;
        let new = two_digits(old as f64 * scale).max(LEAST_OPERATIONS).min(old);
        tell(changes, &format!("{name}operations"), &old, &new);
        *operations = Value::Integer(new as i64);
    }
    let sizes = [
        ("settings", "cache", least_cache),
        ("settings", "write_buffer", LEAST_WRITE_BUFFER),
        ("environment", "memory", LEAST_FOR_PROGRAMS),
    ];
    for (place, key, least) in sizes {
        let Some(size) = section(part, place).and_then(|section| section.get_mut(key)) else { continue };
        let Some(old) = size.as_str().and_then(|text| text.parse::<Bytes>().ok()) else { continue };
        let new = ((old.0 as f64 * scale).ceil() as u64).next_multiple_of(least.unit);
        let new = Bytes(new.max(least.bytes).min(old.0));
        tell(changes, &format!("{name}{key}"), &old, &new);
        *size = Value::String(new.to_string());
    }
}

/// Down to two digits, so that numbers stay easy to read.
fn two_digits(number: f64) -> u64 {
    let unit = 10f64.powf((number.max(1.0).log10().floor() - 1.0).max(0.0));
    ((number / unit).floor() * unit) as u64
}
