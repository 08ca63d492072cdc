//! The command line: commands and flags, with their help.

mod check_arguments;
mod engines_arguments;
mod key_flags;
mod parts_arguments;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use kvdyno_model::{Deal, KeyValue, TimeSpan, WantedParts};
use kvdyno_report::{Diff, Format, Paper, Tables};

use crate::progress::MetricsTarget;

pub use check_arguments::CheckArguments;
pub use engines_arguments::{EnginesArguments, EnginesCommand, InstallArguments, NewArguments, SettingsArguments};
pub use key_flags::{DiffFlags, KeyFlags};
pub use parts_arguments::{MergeArguments, Scheduler, StatusArguments, SubmitArguments};

/// A dynamometer for key-value storage engines: measures throughput, latency, CPU time, memory, storage and scaling,
/// and compares engines, with confidence intervals.
#[derive(Debug, Parser)]
#[command(
    version,
    long_version = crate::commands::machine::version(),
    about,
    max_term_width = 120,
    after_help = "Examples:
  kvdyno compare lmdb rocksdb                   load both, then measure 1, 2 and 4 readers, 1 writer
  kvdyno compare ./libmine.so lmdb --detect 1%  compare your own adapter with LMDB to within 1 %
  kvdyno diff lmdb lmdb@./new/liblmdb.so        test whether a new build is slower (exit code 3)
  kvdyno run experiment.toml                    run an experiment from a file
  kvdyno run inmem-numa --fit --budget 10m      run a published experiment, scaled to this machine
  kvdyno run --resume results/comparison-…      continue an interrupted run
  kvdyno run mine.toml --part 3/8               run one of eight parts, for one of eight machines
  kvdyno report results/comparison-…            print the tables again, and write its page of charts
  kvdyno engines rocksdb                        list capabilities and options of RocksDB's adapter
  kvdyno machine                                describe this machine, measure the driver's own cost

Exit codes:
  0    all is well
  1    trials failed (the report was printed), or kvdyno itself failed
  2    the input was wrong, or a results folder is damaged; nothing was run
  3    `diff`: worse
  4    `diff`: cannot tell
  130  interrupted; the message states how to continue"
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare engines: load each, then run workloads on the databases
    Compare(Box<CompareArguments>),
    /// Test whether a change made an engine slower (setups or results)
    Diff(Box<DiffArguments>),
    /// Run an experiment, or continue an interrupted one
    Run(RunArguments),
    /// Print the script by which Slurm, GitHub or GNU parallel runs an experiment in parts
    Submit(SubmitArguments),
    /// Show how far runs have come
    Status(StatusArguments),
    /// Merge the results of a plan's parts
    Merge(MergeArguments),
    /// Print the tables of a results folder, and write its page of charts
    Report(ReportArguments),
    /// List the engines, or the capabilities and options of one
    Engines(EnginesArguments),
    /// List kvdyno's own experiments, or print the file of one
    Experiments(ExperimentsArguments),
    /// List the workloads
    Workloads(ListArguments),
    /// Describe this machine, and measure the driver's own cost on it
    Machine(MachineArguments),
    /// Remove the resources that killed runs left behind
    Clean(CleanArguments),
    /// Print the completion script for a shell
    Completions(CompletionsArguments),
    /// Write the manual pages of all commands into a folder
    Man(ManArguments),
    /// Run one trial (started by `run` itself)
    #[command(hide = true)]
    Worker(WorkerArguments),
    /// Ask an adapter about itself (started by the program itself)
    #[command(hide = true)]
    Inspect,
}

#[derive(Debug, Args)]
#[command(after_help = "Headings in brackets are sections of the experiment file; docs/experiment-keys.md explains \
their keys and values. A trial is one load or run of one engine, and its worker the process in which the engine \
runs. A cell is all repeats of one trial.

Examples:
  kvdyno compare lmdb rocksdb leveldb bdb wiredtiger:btree wiredtiger:lsm
  kvdyno compare lmdb rocksdb --records 10M --value-size 400 --durability commit --readers 1,8,64
  kvdyno compare lmdb rocksdb --workload readseq,readreverse --duration 30s
  kvdyno compare rocksdb --option rocksdb.block_size=8KiB --library rocksdb=/opt/lib/librocksdb.so
  kvdyno compare ./libmine.so null --option mine.block_size=8KiB --format csv
  kvdyno compare old=./libmine.so new=build/libmine.so")]
