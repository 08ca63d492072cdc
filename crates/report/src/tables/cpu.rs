//! What an operation cost in CPU time, and how often threads were switched, in the measured part alone.

use kvdyno_analysis::Cell;

use super::Grid;
use super::fields::{CPU, ENGINE};
use super::run::{by_engine, name_groups_once, thread_fields};
use crate::study::Study;

/// For a workload; none if nothing of it was measured.
pub(crate) fn run_cpu(study: &Study<'_>, workload: &str) -> Option<Grid> {
    let cells: Vec<&Cell<'_>> = by_engine(study, workload);
    cells.iter().find_map(|cell| cell.median(|result| Some(result.window.as_ref()?.seconds)))?;
    let mut fields = vec![ENGINE];
    fields.extend(thread_fields(&cells));
    let names = fields.len();
    fields.extend(CPU);
    let mut grid = Grid::of_cells(format!("{workload}: CPU of an operation"), &cells, &fields, names);
    grid.note = NOTE.to_owned();
    if grid.columns.iter().any(|column| column.head == SETTLING) {
        grid.note.push_str("\nsettling: the flush and the wait for background work that came after.");
    }
    name_groups_once(&mut grid.rows);
    Some(grid)
}

/// The head of a column that only a workload has which waits at its end.
pub(super) const SETTLING: &str = "settling";

const NOTE: &str = "Of the measured part: operations of the threads that the workload is about, CPU time of the worker for each,\n\
                    its context switches, and its CPU time over time (100 %: one processor).";
