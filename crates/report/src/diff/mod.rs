//! Two setups, one before a change and one after it: of one results folder, where they were measured beside each other,
//! or of two.

mod cells;
mod comparable;
mod json;
mod markdown;
mod text;

use std::collections::BTreeSet;

use kvdyno_analysis::verdicts::{
    Comparison, Counterparts, Looks, PairedRatios, Terms, UnpairedFigures, Verdict, VerdictFigure, compare_family,
    compare_unpaired, counterparts, counterparts_of_folders, measured, paired,
};
use kvdyno_analysis::{Cell, Series, cells_of_results, cells_on_machines, is_driver};
use kvdyno_results::folder::{ReadError, ResultsFolder};
use kvdyno_results::{CellKey, Machine, Phase, SavedPlan, TrialResult};

use crate::document::{command, command_word};
use crate::format::Format;
use crate::machines::Machines;
use crate::order::distinct;
use crate::tables::{main_settings, processor};
use crate::verdicts::{Longer, longer_budget};
use cells::{ComparedPair, DiffCell, DiffSource, diff_cells, work};
use comparable::Surroundings;
pub(crate) use comparable::of_machines;

/// A change and its verdicts: the second of two over the first, cell by cell.
#[derive(Clone, Debug)]
pub struct Diff {
    /// By the figure that decides first, and then by the other where that is known.
    cells: Vec<DiffCell>,
    /// The figure that decides whether it is worse.
    figure: VerdictFigure,
    /// Whether both were measured beside each other.
    is_paired: bool,
    terms: Terms,
    /// Remarks for a reader of the verdicts.
    notes: Vec<String>,
    /// The main settings, and the machine.
    setting: Vec<String>,
    /// The command that repeats it, for a terminal of this machine.
    again: String,
    /// The same for a shell that has no file of it.
    anywhere: String,
    /// The way to lengthen the run; absent if there is none.
    longer: Option<Longer>,
    failed: usize,
    ended: usize,
}

/// The outcome, for the exit code: the first of these that some cell has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffOutcome {
    /// Trials failed.
    Failed {
        /// The number of trials that failed.
        failed: usize,
        /// The number of trials that ended.
        ended: usize,
    },
    /// The number of cells that are worse.
    Worse(usize),
    /// The number of cells of which it cannot be told.
    CannotTell(usize),
    /// Each cell is the same or better.
    Held,
}

/// Why two results folders are not compared.
#[derive(Debug, thiserror::Error)]
pub enum DiffError {
    /// One cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// They are of different things; each difference is a clause.
    #[error("{} and {} cannot be compared: {}{}", folders[0], folders[1], differences.join("; "), advice)]
    Incomparable {
        /// Both.
        folders: [String; 2],
        /// Without an end.
        differences: Vec<String>,
        /// The way out, if there is one.
        advice: &'static str,
    },
}

/// The note on comparisons whose figures cannot include the effect of a change on the files.
const SAME_COPIES: &str = "Both worked on copies of the same loads: a change of the files that they write themselves \
                           is not in this. --database kept has each load its own.";

/// Whether two cells stand on copies of the same loads.
fn are_on_the_same_copies((before, after): &Counterparts<'_, '_>) -> bool {
    let loads =
        |cell: &Cell<'_>| cell.finished.iter().filter_map(|run| Some(run.copied_from?.load)).collect::<BTreeSet<u32>>();
    !loads(before).is_disjoint(&loads(after))
}

impl Diff {
    /// Two setups of one run, `before` and `after` by their names in it.
    ///
    /// # Errors
    /// If its results cannot be read.
    pub fn of_run(
        folder: &ResultsFolder,
        (before, after): (&str, &str),
        detect: f64,
        figure: VerdictFigure,
    ) -> Result<Diff, ReadError> {
        let results = folder.results()?;
        let cells = cells_of_results(&results);
        let pairs = counterparts(&of_setup(&cells, before), &of_setup(&cells, after));
        let terms = Terms { detect, looks: looks(folder)? };
        let compare = |family: &[ComparedPair<'_, '_>]| {
            let ratio = |((before, after), compared): &ComparedPair<'_, '_>| paired(after, before, *compared);
            compare_family(&family.iter().map(ratio).collect::<Vec<PairedRatios>>(), &terms)
        };
        let failed = results.iter().filter(|result| !result.is_finished()).count();
        let plan = folder.plan()?;
        let (series, machines) = (series_of(folder, &results)?, Machines::read(folder, plan.as_ref())?);
        let source = DiffSource { folder: "", series: &series, machines: &machines };
        let cells = diff_cells(&pairs, figure, compare, [&source, &source], &terms);
        let mut notes = machines.doubts();
        notes.extend(pairs.iter().any(are_on_the_same_copies).then(|| SAME_COPIES.to_owned()));
        let (file, flags) = (command_word(&folder.experiment_file()), ["--out", "NEW"]);
        let has_ended = |plan: &SavedPlan| terms.looks.are_many() && plan.enough.is_some();
        let resume = format!("kvdyno diff --resume {}", command_word(folder.root()));
        let longer = plan.filter(has_ended).map(|plan| Longer { spent_s: plan.spent.seconds, command: resume });
        Ok(Diff {
            cells,
            figure,
            is_paired: true,
            terms,
            notes,
            setting: setting(&results, machines.first.as_ref()),
            again: format!("kvdyno run {file} --out NEW && kvdyno diff --resume NEW"),
            anywhere: format!("{}\nkvdyno diff --resume NEW", command(&folder.experiment_text()?, &flags)),
            longer,
            failed,
            ended: results.len(),
        })
    }

