//! Setups that are compared with each other.

use std::ops::Deref;

use kvdyno_analysis::verdicts::{
    Aspect, Comparison, Looks, Pairing, RivalsVerdicts, Terms, Unsure, Verdict, VerdictFigure, have_cpu_time, judged,
};
use kvdyno_analysis::{Cell, SameWork, Weakness, works_with_answers};
use kvdyno_model::text::threads;
use kvdyno_results::{Phase, Side};

use super::predicate::Predicate;
use super::sentences::{but, closing, far, is_of, procedure, reservations, sentence};
use crate::order::distinct;
use crate::study::{Study, StudyCell};

/// The mark of a setup against whose figures something speaks.
pub(crate) const RESERVATION: &str = "‡";

/// Cells of one work, and what can be said of them by one aspect of it.
pub(crate) struct VerdictGroup<'c, 'r> {
    /// One for each setup, in the order of their keys.
    pub(crate) cells: Vec<&'c StudyCell<'r>>,
    /// The aspect.
    pub(crate) compared: Aspect,
    /// The verdicts on them, by their index.
    pub(crate) verdicts: RivalsVerdicts,
    /// The verdicts by the other aspects of the work.
    others: Vec<(Aspect, RivalsVerdicts)>,
}

/// The groups of cells that compete, loads first: for each work one by the throughput of each of its sides, and one by
/// CPU time where that is known of all. A searched rate is an answer by itself: its cell needs no other.
pub(crate) fn groups<'c, 'r>(study: &'c Study<'r>) -> Vec<VerdictGroup<'c, 'r>> {
    let all: Vec<&Cell<'r>> = study.all_cells().iter().map(Deref::deref).collect();
    let mut works = works_with_answers(&all);
    works.sort_by_key(|same| same.phase == Phase::Run);
    let question = study.experiment.lab.question;
    let of_work = |same: &SameWork| {
        let (of, terms) = (same.of(&all), terms_of(study, same.phase));
        let cpu_time = have_cpu_time(&of).then_some(Aspect::CpuTime);
        let compared: Vec<Aspect> = judged(&of).into_iter().chain(cpu_time).collect();
        let verdicts = |compared: &Aspect| (*compared, same.rivals(&all, *compared).verdicts(question, &terms));
        let aspects: Vec<(Aspect, RivalsVerdicts)> = compared.iter().map(verdicts).collect();
        let group = |(compared, verdicts): &(Aspect, RivalsVerdicts)| VerdictGroup {
            cells: same.cells.iter().map(|index| &study.all_cells()[*index]).collect(),
            compared: *compared,
            verdicts: verdicts.clone(),
            others: aspects.iter().filter(|(other, _)| other != compared).cloned().collect(),
        };
        aspects.iter().map(group).collect::<Vec<_>>()
    };
    let is_of_several = |group: &VerdictGroup<'c, 'r>| group.verdicts.order.len() + group.verdicts.left_out.len() > 1;
    let answers = |group: &VerdictGroup<'c, 'r>| is_of_several(group) || group.is_searched();
    works.iter().flat_map(of_work).filter(|group| answers(group) && !group.loaded_in_turns()).collect()
}

/// The terms of a study's comparisons of runs: its own `detect`, and whether its repeats may have ended for what they
/// gave.
pub(crate) fn terms(study: &Study<'_>) -> Terms {
    terms_of(study, Phase::Run)
}

/// The same of loads or of runs. Loads do not decide when a run ends by itself: they are looked at once, unless
/// somebody stopped the run, or gave it more time when they had seen them.
fn terms_of(study: &Study<'_>, phase: Phase) -> Terms {
    let was_looked_at = !study.missing.is_empty() || phase == Phase::Load && study.has_later_budget;
    let looks = match phase == Phase::Run && study.experiment.lab.repeat.is_auto() {
        true => Looks::of_values(study.most_values),
        false if was_looked_at => Looks::AfterEach,
        false => Looks::Once,
    };
    Terms { detect: study.experiment.lab.detect.0, looks }
}

