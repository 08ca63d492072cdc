//! Figures of the operating system against threads: traffic to and from the storage, CPU time, context switches.

use kvdyno_model::text::short;
use kvdyno_results::TrialResult;

use super::drawn::DrawnChart;
use super::height::Height;
use super::paint::paint_lines;
use super::rates::{against_threads, most, powers};
use super::ticks::Axis;
use crate::error::ReportError;
use crate::study::{Study, StudyCell};
use crate::tables::matters;

/// A chart: its caption, its axis for all points, its figure.
type FigureChart = (&'static str, fn(&[Height]) -> Axis, fn(&TrialResult) -> Option<f64>);

/// Engines differ in what they do to the storage by orders of magnitude.
const STORAGE: [FigureChart; 3] = [
    ("Filesystem inputs for each operation", |all| powers("blocks/op", all), TrialResult::fs_in_per_operation),
    ("Filesystem outputs for each operation", |all| powers("blocks/op", all), TrialResult::fs_out_per_operation),
    (
        "Size of the database at the end",
        |all| Axis::bytes("size", most(all)),
        |result| Some(result.space.db_kib as f64 * 1024.0),
    ),
];

const CPU: [FigureChart; 3] = [
    ("CPU time in user mode", |all| numbers("processors", all), |result| share(result.os.user_s, result.os.wall_s)),
    ("CPU time in the kernel", |all| numbers("processors", all), |result| share(result.os.sys_s, result.os.wall_s)),
    (
        "Context switches a second",
        |all| numbers("switches/s", all),
        |result| share((result.os.ctx_voluntary + result.os.ctx_involuntary) as f64, result.os.wall_s),
    ),
];

fn numbers(unit: &str, all: &[Height]) -> Axis {
    Axis::from_zero(unit, most(all), 5.0, short)
}

/// The charts of the reports on databases larger than memory; none if the storage does not matter.
pub(super) fn storage(study: &Study<'_>, workload: &str) -> Result<Vec<DrawnChart>, ReportError> {
    if matters(study) { charts(study, workload, &STORAGE) } else { Ok(Vec::new()) }
}

/// CPU time and context switches of the whole process.
pub(super) fn cpu(study: &Study<'_>, workload: &str) -> Result<Vec<DrawnChart>, ReportError> {
    charts(study, workload, &CPU)
}

fn share(part: f64, wall_s: f64) -> Option<f64> {
    (wall_s > 0.0).then(|| part / wall_s)
}

fn charts(study: &Study<'_>, workload: &str, charts: &[FigureChart]) -> Result<Vec<DrawnChart>, ReportError> {
    let mut cells = study.running(workload);
    cells.retain(|cell| !study.is_driver(cell) && !cell.finished.is_empty());
    if cells.is_empty() {
        return Ok(Vec::new());
    }
    charts.iter().map(|chart| drawn(study, &cells, workload, *chart)).collect()
}

fn drawn(
    study: &Study<'_>,
    cells: &[&StudyCell<'_>],
    workload: &str,
    (caption, axis, of): FigureChart,
) -> Result<DrawnChart, ReportError> {
    let height = |cell: &StudyCell<'_>| Height::median(cell, of);
    let words = format!("{workload}: {caption}, against threads, a line for each engine");
    paint_lines(&against_threads(study, cells, (caption.to_owned(), words), &height, axis))
}
