//! The forms that a report's tables can take. A new one is a file here and a line in each list below.

pub(crate) mod columns;
pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod table;

use std::fmt;
use std::str::FromStr;

use crate::ReportError;
use crate::study::Study;

/// A form that a report's tables can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For terminals.
    Table,
    /// A row a trial, for spreadsheets and scripts.
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

    pub(crate) fn render(self, study: &Study<'_>) -> Result<String, ReportError> {
        match self {
            Format::Table => Ok(table::render(study, false)),
            Format::Csv => csv::render(study),
            Format::Json => json::render(study),
            Format::Markdown => Ok(markdown::render(study)),
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
