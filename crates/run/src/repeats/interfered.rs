//! Repeats that suffered interference: they are done again, and their results stay.

use std::collections::HashSet;

use kvdyno_results::{Repeated, TrialKey, WorkKey};

/// A repeat that suffered interference.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Interfered {
    pub(super) repeat: u32,
    /// Which of its steps.
    pub(super) steps: HashSet<WorkKey>,
    /// The interference with the first of its trials.
    pub(super) why: String,
}

/// The repeats that suffered interference, from the trials that did, in their order.
pub(super) fn interfered(trials: &[(&TrialKey, String)]) -> Vec<Interfered> {
    let mut all: Vec<Interfered> = Vec::new();
    for (trial, why) in trials {
        let (repeat, step) = (trial.repeat, WorkKey::from(*trial));
        match all.iter_mut().find(|one| one.repeat == repeat) {
            Some(one) => drop(one.steps.insert(step)),
            None => all.push(Interfered { repeat, steps: HashSet::from([step]), why: why.clone() }),
        }
    }
    all
}

/// The first that was not done again.
pub(super) fn owed<'a>(interfered: &'a [Interfered], repeated: &[Repeated]) -> Option<&'a Interfered> {
    interfered.iter().find(|one| !repeated.iter().any(|repeated| repeated.repeat == one.repeat))
}
