//! Rates at a glance: engines down, threads across.

use kvdyno_analysis::verdicts::{Aspect, RivalRank};
use kvdyno_model::text::counted;
use kvdyno_results::Side;

use super::crossing::crossings;
use super::fields::marked;
use super::of_cells::marks;
use crate::figures::declared::{READS, WRITES};
use crate::grid::{Content, Emphasis, Grid, GridCell, GridColumn, GridRow, TableNote};
use crate::order::distinct;
use crate::study::{Study, StudyCell};
use crate::verdicts::VerdictGroup;

/// The tables of a workload: the rate of reads and the rate of writes, as far as it has them.
pub(crate) fn matrices(study: &Study<'_>, groups: &[VerdictGroup<'_, '_>], workload: &str) -> Vec<Grid> {
    let cells = study.running(workload);
    Side::ALL.into_iter().filter_map(|side| matrix(study, groups, &cells, side)).collect()
}

fn matrix(study: &Study<'_>, groups: &[VerdictGroup<'_, '_>], cells: &[&StudyCell<'_>], side: Side) -> Option<Grid> {
    cells.iter().find_map(|cell| cell.rate(side))?;
    let mut threads = distinct(cells.iter().map(|cell| (cell.key.readers, cell.key.writers)));
    threads.sort_unstable();
    let mut engines = study.engines();
    engines.retain(|engine| cells.iter().any(|cell| cell.label.engine == *engine));
    let column = |count: &(u32, u32)| {
        let here = |engine: &&str, cell: &StudyCell<'_>| {
            cell.label.engine == *engine && (cell.key.readers, cell.key.writers) == *count
        };
        let column: Vec<_> =
            engines.iter().map(|engine| cells.iter().find(|cell| here(engine, cell)).copied()).collect();
        ranked(groups, &column, side)
    };
    let columns: Vec<Vec<GridCell>> = threads.iter().map(column).collect();
    let row = |(index, engine): (usize, &&str)| {
        let figures = columns.iter().map(|column| column[index].clone());
        GridRow { cells: std::iter::once(GridCell::words(*engine)).chain(figures).collect(), ..GridRow::default() }
    };
    let heads = threads.iter().map(|count| GridColumn::numbers(head(*count, &threads)));
    let rate = match side {
        Side::Reads => READS.head,
        Side::Writes => WRITES.head,
    };
    let legend =
        (engines.len() > 1).then(|| TableNote::Words(format!("By throughput, in each column: {}.", RivalRank::LEGEND)));
    Some(Grid {
        title: rate.to_owned(),
        columns: std::iter::once(GridColumn::words("engine")).chain(heads).collect(),
        rows: engines.iter().enumerate().map(row).collect(),
        notes: legend.into_iter().chain(marks(cells)).chain(crossings(cells)).collect(),
    })
}

/// `4 readers`; with the writers if they vary: `4 r, 1 w`.
fn head((readers, writers): (u32, u32), all: &[(u32, u32)]) -> String {
    let vary = distinct(all.iter().map(|(_, writers)| writers)).len() > 1;
    match (readers, vary) {
        (0, _) => counted(writers, "client"),
        (readers, true) => format!("{readers} r, {writers} w"),
        (readers, false) => counted(readers, "reader"),
    }
}

/// A column's figures, each marked by its place among its rivals.
fn ranked(groups: &[VerdictGroup<'_, '_>], column: &[Option<&StudyCell<'_>>], side: Side) -> Vec<GridCell> {
    let missing = |content| GridCell { content, emphasis: Emphasis::Missing };
    let field = |cell: &Option<&StudyCell<'_>>| match (cell, cell.and_then(|cell| cell.rate(side))) {
        (Some(cell), Some(estimate)) => {
            GridCell { content: marked(cell, estimate), emphasis: emphasis(groups, cell, side) }
        }
        (Some(cell), None) if cell.finished.is_empty() => missing(Content::Words("failed".to_owned())),
        _ => missing(Content::Absent),
    };
    column.iter().map(field).collect()
}

/// The mark of a cell: that of the verdicts on the throughput of the side.
fn emphasis(groups: &[VerdictGroup<'_, '_>], cell: &StudyCell<'_>, side: Side) -> Emphasis {
    let mut of_side = groups.iter().filter(|group| group.compared == Aspect::Throughput(side));
    match of_side.find_map(|group| group.verdicts.rank_of(group.index_of(cell)?)) {
        Some(RivalRank::Highest) => Emphasis::Best,
        Some(RivalRank::Same) => Emphasis::Near,
        Some(RivalRank::Untold) => Emphasis::Untold,
        Some(RivalRank::Lower) | None => Emphasis::Plain,
    }
}
