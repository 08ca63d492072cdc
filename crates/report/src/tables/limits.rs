//! Figures beside the limits of the machine: what an engine would gain at the most.

use kvdyno_results::{MachineLimits, Side, TrialResult};

use super::run::{finished_by_engine, medians};
use crate::figures::Unit;
use crate::grid::{Grid, TableNote};
use crate::study::Study;

/// A figure of a trial by a limit.
type LimitFigure = fn(&TrialResult, &MachineLimits) -> Option<f64>;

/// Bytes of a read of the storage in its limit.
const BLOCK: f64 = 4096.0;

const COLUMNS: [(&str, LimitFigure, Unit, &str); 3] = [
    (
        "of syncs %",
        |result, limits| {
            let window = result.window.as_ref().filter(|window| window.seconds > 0.0)?;
            Some(100.0 * result.promised_commits()?.0 as f64 / window.seconds / limits.syncs_per_s)
        },
        Unit::Percent,
        "durable commits for each sync of 4 KiB that the storage does one after the other: clients that share a sync \
         exceed 100 %",
    ),
    (
        "of reads %",
        |result, limits| {
            let window = result.window.as_ref().filter(|window| window.seconds > 0.0)?;
            let read = window.read_bytes.filter(|read| *read > 0)? as f64;
            Some(100.0 * read / BLOCK / window.seconds / limits.reads_per_s?)
        },
        Unit::Percent,
        "4 KiB from the storage for each random read of 4 KiB that it does one after the other: read-ahead and clients \
         that read at once exceed 100 %",
    ),
    (
        "memory latencies",
        |result, limits| {
            let main = result.main_kind(Side::Reads).filter(|main| main.kind.is_one_record())?;
            Some(main.latency.mean_ns as f64 / limits.memory_latency_ns)
        },
        Unit::Factor,
        "mean latency of a read over that of a load from memory that depends on the one before",
    ),
];

/// The figures of a workload by the machine's limits; none if these were not measured.
pub(crate) fn near_limits(study: &Study<'_>, workload: &str) -> Option<Grid> {
    let of_limits = |figure: LimitFigure| {
        move |result: &TrialResult| figure(result, &study.machines.of_trial(result.trial.number)?.limits?)
    };
    let cells = finished_by_engine(study, workload);
    let is_known = |figure: LimitFigure| cells.iter().any(|cell| cell.median(of_limits(figure)).is_some());
    let known: Vec<_> = COLUMNS.into_iter().filter(|(_, figure, ..)| is_known(*figure)).collect();
    if known.is_empty() {
        return None;
    }
    let columns = known.iter().map(|(head, figure, unit, _)| (*head, of_limits(*figure), *unit));
    let mut grid = medians("Near limits", &cells, columns);
    grid.notes.extend(known.iter().map(|(head, .., meaning)| TableNote::Words(format!("{head}: {meaning}."))));
    Some(grid)
}
