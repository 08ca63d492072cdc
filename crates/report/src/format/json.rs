//! Everything, for programs.

use kvdyno_analysis::{Cell, Estimate};
use kvdyno_results::{Machine, Phase};
use serde::Serialize;
use serde_json::{Map, Value};

use super::columns::columns;
use crate::ReportError;
use crate::study::{Remark, Study, title};
use crate::tables::{Relative, key_facts, relatives};

#[derive(Serialize)]
struct Document<'a> {
    experiment: &'a str,
    settings: Map<String, Value>,
    machine: Option<&'a Machine>,
    load: Vec<Map<String, Value>>,
    run: Vec<Map<String, Value>>,
    cells: Vec<CellFacts>,
    relative: Vec<Relative>,
    doubts: Vec<Map<String, Value>>,
    notes: Vec<Map<String, Value>>,
}

#[derive(Serialize)]
struct CellFacts {
    #[serde(flatten)]
    key: kvdyno_analysis::CellKey,
    finished: usize,
    failed: usize,
    reads_per_s: Option<Estimate>,
    writes_per_s: Option<Estimate>,
    wall_s: Option<Estimate>,
}

/// One indented document.
pub(crate) fn render(study: &Study<'_>) -> Result<String, ReportError> {
    let phases = [Phase::Load, Phase::Run];
    let document = Document {
        experiment: study.name,
        settings: key_facts(study).into_iter().map(|(name, value)| (name, value.into())).collect(),
        machine: study.machine,
        load: rows(study, Phase::Load),
        run: rows(study, Phase::Run),
        relative: relatives(study),
        cells: phases.iter().flat_map(|phase| study.cells(*phase)).map(facts).collect(),
        doubts: remarks(
            study.doubts().into_iter().map(|(r, doubt)| Remark { trial: title(r), text: doubt.to_string() }).collect(),
        ),
        notes: remarks(study.notes()),
    };
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}

fn rows(study: &Study<'_>, phase: Phase) -> Vec<Map<String, Value>> {
    let columns = columns(phase, &study.figure_columns(phase));
    let row = |result| columns.iter().map(|column| (column.name.clone(), (column.value)(result))).collect();
    study.trials(phase).map(row).collect()
}

fn facts(cell: &Cell<'_>) -> CellFacts {
    CellFacts {
        key: cell.key.clone(),
        finished: cell.finished.len(),
        failed: cell.failed.len(),
        reads_per_s: cell.reads_per_s.clone(),
        writes_per_s: cell.writes_per_s.clone(),
        wall_s: cell.wall_s.clone(),
    }
}

fn remarks(remarks: Vec<Remark>) -> Vec<Map<String, Value>> {
    let object = |remark: Remark| {
        Map::from_iter([("trial".to_owned(), remark.trial.into()), ("text".to_owned(), remark.text.into())])
    };
    remarks.into_iter().map(object).collect()
}
