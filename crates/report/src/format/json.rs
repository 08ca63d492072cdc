//! Everything, for programs.

use kvdyno_results::Machine;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::document::{CellSummary, Document, TrialRow, TrialTable};
use crate::error::ReportError;
use crate::remarks::Remark;
use crate::tables::Relative;
use crate::verdicts::{PairSummary, RankingSummary};

/// The object that is printed.
#[derive(Serialize)]
struct JsonReport<'a> {
    experiment: &'a str,
    rankings: &'a [RankingSummary],
    verdicts: &'a [PairSummary],
    /// The requested work as far as all trials have it in common, typed; sizes in bytes.
    settings: &'a Map<String, Value>,
    machine: Option<&'a Machine>,
    /// Trials of the plan that have no result.
    missing: usize,
    load: Vec<Map<String, Value>>,
    run: Vec<Map<String, Value>>,
    cells: &'a [CellSummary],
    relative: &'a [Relative],
    doubts: Vec<Map<String, Value>>,
    notes: Vec<Map<String, Value>>,
}

/// One indented object.
pub(crate) fn render(document: &Document<'_>) -> Result<String, ReportError> {
    let report = JsonReport {
        experiment: document.name,
        rankings: &document.rankings,
        verdicts: &document.pairs,
        settings: &document.common_work,
        machine: document.machine,
        missing: document.missing,
        load: rows(&document.load)?,
        run: rows(&document.run)?,
        cells: &document.cells,
        relative: &document.relative,
        doubts: remarks(&document.doubts_of_trials),
        notes: remarks(&document.notes),
    };
    let mut text = kvdyno_model::text::json(&serde_json::to_string_pretty(&report)?);
    text.push('\n');
    Ok(text)
}

/// The columns of CSV, and the label.
fn rows(trials: &TrialTable) -> Result<Vec<Map<String, Value>>, ReportError> {
    let row = |row: &TrialRow| {
        let mut object: Map<String, Value> = trials.columns.iter().cloned().zip(row.values.iter().cloned()).collect();
        object.insert("label".to_owned(), serde_json::to_value(&row.label)?);
        Ok(object)
    };
    trials.rows.iter().map(row).collect()
}

fn remarks(remarks: &[Remark]) -> Vec<Map<String, Value>> {
    let object = |remark: &Remark| {
        let entry = |name: &str, value: &str| (name.to_owned(), Value::from(value));
        Map::from_iter([entry("trial", &remark.trial), entry("text", &remark.text)])
    };
    remarks.iter().map(object).collect()
}
