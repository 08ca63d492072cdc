//! Cells as a table for programs: a row a cell, estimates with the ends of their intervals in columns beside them.

use kvdyno_analysis::Estimate;
use kvdyno_results::{Percentile, Phase, RequestedWork, Side};
use serde_json::Value;

use crate::figures::{Figure, FigureSource, Unit, declared};
use crate::order::distinct;
use crate::remarks::{failure, reason};
use crate::study::{Study, StudyCell};

/// The cells of a study, loads first.
pub(crate) struct CellTable {
    /// Names of columns.
    pub(crate) columns: Vec<String>,
    /// The type of each column's values where they are not null: `string`, `integer` or `number`.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet has types"))]
    pub(crate) kinds: Vec<&'static str>,
    /// A value for each column; null where there is none.
    pub(crate) rows: Vec<Vec<Value>>,
}

/// A field of a row that is being made: the name of its column, the type of that, and its value.
type CellField = (String, &'static str, Value);

impl CellTable {
    /// The cells of a study.
    pub(super) fn of(study: &Study<'_>) -> CellTable {
        let cells = [Phase::Load, Phase::Run].into_iter().flat_map(|phase| study.cells(phase));
        let rows: Vec<Vec<CellField>> = cells.map(fields).collect();
        let columns = rows.last().into_iter().flatten();
        CellTable {
            columns: columns.clone().map(|(name, ..)| name.clone()).collect(),
            kinds: columns.map(|(_, kind, _)| *kind).collect(),
            rows: rows.into_iter().map(|row| row.into_iter().map(|(.., value)| value).collect()).collect(),
        }
    }
}

/// The columns of a cell, which are the same for every cell, in the same order.
fn fields(cell: &StudyCell<'_>) -> Vec<CellField> {
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
fn identity(cell: &StudyCell<'_>) -> Vec<CellField> {
    let first = cell.first();
    let declared = || declared::first().into_iter().chain(declared::last());
    let given = |names: &[&str]| {
        let figures = names.iter().filter_map(|name| declared().find(|figure| figure.key == *name));
        let field = |figure: Figure| {
            (figure.key.to_owned(), figure.kind(), first.map_or(Value::Null, |first| figure.value(first)))
        };
        figures.map(field).collect::<Vec<_>>()
    };
    let reasons = distinct(cell.failed.iter().filter_map(|result| failure(result).map(reason)));
    let reasons = (!reasons.is_empty()).then(|| reasons.join("; "));
    let steady = cell.steadiness.as_ref().map(|told| told.steadiness.name());
    let mut fields: Vec<CellField> = vec![
        ("engine".to_owned(), "string", cell.key.engine.as_str().into()),
        ("phase".to_owned(), "string", cell.key.phase.to_string().into()),
        ("readers".to_owned(), "integer", cell.key.readers.into()),
    ];
    fields.extend(given(&NAMES));
    fields.extend([
        ("finished".to_owned(), "integer", cell.finished.len().into()),
        ("failed".to_owned(), "integer", cell.failed.len().into()),
        ("reason".to_owned(), "string", reasons.into()),
        ("steadiness".to_owned(), "string", steady.into()),
        ("keys".to_owned(), "string", keys(cell).into()),
    ]);
    fields.extend(given(&WORK));
    fields
}

/// The keys of its experiment that are of its work or settings, and their values, as a JSON object.
fn keys(cell: &StudyCell<'_>) -> Option<String> {
    serde_json::to_string(&RequestedWork::of(cell.first()?).key_words()).ok()
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
fn with_interval(name: &str, estimate: Option<&Estimate>, unit: Unit) -> [CellField; 3] {
    let number = |value: Option<f64>| value.map_or(Value::Null, |value| unit.number(value));
    [
        (name.to_owned(), "number", number(estimate.map(|estimate| estimate.value))),
        (format!("{name}_low"), "number", number(estimate.and_then(|estimate| estimate.low))),
        (format!("{name}_high"), "number", number(estimate.and_then(|estimate| estimate.high))),
    ]
}

/// The latencies of the kind of operation that the side made most of.
fn latencies(cell: &StudyCell<'_>, side: Side) -> Vec<CellField> {
    let noun = side.verb();
    let latency = cell.main_latency(side);
    let whole = |name: &str, kind, value: Option<u64>| (format!("{noun}_{name}"), kind, Value::from(value));
    let mut fields = vec![
        (format!("{noun}_kind"), "string", latency.map(|latency| latency.kind.word()).into()),
        whole("operations", "integer", latency.map(|latency| latency.operations)),
        whole("min_ns", "number", latency.map(|latency| latency.latency.min_ns)),
        whole("mean_ns", "number", latency.map(|latency| latency.latency.mean_ns)),
    ];
    for percentile in Percentile::ALL {
        let estimate = latency.map(|latency| latency.estimate(percentile));
        fields.extend(with_interval(&format!("{noun}_{}", percentile.key()), estimate.as_ref(), Unit::Nanos));
    }
    fields.push(whole("max_ns", "number", latency.map(|latency| latency.latency.max_ns)));
    fields
}

/// Every other figure: its median over the finished trials.
fn medians(cell: &StudyCell<'_>) -> Vec<CellField> {
    const ESTIMATED: [&str; 4] = ["reads_per_s", "writes_per_s", "wall_s", "records_per_s"];
    let figures = declared::first().into_iter().chain(declared::second()).filter(|figure| {
        let is_number = matches!(figure.reading, FigureSource::Number(..));
        is_number && !figure.of_failures && !ESTIMATED.contains(&figure.key)
    });
    let field = |figure: Figure| {
        let median = figure.median(cell).map_or(Value::Null, |value| figure.unit().number(value));
        (figure.key.to_owned(), "number", median)
    };
    figures.map(field).collect()
}
