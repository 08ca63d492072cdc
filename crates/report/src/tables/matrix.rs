//! Rates at a glance: engines down, threads across.

use kvdyno_analysis::verdicts::{Rivals, Verdict, measured_by};
use kvdyno_model::text::counted;
use kvdyno_results::{Side, TrialResult};

use super::crossing::crossings;
use super::fields::marked;
use super::of_cells::marks;
use crate::figures::declared::{READS, WRITES};
use crate::grid::{Content, Emphasis, Grid, GridCell, GridColumn, GridRow, TableNote};
use crate::order::distinct;
use crate::study::{Study, StudyCell};
use crate::verdicts::terms;

/// The meaning of the marks.
const LEGEND: &str = "* faster than every other of its column; ≈ the same as the highest; ? cannot tell.";

/// The tables of a workload: the rate of reads and the rate of writes, as far as it has them.
pub(crate) fn matrices(study: &Study<'_>, workload: &str) -> Vec<Grid> {
    let cells = study.running(workload);
    Side::ALL.into_iter().filter_map(|side| matrix(study, &cells, side)).collect()
}

fn matrix(study: &Study<'_>, cells: &[&StudyCell<'_>], side: Side) -> Option<Grid> {
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
        ranked(study, &column, side)
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
    let legend = (engines.len() > 1).then(|| TableNote::Words(LEGEND.to_owned()));
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

/// A column's figures, each marked by its comparison with the highest. All cells of a column did the same work, because
/// different works have different labels. The null engine takes no part.
fn ranked(study: &Study<'_>, column: &[Option<&StudyCell<'_>>], side: Side) -> Vec<GridCell> {
    let rivals: Vec<&StudyCell<'_>> = column.iter().copied().flatten().filter(|cell| !study.is_driver(cell)).collect();
    let emphasis = emphasis(study, &rivals, side);
    let missing = |content| GridCell { content, emphasis: Emphasis::Missing };
    let field = |cell: &Option<&StudyCell<'_>>| match (cell, cell.and_then(|cell| cell.rate(side))) {
        (Some(cell), Some(estimate)) => {
            let rival = rivals.iter().position(|rival| std::ptr::eq(*rival, *cell));
            let emphasis = rival.map_or(Emphasis::Plain, |rival| emphasis[rival]);
            GridCell { content: marked(cell, estimate), emphasis }
        }
        (Some(cell), None) if cell.finished.is_empty() => missing(Content::Words("failed".to_owned())),
        _ => missing(Content::Absent),
    };
    column.iter().map(field).collect()
}

/// The mark of each rival: the highest has its star only where it is faster than every other.
fn emphasis(study: &Study<'_>, cells: &[&StudyCell<'_>], side: Side) -> Vec<Emphasis> {
    let figure = |result: &TrialResult| result.is_finished().then(|| result.rate(side)).filter(|rate| *rate > 0.0);
    let rivals = Rivals::of(cells.iter().map(|cell| measured_by(cell, &figure)).collect());
    let highest = rivals.highest(&terms(study));
    let mut all = vec![Emphasis::Plain; cells.len()];
    for pairing in &highest {
        all[pairing.other] = match pairing.comparison.verdict {
            Verdict::Faster => Emphasis::Plain,
            Verdict::Same => Emphasis::Near,
            Verdict::Slower | Verdict::CannotTell => Emphasis::Untold,
        };
    }
    if let Some(first) = highest.first() {
        let any = |wanted| highest.iter().any(|pairing| all[pairing.other] == wanted);
        all[first.one] = match (any(Emphasis::Untold), any(Emphasis::Near)) {
            (true, _) => Emphasis::Untold,
            (false, true) => Emphasis::Near,
            (false, false) => Emphasis::Best,
        };
    }
    all
}
