//! Traffic to and from the storage, against threads.

use kvdyno_results::TrialResult;

use super::drawn::DrawnChart;
use super::rates::{Height, against_threads};
use super::ticks::Axis;
use crate::error::ReportError;
use crate::numbers::short;
use crate::study::{Study, StudyCell};
use crate::tables::matters;

/// A chart: its caption, the words of its axis, its figure.
type StorageChart = (&'static str, &'static str, fn(&TrialResult) -> Option<f64>);

const CHARTS: [StorageChart; 3] = [
    ("Filesystem inputs for each operation", "blocks/op", TrialResult::fs_in_per_operation),
    ("Filesystem outputs for each operation", "blocks/op", TrialResult::fs_out_per_operation),
    ("Size of the database at the end", "KiB", |result| Some(result.space.db_kib as f64)),
];

/// The charts of the reports on databases larger than memory; none if the storage does not matter.
pub(super) fn storage(study: &Study<'_>, workload: &str) -> Result<Vec<DrawnChart>, ReportError> {
    let mut cells = study.running(workload);
    cells.retain(|cell| !study.is_driver(cell) && !cell.finished.is_empty());
    if !matters(study) || cells.is_empty() {
        return Ok(Vec::new());
    }
    CHARTS.into_iter().map(|chart| drawn(study, &cells, workload, chart)).collect()
}

fn drawn(
    study: &Study<'_>,
    cells: &[&StudyCell<'_>],
    workload: &str,
    (caption, unit, of): StorageChart,
) -> Result<DrawnChart, ReportError> {
    let height = |cell: &StudyCell<'_>| {
        cell.median(of).map(|value| Height { value, interval: None, is_alone: cell.finished.len() < 2 })
    };
    let words = format!("{workload}: {caption}, against threads, a line for each engine");
    let chart = against_threads(study, cells, words, &height, |most| Axis::from_zero(unit, most, 5.0, short));
    Ok(DrawnChart { svg: chart.draw()?, caption: caption.to_owned() })
}
