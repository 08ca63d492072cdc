//! An engine as an experiment sets it up.

use std::path::PathBuf;

use kvdyno_engine::inspect::Inspection;
use kvdyno_engine::{EngineSettings, Hints, Probe, Resolved, abi};
use kvdyno_experiment::{EngineKey, Experiment, FileError, TopKey, Variant};
use kvdyno_model::{ClientKind, EngineName, KeyPath, KeyStep, OptionText, Phase};
use kvdyno_results::{EngineFacts, EngineIdentity, LeftOut, Setting, TrialKey};

use super::matrix::engine_key;
use crate::capabilities::cannot_run;
use crate::clients::check_clients;
use crate::copies::{CopyFacts, FileFormat};
use crate::environment::check_memory;
use crate::inspection::{self, Inspector};
use crate::plan::{Plan, PlannedTrial};
use crate::work::data;

/// One engine as the experiment sets it up.
#[derive(Debug)]
pub struct Setup {
    /// Its name in the experiment.
    pub label: String,
    /// The adapter's file.
    pub adapter: PathBuf,
    /// The engine's preset.
    pub preset: Option<String>,
    /// Options beyond the preset.
    pub options: Vec<OptionText>,
    /// The library to load, if not the system's.
    pub library: Option<PathBuf>,
    /// It keeps nothing, so nothing has to be loaded again.
    pub volatile: bool,
    /// Its readers and writers are always processes.
    pub(super) single: bool,
    /// It keeps something outside the database's folder, and releases it on request.
    pub destroys: bool,
    /// The files of its databases.
    pub(crate) format: FileFormat,
    /// A copy of its database's folder is no database.
    bound: bool,
    /// The engine's capabilities: `abi::CAN_…` and `abi::IS_…`.
    pub capabilities: u64,
    /// The `[[run]]` sections that it cannot do and is left out of.
    pub(super) skips: Vec<usize>,
    /// The facts of the engine for results, without its settings.
    facts: EngineFacts,
    /// The settings for each sort of trial.
    settings: Vec<(Sort, Vec<Setting>)>,
}

/// The things that decide how a database is opened: the phase, and whether processes share it.
type Sort = (Phase, ClientKind);

impl Setup {
    /// The engine's settings for a trial.
    pub fn settings(&self, trial: &TrialKey) -> &[Setting] {
        let of_sort = self.settings.iter().find(|(sort, _)| *sort == (trial.phase, trial.clients));
        of_sort.map_or(&[], |(_, settings)| settings)
    }

    /// The names of its log files, if the adapter says them; no file is called `none`.
    pub fn log_files(&self, trial: &TrialKey) -> Option<&str> {
        let named = self.settings(trial).iter().find(|setting| (&*setting.topic, &*setting.name) == ("files", "log"));
        named.map(|setting| setting.value.as_str())
    }

    /// The facts on which copies of its databases depend.
    pub(super) fn copy_facts(&self) -> CopyFacts<'_> {
        CopyFacts { label: &self.label, format: &self.format, bound: self.bound }
    }

    /// Its engine, which other setups may have too.
    pub fn engine(&self) -> EngineIdentity {
        EngineIdentity { name: self.facts.name.clone(), preset: self.preset.clone() }
    }

    /// The account of the engine in the result of a trial.
    pub fn facts(&self, trial: &TrialKey) -> EngineFacts {
        EngineFacts { settings: self.settings(trial).to_vec(), ..self.facts.clone() }
    }
}

