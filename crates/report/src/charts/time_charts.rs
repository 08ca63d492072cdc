//! Charts of a figure over the measured window, one for each number of threads.

use kvdyno_model::text::short;

use super::drawn::DrawnChart;
use super::line_chart::{ChartLine, LineChart, Point};
use super::paint::paint_lines;
use super::ticks::Axis;
use crate::error::ReportError;
use crate::order::distinct;
use crate::study::{Study, StudyCell};
use crate::words::threads;

/// More points than this are put together: a line cannot show them, and all of them would travel with the page.
pub(super) const MOST_POINTS: usize = 200;

/// The words of such charts.
pub(super) struct TimeSubject<'w> {
    /// `p99 of reads`.
    pub(super) what: &'w str,
    /// The axis for the heights of all points.
    pub(super) axis: &'w dyn Fn(&[f64]) -> Axis,
}

/// A chart for each number of threads, a line an engine: of each cell, what `points` has of it. All have the same
/// scales; none where there is nothing to show.
pub(super) fn painted_time_charts(
    study: &Study<'_>,
    workload: &str,
    subject: &TimeSubject<'_>,
    points: impl Fn(&StudyCell<'_>) -> Vec<Point>,
) -> Result<Vec<DrawnChart>, ReportError> {
    time_charts(study, workload, subject, points).iter().map(paint_lines).collect()
}

/// The same, not painted.
pub(super) fn time_charts(
    study: &Study<'_>,
    workload: &str,
    subject: &TimeSubject<'_>,
    points: impl Fn(&StudyCell<'_>) -> Vec<Point>,
) -> Vec<LineChart> {
    let mut cells = study.running(workload);
    cells.retain(|cell| !study.is_driver(cell));
    let mut counts = distinct(cells.iter().map(|cell| (cell.key.readers, cell.key.writers)));
    counts.sort_unstable();
    let engines = study.engines();
    let line = |cell: &&StudyCell<'_>| {
        let points = points(cell);
        (points.len() > 1).then(|| ChartLine {
            name: cell.label.engine.clone(),
            series: engines.iter().position(|engine| *engine == cell.label.engine).unwrap_or(0),
            points: points.into_iter().map(Some).collect(),
        })
    };
    let lines = |count: (u32, u32)| -> Vec<ChartLine> {
        let here = cells.iter().filter(|cell| (cell.key.readers, cell.key.writers) == count);
        here.filter_map(line).collect()
    };
    let charts: Vec<((u32, u32), Vec<ChartLine>)> =
        counts.into_iter().map(|count| (count, lines(count))).filter(|(_, lines)| !lines.is_empty()).collect();
    let all = || charts.iter().flat_map(|(_, lines)| lines).flat_map(|line| line.points.iter().flatten());
    let (x, y) = (time_axis(all()), (subject.axis)(&all().map(|point| point.y).collect::<Vec<_>>()));
    let chart = |((readers, writers), lines): ((u32, u32), Vec<ChartLine>)| {
        let caption = threads(readers, writers);
        LineChart {
            description: format!("{} over time, {caption}, a line for each engine", subject.what),
            caption,
            size: (480.0, 260.0),
            x: x.clone(),
            y: y.clone(),
            lines,
            has_markers: false,
            is_restless: true,
        }
    };
    charts.into_iter().map(chart).collect()
}

fn time_axis<'p>(points: impl Iterator<Item = &'p Point>) -> Axis {
    let latest = points.map(|point| point.x).fold(0.0, f64::max);
    let axis = Axis::from_zero("seconds", latest, 6.0, short);
    // A round number may lie far behind the last point; the lines need the width.
    Axis { range: (0.0, latest.max(f64::MIN_POSITIVE)), ..axis }.without_marks_outside()
}
