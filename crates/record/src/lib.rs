//! What a trial gives, and where it is kept.
//!
//! [`Record`] is the schema of one trial, [`Machine`] of what it ran on, [`folder::Results`] the folder of an
//! experiment. Records are plain files that other tools can read: JSON for the record, HdrHistogram's log format for
//! latencies, CSV for the time series. Nothing here runs or judges anything.

pub mod files;
pub mod folder;
mod machine;
mod os;
mod series;
mod stage;
mod trial;
mod workers;

pub use machine::{Cache, Cpu, DriverCost, Filesystem, Machine, NumaNode};
pub use os::{Device, OsFacts, Space};
pub use series::{Latency, SeriesRow};
pub use stage::{CachedPages, NodePages, StageFacts};
pub use trial::{
    Answers, Cycles, EngineFacts, Failure, FailureKind, LeftOut, Operations, Outcome, Phase, Record, SCHEMA, Setting,
    Settling, TrialKey, Window, WorkloadFacts,
};
pub use workers::Workers;
