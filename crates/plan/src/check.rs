//! Holds an experiment against the engines, before anything is touched.

use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;

use kvdyno_dataset::KeyError;
use kvdyno_engine::catalog::EngineName;
use kvdyno_engine::{Hints, LabSettings, OptionText, Probe, Resolved, abi, closest};
use kvdyno_results::{ClientKind, EngineFacts, LeftOut, Phase, Setting, TrialKey};
use kvdyno_worker::workloads::{Parameter, WorkloadError, WorkloadName, WorkloadSpec};

use crate::backing_store;
use crate::capabilities::cannot_run;
use crate::clients::check_clients;
use crate::environment::{Environment, check_room};
use crate::inspection;
use crate::parameters;
use crate::plan::{Plan, PlannedTrial};
use kvdyno_experiment::Variant;
use kvdyno_experiment::{Experiment, FileError, Missing};

/// An experiment that can be run here.
#[derive(Debug)]
pub struct Checked {
    /// As it was requested for.
    pub experiment: Experiment,
    /// A part for each variant; one if it has none.
    pub parts: Vec<Part>,
    /// Engines that are left out.
    pub left_out: Vec<LeftOut>,
    /// What it comes to.
    pub plan: Plan,
}

/// A variant that can be run here.
#[derive(Debug)]
pub struct Part {
    /// With the engines that are here.
    pub variant: Variant,
    /// What surrounds its trials.
    pub environment: Environment,
    /// An engine each, in the variant's order.
    pub setups: Vec<Setup>,
}

/// One engine as the experiment sets it up.
#[derive(Debug)]
pub struct Setup {
    /// As the experiment names it.
    pub label: String,
    /// The adapter's file.
    pub adapter: PathBuf,
    /// A preset of its.
    pub preset: Option<String>,
    /// Options beyond the preset.
    pub options: Vec<OptionText>,
    /// The library to load, if not the system's.
    pub library: Option<PathBuf>,
    /// It keeps nothing, so nothing has to be loaded again.
    pub volatile: bool,
    /// Its readers and writers are always processes.
    single: bool,
    /// It keeps something outside the database's folder, which it gives back when requested to.
    pub destroys: bool,
    /// The engine's capabilities: `abi::CAN_…` and `abi::IS_…`.
    pub capabilities: u64,
    /// The `[[run]]` sections that it cannot do and is left out of.
    skips: Vec<usize>,
    /// For records, but for the settings.
    facts: EngineFacts,
    /// What it sets for each sort of trial.
    settings: Vec<(Sort, Vec<Setting>)>,
}

/// What decides how a database is opened: the phase, and whether processes share it.
type Sort = (Phase, ClientKind);

impl Setup {
    /// What the engine sets for a trial.
    pub fn settings(&self, trial: &TrialKey) -> &[Setting] {
        let of_sort = self.settings.iter().find(|(sort, _)| *sort == (trial.phase, trial.clients));
        of_sort.map_or(&[], |(_, settings)| settings)
    }

    /// What the record of a trial says of the engine.
    pub fn facts(&self, trial: &TrialKey) -> EngineFacts {
        EngineFacts { settings: self.settings(trial).to_vec(), ..self.facts.clone() }
    }
}

