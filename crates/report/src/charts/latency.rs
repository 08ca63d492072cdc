//! Latencies, percentile by percentile.

use kvdyno_analysis::Cell;
use kvdyno_results::{Latency, Operations, TrialResult};

use super::chart::{Chart, Line, Point};
use super::ticks::Axis;
use super::{Figure, Side};
use crate::ReportError;
use crate::study::{Study, distinct, threads};
use crate::tables::{main_reads, main_writes};

type Percentile = (&'static str, fn(&Latency) -> u64);

const PERCENTILES: [Percentile; 6] = [
    ("p50", |l| l.p50_ns),
    ("p90", |l| l.p90_ns),
    ("p99", |l| l.p99_ns),
    ("p99.9", |l| l.p99_9_ns),
    ("p99.99", |l| l.p99_99_ns),
    ("max", |l| l.max_ns),
];

/// The latency of one side's calls for each number of threads, a line an engine. All have the same scale.
pub(crate) fn latencies(study: &Study<'_>, workload: &str, side: Side) -> Result<Vec<Figure>, ReportError> {
    let mut cells = study.running(workload);
    cells.retain(|cell| has(cell, side));
    let mut counts = distinct(cells.iter().map(|cell| (cell.key.readers, cell.key.writers)));
    counts.sort_unstable();
    let all: Vec<Line> = cells.iter().map(|cell| line(study, cell, side)).collect();
    let ns = all.iter().flat_map(|line| line.points.iter().flatten()).map(|point| 10f64.powf(point.y));
    let scale = Axis::latency(&format!("latency of {}", side.noun()), ns);
    counts.into_iter().map(|count| figure(study, &cells, count, side, scale.clone())).collect()
}

fn figure(
    study: &Study<'_>,
    cells: &[&Cell<'_>],
    (readers, writers): (u32, u32),
    side: Side,
    y: Axis,
) -> Result<Figure, ReportError> {
    let here = cells.iter().filter(|cell| (cell.key.readers, cell.key.writers) == (readers, writers));
    let caption = threads(readers, writers);
    let chart = Chart {
        description: format!("latency of {}, {caption}, percentile by percentile, a line for each engine", side.noun()),
        size: (480.0, 290.0),
        x: Axis::places("", &PERCENTILES.map(|(name, _)| name)),
        y,
        lines: here.map(|cell| line(study, cell, side)).collect(),
        markers: true,
    };
    Ok(Figure { svg: chart.draw()?, caption })
}

fn operations(result: &TrialResult, side: Side) -> Option<&Operations> {
    match side {
        Side::Reads => main_reads(result),
        Side::Writes => main_writes(result),
    }
}

fn has(cell: &Cell<'_>, side: Side) -> bool {
    cell.finished.iter().any(|result| operations(result, side).is_some())
}

fn line(study: &Study<'_>, cell: &Cell<'_>, side: Side) -> Line {
    let point = |(place, (_, pick)): (usize, &Percentile)| {
        let ns = cell.median(|result| operations(result, side).map(|o| pick(&o.latency) as f64))?;
        Some(Point { x: place as f64, y: ns.max(1.0).log10(), interval: None })
    };
    Line {
        name: cell.key.engine.clone(),
        place: study.engines().iter().position(|engine| *engine == cell.key.engine).unwrap_or(0),
        points: PERCENTILES.iter().enumerate().map(point).collect(),
    }
}