    /// The setups that two results folders have in common, or the only one of either. With `across` the machine and its
    /// state may be others; work and settings never.
    ///
    /// # Errors
    /// If a folder cannot be read, or they are of different things.
    pub fn of_folders(
        before: &ResultsFolder,
        after: &ResultsFolder,
        (detect, figure): (f64, VerdictFigure),
        across: bool,
    ) -> Result<Diff, DiffError> {
        let folders = [before, after].map(|folder| folder.root().display().to_string());
        let results = [before.results()?, after.results()?];
        let machines_of = |folder: &ResultsFolder| Machines::read(folder, folder.plan()?.as_ref());
        let machines = [machines_of(before)?, machines_of(after)?];
        let cells =
            [0, 1].map(|side: usize| cells_on_machines(&results[side], &machines[side].of_repeats(&results[side])));
        let incomparable = |differences: Vec<String>, advice| {
            Err(DiffError::Incomparable { folders: folders.clone(), differences, advice })
        };
        let Some(setups) = common_setups(&cells) else {
            let names = |side: usize| listed(&setups(&cells[side]));
            return incomparable(vec![format!("the first has {}, the second {}", names(0), names(1))], "");
        };
        let of = |(before, after): &(&str, &str)| {
            counterparts_of_folders(&of_setup(&cells[0], before), &of_setup(&cells[1], after))
        };
        let pairs: Vec<Counterparts<'_, '_>> = setups.iter().flat_map(of).collect();
        if pairs.is_empty() {
            let works = |side: usize| listed(&works(&cells[side]));
            return incomparable(vec![format!("the first did {}, the second {}", works(0), works(1))], "");
        }
        let differences = distinct(pairs.iter().flat_map(|(before, after)| comparable::of_work(before, after)));
        if !differences.is_empty() {
            return incomparable(differences, "");
        }
        let surroundings = Surroundings::of(&machines, &pairs);
        if !surroundings.differences.is_empty() && !across {
            return incomparable(surroundings.differences, ACROSS);
        }
        // Of each the most that it may have had.
        let looks = match [looks(before)?, looks(after)?] {
            [one, other] if one == other => one,
            _ => Looks::AfterEach,
        };
        let terms = Terms { detect, looks };
        let compare = |family: &[ComparedPair<'_, '_>]| {
            let figures = |((before, after), compared): &ComparedPair<'_, '_>| {
                measured(after, *compared).unpaired_over(&measured(before, *compared))
            };
            compare_unpaired(&family.iter().map(figures).collect::<Vec<UnpairedFigures>>(), &terms)
        };
        let trials = || pairs.iter().flat_map(|(before, after)| [before, after]);
        let failed = trials().map(|cell| cell.failed.len()).sum();
        let ended = trials().map(|cell| cell.failed.len() + cell.finished.len()).sum();
        let mut notes = surroundings.differences;
        notes.extend(left_out(&cells, &pairs));
        let series = [series_of(before, &results[0])?, series_of(after, &results[1])?];
        let source =
            |side: usize| DiffSource { folder: &folders[side], series: &series[side], machines: &machines[side] };
        Ok(Diff {
            cells: diff_cells(&pairs, figure, compare, [&source(0), &source(1)], &terms),
            figure,
            is_paired: false,
            terms,
            notes,
            setting: setting(&results[1], machines[1].first.as_ref()),
            again: format!("kvdyno diff {} {}", command_word(before.root()), command_word(after.root())),
            anywhere: String::new(),
            longer: None,
            failed,
            ended,
        })
    }

    /// The cells by the figure that decides.
    fn deciding(&self) -> impl Iterator<Item = &DiffCell> {
        self.cells.iter().filter(|cell| cell.compared.figure() == self.figure)
    }

