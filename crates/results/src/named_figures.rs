//! Figures that bring their own names: those that only one workload has, and those of the environment.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The figures of a workload's own, with what a table of them is headed with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadFigures {
    /// Title of their table.
    pub heading: String,
    /// One sentence below it: how they were checked.
    pub note: String,
    /// The figures, in the order of their columns.
    pub figures: Vec<NamedFigure>,
}

/// A figure that brings its names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedFigure {
    /// Name of its column: `longest_cycle`.
    pub column: String,
    /// Its head in tables for people; absent if it has only a column of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The figure.
    pub value: FigureValue,
    /// Its meaning, one sentence.
    pub meaning: String,
}

/// A figure's value, with its type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureValue {
    /// A number of something.
    Count(u64),
    /// Something a second.
    Rate(f64),
    /// One number over another, about one or more.
    Factor(f64),
    /// A word.
    Text(String),
}

impl NamedFigure {
    /// A figure of columns alone.
    pub fn new(column: &str, value: FigureValue, meaning: &str) -> NamedFigure {
        NamedFigure { column: column.to_owned(), title: None, value, meaning: meaning.to_owned() }
    }

    /// The same with the value of `other` added; words and factors stay.
    pub fn plus(self, other: Option<&NamedFigure>) -> NamedFigure {
        let value = match (&self.value, other.map(|other| &other.value)) {
            (FigureValue::Count(one), Some(FigureValue::Count(other))) => FigureValue::Count(one + other),
            (FigureValue::Rate(one), Some(FigureValue::Rate(other))) => FigureValue::Rate(one + other),
            _ => self.value,
        };
        NamedFigure { value, ..self }
    }

    /// The same with a head in tables for people.
    pub fn titled(self, title: &str) -> NamedFigure {
        NamedFigure { title: Some(title.to_owned()), ..self }
    }
}

impl FigureValue {
    /// The number; absent for a word.
    pub fn number(&self) -> Option<f64> {
        match self {
            FigureValue::Count(count) => Some(*count as f64),
            FigureValue::Rate(number) | FigureValue::Factor(number) => Some(*number),
            FigureValue::Text(_) => None,
        }
    }
}

impl fmt::Display for FigureValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FigureValue::Count(count) => count.fmt(f),
            FigureValue::Rate(number) | FigureValue::Factor(number) => number.fmt(f),
            FigureValue::Text(text) => f.pad(text),
        }
    }
}

impl WorkloadFigures {
    /// The figure of a column.
    pub fn of(&self, column: &str) -> Option<&FigureValue> {
        self.figures.iter().find(|figure| figure.column == column).map(|figure| &figure.value)
    }

    /// The count of a column; absent if it has none.
    pub fn count(&self, column: &str) -> Option<u64> {
        match self.of(column) {
            Some(FigureValue::Count(count)) => Some(*count),
            _ => None,
        }
    }
}
