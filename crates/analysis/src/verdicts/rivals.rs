//! Setups that did the same work, and what can be said of them together.

use std::collections::{BTreeMap, BTreeSet};

use kvdyno_model::{Question, VerdictFigure};
use kvdyno_results::DatabaseCopy;

use super::crossing::rounds;
use super::family::{compare, compare_family};
use super::level::Looks;
use super::trimmed::TrimmedMean;
use super::verdict::{Comparison, PairedRatio, PairedRatios, Terms, Unsure, Verdict};
use super::without_others::WithoutOthers;
use crate::Estimate;
use crate::calm::CalmRepeats;
use crate::estimate::FEWEST_CORRELATED;
use crate::machines::{FEWEST_MACHINES, RepeatMachines, values_of};

/// A cell as comparisons see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredCell {
    /// The compared figure of each finished trial, by its repeat; above 0. For CPU time it is operations for each CPU
    /// second, so that a higher figure is always the better one.
    pub figures: BTreeMap<u32, f64>,
    /// The meaning of the figures.
    pub figure: VerdictFigure,
    /// Whether they are the highest rates that keep a promise.
    pub is_searched: bool,
    /// Searches that found no such rate.
    pub searched_in_vain: usize,
    /// The same figure of each trial by itself, by its repeat, where the figures are of duets.
    pub alone: BTreeMap<u32, f64>,
    /// The copy of a loaded database that each trial had, by its repeat.
    pub copies: BTreeMap<u32, DatabaseCopy>,
    /// The machine of each repeat, where they are of several.
    pub machines: RepeatMachines,
    /// Whether the engine keeps nothing, by its own declaration.
    pub keeps_nothing: bool,
    /// The rate of all repeats, as tables have it; absent where the figure is no rate.
    pub rate: Option<f64>,
    /// Repeats in which others took so much of the machine, from this cell or from one that was measured beside it,
    /// that the figures are about them.
    pub with_interference: BTreeSet<u32>,
    /// Its own repeats of that kind, compared with trials that did not share the interference.
    pub with_interference_of_its_own: BTreeSet<u32>,
    /// The logarithms of the factors by which each figure would have been higher at least and at most with the
    /// processors that others took, by its repeat, where that is known.
    pub taken: BTreeMap<u32, [f64; 2]>,
    /// A reason why nothing may be said of it, whatever its figures are.
    pub unsure: Option<Unsure>,
}

/// Setups that did the same work with the same number of clients: a column of a table of rates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rivals {
    /// One for each setup.
    pub cells: Vec<MeasuredCell>,
}

/// Two of the [`Rivals`], by their index, and the comparison of the first over the second.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairing {
    /// The first.
    pub one: usize,
    /// The second.
    pub other: usize,
    /// The comparison of the first over the second.
    pub comparison: Comparison,
}

/// Everything that can be said of rivals. Sentences, marks of tables and files for programs have it from here alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RivalsVerdicts {
    /// The cells that can be compared, the highest first.
    pub order: Vec<usize>,
    /// The cells that have figures and of which nothing can be said, with the reason: repeats do not mend it.
    pub left_out: Vec<(usize, Unsure)>,
    /// Each pair of the order, the higher first, with its only verdict.
    pub pairs: Vec<Pairing>,
}

/// The place of a cell among its rivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RivalRank {
    /// It is faster than every other.
    Highest,
    /// It is the highest or the same as the highest.
    Same,
    /// It cannot be told from the highest, or as the highest.
    Untold,
    /// The highest is faster.
    Lower,
}

impl RivalRank {
    /// The mark of a rate that has this rank; empty for the lower ones, which are the rule.
    pub fn mark(self) -> &'static str {
        match self {
            RivalRank::Highest => "*",
            RivalRank::Same => "≈",
            RivalRank::Untold => "?",
            RivalRank::Lower => "",
        }
    }

    /// The meaning of the marks.
    pub const LEGEND: &str = "* faster than every other; ≈ the same as the highest; ? cannot tell";
}

