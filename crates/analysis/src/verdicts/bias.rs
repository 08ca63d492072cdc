//! Whether a duet says what slices say.
//!
//! Two setups that run at once on one processor share its caches and its bandwidth, so a duet's ratio may differ from
//! the ratio of the CPU time of the two when each runs alone. Beside its duets each setup also runs alone, so that each
//! repeat has both ratios. Their difference is the duet's bias, with an interval of its own. If this interval holds 0,
//! no bias was seen. If it does not, the duet's interval is widened by the bias. If the whole interval lies beyond the
//! least difference that matters, the slices decide.

use super::trimmed::TrimmedMean;
use super::verdict::{MISS, PairedRatio, PairedRatios, Terms};

/// The bias of a duet in some repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DuetBias {
    /// None was seen, or there was no duet.
    Unseen,
    /// The bias of the logarithm of the ratio, by which its interval is widened on either side.
    Seen(f64),
    /// More than the least difference that matters.
    TooMuch,
}

impl DuetBias {
    /// The bias of these repeats, from those of them that have both ratios.
    pub(super) fn of(pair: &PairedRatios, terms: &Terms) -> DuetBias {
        let difference = |ratio: &PairedRatio| Some(ratio.by_slices? - ratio.log_ratio);
        let differences: Vec<f64> = pair.ratios.iter().filter_map(difference).collect();
        let Some(middle) = TrimmedMean::of(&differences).filter(|_| differences.len() >= terms.looks.fewest()) else {
            return DuetBias::Unseen;
        };
        let nearest = middle.value.abs() - middle.half(terms.looks.at_one(MISS));
        match nearest {
            nearest if nearest > terms.bound() => DuetBias::TooMuch,
            nearest if nearest > 0.0 => DuetBias::Seen(middle.value.abs()),
            _ => DuetBias::Unseen,
        }
    }
}

impl PairedRatios {
    /// The ratios by slices alone, in the repeats that have them.
    pub(super) fn by_slices(&self) -> PairedRatios {
        let by_slices =
            |ratio: &PairedRatio| Some(PairedRatio { log_ratio: ratio.by_slices?, by_slices: None, ..*ratio });
        let ratios = self.ratios.iter().filter_map(by_slices).collect();
        PairedRatios { ratios, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Verdict, VerdictFigure, compare};
    use super::*;

    /// Repeats of a duet, and by how much the slices of each differed from it.
    fn pair(duet: f64, difference: f64, noise: f64) -> PairedRatios {
        let up_and_down = [-1.0, 1.0, 0.0, -0.5, 0.5, 0.2];
        let ratio = |(repeat, off): (u32, &f64)| {
            let log_ratio = duet + 0.002 * off;
            PairedRatio {
                repeat,
                log_ratio,
                by_slices: Some(log_ratio + difference + noise * off),
                without_others: None,
                round: None,
                machine: None,
            }
        };
        let ratios = (1..).zip(&up_and_down).map(ratio).collect();
        PairedRatios { ratios, figure: VerdictFigure::CpuTime, ..PairedRatios::default() }
    }

    #[test]
    fn what_noise_hides_is_not_seen() {
        let pair = pair(0.1, 0.01, 0.05);
        assert_eq!(DuetBias::of(&pair, &Terms::default()), DuetBias::Unseen);
        let comparison = compare(&pair, &Terms::default());
        assert_eq!((comparison.verdict, comparison.by_slices, comparison.bias), (Verdict::Faster, false, None));
        assert_eq!(comparison.figure, VerdictFigure::CpuTime);
    }

    #[test]
    fn a_bias_makes_the_interval_wider() {
        let [with, without] = [0.012, 0.0].map(|difference| compare(&pair(0.0, difference, 0.001), &Terms::default()));
        assert_eq!(without.bias, None);
        let ends =
            |comparison: &super::super::Comparison| comparison.interval().map(|(low, high)| high.ln() - low.ln());
        let wider = ends(&with).unwrap() - ends(&without).unwrap();
        assert!((wider - 0.024).abs() < 0.001, "{wider}");
        assert!((with.bias.unwrap() - 0.012).abs() < 0.001);
        assert_eq!((with.verdict, with.by_slices), (Verdict::Same, false));
        // A difference that is no larger than the bias is none.
        let small = compare(&pair(0.008, 0.012, 0.001), &Terms { detect: 0.02, ..Terms::default() });
        assert_eq!(small.verdict, Verdict::CannotTell, "{small:?}");
    }

    #[test]
    fn where_both_disagree_slices_decide() {
        let comparison = compare(&pair(0.0, -0.2, 0.01), &Terms::default());
        assert_eq!((comparison.verdict, comparison.by_slices), (Verdict::Slower, true));
        assert_eq!(comparison.figure, VerdictFigure::CpuTime);
        assert!((comparison.ratio.unwrap().ln() + 0.2).abs() < 0.01);
    }
}
