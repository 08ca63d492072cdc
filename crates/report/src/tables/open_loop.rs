//! Operations at a rate: the rate that was asked for and the one that was reached, and where their time went.

use kvdyno_results::{Operations, Side, TrialResult};

use super::run::{by_engine, grouped};
use crate::figures::Unit;
use crate::grid::{ColumnGroup, Content, Grid, GridCell, GridColumn, TableNote};
use crate::study::Study;

/// A figure of the operations of a trial that came at a rate, of the kind that it did most.
type OpenFigure = fn(&TrialResult, &Operations) -> Option<f64>;

const COLUMNS: [(&str, OpenFigure, Unit); 6] = [
    ("asked/s", |result, main| ordered_per_s(result, main), Unit::PerSecond),
    ("reached/s", |result, main| Some(reached_per_s(result, main)), Unit::PerSecond),
    ("response", |_, main| Some(main.latency.mean_ns as f64), Unit::Nanos),
    ("service", |_, main| main.service_ns(), Unit::Nanos),
    ("behind", |_, main| Some(1e9 * main.pacing?.behind_s), Unit::Nanos),
    (
        "spinning %",
        |result, main| {
            Some(100.0 * main.pacing?.spinning_s / result.window.as_ref()?.seconds / f64::from(main.threads))
        },
        Unit::Percent,
    ),
];

const NOTE: &str = "Means of the kind of operation that came most often. response: from the moment at which it was due \
                    to its answer; service: from its beginning. behind: the client furthest behind its schedule at the \
                    end. spinning: the part of the clients' time in which they kept a processor to meet the moment.";

/// The operations of a workload that came at a rate; none if none did.
pub(crate) fn open_loop(study: &Study<'_>, workload: &str) -> Option<Grid> {
    let cells = by_engine(study, workload);
    let at_rate = |cell: &&crate::study::StudyCell<'_>| cell.finished.iter().any(|result| main(result).is_some());
    let mut grid = grouped("At a rate", &cells, []);
    grid.rows.retain(|row| row.failure.is_none());
    if !cells.iter().any(at_rate) {
        return None;
    }
    for (head, figure, unit) in COLUMNS {
        grid.columns.push(GridColumn { group: ColumnGroup::Rates, ..GridColumn::numbers(head) });
        for (row, cell) in grid.rows.iter_mut().zip(&cells) {
            let median = cell.median(|result| figure(result, main(result)?));
            row.cells.push(GridCell::from(median.map_or(Content::Absent, |median| Content::Number(median, unit))));
        }
    }
    grid.notes.push(TableNote::Words(NOTE.to_owned()));
    Some(grid)
}

/// The kind of operation at a rate that a trial did most.
fn main(result: &TrialResult) -> Option<&Operations> {
    let at_rate = result.operations.iter().filter(|one| one.pacing.is_some());
    at_rate.max_by_key(|one| one.operations)
}

/// Records a second of its side that were asked for; of a mix, operations.
fn ordered_per_s(result: &TrialResult, main: &Operations) -> Option<f64> {
    let workload = &result.workload;
    let searched = result.search.as_ref().map(|search| search.highest_per_s.unwrap_or(search.least_per_s));
    let of_side = match main.side() {
        Side::Reads => workload.read_rate,
        Side::Writes => workload.write_rate,
    };
    workload.rate.or(of_side).or(searched.filter(|_| workload.is_searched(main.side())))
}

/// The same that were done.
fn reached_per_s(result: &TrialResult, main: &Operations) -> f64 {
    let is_mixed = result.workload.rate.is_some() || result.search.is_some();
    let of_side = |one: &&Operations| one.pacing.is_some() && (is_mixed || one.side() == main.side());
    let counts_records = !is_mixed && main.side() == Side::Writes;
    let per_s = |one: &Operations| if counts_records { one.records_per_s } else { one.operations_per_s };
    result.operations.iter().filter(of_side).map(per_s).sum()
}