impl MeasuredCell {
    /// Its ratios to another that is measured by the same figure. Repeats with too much interference are dropped for
    /// both. If those are half of all, none is; each ratio has with it what it may have been without others, and if
    /// that is not known, nothing can be said.
    pub fn over(&self, other: &MeasuredCell) -> PairedRatios {
        let in_both = || self.figures.keys().copied().filter(|repeat| other.figures.contains_key(repeat));
        let interfered = self.with_interference.union(&other.with_interference).copied().collect();
        let calm = CalmRepeats::of(in_both(), &interfered);
        let by_slices = |repeat: &u32| Some((self.alone.get(repeat)? / other.alone.get(repeat)?).ln());
        let both = |repeat: &u32| Some((*self.copies.get(repeat)?, *other.copies.get(repeat)?));
        let of_one_load = |repeat: u32| Some((repeat, both(&repeat).filter(|(one, other)| one.load == other.load)?));
        let rounds = rounds(&in_both().filter(|repeat| calm.keep(*repeat)).filter_map(of_one_load).collect());
        let taken = |repeat: &u32| Some((*self.taken.get(repeat)?, *other.taken.get(repeat)?));
        let is_allowed_for = calm.are_too_few && in_both().all(|repeat| taken(&repeat).is_some());
        let ratio = |(repeat, figure): (&u32, &f64)| {
            let log_ratio = (figure / other.figures.get(repeat).filter(|_| calm.keep(*repeat))?).ln();
            let round = rounds.get(repeat).copied();
            let taken = taken(repeat).filter(|_| is_allowed_for);
            let without_others = taken.map(|taken| WithoutOthers::of(log_ratio, taken));
            let (by_slices, machine) = (by_slices(repeat), self.machines.get(repeat).copied());
            Some(PairedRatio { repeat: *repeat, log_ratio, by_slices, without_others, round, machine })
        };
        let ratios: Vec<PairedRatio> = self.figures.iter().filter_map(ratio).collect();
        let unsure = self.unsure_beside(other, calm.are_too_few && !is_allowed_for);
        PairedRatios { ratios, dropped: calm.dropped, unsure, figure: self.figure, rates: self.rates_over(other) }
    }

    /// The reason why nothing may be said of it and another, whatever their figures are; `is_interfered` is whether
    /// others took too much of the machine in half of the repeats.
    pub(super) fn unsure_beside(&self, other: &MeasuredCell, is_interfered: bool) -> Option<Unsure> {
        let kept = (self.keeps_nothing != other.keeps_nothing).then_some(Unsure::KeepsNothing);
        self.unsure.or(other.unsure).or(kept).or(is_interfered.then_some(Unsure::Interference))
    }

    /// Whether its repeats are of several machines.
    pub(super) fn is_of_machines(&self) -> bool {
        !self.machines.is_empty()
    }

    /// The reason why nothing may be said of others like its machines: they are too few, or one.
    pub(super) fn few_machines(&self) -> Option<Unsure> {
        let machines = if self.is_of_machines() { self.logs().len() } else { 1 };
        (machines < FEWEST_MACHINES).then_some(Unsure::FewMachines { machines })
    }

    /// The logarithm of the ratio of its rate in tables to another's; absent where the figure is no rate.
    pub(super) fn rates_over(&self, other: &MeasuredCell) -> Option<f64> {
        self.rate.zip(other.rate).map(|(one, other)| (one / other).ln())
    }

    /// The reason why nothing may be said of it, if more repeats do not mend that.
    fn hindrance(&self) -> Option<Unsure> {
        self.unsure.filter(|unsure| !unsure.may_pass())
    }

    /// The middle of the logarithms of its figures.
    fn log_middle(&self) -> Option<f64> {
        let logs = self.logs();
        TrimmedMean::of(&logs).map(|middle| middle.value).or(logs.first().copied())
    }

    /// The middle of its figures; absent if there are none.
    pub fn middle(&self) -> Option<f64> {
        self.log_middle().map(f64::exp)
    }

    /// The upper half of the 95 % interval of its figure over the figure; absent for too few repeats.
    pub fn half_width(&self, looks: Looks) -> Option<f64> {
        let logs = self.logs();
        let estimate = match self.is_of_machines() {
            true => Estimate::of_independent(&logs, looks),
            false => Estimate::of_log_rates(&logs, looks),
        };
        estimate?.relative()
    }

    /// The trials that gave it a figure or searched for one in vain.
    pub(super) fn searches(&self) -> usize {
        self.figures.len() + self.searched_in_vain
    }

