//! A chart of lines, each named at its right end.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{Canvas, Drawn, TEXT, drawn, whisker, words};
use super::marker::{hollow_marker, marker};
use super::spread::spread;
use super::theme::{GRID, INK, MUTED, UNIT, font, px, series, stroke, width};
use super::ticks::Axis;
use crate::error::ReportError;

const LABEL_GAP: f64 = 14.0;
const LEFT: f64 = 50.0;
const TOP: f64 = 24.0;

/// A chart of lines: what both painters draw, the one of SVG and the page's script.
pub(super) struct LineChart {
    /// Stands above it.
    pub(super) caption: String,
    /// The description of the chart for readers who cannot see it.
    pub(super) description: String,
    /// Pixels; many names make it higher.
    pub(super) size: (f64, f64),
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) lines: Vec<ChartLine>,
    /// Whether each point is marked, or only the line drawn.
    pub(super) has_markers: bool,
    /// Whether a line goes up and down, so that its name stands at its usual height and not where it ends.
    pub(super) is_restless: bool,
}

/// A line of a chart.
pub(super) struct ChartLine {
    /// Its label.
    pub(super) name: String,
    /// Decides its colour and its marker.
    pub(super) series: usize,
    /// The points from the left. The line is broken where a point is missing.
    pub(super) points: Vec<Option<Point>>,
}

/// A point of a line, in the coordinates of the axes.
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    /// The ends of its interval.
    pub(super) interval: Option<(f64, f64)>,
    /// Whether the engine hardly did anything here.
    pub(super) is_stall: bool,
}

impl Point {
    /// A point that has no interval and is no stall.
    pub(super) fn bare(x: f64, y: f64) -> Point {
        Point { x, y, interval: None, is_stall: false }
    }
}

type Plot<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

impl LineChart {
    /// The chart as `<svg>`.
    pub(super) fn draw(&self) -> Result<String, ReportError> {
        drawn(self.whole_size(), &self.description, |canvas| self.draw_on(canvas))
    }

    /// The size with room for all names beneath each other, pixels.
    fn whole_size(&self) -> (f64, f64) {
        let (wide, high) = self.size;
        (wide, high.max(TOP + 4.0 + LABEL_GAP * self.lines.len() as f64))
    }

    fn draw_on(&self, canvas: &Canvas<'_>) -> Drawn {
        let mut plot = self.plot(canvas)?;
        self.axes(canvas, &mut plot)?;
        self.labels(canvas, &plot)?;
        for line in &self.lines {
            path(canvas, &plot, line, self.y.range, if self.has_markers { 1.8 } else { 1.3 })?;
        }
        if self.has_markers {
            self.lines.iter().try_for_each(|line| points(canvas, &plot, line, self.y.range))?;
        }
        self.lines.iter().try_for_each(|line| stalls(canvas, &plot, line, self.y.range))
    }

    fn plot<'a, 'b>(&self, canvas: &'a Canvas<'b>) -> Drawn<Plot<'a, 'b>> {
        ChartBuilder::on(canvas)
            .margin_top(px(TOP))
            .margin_right(px(self.right()))
            .set_label_area_size(LabelAreaPosition::Left, px(LEFT))
            .set_label_area_size(LabelAreaPosition::Bottom, px(self.bottom()))
            .build_cartesian_2d(self.x.clone(), self.y.clone())
    }

    /// The height of the marks of the axis, and of its title if it has one, pixels.
    fn bottom(&self) -> f64 {
        if self.x.title.is_empty() { 20.0 } else { 36.0 }
    }

    /// The width of the longest name, pixels.
    fn right(&self) -> f64 {
        let longest = self.lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
        longest as f64 * TEXT * 0.54 + 34.0
    }

