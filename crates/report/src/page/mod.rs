//! The page of an experiment: one file that needs no other.

mod content;

use std::path::{Path, PathBuf};

use askama::Template;
use kvdyno_results::files;

use crate::ReportError;
use crate::study::Study;
use content::Page;

/// Writes `index.html` into a folder that is there.
pub(crate) fn write(study: &Study<'_>, folder: &Path) -> Result<PathBuf, ReportError> {
    let path = folder.join("index.html");
    let text = Page::of(study)?.render()?;
    files::write_whole(&path, text.as_bytes()).map_err(ReportError::writing(path.clone()))?;
    Ok(path)
}
