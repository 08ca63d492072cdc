//! `kvdyno compare`: makes an experiment of its flags and runs it.

use std::collections::BTreeMap;

use kvdyno_experiment::{EngineSection, Experiment};
use kvdyno_model::FilePath;

use crate::cli::CompareArguments;
use crate::commands::named::{NamedEngine, named};
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
    let engines = named(&arguments.engines)?;
    let names: Vec<String> = engines.iter().map(|engine| engine.name.clone()).collect();
    let mut experiment = arguments.keys.experiment(&names).map_err(|error| Error::Experiment { error, file: None })?;
    experiment.engine = sections(arguments, &engines)?;
    Ok(experiment)
}

/// Engines with a name that is not their own, `--option` and `--library` as sections of the file. What names `rocksdb`
/// concerns `rocksdb:pfx` too.
fn sections(arguments: &CompareArguments, engines: &[NamedEngine]) -> Result<BTreeMap<String, EngineSection>, Error> {
    let mut sections: BTreeMap<String, EngineSection> = BTreeMap::new();
    for engine in engines.iter().filter(|engine| engine.engine.is_some()) {
        sections.entry(engine.name.clone()).or_default().engine = engine.engine.clone();
    }
    for item in &arguments.option {
        let form = || Error::Input(format!("--option {item}: it must be of the form ENGINE.OPTION=VALUE"));
        let (name, value) = item.split_once('=').ok_or_else(form)?;
        let (engine, option) = name.rsplit_once('.').ok_or_else(form)?;
        for name in concerned(engines, engine, &format!("--option {item}"))? {
            let value = toml::Value::String(value.to_owned());
            sections.entry(name).or_default().options.0.insert(option.to_owned(), value);
        }
    }
    for item in &arguments.library {
        let form = || Error::Input(format!("--library {item}: it must be of the form ENGINE=PATH"));
        let (engine, path) = item.split_once('=').ok_or_else(form)?;
        for name in concerned(engines, engine, &format!("--library {item}"))? {
            sections.entry(name).or_default().library = Some(FilePath(path.into()));
        }
    }
    Ok(sections)
}

/// The names of the engines on the command line that `text` means: itself, or all presets of it.
fn concerned(engines: &[NamedEngine], text: &str, what: &str) -> Result<Vec<String>, Error> {
    let meant = engines.iter().filter(|engine| engine.is_meant(text));
    let names: Vec<String> = meant.map(|engine| engine.name.clone()).collect();
    match names.is_empty() {
        true => Err(Error::Input(format!(
            "{what}: `{text}` is none of the engines to compare, which are {}",
            engines.iter().map(|engine| engine.name.as_str()).collect::<Vec<_>>().join(", ")
        ))),
        false => Ok(names),
    }
}