    fn axes<'b>(&self, canvas: &Canvas<'b>, plot: &mut Plot<'_, 'b>) -> Drawn {
        plot.configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID.stroke_width(width(1.0)))
            .axis_style(MUTED.stroke_width(width(1.0)))
            .set_all_tick_mark_size(px(3.0))
            .label_style(("sans-serif", font(TEXT), &MUTED))
            .draw()?;
        let (wide, high) = self.whole_size();
        let middle = LEFT + (wide - LEFT - self.right()) / 2.0;
        words(canvas, &self.y.title, (4.0, 2.0), MUTED, (HPos::Left, VPos::Top))?;
        words(canvas, &self.x.title, (middle, high - 2.0), MUTED, (HPos::Center, VPos::Bottom))
    }

    /// The position of a line's name, in the drawing's units: the line's last point, or, for a line that goes up and
    /// down, the right edge at its median height.
    fn end(&self, plot: &Plot<'_, '_>, line: &ChartLine) -> Option<(i32, i32)> {
        let last = line.points.iter().flatten().last()?;
        let mut heights: Vec<f64> = line.points.iter().flatten().map(|point| point.y).collect();
        heights.sort_by(f64::total_cmp);
        match self.is_restless {
            false => Some(at(plot, self.y.range, (last.x, last.y))),
            true => Some(at(plot, self.y.range, (self.x.range.1, *heights.get(heights.len() / 2)?))),
        }
    }

    /// Each line's name at the right edge, at the height of its last point or as near as the others allow, with a
    /// thin line between.
    fn labels(&self, canvas: &Canvas<'_>, plot: &Plot<'_, '_>) -> Drawn {
        let named: Vec<(&ChartLine, (i32, i32))> =
            self.lines.iter().filter_map(|line| Some((line, self.end(plot, line)?))).collect();
        let wanted: Vec<f64> = named.iter().map(|(_, (_, y))| f64::from(*y) / f64::from(UNIT)).collect();
        let (wide, high) = self.whole_size();
        let needed = TOP + 4.0 + LABEL_GAP * (wanted.len() as f64 - 1.0);
        let heights = spread(&wanted, LABEL_GAP, TOP + 4.0, (high - self.bottom()).max(needed.min(high - 8.0)));
        let edge = wide - self.right();
        for ((line, from), height) in named.iter().zip(heights) {
            let leader =
                [*from, (px(edge + 3.0), from.1), (px(edge + 12.0), px(height)), (px(edge + 15.0), px(height))];
            canvas.draw(&PathElement::new(leader, MUTED.mix(0.5).stroke_width(width(0.7))))?;
            marker(canvas, line.series, (px(edge + 20.0), px(height)))?;
            words(canvas, &line.name, (edge + 28.0, height), INK, (HPos::Left, VPos::Center))?;
        }
        Ok(())
    }
}

/// A point in the drawing's units. What lies beyond the axis stands at its end, as 0 does on a logarithmic one.
fn at(plot: &Plot<'_, '_>, (least, most): (f64, f64), (x, y): (f64, f64)) -> (i32, i32) {
    plot.backend_coord(&(x, y.clamp(least, most)))
}

fn path(canvas: &Canvas<'_>, plot: &Plot<'_, '_>, line: &ChartLine, ends: (f64, f64), pixels: f64) -> Drawn {
    for whole in line.points.split(Option::is_none) {
        let points: Vec<_> = whole.iter().flatten().map(|point| at(plot, ends, (point.x, point.y))).collect();
        canvas.draw(&PathElement::new(points, stroke(line.series).stroke_width(width(pixels))))?;
    }
    Ok(())
}

fn points(canvas: &Canvas<'_>, plot: &Plot<'_, '_>, line: &ChartLine, ends: (f64, f64)) -> Drawn {
    for point in line.points.iter().flatten() {
        if let Some((low, high)) = point.interval {
            let interval = [low, high].map(|end| at(plot, ends, (point.x, end)));
            whisker(canvas, series(line.series).stroke_width(width(1.2)), interval, (px(3.5), 0))?;
        }
        let mark = if point.interval.is_none() { hollow_marker } else { marker };
        mark(canvas, line.series, at(plot, ends, (point.x, point.y)))?;
    }
    Ok(())
}

/// A cross at each stall.
fn stalls(canvas: &Canvas<'_>, plot: &Plot<'_, '_>, line: &ChartLine, ends: (f64, f64)) -> Drawn {
    for point in line.points.iter().flatten().filter(|point| point.is_stall) {
        let at = at(plot, ends, (point.x, point.y));
        canvas.draw(&Cross::new(at, px(4.0), series(line.series).stroke_width(width(1.6))))?;
    }
    Ok(())
}
