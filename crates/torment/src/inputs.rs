//! The readers of foreign input, as the program calls them. Each answers whether it took the input; what must never be
//! is a panic.

use std::hint::black_box;

use kvdyno_experiment::Experiment;
use kvdyno_plan::check_alone;
use kvdyno_report::{Format, ReportError, report};
use kvdyno_results::folder::{ReadError, ResultsFolder};
use kvdyno_results::{Latency, SeriesPoint, TrialResult, latency_log};

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

/// A results folder, reported in every format and as a page. Whether there was a report, exit code 0; if not, it was
/// the folder's fault, exit code 2.
///
/// # Panics
/// If anything else went wrong: the program would end with exit code 1.
pub fn results_folder(results: &ResultsFolder) -> bool {
    Format::ALL.into_iter().all(|format| match report(results, format, false) {
        Ok(text) => !black_box(text).text.is_empty(),
        Err(ReportError::Read(ReadError::Io { path, cause })) => panic!("exit code 1: {}: {cause}", path.display()),
        Err(ReportError::Read(_)) => false,
        Err(error) => panic!("exit code 1: {error}"),
    })
}