    /// Whether half of its interval over its value is at most `precision`. A searched rate is not known from fewer
    /// values than tell how much successive ones resemble each other, as those of machines do not: three of RocksDB
    /// agreed within 1 % in searches whose later ones spread by 8 %.
    pub(super) fn is_known(&self, precision: f64, looks: Looks) -> bool {
        let is_too_few = self.is_searched && !self.is_of_machines() && self.figures.len() < FEWEST_CORRELATED;
        !is_too_few && self.half_width(looks).is_some_and(|half| half <= precision)
    }

    /// The logarithms of the figures of which the rate in tables is made, one for each machine where there are several.
    pub(super) fn logs(&self) -> Vec<f64> {
        let repeats = self.figures.keys().copied().collect();
        let calm = CalmRepeats::of_cell(&repeats, &self.with_interference, &self.with_interference_of_its_own);
        let kept = self.figures.iter().filter(|(repeat, _)| calm.keep(**repeat));
        values_of(kept.map(|(repeat, figure)| (*repeat, figure.ln())), &self.machines)
    }
}

impl Rivals {
    /// The cells that can be compared, the highest first.
    pub fn order(&self) -> Vec<usize> {
        let mut order = self.with_figures();
        order.retain(|index| self.cells[*index].hindrance().is_none());
        order
    }

    /// The cells that have figures but cannot be compared, with the reason; and those whose figure is that there is no
    /// rate.
    pub fn left_out(&self) -> Vec<(usize, Unsure)> {
        let left_out = |index: usize| Some((index, self.cells[index].hindrance()?));
        let with_figures = self.with_figures();
        let without = (0..self.cells.len()).filter(|index| !with_figures.contains(index)).filter_map(left_out);
        let without_rate = without.filter(|(_, why)| *why == Unsure::KeptAtNoRate);
        with_figures.iter().copied().filter_map(left_out).chain(without_rate).collect()
    }

    /// The highest first.
    fn with_figures(&self) -> Vec<usize> {
        let middles: Vec<Option<f64>> = self.cells.iter().map(MeasuredCell::log_middle).collect();
        let mut order: Vec<usize> = (0..self.cells.len()).filter(|index| middles[*index].is_some()).collect();
        order.sort_by(|a, b| middles[*b].unwrap_or(0.0).total_cmp(&middles[*a].unwrap_or(0.0)));
        order
    }

    /// Each with the next in the order, as a family.
    pub fn neighbours(&self, terms: &Terms) -> Vec<Pairing> {
        let pairs = self.order().windows(2).map(|pair| (pair[0], pair[1])).collect();
        self.family(pairs, terms)
    }

    /// Each pair of the order, the higher first, as a family.
    pub fn all_pairs(&self, terms: &Terms) -> Vec<Pairing> {
        let order = self.order();
        let each = order.iter().enumerate();
        let pairs = each.flat_map(|(rank, one)| order[rank + 1..].iter().map(|other| (*one, *other)));
        self.family(pairs.collect(), terms)
    }

    /// Comparisons of the highest cell with each other of the order, not adjusted for their number. That a cell is
    /// faster than every other needs no adjustment: the statement is wrong only if the least sure of its pairs is wrong
    /// (Berger, *Multiparameter Hypothesis Testing and Acceptance Sampling*, Technometrics 24, 1982).
    fn highest_over_others(&self, order: &[usize], terms: &Terms) -> Vec<Pairing> {
        let Some((one, others)) = order.split_first() else { return Vec::new() };
        others.iter().map(|other| self.by_itself((*one, *other), terms)).collect()
    }

    /// A pair, not adjusted for others.
    fn by_itself(&self, (one, other): (usize, usize), terms: &Terms) -> Pairing {
        Pairing { one, other, comparison: compare(&self.cells[one].over(&self.cells[other]), terms) }
    }

    /// The pairs that answer a question, as a family.
    fn pairs(&self, question: Question, terms: &Terms) -> Vec<Pairing> {
        match question {
            Question::Ranking => self.neighbours(terms),
            Question::Difference => self.all_pairs(terms),
        }
    }

