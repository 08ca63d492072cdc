//! `kvdyno compare`: writes an experiment and runs it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use kvdyno_experiment::{EngineSection, Experiment, LoadSection, RunSection};
use kvdyno_worker::workloads::{Verify, WorkloadName};
use toml::Spanned;

use crate::cli::Compare;
use crate::commands::run;
use crate::error::Error;

/// Runs the command.
pub fn run(arguments: Box<Compare>) -> Result<(), Error> {
    let mut experiment = experiment(&arguments)?;
    run::enter_scope(&experiment);
    run::give_up(&mut experiment, &arguments.erase)?;
    run::start(experiment, None, &arguments.output)
}

fn placed<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}

fn experiment(arguments: &Compare) -> Result<Experiment, Error> {
    let mut experiment = Experiment::on(&arguments.engines);
    experiment.name.clone_from(&arguments.name);
    experiment.data.records = placed(arguments.records);
    experiment.data.key_size = Some(placed(arguments.key_size));
    experiment.data.key_format = arguments.key_format;
    experiment.data.prefix_size = arguments.prefix_size.map(placed);
    experiment.data.keys_per_prefix = arguments.keys_per_prefix.map(placed);
    experiment.data.value_size = Some(placed(arguments.value_size));
    experiment.data.compressibility = placed(arguments.compressibility);
    experiment.settings.durability = arguments.durability;
    experiment.settings.cache = arguments.cache;
    experiment.settings.write_buffer = arguments.write_buffer;
    experiment.settings.compression = arguments.compression;
    experiment.settings.verify = if arguments.verify == "off" { Verify::Off } else { Verify::Full };
    experiment.load = LoadSection {
        workload: placed(arguments.load),
        batch: Some(placed(arguments.batch)),
        sync: arguments.sync,
        clients: placed(arguments.clients),
        ..LoadSection::default()
    };
    experiment.run = arguments.workload.iter().map(|&workload| run_section(arguments, workload)).collect();
    experiment.lab.repeat = placed(arguments.repeat);
    experiment.lab.seed = arguments.seed;
    experiment.lab.order = arguments.order;
    experiment.lab.dir.clone_from(&arguments.dir);
    experiment.lab.keep = arguments.keep;
    experiment.environment = arguments.environment.section();
    experiment.engine = sections(arguments)?;
    Ok(experiment)
}

fn run_section(arguments: &Compare, workload: WorkloadName) -> RunSection {
    RunSection {
        workload: placed(workload),
        readers: placed(arguments.readers.clone()),
        clients: placed(arguments.clients),
        duration: (arguments.operations.is_none() && !workload.ends_by_part()).then(|| placed(arguments.duration)),
        operations: arguments.operations,
        warmup: arguments.warmup,
        write_rate: arguments.write_rate.filter(|_| workload.writes()).map(placed),
        ..RunSection::default()
    }
}

/// `--option` and `--library` as sections of the file. What names `rocksdb` concerns `rocksdb:pfx` too.
fn sections(arguments: &Compare) -> Result<BTreeMap<String, EngineSection>, Error> {
    let mut sections: BTreeMap<String, EngineSection> = BTreeMap::new();
    for item in &arguments.option {
        let form = || Error::Input(format!("--option {item}: it must be of the form ENGINE.OPTION=VALUE"));
        let (place, value) = item.split_once('=').ok_or_else(form)?;
        let (engine, option) = place.rsplit_once('.').ok_or_else(form)?;
        for name in concerned(arguments, engine, &format!("--option {item}"))? {
            let value = placed(toml::Value::String(value.to_owned()));
            sections.entry(name).or_default().options.insert(option.to_owned(), value);
        }
    }
    for item in &arguments.library {
        let form = || Error::Input(format!("--library {item}: it must be of the form ENGINE=PATH"));
        let (engine, path) = item.split_once('=').ok_or_else(form)?;
        for name in concerned(arguments, engine, &format!("--library {item}"))? {
            sections.entry(name).or_default().library = Some(PathBuf::from(path));
        }
    }
    Ok(sections)
}

/// The engines on the command line that `engine` means: itself, or all presets of it.
fn concerned(arguments: &Compare, engine: &str, what: &str) -> Result<Vec<String>, Error> {
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
