//! Many comparisons at once.
//!
//! If each pair were judged alone, one of twenty equal pairs would be called different. Verdicts of a *family*, the
//! pairs that answer one question, hold together: of 100 families of equal setups at most 5 contain a *faster* or
//! *slower*, and of 100 families at most 5 contain a wrong *same*. Holm's procedure controls each of the two error
//! rates (*A Simple Sequentially Rejective Multiple Test Procedure*, Scandinavian Journal of Statistics 6, 1979). The
//! surest of m pairs is tested at the level 0.05 / m, the next at 0.05 / (m - 1), and so on to the first that is not
//! sure enough. The reported interval is that of the pair's own step, so that interval and verdict agree.

use kvdyno_model::VerdictFigure;

use super::bias::DuetBias;
use super::level::Looks;
use super::trimmed::TrimmedMean;
use super::verdict::{Comparison, MISS, PairedRatios, Terms, Unsure, Verdict};
use super::without_others::MiddlesWithoutOthers;

/// A pair by itself.
pub fn compare(pair: &PairedRatios, terms: &Terms) -> Comparison {
    compare_family(std::slice::from_ref(pair), terms).remove(0)
}

/// The comparisons of a family, in its order: verdicts of all of them hold together.
///
/// Values of machines are looked at once, whatever ended the repeats of each: their number was set beforehand.
pub fn compare_family(pairs: &[PairedRatios], terms: &Terms) -> Vec<Comparison> {
    let are_of_machines = pairs.iter().any(PairedRatios::are_of_machines);
    let looks = if are_of_machines { Looks::Once } else { terms.looks };
    let (of_rounds, terms) = (terms.looks, &Terms { looks, ..*terms });
    let unjudged = |pair: &PairedRatios| {
        let values = pair.by_rounds(of_rounds).by_machines();
        let unjudged = match DuetBias::of(&values, terms) {
            DuetBias::Unseen => Unjudged::of(&values, terms),
            DuetBias::Seen(bias) => Unjudged { bias: Some(bias), ..Unjudged::of(&values, terms) },
            DuetBias::TooMuch => Unjudged { by_slices: true, ..Unjudged::of(&values.by_slices(), terms) },
        };
        let by_machine = pair.are_of_machines();
        Unjudged { by_machine, ..unjudged }.with_repeats(pair.ratios.len(), terms)
    };
    judge_family(&pairs.iter().map(unjudged).collect::<Vec<_>>(), terms)
}

/// A comparison before its verdict.
pub(super) struct Unjudged {
    /// The middle of the logarithm of the ratio; absent where there are too few figures for an interval.
    pub(super) middle: Option<TrimmedMean>,
    /// The reason why there is no interval, or why it may not decide.
    pub(super) hindrance: Option<Unsure>,
    /// The logarithm of the ratio where nothing but that is known.
    pub(super) only: Option<f64>,
    /// Repeats in which both finished.
    pub(super) repeats: usize,
    /// Values that it is made of: repeats, rounds of them, or machines.
    pub(super) values: usize,
    /// Whether they are of machines.
    pub(super) by_machine: bool,
    /// The bias that was seen, of the logarithm of the ratio.
    pub(super) bias: Option<f64>,
    /// Slices decide.
    pub(super) by_slices: bool,
    /// The middles that there may have been without others, where they took too much to be left out.
    pub(super) without_others: Option<MiddlesWithoutOthers>,
    /// The meaning of the figures.
    pub(super) figure: VerdictFigure,
    /// The logarithm of the ratio of the two rates that tables have; absent where the figure is no rate.
    pub(super) rates: Option<f64>,
}

impl Unjudged {
    fn of(pair: &PairedRatios, terms: &Terms) -> Unjudged {
        Unjudged {
            middle: pair.middle(terms.looks),
            hindrance: pair.hindrance(terms.looks),
            only: pair.ratios.first().map(|ratio| ratio.log_ratio),
            repeats: pair.ratios.len(),
            values: pair.ratios.len(),
            by_machine: false,
            bias: None,
            by_slices: false,
            without_others: MiddlesWithoutOthers::of(pair, terms.looks),
            figure: pair.figure,
            rates: pair.rates,
        }
    }

    /// The comparison with `repeats` as the number of repeats that its values were made from.
    fn with_repeats(self, repeats: usize, terms: &Terms) -> Unjudged {
        let needed = terms.looks.fewest();
        let too_few = Unsure::TooFewRounds { rounds: self.values, needed };
        let are_rounds = self.values < repeats && self.values < needed && !self.by_machine;
        let hindrance = self.hindrance.map(|why| if are_rounds && why.may_pass() { too_few } else { why });
        Unjudged { repeats, hindrance, ..self }
    }

