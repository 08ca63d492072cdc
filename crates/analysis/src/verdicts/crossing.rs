//! Setups that cross over between copies of one database.
//!
//! A database is consistently up to some per cent faster than its copy, because of its location in memory. Setups on
//! copies of one load therefore change copies with each repeat; in a *round* each setup has run on each copy. The
//! effect of the copies cancels in the mean of a round's log ratios, but not in a single one (the two-period design of
//! Jones and Kenward, *Design and Analysis of Cross-Over Trials*, 2014, chapter 2). A round is therefore one value.

use std::collections::BTreeMap;

use kvdyno_results::DatabaseCopy;

use super::level::Looks;
use super::verdict::{PairedRatio, PairedRatios};
use super::without_others::WithoutOthers;

/// The round of a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Rounds are numbered in the order of repeats.
    number: u32,
    /// Each of the two was on each of its copies.
    is_complete: bool,
}

/// The rounds of two setups, from the copies that they had in each repeat.
pub(super) fn rounds(copies: &BTreeMap<u32, (DatabaseCopy, DatabaseCopy)>) -> BTreeMap<u32, Round> {
    let mut rounds = BTreeMap::new();
    let mut current: Vec<(u32, DatabaseCopy, DatabaseCopy)> = Vec::new();
    let mut number = 0;
    for (repeat, (one, other)) in copies {
        let is_next = |(_, first, second): &(u32, DatabaseCopy, DatabaseCopy)| {
            first.load != one.load || first == one || second == other
        };
        if current.iter().any(is_next) {
            number += 1;
            current.clear();
        }
        current.push((*repeat, *one, *other));
        let is_complete = current.iter().all(|(_, first, _)| current.iter().any(|(_, _, second)| second == first));
        let of_round = current.iter().map(|(repeat, ..)| (*repeat, Round { number, is_complete }));
        rounds.extend(of_round);
        if is_complete {
            number += 1;
            current.clear();
        }
    }
    rounds
}

impl PairedRatios {
    /// The values that a comparison is made of: one ratio for each round where setups cross over, else one for each
    /// repeat. With a look after each repeat, only complete rounds count. With a number of repeats that was set
    /// beforehand, all repeats count: if they do not make up complete rounds, each repeat is a value, and the effect of
    /// the copies widens the interval.
    pub(super) fn by_rounds(&self, looks: Looks) -> PairedRatios {
        let Some(rounds) = self.complete_rounds() else { return self.clone() };
        let merged: Vec<PairedRatio> = rounds.values().map(|ratios| mean(ratios)).collect();
        let in_rounds: usize = rounds.values().map(Vec::len).sum();
        let ratios = match looks {
            Looks::AfterEach | Looks::AfterEachOfTen if merged.is_empty() => {
                self.ratios.iter().take(1).copied().collect()
            }
            Looks::Once if merged.len() < looks.fewest() || in_rounds < self.ratios.len() => self.ratios.clone(),
            _ => merged,
        };
        PairedRatios { ratios, ..*self }
    }

    /// The ratios of each complete round; `None` where nobody crosses over.
    fn complete_rounds(&self) -> Option<BTreeMap<u32, Vec<PairedRatio>>> {
        let mut rounds: BTreeMap<u32, Vec<PairedRatio>> = BTreeMap::new();
        let mut crosses = false;
        for ratio in &self.ratios {
            let Some(round) = ratio.round else { continue };
            crosses = true;
            if round.is_complete {
                rounds.entry(round.number).or_default().push(*ratio);
            }
        }
        crosses.then_some(rounds)
    }
}

