//! The readers of foreign input, as the program calls them. Each answers whether it took the input; what must never be
//! is a panic.

use std::hint::black_box;

use kvdyno_dataset::ValueSizes;
use kvdyno_experiment::Experiment;
use kvdyno_plan::check_alone;
use kvdyno_results::{Latency, ResourcePoint, SavedPlan, SeriesPoint, TrialResult, latency_log};

/// An experiment file, as far as it is checked without asking an engine.
pub fn experiment(bytes: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(bytes) else { return false };
    let Ok(experiment) = Experiment::parse(text) else { return false };
    black_box(experiment.limits_memory());
    if check_alone(&experiment).is_err() {
        return false;
    }
    // It is what the results folder keeps, and what `--resume` reads.
    let written = experiment.to_toml().unwrap_or_else(|error| panic!("what was taken cannot be written: {error}"));
    if let Err(error) = Experiment::parse(&written) {
        panic!("what was written cannot be read: {error}");
    }
    true
}

/// A `result.json`.
pub fn result(bytes: &[u8]) -> bool {
    let Ok(result) = serde_json::from_slice::<TrialResult>(bytes) else { return false };
    for doubt in kvdyno_analysis::check(&result, None) {
        black_box(doubt.to_string());
    }
    true
}

/// A `latency.hlog`.
pub fn latencies(bytes: &[u8]) -> bool {
    let Ok(log) = latency_log::decode(bytes) else { return false };
    for histogram in log.values() {
        black_box(Latency::from(histogram));
        // It says itself if it cannot.
        let _ = black_box(latency_log::merge(&mut histogram.clone(), histogram));
    }
    true
}

/// A `series.csv`.
pub fn series(bytes: &[u8]) -> bool {
    SeriesPoint::read_all(bytes).is_ok()
}

/// A `resources.csv`.
///
/// # Panics
/// If what was taken cannot be written and read again.
pub fn resources(bytes: &[u8]) -> bool {
    let Ok(points) = ResourcePoint::read_all(bytes) else { return false };
    let again = ResourcePoint::write_all(&points).and_then(|written| ResourcePoint::read_all(&written));
    assert_eq!(again.as_ref(), Ok(&points), "what was written is read otherwise");
    true
}

/// A `plan.json`, held against itself.
pub fn plan(bytes: &[u8]) -> bool {
    let Ok(plan) = serde_json::from_slice::<SavedPlan>(bytes) else { return false };
    black_box(plan.expected().count());
    assert_eq!(plan.change_of_trials(&plan.trials), None, "it differs from itself");
    assert_eq!(plan.changes_of_experiment(&plan.experiment), Vec::<String>::new(), "it differs from itself");
    black_box(plan.changes_of_experiment(&serde_json::Value::Null));
    true
}

/// A histogram of sizes of values.
///
/// # Panics
/// If what was taken draws a size that it does not have.
pub fn value_sizes(bytes: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(bytes) else { return false };
    let Ok(sizes) = ValueSizes::histogram(text) else { return false };
    let largest = sizes.largest();
    assert!(sizes.mean() <= largest as f64 * 1.000_001, "the mean is above the largest");
    for bits in [0, 1, 1 << 32, u64::MAX >> 1, u64::MAX - 1, u64::MAX] {
        assert!(sizes.drawn(bits) <= largest, "a size is drawn that is larger than the largest");
    }
    true
}
