//! Values in order.

use kvdyno_results::{Phase, TrialResult, WorkKey};

/// Results in the order in which the experiment names the engines, and not the random one in which these had their
/// turns: within each step of each repeat, or where each engine did all of its steps, within each repeat.
pub(crate) fn in_order_of_engines(results: Vec<TrialResult>, engines: &[String]) -> Vec<TrialResult> {
    let position = |result: &TrialResult| engines.iter().position(|engine| *engine == result.trial.engine);
    let repeat = |result: &TrialResult| (result.trial.repeat, result.trial.variant.clone());
    let step = |result: &TrialResult| (result.trial.phase == Phase::Load, WorkKey::from(result));
    let mut ordered = results;
    for of_repeat in ordered.chunk_by_mut(|one, next| repeat(one) == repeat(next)) {
        let take_turns = of_repeat.windows(2).any(|two| step(&two[0]) == step(&two[1]));
        match take_turns {
            true => of_repeat
                .chunk_by_mut(|one, next| step(one) == step(next))
                .for_each(|of_step| of_step.sort_by_key(|result| position(result).unwrap_or(usize::MAX))),
            false => of_repeat.sort_by_key(|result| position(result).unwrap_or(usize::MAX)),
        }
    }
    ordered
}

/// Values in the order of their first appearance, each once.
pub(crate) fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}
