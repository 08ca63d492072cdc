//! Times and sizes of loads, as bars.

use kvdyno_results::{Phase, TrialResult};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{Canvas, Drawn, drawn, words};
use super::drawn::DrawnChart;
use super::theme::{GRID, INK, MUTED, px, series, width};
use super::ticks::Axis;
use crate::error::ReportError;
use crate::numbers::{clock, grouped, short};
use crate::order::distinct;
use crate::study::{Study, StudyCell};

const WIDE: f64 = 480.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 34.0;
const BAND: f64 = 38.0;
const BAR: f64 = 9.0;

/// A bar of each engine: its words, the index of its colour, its figure.
type BarOfEach = (&'static str, usize, fn(&TrialResult) -> f64);

/// A chart of bars.
struct Bars {
    caption: &'static str,
    unit: &'static str,
    bars_of_each: [BarOfEach; 3],
    /// How the figure at the end of a bar is printed.
    print: fn(f64) -> String,
}

const TIMES: Bars = Bars {
    caption: "Load times",
    unit: "seconds",
    bars_of_each: [("wall", 0, |r| r.os.wall_s), ("user", 2, |r| r.os.user_s), ("sys", 1, |r| r.os.sys_s)],
    print: clock,
};

const SIZES: Bars = Bars {
    caption: "Sizes after the load",
    unit: "KiB",
    bars_of_each: [
        ("database", 4, |r| r.space.db_kib as f64),
        ("process", 3, |r| r.process_kib() as f64),
        ("total", 6, |r| r.total_kib() as f64),
    ],
    print: grouped,
};

/// Times and sizes of each engine's load; none if nothing was loaded.
pub(super) fn load_charts(study: &Study<'_>) -> Result<Vec<DrawnChart>, ReportError> {
    let mut finished = study.cells(Phase::Load);
    finished.retain(|cell| !cell.finished.is_empty());
    let bars = if finished.is_empty() { Vec::new() } else { vec![TIMES, SIZES] };
    bars.into_iter().map(|bars| chart(&bars, &finished)).collect()
}

fn chart(bars: &Bars, cells: &[&StudyCell<'_>]) -> Result<DrawnChart, ReportError> {
    let size = (WIDE, TOP + BAND * cells.len() as f64 + BOTTOM);
    let [first, second, third] = bars.bars_of_each.map(|(name, ..)| name);
    let description = format!("{}: {first}, {second} and {third} in {} for each engine", bars.caption, bars.unit);
    let svg = drawn(size, &description, |canvas| draw(canvas, bars, cells, size.1))?;
    Ok(DrawnChart { caption: bars.caption.to_owned(), svg })
}

fn value(cell: &StudyCell<'_>, figure: fn(&TrialResult) -> f64) -> f64 {
    cell.median(|result| Some(figure(result))).unwrap_or(0.0)
}

fn draw(canvas: &Canvas<'_>, bars: &Bars, cells: &[&StudyCell<'_>], high: f64) -> Drawn {
    let all = cells.iter().flat_map(|cell| bars.bars_of_each.map(|(_, _, figure)| value(cell, figure)));
    let axis = Axis::from_zero(bars.unit, all.fold(0.0, f64::max), 5.0, short);
    let labels = labels(cells);
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let left = longest as f64 * 6.4 + 14.0;
    let right = WIDE - 60.0;
    let x_of = |value: f64| left + (right - left) * value / axis.range.1;
    scale(canvas, &axis, high, x_of)?;
    for (nth, (cell, label)) in cells.iter().zip(&labels).enumerate() {
        band(canvas, bars, (cell, label), TOP + BAND * nth as f64, x_of)?;
    }
    let edge = [(px(left), px(TOP - 4.0)), (px(left), px(high - BOTTOM))];
    canvas.draw(&PathElement::new(edge, MUTED.stroke_width(width(1.0))))?;
    legend(canvas, bars, left)
}

fn scale(canvas: &Canvas<'_>, axis: &Axis, high: f64, x_of: impl Fn(f64) -> f64) -> Drawn {
    let bottom = high - BOTTOM;
    for (at, text) in &axis.ticks {
        let x = x_of(*at);
        let line = [(px(x), px(TOP - 4.0)), (px(x), px(bottom))];
        canvas.draw(&PathElement::new(line, GRID.stroke_width(width(1.0))))?;
        words(canvas, text, (x, bottom + 4.0), MUTED, (HPos::Center, VPos::Top))?;
    }
    words(canvas, &axis.title, (x_of(axis.range.1 / 2.0), high - 2.0), MUTED, (HPos::Center, VPos::Bottom))
}

/// The engines; with the variant or the workload where there are several loads of one.
fn labels(cells: &[&StudyCell<'_>]) -> Vec<String> {
    let workloads = distinct(cells.iter().map(|cell| cell.label.workload.as_str()));
    let load = |cell: &StudyCell<'_>| match cell.label.workload.strip_prefix(&format!("{}, ", cell.key.workload)) {
        Some(difference) => difference.to_owned(),
        None => cell.label.workload.clone(),
    };
    let label = |cell: &&StudyCell<'_>| match workloads.len() {
        1 => cell.label.engine.clone(),
        _ => format!("{}, {}", cell.label.engine, load(cell)),
    };
    cells.iter().map(label).collect()
}

fn band(
    canvas: &Canvas<'_>,
    bars: &Bars,
    (cell, label): (&StudyCell<'_>, &str),
    top: f64,
    x_of: impl Fn(f64) -> f64,
) -> Drawn {
    words(canvas, label, (x_of(0.0) - 8.0, top + BAND / 2.0 - 2.0), INK, (HPos::Right, VPos::Center))?;
    for (nth, (_, colour, figure)) in bars.bars_of_each.iter().enumerate() {
        let value = value(cell, *figure);
        let y = top + 3.0 + (BAR + 1.0) * nth as f64;
        let corners = [(px(x_of(0.0)), px(y)), (px(x_of(value)), px(y + BAR))];
        canvas.draw(&Rectangle::new(corners, series(*colour).filled()))?;
        if nth == 0 {
            words(canvas, &(bars.print)(value), (x_of(value) + 5.0, y + BAR / 2.0), INK, (HPos::Left, VPos::Center))?;
        }
    }
    Ok(())
}

fn legend(canvas: &Canvas<'_>, bars: &Bars, left: f64) -> Drawn {
    let mut x = left;
    for (name, colour, _) in &bars.bars_of_each {
        let corners = [(px(x), px(4.0)), (px(x + 12.0), px(14.0))];
        canvas.draw(&Rectangle::new(corners, series(*colour).filled()))?;
        words(canvas, name, (x + 17.0, 9.0), INK, (HPos::Left, VPos::Center))?;
        x += name.len() as f64 * 6.4 + 36.0;
    }
    Ok(())
}
