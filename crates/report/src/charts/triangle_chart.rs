//! A chart of triangles: three figures of each series on axes of one logarithmic scale that begin in the middle.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{Canvas, Drawn, TEXT, drawn, words};
use super::height::Height;
use super::marker::{hollow_marker, marker};
use super::theme::{GRID, INK, MUTED, px, series, stroke, width};
use super::ticks::Axis;
use crate::error::ReportError;

const WIDE: f64 = 480.0;
const RADIUS: f64 = 150.0;
const MIDDLE: (f64, f64) = (240.0, 184.0);
/// The lowest corner, and what is named below it.
const LEGEND_TOP: f64 = 296.0;
const LEGEND_ROW: f64 = 18.0;

/// A chart of triangles: what both painters draw, the one of SVG and the page's script.
pub(super) struct TriangleChart {
    /// Stands above it.
    pub(super) caption: String,
    /// The description of the chart for readers who cannot see it.
    pub(super) description: String,
    /// The scale of all three axes.
    pub(super) axis: Axis,
    /// The labels of the corners, from the top against the clock.
    pub(super) labels: [String; 3],
    pub(super) corners: Vec<Corners>,
}

/// The figures of a series.
pub(super) struct Corners {
    pub(super) name: String,
    /// Decides colour and mark.
    pub(super) style: usize,
    pub(super) of_each: [Height; 3],
}

impl TriangleChart {
    /// The chart as `<svg>`.
    pub(super) fn draw(&self) -> Result<String, ReportError> {
        let rows = self.legend_rows();
        let last = rows.last().map_or(0.0, |(_, _, y)| *y);
        drawn((WIDE, last + LEGEND_ROW), &self.description, |canvas| {
            self.scale(canvas)?;
            self.corners.iter().try_for_each(|corners| self.triangle(canvas, corners))?;
            rows.iter().try_for_each(|(corners, x, y)| {
                self.mark(canvas, corners, (px(x + 5.0), px(*y)))?;
                words(canvas, &corners.name, (x + 14.0, *y), INK, (HPos::Left, VPos::Center))
            })
        })
    }

    /// The place of a part of an axis, units of the drawing.
    fn at(nth: usize, part: f64) -> (i32, i32) {
        let angle = std::f64::consts::TAU * nth as f64 / 3.0;
        (px(MIDDLE.0 - RADIUS * part * angle.sin()), px(MIDDLE.1 - RADIUS * part * angle.cos()))
    }

    fn scale(&self, canvas: &Canvas<'_>) -> Drawn {
        for (coordinate, text) in &self.axis.ticks {
            let part = self.axis.part(self.axis.figure(*coordinate));
            // The ring of what was asked stands out.
            let colour = if *coordinate == 0.0 { MUTED } else { GRID };
            let ring: Vec<_> = [0, 1, 2, 0].map(|nth| Self::at(nth, part)).to_vec();
            canvas.draw(&PathElement::new(ring, colour.stroke_width(width(1.0))))?;
            let y = MIDDLE.1 - RADIUS * part;
            words(canvas, text, (MIDDLE.0 - 5.0, y), MUTED, (HPos::Right, VPos::Center))?;
        }
        for nth in 0..3 {
            let axis = [Self::at(nth, 0.0), Self::at(nth, 1.0)];
            canvas.draw(&PathElement::new(axis, GRID.stroke_width(width(1.0))))?;
        }
        let (left, right, low) = (MIDDLE.0 - RADIUS * 0.87, MIDDLE.0 + RADIUS * 0.87, MIDDLE.1 + RADIUS / 2.0 + 10.0);
        let top = MIDDLE.1 - RADIUS - 10.0;
        words(canvas, &self.axis.title, (4.0, 2.0), MUTED, (HPos::Left, VPos::Top))?;
        words(canvas, &self.labels[0], (MIDDLE.0, top), INK, (HPos::Center, VPos::Bottom))?;
        words(canvas, &self.labels[1], (left, low), INK, (HPos::Center, VPos::Top))?;
        words(canvas, &self.labels[2], (right, low), INK, (HPos::Center, VPos::Top))
    }

    fn triangle(&self, canvas: &Canvas<'_>, corners: &Corners) -> Drawn {
        let points = [0, 1, 2].map(|nth| Self::at(nth, self.axis.part(corners.of_each[nth].value)));
        let [first, second, third] = points;
        let line = stroke(corners.style).stroke_width(width(1.8));
        canvas.draw(&PathElement::new([first, second, third, first], line))?;
        for (nth, height) in corners.of_each.iter().enumerate() {
            if let Some((low, high)) = height.interval {
                let ends = [low, high].map(|end| Self::at(nth, self.axis.part(end)));
                canvas.draw(&PathElement::new(ends, series(corners.style).stroke_width(width(1.2))))?;
            }
        }
        points.into_iter().try_for_each(|point| self.mark(canvas, corners, point))
    }

    /// Hollow if nothing tells how far another repeat would come out.
    fn mark(&self, canvas: &Canvas<'_>, corners: &Corners, at: (i32, i32)) -> Drawn {
        let is_hollow = corners.of_each.iter().all(|height| height.interval.is_none());
        let mark = if is_hollow { hollow_marker } else { marker };
        mark(canvas, corners.style, at)
    }

    /// The names beneath the chart, as many beside each other as fit: where each stands, pixels.
    fn legend_rows(&self) -> Vec<(&Corners, f64, f64)> {
        let (mut x, mut y) = (14.0, LEGEND_TOP);
        let mut rows = Vec::new();
        for corners in &self.corners {
            let wide = corners.name.chars().count() as f64 * TEXT * 0.56 + 30.0;
            if x + wide > WIDE && x > 14.0 {
                (x, y) = (14.0, y + LEGEND_ROW);
            }
            rows.push((corners, x, y));
            x += wide;
        }
        rows
    }
}
