//! The columns of CSV and of the rows in JSON: first those of the published tables, under their names and in their
//! order, then ours. A failed trial has its names, its outcome and its reason, and no figures.

use kvdyno_results::{FigureValue, Latency, Percentile, Phase, Side, TrialResult};
use serde_json::Value;

use super::declared::{first, last, second};
use super::{Figure, Unit};

/// A column of the tables of trials; `Null` is an empty field.
pub(crate) struct TrialColumn {
    /// Its name.
    pub(crate) name: String,
    /// Its head in tables for people; empty if none has it.
    head: &'static str,
    /// Its unit's name; may be empty.
    unit: &'static str,
    /// One clause; empty for a workload's own figures, which the workload explains.
    pub(crate) meaning: String,
    /// Its type in JSON where it is not null: `string`, `integer` or `number`.
    pub(crate) kind: &'static str,
    /// The only phase that has it; both, if absent.
    phase: Option<Phase>,
    /// Its value for a trial.
    pub(crate) value: Box<dyn Fn(&TrialResult) -> Value>,
}

impl From<Figure> for TrialColumn {
    fn from(figure: Figure) -> Self {
        TrialColumn {
            name: figure.key.to_owned(),
            head: figure.head,
            unit: figure.unit().name(),
            meaning: figure.meaning.to_owned(),
            kind: figure.kind(),
            phase: figure.phase,
            value: Box::new(move |result| figure.value(result)),
        }
    }
}

/// The columns of a phase's table; `own` among them: those that only some of its trials have.
pub(crate) fn columns(phase: Phase, own: &[&str]) -> Vec<TrialColumn> {
    let mut columns = all(own);
    columns.retain(|column| column.phase.is_none_or(|only| only == phase));
    columns
}

/// The columns of both phases, but for the workloads' own, as a table for the documentation.
pub(crate) fn reference() -> String {
    let line = |column: &TrialColumn| {
        let only = match column.phase {
            None => "",
            Some(Phase::Load) => " (load)",
            Some(Phase::Run) => " (run)",
        };
        format!("| `{}`{only} | {} | {} | {} |\n", column.name, column.head, column.unit, column.meaning)
    };
    let lines: String = all(&[]).iter().map(line).collect();
    format!("| column | in tables | unit | meaning |\n| --- | --- | --- | --- |\n{lines}")
}

fn all(own: &[&str]) -> Vec<TrialColumn> {
    let mut columns: Vec<TrialColumn> = first().into_iter().map(TrialColumn::from).collect();
    columns.extend(own.iter().map(|column| own_figure(column)));
    columns.extend(second().into_iter().map(TrialColumn::from));
    columns.extend(Side::ALL.into_iter().flat_map(latencies));
    columns.extend(last().into_iter().map(TrialColumn::from));
    columns
}

/// A figure that only some trials have.
fn own_figure(column: &str) -> TrialColumn {
    let name = column.to_owned();
    figure(column, move |result| {
        match result.named_figures().find(|figure| figure.column == name).map(|figure| &figure.value) {
            None => Value::Null,
            Some(FigureValue::Count(count)) => (*count).into(),
            Some(FigureValue::Rate(rate)) => Unit::PerSecond.number(*rate),
            Some(FigureValue::Factor(factor)) => Unit::Factor.number(*factor),
            Some(FigureValue::Text(text)) => text.clone().into(),
        }
    })
}

/// `read_kind, read_p50_ns, …` of the kind of operation that the trial made most of.
fn latencies(side: Side) -> Vec<TrialColumn> {
    let noun = side.verb();
    let column = |key: &str, unit: &'static str, meaning: String, value: Box<dyn Fn(&TrialResult) -> Value>| {
        TrialColumn { unit, meaning, ..figure(&format!("{noun}_{key}"), value) }
    };
    let latency = |key: &str, meaning: String, of: Box<dyn Fn(&Latency) -> u64>| {
        let value = move |r: &TrialResult| r.main_kind(side).map_or(Value::Null, |kind| of(&kind.latency).into());
        TrialColumn { kind: "integer", ..column(key, Unit::Nanos.name(), meaning, Box::new(value)) }
    };
    let kind = move |r: &TrialResult| r.main_kind(side).map_or(Value::Null, |kind| kind.kind.word().into());
    let percentile = |p: Percentile| latency(p.key(), format!("{p} of those latencies"), Box::new(move |l| l.at(p)));
    let mut columns = vec![
        column("kind", "", format!("the kind of {noun} that it made most of"), Box::new(kind)),
        latency("min_ns", "least latency of that kind".to_owned(), Box::new(|l| l.min_ns)),
        latency("mean_ns", "mean of those latencies".to_owned(), Box::new(|l| l.mean_ns)),
    ];
    columns.extend(Percentile::ALL.map(percentile));
    columns.push(latency("max_ns", "greatest of those latencies".to_owned(), Box::new(|l| l.max_ns)));
    columns
}

/// A column that only a finished trial has.
fn figure(name: &str, value: impl Fn(&TrialResult) -> Value + 'static) -> TrialColumn {
    TrialColumn {
        name: name.to_owned(),
        head: "",
        unit: "",
        meaning: String::new(),
        kind: "string",
        phase: None,
        value: Box::new(move |r| if r.is_finished() { value(r) } else { Value::Null }),
    }
}
