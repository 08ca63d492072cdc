//! The measured process, from both sides.
//!
//! [`worker::run`] is what happens inside it, or inside each of several: it opens the engine, starts the threads, and lets
//! each run one of the [`loops`]. [`Observer`] is how the parent looks on: everything that a loop counts lies in [`shared`] memory, so that
//! looking costs the worker nothing and what was counted outlives its crash.

mod barrier;
mod clients;
pub mod clock;
mod histogram;
mod loops;
mod observer;
mod recall;
pub mod shared;
mod spec;
pub mod worker;

pub use histogram::TickHistogram;
pub use observer::{CyclesFound, KindTotals, Observer, Snapshot};
pub use spec::{DestroySpec, DriverCheck, TrialSpec, WorkerReport, of_process};
