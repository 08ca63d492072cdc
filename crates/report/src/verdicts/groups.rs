//! Setups that are compared with each other.

use kvdyno_analysis::verdicts::{Looks, Rivals, RivalsVerdicts, Terms, measured};
use kvdyno_results::{Phase, Side};

use crate::order::distinct;
use crate::study::{Study, StudyCell};
use crate::words::threads;

/// Cells of one workload and one number of clients, and what can be said of them.
pub(crate) struct VerdictGroup<'c, 'r> {
    /// One for each setup, in the order of the study.
    pub(crate) cells: Vec<&'c StudyCell<'r>>,
    /// Of them, by their index.
    pub(crate) verdicts: RivalsVerdicts,
    /// The side of the work that they are compared by.
    pub(crate) side: Side,
}

/// All groups of two setups and more, loads first. The null engine is not in the running.
pub(crate) fn groups<'c, 'r>(study: &'c Study<'r>) -> Vec<VerdictGroup<'c, 'r>> {
    let cells: Vec<&StudyCell<'r>> = [Phase::Load, Phase::Run]
        .into_iter()
        .flat_map(|phase| study.cells(phase))
        .filter(|cell| !study.is_driver(cell))
        .collect();
    let work =
        |cell: &'c StudyCell<'r>| (cell.key.phase, cell.label.workload.as_str(), (cell.key.readers, cell.key.writers));
    let group = |wanted| {
        let same: Vec<&StudyCell<'r>> = cells.iter().copied().filter(|cell| work(cell) == wanted).collect();
        let rivals = Rivals { cells: same.iter().map(|cell| measured(cell)).collect() };
        let reads = same.iter().any(|cell| cell.reads_per_s.is_some());
        let side = if reads { Side::Reads } else { Side::Writes };
        VerdictGroup { verdicts: rivals.verdicts(&terms(study)), cells: same, side }
    };
    let all = distinct(cells.iter().map(|cell| work(cell)));
    all.into_iter().map(group).filter(|group| group.verdicts.order.len() + group.verdicts.left_out.len() > 1).collect()
}

/// The terms of a study's comparisons: its own `detect`, and whether its repeats may have ended for what they gave.
pub(crate) fn terms(study: &Study<'_>) -> Terms {
    let experiment: toml::Table = study.experiment.parse().unwrap_or_default();
    let of_lab = |key: &str| experiment.get("lab").and_then(|lab| lab.get(key));
    let looks = match ends_by_its_results(study.experiment) || !study.missing.is_empty() {
        true => Looks::AfterEach,
        false => Looks::Once,
    };
    let detect = of_lab("detect").and_then(share).unwrap_or(Terms::default().detect);
    Terms { detect, looks }
}

/// Whether an experiment repeats until its results are enough.
pub(crate) fn ends_by_its_results(experiment: &str) -> bool {
    let table: toml::Table = experiment.parse().unwrap_or_default();
    let repeat = table.get("lab").and_then(|lab| lab.get("repeat")).and_then(toml::Value::as_str);
    repeat == Some("auto")
}

/// `"3 %"` or 0.03.
fn share(value: &toml::Value) -> Option<f64> {
    let share = match value {
        toml::Value::String(text) => text.trim().strip_suffix('%')?.trim().parse::<f64>().ok()? / 100.0,
        number => number.as_float()?,
    };
    (share.is_finite() && share >= 0.0).then_some(share)
}

impl VerdictGroup<'_, '_> {
    /// The name of one of its setups, for people.
    pub(crate) fn name(&self, index: usize) -> &str {
        &self.cells[index].label.engine
    }

    /// `readwhilewriting, 4 readers, 1 writer`.
    pub(crate) fn title(&self) -> String {
        let Some(first) = self.cells.first() else { return String::new() };
        match first.key.phase {
            Phase::Load => format!("Load: {}", first.label.workload),
            Phase::Run => format!("{}, {}", first.label.workload, threads(first.key.readers, first.key.writers)),
        }
    }

    /// Their deed, as a verb for sentences.
    pub(crate) fn verb(&self) -> &'static str {
        match (self.cells.first().map(|cell| cell.key.phase), self.side) {
            (Some(Phase::Load), _) => "load",
            (_, Side::Reads) => "read",
            (_, Side::Writes) => "write",
        }
    }
}
