//! Work that was put off until after the last operation: settling, closing and the calls before it.

use kvdyno_results::TrialResult;

use crate::Cell;

/// The measured part of a cell and the work after it: medians over its repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PutOff {
    /// Length of the measured part, seconds.
    pub work_s: f64,
    /// The work after it, seconds ([`TrialResult::put_off_s`]).
    pub after_s: f64,
}

/// The effect on a difference of counting that work in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WithClosing {
    /// The slower is the faster one then.
    Reversed,
    /// This ratio is left: at most half of the difference.
    Halved(f64),
}

impl PutOff {
    /// That of a cell; absent where none of its trials tells.
    pub fn of(cell: &Cell<'_>) -> Option<PutOff> {
        let work_s = cell.median(|result| Some(result.window.as_ref()?.seconds))?;
        Some(PutOff { work_s, after_s: cell.median(TrialResult::put_off_s)? })
    }

    /// The rate with that work counted in, relative to the measured rate.
    fn remaining(self) -> f64 {
        self.work_s / (self.work_s + self.after_s)
    }

    /// The effect on the ratio of two rates, above 1, of which the faster put this off and the slower `slower`; absent
    /// if more than half of the difference is left.
    pub fn against(self, slower: PutOff, ratio: f64) -> Option<WithClosing> {
        let counted_in = ratio * self.remaining() / slower.remaining();
        match counted_in {
            less if less < 1.0 => Some(WithClosing::Reversed),
            half if half - 1.0 <= (ratio - 1.0) / 2.0 => Some(WithClosing::Halved(half)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_afterwards_that_takes_much_reverses_or_halves_a_difference() {
        let of = |after_s| PutOff { work_s: 1.0, after_s };
        assert_eq!(of(0.1).against(of(0.0), 2.0), None);
        assert_eq!(of(0.1).against(of(0.1), 1.01), None);
        assert_eq!(of(1.5).against(of(0.0), 2.0), Some(WithClosing::Reversed));
        let Some(WithClosing::Halved(left)) = of(0.5).against(of(0.0), 2.0) else { panic!() };
        assert!((left - 4.0 / 3.0).abs() < 1e-9);
        // The slower put off more.
        assert_eq!(of(0.5).against(of(1.0), 1.1), None);
    }
}
