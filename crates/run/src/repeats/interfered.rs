//! Repeats that suffered interference: they are done again, and their results stay.

use std::collections::HashSet;

use kvdyno_results::{Phase, Repeated, TrialResult, WorkKey};

/// A repeat that suffered interference.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Interfered {
    pub(super) repeat: u32,
    /// Which of its steps.
    pub(super) steps: HashSet<WorkKey>,
    /// The interference with the first of its trials.
    pub(super) why: String,
}

/// The repeats that suffered interference. The results are in the order of their trials.
pub(super) fn interfered(
    results: &[&TrialResult],
    interference: impl Fn(&TrialResult) -> Option<String>,
) -> Vec<Interfered> {
    let mut all: Vec<Interfered> = Vec::new();
    for result in results.iter().filter(|result| result.trial.phase == Phase::Run) {
        let Some(why) = interference(result) else { continue };
        let (repeat, step) = (result.trial.repeat, WorkKey::from(*result));
        match all.iter_mut().find(|one| one.repeat == repeat) {
            Some(one) => drop(one.steps.insert(step)),
            None => all.push(Interfered { repeat, steps: HashSet::from([step]), why }),
        }
    }
    all
}

/// The first that was not done again.
pub(super) fn owed<'a>(interfered: &'a [Interfered], repeated: &[Repeated]) -> Option<&'a Interfered> {
    interfered.iter().find(|one| !repeated.iter().any(|repeated| repeated.repeat == one.repeat))
}
