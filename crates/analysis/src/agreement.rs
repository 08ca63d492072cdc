//! Whether two rankings of the same entries agree.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use crate::verdicts::trimmed::TrimmedMean;

/// Kendall's rank correlation of two rankings: 1 if every pair of entries stands in the same order in both, -1 if
/// every pair stands the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Kendall's tau-b, which takes ties into account.
    pub tau: f64,
    /// Entries.
    pub entries: usize,
    /// Pairs that stand in the same order in both.
    pub same: usize,
    /// Pairs that stand the other way round.
    pub swapped: usize,
}

/// Kendall's tau-b of pairs of figures, one pair an entry. `None` for fewer than two entries, or if all of them
/// are tied in one of the rankings.
pub fn agreement(pairs: &[(f64, f64)]) -> Option<Agreement> {
    let (mut same, mut swapped, mut tied_first, mut tied_second) = (0usize, 0usize, 0usize, 0usize);
    for (index, a) in pairs.iter().enumerate() {
        for b in &pairs[index + 1..] {
            let (first, second) = (a.0.total_cmp(&b.0), a.1.total_cmp(&b.1));
            match (first.is_eq(), second.is_eq()) {
                (false, false) if first == second => same += 1,
                (false, false) => swapped += 1,
                (true, true) => {}
                (true, false) => tied_first += 1,
                (false, true) => tied_second += 1,
            }
        }
    }
    let decided = (same + swapped) as f64;
    let scale = ((decided + tied_first as f64) * (decided + tied_second as f64)).sqrt();
    if scale == 0.0 {
        return None;
    }
    let tau = (same as f64 - swapped as f64) / scale;
    Some(Agreement { tau, entries: pairs.len(), same, swapped })
}

/// Simulated runs that the interval of tau is made from.
const RUNS: usize = 2000;

/// The 95 % interval of [`agreement`]'s tau over other runs of the same experiment, by the parametric bootstrap (Efron
/// and Tibshirani, *An Introduction to the Bootstrap*, 1993, section 6.5). Each of two thousand rounds draws the
/// measured figures anew: the middle of their repeats with its uncertainty by Student's t. The printed figures stay as
/// they are, and the seed is fixed. Each entry has the printed figure and the repeats of the measured one, all above 0.
/// `None` if an entry has fewer than two repeats.
pub fn agreement_interval(entries: &[(f64, Vec<f64>)]) -> Option<(f64, f64)> {
    let middle = |repeats: &Vec<f64>| TrimmedMean::of(&repeats.iter().map(|figure| figure.ln()).collect::<Vec<_>>());
    let middles: Vec<TrimmedMean> = entries.iter().map(|(_, repeats)| middle(repeats)).collect::<Option<_>>()?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1938);
    let mut run = || {
        let drawn = entries.iter().zip(&middles).map(|((printed, _), middle)| (*printed, middle.drawn(&mut random)));
        agreement(&drawn.collect::<Vec<_>>()).map(|agreement| agreement.tau)
    };
    let mut taus: Vec<f64> = (0..RUNS).filter_map(|_| run()).collect();
    taus.sort_by(f64::total_cmp);
    let at = |share: f64| taus.get((share * RUNS as f64) as usize).copied();
    at(0.025).zip(at(0.975))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_values() {
        // Counted by hand, 8 of 45 pairs are swapped: 6 with 2, 4, 3, 5; 7 with 4, 3, 5; 4 with 3.
        let second = [1, 6, 2, 7, 4, 3, 5, 8, 9, 10];
        let pairs: Vec<(f64, f64)> = second.iter().enumerate().map(|(i, &b)| (i as f64, f64::from(b))).collect();
        let agreed = agreement(&pairs).unwrap();
        assert_eq!((agreed.same, agreed.swapped), (37, 8));
        assert!((agreed.tau - 29.0 / 45.0).abs() < 1e-12);
    }

    #[test]
    fn ties_are_taken_into_account() {
        // tau-b: 4 pairs of 6 decided alike, one tied in each ranking.
        let agreed = agreement(&[(1.0, 1.0), (2.0, 2.0), (2.0, 3.0), (3.0, 3.0)]).unwrap();
        assert!((agreed.tau - 4.0 / 5.0).abs() < 1e-12, "{}", agreed.tau);
        assert_eq!(agreement(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(agreement(&[(1.0, 1.0)]), None);
    }

    fn entries(noise: f64) -> Vec<(f64, Vec<f64>)> {
        let figures = |figure: f64| [-1.0, 0.3, 0.7].map(|off| figure * (1.0 + noise * off)).to_vec();
        [1.0, 2.0, 3.0, 4.0, 5.0].map(|figure| (figure, figures(figure))).to_vec()
    }

    #[test]
    fn the_interval_is_as_wide_as_what_was_measured_is_unsure() {
        assert_eq!(agreement_interval(&entries(0.001)), Some((1.0, 1.0)));
        let (low, high) = agreement_interval(&entries(0.3)).unwrap();
        assert!(low < 0.7 && high > 0.7, "{low} {high}");
        assert_eq!(agreement_interval(&entries(0.3)), Some((low, high)), "the seed is fixed");
        let mut one_repeat = entries(0.001);
        one_repeat[2].1.truncate(1);
        assert_eq!(agreement_interval(&one_repeat), None);
    }

    proptest! {
        #[test]
        fn agreement_with_oneself_is_complete_and_with_the_reverse_the_contrary(
            values in proptest::collection::btree_set(-1_000_000i64..1_000_000, 2..40)
        ) {
            let same: Vec<_> = values.iter().map(|&v| (v as f64, v as f64)).collect();
            let reverse: Vec<_> = values.iter().map(|&v| (v as f64, -v as f64)).collect();
            prop_assert_eq!(agreement(&same).unwrap().tau, 1.0);
            prop_assert_eq!(agreement(&reverse).unwrap().tau, -1.0);
        }

        #[test]
        fn the_interval_lies_within_its_bounds(
            entries in proptest::collection::vec((0i32..100, proptest::collection::vec(1.0f64..100.0, 2..5)), 3..8)
        ) {
            let entries: Vec<_> = entries.into_iter().map(|(printed, figures)| (f64::from(printed), figures)).collect();
            if let Some((low, high)) = agreement_interval(&entries) {
                prop_assert!(-1.0 <= low && low <= high && high <= 1.0);
            }
        }
    }
}
