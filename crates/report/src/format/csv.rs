//! Tables for spreadsheets and scripts: one for each file.

use std::fs;
use std::path::Path;

use kvdyno_model::text::plain;
use kvdyno_results::files;
use serde_json::Value;

use crate::document::{Document, TrialTable};
use crate::error::ReportError;
use crate::verdicts::PairSummary;

/// A row a cell.
pub(crate) fn render(document: &Document<'_>) -> Result<String, ReportError> {
    table(&document.cell_table.columns, &document.cell_table.rows)
}

/// `cells.csv`, `verdicts.csv`, and a row a trial in `load.csv` and `run.csv`.
pub(crate) fn write(document: &Document<'_>, folder: &Path) -> Result<(), ReportError> {
    fs::create_dir_all(folder).map_err(ReportError::writing(folder.to_owned()))?;
    for (name, (heads, rows)) in ["cells", "verdicts", "load", "run"].into_iter().zip(tables(document)?) {
        let path = folder.join(name).with_extension("csv");
        files::write_whole(&path, table(&heads, &rows)?.as_bytes()).map_err(ReportError::writing(path.clone()))?;
    }
    Ok(())
}

/// The heads and the rows of a table for programs.
pub(super) type ProgramTable = (Vec<String>, Vec<Vec<Value>>);

/// Cells, verdicts, loads and runs.
pub(super) fn tables(document: &Document<'_>) -> Result<[ProgramTable; 4], ReportError> {
    let cells = &document.cell_table;
    let trials =
        |table: &TrialTable| (table.columns.clone(), table.rows.iter().map(|row| row.values.clone()).collect());
    Ok([
        (cells.columns.clone(), cells.rows.clone()),
        (VERDICTS.map(str::to_owned).to_vec(), verdict_rows(&document.pairs)?),
        trials(&document.load),
        trials(&document.run),
    ])
}

/// The values of [`VERDICTS`] for each pair: what JSON has of it, without the identities.
fn verdict_rows(pairs: &[PairSummary]) -> Result<Vec<Vec<Value>>, ReportError> {
    let row = |pair: &PairSummary| {
        let values = serde_json::to_value(pair)?;
        // A field has no list in it.
        let value = |value: &Value| if value.is_array() { field(value).into() } else { value.clone() };
        Ok(VERDICTS.iter().map(|column| value(&values[*column])).collect())
    };
    pairs.iter().map(row).collect()
}

/// The columns of `verdicts.csv`, named as in JSON.
const VERDICTS: [&str; 19] = [
    "work",
    "one",
    "other",
    "verdict",
    "figure",
    "side",
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
    "bias",
    "by_slices",
    "not_steady",
];

fn table(columns: &[String], rows: &[Vec<Value>]) -> Result<String, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.iter().map(|column| harmless(column)))?;
    for row in rows {
        writer.write_record(row.iter().map(field))?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => harmless(text),
        Value::Array(all) => all.iter().map(field).collect::<Vec<_>>().join("; "),
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
