//! What went to and from the storage, against threads.

use kvdyno_analysis::Cell;
use kvdyno_results::TrialResult;

use super::Figure;
use super::rates::{Height, against_threads};
use super::ticks::Axis;
use crate::ReportError;
use crate::numbers::short;
use crate::study::Study;
use crate::tables::matters;

/// A chart: its caption, the words of its axis, its figure.
type Chart = (&'static str, &'static str, fn(&TrialResult) -> Option<f64>);

const CHARTS: [Chart; 3] = [
    ("Filesystem inputs for each operation", "blocks/op", TrialResult::fs_in_per_operation),
    ("Filesystem outputs for each operation", "blocks/op", TrialResult::fs_out_per_operation),
    ("Size of the database at the end", "KiB", |result| Some(result.space.db_kib as f64)),
];

/// The charts of the reports on databases larger than memory; none if the storage does not matter.
pub(crate) fn storage(study: &Study<'_>, workload: &str) -> Result<Vec<Figure>, ReportError> {
    let mut cells = study.running(workload);
    cells.retain(|cell| !study.is_driver(cell) && !cell.finished.is_empty());
    if !matters(study) || cells.is_empty() {
        return Ok(Vec::new());
    }
    CHARTS.into_iter().map(|chart| figure(study, &cells, workload, chart)).collect()
}

fn figure(
    study: &Study<'_>,
    cells: &[&Cell<'_>],
    workload: &str,
    (caption, unit, of): Chart,
) -> Result<Figure, ReportError> {
    let height = |cell: &Cell<'_>| cell.median(of).map(|value| Height { value, interval: None });
    let words = format!("{workload}: {caption}, against threads, a line for each engine");
    let chart = against_threads(study, cells, words, &height, |most| Axis::from_zero(unit, most, 5.0, short));
    Ok(Figure { svg: chart.draw()?, caption: caption.to_owned() })
}
