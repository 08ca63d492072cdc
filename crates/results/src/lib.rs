//! The results of trials, and the folder that keeps them.
//!
//! [`TrialResult`] is the schema of one trial, [`Machine`] of what it ran on, [`folder::ResultsFolder`] the folder of
//! an experiment. Results are plain files that other tools can read: JSON for the result, HdrHistogram's log format for
//! latencies, CSV for the time series. Nothing here runs or judges anything.

mod amplification;
mod audit;
mod cell_key;
mod client_kind;
mod cpu;
mod design;
mod engine_facts;
mod environment;
pub mod files;
pub mod folder;
mod interference;
pub mod latency_log;
mod machine;
mod merge;
mod named_figures;
mod op_kind;
mod operations;
mod os;
mod part;
mod percentile;
mod rate_search;
mod requested_rate;
mod requested_work;
mod resources;
mod roles;
mod run_status;
mod saved_plan;
mod series;
mod side_by_side;
mod syncs;
mod trial_result;
mod work_key;
mod workload_facts;

pub use amplification::Layer;
pub use audit::{Audit, AuditFacts, ReadBack};
pub use cell_key::CellKey;
pub use client_kind::ClientKind;
pub use cpu::{AgainstCpuTime, CpuAccount, CpuFacts, MOST_BACKGROUND, MOST_BACKGROUND_DIFFERENCE, MOST_SLEEP};
pub use design::{DesignFacts, DuetSlice};
pub use engine_facts::{EngineCounters, EngineFacts, EngineFile, EngineIdentity, EnginePackage, Setting};
pub use environment::{CachedPages, KeptOutside, NodePages, ObservedEnvironment};
pub use interference::Interference;
pub use machine::{Cache, Cpu, DriverCost, Filesystem, KvdynoBuild, Machine, MachineLimits, MachineSetup, NumaNode};
pub use merge::{Merge, MergeError};
pub use named_figures::{FigureValue, NamedFigure, WorkloadFigures};
pub use op_kind::OpKind;
pub use operations::{Operations, Pacing, Side};
pub use os::{ACCOUNTED_BLOCK, CallBytes, Device, OsFacts, Space};
pub use part::{HostFacts, MergedPart, PartFacts, plan_digest};
pub use percentile::{Percentile, Percentiles};
pub use rate_search::{RateProbe, RateSearch, broken_parts};
pub use requested_work::RequestedWork;
pub use resources::ResourcePoint;
pub use roles::{RoleFacts, RoleOperations};
pub use run_status::{EndedTrial, EngineRelease, RunStatus, StatusCounts};
pub use saved_plan::{Enough, Repeated, SavedPlan, Skipped, Spent};
pub use series::{Latency, SeriesPoint};
pub use side_by_side::side_by_side;
pub use syncs::{DurableCommits, Syncs};
pub use trial_result::{
    AnswerCounts, Closing, DatabaseCopy, Failure, FailureKind, LeftOut, Phase, ProfileFacts, SCHEMA, Settling,
    TrialKey, TrialOutcome, TrialResult, Waits, Window,
};
pub use work_key::WorkKey;
pub use workload_facts::WorkloadFacts;
