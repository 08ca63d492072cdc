//! kvdyno, the command line: parse, call one library function, print.
//!
//! Only `main` decides the exit code: 0 all is well; 1 the lab could not work, or trials failed; 2 the input was wrong,
//! and nothing was touched; 3 a diff ended in *worse*; 4 it cannot tell; 130 interrupted.

mod cli;
mod commands;
mod error;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command, EnginesArguments, EnginesCommand};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // A failure to print has nowhere to be printed.
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    let result = match cli.command {
        Command::Compare(arguments) => commands::compare::run(arguments),
        Command::Diff(arguments) => commands::diff::run(&arguments),
        Command::Run(arguments) => commands::run::run(arguments),
        Command::Submit(arguments) => commands::submit::run(&arguments),
        Command::Status(arguments) => commands::status::run(&arguments),
        Command::Merge(arguments) => commands::merge::run(&arguments),
        Command::Report(arguments) => commands::report::run(arguments),
        Command::Engines(EnginesArguments { command: Some(EnginesCommand::Check(arguments)), .. }) => {
            commands::check::run(*arguments)
        }
        Command::Engines(EnginesArguments { command: Some(EnginesCommand::Install(arguments)), .. }) => {
            commands::install::run(&arguments)
        }
        Command::Engines(EnginesArguments { command: Some(EnginesCommand::New(arguments)), .. }) => {
            commands::new::run(&arguments)
        }
        Command::Engines(EnginesArguments { command: Some(EnginesCommand::Settings(arguments)), .. }) => {
            commands::settings::run(arguments)
        }
        Command::Engines(arguments) => commands::engines::run(arguments),
        Command::Experiments(arguments) => commands::experiments::run(&arguments),
        Command::Workloads(arguments) => commands::workloads::run(&arguments),
        Command::Machine(arguments) => commands::machine::run(arguments),
        Command::Completions(arguments) => commands::generated::completions(&arguments),
        Command::Man(arguments) => commands::generated::man(&arguments),
        Command::Clean(arguments) => commands::clean::run(&arguments),
        Command::Worker(arguments) => commands::worker::run(arguments),
        Command::Inspect => commands::worker::inspect(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let code = error.exit_code();
            error.print();
            ExitCode::from(code)
        }
    }
}
