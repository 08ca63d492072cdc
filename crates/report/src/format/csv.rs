//! A row a trial, for spreadsheets and scripts.

use std::fs;
use std::path::{Path, PathBuf};

use kvdyno_results::files;
use serde_json::Value;

use crate::document::{Document, TrialTable};
use crate::error::ReportError;
use crate::verdicts::PairSummary;
use crate::words::plain;

/// The load table, an empty line, the run table.
pub(crate) fn render(document: &Document<'_>) -> Result<String, ReportError> {
    Ok(format!("{}\n{}", table(&document.load)?, table(&document.run)?))
}

/// `load.csv` and `run.csv`, whose paths it gives, and `verdicts.csv`.
pub(crate) fn write(document: &Document<'_>, folder: &Path) -> Result<[PathBuf; 2], ReportError> {
    fs::create_dir_all(folder).map_err(ReportError::writing(folder.to_owned()))?;
    let paths = [folder.join("load.csv"), folder.join("run.csv")];
    let verdicts_path = folder.join("verdicts.csv");
    let text = verdicts(&document.pairs)?;
    files::write_whole(&verdicts_path, text.as_bytes()).map_err(ReportError::writing(verdicts_path.clone()))?;
    for (path, trials) in paths.iter().zip([&document.load, &document.run]) {
        files::write_whole(path, table(trials)?.as_bytes()).map_err(ReportError::writing(path.clone()))?;
    }
    Ok(paths)
}

/// A row for each pair: what JSON has of it, without the identities.
fn verdicts(pairs: &[PairSummary]) -> Result<String, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(VERDICTS)?;
    for pair in pairs {
        let values = serde_json::to_value(pair)?;
        writer.write_record(VERDICTS.iter().map(|column| field(&values[*column])))?;
    }
    text(writer)
}

/// The columns of `verdicts.csv`, named as in JSON.
const VERDICTS: [&str; 14] = [
    "work",
    "one",
    "other",
    "verdict",
    "why",
    "ratio",
    "low",
    "high",
    "differs",
    "repeats",
    "detect",
    "looks",
    "neighbours",
    "pairs",
];

fn table(trials: &TrialTable) -> Result<String, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(trials.columns.iter().map(|column| harmless(column)))?;
    for row in &trials.rows {
        writer.write_record(row.values.iter().map(field))?;
    }
    text(writer)
}

fn text(writer: csv::Writer<Vec<u8>>) -> Result<String, ReportError> {
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => harmless(text),
        other => other.to_string(),
    }
}

/// Words that a spreadsheet does not take for a formula, nor a terminal for a command.
fn harmless(text: &str) -> String {
    let text = plain(text);
    let is_formula = text.trim_start().starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err();
    if is_formula { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_reckon_is_text() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("+cmd", "'+cmd"),
            ("-cmd", "'-cmd"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "' =1"),
            ("\r=1", "' =1"),
            ("-1.5", "-1.5"),
            ("+2e3", "+2e3"),
            ("a=b", "a=b"),
            ("", ""),
        ] {
            assert_eq!(harmless(text), cell, "{text:?}");
        }
    }
}