pub struct CompareArguments {
    /// Engines: NAME, NAME:PRESET, NAME@VERSION, NAME@PATH with the path of a library, or the path of an adapter (see
    /// `kvdyno engines`). NAME=ENGINE sets the name in tables; the default is the adapter's own name
    #[arg(required = true, value_name = "ENGINE")]
    pub engines: Vec<String>,
    /// Option of an engine (see `kvdyno engines NAME`)
    #[arg(long, value_name = "ENGINE.OPTION=VALUE", help_heading = "[engine.NAME]")]
    pub option: Vec<String>,
    /// Library that an engine's adapter loads instead of the system's
    #[arg(long, value_name = "ENGINE=PATH", help_heading = "[engine.NAME]")]
    pub library: Vec<String>,
    #[command(flatten)]
    pub keys: KeyFlags,
    #[command(flatten)]
    pub erase: EraseArguments,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub watch: WatchArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "A is the side before the change, B the side after it. Worse means that B is slower than A.

Exit codes: 0 the same or better, 3 worse, 4 cannot tell, 1 trials failed or kvdyno itself failed, \
2 the input was wrong, 130 interrupted. With several cells, the exit code is the first of 1, 3, 4 that occurs. With \
--by machine, A is the first machine and B each other one.

Two setups are measured together until there is a verdict. The letters A and B apply an option to one side. \
Two results folders are compared where both did the same work. They were not measured together, so their intervals \
are wider, and the ratio includes all other changes between the two runs.

Headings in brackets are sections of the experiment file; docs/experiment-keys.md explains their keys and values. A \
trial is one load or run of one engine, and its worker the process in which the engine runs. A cell is all repeats \
of one trial.

Examples:
  kvdyno diff lmdb@/old/liblmdb.so lmdb@/new/liblmdb.so --detect 1%   two builds of a library
  kvdyno diff ./old/libmine.so ./new/libmine.so --workload readseq    two builds of an adapter
  kvdyno diff rocksdb@8.5.4 rocksdb@10.10.1 --budget 5m               two versions
  kvdyno diff rocksdb rocksdb --option B.block_size=16KiB             two settings
  kvdyno diff --resume results/diff-…                                 continue an interrupted diff
  kvdyno diff results/monday results/friday --format md               two results folders
  kvdyno diff results/plan/all --by machine                           machines of one plan")]
pub struct DiffArguments {
    /// Side before the change: an engine, as for `kvdyno compare`, or a results folder
    #[arg(value_name = "A", required_unless_present = "resume")]
    pub before: Option<String>,
    /// Side after the change: an engine or a results folder
    #[arg(value_name = "B", required_unless_present_any = ["resume", "by"])]
    pub after: Option<String>,
    /// Option of an engine; of one side: A.OPTION=VALUE or B.OPTION=VALUE
    #[arg(long, value_name = "ENGINE.OPTION=VALUE", help_heading = "[engine.NAME]")]
    pub option: Vec<String>,
    /// Library that an engine's adapter loads instead of the system's; of one side: A=PATH or B=PATH
    #[arg(long, value_name = "ENGINE=PATH", help_heading = "[engine.NAME]")]
    pub library: Vec<String>,
    #[command(flatten)]
    pub keys: DiffFlags,
    #[command(flatten)]
    pub erase: EraseArguments,
    /// Continue an interrupted diff; finished trials are not repeated
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["before", "after", "out", "dry_run"])]
    pub resume: Option<PathBuf>,
    /// Compare two results folders even if they are from different machines or machine states
    #[arg(long)]
    pub across: bool,
    /// Compare the machines of merged results (--deal repeats) with the first of them
    #[arg(long, value_name = "FACTOR", conflicts_with_all = ["after", "across", "resume"])]
    pub by: Option<DiffFactor>,
    /// New results folder [default: results/NAME-TIME]
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Format of the verdicts; json is for CI actions that track benchmarks
    #[arg(long, default_value_t = Format::Table, value_parser = one_of(&Diff::FORMATS), help_heading = "Output")]
    pub format: Format,
    /// Write the experiment file to standard output instead of running it
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
    #[command(flatten)]
    pub watch: WatchArguments,
}

/// The factor that distinguishes the sides of a diff within one results folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiffFactor {
    /// The machines that each did the whole plan
    Machine,
}

