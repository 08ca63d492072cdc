//! Latencies as curves: the histograms of a cell's trials merged, percentiles on an axis of nines.

use std::collections::BTreeMap;

use kvdyno_analysis::CurvePoint;
use kvdyno_results::Side;

use super::drawn::DrawnChart;
use super::line_chart::{ChartLine, LineChart, Point};
use super::paint::paint_lines;
use super::ticks::Axis;
use crate::error::ReportError;
use crate::study::{Study, StudyCell};
use crate::words::threads;

/// The curve of one side's calls for each number of threads, a line an engine. All have the same scales. None of cells
/// whose logs are not all there.
pub(super) fn latency_curves(study: &Study<'_>, workload: &str, side: Side) -> Result<Vec<DrawnChart>, ReportError> {
    let mut cells = study.running(workload);
    cells.retain(|cell| !study.is_driver(cell));
    let lines: Vec<((u32, u32), ChartLine)> = cells
        .iter()
        .filter_map(|cell| Some(((cell.key.readers, cell.key.writers), line(study, cell, side)?)))
        .collect();
    let points = || lines.iter().flat_map(|(_, line)| line.points.iter().flatten());
    let x = Axis::nines(points().map(|point| point.x).fold(0.0, f64::max));
    let y = Axis::latency(&format!("latency of {side}"), points().map(|point| 10f64.powf(point.y)));
    let mut by_count: BTreeMap<(u32, u32), Vec<ChartLine>> = BTreeMap::new();
    lines.into_iter().for_each(|(count, line)| by_count.entry(count).or_default().push(line));
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

fn line(study: &Study<'_>, cell: &StudyCell<'_>, side: Side) -> Option<ChartLine> {
    let curve = &cell.main_latency(side)?.curve;
    let point = |point: &CurvePoint| Some(Point::bare(point.nines, (point.ns as f64).max(1.0).log10()));
    (curve.len() > 1).then(|| ChartLine {
        name: cell.label.engine.clone(),
        series: study.engines().iter().position(|engine| *engine == cell.label.engine).unwrap_or(0),
        points: curve.iter().map(point).collect(),
    })
}
