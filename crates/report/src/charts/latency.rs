//! Latencies, percentile by percentile.

use kvdyno_analysis::{CellLatency, Estimate};
use kvdyno_model::text::threads;
use kvdyno_results::{Percentile, Side};

use super::drawn::DrawnChart;
use super::line_chart::{ChartLine, LineChart, Point};
use super::paint::paint_lines;
use super::ticks::Axis;
use crate::error::ReportError;
use crate::order::distinct;
use crate::study::{Study, StudyCell};

/// The latency of one side's calls for each number of threads, a line an engine. All have the same scale.
pub(super) fn latencies(study: &Study<'_>, workload: &str, side: Side) -> Result<Vec<DrawnChart>, ReportError> {
    let mut cells = study.running(workload);
    cells.retain(|cell| cell.main_latency(side).is_some());
    let mut counts = distinct(cells.iter().map(|cell| (cell.key.readers, cell.key.writers)));
    counts.sort_unstable();
    let all: Vec<ChartLine> = cells.iter().filter_map(|cell| line(study, cell, side)).collect();
    let ns = all.iter().flat_map(|line| line.points.iter().flatten()).map(|point| 10f64.powf(point.y));
    let scale = Axis::latency(&format!("latency of {side}"), ns);
    counts.into_iter().map(|count| chart(study, &cells, count, side, scale.clone())).collect()
}

fn chart(
    study: &Study<'_>,
    cells: &[&StudyCell<'_>],
    (readers, writers): (u32, u32),
    side: Side,
    y: Axis,
) -> Result<DrawnChart, ReportError> {
    let here = cells.iter().filter(|cell| (cell.key.readers, cell.key.writers) == (readers, writers));
    let caption = threads(readers, writers);
    let names = Percentile::ALL.iter().map(Percentile::to_string).chain(["max".to_owned()]);
    let description = format!("latency of {side}, {caption}, percentile by percentile, a line for each engine");
    let chart = LineChart {
        caption,
        description,
        size: (480.0, 290.0),
        x: Axis::in_order("", names),
        y,
        lines: here.filter_map(|cell| line(study, cell, side)).collect(),
        has_markers: true,
        is_restless: false,
    };
    paint_lines(&chart)
}

fn line(study: &Study<'_>, cell: &StudyCell<'_>, side: Side) -> Option<ChartLine> {
    let points = cell.main_latency(side).map(points)?;
    let name = cell.label.engine.clone();
    let series = study.engines().iter().position(|engine| *engine == name).unwrap_or(0);
    Some(ChartLine { name, series, points })
}

/// The percentiles with their intervals, and the greatest.
fn points(latency: &CellLatency) -> Vec<Option<Point>> {
    let height = |ns: f64| ns.max(1.0).log10();
    let greatest = Estimate::single(latency.latency.max_ns as f64);
    let estimates = Percentile::ALL.iter().map(|percentile| latency.estimate(*percentile)).chain([greatest]);
    let point = |(index, estimate): (usize, Estimate)| {
        let interval = estimate.low.zip(estimate.high).map(|(low, high)| (height(low), height(high)));
        Some(Point { interval, ..Point::bare(index as f64, height(estimate.value)) })
    };
    estimates.enumerate().map(point).collect()
}
