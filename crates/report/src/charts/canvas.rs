//! The canvas of charts.

use std::io;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::theme::{font, px, themed, width};
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
