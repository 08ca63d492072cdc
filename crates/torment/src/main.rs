//! `make torment`: kvdyno is killed, fed with mutated experiment files and shown damaged results, by the thousand, and
//! what must never be is counted: a result that is lost or done twice, something left behind, a panic, a hang, too much
//! memory, an exit code that says neither that all is well nor that the input is wrong.
//!
//! Experiment files and results folders are read in processes of their own by the same functions that the program calls
//! ([`kvdyno_torment::inputs`]); a sample of both by the program itself.

mod done;
mod experiments;
mod folders;
mod full_storage;
mod kills;
mod sampled;
mod summary;
mod supervised;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use done::PartsDone;
use summary::{TormentLine, TormentSummary};

/// How much of everything, and where the program is.
#[derive(Debug, Parser)]
struct TormentArguments {
    /// Runs that are killed, in turns of the six kinds that docs/reliability.md lists.
    #[arg(long, default_value_t = 3)]
    runs: u64,
    /// `kill -9` of the parent over all of them.
    #[arg(long, default_value_t = 12)]
    kills: u64,
    /// Runs on a filesystem that becomes full.
    #[arg(long, default_value_t = 2)]
    full: u64,
    /// Mutated experiment files; the program itself reads one in a thousand.
    #[arg(long, default_value_t = 10_000)]
    files: u64,
    /// Damaged results folders; the program itself reads one in a hundred.
    #[arg(long, default_value_t = 100)]
    folders: u64,
    /// All that is drawn follows from it.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The program.
    #[arg(long, default_value = "target/release/kvdyno")]
    kvdyno: PathBuf,
    /// The experiment files that are mutated, beside those that ship.
    #[arg(long, default_value = "tests/inputs/experiment")]
    inputs: PathBuf,
    /// The file with what is done so far: a torment that was ended goes on from there.
    #[arg(long)]
    state: Option<PathBuf>,
    /// The document that keeps the last run.
    #[arg(long)]
    document: Option<PathBuf>,
    #[command(subcommand)]
    reader: Option<ReaderCommand>,
}

/// A process that reads inputs (started by the above).
#[derive(Debug, Subcommand)]
enum ReaderCommand {
    #[command(hide = true)]
    Experiments { inputs: PathBuf, seed: u64, from: u64, to: u64 },
    #[command(hide = true)]
    Folders { template: PathBuf, seed: u64, from: u64, to: u64 },
}

fn main() -> ExitCode {
    let arguments = TormentArguments::parse();
    let outcome = match &arguments.reader {
        Some(ReaderCommand::Experiments { inputs, seed, from, to }) => experiments::read(inputs, *seed, *from..*to),
        Some(ReaderCommand::Folders { template, seed, from, to }) => folders::read(template, *seed, *from..*to),
        None => return torment(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kvdyno-torment: {error}");
            ExitCode::FAILURE
        }
    }
}

fn torment(arguments: &TormentArguments) -> ExitCode {
    let summary = all(arguments);
    let told = summary.and_then(|summary| {
        writeln!(io::stdout(), "{summary}")?;
        arguments.document.as_ref().map_or(Ok(()), |document| summary.write_into(document))?;
        Ok(summary.is_clean())
    });
    match told {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("kvdyno-torment: {error}");
            ExitCode::FAILURE
        }
    }
}

fn all(arguments: &TormentArguments) -> io::Result<TormentSummary> {
    let kvdyno = arguments.kvdyno.canonicalize()?;
    let mut done = PartsDone::of(&kvdyno, arguments)?;
    if done.count() > 0 {
        eprintln!("kvdyno-torment: going on after {} parts that are done", done.count());
    }
    let home = tempfile::tempdir()?;
    let mut lines: Vec<TormentLine> = Vec::new();
    let (inputs, seed) = (&arguments.inputs, arguments.seed);
    lines.extend(done.part("files", || experiments::torment(&kvdyno, home.path(), inputs, seed, arguments.files))?);
    lines.extend(done.part("folders", || folders::torment(&kvdyno, home.path(), seed, arguments.folders))?);
    lines.extend(kills::torment(&kvdyno, arguments, &mut done)?);
    lines.push(full_storage::torment(&kvdyno, arguments, &mut done)?);
    done.forget()?;
    Ok(TormentSummary::new(lines, arguments.seed))
}
