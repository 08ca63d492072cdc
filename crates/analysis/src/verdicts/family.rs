//! Many comparisons at once.
//!
//! Of twenty pairs that are all the same one would be called different, if each were judged alone. Verdicts of a
//! *family*, the pairs that answer one question, hold together: of 100 families of true equals at most 5 have a *faster*
//! or *slower* in them, and of 100 families at most 5 a *same* that is not. Each of the two is held by Holm's steps (*A
//! Simple Sequentially Rejective Multiple Test Procedure*, Scandinavian Journal of Statistics 6, 1979): the surest pair
//! is held to a miss in 20 times the number of pairs, the next to one in 20 times one fewer, and so on to the first that
//! is not sure enough. The interval that is told is that of the pair's own step, so that it and the verdict agree.

use super::trimmed::TrimmedMean;
use super::verdict::{Comparison, MISS, PairedRatios, Terms, Unsure, Verdict};

/// A pair by itself.
pub fn compare(pair: &PairedRatios, terms: &Terms) -> Comparison {
    compare_family(std::slice::from_ref(pair), terms).remove(0)
}

/// The comparisons of a family, in its order: verdicts of all of them hold together.
pub fn compare_family(pairs: &[PairedRatios], terms: &Terms) -> Vec<Comparison> {
    let middles: Vec<Option<TrimmedMean>> = pairs.iter().map(|pair| pair.middle(terms.looks)).collect();
    let chances = |of: &dyn Fn(&TrimmedMean) -> f64| -> Vec<Option<f64>> {
        let usable = pairs.iter().zip(&middles);
        usable.map(|(pair, middle)| middle.as_ref().filter(|_| pair.unsure.is_none()).map(of)).collect()
    };
    let different = steps(&chances(&|middle| middle.chance(middle.value)), terms);
    let same = steps(&chances(&|middle| chance_of_same(middle, terms)), terms);
    let each = pairs.iter().zip(&middles).zip(different.into_iter().zip(same));
    each.map(|((pair, middle), steps)| judged(pair, middle.as_ref(), steps, (terms, pairs.len()))).collect()
}

/// The probability of a middle so near to 1 if the truth lay at the bound, as of an interval with two sides.
fn chance_of_same(middle: &TrimmedMean, terms: &Terms) -> f64 {
    let left = terms.bound() - middle.value.abs();
    if left > 0.0 { middle.chance(left) } else { 1.0 }
}

/// A pair's step: how often its interval may miss at one look, and whether its chance is below that and so were those
/// of all steps before.
#[derive(Clone, Copy)]
struct Step {
    miss: f64,
    is_sure: bool,
}

/// Holm's steps. A pair without a chance is of the family, and never sure.
fn steps(chances: &[Option<f64>], terms: &Terms) -> Vec<Step> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    let chance = |index: usize| chances[index].unwrap_or(1.0);
    order.sort_by(|a, b| chance(*a).total_cmp(&chance(*b)));
    let mut steps = vec![Step { miss: 0.0, is_sure: false }; chances.len()];
    let mut left = chances.len();
    let mut is_sure = true;
    for index in order {
        let miss = terms.looks.at_one(MISS / left as f64);
        is_sure = is_sure && chance(index) <= miss;
        steps[index] = Step { miss, is_sure };
        left -= usize::from(is_sure);
    }
    steps
}

fn judged(
    pair: &PairedRatios,
    middle: Option<&TrimmedMean>,
    (different, same): (Step, Step),
    (terms, pairs): (&Terms, usize),
) -> Comparison {
    let step = match (different.is_sure, same.is_sure) {
        (_, true) => same.miss,
        (true, false) => different.miss,
        (false, false) => different.miss.min(same.miss),
    };
    let ends = middle.map(|middle| (middle.value - middle.half(step), middle.value + middle.half(step)));
    let verdict = match middle {
        Some(_) if same.is_sure => Verdict::Same,
        Some(middle) if different.is_sure && middle.value > 0.0 => Verdict::Faster,
        Some(_) if different.is_sure => Verdict::Slower,
        _ => Verdict::CannotTell,
    };
    let wide = || middle.map(|middle| too_wide(middle, terms));
    let unsure = pair.hindrance(terms.looks).or_else(|| wide().filter(|_| !verdict.is_decided()));
    let only = pair.ratios.first().map(|ratio| ratio.log_ratio);
    Comparison {
        verdict,
        unsure,
        ratio: middle.map(|middle| middle.value).or(only).map(f64::exp),
        low: ends.map(|(low, _)| low.exp()),
        high: ends.map(|(_, high)| high.exp()),
        differs: different.is_sure || ends.is_some_and(|(low, high)| low > 0.0 || high < 0.0),
        repeats: pair.ratios.len(),
        detect: terms.detect,
        looks: terms.looks,
        pairs,
    }
}

/// Whether it would have been decided as the only pair.
fn too_wide(middle: &TrimmedMean, terms: &Terms) -> Unsure {
    let alone = terms.looks.at_one(MISS);
    let decided = middle.chance(middle.value) <= alone || chance_of_same(middle, terms) <= alone;
    if decided { Unsure::TooManyPairs } else { Unsure::TooWide }
}
