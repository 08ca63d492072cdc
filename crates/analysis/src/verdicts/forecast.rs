//! The width of an interval at the end of a time, before that is over.

use kvdyno_model::{Design, VerdictFigure};

use super::level::Looks;
use super::trimmed::{freedom, quantile};
use super::verdict::MISS;

/// Half of the interval of a mean log ratio over the standard deviation of one value, after so many independent ones.
/// Outliers that are left out make it slightly wider. Absent for fewer values than an interval takes; with a look after
/// each, more than the looks count nothing.
pub fn half_width_of_values(values: usize, looks: Looks) -> Option<f64> {
    half_width_of_one_of(1, values, looks)
}

/// The same of the surest of several pairs.
fn half_width_of_one_of(pairs: usize, values: usize, looks: Looks) -> Option<f64> {
    let values = looks.most().map_or(values, |most| values.min(most));
    let miss = looks.at_one(MISS / pairs.max(1) as f64);
    (values >= looks.fewest()).then(|| quantile(freedom(values), miss) / (values as f64).sqrt())
}

/// Half of the interval of a ratio's logarithm that is to be expected before anything was measured: of one of `pairs`
/// pairs, after `values` values with a look after each. Absent for too few values, and where nothing is known of the
/// spread.
pub fn expected_half_width(
    work: (Design, bool),
    figure: VerdictFigure,
    pairs: usize,
    (values, looks): (usize, Looks),
) -> Option<f64> {
    Some(typical_spread(work, figure)? * half_width_of_one_of(pairs, values, looks)?)
}

/// The standard deviation of one value, the logarithm of a ratio, in runs of 0.1 to 0.3 s on an idle virtual machine of
/// two cores: the middle of LMDB, LevelDB, Berkeley DB and RocksDB, `readrandom` of a million records and
/// `readwhilewriting` of 100,000. Duets are of setups that cross over. Absent for turns, which wait for storages that
/// have little in common.
fn typical_spread((design, writes): (Design, bool), figure: VerdictFigure) -> Option<f64> {
    match (design, figure) {
        (Design::Turns, _) => None,
        _ if writes => Some(0.12),
        (Design::Slices, _) => Some(0.04),
        (Design::Duet | Design::Auto, VerdictFigure::CpuTime) => Some(0.013),
        (Design::Duet | Design::Auto, VerdictFigure::Throughput) => Some(0.02),
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::super::level::MOST_LOOKS;
    use super::super::trimmed::TrimmedMean;
    use super::*;
    use crate::random::normal;

    #[test]
    fn it_narrows_with_each_value_up_to_the_most() {
        let half_width_of_values = |values: usize| half_width_of_values(values, Looks::AfterEach);
        assert_eq!(half_width_of_values(2), None);
        let widths: Vec<f64> = (3..=MOST_LOOKS).filter_map(half_width_of_values).collect();
        assert_eq!(widths.len(), MOST_LOOKS - 2);
        // Where another value is left out at either end, a degree of freedom is lost.
        let shrinking = widths.windows(2).filter(|pair| pair[1] < pair[0]).count();
        assert!(shrinking >= widths.len() - 4, "{widths:?}");
        assert_eq!(half_width_of_values(MOST_LOOKS + 10), half_width_of_values(MOST_LOOKS));
    }

    #[test]
    fn it_is_the_width_of_drawn_intervals() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for values in [3, 5, 10, 30] {
            let looks = if values == 5 { Looks::Once } else { Looks::AfterEach };
            let half = |_| {
                let drawn: Vec<f64> = (0..values).map(|_| normal(&mut random)).collect();
                TrimmedMean::of(&drawn).unwrap().half(looks.at_one(MISS))
            };
            let mean = (0..4000).map(half).sum::<f64>() / 4000.0;
            let ratio = mean / half_width_of_values(values, looks).unwrap();
            assert!((0.85..1.15).contains(&ratio), "{values}: {ratio}");
        }
    }

    /// Six values of duets, by hand: Student's t for 5 degrees of freedom at 0.6 % is 4.6; √6 is 2.45.
    #[test]
    fn what_is_expected_depends_on_the_work_and_the_number_of_values() {
        let of = |design, writes, figure, pairs, values| {
            expected_half_width((design, writes), figure, pairs, (values, Looks::AfterEach))
        };
        let cpu_time = of(Design::Auto, false, VerdictFigure::CpuTime, 1, 6).unwrap();
        assert!((cpu_time - 0.013 * 4.6 / 2.45).abs() < 0.0005, "{cpu_time}");
        assert!(of(Design::Auto, false, VerdictFigure::CpuTime, 3, 6).unwrap() > cpu_time);
        assert!(of(Design::Slices, true, VerdictFigure::Throughput, 1, 6).unwrap() > 4.0 * cpu_time);
        assert_eq!(of(Design::Slices, false, VerdictFigure::Throughput, 1, 2), None);
        assert_eq!(of(Design::Turns, false, VerdictFigure::Throughput, 1, 30), None);
    }
}
