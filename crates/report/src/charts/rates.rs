//! Rates against threads.

use kvdyno_results::Side;

use super::drawn::{DrawnChart, noun, title};
use super::line_chart::{ChartLine, LineChart, Point};
use super::ticks::Axis;
use crate::error::ReportError;
use crate::order::distinct;
use crate::study::{Study, StudyCell};

/// The rate of one side against the number of threads, a line an engine; none if the workload does not do it.
pub(super) fn rates(study: &Study<'_>, workload: &str, side: Side) -> Result<Option<DrawnChart>, ReportError> {
    let mut cells = study.running(workload);
    let all = cells.len();
    cells.retain(|cell| !study.is_driver(cell));
    if cells.iter().all(|cell| cell.rate(side).is_none()) {
        return Ok(None);
    }
    let without = if cells.len() < all { ", without the null engine" } else { "" };
    let caption = format!("{} a second{without}", title(side));
    let chart = chart(study, &cells, side, workload);
    Ok(Some(DrawnChart { svg: chart.draw()?, caption }))
}

fn chart(study: &Study<'_>, cells: &[&StudyCell<'_>], side: Side, workload: &str) -> LineChart {
    let height = |cell: &StudyCell<'_>| {
        cell.rate(side).map(|rate| Height {
            value: rate.value,
            // The steadiness of one trial says nothing of how far another would come out.
            interval: rate.low.zip(rate.high).filter(|_| rate.n > 1),
            is_alone: rate.n < 2,
        })
    };
    let words = format!("{workload}: {} a second against threads, a line for each engine", noun(side));
    against_threads(study, cells, words, &height, |most| Axis::rate(&format!("{}/s", noun(side)), most))
}

/// The height of a point of a cell.
pub(super) struct Height {
    pub(super) value: f64,
    /// The ends of its interval.
    pub(super) interval: Option<(f64, f64)>,
    /// Whether it is of one repeat.
    pub(super) is_alone: bool,
}

/// A figure of cells against the number of threads, a line an engine. `axis` makes the axis for the highest point.
pub(super) fn against_threads(
    study: &Study<'_>,
    cells: &[&StudyCell<'_>],
    description: String,
    height: &dyn Fn(&StudyCell<'_>) -> Option<Height>,
    axis: impl FnOnce(f64) -> Axis,
) -> LineChart {
    let by_readers = cells.iter().any(|cell| cell.key.readers > 0);
    let threads = |cell: &StudyCell<'_>| if by_readers { cell.key.readers } else { cell.key.writers };
    let mut counts = distinct(cells.iter().map(|cell| threads(cell)));
    counts.sort_unstable();
    let heights = cells.iter().filter_map(|cell| height(cell));
    let most = heights.map(|height| height.interval.map_or(height.value, |(_, high)| high)).fold(0.0, f64::max);
    LineChart {
        description,
        size: (480.0, 320.0),
        x: Axis::threads(if by_readers { "readers" } else { "writers" }, &counts),
        y: axis(most),
        lines: lines(study, cells, height, by_readers),
        has_markers: true,
    }
}

/// A line for each engine, broken where all its trials failed; where both numbers of threads vary, for each engine and
/// number of writers.
fn lines(
    study: &Study<'_>,
    cells: &[&StudyCell<'_>],
    height: &dyn Fn(&StudyCell<'_>) -> Option<Height>,
    by_readers: bool,
) -> Vec<ChartLine> {
    let engines = study.engines();
    let writers = |cell: &StudyCell<'_>| if by_readers { cell.key.writers } else { 0 };
    let vary = distinct(cells.iter().map(|cell| writers(cell))).len() > 1;
    let groups = distinct(cells.iter().map(|cell| (cell.label.engine.as_str(), writers(cell))));
    let line = |(engine, count): (&str, u32)| {
        let mut points: Vec<(u32, Option<Point>)> = cells
            .iter()
            .filter(|cell| cell.label.engine == engine && writers(cell) == count)
            .map(|cell| {
                let threads = if by_readers { cell.key.readers } else { cell.key.writers };
                (threads, height(cell).map(|height| point(threads, height)))
            })
            .collect();
        points.sort_by_key(|(threads, _)| *threads);
        ChartLine {
            name: if vary { format!("{engine}, {count} w") } else { engine.to_owned() },
            series: engines.iter().position(|name| *name == engine).unwrap_or(0),
            points: points.into_iter().map(|(_, point)| point).collect(),
        }
    };
    groups.into_iter().map(line).collect()
}

fn point(threads: u32, height: Height) -> Point {
    Point { x: f64::from(threads.max(1)).log2(), y: height.value, interval: height.interval, is_alone: height.is_alone }
}
