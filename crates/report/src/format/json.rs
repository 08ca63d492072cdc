//! Everything, for programs.

use kvdyno_results::{Machine, Phase};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::document::{CellSummary, Document, TrialRow, TrialTable};
use crate::error::ReportError;
use crate::figures::{TrialColumn, columns};
use crate::labels::Label;
use crate::remarks::Remark;
use crate::tables::Relative;
use crate::verdicts::{PairSummary, RankingSummary};

/// The object that is printed.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "A report of kvdyno")]
struct JsonReport<'a> {
    /// The experiment's name.
    experiment: &'a str,
    /// A ranking for each work.
    rankings: &'a [RankingSummary],
    /// A verdict for each pair of setups that did the same work.
    verdicts: &'a [PairSummary],
    /// The requested work as far as all trials have it in common; sizes in bytes.
    #[schemars(schema_with = "settings")]
    settings: &'a Map<String, Value>,
    machine: Option<&'a Machine>,
    /// Trials of the plan that have no result.
    missing: usize,
    /// The loads, a row a trial.
    #[schemars(schema_with = "loads")]
    load: Vec<Map<String, Value>>,
    /// The runs, a row a trial.
    #[schemars(schema_with = "runs")]
    run: Vec<Map<String, Value>>,
    /// Trials that repeat each other, together.
    cells: &'a [CellSummary],
    /// Variants over the first of them.
    relative: &'a [Relative],
    /// Figures that do not fit each other.
    doubts: &'a [Remark],
    /// Remarks of trials.
    notes: &'a [Remark],
}

/// The JSON Schema of a report. It is strict: what is not in it is not in a report.
pub(crate) fn schema() -> Value {
    let strict = |schema: &mut Schema| {
        // Formats such as `uint32` are no names of the standard, and defaults are no matter of what is written.
        schema.remove("format");
        schema.remove("default");
        if let Some(Value::String(description)) = schema.get_mut("description") {
            *description = description.replace('\n', " ");
        }
        if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
    };
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(RecursiveTransform(strict));
    settings.into_generator().into_root_schema_for::<JsonReport<'_>>().to_value()
}

fn settings(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } })
}

fn loads(generator: &mut SchemaGenerator) -> Schema {
    trials(Phase::Load, generator)
}

fn runs(generator: &mut SchemaGenerator) -> Schema {
    trials(Phase::Run, generator)
}

/// Rows of trials: the columns of CSV, the label, and figures that only a workload has.
fn trials(phase: Phase, generator: &mut SchemaGenerator) -> Schema {
    let column =
        |column: TrialColumn| (column.name, json!({ "type": [column.kind, "null"], "description": column.meaning }));
    let mut fields: Map<String, Value> = columns(phase, &[]).into_iter().map(column).collect();
    fields.insert("label".to_owned(), generator.subschema_for::<Option<Label>>().to_value());
    let names: Vec<&String> = fields.keys().collect();
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "required": names,
            "properties": fields,
            "additionalProperties": { "type": ["string", "number", "null"] },
        },
    })
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
        doubts: &document.doubts_of_trials,
        notes: &document.notes,
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
