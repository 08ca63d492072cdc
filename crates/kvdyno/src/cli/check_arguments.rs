//! The flags of `kvdyno engines check`.

use std::path::PathBuf;

use clap::{Args, value_parser};
use kvdyno_model::TimeSpan;
use kvdyno_report::Format;

use super::one_of;

#[derive(Debug, Args)]
#[command(
    after_help = "Each check runs in a process of its own, on small databases that it removes. A check that failed is
repeated alone, with the same seed; one that passes then is flaky, and failed unless --flaky says otherwise. Known
faults of engines, with the versions that have them, are printed and decide nothing. Exit code 1: a check failed.

Examples:
  kvdyno engines check                                    what is checked
  kvdyno engines check ./libmine.so                       your own adapter
  kvdyno engines check rocksdb --only kill-commit,miss    two of the checks
  kvdyno engines check lmdb --seed 17 --kills 100         at the random moments of another run, and more of them
  kvdyno engines check lmdb rocksdb --format md           a table of checks and engines for a page"
)]
pub struct CheckArguments {
    /// Engines: a name, NAME:PRESET, or the path of an adapter
    #[arg(value_name = "ENGINE")]
    pub engines: Vec<String>,
    /// Run only these checks
    #[arg(long, value_delimiter = ',', value_name = "CHECK,…")]
    pub only: Vec<String>,
    /// Checks that fail for a known reason, beside those that are known of the engine: they decide nothing
    #[arg(long, value_delimiter = ',', value_name = "CHECK,…")]
    pub known: Vec<String>,
    /// An option that the checks open databases with, for all engines given
    #[arg(long, value_name = "OPTION=VALUE")]
    pub option: Vec<String>,
    /// The library that the adapter loads instead of the system's
    #[arg(long, value_name = "PATH")]
    pub library: Option<PathBuf>,
    /// The folder for the checks' databases [default: the folder for temporary files]
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
    /// The folder for the logs of all checks, with all that their processes print [default: with the databases, if a
    /// check fails]
    #[arg(long, value_name = "FOLDER")]
    pub logs: Option<PathBuf>,
    /// The time limit of a check; one that takes longer hangs
    #[arg(long, default_value = "60s", value_name = "TIME")]
    pub timeout: TimeSpan<1>,
    /// The seed of random moments, such as those of kills [default: another one each time, which is printed]
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// The number of times that a check kills a process that writes
    #[arg(long, default_value_t = 30, value_parser = value_parser!(u32).range(1..), value_name = "NUMBER")]
    pub kills: u32,
    /// The number of checks that may be flaky before one of them counts as failed
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub flaky: usize,
    /// The number of engines that are checked side by side; a failed check is repeated when all are done
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u32).range(1..), value_name = "NUMBER")]
    pub jobs: u32,
    /// Leave out engines that are not here, and say so
    #[arg(long)]
    pub skip_missing: bool,
    /// The format of the outcome
    #[arg(long, default_value_t = Format::Table, value_parser = one_of(&[Format::Table, Format::Markdown]))]
    pub format: Format,
    /// Run one check (started by `check` itself)
    #[arg(long, hide = true, exclusive = true, value_name = "TASK")]
    pub child: Option<String>,
}