    /// Everything that can be said. Neighbours have the verdicts with which they answer the question, other pairs those
    /// of the family of all. Where that cannot tell, what follows from other verdicts decides: that the highest is
    /// faster than every other, or that each cell between the two is faster than the next.
    pub fn verdicts(&self, question: Question, terms: &Terms) -> RivalsVerdicts {
        let order = self.order();
        let rank = |index: usize| order.iter().position(|other| *other == index).unwrap_or(order.len());
        let are_neighbours = |pair: &Pairing| rank(pair.one) + 1 == rank(pair.other);
        let is_faster = |pair: &Pairing| pair.comparison.verdict == Verdict::Faster;
        let near: Vec<Pairing> = self.pairs(question, terms).into_iter().filter(are_neighbours).collect();
        let highest = self.highest_over_others(&order, terms);
        let has_winner = near.first().is_some_and(is_faster) && highest.iter().all(is_faster);
        let is_chain = |pair: &Pairing| near[rank(pair.one)..rank(pair.other)].iter().all(is_faster);
        let verdict = |pair: Pairing| match near.iter().find(|near| (near.one, near.other) == (pair.one, pair.other)) {
            Some(near) => near.clone(),
            None if pair.comparison.verdict.is_decided() => pair,
            None if has_winner && rank(pair.one) == 0 || is_chain(&pair) => {
                Some(self.by_itself((pair.one, pair.other), terms)).filter(is_faster).unwrap_or(pair)
            }
            None => pair,
        };
        let pairs = self.all_pairs(terms).into_iter().map(verdict).collect();
        RivalsVerdicts { left_out: self.left_out(), pairs, order }
    }

    fn family(&self, pairs: Vec<(usize, usize)>, terms: &Terms) -> Vec<Pairing> {
        let ratios: Vec<PairedRatios> =
            pairs.iter().map(|(one, other)| self.cells[*one].over(&self.cells[*other])).collect();
        let comparisons = compare_family(&ratios, terms);
        let pairing = |((one, other), comparison)| Pairing { one, other, comparison };
        pairs.into_iter().zip(comparisons).map(pairing).collect()
    }
}

impl RivalsVerdicts {
    /// Each with the next in the order.
    pub fn neighbours(&self) -> impl Iterator<Item = &Pairing> {
        self.order.windows(2).filter_map(|two| self.pairs.iter().find(|pair| [pair.one, pair.other] == *two))
    }

    /// The pairs that answer a question.
    pub fn that_answer(&self, question: Question) -> Vec<&Pairing> {
        match question {
            Question::Ranking => self.neighbours().collect(),
            Question::Difference => self.pairs.iter().collect(),
        }
    }

    /// Whether a pair stands next to each other in the order.
    pub fn are_neighbours(&self, pair: &Pairing) -> bool {
        self.order.windows(2).any(|two| *two == [pair.one, pair.other])
    }

    /// The place of a cell; absent if it has no figure or no rival.
    pub fn rank_of(&self, index: usize) -> Option<RivalRank> {
        let first = *self.order.first()?;
        let over = |other: usize| {
            let of_both = |pair: &&Pairing| (pair.one, pair.other) == (first, other);
            self.pairs.iter().find(of_both).map(|pair| match pair.comparison.verdict {
                Verdict::Faster => RivalRank::Lower,
                Verdict::Same => RivalRank::Same,
                Verdict::Slower | Verdict::CannotTell => RivalRank::Untold,
            })
        };
        if self.left_out.iter().any(|(left, _)| *left == index) {
            return Some(RivalRank::Untold);
        }
        if index != first {
            return over(index);
        }
        let others: Vec<RivalRank> = self.order.iter().filter_map(|other| over(*other)).collect();
        // One without a rate is no rival of one that has some.
        let are_rivals_left_out = self.left_out.iter().any(|(_, why)| *why != Unsure::KeptAtNoRate);
        match () {
            _ if others.is_empty() => None,
            _ if others.contains(&RivalRank::Untold) || are_rivals_left_out => Some(RivalRank::Untold),
            _ if others.contains(&RivalRank::Same) => Some(RivalRank::Same),
            _ => Some(RivalRank::Highest),
        }
    }

    /// The one that is faster than every other; absent if that cannot be said of any.
    pub fn winner(&self) -> Option<usize> {
        self.order.first().copied().filter(|first| self.rank_of(*first) == Some(RivalRank::Highest))
    }
}
