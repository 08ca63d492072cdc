//! A figure of a trial.

use kvdyno_analysis::Cell;
use kvdyno_results::{Phase, TrialResult};
use serde_json::Value;

use super::Unit;

/// A figure of a trial: its column, its head, its unit, its meaning and its source.
#[derive(Clone, Copy)]
pub(crate) struct Figure {
    /// The column of CSV and the key of JSON.
    pub(crate) key: &'static str,
    /// The head of its column in tables for people; empty if none has it.
    pub(crate) head: &'static str,
    /// One clause, for the documentation.
    pub(crate) meaning: &'static str,
    /// The source of the figure.
    pub(crate) reading: FigureSource,
    /// Whether a failed trial has it: one that says which trial it was and what surrounded it, not what it achieved.
    pub(crate) of_failures: bool,
    /// The only phase that has it; both, if absent.
    pub(crate) phase: Option<Phase>,
}

/// The source of a figure.
#[derive(Clone, Copy)]
pub(crate) enum FigureSource {
    /// Words.
    Words(fn(&TrialResult) -> Option<String>),
    /// A number that has no unit and is exact.
    Exact(fn(&TrialResult) -> Option<u64>),
    /// A number with its unit.
    Number(Unit, fn(&TrialResult) -> Option<f64>),
}

impl Figure {
    /// A figure that only a finished trial has.
    pub(super) const fn measured(
        key: &'static str,
        head: &'static str,
        meaning: &'static str,
        unit: Unit,
        read: fn(&TrialResult) -> Option<f64>,
    ) -> Figure {
        Figure { key, head, meaning, reading: FigureSource::Number(unit, read), of_failures: false, phase: None }
    }

    /// Something that a failed trial has as well.
    pub(super) const fn given(key: &'static str, meaning: &'static str, reading: FigureSource) -> Figure {
        Figure { key, head: "", meaning, reading, of_failures: true, phase: None }
    }

    /// The same figure, of one phase alone.
    pub(super) const fn only(self, phase: Phase) -> Figure {
        Figure { phase: Some(phase), ..self }
    }

    /// Its value for programs; null where there is none.
    pub(crate) fn value(&self, result: &TrialResult) -> Value {
        if !self.of_failures && !result.is_finished() {
            return Value::Null;
        }
        match self.reading {
            FigureSource::Words(read) => read(result).filter(|words| !words.is_empty()).into(),
            FigureSource::Exact(read) => read(result).into(),
            FigureSource::Number(unit, read) => read(result).map_or(Value::Null, |value| unit.number(value)),
        }
    }

    /// Its median over the finished trials of a cell; absent where none of them has it, and for words.
    pub(crate) fn median(&self, cell: &Cell<'_>) -> Option<f64> {
        match self.reading {
            FigureSource::Words(_) => None,
            FigureSource::Exact(read) => cell.median(|result| read(result).map(|value| value as f64)),
            FigureSource::Number(_, read) => cell.median(read),
        }
    }

    /// The type of its value where that is not null, as JSON Schema calls it.
    pub(crate) fn kind(&self) -> &'static str {
        match self.reading {
            FigureSource::Words(_) => "string",
            FigureSource::Exact(_) => "integer",
            FigureSource::Number(..) => "number",
        }
    }

    /// Its unit; things counted, if it has none.
    pub(crate) fn unit(&self) -> Unit {
        match self.reading {
            FigureSource::Number(unit, _) => unit,
            FigureSource::Words(_) | FigureSource::Exact(_) => Unit::Count,
        }
    }
}