/// The progress of a run, for people and for programs.
#[derive(Clone, Debug, Default, Args)]
pub struct WatchArguments {
    /// Print errors and the result only, no progress
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
    /// Print events instead of the result, one JSON object a line: trials begun, finished, failed
    #[arg(long, conflicts_with_all = ["format", "dry_run"], help_heading = "Output")]
    pub json: bool,
    /// Write OpenMetrics text to a file during the run, for collectors such as Prometheus's node exporter; or serve it
    /// at an address of this machine, such as 127.0.0.1:9100
    #[arg(long, value_name = "FILE|ADDRESS", conflicts_with = "dry_run", help_heading = "Output")]
    pub metrics: Option<MetricsTarget>,
}

impl WatchArguments {
    /// Whether a person is told.
    pub fn tells(&self) -> bool {
        !self.quiet && !self.json
    }
}

/// A parser of these formats, which help and completions name; another word for one is read, too.
fn one_of(formats: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    let named = formats.iter().map(|format| PossibleValue::new(format.word()).aliases(format.other_word()));
    PossibleValuesParser::new(named).try_map(|word| word.parse::<Format>())
}

/// A parser of the words of a type.
fn words<T: KeyValue + Clone + Send + Sync + 'static>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::words().into_iter().map(|(word, _)| word)).try_map(|word| T::from_text(&word))
}

#[derive(Debug, Args)]
pub struct ListArguments {
    /// Format of the output
    #[arg(long, default_value_t = Format::Table, value_parser = one_of(&[Format::Table, Format::Json]))]
    pub format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "`make install` installs the scripts for all users. For yourself:
  kvdyno completions bash > ~/.local/share/bash-completion/completions/kvdyno
  kvdyno completions zsh > ~/.zfunc/_kvdyno             ~/.zfunc is in $fpath
  kvdyno completions fish > ~/.config/fish/completions/kvdyno.fish")]
pub struct CompletionsArguments {
    /// Shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct ManArguments {
    /// Folder for kvdyno.1, kvdyno-run.1, …; it is created if it does not exist
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// The block device for the databases, and the user's permission to erase it.
#[derive(Debug, Args)]
pub struct EraseArguments {
    /// Block device for the databases, with a storage other than a folder; it is erased
    #[arg(long, value_name = "PATH", requires = "yes_erase", help_heading = "[environment]")]
    pub device: Option<PathBuf>,
    /// The device of --device or of the file again, to confirm that everything on it may be erased
    #[arg(long, value_name = "PATH", help_heading = "[environment]")]
    pub yes_erase: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Resources are mounts, loop devices, control groups and processes. A run in progress keeps them. The \
                  files of a database stay in its results folder, so that the run can be resumed. To remove what a run \
                  with KVDYNO_REGISTER=FOLDER left behind, set the same variable."
)]
pub struct CleanArguments {
    /// List the leftovers, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct TablesArguments {
    /// Tables of --format table: those that answer the question, or all
    #[arg(long, default_value_t = Tables::Main, value_parser = words::<Tables>(), help_heading = "Output")]
    pub tables: Tables,
}

#[derive(Debug, Args)]
pub struct OutputArguments {
    /// New results folder [default: results/NAME-TIME]
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Format of the result
    #[arg(long, default_value_t = Format::Table, value_parser = one_of(Format::ALL), help_heading = "Output")]
    pub format: Format,
    #[command(flatten)]
    pub tables: TablesArguments,
    /// Write the experiment file to standard output instead of running it
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
}

impl OutputArguments {
    /// The format of the result, and the tables that it has.
    pub fn wanted(&self) -> (Format, Tables) {
        (self.format, self.tables.tables)
    }
}

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("limited").args(["fit", "resume"]),
    after_help = "Examples:
  kvdyno compare lmdb rocksdb --dry-run > mine.toml     write a file to start from
  kvdyno run mine.toml
  kvdyno run inmem-numa --fit --budget 10m              one of `kvdyno experiments`, in ten minutes
  kvdyno run mine.toml --part 3/8 --out results/part-3  one of eight parts, for one of eight machines
  kvdyno run mine.toml --part auto/8 --out results/all  each part that no other machine has begun, one after the other
  kvdyno run --resume results/comparison-20260101-120000"
)]
pub struct RunArguments {
    /// Experiment file, or the name of one of kvdyno's own experiments
    #[arg(required_unless_present = "resume", conflicts_with = "resume", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Continue an interrupted experiment; finished trials are not repeated
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["out", "dry_run", "fit"])]
    pub resume: Option<PathBuf>,
    /// Scale the experiment down to this machine, keep its ratios, and print the changes
    #[arg(long)]
    pub fit: bool,
    /// Approximate time limit of the whole run (with --fit); new time limit of a run that ends by its results (with
    /// --resume), including the time that it took before
    #[arg(long, value_name = "TIME", requires = "limited")]
    pub budget: Option<TimeSpan<1>>,
    /// Part of the plan to run, such as 3/8. Setups that are compared are in one part, with all their repeats.
    /// auto/8: every part that nobody else has begun, one after the other, in folders part-1 to part-8 of --out, which
    /// machines share
    #[arg(long, value_name = "NUMBER/PARTS", conflicts_with = "resume")]
    pub part: Option<WantedParts>,
    /// Rule of dealing: by blocks each part does some of the work, with all its repeats; by repeats each does the whole
    /// plan, so that machines are told from setups [default: blocks]
    #[arg(long, value_parser = words::<Deal>(), value_name = "DEAL", requires = "part")]
    pub deal: Option<Deal>,
    /// Folder for the databases, on the storage to be measured [default: lab.dir of the file, or the results folder]
    #[arg(long, value_name = "FOLDER", conflicts_with = "resume", help_heading = "[lab]")]
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub erase: EraseArguments,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub watch: WatchArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kvdyno report results/demo-…                      print the tables, and write the page of charts
  kvdyno report results/demo-… --format csv         one row for each cell, with intervals
  kvdyno report results/demo-… --out ~/pages/demo   write the page there, not into the results
  kvdyno report results/inmem-numa-… --against inmem-numa   beside Symas's figures of 2014
  kvdyno report results/demo-… --ods demo.ods       write tables and charts' data as a spreadsheet
  kvdyno report --schema > report.schema.json       write the JSON Schema of --format json")]
