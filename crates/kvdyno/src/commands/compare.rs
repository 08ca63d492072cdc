//! `kvdyno compare`: makes an experiment of its flags and runs it.

use std::collections::BTreeMap;

use kvdyno_experiment::{EngineSection, Experiment};
use kvdyno_model::FilePath;

use crate::cli::CompareArguments;
use crate::commands::run;
use crate::error::Error;

/// Runs the command.
pub fn run(arguments: Box<CompareArguments>) -> Result<(), Error> {
    let mut experiment = experiment(&arguments)?;
    run::enter_scope(&experiment);
    run::give_up(&mut experiment, &arguments.erase)?;
    run::start(experiment, None, &arguments.output)
}

fn experiment(arguments: &CompareArguments) -> Result<Experiment, Error> {
    let mut experiment =
        arguments.keys.experiment(&arguments.engines).map_err(|error| Error::Experiment { error, file: None })?;
    experiment.engine = sections(arguments)?;
    Ok(experiment)
}

/// `--option` and `--library` as sections of the file. What names `rocksdb` concerns `rocksdb:pfx` too.
fn sections(arguments: &CompareArguments) -> Result<BTreeMap<String, EngineSection>, Error> {
    let mut sections: BTreeMap<String, EngineSection> = BTreeMap::new();
    for item in &arguments.option {
        let form = || Error::Input(format!("--option {item}: it must be of the form ENGINE.OPTION=VALUE"));
        let (name, value) = item.split_once('=').ok_or_else(form)?;
        let (engine, option) = name.rsplit_once('.').ok_or_else(form)?;
        for name in concerned(arguments, engine, &format!("--option {item}"))? {
            let value = toml::Value::String(value.to_owned());
            sections.entry(name).or_default().options.0.insert(option.to_owned(), value);
        }
    }
    for item in &arguments.library {
        let form = || Error::Input(format!("--library {item}: it must be of the form ENGINE=PATH"));
        let (engine, path) = item.split_once('=').ok_or_else(form)?;
        for name in concerned(arguments, engine, &format!("--library {item}"))? {
            sections.entry(name).or_default().library = Some(FilePath(path.into()));
        }
    }
    Ok(sections)
}

/// The engines on the command line that `engine` means: itself, or all presets of it.
fn concerned(arguments: &CompareArguments, engine: &str, what: &str) -> Result<Vec<String>, Error> {
    let means = |name: &&String| *name == engine || name.strip_prefix(engine).is_some_and(|rest| rest.starts_with(':'));
    let names: Vec<String> = arguments.engines.iter().filter(means).cloned().collect();
    match names.is_empty() {
        true => Err(Error::Input(format!(
            "{what}: `{engine}` is none of the engines to compare, which are {}",
            arguments.engines.join(", ")
        ))),
        false => Ok(names),
    }
}
