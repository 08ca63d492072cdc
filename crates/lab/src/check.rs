//! Holds an experiment against the engines, before anything is touched.

use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;

use kvdyno_engine::catalog::EngineName;
use kvdyno_engine::inspect::Declared;
use kvdyno_engine::{Hints, LabSettings, OptionText, Probe, Resolved, abi, closest};
use kvdyno_record::{EngineFacts, Phase, Setting, TrialKey, Workers};
use kvdyno_workload::{Kind, Workload, WorkloadError};

use crate::experiment::{Experiment, FileError};
use crate::inspection;
use crate::plan::{Plan, PlannedTrial};
use crate::workers::check_workers;

/// An experiment that can be run here.
#[derive(Debug)]
pub struct Checked {
    /// As it was asked for.
    pub experiment: Experiment,
    /// An engine each, in the experiment's order.
    pub setups: Vec<Setup>,
    /// What it comes to.
    pub plan: Plan,
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
    /// It keeps something outside the database's folder, which it gives back when asked to.
    pub destroys: bool,
    /// For records, but for the settings.
    facts: EngineFacts,
    /// What it sets for each sort of trial.
    settings: Vec<(Sort, Vec<Setting>)>,
}

/// What decides how a database is opened: the phase, and whether processes share it.
type Sort = (Phase, Workers);