pub struct ReportArguments {
    /// Results folder
    #[arg(value_name = "FOLDER", required_unless_present = "schema")]
    pub folder: Option<PathBuf>,
    /// Show published figures next to the results, here and on the page: inmem-numa, 3n1, dbbench-smt or storage
    #[arg(long, value_name = "REPORT")]
    pub against: Option<Paper>,
    /// Format of the output
    #[arg(long, default_value_t = Format::Table, value_parser = one_of(Format::ALL))]
    pub format: Format,
    #[command(flatten)]
    pub tables: TablesArguments,
    /// Folder for the page and its files [default: report/ in the results folder]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Also write all tables into this OpenDocument spreadsheet
    #[arg(long, value_name = "FILE")]
    pub ods: Option<PathBuf>,
    /// Also write cells and time series into this folder as Parquet files, if kvdyno is built with Parquet
    #[arg(long, value_name = "FOLDER", conflicts_with = "against")]
    pub parquet: Option<PathBuf>,
    /// Print the JSON Schema of --format json
    #[arg(long, conflicts_with_all = ["folder", "against", "out", "ods", "parquet"])]
    pub schema: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kvdyno experiments                                    list the experiments
  kvdyno experiments example > mine.toml                a file to edit, with every key explained
  kvdyno experiments --schema > schema.json             write the JSON Schema, for editors")]
pub struct ExperimentsArguments {
    /// Print the file of this experiment
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Print the JSON Schema of experiment files
    #[arg(long, conflicts_with = "name")]
    pub schema: bool,
    #[command(flatten)]
    pub list: ListArguments,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The driver is the part of kvdyno that calls an engine, takes the times and verifies the values. Its \
                  own cost is the time of a get on the null engine, which keeps nothing and answers at once."
)]
pub struct MachineArguments {
    /// Folder whose filesystem is described
    #[arg(long, default_value = ".", value_name = "FOLDER")]
    pub dir: PathBuf,
    /// Measure what memory and the folder's storage allow, in a few seconds, and keep it for reports
    #[arg(long)]
    pub limits: bool,
    /// Print JSON, as --format json does
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    #[command(flatten)]
    pub list: ListArguments,
}

#[derive(Debug, Args)]
pub struct WorkerArguments {
    #[arg(required_unless_present_any = ["destroy", "audit"])]
    pub spec: Option<PathBuf>,
    /// The number of this process among several
    #[arg(long)]
    pub process: Option<usize>,
    /// Release what an engine keeps outside a database's folder, instead of running a trial
    #[arg(long, exclusive = true)]
    pub destroy: Option<String>,
    /// Read back what the trials on a database wrote, instead of running a trial
    #[arg(long, exclusive = true)]
    pub audit: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_fits_together() {
        Cli::command().debug_assert();
    }
}
