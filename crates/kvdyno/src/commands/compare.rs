//! `kvdyno compare`: makes an experiment of its flags and runs it.

use kvdyno_experiment::Experiment;

use crate::cli::CompareArguments;
use crate::commands::named::{named, sections};
use crate::commands::run;
use crate::error::Error;

/// Runs the command.
pub fn run(arguments: Box<CompareArguments>) -> Result<(), Error> {
    let mut experiment = experiment(&arguments)?;
    run::enter_scope(&experiment);
    run::give_up(&mut experiment, &arguments.erase)?;
    run::start(experiment, None, None, &arguments.output, &arguments.watch)
}

fn experiment(arguments: &CompareArguments) -> Result<Experiment, Error> {
    let engines = named(&arguments.engines)?;
    let names: Vec<String> = engines.iter().map(|engine| engine.name.clone()).collect();
    let sections = sections(&engines, &arguments.option, &arguments.library)?;
    arguments.keys.experiment(&names, sections).map_err(|error| Error::Experiment { error, file: None })
}
