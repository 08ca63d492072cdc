//! Times, sizes, context switches and traffic of loads.

use kvdyno_model::text::{bytes, clock, short};
use kvdyno_results::{Phase, TrialResult};

use super::bar_chart::{BarChart, NamedBars};
use super::dot_chart::{DotChart, NamedDots};
use super::drawn::DrawnChart;
use super::height::Height;
use super::paint::{paint_bars, paint_dots};
use super::ticks::Axis;
use crate::error::ReportError;
use crate::order::distinct;
use crate::study::{Study, StudyCell};
use crate::tables::matters;

/// A bar of each engine: its words, the index of its colour, its figure.
type BarOfEach = (&'static str, usize, fn(&TrialResult) -> f64);

/// The subject of a chart of bars.
struct BarSubject {
    caption: &'static str,
    unit: &'static str,
    /// Whether the figures are bytes.
    is_bytes: bool,
    bars_of_each: &'static [BarOfEach],
    /// The function that prints the figure at the end of a bar.
    print: fn(f64) -> String,
}

const TIMES: BarSubject = BarSubject {
    caption: "Load times",
    unit: "seconds",
    is_bytes: false,
    bars_of_each: &[("wall", 0, |r| r.os.wall_s), ("user", 2, |r| r.os.user_s), ("sys", 1, |r| r.os.sys_s)],
    print: clock,
};

const SIZES: BarSubject = BarSubject {
    caption: "Sizes after the load",
    unit: "size",
    is_bytes: true,
    bars_of_each: &[
        ("database", 4, |r| 1024.0 * r.space.db_kib as f64),
        ("process", 3, |r| 1024.0 * r.process_kib() as f64),
        ("total", 6, |r| 1024.0 * r.total_kib() as f64),
    ],
    print: bytes,
};

const SWITCHES: BarSubject = BarSubject {
    caption: "Context switches of the load",
    unit: "switches",
    is_bytes: false,
    bars_of_each: &[
        ("voluntary", 3, |r| r.os.ctx_voluntary as f64),
        ("involuntary", 7, |r| r.os.ctx_involuntary as f64),
    ],
    print: short,
};

/// Times, sizes and context switches of each engine's load; and what it did to the storage, where that matters. None if
/// nothing was loaded.
pub(super) fn load_charts(study: &Study<'_>) -> Result<Vec<DrawnChart>, ReportError> {
    let mut finished = study.cells(Phase::Load);
    finished.retain(|cell| !cell.finished.is_empty());
    if finished.is_empty() {
        return Ok(Vec::new());
    }
    let bars = [TIMES, SIZES, SWITCHES].into_iter().map(|subject| paint_bars(&chart(&subject, &finished)));
    bars.chain(matters(study).then(|| paint_dots(&traffic(&finished)))).collect()
}

/// Engines differ in this by orders of magnitude, and a bar has no length on a logarithmic axis.
fn traffic(cells: &[&StudyCell<'_>]) -> DotChart {
    let dots = |name, style, figure: fn(&TrialResult) -> Option<f64>| NamedDots {
        name,
        style,
        of_each: cells.iter().map(|cell| Height::median(cell, figure)).collect(),
    };
    let dots = vec![
        dots("inputs", 0, TrialResult::fs_in_per_operation),
        dots("outputs", 1, TrialResult::fs_out_per_operation),
    ];
    let figures = dots.iter().flat_map(|dots| &dots.of_each).flatten().flat_map(|height| height.figures());
    DotChart {
        caption: "Filesystem inputs and outputs for each operation of the load".to_owned(),
        description: "Filesystem inputs and outputs for each operation of the load, a row for each engine".to_owned(),
        x: Axis::powers("blocks/op", figures),
        labels: labels(cells),
        dots,
        print: short,
    }
}

fn chart(subject: &BarSubject, cells: &[&StudyCell<'_>]) -> BarChart {
    let names: Vec<&str> = subject.bars_of_each.iter().map(|(name, ..)| *name).collect();
    let bar = |cell: &StudyCell<'_>, figure: fn(&TrialResult) -> f64| {
        Height::median(cell, |result| Some(figure(result))).unwrap_or(Height { value: 0.0, interval: None })
    };
    let named = |(name, colour, figure): &BarOfEach| NamedBars {
        name,
        colour: *colour,
        of_each: cells.iter().map(|cell| bar(cell, *figure)).collect(),
    };
    BarChart {
        caption: subject.caption,
        description: format!("{}: {} for each engine", subject.caption, names.join(", ")),
        unit: subject.unit,
        is_bytes: subject.is_bytes,
        labels: labels(cells),
        bars: subject.bars_of_each.iter().map(named).collect(),
        print: subject.print,
    }
}

/// The engines; with the variant or the workload where there are several loads of one.
fn labels(cells: &[&StudyCell<'_>]) -> Vec<String> {
    let workloads = distinct(cells.iter().map(|cell| cell.label.workload.as_str()));
    let load = |cell: &StudyCell<'_>| match cell.label.workload.strip_prefix(&format!("{}, ", cell.key.workload)) {
        Some(difference) => difference.to_owned(),
        None => cell.label.workload.clone(),
    };
    let label = |cell: &&StudyCell<'_>| match workloads.len() {
        1 => cell.label.engine.clone(),
        _ => format!("{}, {}", cell.label.engine, load(cell)),
    };
    cells.iter().map(label).collect()
}