/// Checks everything that can be checked without touching anything.
///
/// # Errors
/// The first thing that cannot be, with what would be right.
pub fn check(experiment: Experiment) -> Result<Checked, FileError> {
    let mut variants = experiment.variants()?;
    for variant in &mut variants {
        variant.experiment.environment.yes_erase.clone_from(&experiment.environment.yes_erase);
    }
    let mut plan = Plan::of(&variants);
    for variant in &variants {
        check_matrix(&variant.experiment).map_err(|error| of_variant(error, variant))?;
    }
    for trial in &plan.trials {
        let variant = &variants[trial.variant];
        check_workload(&variant.experiment, trial).map_err(|error| of_variant(error, variant))?;
    }
    let mut left_out = Vec::new();
    let parts: Vec<Part> = variants
        .into_iter()
        .enumerate()
        .map(|(place, variant)| part(place, variant, &mut plan, &mut left_out))
        .collect::<Result<_, _>>()?;
    if parts.iter().all(|part| part.setups.is_empty()) {
        let reasons: Vec<String> = left_out.iter().map(|one| format!("\n- {}: {}", one.engine, one.reason)).collect();
        return Err(FileError::new(format!("none of the engines can be measured here:{}", reasons.concat()), 0..0));
    }
    let variants: Vec<Variant> = parts.iter().map(|part| part.variant.clone()).collect();
    let mut plan = Plan::of(&variants);
    for (place, part) in parts.iter().enumerate() {
        for (engine, _) in part.setups.iter().enumerate().filter(|(_, setup)| setup.single) {
            plan.use_processes(place, engine);
        }
        for (engine, setup) in part.setups.iter().enumerate() {
            plan.leave_out(place, engine, &setup.skips);
        }
    }
    Ok(Checked { experiment, parts, left_out, plan })
}

fn of_variant(error: FileError, variant: &Variant) -> FileError {
    match variant.name.as_str() {
        "" => error,
        name => FileError { message: format!("variant `{name}`: {}", error.message), place: variant.place.clone() },
    }
}

/// A variant's set-ups. Engines that cannot be had are errors, or are left out if the experiment says so.
fn part(place: usize, mut variant: Variant, plan: &mut Plan, left_out: &mut Vec<LeftOut>) -> Result<Part, FileError> {
    let environment =
        Environment::check(&variant.experiment.environment).map_err(|error| of_variant(error, &variant))?;
    backing_store::check(&variant.experiment, &environment).map_err(|error| of_variant(error, &variant))?;
    let mut setups = Vec::new();
    for engine in 0..variant.experiment.engines.len() {
        match setup(&variant, plan, (place, engine)) {
            Ok((setup, left_out_of)) => {
                left_out.extend(left_out_of);
                setups.push(setup);
            }
            Err(error) if variant.experiment.lab.missing == Missing::Skip => left_out.push(LeftOut {
                variant: variant.name.clone(),
                engine: variant.experiment.engines[engine].get_ref().clone(),
                reason: error.message,
                workload: String::new(),
            }),
            Err(error) => return Err(of_variant(error, &variant)),
        }
    }
    variant.experiment.engines.retain(|name| setups.iter().any(|setup| setup.label == *name.get_ref()));
    Ok(Part { variant, environment, setups })
}

fn check_matrix(experiment: &Experiment) -> Result<(), FileError> {
    if experiment.engines.is_empty() {
        return Err(FileError {
            message: "no engines: name at least one, such as engines = [\"lmdb\"]".into(),
            place: None,
        });
    }
    let mut seen = HashSet::new();
    for name in &experiment.engines {
        if !seen.insert(name.get_ref()) {
            let message = format!(
                "`{0}` is named twice; to measure one engine in two set-ups give each a section [engine.NAME] with is = \"{0}\"",
                name.get_ref()
            );
            return Err(FileError::new(message, name.span()));
        }
    }
    for (name, section) in &experiment.engine {
        if !experiment.engines.iter().any(|engine| engine.get_ref() == name) {
            let names = experiment.engines.iter().map(|engine| engine.get_ref().as_str());
            let meant = closest(name, names).map(|word| format!("; did you mean `{word}`?")).unwrap_or_default();
            let place = section.options.values().next().map_or(0..0, toml::Spanned::span);
            return Err(FileError::new(format!("[engine.{name}] is for no engine of `engines`{meant}"), place));
        }
    }
    let load = &experiment.load.workload;
    if !load.get_ref().loads() {
        let message = format!("`{}` does not load; it can be {}", load.get_ref(), WorkloadName::that_load());
        return Err(FileError::new(message, load.span()));
    }
    parameters::check_load(experiment)?;
    for run in &experiment.run {
        if run.workload.get_ref().loads() {
            let message = format!("`{}` loads, and so belongs into [load]", run.workload.get_ref());
            return Err(FileError::new(message, run.workload.span()));
        }
        parameters::check_run(run)?;
        if run.readers.get_ref().is_empty() {
            return Err(FileError::new("readers is empty; give at least one number, such as [1]", run.readers.span()));
        }
    }
    let repeat = &experiment.lab.repeat;
    if !(1..=10_000).contains(repeat.get_ref()) {
        return Err(FileError::new(
            format!("repeat is {}; it must be from 1 to 10000", repeat.get_ref()),
            repeat.span(),
        ));
    }
    Ok(())
}

