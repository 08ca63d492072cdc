//! Tries that are a `kvdyno diff` of two setups: its verdict and how long it took.

use kvdyno_analysis::simulation::SimulatedCoverage;
use kvdyno_analysis::verdicts::{Aspect, Comparison, Terms, VerdictFigure, compare, judged, paired};
use kvdyno_analysis::{Cell, cells_of_results};
use kvdyno_results::Phase;

use crate::tries::DiffTry;

/// Engines of several kinds: mapped and not, B-trees and LSM trees.
pub const ENGINES: [&str; 8] =
    ["lmdb", "mdbx", "bdb", "leveldb", "rocksdb", "sqlite", "wiredtiger:btree", "hyperleveldb"];

/// The outcome of one diff.
pub struct PairTry {
    /// Comparison of the second setup with the first; absent if one of them has no finished run.
    pub comparison: Option<Comparison>,
    /// Wall time of the whole command, loads included, in seconds.
    pub wall_s: f64,
}

impl PairTry {
    /// Of a diff by a figure, the least difference that matters being `detect`.
    pub fn of(one: &DiffTry, figure: VerdictFigure, detect: f64) -> PairTry {
        PairTry { comparison: compared(one, figure, &Terms { detect, looks: one.looks }), wall_s: one.wall_s }
    }

    /// Half of the interval of its ratio, of 1; absent without an interval.
    pub fn half_width(&self) -> Option<f64> {
        half_width(self.comparison.as_ref()?)
    }
}

/// Half of the interval of a ratio, of 1; absent without an interval.
pub fn half_width(comparison: &Comparison) -> Option<f64> {
    let (low, high) = comparison.interval()?;
    Some((high / low).ln() / 2.0)
}

/// `6 of 6 (54 to 100 %)`: a count, with the 95 % interval of its share (Clopper and Pearson).
pub fn counted(hits: usize, tries: usize) -> String {
    let (low, high) = SimulatedCoverage { tries, held: hits, ..SimulatedCoverage::default() }.bounds();
    match tries {
        0 => "none".to_owned(),
        _ => format!("{hits} of {tries} ({:.0} to {:.0} %)", 100.0 * low, 100.0 * high),
    }
}

/// The comparison of the second of two setups with the first.
fn compared(one: &DiffTry, figure: VerdictFigure, terms: &Terms) -> Option<Comparison> {
    let cells = cells_of_results(&one.results);
    let [before, after] = &one.setups[..] else { return None };
    let (before, after) = (run_of(&cells, before)?, run_of(&cells, after)?);
    let compared = match figure {
        VerdictFigure::Throughput => *judged(&[before, after]).first()?,
        VerdictFigure::CpuTime => Aspect::CpuTime,
    };
    Some(compare(&paired(after, before, compared), terms))
}

/// The run of an engine, among cells that have one of each at most.
pub fn run_of<'cells, 'results>(cells: &'cells [Cell<'results>], engine: &str) -> Option<&'cells Cell<'results>> {
    cells.iter().find(|cell| cell.key.phase == Phase::Run && cell.key.engine == engine)
}

/// Every two of some engines, in their order.
pub fn pairs_of<'names>(engines: &'names [&str]) -> impl Iterator<Item = (&'names str, &'names str)> {
    let with_later = |(index, one): (usize, &'names &str)| engines[index + 1..].iter().map(move |other| (*one, *other));
    engines.iter().enumerate().flat_map(with_later)
}

/// The most of `tries` that miss 95 times in 100 if each misses with the probability `chance`: a binomial quantile.
pub fn most_of(tries: usize, chance: f64) -> usize {
    let (mut most, mut below) = (0, 0.0);
    while most < tries {
        below += probability(tries, most, chance);
        if below >= 0.95 {
            break;
        }
        most += 1;
    }
    most
}

/// Binomial probability of exactly `hits` in `tries`.
fn probability(tries: usize, hits: usize, chance: f64) -> f64 {
    let ways = (1..=hits).map(|one| ((tries - hits + one) as f64 / one as f64).ln()).sum::<f64>();
    (ways + hits as f64 * chance.ln() + (tries - hits) as f64 * (1.0 - chance).ln()).exp()
}

/// The middle of some figures, of an even number the lower one.
pub fn middle(figures: Vec<f64>) -> Option<f64> {
    let [middle] = quantiles(figures, [0.5])?;
    Some(middle)
}

/// The least figures that these shares of all do not exceed.
pub fn quantiles<const COUNT: usize>(mut figures: Vec<f64>, shares: [f64; COUNT]) -> Option<[f64; COUNT]> {
    figures.sort_by(f64::total_cmp);
    let last = figures.len().checked_sub(1)?;
    let index = |share: f64| ((share * figures.len() as f64).ceil() as usize).saturating_sub(1).min(last);
    Some(shares.map(|share| figures[index(share)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantiles_of_a_binomial_are_those_of_the_tables() {
        // P(X <= 15) = 0.956 and P(X <= 14) = 0.922 for 200 tries at 5 %; P(X <= 2) = 0.988 for 10.
        assert_eq!(most_of(200, 0.05), 15);
        assert_eq!(most_of(10, 0.05), 2);
        assert_eq!(most_of(0, 0.05), 0);
    }

    /// As printed tables have it: 8 of 10 are 44 to 97 %.
    #[test]
    fn counts_have_their_bounds() {
        assert_eq!(counted(8, 10), "8 of 10 (44 to 97 %)");
        assert_eq!(counted(6, 6), "6 of 6 (54 to 100 %)");
        assert_eq!((counted(0, 3), counted(0, 0)), ("0 of 3 (0 to 71 %)".to_owned(), "none".to_owned()));
    }

    #[test]
    fn the_middle_of_none_is_none() {
        assert_eq!((middle(vec![3.0, 1.0, 2.0]), middle(Vec::new())), (Some(2.0), None));
    }

    #[test]
    fn quantiles_are_figures_that_are_there() {
        let shares = [0.0, 0.25, 0.5, 0.75, 1.0];
        assert_eq!(quantiles(vec![4.0, 1.0, 3.0, 2.0], shares), Some([1.0, 1.0, 2.0, 3.0, 4.0]));
        assert_eq!(quantiles(vec![5.0, 4.0, 1.0, 3.0, 2.0], shares), Some([1.0, 2.0, 3.0, 4.0, 5.0]));
        assert_eq!(quantiles(Vec::new(), shares), None);
    }

    #[test]
    fn every_two_engines_are_a_pair_once() {
        assert_eq!(pairs_of(&["a", "b", "c"]).collect::<Vec<_>>(), [("a", "b"), ("a", "c"), ("b", "c")]);
    }
}
