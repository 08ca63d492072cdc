//! Tables, charts and a page, made from an experiment's results. Nothing here runs anything.
//!
//! A `study::Study` is a results folder, read and grouped. `tables` lays it out as grids of text, which
//! `format` prints for terminals and for Markdown and `page` puts between charts. CSV and JSON share the columns in
//! `format/columns.rs`, a row a trial.

mod against;
mod apart;
mod charts;
mod error;
mod format;
mod numbers;
mod page;
mod study;
mod tables;

use std::path::{Path, PathBuf};

use kvdyno_results::folder::ResultsFolder;

pub use against::{Paper, UnknownPaper, against, can_hold};
pub use error::ReportError;
pub use format::{Format, UnknownFormat};
use study::{Contents, Study};

/// The load table and the run tables of an experiment, as text without colour.
///
/// # Errors
/// If the results folder cannot be read.
pub fn render(results: &ResultsFolder, format: Format) -> Result<String, ReportError> {
    format.render(&Study::of(&Contents::read(results)?))
}

/// [`Format::Table`] with colour, for a terminal that shows it.
///
/// # Errors
/// If the results folder cannot be read.
pub fn render_coloured(results: &ResultsFolder) -> Result<String, ReportError> {
    Ok(format::table::render(&Study::of(&Contents::read(results)?), true))
}

/// Writes `load.csv` and `run.csv` into a folder, a row a trial, and says where they are.
///
/// # Errors
/// If the results folder cannot be read or the files cannot be written.
pub fn write_csv(results: &ResultsFolder, folder: &Path) -> Result<[PathBuf; 2], ReportError> {
    format::csv::write(&Study::of(&Contents::read(results)?), folder)
}

/// Writes the page of an experiment, `report/index.html` in its folder, with `load.csv` and `run.csv` beside it, and says
/// where the page is. The page needs no network and no other file.
///
/// # Errors
/// If the results folder cannot be read or the files cannot be written.
pub fn write_page(results: &ResultsFolder) -> Result<PathBuf, ReportError> {
    let contents = Contents::read(results)?;
    let study = Study::of(&contents);
    format::csv::write(&study, &results.report_folder())?;
    page::write(&study, &results.report_folder())
}
