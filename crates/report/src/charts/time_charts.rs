//! Charts of a figure over the measured window, one for each number of threads.

use std::collections::BTreeMap;

use kvdyno_model::text::{short, threads};

use super::drawn::DrawnChart;
use super::line_chart::{ChartLine, LineChart, Point};
use super::paint::paint_lines;
use super::ticks::Axis;
use crate::error::ReportError;
use crate::study::{Study, StudyCell};

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
    let charts = lines_by_threads(study, workload, points);
    let all = || charts.values().flatten().flat_map(|line| line.points.iter().flatten());
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

/// Lines of engines that ran a workload, by the numbers of readers and writers: those of more than one point.
pub(super) fn lines_by_threads(
    study: &Study<'_>,
    workload: &str,
    points: impl Fn(&StudyCell<'_>) -> Vec<Point>,
) -> BTreeMap<(u32, u32), Vec<ChartLine>> {
    let (engines, mut lines) = (study.engines(), BTreeMap::<_, Vec<ChartLine>>::new());
    for cell in study.running(workload).into_iter().filter(|cell| !study.is_driver(cell)) {
        let points: Vec<Option<Point>> = points(cell).into_iter().map(Some).collect();
        let name = cell.label.engine.clone();
        let series = engines.iter().position(|engine| *engine == name).unwrap_or(0);
        let of_count = lines.entry((cell.key.readers, cell.key.writers)).or_default();
        of_count.extend((points.len() > 1).then_some(ChartLine { name, series, points }));
    }
    lines.retain(|_, lines| !lines.is_empty());
    lines
}

fn time_axis<'p>(points: impl Iterator<Item = &'p Point>) -> Axis {
    let latest = points.map(|point| point.x).fold(0.0, f64::max);
    let axis = Axis::from_zero("seconds", latest, 6.0, short);
    // A round number may lie far behind the last point; the lines need the width.
    Axis { range: (0.0, latest.max(f64::MIN_POSITIVE)), ..axis }.without_marks_outside()
}
