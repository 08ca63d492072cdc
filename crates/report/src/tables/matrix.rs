//! Rates at a glance: engines down, threads across.

use kvdyno_verdict::{Cell, Estimate};

use super::{Column, Grid, Mark, Row, Text};
use crate::numbers::rate;
use crate::study::{Study, distinct};

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
    let at = |engine: &str, count: (u32, u32)| {
        let here = |cell: &&&Cell<'_>| cell.key.engine == engine && (cell.key.readers, cell.key.writers) == count;
        cells.iter().find(here).copied()
    };
    let engines: Vec<&str> = study.engines().into_iter().filter(|e| cells.iter().any(|c| c.key.engine == *e)).collect();
    let mut columns: Vec<Vec<Text>> = Vec::new();
    for count in &threads {
        let column: Vec<Option<&Cell<'_>>> = engines.iter().map(|engine| at(engine, *count)).collect();
        columns.push(marked(&column, figure));
    }
    let row = |(place, engine): (usize, &&str)| Row {
        cells: std::iter::once(Text::from((*engine).to_owned()))
            .chain(columns.iter().map(|c| c[place].clone()))
            .collect(),
        ..Row::default()
    };
    let heads = threads.iter().map(|count| Column::number(&head(*count, &threads)));
    Some(Grid {
        title: format!("{workload}: {what}"),
        columns: std::iter::once(Column::words("engine")).chain(heads).collect(),
        rows: engines.iter().enumerate().map(row).collect(),
        note: if engines.len() > 1 { LEGEND.to_owned() } else { String::new() },
    })
}

/// `4r`; with the writers if they vary: `4r 1w`.
fn head((readers, writers): (u32, u32), all: &[(u32, u32)]) -> String {
    let vary = distinct(all.iter().map(|(_, writers)| writers)).len() > 1;
    match (readers, vary) {
        (0, _) => format!("{writers} writers").replace("1 writers", "1 writer"),
        (readers, true) => format!("{readers} r, {writers} w"),
        (1, false) => "1 reader".to_owned(),
        (readers, false) => format!("{readers} readers"),
    }
}

/// A column's figures, the best marked, and those that cannot be told from it.
fn marked(column: &[Option<&Cell<'_>>], figure: Figure) -> Vec<Text> {
    let estimates: Vec<Option<Estimate>> = column.iter().map(|cell| cell.and_then(figure)).collect();
    let best = estimates.iter().flatten().max_by(|a, b| a.value.total_cmp(&b.value)).cloned();
    let alone = estimates.iter().flatten().count() < 2;
    let text = |(cell, estimate): (&Option<&Cell<'_>>, &Option<Estimate>)| match (cell, estimate, &best) {
        (None, ..) => Text { text: "–".to_owned(), mark: Mark::Missing },
        (Some(_), None, _) | (.., None) => Text { text: "failed".to_owned(), mark: Mark::Missing },
        (_, Some(estimate), _) if alone => Text::from(rate(estimate.value)),
        (_, Some(estimate), Some(best)) => Text { text: rate(estimate.value), mark: mark(estimate, best) },
    };
    column.iter().zip(&estimates).map(text).collect()
}

fn mark(estimate: &Estimate, best: &Estimate) -> Mark {
    let reaches = estimate.high.zip(best.low).is_some_and(|(high, low)| high >= low);
    match estimate.value >= best.value {
        true => Mark::Best,
        false if reaches => Mark::Near,
        false => Mark::Plain,
    }
}