    /// All middles that are allowed for: with the bias either way, and without others.
    fn middles(&self, middle: &TrimmedMean) -> Vec<TrimmedMean> {
        let bias = self.bias.unwrap_or(0.0);
        let without_others = self.without_others.iter().flat_map(|middles| [middles.lowest, middles.highest]);
        [middle.moved(-bias), middle.moved(bias)].into_iter().chain(without_others).collect()
    }

    /// Half of the distance between the middles that are allowed for.
    fn systematic(&self, middle: &TrimmedMean) -> f64 {
        let widest = |(low, high): (f64, f64), middle: TrimmedMean| (low.min(middle.value), high.max(middle.value));
        let (low, high) = self.middles(middle).into_iter().fold((middle.value, middle.value), widest);
        (high - low) / 2.0
    }

    /// The p-value of equality: the probability of a middle at least this far from a ratio of 1 if the true ratio were
    /// as near to 1 as is allowed for.
    fn chance_of_equal(&self, middle: &TrimmedMean) -> f64 {
        let middles = self.middles(middle);
        let beyond =
            |way: f64| middles.iter().map(|middle| chance_beyond(middle, way * middle.value)).fold(0.0, f64::max);
        beyond(1.0).min(beyond(-1.0))
    }

    /// The probability of a middle so near to 1 if the truth lay at the bound, as of an interval with two sides.
    fn chance_of_same(&self, middle: &TrimmedMean, terms: &Terms) -> f64 {
        let within = |middle: &TrimmedMean| chance_beyond(middle, terms.bound() - middle.value.abs());
        self.middles(middle).iter().map(within).fold(0.0, f64::max)
    }

    /// The ends of the interval that misses the truth with this probability.
    fn ends(&self, middle: &TrimmedMean, miss: f64) -> (f64, f64) {
        let ends = |middle: TrimmedMean| (middle.value - middle.half(miss), middle.value + middle.half(miss));
        let widest = |(low, high): (f64, f64), (lower, higher): (f64, f64)| (low.min(lower), high.max(higher));
        self.middles(middle).into_iter().map(ends).fold((f64::INFINITY, f64::NEG_INFINITY), widest)
    }
}

/// The probability of a middle that is `distance` or more beyond the truth; 1 if it is not beyond.
fn chance_beyond(middle: &TrimmedMean, distance: f64) -> f64 {
    if distance > 0.0 { middle.chance(distance) } else { 1.0 }
}

/// The verdicts of a family.
pub(super) fn judge_family(family: &[Unjudged], terms: &Terms) -> Vec<Comparison> {
    let chances = |of: &dyn Fn(&Unjudged, &TrimmedMean) -> f64| -> Vec<Option<f64>> {
        let usable =
            |one: &Unjudged| one.middle.as_ref().filter(|_| one.hindrance.is_none()).map(|middle| of(one, middle));
        family.iter().map(usable).collect()
    };
    let different = steps(&chances(&|one, middle| one.chance_of_equal(middle)), terms);
    let same = steps(&chances(&|one, middle| one.chance_of_same(middle, terms)), terms);
    let each = family.iter().zip(different.into_iter().zip(same));
    each.map(|(one, steps)| judged(one, steps, (terms, family.len()))).collect()
}

/// A pair's step: the probability with which its interval may miss at one look, and whether the p-values of this step
/// and of all steps before are within their limits.
#[derive(Clone, Copy)]
struct HolmStep {
    miss: f64,
    is_sure: bool,
}

/// Holm's steps. A pair without a chance is of the family, and never sure.
fn steps(chances: &[Option<f64>], terms: &Terms) -> Vec<HolmStep> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    let chance = |index: usize| chances[index].unwrap_or(1.0);
    order.sort_by(|a, b| chance(*a).total_cmp(&chance(*b)));
    let mut steps = vec![HolmStep { miss: 0.0, is_sure: false }; chances.len()];
    let mut left = chances.len();
    let mut is_sure = true;
    for index in order {
        let miss = terms.looks.at_one(MISS / left as f64);
        is_sure = is_sure && chance(index) <= miss;
        steps[index] = HolmStep { miss, is_sure };
        left -= usize::from(is_sure);
    }
    steps
}

