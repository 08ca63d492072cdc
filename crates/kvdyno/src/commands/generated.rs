//! Made from the definition of the command line: completions for shells, and manual pages.

use clap::builder::StyledStr;
use clap::{Command, CommandFactory};

use crate::cli::{Cli, CompletionsArguments, ManArguments};
use crate::error::Error;
use crate::output::print;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Prints the completions of a shell.
pub fn completions(arguments: &CompletionsArguments) -> Result<(), Error> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut visible(&Cli::command()), "kvdyno", &mut text);
    print(&String::from_utf8_lossy(&text))
}

/// The same without the commands that the program starts itself.
fn visible(command: &Command) -> Command {
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(visible);
    let copy = Command::new(command.get_name().to_owned()).args(command.get_arguments().cloned()).subcommands(shown);
    let copy = copy.disable_help_subcommand(true).max_term_width(120);
    let copy = if command.get_version().is_some() { copy.version(VERSION) } else { copy };
    let text = |text: Option<&StyledStr>| text.cloned().unwrap_or_default();
    copy.about(text(command.get_about())).after_help(text(command.get_after_help()))
}

/// Writes the manual pages.
pub fn man(arguments: &ManArguments) -> Result<(), Error> {
    let folder = &arguments.folder;
    let unwritten = || Error::io(format!("cannot write manual pages into {}", folder.display()));
    std::fs::create_dir_all(folder).map_err(unwritten())?;
    clap_mangen::generate_to(visible(&Cli::command()), folder).map_err(unwritten())
}
