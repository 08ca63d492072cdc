//! Two setups, one before a change and one after it: of one results folder, where they were measured beside each other,
//! or of two.

mod comparable;
mod json;
mod markdown;
mod text;

use std::collections::BTreeSet;

use jiff::Timestamp;
use kvdyno_analysis::verdicts::{
    Comparison, Counterparts, Looks, MeasuredCell, Terms, Unsure, Verdict, VerdictFigure, compare_family,
    compare_unpaired, counterparts, counterparts_of_folders, measured,
};
use kvdyno_analysis::{Cell, CellKey, Series, Steadiness, cells, is_driver, steadiness};
use kvdyno_experiment::Experiment;
use kvdyno_results::folder::{ReadError, ResultsFolder};
use kvdyno_results::latency_log::LatencyLog;
use kvdyno_results::{EngineFacts, Phase, Side, TrialKey, TrialResult};

use crate::format::Format;
use crate::order::distinct;
use crate::words::threads;
use comparable::Surroundings;

/// A change and its verdicts: the second of two over the first, cell by cell.
#[derive(Clone, Debug)]
pub struct Diff {
    cells: Vec<DiffCell>,
    /// Whether both were measured beside each other.
    is_paired: bool,
    terms: Terms,
    /// Remarks for a reader of the verdicts.
    notes: Vec<String>,
    failed: usize,
    ended: usize,
}

/// A cell of one setup and its counterpart of the other.
#[derive(Clone, Debug)]
struct DiffCell {
    /// Workload and clients.
    work: String,
    before: DiffSide,
    after: DiffSide,
    /// `read`.
    verb: &'static str,
    /// The unit of the figures.
    unit: &'static str,
    /// The comparison of the second over the first.
    comparison: Comparison,
}

/// One of the two.
#[derive(Clone, Debug)]
struct DiffSide {
    name: String,
    engine: Option<EngineFacts>,
    started: Option<Timestamp>,
    figure: Option<f64>,
    half_width: Option<f64>,
    /// Whether its runs are known not to have been steady.
    is_unsteady: bool,
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
    pub fn of_run(folder: &ResultsFolder, before: &str, after: &str, detect: f64) -> Result<Diff, ReadError> {
        let results = folder.results()?;
        let cells = cells_of(&results);
        let pairs = counterparts(&of_setup(&cells, before), &of_setup(&cells, after));
        let terms = Terms { detect, looks: looks(&folder.experiment()?) };
        let ratios: Vec<_> = pairs.iter().map(|(before, after)| measured(after).over(&measured(before))).collect();
        let comparisons = compare_family(&ratios, &terms);
        let failed = results.iter().filter(|result| !result.is_finished()).count();
        let series = series_of(folder, &results)?;
        let cells = diff_cells(&pairs, comparisons, [("", &series), ("", &series)], &terms);
        let notes = if pairs.iter().any(are_on_the_same_copies) { vec![SAME_COPIES.to_owned()] } else { Vec::new() };
        Ok(Diff { cells, is_paired: true, terms, notes, failed, ended: results.len() })
    }

    /// The setups that two results folders have in common, or the only one of either. With `across` the machine and its
    /// state may be others; work and settings never.
    ///
    /// # Errors
    /// If a folder cannot be read, or they are of different things.
    pub fn of_folders(
        before: &ResultsFolder,
        after: &ResultsFolder,
        detect: f64,
        across: bool,
    ) -> Result<Diff, DiffError> {
        let folders = [before, after].map(|folder| folder.root().display().to_string());
        let results = [before.results()?, after.results()?];
        let cells = [cells_of(&results[0]), cells_of(&results[1])];
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
        let surroundings = Surroundings::of(before.machine()?, after.machine()?, &pairs);
        if !surroundings.differences.is_empty() && !across {
            return incomparable(surroundings.differences, ACROSS);
        }
        let ended_early = [before, after].map(|folder| folder.experiment().map(|experiment| looks(&experiment)));
        let [one, other] = ended_early;
        let looks = if [one?, other?].contains(&Looks::AfterEach) { Looks::AfterEach } else { Looks::Once };
        let terms = Terms { detect, looks };
        let figures: Vec<_> =
            pairs.iter().map(|(before, after)| measured(after).unpaired_over(&measured(before))).collect();
        let comparisons = compare_unpaired(&figures, &terms);
        let trials = || pairs.iter().flat_map(|(before, after)| [before, after]);
        let failed = trials().map(|cell| cell.failed.len()).sum();
        let ended = trials().map(|cell| cell.failed.len() + cell.finished.len()).sum();
        let mut notes = surroundings.differences;
        notes.extend(left_out(&cells, &pairs));
        let series = [series_of(before, &results[0])?, series_of(after, &results[1])?];
        let sources = [(folders[0].as_str(), &series[0]), (folders[1].as_str(), &series[1])];
        Ok(Diff {
            cells: diff_cells(&pairs, comparisons, sources, &terms),
            is_paired: false,
            terms,
            notes,
            failed,
            ended,
        })
    }

