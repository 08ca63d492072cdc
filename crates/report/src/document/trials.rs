//! Trials and cells for programs: identity in columns of its own, the label beside it.

use std::collections::BTreeMap;

use kvdyno_analysis::{CellLatency, CellSteadiness, Estimate, Steadiness};
use kvdyno_results::{CellKey, OpKind, Percentiles, Phase};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::figures::{TrialColumn, columns};
use crate::labels::Label;
use crate::study::{Study, StudyCell};

/// A row for each trial of a phase.
pub(crate) struct TrialTable {
    /// Names of columns.
    pub(crate) columns: Vec<String>,
    /// The rows, in the order of the plan.
    pub(crate) rows: Vec<TrialRow>,
}

/// One trial.
pub(crate) struct TrialRow {
    /// Its cell's names for people.
    pub(crate) label: Option<Label>,
    /// A value for each column; null where there is none.
    pub(crate) values: Vec<Value>,
}

impl TrialTable {
    /// The trials of a phase.
    pub(super) fn of(study: &Study<'_>, phase: Phase) -> TrialTable {
        let columns: Vec<TrialColumn> = columns(phase, &study.figure_columns(phase));
        let mut labels: BTreeMap<u32, &Label> = BTreeMap::new();
        for cell in study.cells(phase) {
            labels.extend(cell.finished.iter().chain(&cell.failed).map(|result| (result.trial.number, &cell.label)));
        }
        let rows = study.trials(phase).map(|result| TrialRow {
            label: labels.get(&result.trial.number).map(|label| (*label).clone()),
            values: columns.iter().map(|column| (column.value)(result)).collect(),
        });
        TrialTable { rows: rows.collect(), columns: columns.into_iter().map(|column| column.name).collect() }
    }
}

/// One cell: its identity, its label, its estimates.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CellSummary {
    #[serde(flatten)]
    key: CellKey,
    /// The preset of the engine's name.
    preset: Option<String>,
    /// As the library reported it.
    version: String,
    /// The library that the user chose.
    library: Option<String>,
    label: Label,
    /// Trials that ended well.
    finished: usize,
    /// Trials that did not.
    failed: usize,
    reads_per_s: Option<Estimate>,
    writes_per_s: Option<Estimate>,
    /// From the worker's start to its end, seconds.
    wall_s: Option<Estimate>,
    /// A latency for each kind of operation, nanoseconds.
    latencies: Vec<LatencySummary>,
    steadiness: Option<SteadinessSummary>,
}

/// The latency of one kind of operation.
#[derive(Serialize, JsonSchema)]
struct LatencySummary {
    kind: OpKind,
    /// Of all trials.
    operations: u64,
    /// Whether the logs of all trials were merged; if not, figures are medians.
    merged: bool,
    min_ns: u64,
    mean_ns: u64,
    #[serde(flatten)]
    percentiles: Percentiles<Estimate>,
    max_ns: u64,
}

/// Whether a cell's runs were steady.
#[derive(Serialize, JsonSchema)]
struct SteadinessSummary {
    #[schemars(extend("enum" = ["steady", "not steady", "not told"]))]
    state: &'static str,
    /// Trials of which it can be told.
    told: usize,
    /// The trials of these that were not steady.
    not_steady: usize,
    /// The findings, or why nothing is told.
    why: Vec<String>,
}

impl From<&CellLatency> for LatencySummary {
    fn from(cell: &CellLatency) -> Self {
        LatencySummary {
            kind: cell.kind,
            operations: cell.operations,
            merged: cell.is_merged,
            min_ns: cell.latency.min_ns,
            mean_ns: cell.latency.mean_ns,
            percentiles: Percentiles::from_fn(|percentile| cell.estimate(percentile)),
            max_ns: cell.latency.max_ns,
        }
    }
}

impl From<&CellSteadiness> for SteadinessSummary {
    fn from(told: &CellSteadiness) -> Self {
        let why = match &told.steadiness {
            Steadiness::Steady => Vec::new(),
            Steadiness::NotSteady(observed) => observed.iter().map(ToString::to_string).collect(),
            Steadiness::NotTold(why) => vec![why.to_string()],
        };
        SteadinessSummary { state: told.steadiness.name(), told: told.told, not_steady: told.unsteady, why }
    }
}

impl From<&StudyCell<'_>> for CellSummary {
    fn from(cell: &StudyCell<'_>) -> Self {
        let first = cell.first();
        CellSummary {
            preset: first.and_then(|result| result.trial.preset()).map(str::to_owned),
            version: first.map(|result| result.engine.version.clone()).unwrap_or_default(),
            library: first.and_then(|result| result.engine.library.clone()),
            key: cell.key.clone(),
            label: cell.label.clone(),
            finished: cell.finished.len(),
            failed: cell.failed.len(),
            reads_per_s: cell.reads_per_s.clone(),
            writes_per_s: cell.writes_per_s.clone(),
            wall_s: cell.wall_s.clone(),
            latencies: cell.latencies.iter().map(LatencySummary::from).collect(),
            steadiness: cell.steadiness.as_ref().map(SteadinessSummary::from),
        }
    }
}
