//! One file for each command.

pub mod check;
pub mod clean;
pub mod compare;
pub mod diff;
pub mod engines;
pub mod experiments;
pub mod generated;
pub mod install;
pub mod limits;
pub mod machine;
pub mod merge;
mod named;
pub mod new;
pub mod report;
pub mod rule;
pub mod run;
pub mod settings;
pub mod status;
pub mod submit;
pub mod worker;
pub mod workloads;
