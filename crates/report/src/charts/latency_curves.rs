//! Latencies as curves: the histograms of a cell's trials merged, percentiles on an axis of nines.

use kvdyno_model::text::threads;
use kvdyno_results::Side;

use super::drawn::DrawnChart;
use super::line_chart::{ChartLine, LineChart, Point};
use super::paint::paint_lines;
use super::ticks::Axis;
use super::time_charts::lines_by_threads;
use crate::error::ReportError;
use crate::study::{Study, StudyCell};

/// The curve of one side's calls for each number of threads, a line an engine. All have the same scales. None of cells
/// whose logs are not all there.
pub(super) fn latency_curves(study: &Study<'_>, workload: &str, side: Side) -> Result<Vec<DrawnChart>, ReportError> {
    let curve = |cell: &StudyCell<'_>| {
        let curve = cell.main_latency(side).map(|latency| latency.curve.as_slice()).unwrap_or_default();
        curve.iter().map(|point| Point::bare(point.nines, (point.ns as f64).max(1.0).log10())).collect()
    };
    let by_count = lines_by_threads(study, workload, curve);
    let points = || by_count.values().flatten().flat_map(|line| line.points.iter().flatten());
    let x = Axis::nines(points().map(|point| point.x).fold(0.0, f64::max));
    let y = Axis::latency(&format!("latency of {side}"), points().map(|point| 10f64.powf(point.y)));
    let chart = |((readers, writers), lines): ((u32, u32), Vec<ChartLine>)| {
        let caption = threads(readers, writers);
        let chart = LineChart {
            description: format!("latency of {side}, {caption}, as curves, a line for each engine"),
            caption,
            size: (480.0, 290.0),
            x: x.clone(),
            y: y.clone(),
            lines,
            has_markers: false,
            is_restless: false,
        };
        paint_lines(&chart)
    };
    by_count.into_iter().map(chart).collect()
}
