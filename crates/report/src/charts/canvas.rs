//! The canvas of charts.

use std::io;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::theme::{GRID, MUTED, font, px, themed, width};
use super::ticks::Axis;
use crate::error::ReportError;

/// The size of words, pixels.
pub(super) const TEXT: f64 = 11.5;

pub(super) type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<io::Error>>;

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

/// Words at a point in pixels.
pub(super) fn words(canvas: &Canvas<'_>, text: &str, (x, y): (f64, f64), colour: RGBColor, at: (HPos, VPos)) -> Drawn {
    let style = ("sans-serif", font(TEXT), &colour).into_text_style(canvas).pos(Pos::new(at.0, at.1));
    canvas.draw_text(text, &style, (px(x), px(y)))
}

/// The axis of a chart of rows that begin `top` pixels and end `bottom` pixels below the upper edge: a line and words
/// at each mark, `x_of` telling where a figure is, and the title in the `middle` of what is left of `high` pixels.
pub(super) fn scale(
    canvas: &Canvas<'_>,
    axis: &Axis,
    (top, bottom, high): (f64, f64, f64),
    middle: f64,
    x_of: impl Fn(f64) -> f64,
) -> Drawn {
    for (at, text) in &axis.ticks {
        let x = x_of(axis.figure(*at));
        let line = [(px(x), px(top)), (px(x), px(bottom))];
        canvas.draw(&PathElement::new(line, GRID.stroke_width(width(1.0))))?;
        words(canvas, text, (x, bottom + 4.0), MUTED, (HPos::Center, VPos::Top))?;
    }
    words(canvas, &axis.title, (middle, high - 2.0), MUTED, (HPos::Center, VPos::Bottom))
}

/// The line of an interval between its ends, with a foot at each, all in the drawing's units: a foot goes by its
/// last argument to either side.
pub(super) fn whisker(
    canvas: &Canvas<'_>,
    style: ShapeStyle,
    ends: [(i32, i32); 2],
    (right, down): (i32, i32),
) -> Drawn {
    canvas.draw(&PathElement::new(ends, style))?;
    let foot = |(x, y): (i32, i32)| PathElement::new([(x - right, y - down), (x + right, y + down)], style);
    ends.into_iter().try_for_each(|end| canvas.draw(&foot(end)))
}
