//! `kvdyno engines` and its subcommands, but for `check`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use kvdyno_install::Language;
use kvdyno_report::Format;

use super::key_flags::SettingsFlags;
use super::{CheckArguments, ListArguments, one_of, words};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct EnginesArguments {
    #[command(subcommand)]
    pub command: Option<EnginesCommand>,
    /// Engine: NAME, NAME:PRESET, or the path of an adapter
    #[arg(value_name = "ENGINE")]
    pub name: Option<String>,
    /// Library to inspect instead of the system's
    #[arg(long, value_name = "PATH", requires = "name")]
    pub library: Option<PathBuf>,
    #[command(flatten)]
    pub list: ListArguments,
}

#[derive(Debug, Subcommand)]
pub enum EnginesCommand {
    /// Check that adapters conform to the ABI, or list the checks
    Check(Box<CheckArguments>),
    /// Write a new, working adapter as a template for your own engine
    New(NewArguments),
    /// Show how settings map to the engines' own, or why they are refused
    Settings(SettingsArguments),
    /// Fetch and build engines with the package clients of this machine
    Install(InstallArguments),
}

#[derive(Debug, Args)]
#[command(
    after_help = "The adapter keeps records in a sorted table and all writes in a log, and offers durability process. \
Comments mark where to put your engine. It needs nothing else of kvdyno, builds with the printed command, and passes \
`kvdyno engines check`.

Examples:
  kvdyno engines new mine --lang c                        into ./mine, with a Makefile
  kvdyno engines new mine --lang rust --dir ~/engines     into ~/engines/mine, with its crate"
)]
pub struct NewArguments {
    /// Name of the engine: lower-case letters, digits and `_`
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Language of the adapter: c, c++, rust or go
    #[arg(long, value_parser = words::<Language>(), value_name = "LANGUAGE")]
    pub lang: Language,
    /// Parent folder of the adapter's folder
    #[arg(long, default_value = ".", value_name = "FOLDER")]
    pub dir: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    after_help = "kvdyno verifies the checksum of each download, builds and tests the engine, and installs it in \
$XDG_DATA_HOME/kvdyno/engines (or ~/.local/share/kvdyno/engines). If a step fails, nothing is installed. To remove an \
engine, remove its folder there.

Examples:
  kvdyno engines install hyperleveldb                     the default version of its recipe
  kvdyno engines install rocksdb@5.7.3 rocksdb@8.5.4      two versions, side by side
  kvdyno engines install tokuft --library /opt/tokuft     with a library that you built yourself
  kvdyno engines install --all                            all versions of all recipes"
)]
pub struct InstallArguments {
    /// Engines: NAME or NAME@VERSION (see `kvdyno engines`)
    #[arg(value_name = "ENGINE", required_unless_present = "all", conflicts_with = "all")]
    pub engines: Vec<String>,
    /// Install every version of every recipe
    #[arg(long)]
    pub all: bool,
    /// Folder with include/ and lib/ of an engine that you built yourself
    #[arg(long, value_name = "PREFIX", conflicts_with = "all")]
    pub library: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kvdyno engines settings rocksdb leveldb                 how the settings of the two differ
  kvdyno engines settings wiredtiger:lsm --cache 16MiB    with another cache
  kvdyno engines settings --format md                     all installed engines, as a page")]
pub struct SettingsArguments {
    /// Engines: NAME, NAME@VERSION, NAME:PRESET, or the path of an adapter [default: all installed]
    #[arg(value_name = "ENGINE")]
    pub engines: Vec<String>,
    #[command(flatten)]
    pub keys: SettingsFlags,
    /// Leave out missing engines, and list them
    #[arg(long)]
    pub skip_missing: bool,
    /// Format of the output
    #[arg(long, default_value_t = Format::Table, value_parser = one_of(&[Format::Table, Format::Markdown]))]
    pub format: Format,
}
