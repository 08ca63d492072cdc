//! Checks an experiment for consistency, as far as its file alone allows.

use std::collections::HashSet;

use kvdyno_experiment::{EngineKey, Experiment, FileError, LabKey, LoadKey, RunKey, RunSection, TopKey, Variant};
use kvdyno_model::{KeyPath, KeyStep, Question, did_you_mean};
use kvdyno_worker::workloads::Workload;
use toml::Table;

use crate::parameters;

/// More than anybody waits for (a day, at a second each), and few enough to be listed.
const MOST_TRIALS: u64 = 100_000;
/// Engines times variants. Each is asked about itself in a process of its own, which takes a hundredth of a second.
const MOST_SETUPS: usize = 500;

/// Refuses an experiment that is too much to be listed.
pub(crate) fn check_count(variants: &[Variant]) -> Result<(), FileError> {
    let of_one = |variant: &Variant| {
        let experiment = &variant.experiment;
        let runs: usize = experiment.run.iter().map(|run| run.readers.len()).sum();
        (1 + runs as u64).saturating_mul(experiment.engines.len() as u64)
    };
    let each = variants.iter().map(of_one).fold(0u64, u64::saturating_add);
    let repeat = variants.first().map_or(1, |variant| variant.experiment.lab.repeat.most().into());
    let trials = each.saturating_mul(repeat);
    if trials > MOST_TRIALS {
        let message = format!(
            "the experiment has {trials} trials; the limit is {MOST_TRIALS}, more than a day at one second for each"
        );
        return Err(FileError::at(LabKey::Repeat, message));
    }
    let setups: usize = variants.iter().map(|variant| variant.experiment.engines.len()).sum();
    if setups > MOST_SETUPS {
        let message = format!(
            "the variants have {setups} setups in all; the limit is {MOST_SETUPS}, because kvdyno inspects each in a \
             process of its own before the first trial"
        );
        return Err(FileError::at(TopKey::Engines, message));
    }
    Ok(())
}

/// Refuses what says when repeats end where their number is ordered.
fn check_end(experiment: &Experiment) -> Result<(), FileError> {
    let lab = &experiment.lab;
    let refuse = |key: LabKey, what: &str| {
        let message =
            format!("it sets {what}, but repeat = {} is a number; leave it out, or set repeat = \"auto\"", lab.repeat);
        Err(FileError::at(key, message))
    };
    match (lab.repeat.is_auto(), lab.precision, lab.question, lab.budget) {
        (true, ..) => Ok(()),
        (false, Some(_), ..) => refuse(LabKey::Precision, "the precision of cells at which repeats end"),
        (false, None, Question::Difference, _) => refuse(LabKey::Question, "the comparisons that end repeats"),
        (false, None, _, Some(_)) => refuse(LabKey::Budget, "the time limit of repeats"),
        (false, None, Question::Ranking, None) => Ok(()),
    }
}

/// Refuses what contradicts itself.
pub(super) fn check_matrix(experiment: &Experiment) -> Result<(), FileError> {
    check_end(experiment)?;
    check_engines(experiment)?;
    check_sections(experiment)?;
    let load = Workload::from(experiment.load.workload);
    if !load.profile().loads {
        let message = format!("`{load}` does not load; it can be {}", Workload::that_load());
        return Err(FileError::at(LoadKey::Workload, message));
    }
    parameters::check_load(experiment)?;
    for (index, run) in experiment.run.iter().enumerate() {
        if Workload::from(run.workload).profile().loads {
            let message = format!("`{}` loads, so it belongs in [load]", run.workload);
            return Err(FileError::at(RunKey::Workload, message).in_run(index));
        }
        parameters::check_run(run).map_err(|error| error.in_run(index))?;
    }
    check_cells(experiment)
}

/// Refuses a number of readers that is named twice, and two different runs whose trials would count as repeats of each
/// other.
fn check_cells(experiment: &Experiment) -> Result<(), FileError> {
    for (index, run) in experiment.run.iter().enumerate() {
        let mut seen = HashSet::new();
        if let Some(nth) = run.readers.iter().position(|count| !seen.insert(*count)) {
            let message =
                format!("{} is named twice; to repeat a trial on a new database, set lab.repeat", run.readers[nth]);
            return Err(FileError::at(KeyPath::from(RunKey::Readers).then(KeyStep::Index(nth)), message).in_run(index));
        }
    }
    let is_taken_for = |one: &RunSection, other: &RunSection| {
        (other.workload, other.clients) == (one.workload, one.clients)
            && other.readers.iter().any(|count| one.readers.iter().any(|own| own == count))
    };
    for (index, run) in experiment.run.iter().enumerate() {
        let other = experiment.run[..index].iter().position(|other| is_taken_for(run, other));
        let Some(other) = other.filter(|other| Table::try_from(&experiment.run[*other]) != Table::try_from(run)) else {
            continue;
        };
        let message = format!(
            "run {} has `{}` with the same number of readers, so reports could not distinguish the two; give one other \
             numbers of readers, or a variant of its own",
            other + 1,
            run.workload
        );
        return Err(FileError::at(RunKey::Workload, message).in_run(index));
    }
    Ok(())
}

fn check_engines(experiment: &Experiment) -> Result<(), FileError> {
    let nth = |index| KeyPath::from(TopKey::Engines).then(KeyStep::Index(index));
    if experiment.engines.is_empty() {
        return Err(FileError::new("no engines: name at least one, such as engines = [\"lmdb\"]"));
    }
    let mut seen = HashSet::new();
    match experiment.engines.iter().enumerate().find(|(_, name)| !seen.insert(*name)) {
        None => Ok(()),
        Some((index, name)) => Err(FileError::at(
            nth(index),
            format!(
                "`{name}` is named twice; to measure one engine in two set-ups give each a section [engine.NAME] with \
                 engine = \"{name}\""
            ),
        )),
    }
}

fn check_sections(experiment: &Experiment) -> Result<(), FileError> {
    let names: HashSet<&str> = experiment.engines.iter().map(String::as_str).collect();
    let Some((name, section)) = experiment.engine.iter().find(|(name, _)| !names.contains(name.as_str())) else {
        return Ok(());
    };
    let meant = did_you_mean(name, experiment.engines.iter().map(String::as_str));
    let key = match section.options.keys().next() {
        Some(option) => engine_key(name, EngineKey::Options).then(KeyStep::Key(option.clone())),
        None => KeyPath::new("engine", name),
    };
    Err(FileError::at(key, format!("[engine.{name}] is not in `engines`{meant}")))
}

/// A key of `[engine.NAME]`.
pub(super) fn engine_key(name: &str, key: EngineKey) -> KeyPath {
    KeyPath::new("engine", name).then(KeyStep::Key(key.name().to_owned()))
}
