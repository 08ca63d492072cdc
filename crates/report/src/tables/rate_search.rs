//! Searches for the highest rate that keeps a promise.

use kvdyno_results::{RateSearch, TrialResult, broken_parts};

use super::run::{add_column, add_medians, finished_by_engine, of_finished};
use crate::figures::Unit;
use crate::grid::{Grid, TableNote};
use crate::study::{Study, StudyCell};

/// A figure of a search.
type SearchFigure = fn(&RateSearch) -> Option<f64>;

const RATES: [(&str, SearchFigure); 2] =
    [("highest/s", |search| search.highest_per_s), ("capacity/s", |search| Some(search.capacity_per_s))];

const OTHERS: [(&str, SearchFigure, Unit); 2] = [
    ("of capacity %", |search| Some(100.0 * search.highest_per_s? / search.capacity_per_s), Unit::Percent),
    ("rates tried", |search| Some(search.probes.len() as f64), Unit::Count),
];

/// The searches of a workload; none if nothing was searched.
pub(crate) fn rate_searches(study: &Study<'_>, workload: &str) -> Option<Grid> {
    let cells = finished_by_engine(study, workload);
    let promise = cells.iter().find_map(|cell| cell.finished.iter().find_map(|result| result.search.as_ref()))?.promise;
    let of_search = |(head, figure, unit): (_, SearchFigure, _)| {
        (head, move |result: &TrialResult| figure(result.search.as_ref()?), unit)
    };
    let mut grid = of_finished("Highest rate", &cells);
    for (head, rate) in RATES {
        let of_cell = |cell: &StudyCell<'_>| cell.rate_by(|result| rate(result.search.as_ref()?));
        add_column(&mut grid, &cells, (head, of_cell, Unit::PerSecond));
    }
    add_column(&mut grid, &cells, ("measured, kept %", kept_pct, Unit::Percent));
    add_medians(&mut grid, &cells, OTHERS.map(of_search));
    grid.notes.push(TableNote::Words(format!(
        "Operations a second of all clients: the highest requested rate that keeps {promise}, of which verdicts \
         compare what was reached; and as many as the clients could do one after the other. measured, kept: the share \
         of repeats whose measured part, at the highest rate, kept the promise again."
    )));
    Some(grid)
}

fn kept_pct(cell: &StudyCell<'_>) -> Option<f64> {
    let (broken, all) = broken_parts(cell.finished.iter().filter_map(|result| result.search.as_ref()));
    (all > 0).then(|| 100.0 * (all - broken) as f64 / all as f64)
}
