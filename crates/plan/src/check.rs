//! Holds an experiment against the engines, before anything is touched.
//!
//! `matrix` checks what the file alone tells, `workload` each trial, `inserts` what runs leave each other, `setup` each
//! engine.

mod inserts;
mod matrix;
mod setup;
mod workload;

use kvdyno_environment::profiler;
use kvdyno_experiment::{Experiment, FileError, LabKey, Variant};
use kvdyno_model::{DatabaseOrigin, Design, MissingEngines};
use kvdyno_results::{EngineIdentity, LeftOut, Phase};

use crate::backing_store;
use crate::copies::use_copies;
use crate::design::{DesignMachine, step_design};
use crate::environment::Environment;
use crate::inspection::{Inspector, InstalledEngines};
use crate::plan::Plan;
use inserts::check_inserts;
pub(crate) use matrix::check_count;
use matrix::check_matrix;
pub use setup::Setup;
use setup::setup;
use workload::check_workload;

/// An experiment that can be run here.
#[derive(Debug)]
pub struct Checked {
    /// The experiment as it was requested.
    pub experiment: Experiment,
    /// One for each variant; one if it has none.
    pub variants: Vec<CheckedVariant>,
    /// Engines that are left out.
    pub left_out: Vec<LeftOut>,
    /// Its trials.
    pub plan: Plan,
    /// The designs of its steps: each once.
    pub designs: Vec<Design>,
}

/// A variant that can be run here.
#[derive(Debug)]
pub struct CheckedVariant {
    /// With the engines that are here.
    pub variant: Variant,
    /// The environment of its trials.
    pub environment: Environment,
    /// An engine each, in the variant's order.
    pub setups: Vec<Setup>,
}

/// Checks everything that can be checked without touching anything.
///
/// # Errors
/// The first thing that cannot be, with what would be right.
pub fn check(experiment: Experiment) -> Result<Checked, FileError> {
    check_with(experiment, &InstalledEngines)
}

/// The same with the engines that `inspector` knows.
///
/// # Errors
/// As [`check`].
pub fn check_with(experiment: Experiment, inspector: &dyn Inspector) -> Result<Checked, FileError> {
    let (variants, left_out) = check_variants(&experiment, inspector)?;
    let plan = plan_of(&variants)?;
    if experiment.lab.database != DatabaseOrigin::Fresh {
        check_inserts(&plan).map_err(|(variant, error)| variants[variant].variant.error(error))?;
    }
    let designs = check_designs(&variants, &plan)?;
    Ok(Checked { plan, experiment, variants, left_out, designs })
}

/// The variants that can be run here, and what is left out of them. The plan with every engine is gone when the real
/// one is made: of 100,000 trials each of the two takes a quarter of a GiB.
fn check_variants(
    experiment: &Experiment,
    inspector: &dyn Inspector,
) -> Result<(Vec<CheckedVariant>, Vec<LeftOut>), FileError> {
    let (variants, mut plan) = check_alone(experiment)?;
    let mut left_out = Vec::new();
    let variants = variants.into_iter().enumerate();
    let checked = variants.map(|(index, one)| check_variant(inspector, index, one, &mut plan, &mut left_out));
    let variants: Vec<CheckedVariant> = checked.collect::<Result<_, _>>()?;
    if variants.iter().all(|one| one.setups.is_empty()) {
        let reasons: Vec<String> = left_out.iter().map(|one| format!("\n- {}: {}", one.engine, one.reason)).collect();
        return Err(FileError::new(format!("none of the engines can be measured here:{}", reasons.concat())));
    }
    Ok((variants, left_out))
}

