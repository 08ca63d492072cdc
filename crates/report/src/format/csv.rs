//! A row a trial, for spreadsheets and scripts.

use std::fs;
use std::path::{Path, PathBuf};

use kvdyno_results::{Phase, files};
use serde_json::Value;

use super::columns::columns;
use crate::ReportError;
use crate::study::Study;

/// The load table, an empty line, the run table.
pub(crate) fn render(study: &Study<'_>) -> Result<String, ReportError> {
    Ok(format!("{}\n{}", table(study, Phase::Load)?, table(study, Phase::Run)?))
}

/// `load.csv` and `run.csv`.
pub(crate) fn write(study: &Study<'_>, folder: &Path) -> Result<[PathBuf; 2], ReportError> {
    fs::create_dir_all(folder).map_err(ReportError::writing(folder.to_owned()))?;
    let paths = [folder.join("load.csv"), folder.join("run.csv")];
    for (path, phase) in paths.iter().zip([Phase::Load, Phase::Run]) {
        files::write_whole(path, table(study, phase)?.as_bytes()).map_err(ReportError::writing(path.clone()))?;
    }
    Ok(paths)
}

fn table(study: &Study<'_>, phase: Phase) -> Result<String, ReportError> {
    let columns = columns(phase, &study.figure_columns(phase));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.iter().map(|column| &column.name))?;
    for result in study.trials(phase) {
        writer.write_record(columns.iter().map(|column| field(&(column.value)(result))))?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whole seconds without a decimal point, as the published tables have them.
fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string().trim_end_matches(".0").to_owned(),
        other => other.to_string(),
    }
}