impl<'r> VerdictGroup<'_, 'r> {
    /// Whether its setups loaded for each other, so that never two loaded beside each other.
    fn loaded_in_turns(&self) -> bool {
        let mut pairs = self.verdicts.pairs.iter();
        let is_load = self.cells.iter().all(|cell| cell.key.phase == Phase::Load);
        is_load && pairs.len() > 0 && pairs.all(|pair| pair.comparison.unsure == Some(Unsure::NothingMeasured))
    }

    /// The index of one of its cells.
    pub(crate) fn index_of(&self, cell: &StudyCell<'r>) -> Option<usize> {
        self.cells.iter().position(|other| std::ptr::eq(*other, cell))
    }

    /// The figure of its verdicts.
    pub(crate) fn figure(&self) -> VerdictFigure {
        self.compared.figure()
    }

    /// The side whose throughput is compared.
    pub(crate) fn side(&self) -> Option<Side> {
        match self.compared {
            Aspect::Throughput(side) => Some(side),
            Aspect::CpuTime => None,
        }
    }

    /// The name of one of its setups, for people.
    pub(crate) fn name(&self, index: usize) -> &str {
        &self.cells[index].label.engine
    }

    /// The names of its setups, in the order of their keys.
    pub(crate) fn setups(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().map(|cell| cell.label.engine.as_str())
    }

    /// The names of those of a pair that were not steady.
    pub(crate) fn unsteady(&self, pairing: &Pairing) -> Vec<&str> {
        let both = [pairing.one, pairing.other].into_iter();
        both.filter(|index| self.cells[*index].is_unsteady()).map(|index| self.name(index)).collect()
    }

    /// A comparison of two of them in a sentence, with what speaks against it.
    pub(crate) fn sentence(&self, pairing: &Pairing) -> String {
        let cells = [pairing.one, pairing.other].map(|index| (self.name(index), &self.cells[index].weaknesses[..]));
        self.said(pairing, cells.map(|(name, _)| name)) + &reservations(self.compared, cells)
    }

    /// The same, with a mark on the names of setups that have [reservations](Self::reservations), instead of those.
    pub(crate) fn marked_sentence(&self, pairing: &Pairing) -> String {
        let [one, other] = [pairing.one, pairing.other].map(|index| self.marked_name(index));
        self.said(pairing, [&one, &other])
    }

    /// Names are those of the sentence itself; what follows has them without marks.
    fn said(&self, pairing: &Pairing, [one, other]: [&str; 2]) -> String {
        let both = [pairing.one, pairing.other];
        let put_off = both.map(|index| (self.name(index), self.cells[index].put_off));
        let closing = closing(self.compared, put_off, &pairing.comparison);
        let said =
            |compared: Aspect, comparison: &Comparison| sentence(self.predicate(compared), (one, other), comparison);
        let against = self.against(pairing).map_or(String::new(), |(compared, comparison)| {
            but(&said(compared, &comparison), (self.compared, compared))
        });
        said(self.compared, &pairing.comparison) + &against + &procedure(&pairing.comparison) + &closing
    }

    /// A line for each thing that speaks against figures of some of its setups: `‡ bdb, rocksdb: were not steady`.
    pub(crate) fn reservations(&self, setups: &[usize]) -> Vec<String> {
        let line = |weakness: &Weakness| {
            let has = |index: &&usize| self.weaknesses(**index).any(|other| other == weakness);
            let names: Vec<&str> = setups.iter().filter(has).map(|index| self.name(*index)).collect();
            let of_several = weakness.of_both.as_ref().filter(|_| names.len() > 1);
            let is_of_all = names.len() == setups.len() && names.len() > 2;
            let names = if is_of_all { "all".to_owned() } else { names.join(", ") };
            format!("{RESERVATION} {names}: {}", of_several.unwrap_or(&weakness.of_one))
        };
        distinct(setups.iter().flat_map(|index| self.weaknesses(*index))).into_iter().map(line).collect()
    }

    /// Whether any of its setups has some.
    pub(crate) fn has_reservations(&self) -> bool {
        self.verdicts.order.iter().any(|index| self.weaknesses(*index).next().is_some())
    }

    fn weaknesses(&self, index: usize) -> impl Iterator<Item = &Weakness> {
        self.cells[index].weaknesses.iter().filter(|weakness| is_of(weakness, self.compared))
    }

    pub(super) fn marked_name(&self, index: usize) -> String {
        let mark = if self.weaknesses(index).next().is_some() { RESERVATION } else { "" };
        format!("{}{mark}", self.name(index))
    }

    /// Its setups from the highest on, with the distance of each from the next where that is decided:
    /// `lmdb 3.50x > leveldb‡ 1.27x > bdb ? rocksdb`. Empty if there are not two; see [`VerdictGroup::rates`].
    pub(crate) fn order_line(&self) -> String {
        let first = self.verdicts.order.first().filter(|_| self.verdicts.order.len() > 1);
        let mut line = first.map_or(String::new(), |first| self.marked_name(*first));
        for Pairing { other, comparison, .. } in self.verdicts.neighbours() {
            let sign = match comparison.verdict {
                Verdict::Faster => &format!("{} >", far(comparison)),
                Verdict::Slower => &format!("{} <", far(&comparison.reversed())),
                Verdict::Same => "≈",
                Verdict::CannotTell => "?",
            };
            line += &format!(" {sign} {}", self.marked_name(*other));
        }
        line
    }

    /// Whether it has an order or rates.
    pub(super) fn has_answer(&self) -> bool {
        !self.line().is_empty()
    }

    /// All of it in a line: its order, or else its rates.
    pub(super) fn line(&self) -> String {
        match self.order_line() {
            order if order.is_empty() => self.rates().join("; "),
            order => order,
        }
    }

    /// The other aspect by which the verdict on two is the opposite.
    fn against(&self, pairing: &Pairing) -> Option<(Aspect, Comparison)> {
        let of_both = |pair: &Pairing| match (pair.one, pair.other) {
            both if both == (pairing.one, pairing.other) => Some(pair.comparison.clone()),
            both if both == (pairing.other, pairing.one) => Some(pair.comparison.reversed()),
            _ => None,
        };
        let mut others = self
            .others
            .iter()
            .filter_map(|(compared, verdicts)| Some((*compared, verdicts.pairs.iter().find_map(of_both)?)));
        others.find(|(_, comparison)| comparison.contradicts(&pairing.comparison))
    }

    /// `readwhilewriting, 4 readers, 1 writer`.
    pub(crate) fn title(&self) -> String {
        let Some(first) = self.cells.first() else { return String::new() };
        match first.key.phase {
            Phase::Load => format!("Load: {}", first.label.workload),
            Phase::Run => format!("{}, {}", first.label.workload, threads(first.key.readers, first.key.writers)),
        }
    }

    /// Whether it is by the throughput of one of two sides.
    pub(crate) fn has_sides(&self) -> bool {
        self.others.iter().any(|(compared, _)| compared.figure() == VerdictFigure::Throughput)
    }

    /// The title over verdicts, with their figure: `readrandom, 1 reader, by throughput`. Where both sides work it says
    /// of which: `readwhilewriting, 4 readers, 1 writer, by throughput of reads`.
    pub(crate) fn heading(&self) -> String {
        let side = match self.side().filter(|_| self.has_sides()) {
            Some(Side::Reads) => " of reads",
            Some(Side::Writes) => " of writes",
            None => "",
        };
        match self.predicate(self.compared) {
            Predicate::Keep(promise) => format!("{}, by the highest rate{side} that keeps {promise}", self.title()),
            Predicate::Verb(_) => format!("{}, by {}{side}", self.title(), self.figure().name()),
        }
    }

    /// Their predicate, the same for all of them.
    pub(super) fn predicate(&self, compared: Aspect) -> Predicate {
        Predicate::of(self.cells.first().and_then(|cell| cell.first()), compared)
    }
}
