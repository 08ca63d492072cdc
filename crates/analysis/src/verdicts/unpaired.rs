//! Setups that were not measured beside each other: results of two days, or of two machines.
//!
//! No shared effects cancel, so a comparison is made from the middle of the logarithms of either side, each with a
//! spread of its own (Welch, and Yuen where figures are trimmed: see [`super::trimmed`]). Its interval covers variation
//! between repeats. It does not cover what changed between the two runs as a whole, because there is only one of each.

use kvdyno_model::VerdictFigure;

use super::family::{Unjudged, judge_family};
use super::level::Looks;
use super::rivals::MeasuredCell;
use super::trimmed::TrimmedMean;
use super::verdict::{Comparison, Terms, Unsure};
use crate::calm::CalmRepeats;

/// The figures of a cell and of its counterpart in another run, from which their comparison is made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnpairedFigures {
    /// Natural logarithms of the figures of the first side, in the order of repeats.
    pub one: Vec<f64>,
    /// Natural logarithms of the figures of the second side.
    pub other: Vec<f64>,
    /// A reason why nothing may be said, whatever the figures are.
    pub unsure: Option<Unsure>,
    /// The meaning of all of them.
    pub figure: VerdictFigure,
    /// The logarithm of the ratio of the two rates that tables have; absent where the figure is no rate.
    pub rates: Option<f64>,
    /// Whether each figure is the mean of a machine's repeats.
    pub by_machine: bool,
}

impl MeasuredCell {
    /// Its figures beside those of another by the same figure that was not measured together with it.
    pub fn unpaired_over(&self, other: &MeasuredCell) -> UnpairedFigures {
        let suffers = |cell: &MeasuredCell| {
            CalmRepeats::of(cell.figures.keys().copied(), &cell.with_interference_of_its_own).are_too_few
        };
        let unsure = self.unsure_beside(other, suffers(self) || suffers(other));
        let by_machine = [self, other].into_iter().any(MeasuredCell::is_of_machines);
        let few = [self, other].into_iter().filter(|_| by_machine).find_map(MeasuredCell::few_machines);
        let unsure = few.or(unsure);
        let [one, of_other] = [self.logs(), other.logs()];
        let rates = self.rates_over(other);
        UnpairedFigures { one, other: of_other, unsure, figure: self.figure, rates, by_machine }
    }
}

impl UnpairedFigures {
    fn repeats(&self) -> usize {
        self.one.len().min(self.other.len())
    }

    /// The distance of the middles; absent where a side has too few figures for an interval.
    fn middle(&self, looks: Looks) -> Option<TrimmedMean> {
        let of = |logs: &[f64]| TrimmedMean::of(&logs[..looks.most().map_or(logs.len(), |most| logs.len().min(most))]);
        let enough = self.repeats() >= looks.fewest();
        Some(of(&self.one)?.minus(&of(&self.other)?)).filter(|_| enough)
    }

    fn hindrance(&self, looks: Looks) -> Option<Unsure> {
        let few = match self.repeats() {
            0 => Some(Unsure::NothingMeasured),
            1 => Some(Unsure::OneRepeat),
            repeats if repeats < looks.fewest() => Some(Unsure::TooFew { repeats, needed: looks.fewest() }),
            _ => None,
        };
        self.unsure.or(few)
    }
}

/// The comparisons of a family, the first side over the second, in its order: verdicts of all of them hold together.
/// Values of machines are looked at once: see [`super::compare_family`].
pub fn compare_unpaired(family: &[UnpairedFigures], terms: &Terms) -> Vec<Comparison> {
    let are_of_machines = family.iter().any(|cell| cell.by_machine);
    let terms = &Terms { looks: if are_of_machines { Looks::Once } else { terms.looks }, ..*terms };
    let unjudged = |cell: &UnpairedFigures| Unjudged {
        middle: cell.middle(terms.looks),
        hindrance: cell.hindrance(terms.looks),
        only: mean(&cell.one).zip(mean(&cell.other)).map(|(one, other)| one - other),
        repeats: cell.repeats(),
        values: cell.repeats(),
        by_machine: cell.by_machine,
        bias: None,
        by_slices: false,
        without_others: None,
        figure: cell.figure,
        rates: cell.rates,
    };
    judge_family(&family.iter().map(unjudged).collect::<Vec<_>>(), terms)
}

fn mean(logs: &[f64]) -> Option<f64> {
    (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64)
}

#[cfg(test)]
mod tests {
    use kvdyno_results::{Interference, Side, TrialResult};
    use proptest::prelude::*;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::super::{Aspect, Verdict, measured};
    use super::*;
    use crate::random::normal;
    use crate::testing::result;

    fn of(one: &[f64], other: &[f64]) -> Comparison {
        let figures = UnpairedFigures { one: one.to_vec(), other: other.to_vec(), ..UnpairedFigures::default() };
        compare_unpaired(&[figures], &Terms::default()).remove(0)
    }

