//! Setups that are compared with each other.

use std::ops::Deref;

use kvdyno_analysis::verdicts::{Looks, Pairing, RivalsVerdicts, Terms, Unsure, VerdictFigure};
use kvdyno_analysis::{Cell, SameWork, same_work};
use kvdyno_results::{Phase, Side};

use super::sentences::{reservations, sentence};
use crate::study::{Study, StudyCell};
use crate::words::threads;

/// Cells of one work, and what can be said of them.
pub(crate) struct VerdictGroup<'c, 'r> {
    /// One for each setup, in the order of their keys.
    pub(crate) cells: Vec<&'c StudyCell<'r>>,
    /// The verdicts on them, by their index.
    pub(crate) verdicts: RivalsVerdicts,
    /// The side of the work that they are compared by.
    pub(crate) side: Side,
}

/// The groups of cells that compete, loads first.
pub(crate) fn groups<'c, 'r>(study: &'c Study<'r>) -> Vec<VerdictGroup<'c, 'r>> {
    let all: Vec<&Cell<'r>> = study.all_cells().iter().map(Deref::deref).collect();
    let mut works = same_work(&all);
    works.sort_by_key(|same| same.phase == Phase::Run);
    let (question, terms) = (study.experiment.lab.question, terms(study));
    let group = |same: SameWork| {
        let cells: Vec<&StudyCell<'r>> = same.cells.iter().map(|index| &study.all_cells()[*index]).collect();
        let reads = cells.iter().any(|cell| cell.reads_per_s.is_some());
        let side = if reads { Side::Reads } else { Side::Writes };
        VerdictGroup { verdicts: same.rivals(&all).verdicts(question, &terms), cells, side }
    };
    let is_of_several = |group: &VerdictGroup<'c, 'r>| group.verdicts.order.len() + group.verdicts.left_out.len() > 1;
    works.into_iter().map(group).filter(|group| is_of_several(group) && !group.loaded_in_turns()).collect()
}

/// The terms of a study's comparisons: its own `detect`, and whether its repeats may have ended for what they gave.
pub(crate) fn terms(study: &Study<'_>) -> Terms {
    let looks = match study.experiment.lab.repeat.is_auto() || !study.missing.is_empty() {
        true => Looks::AfterEach,
        false => Looks::Once,
    };
    Terms { detect: study.experiment.lab.detect.0, looks }
}

impl VerdictGroup<'_, '_> {
    /// Whether its setups loaded for each other, so that never two loaded beside each other.
    fn loaded_in_turns(&self) -> bool {
        let mut pairs = self.verdicts.all.iter();
        let is_load = self.cells.iter().all(|cell| cell.key.phase == Phase::Load);
        is_load && pairs.len() > 0 && pairs.all(|pair| pair.comparison.unsure == Some(Unsure::NothingMeasured))
    }

    /// Each pair, with whether the two are neighbours. These have the verdicts that stand in sentences.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&Pairing, bool)> {
        let names = |pairing: &Pairing| (pairing.one, pairing.other);
        self.verdicts.all.iter().map(move |pairing| {
            let near = self.verdicts.neighbours.iter().find(|near| names(near) == names(pairing));
            (near.unwrap_or(pairing), near.is_some())
        })
    }

    /// The name of one of its setups, for people.
    pub(crate) fn name(&self, index: usize) -> &str {
        &self.cells[index].label.engine
    }

    /// The names of those of a pair that were not steady.
    pub(crate) fn unsteady(&self, pairing: &Pairing) -> Vec<&str> {
        let both = [pairing.one, pairing.other].into_iter();
        both.filter(|index| self.cells[*index].is_unsteady()).map(|index| self.name(index)).collect()
    }

    /// A comparison of two of them in a sentence, with what was not steady.
    pub(crate) fn sentence(&self, pairing: &Pairing) -> String {
        let names = (self.name(pairing.one), self.name(pairing.other));
        sentence(self.verb(), names, &pairing.comparison) + &reservations(&pairing.comparison, &self.unsteady(pairing))
    }

    /// `readwhilewriting, 4 readers, 1 writer`.
    pub(crate) fn title(&self) -> String {
        let Some(first) = self.cells.first() else { return String::new() };
        match first.key.phase {
            Phase::Load => format!("Load: {}", first.label.workload),
            Phase::Run => format!("{}, {}", first.label.workload, threads(first.key.readers, first.key.writers)),
        }
    }

    /// The figure of its verdicts: CPU time if any of them is of that.
    pub(crate) fn figure(&self) -> VerdictFigure {
        let of_cpu_time = |pairing: &Pairing| pairing.comparison.figure == VerdictFigure::CpuTime;
        match self.verdicts.neighbours.iter().any(of_cpu_time) {
            true => VerdictFigure::CpuTime,
            false => VerdictFigure::Rate,
        }
    }

    /// The title over verdicts. It names a figure that is no rate: `readrandom, 1 reader, by CPU time per operation`.
    pub(crate) fn heading(&self) -> String {
        match self.figure() {
            VerdictFigure::Rate => self.title(),
            figure @ VerdictFigure::CpuTime => format!("{}, by {figure}", self.title()),
        }
    }

    /// Their deed, as a verb for sentences.
    pub(crate) fn verb(&self) -> &'static str {
        match (self.cells.first().map(|cell| cell.key.phase), self.side) {
            (Some(Phase::Load), _) => "load",
            (_, side) => side.verb(),
        }
    }
}
