//! What loading took, as bars.

use kvdyno_analysis::Cell;
use kvdyno_results::{Phase, TrialResult};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::Figure;
use super::chart::{Canvas, Drawn, drawn, words};
use super::theme::{GRID, INK, MUTED, px, series, width};
use super::ticks::Axis;
use crate::ReportError;
use crate::numbers::{clock, grouped, short};
use crate::study::{Study, distinct};

const WIDE: f64 = 480.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 34.0;
const BAND: f64 = 38.0;
const BAR: f64 = 9.0;

/// A bar of each engine: its words, the place of its colour, its figure.
type Part = (&'static str, usize, fn(&TrialResult) -> f64);

/// What a chart of bars shows.
struct Bars {
    caption: &'static str,
    unit: &'static str,
    parts: [Part; 3],
    /// How the figure at the end of a bar is printed.
    print: fn(f64) -> String,
}

const TIMES: Bars = Bars {
    caption: "Load times",
    unit: "seconds",
    parts: [("wall", 0, |r| r.os.wall_s), ("user", 2, |r| r.os.user_s), ("sys", 1, |r| r.os.sys_s)],
    print: clock,
};

const SIZES: Bars = Bars {
    caption: "Sizes after the load",
    unit: "KiB",
    parts: [
        ("database", 4, |r| r.space.db_kib as f64),
        ("process", 3, |r| r.process_kib() as f64),
        ("total", 6, |r| r.total_kib() as f64),
    ],
    print: grouped,
};

/// Times and sizes of each engine's load; none if nothing was loaded.
pub(crate) fn load_charts(study: &Study<'_>) -> Result<Vec<Figure>, ReportError> {
    let mut finished = study.cells(Phase::Load);
    finished.retain(|cell| !cell.finished.is_empty());
    let bars = if finished.is_empty() { Vec::new() } else { vec![TIMES, SIZES] };
    bars.into_iter().map(|bars| figure(&bars, &finished)).collect()
}

fn figure(bars: &Bars, cells: &[&Cell<'_>]) -> Result<Figure, ReportError> {
    let size = (WIDE, TOP + BAND * cells.len() as f64 + BOTTOM);
    let [first, second, third] = bars.parts.map(|(name, ..)| name);
    let description = format!("{}: {first}, {second} and {third} in {} for each engine", bars.caption, bars.unit);
    let svg = drawn(size, &description, |canvas| draw(canvas, bars, cells, size.1))?;
    Ok(Figure { caption: bars.caption.to_owned(), svg })
}

fn value(cell: &Cell<'_>, figure: fn(&TrialResult) -> f64) -> f64 {
    cell.median(|result| Some(figure(result))).unwrap_or(0.0)
}

fn draw(canvas: &Canvas<'_>, bars: &Bars, cells: &[&Cell<'_>], high: f64) -> Drawn {
    let all = cells.iter().flat_map(|cell| bars.parts.map(|(_, _, figure)| value(cell, figure)));
    let axis = Axis::from_zero(bars.unit, all.fold(0.0, f64::max), 5.0, short);
    let labels = labels(cells);
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let left = longest as f64 * 6.4 + 14.0;
    let right = WIDE - 60.0;
    let place = |value: f64| left + (right - left) * value / axis.range.1;
    scale(canvas, &axis, high, place)?;
    for (nth, (cell, label)) in cells.iter().zip(&labels).enumerate() {
        band(canvas, bars, (cell, label), TOP + BAND * nth as f64, place)?;
    }
    let edge = [(px(left), px(TOP - 4.0)), (px(left), px(high - BOTTOM))];
    canvas.draw(&PathElement::new(edge, MUTED.stroke_width(width(1.0))))?;
    legend(canvas, bars, left)
}

fn scale(canvas: &Canvas<'_>, axis: &Axis, high: f64, place: impl Fn(f64) -> f64) -> Drawn {
    let bottom = high - BOTTOM;
    for (at, text) in &axis.ticks {
        let x = place(*at);
        let line = [(px(x), px(TOP - 4.0)), (px(x), px(bottom))];
        canvas.draw(&PathElement::new(line, GRID.stroke_width(width(1.0))))?;
        words(canvas, text, (x, bottom + 4.0), MUTED, (HPos::Center, VPos::Top))?;
    }
    words(canvas, &axis.title, (place(axis.range.1 / 2.0), high - 2.0), MUTED, (HPos::Center, VPos::Bottom))
}

/// The engines; with what tells their loads apart, the variant or the workload, where there are several.
fn labels(cells: &[&Cell<'_>]) -> Vec<String> {
    let workloads = distinct(cells.iter().map(|cell| cell.key.workload.as_str()));
    let apart = |workload: &str| workload.split_once(", ").map_or(workload, |(_, variant)| variant).to_owned();
    let label = |cell: &&Cell<'_>| match workloads.len() {
        1 => cell.key.engine.clone(),
        _ => format!("{}, {}", cell.key.engine, apart(&cell.key.workload)),
    };
    cells.iter().map(label).collect()
}

fn band(
    canvas: &Canvas<'_>,
    bars: &Bars,
    (cell, label): (&Cell<'_>, &str),
    top: f64,
    place: impl Fn(f64) -> f64,
) -> Drawn {
    words(canvas, label, (place(0.0) - 8.0, top + BAND / 2.0 - 2.0), INK, (HPos::Right, VPos::Center))?;
    for (nth, (_, colour, figure)) in bars.parts.iter().enumerate() {
        let value = value(cell, *figure);
        let y = top + 3.0 + (BAR + 1.0) * nth as f64;
        let corners = [(px(place(0.0)), px(y)), (px(place(value)), px(y + BAR))];
        canvas.draw(&Rectangle::new(corners, series(*colour).filled()))?;
        if nth == 0 {
            words(canvas, &(bars.print)(value), (place(value) + 5.0, y + BAR / 2.0), INK, (HPos::Left, VPos::Center))?;
        }
    }
    Ok(())
}

fn legend(canvas: &Canvas<'_>, bars: &Bars, left: f64) -> Drawn {
    let mut x = left;
    for (name, colour, _) in &bars.parts {
        let corners = [(px(x), px(4.0)), (px(x + 12.0), px(14.0))];
        canvas.draw(&Rectangle::new(corners, series(*colour).filled()))?;
        words(canvas, name, (x + 17.0, 9.0), INK, (HPos::Left, VPos::Center))?;
        x += name.len() as f64 * 6.4 + 36.0;
    }
    Ok(())
}
