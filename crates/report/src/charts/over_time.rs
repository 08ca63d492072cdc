//! Rates over the measured window.

use std::collections::BTreeMap;

use kvdyno_analysis::Cell;
use kvdyno_results::{SeriesRow, TrialResult};

use super::chart::{Chart, Line, Point};
use super::ticks::Axis;
use super::{Figure, Side};
use crate::ReportError;
use crate::numbers::short;
use crate::study::{Study, distinct, threads};

/// More points than this are averaged: a line has no room for them.
const MOST_POINTS: usize = 150;

/// The rate of one side over time for each number of threads, a line an engine: of each cell, its first finished trial.
pub(crate) fn over_time(study: &Study<'_>, workload: &str, side: Side) -> Result<Vec<Figure>, ReportError> {
    let mut cells = study.running(workload);
    cells.retain(|cell| !study.is_driver(cell));
    let mut counts = distinct(cells.iter().map(|cell| (cell.key.readers, cell.key.writers)));
    counts.sort_unstable();
    let figures = counts.into_iter().map(|count| figure(study, &cells, count, side));
    figures.filter_map(Result::transpose).collect()
}

fn figure(
    study: &Study<'_>,
    cells: &[&Cell<'_>],
    (readers, writers): (u32, u32),
    side: Side,
) -> Result<Option<Figure>, ReportError> {
    let here = cells.iter().filter(|cell| (cell.key.readers, cell.key.writers) == (readers, writers));
    let lines: Vec<Line> = here.filter_map(|cell| line(study, cell, side)).collect();
    if lines.is_empty() {
        return Ok(None);
    }
    let highest = |axis: fn(&Point) -> f64| {
        lines.iter().flat_map(|line| line.points.iter().flatten()).map(axis).fold(0.0, f64::max)
    };
    let caption = threads(readers, writers);
    let chart = Chart {
        description: format!("{} a second over time, {caption}, a line for each engine", side.noun()),
        size: (480.0, 260.0),
        x: Axis::from_zero("seconds", highest(|point| point.x), 6.0, short),
        y: Axis::rate(&format!("{}/s", side.noun()), highest(|point| point.y)),
        lines,
        markers: false,
    };
    Ok(Some(Figure { svg: chart.draw()?, caption }))
}

fn line(study: &Study<'_>, cell: &Cell<'_>, side: Side) -> Option<Line> {
    let result = cell.finished.first()?;
    let rows = study.series.get(&result.trial)?;
    let points = thinned(&rates(result, rows, side));
    (points.len() > 1).then(|| Line {
        name: cell.key.engine.clone(),
        place: study.engines().iter().position(|engine| *engine == cell.key.engine).unwrap_or(0),
        points: points.into_iter().map(Some).collect(),
    })
}

/// The end and the rate of each interval of the window, all kinds of the side together.
fn rates(result: &TrialResult, rows: &[SeriesRow], side: Side) -> Vec<(f64, f64)> {
    let wanted = |row: &&SeriesRow| {
        let of_side = result.operations.iter().any(|o| o.kind == row.kind && o.writes() == (side == Side::Writes));
        of_side && row.end_s > 0.0
    };
    let mut intervals: BTreeMap<i64, f64> = BTreeMap::new();
    for row in rows.iter().filter(wanted) {
        *intervals.entry((row.end_s * 1e6) as i64).or_default() += row.records_per_s;
    }
    intervals.into_iter().map(|(end, rate)| (end as f64 / 1e6, rate)).collect()
}

fn thinned(rates: &[(f64, f64)]) -> Vec<Point> {
    let size = rates.len().div_ceil(MOST_POINTS).max(1);
    let average = |chunk: &[(f64, f64)]| {
        let count = chunk.len() as f64;
        let sum = chunk.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        Point { x: sum.0 / count, y: sum.1 / count, interval: None }
    };
    rates.chunks(size).map(average).collect()
}
