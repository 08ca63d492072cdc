//! The command line: commands and flags, with their help.

mod check_arguments;
mod key_flags;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use kvdyno_install::Language;
use kvdyno_model::TimeSpan;
use kvdyno_report::{Diff, Format, Paper, Tables};

use crate::progress::MetricsTarget;

pub use check_arguments::CheckArguments;
pub use key_flags::{DiffFlags, KeyFlags, SettingsFlags};

/// A dynamometer for key-value storage engines: measures throughput, latency, CPU time, memory, storage and scaling, and
/// compares engines, with confidence intervals.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    max_term_width = 120,
    after_help = "Examples:
  kvdyno compare lmdb rocksdb                       load both, then read beside a writer with 1, 2 and 4 readers
  kvdyno compare ./libmine.so lmdb --detect 1%      your own adapter beside LMDB, until 1 % is told apart
  kvdyno diff lmdb lmdb@./new/liblmdb.so            whether another build is slower: exit code 3 if it is
  kvdyno run experiment.toml                        the same from a file, with everything in it
  kvdyno run inmem-numa --fit --budget 10m          one of the published experiments, at this machine's size
  kvdyno run --resume results/comparison-…          go on where an interrupted run stopped
  kvdyno report results/comparison-… --format md    the tables again, and the page of charts
  kvdyno engines rocksdb                            what RocksDB's adapter can do and its options
  kvdyno machine                                    this machine, and what the driver itself costs

Exit codes:
  0    all is well
  1    trials failed (the report was printed), or the lab could not work
  2    the input was wrong, or a results folder is damaged; nothing was run
  3    `diff`: worse
  4    `diff`: cannot tell
  130  interrupted; the message says how to go on"
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare engines: load each, then run the workload on the same databases, beside each other
    Compare(Box<CompareArguments>),
    /// Tell whether a change made an engine slower, by two builds, versions or settings, or by two results folders
    Diff(Box<DiffArguments>),
    /// Run an experiment, of a file or one that comes with kvdyno, or go on with an interrupted one
    Run(RunArguments),
    /// Print the tables of a results folder again, and make its page of charts
    Report(ReportArguments),
    /// List the engines, or what one of them can do and its options
    Engines(EnginesArguments),
    /// List the experiments that come with kvdyno, or print the file of one
    Experiments(ExperimentsArguments),
    /// List the workloads
    Workloads(ListArguments),
    /// Describe this machine and what the driver itself costs on it
    Machine(MachineArguments),
    /// Find and remove what runs left behind that were killed: mounts, loop devices, control groups, processes
    Clean(CleanArguments),
    /// Print what a shell completes commands and flags by
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
#[command(after_help = "Examples:
  kvdyno compare lmdb rocksdb leveldb bdb wiredtiger:btree wiredtiger:lsm
  kvdyno compare lmdb rocksdb --records 10M --value-size 400 --durability commit --readers 1,8,64
  kvdyno compare lmdb rocksdb --workload readseq,readreverse --duration 30s
  kvdyno compare rocksdb --option rocksdb.block_size=8KiB --library rocksdb=/opt/rocksdb/librocksdb.so
  kvdyno compare ./libmine.so null --option mine.block_size=8KiB --format csv
  kvdyno compare old=./libmine.so new=build/libmine.so")]