/// The designs of the steps, each once. Refuses one that the work of some step does not allow.
fn check_designs(variants: &[CheckedVariant], plan: &Plan) -> Result<Vec<Design>, FileError> {
    let mut designs = Vec::new();
    let machines: Vec<DesignMachine> = variants.iter().map(|one| DesignMachine::of(&one.environment)).collect();
    let steps = plan.steps().filter(|step| step[0].key.phase == Phase::Run && step[0].key.repeat == 1);
    for step in steps {
        let (variant, step) = (step[0].variant, step.iter().collect::<Vec<_>>());
        let one = &variants[variant].variant;
        let engines: Vec<EngineIdentity> = variants[variant].setups.iter().map(Setup::engine).collect();
        let step =
            step_design(&one.experiment, &step, &engines, &machines[variant]).map_err(|error| one.error(error))?;
        if !designs.contains(&step.design) {
            designs.push(step.design);
        }
    }
    Ok(designs)
}

/// Checks the file by itself: no engine is asked, and the machine is not looked at. Returns its variants, and the plan
/// as it would be if every engine were available and could do everything.
///
/// # Errors
/// The first thing that cannot be, with what would be right.
pub fn check_alone(experiment: &Experiment) -> Result<(Vec<Variant>, Plan), FileError> {
    let mut variants = experiment.variants()?;
    // Before the rest, which looks at each engine and each trial.
    check_count(&variants)?;
    for variant in &mut variants {
        variant.experiment.yes_erase.clone_from(&experiment.yes_erase);
        check_matrix(&variant.experiment).map_err(|error| variant.error(error))?;
    }
    let plan = Plan::of(&variants);
    for trial in &plan.trials {
        let variant = &variants[trial.variant];
        check_workload(trial).map_err(|error| variant.error(error))?;
    }
    Ok((variants, plan))
}

/// The plan with the available engines, each with the work that it can do.
///
/// # Errors
/// If databases are to be copied that cannot be.
fn plan_of(checked: &[CheckedVariant]) -> Result<Plan, FileError> {
    let variants: Vec<Variant> = checked.iter().map(|one| one.variant.clone()).collect();
    let mut plan = Plan::of(&variants);
    for (index, one) in checked.iter().enumerate() {
        for (engine, _) in one.setups.iter().enumerate().filter(|(_, setup)| setup.single) {
            plan.use_processes(index, engine);
        }
        for (engine, setup) in one.setups.iter().enumerate() {
            plan.leave_out(index, engine, &setup.skips);
        }
        let setups: Vec<_> = one.setups.iter().map(Setup::copy_facts).collect();
        use_copies(&mut plan, index, &one.variant.experiment, &setups).map_err(|error| one.variant.error(error))?;
    }
    Ok(plan)
}

/// Refuses a profile where none can be taken.
fn check_profile(experiment: &Experiment) -> Result<(), FileError> {
    let obstacle = experiment.lab.profile.then(profiler::obstacle).flatten();
    obstacle.map_or(Ok(()), |why| Err(FileError::at(LabKey::Profile, format!("lab.profile = true cannot be: {why}"))))
}

/// A variant's set-ups. Engines that cannot be had are errors, or are left out if the experiment says so.
fn check_variant(
    inspector: &dyn Inspector,
    index: usize,
    mut variant: Variant,
    plan: &mut Plan,
    left_out: &mut Vec<LeftOut>,
) -> Result<CheckedVariant, FileError> {
    let environment = Environment::check(&variant.experiment.environment).map_err(|error| variant.error(error))?;
    backing_store::check(&variant.experiment, &environment).map_err(|error| variant.error(error))?;
    check_profile(&variant.experiment).map_err(|error| variant.error(error))?;
    let mut setups = Vec::new();
    for engine in 0..variant.experiment.engines.len() {
        match setup(inspector, &variant, plan, (index, engine)) {
            Ok((setup, left_out_of)) => {
                left_out.extend(left_out_of);
                setups.push(setup);
            }
            Err(error) if variant.experiment.lab.missing_engines == MissingEngines::Skip => left_out.push(LeftOut {
                variant: variant.name.clone(),
                engine: variant.experiment.engines[engine].clone(),
                reason: error.message,
                workload: String::new(),
            }),
            Err(error) => return Err(variant.error(error)),
        }
    }
    variant.experiment.engines.retain(|name| setups.iter().any(|setup| setup.label == *name));
    Ok(CheckedVariant { variant, environment, setups })
}
