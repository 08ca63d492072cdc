//! The columns of tables of cells.

use std::borrow::Cow;

use kvdyno_analysis::{CellLatency, Estimate, is_marked};
use kvdyno_model::text::{threads, three_digits};
use kvdyno_results::{Percentile, Side, Syncs};

use crate::figures::{Figure, Unit, declared};
use crate::grid::{ColumnGroup, Content, GridColumn};
use crate::study::StudyCell;

/// A column of a table of cells.
#[derive(Clone)]
pub(super) struct Field {
    pub(super) head: Cow<'static, str>,
    is_number: bool,
    pub(super) group: ColumnGroup,
    source: Source,
}

/// The source of a field's content.
#[derive(Clone)]
enum Source {
    Words(fn(&StudyCell<'_>) -> String),
    Figure(Figure),
    Rate(Side),
    Uncertainty(Side),
    Percentile(Side, Percentile),
    PercentileWithInterval(Side, Percentile),
    Greatest(Side),
}

impl Field {
    /// A name of cells.
    const fn name(head: &'static str, is_number: bool, value: fn(&StudyCell<'_>) -> String) -> Field {
        Field { head: Cow::Borrowed(head), is_number, group: ColumnGroup::Names, source: Source::Words(value) }
    }

    /// A declared figure: its median.
    pub(super) fn figure(figure: Figure, group: ColumnGroup) -> Field {
        Field { head: Cow::Borrowed(figure.head), is_number: true, group, source: Source::Figure(figure) }
    }

    /// The rate of a side under the head of its figure, and its uncertainty.
    pub(super) fn rate(figure: Figure, side: Side) -> [Field; 2] {
        let field =
            |head, source| Field { head: Cow::Borrowed(head), is_number: true, group: ColumnGroup::Rates, source };
        [field(figure.head, Source::Rate(side)), field("±", Source::Uncertainty(side))]
    }

    fn latency(head: String, source: Source) -> Field {
        Field { head: Cow::Owned(head), is_number: true, group: ColumnGroup::Rates, source }
    }

    pub(super) fn column(&self) -> GridColumn {
        let head = self.head.clone().into_owned();
        GridColumn { head, is_number: self.is_number, group: self.group, continues: self.continues() }
    }

    fn continues(&self) -> bool {
        match &self.source {
            Source::Uncertainty(_) | Source::Greatest(_) => true,
            Source::Percentile(_, percentile) | Source::PercentileWithInterval(_, percentile) => {
                self.head == percentile.to_string()
            }
            Source::Words(_) | Source::Figure(_) | Source::Rate(_) => false,
        }
    }

    pub(super) fn content(&self, cell: &StudyCell<'_>) -> Content {
        match &self.source {
            Source::Words(words) => Content::Words(words(cell)),
            Source::Figure(figure) => match figure.median(cell) {
                Some(value) => Content::Number(value, figure.unit()),
                // A column that only some workloads have.
                None if figure.key == declared::SETTLING.key => Content::Empty,
                None => Content::Absent,
            },
            Source::Rate(side) => cell.rate(*side).map_or(Content::Absent, |rate| marked(cell, rate)),
            Source::Uncertainty(side) => {
                cell.rate(*side).and_then(Estimate::relative).map_or(Content::Empty, Content::Uncertainty)
            }
            Source::Percentile(side, percentile) => {
                nanos(cell.main_latency(*side), |latency| latency.latency.at(*percentile))
            }
            Source::PercentileWithInterval(side, percentile) => cell
                .main_latency(*side)
                .map_or(Content::Absent, |latency| Content::Latency(latency.estimate(*percentile))),
            Source::Greatest(side) => nanos(cell.main_latency(*side), |latency| latency.latency.max_ns),
        }
    }
}

fn nanos(latency: Option<&CellLatency>, figure: impl Fn(&CellLatency) -> u64) -> Content {
    latency.map_or(Content::Absent, |latency| Content::Number(figure(latency) as f64, Unit::Nanos))
}

pub(super) const ENGINE: Field = Field::name("engine", false, |cell| cell.label.engine.clone());
pub(super) const WORKLOAD: Field = Field::name("workload", false, |cell| cell.label.workload.clone());
pub(super) const READERS: Field = Field::name("readers", true, |cell| cell.key.readers.to_string());
/// The threads of a load.
pub(super) const LOAD_THREADS: Field = Field::name("threads", true, |cell| cell.key.writers.to_string());
/// The clients of a workload of which none only reads.
pub(super) const CLIENTS: Field = Field::name("clients", true, |cell| cell.key.writers.to_string());
/// The threads in words, for tables in which both numbers vary.
pub(super) const THREADS: Field = Field::name("threads", false, |cell| threads(cell.key.readers, cell.key.writers));

/// Syncs for each commit.
pub(super) const SYNCS: Field = Field {
    head: Cow::Borrowed("syncs/commit"),
    is_number: true,
    group: ColumnGroup::Rates,
    source: Source::Words(syncs),
};

/// Whether a cell has commits that were acknowledged as durable.
pub(super) fn has_commits(cell: &StudyCell<'_>) -> bool {
    cell.finished.iter().any(|result| result.promised_commits().is_some())
}

fn syncs(cell: &StudyCell<'_>) -> String {
    let for_each = cell.median(|result| {
        let commits = result.commits()?;
        let syncs = match commits.syncs {
            Syncs::OfDevice { flushes, .. } => flushes,
            Syncs::OfWorker(syncs) => syncs,
        };
        Some(syncs as f64 / commits.commits as f64)
    });
    match for_each {
        Some(syncs) => three_digits(syncs),
        None if has_commits(cell) => "not checked".to_owned(),
        None => "–".to_owned(),
    }
}

/// The percentiles of a table that is too narrow for all.
const MAIN_PERCENTILES: [Percentile; 3] = [Percentile::P50, Percentile::P99, Percentile::P99_9];

/// The accounts of `time`, and those that the published reports add, in their order.
pub(super) fn costs() -> impl Iterator<Item = Field> {
    declared::COSTS.into_iter().map(|figure| Field::figure(figure, ColumnGroup::Costs))
}

/// The most telling percentiles of a side's latency; the first head names the side.
pub(super) fn main_percentiles(side: Side) -> impl Iterator<Item = Field> {
    percentiles(&MAIN_PERCENTILES, side, Source::Percentile)
}

/// The percentiles of a side's latency with their intervals, and the greatest latency.
pub(super) fn all_percentiles(side: Side) -> impl Iterator<Item = Field> {
    let greatest = Field::latency("max".to_owned(), Source::Greatest(side));
    percentiles(&Percentile::ALL, side, Source::PercentileWithInterval).chain([greatest])
}

fn percentiles(
    all: &'static [Percentile],
    side: Side,
    source: fn(Side, Percentile) -> Source,
) -> impl Iterator<Item = Field> {
    all.iter().enumerate().map(move |(index, percentile)| {
        let head = if index == 0 { format!("{} {percentile}", side.verb()) } else { percentile.to_string() };
        Field::latency(head, source(side, *percentile))
    })
}

/// A rate, marked if there was interference with one of the trials that it was made from, or if it was not steady.
pub(super) fn marked(cell: &StudyCell<'_>, estimate: &Estimate) -> Content {
    Content::Rate { per_s: estimate.value, has_interference: has_interference(cell), is_unsteady: cell.is_unsteady() }
}

pub(super) fn has_interference(cell: &StudyCell<'_>) -> bool {
    cell.finished.iter().any(|result| is_marked(result))
}