impl Setup {
    /// What the engine sets for a trial.
    pub fn settings(&self, trial: &TrialKey) -> &[Setting] {
        let of_sort = self.settings.iter().find(|(sort, _)| *sort == (trial.phase, trial.workers));
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
    check_matrix(&experiment)?;
    let mut plan = Plan::of(&experiment);
    check_workloads(&experiment, &plan)?;
    let setups = (0..experiment.engines.len()).map(|engine| setup(&experiment, &mut plan, engine));
    Ok(Checked { setups: setups.collect::<Result<_, _>>()?, plan, experiment })
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
        let message = format!("`{}` does not load; it can be fillseq or fillrandom", load.get_ref());
        return Err(FileError::new(message, load.span()));
    }
    for run in &experiment.run {
        if run.workload.get_ref().loads() {
            let message = format!("`{}` loads, and so belongs into [load]", run.workload.get_ref());
            return Err(FileError::new(message, run.workload.span()));
        }
        if let (Some(duration), Some(_)) = (&run.duration, run.operations) {
            return Err(FileError::new(
                "duration and operations cannot both end a run; leave one of them out",
                duration.span(),
            ));
        }
        if !run.workload.get_ref().writes() {
            let asked = [
                run.write_rate.as_ref().map(|rate| ("write_rate", rate.span())),
                (*run.batch.get_ref() > 1).then(|| ("batch", run.batch.span())),
            ];
            if let Some((key, place)) = asked.into_iter().flatten().next() {
                return Err(FileError::new(
                    format!("`{}` writes nothing, so {key} means nothing to it", run.workload.get_ref()),
                    place,
                ));
            }
        }
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

fn check_workloads(experiment: &Experiment, plan: &Plan) -> Result<(), FileError> {
    for trial in &plan.trials {
        trial.workload.check().map_err(|error| {
            let place = place_of(experiment, &trial.workload, &error);
            FileError::new(error.to_string(), place)
        })?;
    }
    Ok(())
}

/// Where in the file the number stands that `error` is about.
fn place_of(experiment: &Experiment, workload: &Workload, error: &WorkloadError) -> Range<usize> {
    let (data, load) = (&experiment.data, &experiment.load);
    let run = experiment.run.iter().find(|run| *run.workload.get_ref() == workload.kind);
    let in_run = |load: Range<usize>, of_run: fn(&crate::experiment::RunSection) -> Range<usize>| {
        if workload.kind.loads() { load } else { run.map_or(0..0, of_run) }
    };
    match error {
        WorkloadError::Unknown { .. } => 0..0,
        WorkloadError::Keys(_) => data.key_size.span(),
        WorkloadError::Range { what, .. } => match *what {
            "records" => data.records.span(),
            "value_size" => data.value_size.span(),
            "compressibility" => data.compressibility.span(),
            "batch" => in_run(load.batch.span(), |run| run.batch.span()),
            "threads" => in_run(load.writers.span(), |run| run.readers.span()),
            "reads_per_transaction" => in_run(0..0, |run| run.reads_per_transaction.span()),
            "duration" => in_run(0..0, |run| run.duration.as_ref().map_or(0..0, toml::Spanned::span)),
            "write_rate" => in_run(0..0, |run| run.write_rate.as_ref().map_or(0..0, toml::Spanned::span)),
            _ => 0..0,
        },
    }
}

fn setup(experiment: &Experiment, plan: &mut Plan, number: usize) -> Result<Setup, FileError> {
    let named = &experiment.engines[number];
    let (label, place) = (named.get_ref().as_str(), named.span());
    let section = experiment.engine.get(label).cloned().unwrap_or_default();
    let (is, place) = section.is.as_ref().map_or((label, place), |is| (is.get_ref().as_str(), is.span()));
    let wrong = |message: String| FileError::new(message, place.clone());
    let name = EngineName::parse(is);
    let texts = section.option_texts();
    let mut request = inspection::request(&name, section.library.clone()).map_err(|error| wrong(error.message))?;
    request.options = texts.iter().map(|(text, _)| text.clone()).collect();
    // Only the answer tells whether its readers and writers must be processes.
    let sorts = [Phase::Run, Phase::Load].map(|phase| Workers::ALL.map(|workers| (phase, workers))).concat();
    request.settings = sorts.iter().map(|sort| ask(experiment, plan, sort)).collect();
    let engine = inspection::inspect_apart(&request).map_err(|error| {
        let option = texts.iter().find(|((option, _), _)| Some(option) == error.option.as_ref());
        FileError::new(error.message, option.map_or_else(|| place.clone(), |(_, place)| place.clone()))
    })?;
    let version = match engine.probe {
        Probe::Available { version } => version,
        Probe::Missing { reason } => return Err(wrong(format!("{label} cannot be measured here: {reason}"))),
    };
    check_capabilities(experiment, label, &engine.declared).map_err(&wrong)?;
    if engine.declared.can(abi::IS_SINGLE) {
        plan.use_processes(number);
    }
    let trials: Vec<&PlannedTrial> = plan.trials.iter().filter(|trial| trial.engine == number).collect();
    check_workers(experiment, label, &engine.declared, &trials, &place)?;
    let mut resolved = Vec::new();
    for (sort, answer) in sorts.into_iter().zip(engine.settings) {
        if trials.iter().any(|trial| sort_of(trial) == sort) {
            resolved.push((sort, settings(answer.map_err(&wrong)?)));
        }
    }
    Ok(Setup {
        label: label.to_owned(),
        preset: name.preset,
        options: request.options,
        volatile: engine.declared.can(abi::IS_VOLATILE),
        destroys: engine.declared.destroys,
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
    })
}

fn sort_of(trial: &PlannedTrial) -> Sort {
    (trial.key.phase, trial.key.workers)
}

/// What the engine is asked for each sort of trial, whether there will be any or not: what it needs at the most.
fn ask(experiment: &Experiment, plan: &Plan, sort: &Sort) -> (LabSettings, Hints) {
    let of_phase = plan.trials.iter().filter(|trial| trial.key.phase == sort.0);
    let roles = of_phase.map(|trial| trial.workload.roles().len()).max().unwrap_or(1) as u32;
    let lab = match sort.0 {
        Phase::Load => experiment.load_settings(),
        Phase::Run => experiment.lab_settings(),
    };
    let data = experiment.data();
    let hints = Hints {
        records: data.records,
        key_size: data.key_size,
        value_size: data.value_size,
        prefix_size: 0,
        sessions: sort.1.sessions(roles),
        processes: sort.1.processes(roles),
    };
    (lab, hints)
}

fn settings(resolved: Resolved) -> Vec<Setting> {
    resolved.into_iter().map(|(topic, name, value)| Setting { topic, name, value }).collect()
}

fn check_capabilities(experiment: &Experiment, label: &str, adapter: &Declared) -> Result<(), String> {
    for run in &experiment.run {
        let (needs, what) = match *run.workload.get_ref() {
            Kind::ReadSeq => (abi::CAN_SCAN, "scan"),
            Kind::ReadReverse => (abi::CAN_SCAN_REVERSE, "scan against key order"),
            Kind::ReadRandom if *run.reads_per_transaction.get_ref() > 1 => (abi::CAN_SNAPSHOT, "read in transactions"),
            _ => continue,
        };
        if !adapter.can(needs) {
            return Err(format!(
                "{label} cannot {what}, which `{}` needs; leave one of them out",
                run.workload.get_ref()
            ));
        }
    }
    Ok(())
}
