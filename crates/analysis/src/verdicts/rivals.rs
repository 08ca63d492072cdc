//! Setups that did the same work, and what can be said of them together.

use std::collections::{BTreeMap, BTreeSet};

use kvdyno_model::Question;
use kvdyno_results::DatabaseCopy;

use super::crossing::rounds;
use super::family::{compare, compare_family};
use super::level::Looks;
use super::trimmed::TrimmedMean;
use super::verdict::{Comparison, MISS, PairedRatio, PairedRatios, Terms, Unsure, Verdict, VerdictFigure};

/// A cell as comparisons see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredCell {
    /// The compared figure of each finished trial, by its repeat; above 0. For CPU time it is operations for each CPU
    /// second, so that a higher figure is always the better one.
    pub figures: BTreeMap<u32, f64>,
    /// The meaning of the figures.
    pub figure: VerdictFigure,
    /// The rate of each trial by itself, by its repeat, where the figures are of CPU time.
    pub rates: BTreeMap<u32, f64>,
    /// The copy of a loaded database that each trial had, by its repeat.
    pub copies: BTreeMap<u32, DatabaseCopy>,
    /// Whether the engine keeps nothing, by its own declaration.
    pub keeps_nothing: bool,
    /// Repeats in which others took so much of the machine that the figure is about them.
    pub with_interference: BTreeSet<u32>,
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

/// Everything that can be said of rivals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RivalsVerdicts {
    /// The cells that can be compared, the highest first.
    pub order: Vec<usize>,
    /// The cells that have figures and of which nothing can be said, with the reason: repeats do not mend it.
    pub left_out: Vec<(usize, Unsure)>,
    /// Each with the next in the order: a family of its own where the question is the order, else part of `all`.
    pub neighbours: Vec<Pairing>,
    /// Each pair in its order: a family of its own.
    pub all: Vec<Pairing>,
    /// The highest over each other, each by itself.
    pub highest: Vec<Pairing>,
}

impl MeasuredCell {
    /// The same cell by rates, whatever its own figures are.
    #[must_use]
    pub fn as_rates(&self) -> MeasuredCell {
        match self.figure {
            VerdictFigure::Rate => self.clone(),
            VerdictFigure::CpuTime => MeasuredCell {
                figures: self.rates.clone(),
                figure: VerdictFigure::Rate,
                rates: BTreeMap::new(),
                ..self.clone()
            },
        }
    }

    /// Its ratios to another: by CPU time where both have that, else by rates.
    pub fn over(&self, other: &MeasuredCell) -> PairedRatios {
        if self.figure != other.figure {
            return self.as_rates().over(&other.as_rates());
        }
        let by_slices = |repeat: &u32| Some((self.rates.get(repeat)? / other.rates.get(repeat)?).ln());
        let both = |repeat: &u32| Some((*self.copies.get(repeat)?, *other.copies.get(repeat)?));
        let in_both = self.figures.keys().filter(|repeat| other.figures.contains_key(repeat));
        let of_one_load = |repeat: &u32| Some((*repeat, both(repeat).filter(|(one, other)| one.load == other.load)?));
        let rounds = rounds(&in_both.filter_map(of_one_load).collect());
        let ratio = |(repeat, figure): (&u32, &f64)| {
            let log_ratio = (figure / other.figures.get(repeat)?).ln();
            let round = rounds.get(repeat).copied();
            Some(PairedRatio { repeat: *repeat, log_ratio, by_slices: by_slices(repeat), round })
        };
        let ratios: Vec<PairedRatio> = self.figures.iter().filter_map(ratio).collect();
        let unsure = self.unsure.or(other.unsure);
        let kept = (self.keeps_nothing != other.keeps_nothing).then_some(Unsure::KeepsNothing);
        let suffers =
            |pair: &&PairedRatio| [self, other].iter().any(|cell| cell.with_interference.contains(&pair.repeat));
        let suffering = ratios.iter().filter(suffers).count();
        let interference = (suffering > 0 && 2 * suffering >= ratios.len()).then_some(Unsure::Interference);
        PairedRatios { ratios, unsure: unsure.or(kept).or(interference), figure: self.figure }
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

    /// Half of the 95 % interval of its figure over the figure; absent for too few repeats.
    pub fn half_width(&self, looks: Looks) -> Option<f64> {
        let logs = self.logs();
        let middle = TrimmedMean::of(&logs).filter(|_| logs.len() >= looks.fewest())?;
        Some(middle.half(looks.at_one(MISS)).exp_m1())
    }

    pub(super) fn logs(&self) -> Vec<f64> {
        self.figures.values().map(|figure| figure.ln()).collect()
    }
}

impl Rivals {
    /// Setups that are compared by one figure: by rates, unless all of them have CPU time.
    pub fn of(cells: Vec<MeasuredCell>) -> Rivals {
        let has_rates = cells.iter().any(|cell| cell.figure == VerdictFigure::Rate && !cell.figures.is_empty());
        Rivals { cells: if has_rates { cells.iter().map(MeasuredCell::as_rates).collect() } else { cells } }
    }

    /// The cells that can be compared, the highest first.
    pub fn order(&self) -> Vec<usize> {
        let mut order = self.with_figures();
        order.retain(|index| self.cells[*index].hindrance().is_none());
        order
    }

    /// The cells that have figures but cannot be compared, with the reason.
    pub fn left_out(&self) -> Vec<(usize, Unsure)> {
        let left_out = |index: usize| Some((index, self.cells[index].hindrance()?));
        self.with_figures().into_iter().filter_map(left_out).collect()
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

    /// Comparisons of the highest cell with each other cell that has figures, not adjusted for their number. A cell is
    /// called the highest of all only if it is faster than each other cell. This statement needs no adjustment: it is
    /// wrong only if the least sure of its pairs is wrong (Berger, *Multiparameter Hypothesis Testing and Acceptance
    /// Sampling*, Technometrics 24, 1982).
    pub fn highest(&self, terms: &Terms) -> Vec<Pairing> {
        let Some(one) = self.order().first().copied() else { return Vec::new() };
        let pairing = |other: usize| {
            let comparison = compare(&self.cells[one].over(&self.cells[other]), terms);
            Pairing { one, other, comparison }
        };
        self.with_figures().into_iter().filter(|other| *other != one).map(pairing).collect()
    }

    /// The pairs that answer a question, as a family.
    pub fn pairs(&self, question: Question, terms: &Terms) -> Vec<Pairing> {
        match question {
            Question::Ranking => self.neighbours(terms),
            Question::Difference => self.all_pairs(terms),
        }
    }

    /// Everything that can be said. The neighbours have the verdicts with which they answer the question.
    pub fn verdicts(&self, question: Question, terms: &Terms) -> RivalsVerdicts {
        let order = self.order();
        let are_neighbours = |pair: &Pairing| order.windows(2).any(|two| two == [pair.one, pair.other]);
        RivalsVerdicts {
            left_out: self.left_out(),
            neighbours: self.pairs(question, terms).into_iter().filter(are_neighbours).collect(),
            all: self.all_pairs(terms),
            highest: self.highest(terms),
            order,
        }
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
    /// The one that is faster than every other; absent if that cannot be said of any.
    pub fn winner(&self) -> Option<usize> {
        let faster = |pairing: &Pairing| pairing.comparison.verdict == Verdict::Faster;
        (!self.highest.is_empty() && self.highest.iter().all(faster)).then(|| self.order[0])
    }
}