pub struct CompareArguments {
    /// Engines: a name, NAME:PRESET, NAME@VERSION, NAME@PATH of a library, or the path of an adapter, which is called
    /// as it calls itself (see `kvdyno engines`); with another name for the tables: NAME=ENGINE
    #[arg(required = true, value_name = "ENGINE")]
    pub engines: Vec<String>,
    /// An engine's own option (see `kvdyno engines NAME`)
    #[arg(long, value_name = "ENGINE.OPTION=VALUE", help_heading = "[engine.NAME]")]
    pub option: Vec<String>,
    /// The library that an engine's adapter loads instead of the system's
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
#[command(after_help = "A is before the change and B after it: worse means that B is slower than A.

Exit codes: 0 the same or better, 3 worse, 4 cannot tell, 1 trials failed or the lab could not work, \
2 the input was wrong; of several cells the first of 1, 3, 4 that occurs.

Two setups are measured beside each other until there is a verdict. Options are for one side by its letter. \
Two results folders are compared where both did the same work; they were not measured beside each other, so that \
their intervals are wider, and whatever else changed between the two runs is in the ratio.

Examples:
  kvdyno diff lmdb@/old/liblmdb.so lmdb@/new/liblmdb.so --detect 1%   two builds of a library
  kvdyno diff ./old/libmine.so ./new/libmine.so --workload readseq    two builds of an adapter
  kvdyno diff rocksdb@8.5.4 rocksdb@10.10.1 --budget 5m               two versions
  kvdyno diff rocksdb rocksdb --option B.block_size=16KiB             two settings
  kvdyno diff --resume results/diff-…                                 go on where it was interrupted
  kvdyno diff results/monday results/friday --format md               what was measured already")]
pub struct DiffArguments {
    /// The side before the change: an engine as `kvdyno compare` takes it, or a results folder
    #[arg(value_name = "A", required_unless_present = "resume")]
    pub before: Option<String>,
    /// The side after the change: the same
    #[arg(value_name = "B", required_unless_present = "resume")]
    pub after: Option<String>,
    /// An engine's own option; for one side A.OPTION=VALUE or B.OPTION=VALUE
    #[arg(long, value_name = "ENGINE.OPTION=VALUE", help_heading = "[engine.NAME]")]
    pub option: Vec<String>,
    /// The library that an engine's adapter loads instead of the system's; for one side A=PATH or B=PATH
    #[arg(long, value_name = "ENGINE=PATH", help_heading = "[engine.NAME]")]
    pub library: Vec<String>,
    #[command(flatten)]
    pub keys: DiffFlags,
    #[command(flatten)]
    pub erase: EraseArguments,
    /// Go on with an interrupted diff; finished trials are not repeated
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["before", "after", "out", "dry_run"])]
    pub resume: Option<PathBuf>,
    /// Compare two results folders although they come from another machine, or from another state of it
    #[arg(long)]
    pub across: bool,
    /// The results folder, which must be new [default: results/NAME-TIME]
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// The format of the verdicts; json is for actions that track benchmarks
    #[arg(long, default_value_t = Format::Table, value_parser = one_of(&Diff::FORMATS), help_heading = "Output")]
    pub format: Format,
    /// Write the experiment file to standard output instead of running it
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
    #[command(flatten)]
    pub watch: WatchArguments,
}