fn judged(one: &Unjudged, (different, same): (HolmStep, HolmStep), (terms, pairs): (&Terms, usize)) -> Comparison {
    let middle = one.middle.as_ref();
    let step = match (different.is_sure, same.is_sure) {
        (_, true) => same.miss,
        (true, false) => different.miss,
        (false, false) => different.miss.min(same.miss),
    };
    let ends = middle.map(|middle| one.ends(middle, step));
    let verdict = match middle {
        Some(_) if same.is_sure => Verdict::Same,
        Some(middle) if different.is_sure && middle.value > 0.0 => Verdict::Faster,
        Some(_) if different.is_sure => Verdict::Slower,
        _ => Verdict::CannotTell,
    };
    let differs = ends.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
    let difference = middle.filter(|_| differs).map(|middle| middle.value);
    let rates_disagree = one.rates.is_some_and(|rates| verdict.contradicts_rates(rates, difference, terms));
    let verdict = if rates_disagree { Verdict::CannotTell } else { verdict };
    let wide = || middle.map(|middle| too_wide(one, middle, terms));
    let disagree = rates_disagree.then_some(Unsure::RatesDisagree);
    let unsure = one.hindrance.or(disagree).or_else(|| wide().filter(|_| !verdict.is_decided()));
    Comparison {
        verdict,
        unsure,
        figure: one.figure,
        ratio: middle.map(|middle| middle.value).or(one.only).map(f64::exp),
        low: ends.map(|(low, _)| low.exp()),
        high: ends.map(|(_, high)| high.exp()),
        differs,
        repeats: one.repeats,
        values: one.values,
        by_machine: one.by_machine,
        detect: terms.detect,
        looks: terms.looks,
        bias: one.bias.map(f64::exp_m1),
        by_slices: one.by_slices,
        waited: one.without_others.map(|middles| middles.waited),
        systematic: middle.map_or(0.0, |middle| one.systematic(middle)),
        pairs,
    }
}

