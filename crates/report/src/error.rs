//! Errors.

use std::io;
use std::path::PathBuf;

use kvdyno_results::folder::ReadError;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The results cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file of the report cannot be written.
    #[error("cannot write {path}: {cause}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A chart could not be drawn.
    #[error("cannot draw a chart: {0}")]
    Chart(String),
    /// The page's template failed.
    #[error("cannot lay out the page: {0}")]
    Page(#[from] askama::Error),
    /// A row could not be put into CSV.
    #[error("cannot write CSV: {0}")]
    Csv(#[from] csv::Error),
    /// A spreadsheet could not be packed.
    #[error("cannot write a spreadsheet: {0}")]
    Spreadsheet(#[from] zip::result::ZipError),
    /// A table could not be put into Parquet.
    #[cfg(feature = "parquet")]
    #[error("cannot write Parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// This kvdyno cannot write Parquet.
    #[error(
        "this kvdyno was built without Parquet; to build it with: cargo build --release --locked --features parquet"
    )]
    NoParquet,
    /// A value could not be put into JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl ReportError {
    /// The conversion for `map_err` after writing `path`.
    pub(crate) fn writing(path: PathBuf) -> impl FnOnce(io::Error) -> ReportError {
        |cause| ReportError::Write { path, cause }
    }
}
