//! `kvdyno submit`: prints the script by which somebody else's scheduler runs the parts of a plan. It runs nothing.

use std::path::Path;

use kvdyno_model::Deal;
use kvdyno_model::text::counted;
use kvdyno_plan::count_blocks;
use shlex::Quoter;

use crate::cli::{Scheduler, SubmitArguments};
use crate::commands::run::{file_or_shipped, out_folder};
use crate::error::Error;
use crate::output::{print, tell};

/// Runs the command.
pub fn run(arguments: &SubmitArguments) -> Result<(), Error> {
    // What cannot be run is told now, and not by the scheduler's logs.
    let (experiment, text) = file_or_shipped(&arguments.file)?;
    let in_file = |error| Error::Experiment { error, file: Some((arguments.file.clone(), text)) };
    let (blocks, parts) = (count_blocks(&experiment).map_err(in_file)?, arguments.parts as usize);
    if blocks < parts && arguments.deal == Deal::Blocks {
        let (blocks, idle) = (counted(blocks, "block"), parts - blocks);
        tell(format_args!(
            "the plan has {blocks}, so {idle} of {parts} parts will have nothing to do; with --deal repeats each part \
             does the whole plan"
        ));
    }
    if arguments.scheduler == Scheduler::Github && arguments.file.is_absolute() {
        return Err(Error::Input("a workflow of GitHub needs the file's path in the repository".to_owned()));
    }
    if arguments.scheduler == Scheduler::Github && (arguments.out.is_some() || arguments.parts > MOST_JOBS) {
        let words = "a workflow of GitHub has its results in artifacts, so no --out, and at most 256 --parts";
        return Err(Error::Input(words.to_owned()));
    }
    let out = out_folder(&experiment, None, arguments.out.as_deref())?;
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
        .replace("@DEAL@", if arguments.deal == Deal::Blocks { "" } else { " --deal repeats" })
        .replace("@NUMBERS@", &numbers.join(", "))
        .replace("@FILE@", &word(&file)?)
        .replace("@OUT@", &word(&out)?);
    print(&script)
}

/// Jobs of a matrix of GitHub's, at the most.
const MOST_JOBS: u32 = 256;

/// A path as a word of a shell.
fn word(path: &Path) -> Result<String, Error> {
    let refused = || Error::Input(format!("{} cannot stand in a script; give it another name", path.display()));
    let text = path.to_str().filter(|text| !text.contains(['\n', '@'])).ok_or_else(refused)?;
    Quoter::new().quote(text).map(String::from).map_err(|_| refused())
}