    /// See [`DiffOutcome`].
    pub fn outcome(&self) -> DiffOutcome {
        let count = |wanted: Verdict| self.cells.iter().filter(|cell| cell.comparison.verdict == wanted).count();
        match (count(Verdict::Slower), count(Verdict::CannotTell)) {
            _ if self.failed > 0 => DiffOutcome::Failed { failed: self.failed, ended: self.ended },
            (worse, _) if worse > 0 => DiffOutcome::Worse(worse),
            (_, unknown) if unknown > 0 || self.cells.is_empty() => DiffOutcome::CannotTell(unknown),
            _ => DiffOutcome::Held,
        }
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

fn cells_of(results: &[TrialResult]) -> Vec<Cell<'_>> {
    let no_latencies = |_: &TrialKey| Ok::<_, std::convert::Infallible>(LatencyLog::new());
    let Ok(cells) = cells(results, &Series::new(), no_latencies);
    cells
}

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

/// The number of looks at the intervals of an experiment.
fn looks(experiment: &Experiment) -> Looks {
    if experiment.lab.repeat.is_auto() { Looks::AfterEach } else { Looks::Once }
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

/// `readrandom, 1 reader`; `load by fillseq, 1 writer`.
fn work(key: &CellKey) -> String {
    let variant = if key.variant.is_empty() { String::new() } else { format!(", {}", key.variant) };
    let load = if key.phase == Phase::Load { "load by " } else { "" };
    format!("{load}{}{variant}, {}", key.workload, threads(key.readers, key.writers))
}

/// `sources` are the folders of both and the time series in them.
fn diff_cells(
    pairs: &[Counterparts<'_, '_>],
    comparisons: Vec<Comparison>,
    sources: [(&str, &Series); 2],
    terms: &Terms,
) -> Vec<DiffCell> {
    let cell = |((before, after), comparison): (&Counterparts<'_, '_>, Comparison)| {
        let looks = comparison.looks;
        let figures = |cell: &Cell<'_>| match comparison.figure {
            VerdictFigure::Rate => measured(cell).as_rates(),
            VerdictFigure::CpuTime => measured(cell),
        };
        let same_name = before.key.engine == after.key.engine;
        let side = |cell: &Cell<'_>, (folder, series): (&str, &Series)| DiffSide {
            name: if same_name {
                format!("{} ({})", cell.key.engine, last_part(folder))
            } else {
                cell.key.engine.clone()
            },
            engine: cell.first().map(|result| result.engine.clone()),
            started: cell.finished.first().map(|result| result.started),
            figure: figures(cell).middle(),
            half_width: MeasuredCell::half_width(&figures(cell), looks),
            is_unsteady: steadiness(&cell.finished, series, terms.detect)
                .is_some_and(|it| matches!(it.steadiness, Steadiness::NotSteady(_))),
        };
        let trials = || before.finished.iter().chain(&after.finished);
        let reads = trials().any(|result| result.rate(Side::Reads) > 0.0);
        DiffCell {
            work: work(&before.key),
            before: side(before, sources[0]),
            after: side(after, sources[1]),
            verb: match (before.key.phase, reads) {
                (Phase::Load, _) => "load",
                (Phase::Run, true) => "read",
                (Phase::Run, false) => "write",
            },
            unit: match comparison.figure {
                VerdictFigure::Rate => "records/s",
                VerdictFigure::CpuTime => "operations per CPU second",
            },
            comparison,
        }
    };
    pairs.iter().zip(comparisons).map(cell).collect()
}

fn last_part(folder: &str) -> &str {
    folder.trim_end_matches('/').rsplit('/').next().unwrap_or(folder)
}

impl DiffCell {
    /// The verdict on the change.
    fn verdict(&self) -> &'static str {
        match (self.comparison.verdict, self.comparison.unsure) {
            (_, Some(Unsure::Failed)) => "failed",
            (Verdict::Faster, _) => "better",
            (Verdict::Slower, _) => "worse",
            (Verdict::Same, _) => "the same",
            (Verdict::CannotTell, _) => "cannot tell",
        }
    }
}

impl DiffSide {
    /// `lmdb@new: LMDB 0.9.24, /new/liblmdb.so`.
    fn described(&self) -> String {
        let Some(engine) = &self.engine else { return self.name.clone() };
        let library = engine.library.as_ref().map(|path| format!(", {path}")).unwrap_or_default();
        let started = self.started.map(|time| format!(", {}", time.strftime("%Y-%m-%d %H:%M"))).unwrap_or_default();
        let version = if engine.version.is_empty() { String::new() } else { format!(" {}", engine.version) };
        format!("{}: {}{version}{library}{started}", self.name, engine.name)
    }
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
