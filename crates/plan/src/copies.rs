//! Runs on copies of loaded databases (`lab.database`): which loads are done, and which runs stand on them.

use kvdyno_engine::Probe;
use kvdyno_engine::inspect::Inspection;
use kvdyno_environment::requested::StorageKind;
use kvdyno_experiment::{Experiment, FileError, LabKey};
use kvdyno_model::{DatabaseOrigin, OptionText, Order};
use kvdyno_results::Phase;

use crate::plan::{LoadId, Plan, PlannedTrial};

/// Repeats in which all runs stand on copies of one load: then another setup loads. A database is loaded differently
/// each time, so that more than one must be seen. But a load with its audit and copies takes as long as some eight
/// short runs, and changes the ratio of two setups less than another start does.
const REPEATS_ON_A_LOAD: u32 = 16;

/// The things by which two setups are known to have the same files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFormat {
    /// The engine.
    pub(crate) name: String,
    /// Its version, to the minor.
    version: String,
    preset: Option<String>,
    options: Vec<OptionText>,
}

impl FileFormat {
    /// The file format of an inspected engine.
    pub(crate) fn of(inspected: &Inspection, preset: Option<&str>, options: &[OptionText]) -> FileFormat {
        let version = match &inspected.probe {
            Probe::Available { version } => version.split('.').take(2).collect::<Vec<_>>().join("."),
            Probe::Missing { .. } => String::new(),
        };
        let (name, preset) = (inspected.declared.name.clone(), preset.map(str::to_owned));
        FileFormat { name, version, preset, options: options.to_vec() }
    }
}

/// A setup, as far as copies of databases depend on it.
#[derive(Clone, Copy, Debug)]
pub struct CopyFacts<'a> {
    /// Its name in the experiment.
    pub(crate) label: &'a str,
    pub(crate) format: &'a FileFormat,
    /// A copy of its database's folder is no database.
    pub(crate) bound: bool,
}

