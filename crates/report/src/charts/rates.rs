//! Rates against threads.

use kvdyno_model::text::capital;
use kvdyno_results::Side;

use super::drawn::{DrawnChart, FurtherDrawing};
use super::height::Height;
use super::line_chart::{ChartLine, LineChart, Point};
use super::paint::paint_lines;
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
    let caption = format!("{} a second{without}", capital(&side.to_string()));
    let (chart, logarithmic) = charts(study, &cells, side, caption, workload);
    let twin = FurtherDrawing { words: "logarithmic".to_owned(), svg: logarithmic.draw()?, is_on_paper: true };
    Ok(Some(DrawnChart { further: vec![twin], ..paint_lines(&chart)? }))
}

/// The chart, and the same with a logarithmic axis.
fn charts(
    study: &Study<'_>,
    cells: &[&StudyCell<'_>],
    side: Side,
    caption: String,
    workload: &str,
) -> (LineChart, LineChart) {
    let height = |cell: &StudyCell<'_>| cell.rate(side).map(Height::estimate);
    let words = format!("{workload}: {side} a second against threads, a line for each engine");
    let unit = format!("{side}/s");
    let chart = |words: String, axis: &dyn Fn(&[Height]) -> Axis| {
        against_threads(study, cells, (caption.clone(), words), &height, axis)
    };
    let logarithmic = chart(format!("{words}, logarithmic"), &|heights| powers(&unit, heights));
    (chart(words, &|heights| Axis::rate(&unit, most(heights))), logarithmic)
}

/// The highest point of a chart, the ends of intervals among them.
pub(super) fn most(heights: &[Height]) -> f64 {
    heights.iter().map(|height| height.interval.map_or(height.value, |(_, high)| high)).fold(0.0, f64::max)
}

/// Whole powers of ten that hold all points. What is 0 stands at the lower end.
pub(super) fn powers(title: &str, heights: &[Height]) -> Axis {
    Axis::powers(title, heights.iter().flat_map(|height| height.figures()))
}

/// A figure of cells against the number of threads, a line an engine. `axis` makes the axis for all points.
pub(super) fn against_threads(
    study: &Study<'_>,
    cells: &[&StudyCell<'_>],
    (caption, description): (String, String),
    height: &dyn Fn(&StudyCell<'_>) -> Option<Height>,
    axis: impl FnOnce(&[Height]) -> Axis,
) -> LineChart {
    let by_readers = cells.iter().any(|cell| cell.key.readers > 0);
    let threads = |cell: &StudyCell<'_>| if by_readers { cell.key.readers } else { cell.key.writers };
    let mut counts = distinct(cells.iter().map(|cell| threads(cell)));
    counts.sort_unstable();
    let heights: Vec<Height> = cells.iter().filter_map(|cell| height(cell)).collect();
    let y = axis(&heights);
    let at = |height: Height| Height {
        value: y.coordinate(height.value),
        interval: height.interval.map(|(low, high)| (y.coordinate(low), y.coordinate(high))),
    };
    LineChart {
        caption,
        description,
        size: (480.0, 320.0),
        x: Axis::threads(if by_readers { "readers" } else { "clients" }, &counts),
        lines: lines(study, cells, &|cell| height(cell).map(at), by_readers),
        y,
        has_markers: true,
        is_restless: false,
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
    let has_points = |line: &ChartLine| line.points.iter().any(Option::is_some);
    groups.into_iter().map(line).filter(has_points).collect()
}

fn point(threads: u32, height: Height) -> Point {
    Point { interval: height.interval, ..Point::bare(f64::from(threads.max(1)).log2(), height.value) }
}
