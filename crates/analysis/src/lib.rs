//! Figures of cells with their uncertainty, and doubts about results.
//!
//! Trials that repeat each other form a [`Cell`]; a rate of a cell is an [`Estimate`], which travels with its interval
//! or says that it has none; [`check`] holds a result against itself and against its machine, and gives a [`Doubt`] for
//! each thing that does not fit; [`mod@steadiness`] says of the runs of a cell whether they were steady; a
//! [`Comparison`](verdicts::Comparison) of two cells ends in a verdict. Nothing here reads a file or prints.

mod agreement;
mod calm;
mod cells;
mod doubts;
mod estimate;
mod interference;
mod latency;
mod machines;
mod put_off;
mod random;
mod same_work;
pub mod simulation;
mod steadiness;
#[cfg(test)]
mod testing;
pub mod verdicts;

pub use agreement::{Agreement, agreement, agreement_interval};
pub use cells::{Cell, Series, cells, cells_of_results, cells_on_machines};
pub use doubts::{Doubt, SHORTEST_WINDOW_S, Weakness, check};
pub use estimate::{Estimate, Method};
pub use interference::{interfered_runs, is_marked};
pub use latency::{CellLatency, CurvePoint, SLOW};
pub use machines::{FEWEST_MACHINES, RepeatMachines};
pub use put_off::{PutOff, WithClosing};
pub use same_work::{SameWork, is_driver, same_work, works_with_answers};
pub use steadiness::{CellSteadiness, Debt, Steadiness, Unsteady, Untold, steadiness};
