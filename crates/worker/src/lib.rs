//! The measured process, from both sides.
//!
//! [`worker::run`] is the process, or each of several: it opens the engine, starts the clients, and lets each run the
//! loop of its role in one of the [`workloads`]. Everything that a loop
//! counts lies in [`shared`] memory, where the parent reads it by an [`Observer`]: so looking costs the worker nothing,
//! and what was counted outlives its crash.

mod afterwards;
mod arrival;
mod audit;
mod barrier;
mod cache_fill;
mod client_times;
mod clients;
pub mod clock;
mod counter;
mod futex;
#[cfg(test)]
mod held_memory;
mod histogram;
mod key_choice;
mod ledger_memory;
mod loops;
mod observer;
mod plausible;
mod recall;
mod segment;
mod session_alone;
pub mod shared;
pub mod slices;
mod spec;
mod thread_accounts;
mod trial;
mod usage;
pub mod worker;
pub mod workloads;

pub use audit::process::run as audit;
pub use client_times::{ClientTimes, ClientWork};
pub use histogram::TickHistogram;
pub use key_choice::{misfit_of_ids, sample_ids};
pub use observer::{KindTotals, Observer, ProbeReading, ProbeWork, Snapshot};
pub use plausible::TrialClock;
pub use spec::{
    AuditReport, AuditSpec, DestroySpec, DriverCheck, KnownContents, PresentIds, SessionAudit, TrialSpec, WorkerReport,
    Written, of_process,
};