/// An engine's set-up, and the work that it is left out of. `number`: of the variant, and of the engine in it.
pub(super) fn setup(
    inspector: &dyn Inspector,
    variant: &Variant,
    plan: &mut Plan,
    number: (usize, usize),
) -> Result<(Setup, Vec<LeftOut>), FileError> {
    let experiment = &variant.experiment;
    let label = experiment.engines[number.1].as_str();
    let section = experiment.engine.get(label).cloned().unwrap_or_default();
    let (engine, named) = match &section.engine {
        Some(engine) => (engine.as_str(), engine_key(label, EngineKey::Engine)),
        None => (label, KeyPath::from(TopKey::Engines).then(KeyStep::Index(number.1))),
    };
    let wrong = |message: String| FileError::at(named.clone(), message);
    let name = EngineName::parse(engine);
    let library = section.library.clone().map(|path| path.0);
    let library_is_chosen = library.is_some() || name.library().is_some();
    let mut request = inspector.request(&name, library).map_err(|error| wrong(error.message))?;
    request.options = section.options.texts();
    // Only the answer tells whether its readers and writers must be processes.
    let sorts =
        [Phase::Run, Phase::Load].map(|phase| [ClientKind::Threads, ClientKind::Processes].map(|kind| (phase, kind)));
    let sorts = sorts.concat();
    request.settings = sorts.iter().map(|sort| ask(experiment, plan, number.0, sort)).collect();
    let mut inspected = inspector.inspect(&request).map_err(|error| match &error.option {
        Some(option) if section.options.contains_key(option) => {
            FileError::at(engine_key(label, EngineKey::Options).then(KeyStep::Key(option.clone())), error.message)
        }
        _ => wrong(error.message),
    })?;
    let version = match &inspected.probe {
        Probe::Available { version } => version.clone(),
        Probe::Missing { reason } => {
            // A user who names the library brings it; and most adapters give the advice themselves.
            let told = library_is_chosen || reason.contains("engines install");
            let advice = inspection::how_to_get(&name).filter(|_| !told);
            let advice = advice.map(|advice| format!("; {advice}")).unwrap_or_default();
            return Err(wrong(format!("{label} cannot be measured here: {reason}{advice}")));
        }
    };
    let skips = cannot_run(experiment, label, &inspected.declared).map_err(&wrong)?;
    let single = fits(experiment, label, &inspected, plan, number, &named)?;
    let mut settings = Vec::new();
    for (sort, answer) in sorts.into_iter().zip(std::mem::take(&mut inspected.settings)) {
        if trials_of(plan, number).any(|trial| sort_of(trial) == sort) {
            settings.push((sort, settings_of(answer.map_err(&wrong)?)));
        }
    }
    let left_out = left_out(variant, label, &skips);
    let can = |what| inspected.declared.can(what);
    let setup = Setup {
        label: label.to_owned(),
        format: FileFormat::of(&inspected, name.preset.as_deref(), &request.options),
        preset: name.preset,
        options: request.options,
        volatile: can(abi::IS_VOLATILE),
        bound: can(abi::IS_BOUND),
        single,
        destroys: inspected.declared.destroys,
        capabilities: inspected.declared.capabilities,
        skips: skips.into_iter().map(|(section, _)| section).collect(),
        settings,
        facts: EngineFacts {
            name: inspected.declared.name.clone(),
            version,
            library: inspected.library.as_ref().map(|path| path.display().to_string()),
            adapter: request.adapter.display().to_string(),
            file: None,
            settings: Vec::new(),
            mapped: can(abi::IS_MAPPED),
        },
        library: inspected.library,
        adapter: request.adapter,
    };
    Ok((setup, left_out))
}

/// Refuses an engine that needs more memory than it will have, or other clients. Returns whether its clients are always
/// processes.
fn fits(
    experiment: &Experiment,
    label: &str,
    engine: &Inspection,
    plan: &mut Plan,
    number: (usize, usize),
    named: &KeyPath,
) -> Result<bool, FileError> {
    check_memory(experiment, label, engine.declared.can(abi::IS_MAPPED))?;
    let single = engine.declared.can(abi::IS_SINGLE);
    if single {
        plan.use_processes(number.0, number.1);
    }
    let trials: Vec<&PlannedTrial> = trials_of(plan, number).collect();
    check_clients(experiment, label, &engine.declared, &trials, named)?;
    Ok(single)
}

fn trials_of(plan: &Plan, number: (usize, usize)) -> impl Iterator<Item = &PlannedTrial> {
    plan.trials.iter().filter(move |trial| (trial.variant, trial.engine) == number)
}

fn left_out(variant: &Variant, label: &str, skips: &[(usize, String)]) -> Vec<LeftOut> {
    let one = |(section, reason): &(usize, String)| LeftOut {
        variant: variant.name.clone(),
        engine: label.to_owned(),
        reason: reason.clone(),
        workload: variant.experiment.run[*section].workload.to_string(),
    };
    skips.iter().map(one).collect()
}

fn sort_of(trial: &PlannedTrial) -> Sort {
    (trial.key.phase, trial.key.clients)
}

/// The request to the engine for each sort of trial, even if there will be none: the most that it needs.
fn ask(experiment: &Experiment, plan: &Plan, variant: usize, sort: &Sort) -> (EngineSettings, Hints) {
    let of_phase = plan.trials.iter().filter(|trial| trial.variant == variant && trial.key.phase == sort.0);
    let session_durabilities =
        of_phase.clone().map(|trial| trial.workload.parameters.session_durabilities()).fold(0, |all, bits| all | bits);
    let roles = of_phase.map(|trial| trial.workload.roles().len()).max().unwrap_or(1) as u32;
    let lab = match sort.0 {
        Phase::Load => experiment.load_settings(),
        Phase::Run => experiment.engine_settings(),
    };
    let data = data(experiment);
    let records =
        plan.trials.iter().find(|trial| trial.variant == variant).map(|trial| trial.workload.records_stored());
    let records = records.unwrap_or(data.records);
    let hints = Hints {
        records,
        key_size: data.key_size,
        value_size: data.value_size,
        largest_value: data.largest_value(),
        prefix_size: data.prefix_size.unwrap_or(0),
        sessions: sort.1.sessions(roles),
        processes: sort.1.processes(roles),
        session_durabilities,
    };
    (lab, hints)
}

fn settings_of(resolved: Resolved) -> Vec<Setting> {
    resolved.into_iter().map(|(topic, name, value)| Setting { topic, name, value }).collect()
}
