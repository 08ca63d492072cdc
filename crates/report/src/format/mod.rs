//! The formats of a report. Each renders the same document; a new one is a file here and a line in each list below.

mod blocks;
mod chart_sheets;
pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod ods;
pub(crate) mod page;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod schema;
pub(crate) mod screen;
pub(crate) mod table;

use std::fmt;
use std::str::FromStr;

use crate::document::Document;
use crate::error::ReportError;
pub use screen::Screen;

/// A format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For terminals.
    Table,
    /// A row a cell, for spreadsheets and scripts.
    Csv,
    /// Everything, for programs.
    Json,
    /// For GitHub and the like.
    Markdown,
}

/// A format that is not one of [`Format::ALL`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a format; use table, csv, json or md")]
pub struct UnknownFormat(String);

impl Format {
    /// All of them.
    pub const ALL: [Format; 4] = [Format::Table, Format::Csv, Format::Json, Format::Markdown];

    /// The screen is for tables alone.
    pub(crate) fn render(self, document: &Document<'_>, screen: Screen) -> Result<String, ReportError> {
        match self {
            Format::Table => Ok(table::render(document, screen)),
            Format::Csv => csv::render(document),
            Format::Json => json::render(document),
            Format::Markdown => Ok(markdown::render(document)),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Csv => "csv",
            Format::Json => "json",
            Format::Markdown => "md",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_formats() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        let error = "ods".parse::<Format>().unwrap_err();
        assert_eq!(error.to_string(), "`ods` is not a format; use table, csv, json or md");
    }
}
