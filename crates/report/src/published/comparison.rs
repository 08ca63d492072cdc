//! Comparisons: figures of one kind that are ranked, as they were printed and as they were measured.

use std::cmp::Reverse;

use kvdyno_analysis::Cell;
use kvdyno_model::text;
use kvdyno_model::text::counted;
use kvdyno_results::{Phase, TrialResult};

use crate::charts::Height;
use crate::order::distinct;
use crate::study::{Study, StudyCell};

/// Figures that stand in one column of a printed table.
#[derive(Clone, Debug)]
pub(super) struct PublishedComparison {
    /// The name of the table: `symas-2014-inmem-load`.
    pub(super) table: &'static str,
    /// `reads beside a writer, 4 readers`.
    pub(super) title: String,
    /// The head of its entries: `engine`.
    pub(super) entry: &'static str,
    /// The figure that is compared.
    pub(super) figure: ComparedFigure,
    /// The entries as they were printed.
    pub(super) entries: Vec<PublishedEntry>,
}

/// One entry.
#[derive(Clone, Debug)]
pub(super) struct PublishedEntry {
    /// The name of the entry for people.
    pub(super) label: String,
    /// The figure as it was printed.
    pub(super) published: f64,
    /// The cells that have the measured figure.
    pub(super) cell: CellFilter,
}

/// Which cells of an experiment an entry is about. Absent is any; an experiment without variants is
/// compared with all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CellFilter {
    /// Normalised: `rocksdb-pfx`.
    pub(super) engine: Option<String>,
    pub(super) variant: Option<String>,
    pub(super) phase: Option<Phase>,
    pub(super) workload: Option<String>,
    pub(super) readers: Option<u32>,
    /// Whether of several cells the one with the most threads is meant.
    pub(super) most_threads: bool,
}

/// A figure that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparedFigure {
    /// Seconds from a worker's start to its end.
    Wall,
    /// Records read a second.
    Reads,
    /// Records written a second.
    Writes,
    /// Both.
    Operations,
    /// Context switches a second.
    Switches,
    /// CPU microseconds for an operation of the measured window, user and system.
    CpuPerOperation,
    /// Filesystem outputs for each record, as `time` counts them.
    OutputsPerRecord,
}

impl ComparedFigure {
    pub(super) fn more_is_better(self) -> bool {
        matches!(self, ComparedFigure::Reads | ComparedFigure::Writes | ComparedFigure::Operations)
    }

    pub(super) fn unit(self) -> &'static str {
        match self {
            ComparedFigure::Wall => "seconds",
            ComparedFigure::Reads => "reads/s",
            ComparedFigure::Writes => "writes/s",
            ComparedFigure::Operations => "operations/s",
            ComparedFigure::Switches => "context switches/s",
            ComparedFigure::CpuPerOperation => "CPU µs an operation",
            ComparedFigure::OutputsPerRecord => "filesystem outputs a record",
        }
    }

    pub(super) fn text(self, figure: f64) -> String {
        self.print()(figure)
    }

    /// The function that writes the figure.
    pub(super) fn print(self) -> fn(f64) -> String {
        match self {
            ComparedFigure::Wall | ComparedFigure::CpuPerOperation | ComparedFigure::OutputsPerRecord => {
                |figure| format!("{figure:.2}")
            }
            _ => text::rate,
        }
    }

    /// The figure of one trial, by which cells are compared.
    pub(super) fn of_trial(self, result: &TrialResult) -> Option<f64> {
        match self {
            ComparedFigure::Wall => Some(result.os.wall_s),
            ComparedFigure::Reads => Some(result.reads_per_s()),
            ComparedFigure::Writes => Some(result.writes_per_s()),
            ComparedFigure::Operations => Some(result.reads_per_s() + result.writes_per_s()),
            ComparedFigure::Switches => result.context_switches_per_s(),
            ComparedFigure::CpuPerOperation => cpu_per_operation(result),
            ComparedFigure::OutputsPerRecord => {
                Some(result.os.fs_out_ops as f64 / result.workload.records.max(1) as f64)
            }
        }
    }

    fn of(self, cell: &StudyCell<'_>) -> Option<Height> {
        match self {
            ComparedFigure::Wall => cell.wall_s.as_ref().map(Height::estimate),
            ComparedFigure::Reads => cell.reads_per_s.as_ref().map(Height::estimate),
            ComparedFigure::Writes => cell.writes_per_s.as_ref().map(Height::estimate),
            _ => Height::median(cell, |result| self.of_trial(result)),
        }
    }
}