fn check_workload(experiment: &Experiment, trial: &PlannedTrial) -> Result<(), FileError> {
    trial.workload.check().map_err(|error| {
        let place = place_of(experiment, &trial.workload, &error);
        FileError::new(error.to_string(), place)
    })
}

fn span_of<T>(value: &Option<toml::Spanned<T>>) -> Range<usize> {
    value.as_ref().map_or(0..0, toml::Spanned::span)
}

/// Where in the file the number stands that `error` is about.
fn place_of(experiment: &Experiment, workload: &WorkloadSpec, error: &WorkloadError) -> Range<usize> {
    let (data, load) = (&experiment.data, &experiment.load);
    let run = experiment.run.iter().find(|run| *run.workload.get_ref() == workload.name);
    let in_run = |load: Range<usize>, of_run: fn(&kvdyno_experiment::RunSection) -> Range<usize>| {
        if workload.name.loads() { load } else { run.map_or(0..0, of_run) }
    };
    match error {
        WorkloadError::Keys(KeyError::PrefixSize { .. } | KeyError::Prefixes { .. }) => span_of(&data.prefix_size),
        WorkloadError::Keys(KeyError::NoPrefix | KeyError::NoKeys | KeyError::Suffixes { .. }) => {
            span_of(&data.keys_per_prefix)
        }
        WorkloadError::Keys(_) => span_of(&data.key_size),
        WorkloadError::Range { parameter, .. } => match parameter {
            Parameter::Records => data.records.span(),
            Parameter::KeySize => span_of(&data.key_size),
            Parameter::ValueSize => span_of(&data.value_size),
            Parameter::PrefixSize => span_of(&data.prefix_size),
            Parameter::KeysPerPrefix => span_of(&data.keys_per_prefix),
            Parameter::Compressibility => data.compressibility.span(),
            Parameter::Spelling => data.spelling.span(),
            Parameter::Batch => in_run(span_of(&load.batch), |run| run.batch.span()),
            Parameter::Threads => in_run(load.writers.span(), |run| run.readers.span()),
            Parameter::ReadsPerTransaction => in_run(0..0, |run| run.reads_per_transaction.span()),
            Parameter::Duration => in_run(0..0, |run| span_of(&run.duration)),
            Parameter::WriteRate => in_run(0..0, |run| span_of(&run.write_rate)),
            Parameter::SeekNexts => in_run(0..0, |run| span_of(&run.seek_nexts)),
            Parameter::SeekWithin => in_run(0..0, |run| span_of(&run.seek_within)),
            Parameter::KeysPerMultiget => in_run(0..0, |run| span_of(&run.keys_per_multiget)),
            Parameter::Distribution => in_run(0..0, |run| span_of(&run.distribution)),
        },
    }
}

