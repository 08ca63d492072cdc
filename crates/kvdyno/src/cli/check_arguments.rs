//! The flags of `kvdyno engines check`.

use std::path::PathBuf;

use clap::{Args, value_parser};
use kvdyno_model::TimeSpan;
use kvdyno_report::Format;

use super::one_of;

#[derive(Debug, Args)]
#[command(
    after_help = "Each check runs in its own process, on small databases. They are removed unless the check failed; \
then `kept` names their folder, beside the log. A failed check is repeated alone, with the same seed. If it then \
passes, it is flaky, and counts as failed unless --flaky allows it. Known faults of engines are printed as KNOWN, with \
the reason, and do not affect the exit code. At the time limit the message tells a slow check from a hung one: the \
calls answered so far, and whether it goes on. Exit code 1: a check failed.

Examples:
  kvdyno engines check                                    list the checks
  kvdyno engines check ./libmine.so                       check your own adapter
  kvdyno engines check rocksdb --only kill-commit,miss    run two of the checks
  kvdyno engines check lmdb --seed 17 --kills 100         a seed of another run, with more kills
  kvdyno engines check lmdb rocksdb --format md           print a table of checks and engines"
)]
pub struct CheckArguments {
    /// Engines: NAME, NAME:PRESET, or the path of an adapter
    #[arg(value_name = "ENGINE")]
    pub engines: Vec<String>,
    /// Run only these checks
    #[arg(long, value_delimiter = ',', value_name = "CHECK,…")]
    pub only: Vec<String>,
    /// Further checks that fail for a known reason; they are printed as KNOWN and do not affect the exit code
    #[arg(long, value_delimiter = ',', value_name = "CHECK,…")]
    pub known: Vec<String>,
    /// Option with which the checks open databases, for all engines given
    #[arg(long, value_name = "OPTION=VALUE")]
    pub option: Vec<String>,
    /// Library that the adapter loads instead of the system's
    #[arg(long, value_name = "PATH")]
    pub library: Option<PathBuf>,
    /// Folder for the checks' databases [default: the folder for temporary files]
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
    /// Folder for the logs of all checks, with the output of their processes, and for the databases of those that
    /// failed [default: a new one in the folder of --dir, if a check fails]
    #[arg(long, value_name = "FOLDER")]
    pub logs: Option<PathBuf>,
    /// Time limit of a check; a check that takes longer counts as hung
    #[arg(long, default_value = "60s", value_name = "TIME")]
    pub timeout: TimeSpan<1>,
    /// Seed of random moments, such as those of kills [default: a new seed each time, which is printed]
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Number of times that a check kills a writing process
    #[arg(long, default_value_t = 30, value_parser = value_parser!(u32).range(1..), value_name = "NUMBER")]
    pub kills: u32,
    /// Number of checks that may be flaky before flaky checks count as failed
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub flaky: usize,
    /// Number of engines checked in parallel; failed checks are repeated when all are done
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u32).range(1..), value_name = "NUMBER")]
    pub jobs: u32,
    /// Leave out missing engines, and list them
    #[arg(long)]
    pub skip_missing: bool,
    /// Format of the outcome
    #[arg(long, default_value_t = Format::Table, value_parser = one_of(&[Format::Table, Format::Markdown]))]
    pub format: Format,
    /// Run one check (started by `check` itself)
    #[arg(long, hide = true, exclusive = true, value_name = "TASK")]
    pub child: Option<String>,
}
