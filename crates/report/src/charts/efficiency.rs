//! Scaling efficiency: the rate of many threads over as many times that of the fewest.

use kvdyno_model::text::{capital, short};
use kvdyno_results::Side;

use super::drawn::DrawnChart;
use super::height::Height;
use super::paint::paint_lines;
use super::rates::{against_threads, most};
use super::ticks::Axis;
use crate::error::ReportError;
use crate::order::distinct;
use crate::study::{Study, StudyCell};

/// The chart of one side, a line an engine; none where only one number of threads ran.
pub(super) fn efficiency(study: &Study<'_>, workload: &str, side: Side) -> Result<Option<DrawnChart>, ReportError> {
    let mut cells = study.running(workload);
    cells.retain(|cell| !study.is_driver(cell));
    let height = |cell: &StudyCell<'_>| height(cell, &cells, side);
    let counts = distinct(cells.iter().map(|cell| of_side(cell, side)));
    if counts.len() < 2 || cells.iter().filter_map(|cell| height(cell)).count() == 0 {
        return Ok(None);
    }
    let caption = format!("{}: scaling efficiency", capital(&side.to_string()));
    let words = format!("{workload}: rate of {side} of each thread over that with the fewest, a line an engine");
    let axis = |all: &[Height]| Axis::from_zero("efficiency (1: scales fully)", most(all).clamp(1.0, 4.0), 5.0, short);
    paint_lines(&against_threads(study, &cells, (caption, words), &height, axis)).map(Some)
}

/// Threads that do this work.
fn of_side(cell: &StudyCell<'_>, side: Side) -> u32 {
    match side {
        Side::Reads => cell.key.readers,
        Side::Writes => cell.key.writers,
    }
}

/// The interval is that of the cell's own rate: the fewest threads' is the measure.
fn height(cell: &StudyCell<'_>, cells: &[&StudyCell<'_>], side: Side) -> Option<Height> {
    let rate = cell.rate(side)?;
    let other = |it: &StudyCell<'_>| if side == Side::Reads { it.key.writers } else { it.key.readers };
    let alike = cells.iter().filter(|it| it.label.engine == cell.label.engine && other(it) == other(cell));
    let least = alike.filter(|it| it.rate(side).is_some()).min_by_key(|it| of_side(it, side))?;
    let (threads, fewest) = (f64::from(of_side(cell, side)), f64::from(of_side(least, side)));
    let whole = least.rate(side)?.value * threads / fewest;
    let interval = rate.low.zip(rate.high).filter(|_| rate.n > 1);
    (whole > 0.0).then(|| Height {
        value: rate.value / whole,
        interval: interval.map(|(low, high)| (low / whole, high / whole)),
    })
}
