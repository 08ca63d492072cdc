//! Cells as a table for programs: a row a cell, estimates with the ends of their intervals in columns beside them.

use kvdyno_analysis::Estimate;
use kvdyno_results::{Percentile, Phase, Side};
use serde_json::Value;

use crate::figures::{FigureSource, Unit, declared};
use crate::order::distinct;
use crate::remarks::{failure, reason};
use crate::study::{Study, StudyCell};

/// The cells of a study, loads first.
pub(crate) struct CellTable {
    /// Names of columns.
    pub(crate) columns: Vec<String>,
    /// A value for each column; null where there is none.
    pub(crate) rows: Vec<Vec<Value>>,
}

/// A row that is being made: names of columns with their values.
type Fields = Vec<(String, Value)>;

impl CellTable {
    /// The cells of a study.
    pub(super) fn of(study: &Study<'_>) -> CellTable {
        let cells = [Phase::Load, Phase::Run].into_iter().flat_map(|phase| study.cells(phase));
        let mut columns = Vec::new();
        let row = |cell: &StudyCell<'_>| {
            let fields = fields(cell);
            columns = fields.iter().map(|(name, _)| name.clone()).collect();
            fields.into_iter().map(|(_, value)| value).collect()
        };
        let rows = cells.map(row).collect();
        CellTable { columns, rows }
    }
}

/// The columns of a cell, which are the same for every cell, in the same order.
fn fields(cell: &StudyCell<'_>) -> Fields {
    let mut fields = identity(cell);
    for (name, estimate) in [
        ("reads_per_s", cell.reads_per_s.as_ref()),
        ("writes_per_s", cell.writes_per_s.as_ref()),
        ("wall_s", cell.wall_s.as_ref()),
    ] {
        let unit = if name == "wall_s" { Unit::Clock } else { Unit::PerSecond };
        fields.extend(with_interval(name, estimate, unit));
    }
    fields.extend(Side::ALL.into_iter().flat_map(|side| latencies(cell, side)));
    fields.extend(medians(cell));
    fields
}

/// The setup, how often it was measured, and the work.
fn identity(cell: &StudyCell<'_>) -> Fields {
    let first = cell.first();
    let given = |key: &str| {
        let figure = declared::first().into_iter().chain(declared::last()).find(|figure| figure.key == key);
        figure.zip(first).map_or(Value::Null, |(figure, first)| figure.value(first))
    };
    let reasons = distinct(cell.failed.iter().filter_map(|result| failure(result).map(reason)));
    let reasons = (!reasons.is_empty()).then(|| reasons.join("; "));
    let steady = cell.steadiness.as_ref().map(|told| told.steadiness.name());
    let mut fields: Fields = vec![
        ("engine".to_owned(), cell.key.engine.as_str().into()),
        ("phase".to_owned(), cell.key.phase.to_string().into()),
        ("readers".to_owned(), cell.key.readers.into()),
    ];
    fields.extend(NAMES.map(|name| (name.to_owned(), given(name))));
    fields.extend([
        ("finished".to_owned(), cell.finished.len().into()),
        ("failed".to_owned(), cell.failed.len().into()),
        ("reason".to_owned(), reasons.into()),
        ("steadiness".to_owned(), steady.into()),
    ]);
    fields.extend(WORK.map(|name| (name.to_owned(), given(name))));
    fields
}

/// Columns that are those of the tables of trials, of the cell's first.
const NAMES: [&str; 8] = ["preset", "version", "library", "variant", "workload", "writers", "clients", "tainted"];
const WORK: [&str; 10] = [
    "records",
    "key_size",
    "value_size",
    "batch",
    "durability",
    "cache_bytes",
    "write_buffer_bytes",
    "compression",
    "verify",
    "storage",
];

/// `NAME`, `NAME_low`, `NAME_high`.
fn with_interval(name: &str, estimate: Option<&Estimate>, unit: Unit) -> [(String, Value); 3] {
    let number = |value: Option<f64>| value.map_or(Value::Null, |value| unit.number(value));
    [
        (name.to_owned(), number(estimate.map(|estimate| estimate.value))),
        (format!("{name}_low"), number(estimate.and_then(|estimate| estimate.low))),
        (format!("{name}_high"), number(estimate.and_then(|estimate| estimate.high))),
    ]
}

/// The latencies of the kind of operation that the side made most of.
fn latencies(cell: &StudyCell<'_>, side: Side) -> Fields {
    let noun = side.verb();
    let latency = cell.main_latency(side);
    let whole = |name: &str, value: Option<u64>| (format!("{noun}_{name}"), Value::from(value));
    let mut fields = vec![
        (format!("{noun}_kind"), latency.map(|latency| latency.kind.word()).into()),
        whole("operations", latency.map(|latency| latency.operations)),
        whole("min_ns", latency.map(|latency| latency.latency.min_ns)),
        whole("mean_ns", latency.map(|latency| latency.latency.mean_ns)),
    ];
    for percentile in Percentile::ALL {
        let estimate = latency.map(|latency| latency.estimate(percentile));
        fields.extend(with_interval(&format!("{noun}_{}", percentile.key()), estimate.as_ref(), Unit::Nanos));
    }
    fields.push(whole("max_ns", latency.map(|latency| latency.latency.max_ns)));
    fields
}

/// Every other figure: its median over the finished trials.
fn medians(cell: &StudyCell<'_>) -> Fields {
    const ESTIMATED: [&str; 4] = ["reads_per_s", "writes_per_s", "wall_s", "records_per_s"];
    let figures = declared::first().into_iter().chain(declared::second()).filter(|figure| {
        let is_number = matches!(figure.reading, FigureSource::Number(..));
        is_number && !figure.of_failures && !ESTIMATED.contains(&figure.key)
    });
    let field = |figure: crate::figures::Figure| {
        let median = figure.median(cell).map_or(Value::Null, |value| figure.unit().number(value));
        (figure.key.to_owned(), median)
    };
    figures.map(field).collect()
}