/// Lets the runs of a variant stand on copies as its experiment says.
///
/// # Errors
/// If its databases cannot be copied, or are not of one engine and are to be shared.
pub fn use_copies(plan: &mut Plan, variant: usize, experiment: &Experiment, setups: &[CopyFacts<'_>]) -> Outcome {
    let each: Vec<Vec<usize>> = (0..setups.len()).map(|engine| vec![engine]).collect();
    let all = || vec![(0..setups.len()).collect::<Vec<usize>>()];
    match experiment.lab.database {
        DatabaseOrigin::Kept | DatabaseOrigin::Fresh => Ok(()),
        DatabaseOrigin::Auto => {
            let alike = setups.len() > 1 && setups.windows(2).all(|pair| pair[0].format == pair[1].format);
            if alike && against_sharing(experiment, setups).is_none() {
                share(plan, variant, &all(), REPEATS_ON_A_LOAD);
            }
            Ok(())
        }
        DatabaseOrigin::Snapshot => {
            refuse(against_copies(experiment, setups), experiment)?;
            share(plan, variant, &each, 1);
            Ok(())
        }
        DatabaseOrigin::Shared => {
            refuse(against_sharing(experiment, setups), experiment)?;
            share(plan, variant, &all(), REPEATS_ON_A_LOAD);
            Ok(())
        }
    }
}

/// Nothing, or the reason of a refusal.
type Outcome = Result<(), FileError>;

fn refuse(why: Option<String>, experiment: &Experiment) -> Outcome {
    let origin = experiment.lab.database;
    match why {
        None => Ok(()),
        Some(why) => Err(FileError::at(
            LabKey::Database,
            format!("`{origin}` cannot be: {why}; it can be {} or {}", DatabaseOrigin::Kept, DatabaseOrigin::Fresh),
        )),
    }
}

/// Why setups cannot stand on copies of one load; `None` if they can.
fn against_sharing(experiment: &Experiment, setups: &[CopyFacts<'_>]) -> Option<String> {
    let other = setups.iter().find(|setup| setup.format.name != setups[0].format.name);
    if let Some(other) = other {
        return Some(format!("{} and {} are not of one engine, and have other files", setups[0].label, other.label));
    }
    if experiment.lab.order == Order::Sequential {
        return Some("lab.order = sequential has the database of one setup at a time".to_owned());
    }
    against_copies(experiment, setups)
}

/// Why databases cannot be copied; `None` if they can.
fn against_copies(experiment: &Experiment, setups: &[CopyFacts<'_>]) -> Option<String> {
    if experiment.environment.storage == StorageKind::Raw {
        return Some("databases on raw devices are not copied".to_owned());
    }
    if experiment.environment.device.is_some() {
        return Some("a device has room for one database".to_owned());
    }
    let bound = setups.iter().find(|setup| setup.bound);
    bound.map(|setup| format!("a copy of a database of {} is no database", setup.label))
}

/// Makes the setups of each group use copies of one load for `repeats` repeats; the setups of a group load in turns.
///
/// Each setup has a copy of its own, and the next copy in each repeat. A database is up to some per cent faster than
/// its copy because of its location in memory, and the kernel gives a new copy the pages of the copy that was removed
/// for it.
fn share(plan: &mut Plan, variant: usize, groups: &[Vec<usize>], repeats: u32) {
    let copy = |trial: &PlannedTrial| {
        let group = groups.iter().find(|group| group.contains(&trial.engine))?;
        let index = group.iter().position(|engine| *engine == trial.engine)?;
        // Each setup is on each copy equally often.
        let repeats = repeats.next_multiple_of(group.len() as u32);
        let (block, repeat) = ((trial.key.repeat - 1) / repeats, (trial.key.repeat - 1) % repeats);
        let origin = LoadId { variant, engine: group[block as usize % group.len()], repeat: block * repeats + 1 };
        Some((origin, (index + repeat as usize) % group.len()))
    };
    for trial in plan.trials.iter_mut().filter(|trial| trial.variant == variant) {
        let Some((origin, copy)) = copy(trial) else { continue };
        (trial.origin, trial.copied, trial.copy) = (origin, true, copy);
    }
    let is_needed = |trial: &PlannedTrial| {
        let own = LoadId { variant: trial.variant, engine: trial.engine, repeat: trial.key.repeat };
        trial.key.phase == Phase::Run || trial.origin == own
    };
    plan.trials.retain(is_needed);
    plan.number();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(version: &str) -> FileFormat {
        FileFormat { name: "a".to_owned(), version: version.to_owned(), preset: None, options: Vec::new() }
    }

    fn facts<'a>(formats: &'a [FileFormat], bound: bool) -> Vec<CopyFacts<'a>> {
        formats.iter().map(|format| CopyFacts { label: "a", format, bound }).collect()
    }

    fn plan_of(database: &str, formats: &[FileFormat], bound: bool) -> Result<Plan, FileError> {
        plan_of_repeats(6, database, formats, bound)
    }

    fn plan_of_repeats(count: u32, database: &str, formats: &[FileFormat], bound: bool) -> Result<Plan, FileError> {
        plan_on("folder", (count, database), formats, bound)
    }

    fn plan_on(
        storage: &str,
        (count, database): (u32, &str),
        formats: &[FileFormat],
        bound: bool,
    ) -> Result<Plan, FileError> {
        let lab =
            format!("[lab]\nrepeat = {count}\ndatabase = \"{database}\"\n[environment]\nstorage = \"{storage}\"\n");
        let text = format!("engines = [\"a\", \"b\"]\n[[run]]\nreaders = [1]\n{lab}");
        let experiment = Experiment::parse(&text).unwrap();
        let mut plan = Plan::of(&experiment.variants().unwrap());
        use_copies(&mut plan, 0, &experiment, &facts(formats, bound)).map(|()| plan)
    }

    /// The trials of each repeat, a letter for the engine: upper case for a load, `.` after the last on a copied
    /// database.
    fn trials(plan: &Plan) -> String {
        let word = |trial: &PlannedTrial| match trial.key.phase {
            Phase::Load => trial.key.engine.to_uppercase(),
            Phase::Run => trial.key.engine.clone(),
        };
        let of_repeat = |trials: &[PlannedTrial]| {
            let mut words: Vec<String> = trials.iter().map(word).collect();
            words.sort();
            words.extend(trials.iter().filter(|trial| trial.last_on_origin).map(|_| ".".to_owned()));
            words.concat()
        };
        let repeats = plan.trials.chunk_by(|one, next| one.key.repeat == next.key.repeat);
        repeats.map(of_repeat).collect::<Vec<_>>().join(" ")
    }

    /// Twelve repeats, and six that stand by.
    #[test]
    fn builds_of_one_engine_stand_on_copies_of_one_load_which_they_make_in_turns() {
        let plan = plan_of_repeats(12, "auto", &[format("1.2"), format("1.2")], false).unwrap();
        assert_eq!(trials(&plan), "Aab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab. Bab ab.");
        assert_eq!(plan.trials.iter().map(|trial| trial.key.number).max(), Some(plan.trials.len() as u32));
        assert!(plan.trials.iter().all(|trial| trial.copied));
    }

    #[test]
    fn setups_cross_over_between_copies() {
        let plan = plan_of_repeats(12, "auto", &[format("1.2"), format("1.2")], false).unwrap();
        let runs = || plan.trials.iter().filter(|trial| trial.key.phase == Phase::Run);
        let copies = |engine: &str| -> Vec<usize> {
            runs().filter(|trial| trial.key.engine == engine).map(|trial| trial.copy).collect()
        };
        let (a, b): (Vec<usize>, Vec<usize>) = (0..18).map(|repeat| (repeat % 2, (repeat + 1) % 2)).unzip();
        assert_eq!((copies("a"), copies("b")), (a, b));
        let last: Vec<u32> = runs().filter(|trial| trial.last_on_database).map(|trial| trial.key.repeat).collect();
        assert_eq!(last, [16, 16, 18, 18]);
    }

    #[test]
    fn other_versions_and_what_cannot_be_copied_keep_their_own() {
        for (formats, bound) in [([format("1.2"), format("1.3")], false), ([format("1.2"), format("1.2")], true)] {
            let plan = plan_of("auto", &formats, bound).unwrap();
            assert!(plan.trials.iter().all(|trial| !trial.copied));
            assert_eq!(trials(&plan).matches(['A', 'B']).count(), 18);
        }
        let refused = plan_of("snapshot", &[format("1.2"), format("1.2")], true).unwrap_err();
        assert!(refused.message.contains("a copy of a database of a"), "{}", refused.message);
    }

    #[test]
    fn raw_devices_are_not_copied() {
        let formats = [format("1.2"), format("1.2")];
        for database in ["snapshot", "shared"] {
            let refused = plan_on("raw", (6, database), &formats, false).unwrap_err();
            assert!(refused.message.contains("databases on raw devices are not copied"), "{}", refused.message);
        }
        let plan = plan_on("raw", (6, "auto"), &formats, false).unwrap();
        assert!(plan.trials.iter().all(|trial| !trial.copied));
    }

    #[test]
    fn a_snapshot_is_each_setups_own_in_each_repeat() {
        let plan = plan_of("snapshot", &[format("1.2"), format("1.3")], false).unwrap();
        assert!(trials(&plan).starts_with("ABab.. ABab.. "), "{}", trials(&plan));
        assert_eq!(plan.ordered().count(), 24);
        assert!(plan.trials.iter().all(|trial| trial.copied && trial.origin.engine == trial.engine));
    }

    #[test]
    fn what_is_shared_is_of_one_engine() {
        let other = FileFormat { name: "b".to_owned(), ..format("1.2") };
        let refused = plan_of("shared", &[format("1.2"), other], false).unwrap_err();
        assert!(refused.message.contains("are not of one engine"), "{}", refused.message);
        // Options and versions are the user's to judge.
        assert!(plan_of("shared", &[format("1.2"), format("1.3")], false).is_ok());
    }
}