/// One value of a round's or of a machine's, under the number of its last repeat.
pub(super) fn mean(ratios: &[PairedRatio]) -> PairedRatio {
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let by_slices: Option<Vec<f64>> = ratios.iter().map(|ratio| ratio.by_slices).collect();
    let without_others: Option<Vec<WithoutOthers>> = ratios.iter().map(|ratio| ratio.without_others).collect();
    PairedRatio {
        repeat: ratios.iter().map(|ratio| ratio.repeat).max().unwrap_or_default(),
        log_ratio: mean(ratios.iter().map(|ratio| ratio.log_ratio).collect()),
        by_slices: by_slices.map(mean),
        without_others: without_others.and_then(|all| WithoutOthers::mean(&all)),
        round: None,
        machine: ratios.first().and_then(|ratio| ratio.machine),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Terms, Unsure, Verdict, compare};
    use super::*;

    /// Setups of a group of so many, each on the next copy with each repeat, a new load every four repeats.
    fn copies(repeats: u32, setups: u32, (one, other): (u32, u32)) -> BTreeMap<u32, (DatabaseCopy, DatabaseCopy)> {
        let copy = |repeat: u32, index: u32| DatabaseCopy {
            load: 100 * ((repeat - 1) / 4),
            number: (index + (repeat - 1) % 4) % setups,
        };
        (1..=repeats).map(|repeat| (repeat, (copy(repeat, one), copy(repeat, other)))).collect()
    }

    /// A difference of `truth`, where the copies of each load differ by 3 %, one way or the other.
    fn ratios(repeats: u32, truth: f64) -> PairedRatios {
        let copies = copies(repeats, 2, (0, 1));
        let rounds = rounds(&copies);
        let ratio = |(repeat, (one, _)): (&u32, &(DatabaseCopy, DatabaseCopy))| {
            let way = if one.load % 200 == 0 { 0.03 } else { -0.03 };
            let layout = if one.number == 0 { way } else { -way };
            let noise = 0.001 * f64::from(repeat % 3);
            let log_ratio = truth + layout + noise;
            PairedRatio {
                repeat: *repeat,
                log_ratio,
                by_slices: None,
                without_others: None,
                round: rounds.get(repeat).copied(),
                machine: None,
            }
        };
        PairedRatios { ratios: copies.iter().map(ratio).collect(), ..PairedRatios::default() }
    }

    const STOPPED: Terms = Terms { detect: 0.01, looks: Looks::AfterEach };

    #[test]
    fn two_setups_change_places_in_rounds_of_two() {
        let rounds = rounds(&copies(7, 2, (0, 1)));
        let facts: Vec<(u32, bool)> = rounds.values().map(|round| (round.number, round.is_complete)).collect();
        assert_eq!(facts, [(0, true), (0, true), (1, true), (1, true), (2, true), (2, true), (3, false)]);
    }

    #[test]
    fn three_setups_have_been_on_each_copy_after_three_repeats() {
        let rounds = rounds(&copies(5, 3, (0, 2)));
        let facts: Vec<(u32, bool)> = rounds.values().map(|round| (round.number, round.is_complete)).collect();
        // The fourth has the copies of the first, and the fifth is of another load.
        assert_eq!(facts, [(0, true), (0, true), (0, true), (1, false), (2, false)]);
    }

    #[test]
    fn a_difference_smaller_than_that_of_the_copies_is_found() {
        let comparison = compare(&ratios(8, -0.02), &STOPPED);
        assert_eq!((comparison.verdict, comparison.repeats, comparison.values), (Verdict::Slower, 8, 4));
        let mut each_by_itself = ratios(8, -0.02);
        each_by_itself.ratios.iter_mut().for_each(|ratio| ratio.round = None);
        assert_eq!(compare(&each_by_itself, &STOPPED).verdict, Verdict::CannotTell);
    }

    #[test]
    fn a_round_that_is_not_over_counts_nothing_yet() {
        let [six, seven] = [6, 7].map(|repeats| compare(&ratios(repeats, -0.02), &STOPPED));
        assert_eq!((six.ratio, six.low), (seven.ratio, seven.low));
        assert_eq!((six.repeats, seven.repeats), (6, 7));
        let two = compare(&ratios(2, -0.02), &STOPPED);
        assert_eq!(two.unsure, Some(Unsure::TooFewRounds { rounds: 1, needed: 3 }));
        assert_eq!(compare(&ratios(1, -0.02), &STOPPED).unsure, Some(Unsure::OneRepeat));
    }

    #[test]
    fn of_a_number_set_beforehand_all_count() {
        let terms = Terms { detect: 0.01, looks: Looks::Once };
        assert_eq!([3, 4, 5].map(|repeats| compare(&ratios(repeats, -0.02), &terms).values), [3, 2, 5]);
    }
}
