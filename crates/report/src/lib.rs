//! Tables, charts and a page, made from an experiment's results. Nothing here runs anything.
//!
//! A `study::Study` is a results folder, read and grouped into cells, each with its identity and a label for people. A
//! `document::Document` is built from it once: `figures` declares the columns, `tables` lays out grids, `charts` draws.
//! The modules of `format` render the document.

mod charts;
mod diff;
mod document;
mod error;
mod figures;
mod format;
mod grid;
mod labels;
mod numbers;
mod order;
mod published;
mod remarks;
mod study;
mod tables;
mod verdicts;
mod words;

use std::path::{Path, PathBuf};

use kvdyno_results::folder::ResultsFolder;

pub use diff::{Diff, DiffError, DiffFormat, DiffOutcome};
pub use error::ReportError;
pub use format::{Format, UnknownFormat};
pub use published::{Paper, UnknownPaper, against, can_hold};

use document::Document;
use study::{Contents, Study};

/// A report in a format, and its page.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// In the requested format.
    pub text: String,
    /// The file of the page.
    pub page: PathBuf,
}

/// The report of an experiment in a format, and its page, from one reading of the results.
///
/// # Errors
/// If the results folder cannot be read or the files cannot be written.
pub fn report(results: &ResultsFolder, format: Format, colour: bool) -> Result<Rendered, ReportError> {
    with_document(results, |document| {
        let text = format.render(document, colour)?;
        Ok(Rendered { text, page: page(document, results)? })
    })
}

/// The report of an experiment, as text without colour.
///
/// # Errors
/// If the results folder cannot be read.
pub fn render(results: &ResultsFolder, format: Format) -> Result<String, ReportError> {
    with_document(results, |document| format.render(document, false))
}

/// [`Format::Table`] with colour, for a terminal that shows it.
///
/// # Errors
/// If the results folder cannot be read.
pub fn render_coloured(results: &ResultsFolder) -> Result<String, ReportError> {
    with_document(results, |document| Format::Table.render(document, true))
}

/// Writes `load.csv` and `run.csv` into a folder, a row a trial, and says where they are.
///
/// # Errors
/// If the results folder cannot be read or the files cannot be written.
pub fn write_csv(results: &ResultsFolder, folder: &Path) -> Result<[PathBuf; 2], ReportError> {
    with_document(results, |document| format::csv::write(document, folder))
}

/// Writes the page of an experiment, `report/index.html` in its folder, with `load.csv` and `run.csv` beside it, and
/// says where the page is. The page needs no network and no other file.
///
/// # Errors
/// If the results folder cannot be read or the files cannot be written.
pub fn write_page(results: &ResultsFolder) -> Result<PathBuf, ReportError> {
    with_document(results, |document| page(document, results))
}

/// The columns of `load.csv` and `run.csv`, as a table in Markdown for the documentation.
pub fn column_reference() -> String {
    figures::reference()
}

fn page(document: &Document<'_>, results: &ResultsFolder) -> Result<PathBuf, ReportError> {
    format::csv::write(document, &results.report_folder())?;
    format::page::write(document, &results.report_folder())
}

fn with_document<T>(
    results: &ResultsFolder,
    render: impl FnOnce(&Document<'_>) -> Result<T, ReportError>,
) -> Result<T, ReportError> {
    let contents = Contents::read(results)?;
    render(&Document::of(&Study::of(&contents)?))
}