/// The reason why a pair is undecided: [`Unsure::Interference`] if others took too much of the processors,
/// [`Unsure::TooManyPairs`] if it would have been decided as the only pair, else [`Unsure::TooWide`].
fn too_wide(one: &Unjudged, middle: &TrimmedMean, terms: &Terms) -> Unsure {
    let alone = terms.looks.at_one(MISS);
    match one.chance_of_equal(middle) <= alone || one.chance_of_same(middle, terms) <= alone {
        true => Unsure::TooManyPairs,
        false if one.without_others.is_some() => Unsure::Interference,
        false => Unsure::TooWide,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::verdicts::unpaired::{UnpairedFigures, compare_unpaired};
    use crate::verdicts::without_others::WithoutOthers;

    /// Round `middle`, a hundredth apart.
    fn around(middle: f64) -> PairedRatios {
        PairedRatios::of(&[-0.01, 0.01, 0.0, -0.005, 0.005].map(|off| middle + off))
    }

    fn verdict(log_ratios: &[f64]) -> Verdict {
        compare(&PairedRatios::of(log_ratios), &Terms::default()).verdict
    }

    /// The interval by hand: -0.01 to 0.01 has s = 0.0079, t(4) = 2.776: give and take 0.0098.
    #[test]
    fn five_repeats_by_hand() {
        let comparison = compare(&around(0.5), &Terms::default());
        assert_eq!((comparison.verdict, comparison.unsure, comparison.differs), (Verdict::Faster, None, true));
        let (low, high) = comparison.interval().unwrap();
        assert!((comparison.ratio.unwrap().ln() - 0.5).abs() < 1e-9);
        assert!((low.ln() - 0.4902).abs() < 1e-4 && (high.ln() - 0.5098).abs() < 1e-4, "{low} {high}");
        assert_eq!(compare(&around(-0.5), &Terms::default()).verdict, Verdict::Slower);
    }

    #[test]
    fn the_same_needs_the_whole_interval_within_detect() {
        assert_eq!(compare(&around(0.0), &Terms::default()).verdict, Verdict::Same);
        let strict = Terms { detect: 0.005, ..Terms::default() };
        let comparison = compare(&around(0.0), &strict);
        assert_eq!((comparison.verdict, comparison.unsure), (Verdict::CannotTell, Some(Unsure::TooWide)));
    }

    /// A real difference that is smaller than the one that matters.
    #[test]
    fn a_small_difference_is_the_same_and_said_to_differ() {
        let comparison = compare(&around(0.015), &Terms::default());
        assert_eq!((comparison.verdict, comparison.differs), (Verdict::Same, true));
        assert!(!compare(&around(0.001), &Terms::default()).differs);
    }

    #[test]
    fn too_few_repeats_are_told() {
        let after_each = Terms { looks: Looks::AfterEach, ..Terms::default() };
        let unsure = |values: &[f64]| compare(&PairedRatios::of(values), &after_each).unsure;
        assert_eq!(unsure(&[]), Some(Unsure::NothingMeasured));
        assert_eq!(unsure(&[1.0]), Some(Unsure::OneRepeat));
        assert_eq!(unsure(&[1.0, 1.01]), Some(Unsure::TooFew { repeats: 2, needed: 3 }));
        assert_eq!(unsure(&[1.0, 1.01, 1.02]), None);
        assert_eq!(verdict(&[1.0, 1.01]), Verdict::Faster);
    }

    /// Tables make their rates of all repeats, and verdicts of those that both have.
    #[test]
    fn rates_that_say_otherwise_decide_nothing() {
        let told = |middle: f64, rates: f64| {
            let values: Vec<f64> = around(middle).ratios.iter().map(|ratio| ratio.log_ratio).collect();
            let paired = PairedRatios { rates: Some(rates), ..around(middle) };
            let unpaired =
                UnpairedFigures { one: values, other: vec![0.0; 5], rates: Some(rates), ..UnpairedFigures::default() };
            let all = [compare(&paired, &Terms::default()), compare_unpaired(&[unpaired], &Terms::default()).remove(0)];
            all.map(|comparison| (comparison.verdict, comparison.unsure))
        };
        let disagree = [(Verdict::CannotTell, Some(Unsure::RatesDisagree)); 2];
        // Of a *same* that differs, 1.5 % here, the sentence names the faster one; of one that does not, none.
        for (middle, rates, verdict) in [
            (0.5, 0.4, Some(Verdict::Faster)),
            (0.5, -0.001, None),
            (0.5, 0.0, None),
            (-0.5, -0.4, Some(Verdict::Slower)),
            (-0.5, 0.001, None),
            (0.0, -0.02, Some(Verdict::Same)),
            (0.0, 0.031, None),
            (0.015, 0.001, Some(Verdict::Same)),
            (0.015, -0.001, None),
            (-0.015, 0.001, None),
            (-0.015, -0.001, Some(Verdict::Same)),
        ] {
            let expected = verdict.map_or(disagree, |verdict| [(verdict, None); 2]);
            assert_eq!(told(middle, rates), expected, "{middle} {rates}");
        }
    }

    /// One start that was not over, among seven.
    #[test]
    fn an_outlier_decides_nothing() {
        let mut values = vec![0.001, -0.002, 0.0, 0.003, -0.001, 0.002, -0.003];
        assert_eq!(verdict(&values), Verdict::Same);
        values[3] = 0.9;
        assert_eq!(verdict(&values), Verdict::Same);
    }

    #[test]
    fn a_pair_of_many_must_be_surer() {
        let equals = vec![around(0.012); 40];
        let alone = Terms { detect: 0.0, ..Terms::default() };
        assert_eq!(compare(&equals[0], &alone).verdict, Verdict::Faster);
        let all = compare_family(&equals, &alone);
        assert!(all.iter().all(|one| one.verdict == Verdict::CannotTell && one.pairs == 40));
        assert!(all.iter().all(|one| one.unsure == Some(Unsure::TooManyPairs)));
    }

    /// Holm's steps: a sure pair leaves the others less to be held to.
    #[test]
    fn sure_pairs_make_it_easier_for_others() {
        let width = |family: &[PairedRatios]| {
            let (low, high) = compare_family(family, &Terms::default())[0].interval().unwrap();
            high / low
        };
        assert!(width(&[around(0.04), around(5.0), around(6.0)]) < width(&[around(0.04), around(0.041), around(0.04)]));
    }

    /// The same ups and downs again and again.
    #[test]
    fn an_open_comparison_is_decided_by_the_values_that_it_needs() {
        let alternating = |middle: f64, spread: f64, values: usize| {
            let sign = |index: usize| if index.is_multiple_of(2) { 1.0 } else { -1.0 };
            let values: Vec<f64> = (0..values).map(|index| middle + spread * sign(index)).collect();
            compare(&PairedRatios::of(&values), &Terms { looks: Looks::AfterEach, ..Terms::default() })
        };
        for (middle, spread, verdict) in [(0.05, 0.05, Verdict::Faster), (0.0, 0.03, Verdict::Same)] {
            let open = alternating(middle, spread, 8);
            let needed = open.values_needed().unwrap();
            assert!(open.verdict == Verdict::CannotTell && (9..=30).contains(&needed), "{needed} {open:?}");
            let then = alternating(middle, spread, needed.next_multiple_of(2));
            assert_eq!((then.verdict, then.values_needed()), (verdict, None), "{then:?}");
        }
        assert_eq!(alternating(0.001, 0.5, 8).values_needed(), None, "more than are looked at");
        assert_eq!(alternating(0.05, 0.05, 1).values_needed(), None, "no interval");
    }

    /// Bias and waits stay as wide, however many values there are.
    #[test]
    fn more_values_do_not_shorten_what_is_no_chance() {
        let open = |systematic: f64| {
            let values: Vec<f64> = [-1.0, 1.0].repeat(4).into_iter().map(|sign| 0.06 + 0.05 * sign).collect();
            let terms = Terms { looks: Looks::AfterEach, ..Terms::default() };
            Comparison { systematic, ..compare(&PairedRatios::of(&values), &terms) }.values_needed()
        };
        let [none, some, all] = [0.0, 0.02, 0.07].map(open);
        assert!(none.is_some() && some > none && all.is_none(), "{none:?} {some:?} {all:?}");
    }

    /// Least and most that others took from a trial.
    fn taken() -> [std::ops::Range<f64>; 2] {
        [0.0..0.2, 0.2..0.4]
    }

    proptest! {
        #[test]
        fn the_other_way_round_is_the_reverse(
            values in prop::collection::vec(-0.2f64..0.2, 2..40),
            each in any::<bool>(),
        ) {
            let terms = Terms { looks: if each { Looks::AfterEach } else { Looks::Once }, ..Terms::default() };
            let there = compare(&PairedRatios::of(&values), &terms);
            let back: Vec<f64> = values.iter().map(|value| -value).collect();
            let back = compare(&PairedRatios::of(&back), &terms);
            prop_assert_eq!(there.verdict, back.verdict.reversed());
            prop_assert!((there.ratio.unwrap() * back.ratio.unwrap() - 1.0).abs() < 1e-9);
        }

        /// A verdict and the interval beside it never contradict each other, in families of any kind.
        #[test]
        fn verdicts_agree_with_their_intervals(
            family in prop::collection::vec(prop::collection::vec(-0.1f64..0.1, 0..12), 1..12),
            middles in prop::collection::vec(-0.2f64..0.2, 12),
            rates in prop::collection::vec(prop::option::of(-0.02f64..0.02), 12),
            taken in prop::collection::vec(prop::option::of((taken(), taken())), 12),
        ) {
            type Drawn<'a> = (((&'a Vec<f64>, &'a f64), &'a Option<f64>), Option<([f64; 2], [f64; 2])>);
            let moved = |(((values, middle), rates), taken): Drawn<'_>| {
                let mut of = PairedRatios::of(&values.iter().map(|value| value / 10.0 + middle).collect::<Vec<_>>());
                for ratio in &mut of.ratios {
                    ratio.without_others = taken.map(|taken| WithoutOthers::of(ratio.log_ratio, taken));
                }
                PairedRatios { rates: rates.map(|off| middle + off), ..of }
            };
            let pairs: Vec<PairedRatios> =
                family.iter().zip(&middles).zip(&rates).zip(taken).map(moved).collect();
            for (comparison, pair) in compare_family(&pairs, &Terms::default()).into_iter().zip(&pairs) {
                let (low, high) = comparison.interval().unwrap_or((0.0, f64::INFINITY));
                let bound = 1.0 + comparison.detect;
                let within = 1.0 / bound - 1e-9 <= low && high <= bound + 1e-9;
                match comparison.verdict {
                    Verdict::Faster => prop_assert!(low > 1.0),
                    Verdict::Slower => prop_assert!(high < 1.0),
                    Verdict::Same => prop_assert!(within),
                    Verdict::CannotTell if comparison.unsure == Some(Unsure::RatesDisagree) => {}
                    Verdict::CannotTell => prop_assert!(comparison.unsure.is_some() && low <= 1.0 && 1.0 <= high),
                }
                prop_assert_eq!(comparison.differs, low > 1.0 || high < 1.0);
                // The one that a sentence calls faster has the higher rate.
                let names_one = comparison.verdict.is_decided() && comparison.differs;
                if let (true, Some(rates), Some(ratio)) = (names_one, pair.rates, comparison.ratio) {
                    prop_assert!(rates != 0.0 && (rates > 0.0) == (ratio > 1.0), "{rates} {comparison:?}");
                }
            }
        }
    }
}
