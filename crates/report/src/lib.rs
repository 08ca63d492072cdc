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
mod machines;
mod order;
mod published;
mod remarks;
mod study;
mod tables;
#[cfg(test)]
mod testing;
mod verdicts;

use std::path::{Path, PathBuf};

use kvdyno_results::files;
use kvdyno_results::folder::ResultsFolder;

pub use diff::{Diff, DiffError, DiffOutcome};
pub use error::ReportError;
pub use format::{Format, Screen, Tables};
pub use published::{Paper, against, can_hold};

use document::Document;
use published::with_document_against;
use study::{Contents, Study};

/// A report in a format, and its page.
#[derive(Debug)]
pub struct Rendered {
    /// The text in the requested format.
    pub text: String,
    /// The file of the page, or why it could not be written: the text is there all the same.
    pub page: Result<PathBuf, ReportError>,
}

/// The report of an experiment in a format, and its page in `folder` with the files beside it, from one reading of the
/// results. [`Format::Table`] has the chosen tables, and ends with the answer.
///
/// # Errors
/// If the results folder cannot be read.
pub fn report(
    results: &ResultsFolder,
    format: Format,
    (screen, tables): (Screen, Tables),
    folder: &Path,
) -> Result<Rendered, ReportError> {
    with_document(results, |document| {
        let page = page(document, folder);
        let text = match format {
            Format::Table => {
                let above = format::table::render(document, screen, tables);
                format!("{above}\n{}", format::ending::render(document, screen, results))
            }
            _ => format.render(document, screen)?,
        };
        Ok(Rendered { text, page })
    })
}

/// The report of an experiment, as text for no terminal.
///
/// # Errors
/// If the results folder cannot be read.
pub fn render(results: &ResultsFolder, format: Format) -> Result<String, ReportError> {
    with_document(results, |document| format.render(document, Screen::default()))
}

/// [`Format::Table`] for a terminal.
///
/// # Errors
/// If the results folder cannot be read.
pub fn render_on(results: &ResultsFolder, screen: Screen) -> Result<String, ReportError> {
    with_document(results, |document| Format::Table.render(document, screen))
}

/// Writes the page of an experiment, `report/index.html` in its folder, with the files beside it, and says where the
/// page is. The page needs no network and no other file.
///
/// # Errors
/// If the results folder cannot be read or the files cannot be written.
pub fn write_page(results: &ResultsFolder) -> Result<PathBuf, ReportError> {
    with_document(results, |document| page(document, &results.report_folder()))
}

/// Writes the tables of an experiment as an OpenDocument spreadsheet, `.ods`; with `against`, also what a paper has
/// beside them.
///
/// # Errors
/// If the results folder cannot be read or the file cannot be written.
pub fn write_ods(results: &ResultsFolder, against: Option<Paper>, path: &Path) -> Result<(), ReportError> {
    let bytes = match against {
        None => with_document(results, format::ods::render)?,
        Some(paper) => {
            let contents = Contents::read(results)?;
            with_document_against(&Study::of(&contents)?, paper, |compared| format::ods::render(compared.document))?
        }
    };
    // The folder of a path without one is the current.
    let path = std::path::absolute(path).map_err(ReportError::writing(path.to_owned()))?;
    files::write_whole(&path, &bytes).map_err(ReportError::writing(path.clone()))
}

/// Writes `cells.parquet` and `series.parquet` of an experiment into `folder`, which is made if it is not there.
///
/// # Errors
/// If the results folder cannot be read or the files cannot be written; always, if this was built without the feature
/// `parquet`.
pub fn write_parquet(results: &ResultsFolder, folder: &Path) -> Result<(), ReportError> {
    #[cfg(feature = "parquet")]
    {
        let contents = Contents::read(results)?;
        let study = Study::of(&contents)?;
        let tables = format::parquet::files(&study, &Document::of(&study))?;
        std::fs::create_dir_all(folder).map_err(ReportError::writing(folder.to_owned()))?;
        for (name, bytes) in tables {
            let path = folder.join(name);
            files::write_whole(&path, &bytes).map_err(ReportError::writing(path.clone()))?;
        }
        Ok(())
    }
    #[cfg(not(feature = "parquet"))]
    {
        let _ = (results, folder);
        Err(ReportError::NoParquet)
    }
}

/// The JSON Schema of [`Format::Json`].
pub fn schema() -> serde_json::Value {
    format::json::schema()
}

/// The columns of `load.csv` and `run.csv`, as a table in Markdown for the documentation.
pub fn column_reference() -> String {
    figures::reference()
}

fn page(document: &Document<'_>, folder: &Path) -> Result<PathBuf, ReportError> {
    format::csv::write(document, folder)?;
    format::page::write(document, folder)
}

fn with_document<T>(
    results: &ResultsFolder,
    render: impl FnOnce(&Document<'_>) -> Result<T, ReportError>,
) -> Result<T, ReportError> {
    let contents = Contents::read(results)?;
    let study = Study::of(&contents)?;
    // An experiment that is called as a report is has that report's figures beside its own.
    match study.name.parse::<Paper>() {
        Ok(paper) => with_document_against(&study, paper, |compared| render(compared.document)),
        Err(_) => render(&Document::of(&study)),
    }
}