fn cpu_per_operation(result: &TrialResult) -> Option<f64> {
    result.cpu_us_per_operation().map(|(user, sys)| user + sys)
}

impl PublishedComparison {
    /// The first cell that fits the entry and has the figure, and the figure. If the entry is about the most threads,
    /// the cell with the most threads is taken first.
    pub(super) fn measured<'c, 'r>(
        &self,
        entry: &PublishedEntry,
        study: &'c Study<'r>,
    ) -> Option<(&'c StudyCell<'r>, Height)> {
        let phases = [Phase::Load, Phase::Run].into_iter().flat_map(|phase| study.cells(phase));
        let mut fitting: Vec<_> = phases.filter(|cell| entry.cell.fits(cell)).collect();
        if entry.cell.most_threads {
            // Stable: of equal numbers the first stays first.
            fitting.sort_by_key(|cell| Reverse(cell.key.readers + cell.key.writers));
        }
        fitting.into_iter().find_map(|cell| Some((cell, self.figure.of(cell)?)))
    }
}

impl CellFilter {
    /// The keys that the cells of these entries share, in words: `loads, variant local`.
    pub(super) fn common(entries: &[PublishedEntry]) -> String {
        let filters = || entries.iter().map(|entry| &entry.cell);
        let one = |words: fn(&CellFilter) -> Option<String>| match distinct(filters().map(words)).as_slice() {
            [Some(same)] => Some(same.clone()),
            _ => None,
        };
        let word: [fn(&CellFilter) -> Option<String>; 5] = [
            |it| it.phase.map(|phase| if phase == Phase::Load { "loads" } else { "runs" }.to_owned()),
            |it| it.engine.clone(),
            |it| it.variant.as_ref().map(|variant| format!("variant {variant}")),
            |it| it.readers.map(|readers| counted(readers, "reader")),
            |it| it.most_threads.then(|| "the most threads".to_owned()),
        ];
        word.into_iter().filter_map(one).collect::<Vec<_>>().join(", ")
    }

    fn fits(&self, cell: &Cell<'_>) -> bool {
        let key = &cell.key;
        !cell.finished.is_empty()
            && self.engine.as_ref().is_none_or(|engine| *engine == normal(&key.engine))
            && self.variant.as_ref().is_none_or(|variant| key.variant.is_empty() || *variant == key.variant)
            && self.phase.is_none_or(|phase| phase == key.phase)
            && self.workload.as_ref().is_none_or(|workload| *workload == key.workload)
            && self.readers.is_none_or(|readers| readers == key.readers)
    }
}

/// An engine's name as the published tables spell it: `rocksdb@8.5.4:pfx` is `rocksdb-pfx`.
fn normal(engine: &str) -> String {
    let (name, preset) = engine.split_once(':').unwrap_or((engine, ""));
    let name = name.split('@').next().unwrap_or(name);
    match (name, preset) {
        ("wiredtiger", "") => "wiredtiger-btree".to_owned(),
        (name, "") => name.to_owned(),
        (name, preset) => format!("{name}-{preset}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_tables() {
        for (engine, published) in [
            ("lmdb", "lmdb"),
            ("rocksdb@8.5.4", "rocksdb"),
            ("rocksdb@8.5.4:pfx", "rocksdb-pfx"),
            ("wiredtiger:lsm", "wiredtiger-lsm"),
            ("wiredtiger", "wiredtiger-btree"),
        ] {
            assert_eq!(normal(engine), published);
        }
    }
}
