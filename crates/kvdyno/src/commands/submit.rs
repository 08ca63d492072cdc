//! `kvdyno submit`: prints the script by which somebody else's scheduler runs the parts of a plan. It runs nothing.

use std::path::{Path, PathBuf};

use shlex::Quoter;

use crate::cli::{Scheduler, SubmitArguments};
use crate::commands::run::file_or_shipped;
use crate::error::Error;
use crate::output::print;

/// Runs the command.
pub fn run(arguments: &SubmitArguments) -> Result<(), Error> {
    // What cannot be run is told now, and not by the scheduler's logs.
    let (experiment, _) = file_or_shipped(&arguments.file)?;
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from("results").join(&experiment.name));
    let out = std::path::absolute(&out).map_err(Error::io(format!("cannot find {}", out.display())))?;
    let template = match arguments.scheduler {
        Scheduler::Slurm => include_str!("submit/slurm.sh"),
        Scheduler::Github => include_str!("submit/github.yml"),
        Scheduler::Parallel => include_str!("submit/parallel.sh"),
    };
    // A workflow begins in the repository's folder, the others anywhere.
    let file = match arguments.scheduler {
        Scheduler::Github => arguments.file.clone(),
        // The name of one of kvdyno's own experiments is no file.
        _ => arguments.file.canonicalize().unwrap_or_else(|_| arguments.file.clone()),
    };
    let numbers: Vec<String> = (1..=arguments.parts).map(|number| number.to_string()).collect();
    let script = template
        .replace("@PARTS@", &arguments.parts.to_string())
        .replace("@NUMBERS@", &numbers.join(", "))
        .replace("@FILE@", &word(&file)?)
        .replace("@OUT@", &word(&out)?);
    print(&script)
}

/// A path as a word of a shell.
fn word(path: &Path) -> Result<String, Error> {
    let refused = || Error::Input(format!("{} cannot stand in a script; give it another name", path.display()));
    let text = path.to_str().filter(|text| !text.contains(['\n', '@'])).ok_or_else(refused)?;
    Quoter::new().quote(text).map(String::from).map_err(|_| refused())
}
