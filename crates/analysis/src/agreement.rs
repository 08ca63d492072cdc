//! Whether two rankings of the same entries agree.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

/// Kendall's rank correlation of two rankings: 1 if every pair of entries stands in the same order in both, -1 if
/// every pair stands the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Kendall's tau-b, which takes ties into account.
    pub tau: f64,
    /// Lower and upper bound of its 95 % interval; absent for fewer than five entries, where there is no honest one.
    pub interval: Option<(f64, f64)>,
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
    Some(Agreement { tau, interval: interval(tau, pairs.len(), decided), entries: pairs.len(), same, swapped })
}

/// Fisher's transformation of tau is nearly normal with variance 0.437 / (n - 4): Fieller, Hartley and Pearson, "Tests
/// for rank correlation coefficients I", Biometrika 44 (1957). At 1 and -1 the transformation has no value: there, tau
/// is taken half a pair nearer to 0, or the interval would say that complete agreement of five entries is certain.
fn interval(tau: f64, entries: usize, pairs: f64) -> Option<(f64, f64)> {
    if entries < 5 {
        return None;
    }
    let most = 1.0 - 1.0 / pairs;
    let z = tau.clamp(-most, most).atanh();
    let quantile = Normal::standard().inverse_cdf(0.975);
    let half = quantile * (0.437 / (entries as f64 - 4.0)).sqrt();
    let (low, high) = ((z - half).tanh(), (z + half).tanh());
    Some((low.min(tau), high.max(tau)))
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
        let (low, high) = agreed.interval.unwrap();
        // atanh(29/45) = 0.7657, give and take 1.95996 * sqrt(0.437 / 6) = 0.5290.
        assert!((low - 0.2324).abs() < 1e-3 && (high - 0.8603).abs() < 1e-3, "{low} {high}");
    }

    #[test]
    fn ties_are_taken_into_account() {
        // tau-b: 4 pairs of 6 decided alike, one tied in each ranking.
        let agreed = agreement(&[(1.0, 1.0), (2.0, 2.0), (2.0, 3.0), (3.0, 3.0)]).unwrap();
        assert!((agreed.tau - 4.0 / 5.0).abs() < 1e-12, "{}", agreed.tau);
        assert_eq!(agreement(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(agreement(&[(1.0, 1.0)]), None);
    }

    proptest! {
        #[test]
        fn agreement_with_oneself_is_complete_and_with_the_reverse_the_contrary(
            values in proptest::collection::hash_set(-1_000_000i64..1_000_000, 2..40)
        ) {
            let same: Vec<_> = values.iter().map(|&v| (v as f64, v as f64)).collect();
            let reverse: Vec<_> = values.iter().map(|&v| (v as f64, -v as f64)).collect();
            prop_assert_eq!(agreement(&same).unwrap().tau, 1.0);
            prop_assert_eq!(agreement(&reverse).unwrap().tau, -1.0);
        }

        #[test]
        fn tau_lies_in_its_interval_and_the_interval_in_its_bounds(
            pairs in proptest::collection::vec((0i32..100, 0i32..100), 5..40)
        ) {
            let pairs: Vec<_> = pairs.into_iter().map(|(a, b)| (f64::from(a), f64::from(b))).collect();
            if let Some(agreed) = agreement(&pairs) {
                let (low, high) = agreed.interval.unwrap();
                prop_assert!(-1.0 <= low && low <= agreed.tau && agreed.tau <= high && high <= 1.0);
            }
        }
    }
}