/// An engine's set-up, and what it is left out of. `number`: of the variant, and of the engine in it.
fn setup(variant: &Variant, plan: &mut Plan, number: (usize, usize)) -> Result<(Setup, Vec<LeftOut>), FileError> {
    let experiment = &variant.experiment;
    let named = &experiment.engines[number.1];
    let (label, place) = (named.get_ref().as_str(), named.span());
    let section = experiment.engine.get(label).cloned().unwrap_or_default();
    let (is, place) = section.is.as_ref().map_or((label, place), |is| (is.get_ref().as_str(), is.span()));
    let wrong = |message: String| FileError::new(message, place.clone());
    let name = EngineName::parse(is);
    let texts = section.option_texts();
    let mut request = inspection::request(&name, section.library.clone()).map_err(|error| wrong(error.message))?;
    request.options = texts.iter().map(|(text, _)| text.clone()).collect();
    // Only the answer tells whether its readers and writers must be processes.
    let sorts = [Phase::Run, Phase::Load].map(|phase| ClientKind::ALL.map(|clients| (phase, clients))).concat();
    request.settings = sorts.iter().map(|sort| ask(experiment, plan, number.0, sort)).collect();
    let engine = inspection::inspect_apart(&request).map_err(|error| {
        let option = texts.iter().find(|((option, _), _)| Some(option) == error.option.as_ref());
        FileError::new(error.message, option.map_or_else(|| place.clone(), |(_, place)| place.clone()))
    })?;
    let version = match engine.probe {
        Probe::Available { version } => version,
        Probe::Missing { reason } => return Err(wrong(format!("{label} cannot be measured here: {reason}"))),
    };
    let skips = cannot_run(experiment, label, &engine.declared).map_err(&wrong)?;
    check_room(&experiment.environment, &experiment.lab_settings(), label, engine.declared.can(abi::IS_MAPPED))?;
    let single = engine.declared.can(abi::IS_SINGLE);
    if single {
        plan.use_processes(number.0, number.1);
    }
    let trials: Vec<&PlannedTrial> =
        plan.trials.iter().filter(|trial| (trial.variant, trial.engine) == number).collect();
    check_clients(experiment, label, &engine.declared, &trials, &place)?;
    let mut resolved = Vec::new();
    for (sort, answer) in sorts.into_iter().zip(engine.settings) {
        if trials.iter().any(|trial| sort_of(trial) == sort) {
            resolved.push((sort, settings(answer.map_err(&wrong)?)));
        }
    }
    let left_out = skips.iter().map(|(section, reason)| LeftOut {
        variant: variant.name.clone(),
        engine: named.get_ref().clone(),
        reason: reason.clone(),
        workload: experiment.run[*section].workload.get_ref().to_string(),
    });
    let left_out = left_out.collect();
    let setup = Setup {
        label: label.to_owned(),
        preset: name.preset,
        options: request.options,
        volatile: engine.declared.can(abi::IS_VOLATILE),
        single,
        destroys: engine.declared.destroys,
        capabilities: engine.declared.capabilities,
        skips: skips.into_iter().map(|(section, _)| section).collect(),
        settings: resolved,
        facts: EngineFacts {
            name: engine.declared.name.clone(),
            version,
            library: engine.library.as_ref().map(|path| path.display().to_string()),
            adapter: request.adapter.display().to_string(),
            settings: Vec::new(),
            mapped: engine.declared.can(abi::IS_MAPPED),
        },
        library: engine.library,
        adapter: request.adapter,
    };
    Ok((setup, left_out))
}

fn sort_of(trial: &PlannedTrial) -> Sort {
    (trial.key.phase, trial.key.clients)
}

/// What the engine is requested for each sort of trial, whether there will be any or not: what it needs at the most.
fn ask(experiment: &Experiment, plan: &Plan, variant: usize, sort: &Sort) -> (LabSettings, Hints) {
    let of_phase = plan.trials.iter().filter(|trial| trial.variant == variant && trial.key.phase == sort.0);
    let roles = of_phase.map(|trial| trial.workload.roles().len()).max().unwrap_or(1) as u32;
    let lab = match sort.0 {
        Phase::Load => experiment.load_settings(),
        Phase::Run => experiment.lab_settings(),
    };
    let data = experiment.data();
    let records =
        plan.trials.iter().find(|trial| trial.variant == variant).map(|trial| trial.workload.records_stored());
    let records = records.unwrap_or(data.records);
    let hints = Hints {
        records,
        key_size: data.key_size,
        value_size: data.value_size,
        prefix_size: data.prefix_size.unwrap_or(0),
        sessions: sort.1.sessions(roles),
        processes: sort.1.processes(roles),
    };
    (lab, hints)
}

fn settings(resolved: Resolved) -> Vec<Setting> {
    resolved.into_iter().map(|(topic, name, value)| Setting { topic, name, value }).collect()
}
