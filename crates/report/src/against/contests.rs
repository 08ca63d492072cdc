//! Contests: figures of one kind that are to be ranked, as they were printed and as they were measured.

use std::cmp::Reverse;

use kvdyno_analysis::Cell;
use kvdyno_results::{Phase, TrialResult};

use crate::numbers;
use crate::study::Study;

/// Figures that stand in one column of a printed table.
#[derive(Clone, Debug)]
pub(super) struct Contest {
    /// `reads beside a writer, 4 readers`.
    pub(super) title: String,
    /// What the contestants are: `engine`.
    pub(super) contestant: &'static str,
    /// What is compared.
    pub(super) figure: Figure,
    /// As printed.
    pub(super) entries: Vec<Entry>,
}

/// One contestant.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// For people.
    pub(super) label: String,
    /// As printed.
    pub(super) published: f64,
    /// Where the measured figure is.
    pub(super) cell: Pick,
}

/// Which cells of an experiment an entry is about. What is not said can be anything; an experiment without variants is
/// held against all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pick {
    /// Normalised: `rocksdb-pfx`.
    pub(super) engine: Option<String>,
    pub(super) variant: Option<String>,
    pub(super) phase: Option<Phase>,
    pub(super) workload: Option<String>,
    pub(super) readers: Option<u32>,
    /// Of several cells, the one with the most threads.
    pub(super) most_threads: bool,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
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

impl Figure {
    pub(super) fn more_is_better(self) -> bool {
        matches!(self, Figure::Reads | Figure::Writes | Figure::Operations)
    }

    pub(super) fn unit(self) -> &'static str {
        match self {
            Figure::Wall => "seconds",
            Figure::Reads => "reads/s",
            Figure::Writes => "writes/s",
            Figure::Operations => "operations/s",
            Figure::Switches => "context switches/s",
            Figure::CpuPerOperation => "CPU µs an operation",
            Figure::OutputsPerRecord => "filesystem outputs a record",
        }
    }

    pub(super) fn text(self, figure: f64) -> String {
        match self {
            Figure::Wall | Figure::CpuPerOperation | Figure::OutputsPerRecord => format!("{figure:.2}"),
            _ => numbers::rate(figure),
        }
    }

    fn of(self, cell: &Cell<'_>) -> Option<f64> {
        let estimate = |estimate: &Option<kvdyno_analysis::Estimate>| estimate.as_ref().map(|found| found.value);
        match self {
            Figure::Wall => estimate(&cell.wall_s),
            Figure::Reads => estimate(&cell.reads_per_s),
            Figure::Writes => estimate(&cell.writes_per_s),
            Figure::Operations => cell.median(|result| Some(result.reads_per_s() + result.writes_per_s())),
            Figure::Switches => cell.median(TrialResult::context_switches_per_s),
            Figure::CpuPerOperation => cell.median(cpu_per_operation),
            Figure::OutputsPerRecord => {
                cell.median(|result| Some(result.os.fs_out_ops as f64 / result.workload.records.max(1) as f64))
            }
        }
    }
}

fn cpu_per_operation(result: &TrialResult) -> Option<f64> {
    result.cpu_us_per_operation().map(|(user, sys)| user + sys)
}

impl Contest {
    /// The figure of the first cell that fits the entry and has it; where the entry is about the most threads, of the one
    /// with the most.
    pub(super) fn measured(&self, entry: &Entry, study: &Study<'_>) -> Option<f64> {
        let phases = [Phase::Load, Phase::Run].into_iter().flat_map(|phase| study.cells(phase));
        let mut fitting: Vec<_> = phases.filter(|cell| entry.cell.fits(cell)).collect();
        if entry.cell.most_threads {
            // Stable: of equal numbers the first stays first.
            fitting.sort_by_key(|cell| Reverse(cell.key.readers + cell.key.writers));
        }
        fitting.into_iter().find_map(|cell| self.figure.of(cell))
    }
}

impl Pick {
    fn fits(&self, cell: &Cell<'_>) -> bool {
        // What the trials were called, before names were made to tell them apart.
        let Some(key) = cell.finished.first().map(|result| &result.trial) else { return false };
        self.engine.as_ref().is_none_or(|engine| *engine == normal(&key.engine))
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
