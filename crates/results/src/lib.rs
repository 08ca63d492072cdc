//! The results of trials, and the folder that keeps them.
//!
//! [`TrialResult`] is the schema of one trial, [`Machine`] of what it ran on, [`folder::ResultsFolder`] the folder of
//! an experiment. Results are plain files that other tools can read: JSON for the result, HdrHistogram's log format for
//! latencies, CSV for the time series. Nothing here runs or judges anything.

mod audit;
mod client_kind;
mod design;
mod environment;
pub mod files;
pub mod folder;
pub mod latency_log;
mod machine;
mod named_figures;
mod op_kind;
mod os;
mod percentile;
mod saved_plan;
mod series;
mod trial_result;

pub use audit::{Audit, AuditFacts, ReadBack};
pub use client_kind::ClientKind;
pub use design::{DesignFacts, DuetFacts};
pub use environment::{CachedPages, NodePages, ObservedEnvironment};
pub use machine::{Cache, Cpu, DriverCost, Filesystem, Machine, NumaNode};
pub use named_figures::{FigureValue, NamedFigure, WorkloadFigures};
pub use op_kind::OpKind;
pub use os::{Device, OsFacts, Space};
pub use percentile::{Percentile, Percentiles};
pub use saved_plan::{Enough, SavedPlan};
pub use series::{Latency, SeriesPoint};
pub use trial_result::{
    AnswerCounts, EngineFacts, Failure, FailureKind, LeftOut, Operations, Phase, SCHEMA, Setting, Settling, Side,
    TrialKey, TrialOutcome, TrialResult, Window, WorkloadFacts,
};