    /// See [`DiffOutcome`].
    pub fn outcome(&self) -> DiffOutcome {
        let count = |wanted: Verdict| self.deciding().filter(|cell| cell.comparison.verdict == wanted).count();
        match (count(Verdict::Slower), count(Verdict::CannotTell)) {
            _ if self.failed > 0 => DiffOutcome::Failed { failed: self.failed, ended: self.ended },
            (worse, _) if worse > 0 => DiffOutcome::Worse(worse),
            (_, unknown) if unknown > 0 || self.deciding().next().is_none() => DiffOutcome::CannotTell(unknown),
            _ => DiffOutcome::Held,
        }
    }

    /// The time and the command that may decide what it cannot tell; absent if nothing can, or nothing is open.
    fn help(&self) -> Option<String> {
        let open: Vec<&Comparison> = self.deciding().map(|cell| &cell.comparison).filter(|one| one.is_open()).collect();
        let longer = self.longer.as_ref().filter(|_| !open.is_empty())?;
        Some(longer_budget(&open, Some(longer)))
    }

    /// The formats of a diff: sentences, for actions that track benchmarks, a summary for a pull request.
    pub const FORMATS: [Format; 3] = [Format::Table, Format::Json, Format::Markdown];

    /// The diff in one of these formats, with a line's end.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Markdown => markdown::render(self),
            Format::Json => json::render(self),
            _ => text::render(self),
        }
    }
}

const ACROSS: &str = "; where that does not matter: --across";

fn series_of(folder: &ResultsFolder, results: &[TrialResult]) -> Result<Series, ReadError> {
    results.iter().map(|result| Ok((result.trial.clone(), folder.series(&result.trial)?))).collect()
}

fn of_setup<'c, 'r>(cells: &'c [Cell<'r>], setup: &str) -> Vec<&'c Cell<'r>> {
    cells.iter().filter(|cell| cell.key.engine == setup).collect()
}

/// The names of setups. The null engine is in the running only by itself.
fn setups<'c>(cells: &'c [Cell<'_>]) -> Vec<&'c str> {
    distinct(cells.iter().filter(|cell| !is_driver(cell, cells)).map(|cell| cell.key.engine.as_str()))
}

fn common_setups<'c>(cells: &'c [Vec<Cell<'_>>; 2]) -> Option<Vec<(&'c str, &'c str)>> {
    let [before, after] = [setups(&cells[0]), setups(&cells[1])];
    let common: Vec<_> = before.iter().filter(|name| after.contains(name)).map(|name| (*name, *name)).collect();
    match (common.is_empty(), before.as_slice(), after.as_slice()) {
        (false, ..) => Some(common),
        (true, [one], [other]) => Some(vec![(one, other)]),
        _ => None,
    }
}

/// The cells that one folder has alone.
fn left_out(cells: &[Vec<Cell<'_>>; 2], pairs: &[Counterparts<'_, '_>]) -> Vec<String> {
    let is_compared = |key: &CellKey| pairs.iter().any(|(before, after)| [&before.key, &after.key].contains(&key));
    let of = |(side, word): (usize, &str)| {
        let runs = cells[side].iter().filter(|cell| cell.key.phase == Phase::Run && !is_compared(&cell.key));
        let names: Vec<String> = runs.map(|cell| format!("{} {}", cell.key.engine, work(&cell.key))).collect();
        (!names.is_empty()).then(|| format!("only the {word} has {}", names.join("; ")))
    };
    [(0, "first"), (1, "second")].into_iter().filter_map(of).collect()
}

/// The number of looks at the intervals of a run.
fn looks(folder: &ResultsFolder) -> Result<Looks, ReadError> {
    let most_values = folder.plan()?.and_then(|plan| plan.most_values);
    let is_auto = folder.experiment()?.lab.repeat.is_auto();
    Ok(if is_auto { Looks::of_values(most_values) } else { Looks::Once })
}

fn listed<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => "nothing".to_owned(),
        names => names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", "),
    }
}

fn works(cells: &[Cell<'_>]) -> Vec<String> {
    distinct(cells.iter().map(|cell| work(&cell.key)))
}

/// The main settings of results, and the processor that they are of.
fn setting(results: &[TrialResult], machine: Option<&Machine>) -> Vec<String> {
    main_settings(results).into_iter().chain(machine.map(processor)).collect()
}

impl DiffOutcome {
    /// The outcome in a few words.
    fn words(self, cells: usize) -> String {
        match self {
            DiffOutcome::Failed { failed, ended } => format!("{failed} of {ended} trials failed"),
            DiffOutcome::Worse(worse) => format!("worse in {worse} of {cells} cells"),
            DiffOutcome::CannotTell(0) => "cannot tell: nothing was measured".to_owned(),
            DiffOutcome::CannotTell(unknown) => format!("cannot tell in {unknown} of {cells} cells"),
            DiffOutcome::Held => "the same or better".to_owned(),
        }
    }
}
