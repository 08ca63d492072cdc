//! The commands for a plan that several machines measure in parts.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use kvdyno_model::{Deal, Part};

use super::{ListArguments, words};

/// A scheduler that runs the parts of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scheduler {
    /// A script that submits a job array and a job that merges, for bash
    Slurm,
    /// A workflow with a matrix of jobs, for .github/workflows
    Github,
    /// A script that starts GNU parallel, for bash
    Parallel,
}

#[derive(Debug, Args)]
#[command(after_help = "Nothing is run or submitted: read the script, and edit it.

Examples:
  kvdyno submit slurm mine.toml --parts 8 | bash -s -- --partition=NAME
  kvdyno submit parallel mine.toml --parts 8 | bash -s -- --sshloginfile MACHINES
  kvdyno submit github mine.toml --parts 8 > .github/workflows/kvdyno.yml")]
pub struct SubmitArguments {
    /// Scheduler
    #[arg(value_enum, value_name = "SCHEDULER")]
    pub scheduler: Scheduler,
    /// Experiment file, at the same path on each machine, or the name of one of kvdyno's own experiments
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Number of parts
    #[arg(long, value_name = "PARTS", value_parser = clap::value_parser!(u32).range(1..=i64::from(Part::MOST)))]
    pub parts: u32,
    /// Rule of dealing
    #[arg(long, value_parser = words::<Deal>(), value_name = "DEAL", default_value_t)]
    pub deal: Deal,
    /// New folder of all results, on storage that the machines share [default: results/NAME-TIME]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kvdyno status results/demo-…       how far one run has come
  kvdyno status results/part-*/      the same of all parts of a plan")]
pub struct StatusArguments {
    /// Results folder; a run may be at work there, on any machine
    #[arg(required = true, value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
    #[command(flatten)]
    pub list: ListArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Parts may be merged before all are complete, and again later. If several parts \
loaded a variant, the merged results have the loads of one of them.

Examples:
  kvdyno merge results/part-*/ --out results/all
  kvdyno report results/all")]
pub struct MergeArguments {
    /// Results folder of a part
    #[arg(required = true, value_name = "PART")]
    pub parts: Vec<PathBuf>,
    /// Folder of the merged results: a new one, or one that has some of these parts
    #[arg(long, value_name = "FOLDER")]
    pub out: PathBuf,
}
