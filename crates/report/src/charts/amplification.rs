//! Read, update and space amplification of engines: where each has made its choice between the three.

use kvdyno_model::text::threads;
use kvdyno_results::{Phase, TrialResult};

use super::drawn::DrawnChart;
use super::height::Height;
use super::paint::paint_triangle;
use super::ticks::Axis;
use super::triangle_chart::{Corners, TriangleChart};
use crate::error::ReportError;
use crate::figures::amplification::{CALL_READ_AMPLIFICATION, CALL_WRITE_AMPLIFICATION, SPACE_AMPLIFICATION};
use crate::figures::{Figure, FigureSource};
use crate::study::{Study, StudyCell};

/// Below this nothing is told apart: all came from memory.
const LEAST: f64 = 0.01;

/// A triangle for the fewest clients that a workload had; none if it has no engine of which all three are known.
pub(super) fn amplification(study: &Study<'_>, workload: &str) -> Result<Vec<DrawnChart>, ReportError> {
    let mut cells = study.running(workload);
    cells.retain(|cell| !study.is_driver(cell));
    let Some(fewest) = cells.iter().map(|cell| (cell.key.readers, cell.key.writers)).min() else {
        return Ok(Vec::new());
    };
    cells.retain(|cell| (cell.key.readers, cell.key.writers) == fewest);
    chart(study, &cells, workload, threads(fewest.0, fewest.1))
        .map(|chart| paint_triangle(&chart))
        .into_iter()
        .collect()
}

fn chart(study: &Study<'_>, cells: &[&StudyCell<'_>], workload: &str, clients: String) -> Option<TriangleChart> {
    let updates = cells.iter().any(|cell| height(cell, CALL_WRITE_AMPLIFICATION).is_some());
    let corners = |cell: &&StudyCell<'_>| {
        let updating = if updates { Some(*cell) } else { loaded(study, cell) };
        let name = cell.label.engine.clone();
        Some(Corners {
            style: study.engines().iter().position(|engine| *engine == name).unwrap_or(0),
            of_each: [
                height(cell, CALL_READ_AMPLIFICATION)?,
                height(updating?, CALL_WRITE_AMPLIFICATION)?,
                height(cell, SPACE_AMPLIFICATION)?,
            ],
            name,
        })
    };
    let all: Vec<Corners> = cells.iter().filter_map(corners).collect();
    let figures = all.iter().flat_map(|corners| &corners.of_each).map(|height| height.value.max(LEAST));
    // The ring of what was asked is always there.
    let axis = Axis::powers("bytes for each byte", figures.chain([1.0]));
    let of_load = if updates { "" } else { "; updates are the load's" };
    (!all.is_empty()).then(|| TriangleChart {
        caption: format!("Read, update and space amplification, {clients}{of_load}"),
        description: format!(
            "{workload}: bytes of the engine's calls and of its database for each byte of keys and values, {clients}, \
             a triangle for each engine: the smaller, the less"
        ),
        axis,
        labels: ["read", "update", "space"].map(str::to_owned),
        corners: all,
    })
}

/// The load of the database that a cell ran on.
fn loaded<'a, 'b>(study: &'a Study<'b>, cell: &StudyCell<'_>) -> Option<&'a StudyCell<'b>> {
    let of_same = |load: &&StudyCell<'_>| load.key.engine == cell.key.engine && load.key.variant == cell.key.variant;
    study.cells(Phase::Load).into_iter().find(of_same)
}

fn height(cell: &StudyCell<'_>, figure: Figure) -> Option<Height> {
    let FigureSource::Number(_, read) = figure.reading else { return None };
    Height::median(cell, |result: &TrialResult| read(result))
}
