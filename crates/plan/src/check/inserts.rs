//! Workloads that cannot follow others on the same database: those that know of no records but the loaded ones, after
//! others that insert or delete some, and those that go by the sum of all versions, after others that write.

use std::collections::HashMap;

use kvdyno_experiment::{FileError, RunKey};
use kvdyno_model::KeyPath;
use kvdyno_results::Phase;
use kvdyno_worker::workloads::Removal;

use crate::plan::{LoadId, Plan, PlannedTrial};

/// Changes that earlier runs made to the set of records in a database.
#[derive(Clone, Copy, Default)]
struct KeyChanges {
    inserted: bool,
    removed: Option<Removal>,
    /// Written to by a run that does not count versions.
    written: bool,
}

/// Refuses a run that knows of no records but those that were loaded, on a database into which one before it inserts,
/// or from which it deletes.
///
/// # Errors
/// The key of such a run, of the variant whose number is beside it.
pub(super) fn check_inserts(plan: &Plan) -> Result<(), (usize, FileError)> {
    let mut changes: HashMap<LoadId, KeyChanges> = HashMap::new();
    // Runs on copies are skipped: their writes do not reach later runs.
    for trial in plan.trials.iter().filter(|trial| !trial.copied) {
        let (name, parameters) = (trial.workload.name, &trial.workload.parameters);
        if trial.key.phase == Phase::Load {
            changes.remove(&trial.origin);
            continue;
        }
        let change = changes.entry(trial.origin).or_default();
        if change.inserted && name.profile().reads_in_order {
            let why =
                "reads in key order and knows only the records that were loaded, but a run before it inserts others";
            return Err((trial.variant, error(trial, why)));
        }
        if change.removed.is_some_and(|removed| !name.expects(parameters, removed)) {
            let why = "knows nothing of records that are gone, but a run before it deletes some";
            return Err((trial.variant, error(trial, why)));
        }
        if change.written && name.counts_versions(parameters) {
            let why = "goes by the sum of all versions, which a run before it changes";
            return Err((trial.variant, error(trial, why)));
        }
        change.written |= name.writes() && !name.counts_versions(parameters);
        change.inserted |= name.inserts(parameters);
        change.removed = change.removed.or(name.removes(parameters));
    }
    Ok(())
}

fn error(trial: &PlannedTrial, why: &str) -> FileError {
    let key = KeyPath::from(RunKey::Workload).numbered(trial.section.unwrap_or_default());
    let message =
        format!("`{}` {why}; let it come first, or set lab.database to \"fresh\" or \"snapshot\"", trial.workload.name);
    FileError::at(key, message)
}
