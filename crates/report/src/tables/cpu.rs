//! CPU time of an operation and context switches, in the measured part alone.

use super::fields::Field;
use super::run::{by_engine, grouped};
use crate::figures::declared::{CPU, SETTLING};
use crate::grid::{ColumnGroup, Grid, TableNote};
use crate::study::Study;

/// The CPU time of a workload; none if nothing of it was measured.
pub(crate) fn run_cpu(study: &Study<'_>, workload: &str) -> Option<Grid> {
    let cells = by_engine(study, workload);
    cells.iter().find_map(|cell| cell.median(|result| Some(result.window.as_ref()?.seconds)))?;
    let figures = CPU.map(|figure| Field::figure(figure, ColumnGroup::Rates));
    let mut grid = grouped("CPU of an operation", &cells, figures);
    grid.notes = vec![TableNote::Words(NOTE.to_owned())];
    note_settling(&mut grid);
    Some(grid)
}

/// Says what the column of settling is, if the table has it.
pub(super) fn note_settling(grid: &mut Grid) {
    if grid.columns.iter().any(|column| column.head == SETTLING.head) {
        let words = "settling: the flush and the wait for background work that came after.";
        grid.notes.push(TableNote::OfColumn(SETTLING.head, words));
    }
}

const NOTE: &str = "Of the measured part: operations of the clients that the workload is about, CPU time of the worker \
                    for each, its context switches, and its CPU time over time (100 %: one processor).";
