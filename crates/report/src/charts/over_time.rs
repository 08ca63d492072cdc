//! Rates over the measured window.

use std::collections::BTreeMap;

use kvdyno_results::{SeriesPoint, Side, TrialResult};

use super::drawn::{DrawnChart, noun};
use super::line_chart::{ChartLine, LineChart, Point};
use super::ticks::Axis;
use crate::error::ReportError;
use crate::numbers::short;
use crate::order::distinct;
use crate::study::{Study, StudyCell};
use crate::words::threads;

/// More points than this are averaged: a line cannot show them.
const MOST_POINTS: usize = 150;

/// The rate of one side over time for each number of threads, a line an engine: of each cell, its first finished trial.
pub(super) fn over_time(study: &Study<'_>, workload: &str, side: Side) -> Result<Vec<DrawnChart>, ReportError> {
    let mut cells = study.running(workload);
    cells.retain(|cell| !study.is_driver(cell));
    let mut counts = distinct(cells.iter().map(|cell| (cell.key.readers, cell.key.writers)));
    counts.sort_unstable();
    let charts = counts.into_iter().map(|count| chart(study, &cells, count, side));
    charts.filter_map(Result::transpose).collect()
}

fn chart(
    study: &Study<'_>,
    cells: &[&StudyCell<'_>],
    (readers, writers): (u32, u32),
    side: Side,
) -> Result<Option<DrawnChart>, ReportError> {
    let here = cells.iter().filter(|cell| (cell.key.readers, cell.key.writers) == (readers, writers));
    let lines: Vec<ChartLine> = here.filter_map(|cell| line(study, cell, side)).collect();
    if lines.is_empty() {
        return Ok(None);
    }
    let highest = |axis: fn(&Point) -> f64| {
        lines.iter().flat_map(|line| line.points.iter().flatten()).map(axis).fold(0.0, f64::max)
    };
    let caption = threads(readers, writers);
    let chart = LineChart {
        description: format!("{} a second over time, {caption}, a line for each engine", noun(side)),
        size: (480.0, 260.0),
        x: Axis::from_zero("seconds", highest(|point| point.x), 6.0, short),
        y: Axis::rate(&format!("{}/s", noun(side)), highest(|point| point.y)),
        lines,
        has_markers: false,
    };
    Ok(Some(DrawnChart { svg: chart.draw()?, caption }))
}

fn line(study: &Study<'_>, cell: &StudyCell<'_>, side: Side) -> Option<ChartLine> {
    let result = cell.finished.first()?;
    let series = study.series.get(&result.trial)?;
    let points = thinned(&rates(result, series, side));
    (points.len() > 1).then(|| ChartLine {
        name: cell.label.engine.clone(),
        series: study.engines().iter().position(|engine| *engine == cell.label.engine).unwrap_or(0),
        points: points.into_iter().map(Some).collect(),
    })
}

/// The end and the rate of each point of the window, all kinds of the side together.
fn rates(result: &TrialResult, points: &[SeriesPoint], side: Side) -> Vec<(f64, f64)> {
    let wanted = |point: &&SeriesPoint| {
        let of_side = result.operations.iter().any(|o| o.kind == point.kind && o.side() == side);
        of_side && point.end_s > 0.0
    };
    let mut sums: BTreeMap<i64, f64> = BTreeMap::new();
    for point in points.iter().filter(wanted) {
        *sums.entry((point.end_s * 1e6) as i64).or_default() += point.records_per_s;
    }
    sums.into_iter().map(|(end, rate)| (end as f64 / 1e6, rate)).collect()
}

fn thinned(rates: &[(f64, f64)]) -> Vec<Point> {
    let size = rates.len().div_ceil(MOST_POINTS).max(1);
    let average = |chunk: &[(f64, f64)]| {
        let count = chunk.len() as f64;
        let sum = chunk.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        Point { x: sum.0 / count, y: sum.1 / count, interval: None, is_alone: false }
    };
    rates.chunks(size).map(average).collect()
}
