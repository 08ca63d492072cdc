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
            let why = "reads the loaded records in key order, but an earlier run inserts others";
            return Err((trial.variant, error(trial, why)));
        }
        if change.removed.is_some_and(|removed| !name.expects(parameters, removed)) {
            let why = "does not know which records an earlier run deleted";
            return Err((trial.variant, error(trial, why)));
        }
        if change.written && name.counts_versions(parameters) {
            let why = "checks the sum of all versions, which an earlier run changes";
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
    let name = trial.workload.name;
    let message = format!("`{name}` {why}; move it before that run, or set lab.database to \"fresh\" or \"snapshot\"");
    FileError::at(key, message)
}
