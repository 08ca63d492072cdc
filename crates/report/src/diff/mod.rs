//! Two setups, one before a change and one after it: of one results folder, where they were measured beside each other,
//! or of two, or on two machines.

mod cells;
mod comparable;
mod json;
mod markdown;
mod separate;
mod text;

use std::collections::BTreeSet;

use kvdyno_analysis::verdicts::{
    Comparison, Counterparts, Looks, PairedRatios, Terms, Verdict, VerdictFigure, compare_family, counterparts, paired,
};
use kvdyno_analysis::{Cell, Series, cells_of_results};
use kvdyno_results::folder::{ReadError, ResultsFolder};
use kvdyno_results::{Machine, SavedPlan, TrialResult};

use crate::document::{command, command_word};
use crate::format::Format;
use crate::machines::Machines;
use crate::tables::{main_settings, processor};
use crate::verdicts::{Longer, longer_budget};
use cells::{ComparedPair, DiffCell, DiffPair, DiffSource, diff_cells};
pub(crate) use comparable::of_machines;

/// A change and its verdicts: the second of two over the first, cell by cell.
#[derive(Clone, Debug)]
pub struct Diff {
    /// By the figure that decides first, and then by the other where that is known.
    cells: Vec<DiffCell>,
    /// The figure that decides whether it is worse.
    figure: VerdictFigure,
    sides: SidesOf,
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

/// Where two sides are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SidesOf {
    /// One run, in which they were measured beside each other.
    OneRun,
    /// A run each.
    TwoRuns,
    /// One plan, which two machines did.
    TwoMachines,
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

/// Why results are not compared.
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
    /// The results of a folder are not of several machines.
    #[error("{0} has no results of several machines that each did the whole plan, as --deal repeats has them do")]
    OneMachine(String),
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
        let source = DiffSource { name: "", series: &series, machines: &machines };
        let mut notes = machines.doubts();
        notes.extend(pairs.iter().any(are_on_the_same_copies).then(|| SAME_COPIES.to_owned()));
        let pair = |counterparts| DiffPair { counterparts, sources: [&source, &source] };
        let pairs: Vec<DiffPair<'_, '_>> = pairs.into_iter().map(pair).collect();
        let cells = diff_cells(&pairs, figure, compare, &terms);
        let (file, flags) = (command_word(&folder.experiment_file()), ["--out", "NEW"]);
        let has_ended = |plan: &SavedPlan| terms.looks.are_many() && plan.enough.is_some();
        let resume = format!("kvdyno diff --resume {}", command_word(folder.root()));
        let longer = plan.filter(has_ended).map(|plan| Longer { spent_s: plan.spent.seconds, command: resume });
        Ok(Diff {
            cells,
            figure,
            sides: SidesOf::OneRun,
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

fn series_of(folder: &ResultsFolder, results: &[TrialResult]) -> Result<Series, ReadError> {
    results.iter().map(|result| Ok((result.trial.clone(), folder.series(&result.trial)?))).collect()
}

fn of_setup<'c, 'r>(cells: &'c [Cell<'r>], setup: &str) -> Vec<&'c Cell<'r>> {
    cells.iter().filter(|cell| cell.key.engine == setup).collect()
}

/// The number of looks at the intervals of a run.
fn looks(folder: &ResultsFolder) -> Result<Looks, ReadError> {
    let most_values = folder.plan()?.and_then(|plan| plan.most_values);
    let is_auto = folder.experiment()?.lab.repeat.is_auto();
    Ok(if is_auto { Looks::of_values(most_values) } else { Looks::Once })
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
