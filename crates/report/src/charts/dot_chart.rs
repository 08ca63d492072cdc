//! A chart of dots, a row for each label: figures of several origins beneath each other.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{Canvas, Drawn, drawn, scale, whisker, words};
use super::height::Height;
use super::marker::{hollow_marker, marker};
use super::theme::{INK, MUTED, px, series, width};
use super::ticks::Axis;
use crate::error::ReportError;

const WIDE: f64 = 480.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 36.0;
/// The height of a label above its dots. It may be as long as the chart is wide.
const LABEL: f64 = 17.0;
const ROW: f64 = 13.0;
const LEFT: f64 = 14.0;
/// Has the figure of a dot that lies at the end of the axis.
const RIGHT: f64 = 66.0;

/// A chart of dots: what both painters draw, the one of SVG and the page's script.
pub(super) struct DotChart {
    /// Stands above it.
    pub(super) caption: String,
    /// The description of the chart for readers who cannot see it.
    pub(super) description: String,
    pub(super) x: Axis,
    /// The labels of the rows, from the top.
    pub(super) labels: Vec<String>,
    pub(super) dots: Vec<NamedDots>,
    /// The function that prints the figure beside a dot.
    pub(super) print: fn(f64) -> String,
}

/// Dots of one name, colour and shape.
pub(super) struct NamedDots {
    pub(super) name: &'static str,
    pub(super) style: usize,
    /// A dot for each label, in figures; absent where there is none.
    pub(super) of_each: Vec<Option<Height>>,
}

impl DotChart {
    /// The chart as `<svg>`.
    pub(super) fn draw(&self) -> Result<String, ReportError> {
        let high = TOP + self.band() * self.labels.len() as f64 + BOTTOM;
        drawn((WIDE, high), &self.description, |canvas| self.draw_on(canvas, high))
    }

    /// The height of a label with its dots, pixels.
    fn band(&self) -> f64 {
        LABEL + ROW * self.dots.len() as f64 + 4.0
    }

    fn draw_on(&self, canvas: &Canvas<'_>, high: f64) -> Drawn {
        let middle = LEFT + (WIDE - RIGHT - LEFT) / 2.0;
        scale(canvas, &self.x, (TOP - 4.0, high - BOTTOM, high), middle, |figure| self.x_of(figure))?;
        for (nth, label) in self.labels.iter().enumerate() {
            let top = TOP + self.band() * nth as f64;
            words(canvas, label, (LEFT, top + 2.0), INK, (HPos::Left, VPos::Top))?;
            for (row, dots) in self.dots.iter().enumerate() {
                let Some(height) = dots.of_each.get(nth).copied().flatten() else { continue };
                self.dot(canvas, dots.style, height, top + LABEL + ROW * (row as f64 + 0.5))?;
            }
        }
        self.legend(canvas)
    }

    /// The place of a figure, pixels.
    fn x_of(&self, figure: f64) -> f64 {
        LEFT + (WIDE - RIGHT - LEFT) * self.x.part(figure)
    }

    /// A dot with its interval and its figure; one that has no interval is hollow.
    fn dot(&self, canvas: &Canvas<'_>, style: usize, height: Height, y: f64) -> Drawn {
        let at = (px(self.x_of(height.value)), px(y));
        let end = match height.interval {
            None => {
                hollow_marker(canvas, style, at)?;
                height.value
            }
            Some((low, high)) => {
                let ends = [low, high].map(|end| (px(self.x_of(end)), px(y)));
                whisker(canvas, series(style).stroke_width(width(1.2)), ends, (0, px(3.5)))?;
                marker(canvas, style, at)?;
                high
            }
        };
        let x = self.x_of(end.max(height.value)) + 8.0;
        words(canvas, &(self.print)(height.value), (x, y), MUTED, (HPos::Left, VPos::Center))
    }

    fn legend(&self, canvas: &Canvas<'_>) -> Drawn {
        let mut x = LEFT;
        for dots in &self.dots {
            let is_hollow = dots.of_each.iter().flatten().all(|dot| dot.interval.is_none());
            let mark = if is_hollow { hollow_marker } else { marker };
            mark(canvas, dots.style, (px(x + 5.0), px(10.0)))?;
            words(canvas, dots.name, (x + 14.0, 10.0), INK, (HPos::Left, VPos::Center))?;
            x += dots.name.len() as f64 * 6.4 + 36.0;
        }
        Ok(())
    }
}