/// Whether people and programs are told how a run goes on, and how.
#[derive(Clone, Debug, Default, Args)]
pub struct WatchArguments {
    /// Print nothing about the work, only errors and the result
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
    /// Print what happens while it runs instead of the result, one JSON object a line: trials begun, finished, failed
    #[arg(long, conflicts_with_all = ["format", "dry_run"], help_heading = "Output")]
    pub json: bool,
    /// Keep a file of OpenMetrics text while it runs, for collectors such as Prometheus's node exporter; or serve that
    /// text at a port of this machine: 127.0.0.1:9100
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

fn languages() -> impl TypedValueParser<Value = Language> {
    PossibleValuesParser::new(Language::ALL.iter().map(|language| language.word())).try_map(|word| word.parse())
}

fn tables() -> impl TypedValueParser<Value = Tables> {
    PossibleValuesParser::new(Tables::ALL.iter().map(|tables| tables.word())).try_map(|word| word.parse())
}

#[derive(Debug, Args)]
pub struct ListArguments {
    /// The format of the output
    #[arg(long, default_value_t = Format::Table, value_parser = one_of(&[Format::Table, Format::Json]))]
    pub format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "`make install` puts them where shells look. For yourself:
  kvdyno completions bash > ~/.local/share/bash-completion/completions/kvdyno
  kvdyno completions zsh > ~/.zfunc/_kvdyno             a folder of $fpath
  kvdyno completions fish > ~/.config/fish/completions/kvdyno.fish")]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct ManArguments {
    /// The folder, which is made if it is not there: kvdyno.1, kvdyno-run.1, …
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// The block device for the databases, and the user's permission to erase it.
#[derive(Debug, Args)]
pub struct EraseArguments {
    /// The block device that databases go to, with a storage other than a folder; it is erased
    #[arg(long, value_name = "PATH", requires = "yes_erase", help_heading = "[environment]")]
    pub device: Option<PathBuf>,
    /// The same device again, to confirm that everything on it may be erased
    #[arg(long, value_name = "PATH", requires = "device", help_heading = "[environment]")]
    pub yes_erase: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "What belongs to a run in progress is left alone. The files of a database stay in its results \
                        folder: the run can be resumed. It finds what was made with KVDYNO_REGISTER=FOLDER if \
                        it has the same variable.")]
pub struct CleanArguments {
    /// Print what there is, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct TablesArguments {
    /// The tables of --format table: those of rates and latencies, or all
    #[arg(long, default_value_t = Tables::Main, value_parser = tables(), help_heading = "Output")]
    pub tables: Tables,
}

#[derive(Debug, Args)]
pub struct OutputArguments {
    /// The results folder, which must be new [default: results/NAME-TIME]
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// The format of the result
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
#[command(after_help = "Examples:
  kvdyno compare lmdb rocksdb --dry-run > mine.toml     a file to start from
  kvdyno run mine.toml
  kvdyno run inmem-numa --fit --budget 10m              one that comes with kvdyno (see `kvdyno experiments`), at a size
                                                        that this machine and ten minutes have room for
  kvdyno run --resume results/comparison-20260101-120000")]
pub struct RunArguments {
    /// The experiment file, or the name of an experiment that comes with kvdyno
    #[arg(required_unless_present = "resume", conflicts_with = "resume", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Go on with an interrupted experiment; finished trials are not repeated
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["out", "dry_run", "fit"])]
    pub resume: Option<PathBuf>,
    /// Scale it down to this machine, keeping its ratios, and say what was changed
    #[arg(long)]
    pub fit: bool,
    /// The time that all of it may take, about (with --fit)
    #[arg(long, value_name = "TIME", requires = "fit")]
    pub budget: Option<TimeSpan<1>>,
    /// The folder for the databases, on the storage to be measured [default: as the file says, or the results folder]
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
  kvdyno report results/demo-…                          the tables again, and the page of charts
  kvdyno report results/demo-… --format csv             a row a cell, with intervals
  kvdyno report results/demo-… --out ~/pages/demo       the page and its files there; the results stay untouched
  kvdyno report results/inmem-numa-… --against inmem-numa   beside the figures that Symas printed in 2014
  kvdyno report results/demo-… --ods demo.ods           all tables and charts' data as one spreadsheet
  kvdyno report --schema > report.schema.json           what --format json is checked by")]
pub struct ReportArguments {
    /// A results folder
    #[arg(value_name = "FOLDER", required_unless_present = "schema")]
    pub folder: Option<PathBuf>,
    /// Show the printed figures of a report beside the results, here and on the page: inmem-numa, 3n1, dbbench-smt or
    /// storage
    #[arg(long, value_name = "REPORT")]
    pub against: Option<Paper>,
    /// The format of the output
    #[arg(long, default_value_t = Format::Table, value_parser = one_of(Format::ALL))]
    pub format: Format,
    #[command(flatten)]
    pub tables: TablesArguments,
    /// The folder for the page and the files beside it [default: report/ in the results folder]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Also write all tables into this OpenDocument spreadsheet, for LibreOffice and the like
    #[arg(long, value_name = "FILE")]
    pub ods: Option<PathBuf>,
    /// Also write cells and time series into this folder as Parquet files, if kvdyno was built for that
    #[arg(long, value_name = "FOLDER", conflicts_with = "against")]
    pub parquet: Option<PathBuf>,
    /// Print the JSON Schema of --format json
    #[arg(long, conflicts_with_all = ["folder", "against", "out", "ods", "parquet"])]
    pub schema: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct EnginesArguments {
    #[command(subcommand)]
    pub command: Option<EnginesCommand>,
    /// One engine: name, NAME:PRESET, or the path of an adapter
    #[arg(value_name = "ENGINE")]
    pub name: Option<String>,
    /// The library to look at instead of the system's
    #[arg(long, value_name = "PATH", requires = "name")]
    pub library: Option<PathBuf>,
    #[command(flatten)]
    pub list: ListArguments,
}

#[derive(Debug, Subcommand)]
pub enum EnginesCommand {
    /// Check whether adapters keep what the ABI promises; without an engine, list the checks
    Check(Box<CheckArguments>),
    /// Write a new adapter that works, for an engine of your own to be put into
    New(NewArguments),
    /// Say what each of the lab's settings comes to in engines, in their own words, or why it is refused
    Settings(SettingsArguments),
    /// Fetch and build engines, through the package clients of this machine
    Install(InstallArguments),
}

#[derive(Debug, Args)]
#[command(
    after_help = "It keeps records in a sorted table, written to a file when it is closed; comments say where your
engine goes. It needs nothing else of kvdyno, builds with the command that is printed, and passes
`kvdyno engines check`.

Examples:
  kvdyno engines new mine --lang c                        into ./mine, with a Makefile
  kvdyno engines new mine --lang rust --dir ~/engines     into ~/engines/mine, with the crate that it uses"
)]
pub struct NewArguments {
    /// The engine's name: lower-case letters, digits and `_`
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Its language: c, c++, rust or go
    #[arg(long, value_parser = languages(), value_name = "LANGUAGE")]
    pub lang: Language,
    /// The folder in which its folder is made
    #[arg(long, default_value = ".", value_name = "FOLDER")]
    pub dir: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "What is fetched is held against a checksum, built and tried before it is put into
$XDG_DATA_HOME/kvdyno/engines (or ~/.local/share); if anything fails, nothing is left behind. To remove an engine,
remove its folder there.

Examples:
  kvdyno engines install hyperleveldb                     the version that its recipe prefers
  kvdyno engines install rocksdb@5.7.3 rocksdb@8.5.4      then: kvdyno compare rocksdb@5.7.3 rocksdb@8.5.4
  kvdyno engines install tokuft --library /opt/tokuft     an adapter built against a library of your own
  kvdyno engines install --all                            all that a registry has")]
pub struct InstallArguments {
    /// Engines: NAME or NAME@VERSION (see `kvdyno engines`)
    #[arg(value_name = "ENGINE", required_unless_present = "all", conflicts_with = "all")]
    pub engines: Vec<String>,
    /// Every version that a recipe has
    #[arg(long)]
    pub all: bool,
    /// The folder with include/ and lib/ of an engine that you built yourself
    #[arg(long, value_name = "PREFIX", conflicts_with = "all")]
    pub library: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kvdyno engines settings rocksdb leveldb                 how the two differ in what they do
  kvdyno engines settings wiredtiger:lsm --cache 16MiB    with another cache
  kvdyno engines settings --format md                     every engine that is here, as a page")]
pub struct SettingsArguments {
    /// Engines: NAME, NAME@VERSION, NAME:PRESET, or the path of an adapter [default: all that are here]
    #[arg(value_name = "ENGINE")]
    pub engines: Vec<String>,
    #[command(flatten)]
    pub keys: SettingsFlags,
    /// Leave out engines that are not here, and say so
    #[arg(long)]
    pub skip_missing: bool,
    /// The format of the output
    #[arg(long, default_value_t = Format::Table, value_parser = one_of(&[Format::Table, Format::Markdown]))]
    pub format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kvdyno experiments                                    what there is
  kvdyno experiments example > mine.toml                a file to change, with every key explained
  kvdyno experiments --schema > schema.json             what editors complete and check such files by")]
pub struct ExperimentsArguments {
    /// Print the file of this one
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Print the JSON Schema of experiment files
    #[arg(long, conflicts_with = "name")]
    pub schema: bool,
    #[command(flatten)]
    pub list: ListArguments,
}

#[derive(Debug, Args)]
pub struct MachineArguments {
    /// The folder whose filesystem is described
    #[arg(long, default_value = ".", value_name = "FOLDER")]
    pub dir: PathBuf,
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
