//! Rates at a glance: engines down, threads across.

use kvdyno_analysis::{Cell, Estimate};

use super::fields::marked;
use super::{Column, Grid, Mark, Row, Text, disturbed, notes};
use crate::study::{Study, counted, distinct};

/// What the marks mean.
const LEGEND: &str = "* the highest of its column; ≈ its 95 % interval reaches that of the highest.";

type Figure = fn(&Cell<'_>) -> Option<Estimate>;

/// For a workload, the rate of reads and the rate of writes, as far as it has them.
pub(crate) fn matrices(study: &Study<'_>, workload: &str) -> Vec<Grid> {
    let cells = study.running(workload);
    let figures: [(&str, Figure); 2] =
        [("reads/s", |cell| cell.reads_per_s.clone()), ("writes/s", |cell| cell.writes_per_s.clone())];
    figures.into_iter().filter_map(|(what, figure)| matrix(study, workload, &cells, what, figure)).collect()
}

fn matrix(study: &Study<'_>, workload: &str, cells: &[&Cell<'_>], what: &str, figure: Figure) -> Option<Grid> {
    cells.iter().find_map(|cell| figure(cell))?;
    let mut threads = distinct(cells.iter().map(|cell| (cell.key.readers, cell.key.writers)));
    threads.sort_unstable();
    let mut engines = study.engines();
    engines.retain(|engine| cells.iter().any(|cell| cell.key.engine == *engine));
    let column = |count: &(u32, u32)| {
        let here = |engine: &&str, cell: &Cell<'_>| {
            cell.key.engine == *engine && (cell.key.readers, cell.key.writers) == *count
        };
        let cells: Vec<_> =
            engines.iter().map(|engine| cells.iter().find(|cell| here(engine, cell)).copied()).collect();
        texts(study, &cells, figure)
    };
    let columns: Vec<Vec<Text>> = threads.iter().map(column).collect();
    let row = |(place, engine): (usize, &&str)| {
        let figures = columns.iter().map(|column| column[place].clone());
        Row { cells: std::iter::once(Text::from((*engine).to_owned())).chain(figures).collect(), ..Row::default() }
    };
    let heads = threads.iter().map(|count| Column::number(&head(*count, &threads)));
    Some(Grid {
        title: format!("{workload}: {what}"),
        columns: std::iter::once(Column::words("engine")).chain(heads).collect(),
        rows: engines.iter().enumerate().map(row).collect(),
        note: notes(cells, [if engines.len() > 1 { LEGEND } else { "" }, disturbed(cells)].join(" ").trim().to_owned()),
    })
}

/// `4 readers`; with the writers if they vary: `4 r, 1 w`.
fn head((readers, writers): (u32, u32), all: &[(u32, u32)]) -> String {
    let vary = distinct(all.iter().map(|(_, writers)| writers)).len() > 1;
    match (readers, vary) {
        (0, _) => counted(writers, "writer"),
        (readers, true) => format!("{readers} r, {writers} w"),
        (readers, false) => counted(readers, "reader"),
    }
}

/// A column's figures, the best marked, and those that cannot be told from it. The null engine is not in the running.
fn texts(study: &Study<'_>, column: &[Option<&Cell<'_>>], figure: Figure) -> Vec<Text> {
    let running = |cell: &&Cell<'_>| !study.is_driver(cell);
    let rivals: Vec<Estimate> = column.iter().copied().flatten().filter(running).filter_map(figure).collect();
    let best = rivals.iter().max_by(|a, b| a.value.total_cmp(&b.value)).filter(|_| rivals.len() > 1);
    let missing = |why: &str| Text { text: why.to_owned(), mark: Mark::Missing };
    let text = |cell: &Option<&Cell<'_>>| match (cell, cell.and_then(figure)) {
        (Some(cell), Some(estimate)) => {
            let best = best.filter(|_| running(cell));
            Text { text: marked(cell, &estimate), mark: best.map_or(Mark::Plain, |best| mark(&estimate, best)) }
        }
        (Some(cell), None) if cell.finished.is_empty() => missing("failed"),
        _ => missing("–"),
    };
    column.iter().map(text).collect()
}

fn mark(estimate: &Estimate, best: &Estimate) -> Mark {
    let reaches = estimate.high.zip(best.low).is_some_and(|(high, low)| high >= low);
    match estimate.value >= best.value {
        true => Mark::Best,
        false if reaches => Mark::Near,
        false => Mark::Plain,
    }
}
