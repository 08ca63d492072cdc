//! Marks of points. Each series has its own shape, so that colour alone need not distinguish them.

use plotters::prelude::*;

use super::canvas::{Canvas, Drawn};
use super::theme::{BACKGROUND, px, series, width};

/// Half the width of a mark, pixels.
const RADIUS: f64 = 3.6;

/// Corners of the shapes, the half width being 1. The first has none and is round.
const SHAPES: [&[(f64, f64)]; 6] = [
    &[],
    &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    &[(0.0, -1.2), (1.15, 0.85), (-1.15, 0.85)],
    &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
    &[(0.0, 1.2), (1.15, -0.85), (-1.15, -0.85)],
    &[(-1.1, 0.0), (-0.55, -1.0), (0.55, -1.0), (1.1, 0.0), (0.55, 1.0), (-0.55, 1.0)],
];

/// The mark of a series at a point in the drawing's units, with a rim that sets it off from what is beneath.
pub(super) fn marker(canvas: &Canvas<'_>, index: usize, at: (i32, i32)) -> Drawn {
    shape(canvas, index, at, RADIUS + 1.2, BACKGROUND)?;
    shape(canvas, index, at, RADIUS, series(index))
}

/// The mark of a point of which nothing tells how far another would come out: hollow.
pub(super) fn hollow_marker(canvas: &Canvas<'_>, index: usize, at: (i32, i32)) -> Drawn {
    marker(canvas, index, at)?;
    shape(canvas, index, at, RADIUS - 1.4, BACKGROUND)
}

/// The shape of a series, by its number.
pub(super) fn shape_of(index: usize) -> usize {
    index % SHAPES.len()
}

fn shape(canvas: &Canvas<'_>, index: usize, (x, y): (i32, i32), radius: f64, colour: RGBColor) -> Drawn {
    match SHAPES[shape_of(index)] {
        [] => canvas.draw(&Circle::new((x, y), width(radius), colour.filled())),
        corners => {
            let corner = |(right, down): &(f64, f64)| (x + px(right * radius), y + px(down * radius));
            canvas.draw(&Polygon::new(corners.iter().map(corner).collect::<Vec<_>>(), colour.filled()))
        }
    }
}
