//! The formats of a report. Each renders the same document; a new one is a file here, and a line in [`Format`] and in
//! its `render`.

mod blocks;
mod chart_sheets;
pub(crate) mod csv;
pub(crate) mod ending;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod ods;
pub(crate) mod page;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod screen;
pub(crate) mod table;

use crate::document::Document;
use crate::error::ReportError;
pub use screen::Screen;
pub use table::Tables;

kvdyno_model::words! {
    /// A format of a report, or of another page of the program.
    pub enum Format: "a format", "FORMAT" {
        /// For people.
        Table = "table" or "text",
        /// A row a cell, for spreadsheets and scripts.
        Csv = "csv",
        /// Everything, for programs.
        Json = "json",
        /// For GitHub and the like.
        Markdown = "md" or "markdown",
    }
}

impl Format {
    /// The screen is for tables alone, of which all come.
    pub(crate) fn render(self, document: &Document<'_>, screen: Screen) -> Result<String, ReportError> {
        match self {
            Format::Table => Ok(table::render(document, screen, Tables::All)),
            Format::Csv => csv::render(document),
            Format::Json => json::render(document),
            Format::Markdown => Ok(markdown::render(document)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_leads_to_its_format() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(*format));
        }
        assert_eq!(["markdown", "text"].map(str::parse), [Ok(Format::Markdown), Ok(Format::Table)]);
    }
}
