//! Repeats without too much interference.

use std::collections::{BTreeMap, BTreeSet};

use kvdyno_results::{Phase, TrialResult, WorkKey};

use crate::interference::is_too_much;

/// Repeats, told apart by interference. Verdicts, tables and intervals all drop the same ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CalmRepeats {
    /// The repeats that count.
    kept: BTreeSet<u32>,
    /// Number of repeats that do not count.
    pub(crate) dropped: usize,
    /// Whether interference was in half of the repeats or more: none is dropped then, and nothing can be said.
    pub(crate) are_too_few: bool,
}

impl CalmRepeats {
    /// Tells `repeats` apart; `interfered` are those with too much interference.
    pub(crate) fn of(repeats: impl IntoIterator<Item = u32>, interfered: &BTreeSet<u32>) -> CalmRepeats {
        let (with, calm): (BTreeSet<u32>, BTreeSet<u32>) =
            repeats.into_iter().partition(|repeat| interfered.contains(repeat));
        match !with.is_empty() && with.len() >= calm.len() {
            true => CalmRepeats { kept: with.into_iter().chain(calm).collect(), dropped: 0, are_too_few: true },
            false => CalmRepeats { kept: calm, dropped: with.len(), are_too_few: false },
        }
    }

    /// Whether a repeat counts.
    pub(crate) fn keep(&self, repeat: u32) -> bool {
        self.kept.contains(&repeat)
    }
}

/// The repeats of each work in which a trial had too much interference. Such a repeat counts for none of its setups:
/// they were measured beside each other.
pub(crate) fn interfered_repeats(results: &[TrialResult]) -> BTreeMap<(Phase, WorkKey), BTreeSet<u32>> {
    let mut of_works: BTreeMap<_, BTreeSet<u32>> = BTreeMap::new();
    for result in results.iter().filter(|result| result.is_finished() && is_too_much(result)) {
        of_works.entry((result.trial.phase, WorkKey::from(result))).or_default().insert(result.trial.repeat);
    }
    of_works
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_with_interference_are_dropped_while_most_are_without() {
        let of = |interfered: &[u32]| CalmRepeats::of(1..=5, &interfered.iter().copied().collect());
        assert_eq!((of(&[]).dropped, of(&[]).are_too_few), (0, false));
        let two = of(&[2, 5, 9]);
        assert_eq!([1, 2, 3, 4, 5].map(|repeat| two.keep(repeat)), [true, false, true, true, false]);
        assert_eq!((two.dropped, two.are_too_few), (2, false));
        let three = of(&[2, 3, 5]);
        assert!((1..=5).all(|repeat| three.keep(repeat)));
        assert_eq!((three.dropped, three.are_too_few), (0, true));
    }

    #[test]
    fn half_of_all_is_too_many_and_no_repeat_is_none() {
        assert!(CalmRepeats::of(1..=4, &BTreeSet::from([1, 2])).are_too_few);
        assert!(!CalmRepeats::of([], &BTreeSet::from([1])).are_too_few);
    }
}
