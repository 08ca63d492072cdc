//! The workloads that an engine can do.

use kvdyno_engine::inspect::Declared;
use kvdyno_engine::{AbiCode, Durability, abi};
use kvdyno_environment::requested::StorageKind;
use kvdyno_experiment::Experiment;
use kvdyno_model::MissingEngines;
use kvdyno_worker::workloads::WorkloadSpec;

use crate::work::{load_spec, run_spec};

/// The runs of an experiment that the engine cannot do, each with the reason. An engine that can do some of them is
/// left out of the others where the experiment allows that (`missing_engines = "skip"`).
///
/// # Errors
/// If it cannot do the load, or a run that it is not to be left out of, or can do no run.
pub(crate) fn cannot_run(
    experiment: &Experiment,
    label: &str,
    engine: &Declared,
) -> Result<Vec<(usize, String)>, String> {
    let load = load_spec(experiment, 0);
    if let Some(lacks) = load.name.lacks(&load.parameters, engine.capabilities) {
        return Err(format!("{label} {lacks}"));
    }
    if experiment.environment.storage == StorageKind::Raw && !engine.can(abi::CAN_RAW_DEVICE) {
        return Err(format!(
            "{label} cannot keep a database on a raw device, which environment.storage = \"raw\" asks for"
        ));
    }
    let reason = |section: usize| {
        let run = run_spec(experiment, section, 1, 0);
        let lacks = run.name.lacks(&run.parameters, engine.capabilities);
        Some((section, format!("{label} {}", lacks.or_else(|| lacks_durability(&run, engine))?)))
    };
    let missing: Vec<_> = (0..experiment.run.len()).filter_map(reason).collect();
    match missing.first() {
        Some((_, why))
            if experiment.lab.missing_engines == MissingEngines::Refuse || missing.len() == experiment.run.len() =>
        {
            Err(why.clone())
        }
        _ => Ok(missing),
    }
}

/// The level that sessions of a run ask for and the engine does not have for each, as a clause that follows its name.
fn lacks_durability(run: &WorkloadSpec, engine: &Declared) -> Option<String> {
    let requested = run.parameters.session_durabilities();
    let level = |bits: u32| Durability::ALL.iter().find(|level| bits >> level.code() & 1 == 1);
    let first = level(requested)?;
    if !engine.can(abi::CAN_SET_DURABILITY) {
        return Some(format!(
            "has one durability for all that is written, and `{}` asks for `{first}` by session; leave one of them out",
            run.name
        ));
    }
    let missing = level(requested & !engine.durabilities)?;
    Some(format!("does not have durability `{missing}`, which `{}` asks for; leave one of them out", run.name))
}
