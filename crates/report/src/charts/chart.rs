//! A chart of lines, each named at its right end.

use std::io;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::labels::spread;
use super::marker::marker;
use super::theme::{GRID, INK, MUTED, UNIT, font, px, series, stroke, themed, width};
use super::ticks::Axis;
use crate::ReportError;

const TEXT: f64 = 11.5;
const LABEL_GAP: f64 = 14.0;
const LEFT: f64 = 50.0;
const TOP: f64 = 24.0;

/// A chart of lines.
pub(super) struct Chart {
    /// What it shows, for those who cannot see it.
    pub(super) description: String,
    /// Pixels.
    pub(super) size: (f64, f64),
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) lines: Vec<Line>,
    /// Whether each point is marked, or only the line drawn.
    pub(super) markers: bool,
}

/// A line of a chart.
pub(super) struct Line {
    /// What its label says.
    pub(super) name: String,
    /// Decides its colour and its marker.
    pub(super) place: usize,
    /// From the left. The line is broken where a point is missing.
    pub(super) points: Vec<Option<Point>>,
}

/// A point of a line, in the coordinates of the axes.
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    /// The ends of its interval.
    pub(super) interval: Option<(f64, f64)>,
}

pub(super) type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<io::Error>>;
type Plot<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

impl From<DrawingAreaErrorKind<io::Error>> for ReportError {
    fn from(error: DrawingAreaErrorKind<io::Error>) -> Self {
        ReportError::Chart(error.to_string())
    }
}

/// A drawing of so many pixels as `<svg>`.
pub(super) fn drawn(
    (wide, high): (f64, f64),
    description: &str,
    draw: impl FnOnce(&Canvas<'_>) -> Drawn,
) -> Result<String, ReportError> {
    let mut svg = String::new();
    {
        let canvas = SVGBackend::with_string(&mut svg, (width(wide), width(high))).into_drawing_area();
        draw(&canvas)?;
        canvas.present()?;
    }
    Ok(themed(&svg, description))
}

/// Words at a place in pixels.
pub(super) fn words(canvas: &Canvas<'_>, text: &str, (x, y): (f64, f64), colour: RGBColor, at: (HPos, VPos)) -> Drawn {
    let style = ("sans-serif", font(TEXT), &colour).into_text_style(canvas).pos(Pos::new(at.0, at.1));
    canvas.draw_text(text, &style, (px(x), px(y)))
}

impl Chart {
    /// The chart as `<svg>`.
    pub(super) fn draw(&self) -> Result<String, ReportError> {
        drawn(self.size, &self.description, |canvas| self.draw_on(canvas))
    }

    fn draw_on(&self, canvas: &Canvas<'_>) -> Drawn {
        let mut plot = self.plot(canvas)?;
        self.axes(canvas, &mut plot)?;
        self.labels(canvas, &plot)?;
        for line in &self.lines {
            path(canvas, &plot, line, if self.markers { 1.8 } else { 1.3 })?;
        }
        if self.markers {
            self.lines.iter().try_for_each(|line| points(canvas, &plot, line))?;
        }
        Ok(())
    }

    fn plot<'a, 'b>(&self, canvas: &'a Canvas<'b>) -> Drawn<Plot<'a, 'b>> {
        ChartBuilder::on(canvas)
            .margin_top(px(TOP))
            .margin_right(px(self.right()))
            .set_label_area_size(LabelAreaPosition::Left, px(LEFT))
            .set_label_area_size(LabelAreaPosition::Bottom, px(self.bottom()))
            .build_cartesian_2d(self.x.clone(), self.y.clone())
    }

    /// Room for the marks of the axis, and for its title if it has one.
    fn bottom(&self) -> f64 {
        if self.x.title.is_empty() { 20.0 } else { 36.0 }
    }

    /// Room for the longest name.
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
        let (wide, high) = self.size;
        let middle = LEFT + (wide - LEFT - self.right()) / 2.0;
        words(canvas, &self.y.title, (4.0, 2.0), MUTED, (HPos::Left, VPos::Top))?;
        words(canvas, &self.x.title, (middle, high - 2.0), MUTED, (HPos::Center, VPos::Bottom))
    }

    /// Where a line ends, in the drawing's units. One without markers goes up and down, and ends at its usual height.
    fn end(&self, plot: &Plot<'_, '_>, line: &Line) -> Option<(i32, i32)> {
        let last = line.points.iter().flatten().last()?;
        let mut heights: Vec<f64> = line.points.iter().flatten().map(|point| point.y).collect();
        heights.sort_by(f64::total_cmp);
        match self.markers {
            true => Some(plot.backend_coord(&(last.x, last.y))),
            false => Some(plot.backend_coord(&(self.x.range.1, *heights.get(heights.len() / 2)?))),
        }
    }

    /// Each line's name at the right edge, at the height of its last point or as near as the others leave room, with a
    /// thin line between.
    fn labels(&self, canvas: &Canvas<'_>, plot: &Plot<'_, '_>) -> Drawn {
        let named: Vec<(&Line, (i32, i32))> =
            self.lines.iter().filter_map(|line| Some((line, self.end(plot, line)?))).collect();
        let wanted: Vec<f64> = named.iter().map(|(_, (_, y))| f64::from(*y) / f64::from(UNIT)).collect();
        let (wide, high) = self.size;
        let needed = TOP + 4.0 + LABEL_GAP * (wanted.len() as f64 - 1.0);
        let places = spread(&wanted, LABEL_GAP, TOP + 4.0, (high - self.bottom()).max(needed.min(high - 8.0)));
        let edge = wide - self.right();
        for ((line, from), place) in named.iter().zip(places) {
            let leader = [*from, (px(edge + 3.0), from.1), (px(edge + 12.0), px(place)), (px(edge + 15.0), px(place))];
            canvas.draw(&PathElement::new(leader, MUTED.mix(0.5).stroke_width(width(0.7))))?;
            marker(canvas, line.place, (px(edge + 20.0), px(place)))?;
            words(canvas, &line.name, (edge + 28.0, place), INK, (HPos::Left, VPos::Center))?;
        }
        Ok(())
    }
}

fn path(canvas: &Canvas<'_>, plot: &Plot<'_, '_>, line: &Line, pixels: f64) -> Drawn {
    for whole in line.points.split(Option::is_none) {
        let points: Vec<_> = whole.iter().flatten().map(|point| plot.backend_coord(&(point.x, point.y))).collect();
        canvas.draw(&PathElement::new(points, stroke(line.place).stroke_width(width(pixels))))?;
    }
    Ok(())
}

fn points(canvas: &Canvas<'_>, plot: &Plot<'_, '_>, line: &Line) -> Drawn {
    for point in line.points.iter().flatten() {
        if let Some((low, high)) = point.interval {
            let ends = [low, high].map(|end| plot.backend_coord(&(point.x, end)));
            interval(canvas, line.place, ends)?;
        }
        marker(canvas, line.place, plot.backend_coord(&(point.x, point.y)))?;
    }
    Ok(())
}

/// A thin upright line with feet.
fn interval(canvas: &Canvas<'_>, place: usize, [low, high]: [(i32, i32); 2]) -> Drawn {
    let style = series(place).stroke_width(width(1.2));
    let foot = |(x, y): (i32, i32)| PathElement::new([(x - px(3.5), y), (x + px(3.5), y)], style);
    canvas.draw(&PathElement::new([low, high], style))?;
    canvas.draw(&foot(low))?;
    canvas.draw(&foot(high))
}
