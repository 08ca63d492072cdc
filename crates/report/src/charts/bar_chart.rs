//! A chart of bars, a group of them for each label.

use kvdyno_model::text::short;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{Canvas, Drawn, drawn, scale, whisker, words};
use super::height::Height;
use super::theme::{BACKGROUND, INK, MUTED, px, series, width};
use super::ticks::Axis;
use crate::error::ReportError;

const WIDE: f64 = 480.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 34.0;
const BAND: f64 = 38.0;
const BAR: f64 = 9.0;

/// A chart of bars: what both painters draw, the one of SVG and the page's script.
pub(super) struct BarChart {
    /// Stands above it.
    pub(super) caption: &'static str,
    /// The description of the chart for readers who cannot see it.
    pub(super) description: String,
    pub(super) unit: &'static str,
    /// Whether the figures are bytes.
    pub(super) is_bytes: bool,
    /// The labels of the groups of bars, from the top.
    pub(super) labels: Vec<String>,
    /// The bars, those of one name together.
    pub(super) bars: Vec<NamedBars>,
    /// The function that prints the figure at the end of a bar.
    pub(super) print: fn(f64) -> String,
}

/// Bars of one name and colour.
pub(super) struct NamedBars {
    pub(super) name: &'static str,
    pub(super) colour: usize,
    /// A bar for each label.
    pub(super) of_each: Vec<Height>,
}

impl BarChart {
    /// The chart as `<svg>`.
    pub(super) fn draw(&self) -> Result<String, ReportError> {
        let high = TOP + BAND * self.labels.len() as f64 + BOTTOM;
        drawn((WIDE, high), &self.description, |canvas| draw(canvas, self, high))
    }
}

fn draw(canvas: &Canvas<'_>, chart: &BarChart, high: f64) -> Drawn {
    let all = chart.bars.iter().flat_map(|bars| &bars.of_each);
    let most = all.map(|bar| bar.interval.map_or(bar.value, |(_, high)| high)).fold(0.0, f64::max);
    let axis = match chart.is_bytes {
        true => Axis::bytes(chart.unit, most),
        false => Axis::from_zero(chart.unit, most, 5.0, short),
    };
    let longest = chart.labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let left = longest as f64 * 6.4 + 14.0;
    let right = WIDE - 60.0;
    let x_of = |value: f64| left + (right - left) * value / axis.range.1;
    scale(canvas, &axis, (TOP - 4.0, high - BOTTOM, high), (left + right) / 2.0, x_of)?;
    for (nth, label) in chart.labels.iter().enumerate() {
        band(canvas, chart, (nth, label), x_of)?;
    }
    let edge = [(px(left), px(TOP - 4.0)), (px(left), px(high - BOTTOM))];
    canvas.draw(&PathElement::new(edge, MUTED.stroke_width(width(1.0))))?;
    legend(canvas, chart, left)
}

fn band(canvas: &Canvas<'_>, chart: &BarChart, (nth, label): (usize, &str), x_of: impl Fn(f64) -> f64) -> Drawn {
    let top = TOP + BAND * nth as f64;
    words(canvas, label, (x_of(0.0) - 8.0, top + BAND / 2.0 - 2.0), INK, (HPos::Right, VPos::Center))?;
    for (row, bars) in chart.bars.iter().enumerate() {
        let Some(bar) = bars.of_each.get(nth) else { continue };
        let y = top + 3.0 + (BAR + 1.0) * row as f64;
        one_bar(canvas, bars.colour, bar, y, &x_of)?;
        if row == 0 {
            let end = x_of(bar.interval.map_or(bar.value, |(_, high)| high));
            words(canvas, &(chart.print)(bar.value), (end + 5.0, y + BAR / 2.0), INK, (HPos::Left, VPos::Center))?;
        }
    }
    Ok(())
}

/// A bar with its interval; one that has none is hollow.
fn one_bar(canvas: &Canvas<'_>, colour: usize, bar: &Height, y: f64, x_of: impl Fn(f64) -> f64) -> Drawn {
    let corners = |rim: f64| [(px(x_of(0.0)), px(y + rim)), (px(x_of(bar.value) - rim), px(y + BAR - rim))];
    canvas.draw(&Rectangle::new(corners(0.0), series(colour).filled()))?;
    let Some((low, high)) = bar.interval else {
        let is_wide = x_of(bar.value) - x_of(0.0) > 3.0;
        return if is_wide { canvas.draw(&Rectangle::new(corners(1.2), BACKGROUND.filled())) } else { Ok(()) };
    };
    let ends = [low, high].map(|end| (px(x_of(end)), px(y + BAR / 2.0)));
    whisker(canvas, INK.stroke_width(width(1.0)), ends, (0, px(2.5)))
}

fn legend(canvas: &Canvas<'_>, chart: &BarChart, left: f64) -> Drawn {
    let mut x = left;
    for bars in &chart.bars {
        let corners = [(px(x), px(4.0)), (px(x + 12.0), px(14.0))];
        canvas.draw(&Rectangle::new(corners, series(bars.colour).filled()))?;
        words(canvas, bars.name, (x + 17.0, 9.0), INK, (HPos::Left, VPos::Center))?;
        x += bars.name.len() as f64 * 6.4 + 36.0;
    }
    Ok(())
}