    /// By hand, s² 0.0001 of three and 0.0004 of four give error² 0.0000333 and 0.0001, and 4.64 degrees of freedom.
    #[test]
    fn welch_by_hand() {
        let one = [0.49, 0.50, 0.51];
        // Squares that sum to 0.0012 about 0.
        let far = (0.0006f64).sqrt();
        let comparison = of(&one, &[-far, 0.0, 0.0, far]);
        let (low, high) = comparison.interval().unwrap();
        let half = (high / low).ln() / 2.0;
        let error = (0.0001f64 / 3.0 + 0.0004 / 4.0).sqrt();
        assert!((comparison.ratio.unwrap().ln() - 0.5).abs() < 1e-9);
        assert!((half / error - 2.63).abs() < 0.02, "{}", half / error);
        assert_eq!((comparison.verdict, comparison.repeats), (Verdict::Faster, 3));
    }

    #[test]
    fn one_repeat_on_either_side_cannot_tell() {
        let comparison = of(&[1.0], &[0.0, 0.001, 0.002]);
        assert_eq!((comparison.verdict, comparison.unsure), (Verdict::CannotTell, Some(Unsure::OneRepeat)));
        assert!(comparison.interval().is_none() && comparison.ratio.is_some());
        assert_eq!(of(&[], &[1.0]).unsure, Some(Unsure::NothingMeasured));
    }

    #[test]
    fn what_has_no_spread_is_told() {
        assert_eq!(of(&[0.0; 3], &[0.0; 3]).verdict, Verdict::Same);
        assert_eq!(of(&[0.0; 3], &[1.0; 3]).verdict, Verdict::Slower);
    }

    /// Repeats of one number have nothing to do with each other.
    #[test]
    fn a_common_drift_does_not_cancel() {
        let drift = [0.0, 0.1, 0.2, 0.3];
        assert_eq!(of(&drift, &drift).verdict, Verdict::CannotTell);
    }

    /// The cell of `lmdb` beside `bdb`: its rate is 100 but in the first repeat. Each has pauses in some repeats.
    fn paused(of_lmdb: &[u32], of_bdb: &[u32]) -> MeasuredCell {
        let trial = |engine: &str, repeat: u32, paused: &[u32]| {
            let mut result = result(engine, 1, repeat, if repeat == 1 { 10.0 } else { 100.0 });
            if paused.contains(&repeat) {
                result.environment.interference = vec![Interference::StoodStill { seconds: 4.0 }];
            }
            result
        };
        let results: Vec<TrialResult> =
            (1..=5).flat_map(|repeat| [trial("lmdb", repeat, of_lmdb), trial("bdb", repeat, of_bdb)]).collect();
        let cells = crate::cells_of_results(&results);
        measured(&cells[0], Aspect::Throughput(Side::Reads))
    }

    /// Neighbours must not bring a cell's own paused repeat back into its figures.
    #[test]
    fn a_cell_drops_its_own_pause_where_its_neighbour_has_too_many() {
        let cell = paused(&[1], &[2, 3]);
        assert_eq!(cell.logs().len(), 4);
        assert!((cell.rate.unwrap() - 100.0).abs() < 1e-9 && cell.unpaired_over(&cell).unsure.is_none(), "{cell:?}");
        assert_eq!(paused(&[1], &[2]).logs().len(), 3);
    }

    #[test]
    fn a_cell_with_pauses_in_half_of_its_repeats_cannot_be_told() {
        let cell = paused(&[1, 2, 3], &[]);
        assert_eq!((cell.logs().len(), cell.unpaired_over(&cell).unsure), (5, Some(Unsure::Interference)));
    }

    proptest! {
        /// Whichever repeats suffer: the table's rate and the unpaired figure are of the same repeats.
        #[test]
        fn the_rate_is_that_of_the_figures(
            of_lmdb in prop::collection::btree_set(1_u32..=5, 0..=5),
            of_bdb in prop::collection::btree_set(1_u32..=5, 0..=5),
        ) {
            let [of_lmdb, of_bdb] = [of_lmdb, of_bdb].map(Vec::from_iter);
            let cell = paused(&of_lmdb, &of_bdb);
            let middle = TrimmedMean::of(&cell.logs()).unwrap();
            prop_assert!((middle.value - cell.rate.unwrap().ln()).abs() < 1e-9, "{:?}", cell);
        }
    }

    /// At most 5 of 100 equal pairs are called different, also where the sides' spreads and numbers differ.
    #[test]
    fn intervals_miss_as_seldom_as_they_say() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        for (one, other) in [((3, 0.01), (3, 0.01)), ((4, 0.01), (8, 0.03)), ((9, 0.02), (9, 0.01))] {
            let mut draw =
                |(count, spread): (usize, f64)| (0..count).map(|_| spread * normal(&mut random)).collect::<Vec<_>>();
            let tries = 4000;
            let missed = (0..tries).filter(|_| of(&draw(one), &draw(other)).differs).count();
            assert!(missed < tries * 6 / 100, "{missed} of {tries}");
        }
    }
}
