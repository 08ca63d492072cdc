//! The width of an interval at the end of a time, before that is over.

use super::level::{Looks, MOST_LOOKS};
use super::trimmed::{freedom, quantile};
use super::verdict::MISS;

/// Half of the interval of a mean log ratio over the standard deviation of one value, after so many independent ones.
/// Outliers that are left out make it slightly wider. Absent for fewer values than an interval takes; with a look after
/// each, more than [`MOST_LOOKS`] count nothing.
pub fn half_width_of_values(values: usize, looks: Looks) -> Option<f64> {
    let values = if looks == Looks::AfterEach { values.min(MOST_LOOKS) } else { values };
    (values >= looks.fewest()).then(|| quantile(freedom(values), looks.at_one(MISS)) / (values as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

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
}
