//! Two setups, one before a change and one after it: of one results folder, where they were measured beside each other,
//! or of two.

mod comparable;
mod json;
mod markdown;
mod text;

use std::collections::BTreeSet;

use jiff::Timestamp;
use kvdyno_analysis::verdicts::{
    Aspect, Comparison, Counterparts, Looks, MeasuredCell, PairedRatios, Terms, UnpairedFigures, Unsure, Verdict,
    VerdictFigure, compare_family, compare_unpaired, counterparts, counterparts_of_folders, have_cpu_time, judged,
    measured, paired,
};
use kvdyno_analysis::{Cell, CellKey, PutOff, Series, Weakness, cells_of_results, is_driver, steadiness};
use kvdyno_results::folder::{ReadError, ResultsFolder};
use kvdyno_results::{EngineFacts, Machine, Phase, SavedPlan, Setting, Side, TrialResult};

use crate::document::{command, command_word};
use crate::format::Format;
use crate::order::distinct;
use crate::remarks::weaknesses;
use crate::tables::{main_settings, processor};
use crate::verdicts::{Longer, longer_budget};
use crate::words::threads;
use comparable::Surroundings;

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

/// A cell of one setup and its counterpart of the other, by one figure.
#[derive(Clone, Debug)]
struct DiffCell {
    /// Workload and clients.
    work: String,
    /// The aspect of the work that is compared.
    compared: Aspect,
    /// Its name; it has the side if the work has both: `throughput of reads`.
    figure: String,
    /// The sentence of the same cell by another aspect whose verdict is the opposite.
    against: Option<String>,
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
    /// Whatever speaks against its figure.
    weaknesses: Vec<Weakness>,
    put_off: Option<PutOff>,
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
        let (series, machine) = (series_of(folder, &results)?, folder.machine()?);
        let source = DiffSource { folder: "", series: &series, machine: machine.as_ref() };
        let cells = diff_cells(&pairs, figure, compare, [&source, &source], &terms);
        let notes = if pairs.iter().any(are_on_the_same_copies) { vec![SAME_COPIES.to_owned()] } else { Vec::new() };
        let (file, flags) = (command_word(&folder.experiment_file()), ["--out", "NEW"]);
        let has_ended = |plan: &SavedPlan| terms.looks.are_many() && plan.enough.is_some();
        let resume = format!("kvdyno diff --resume {}", command_word(folder.root()));
        let longer =
            folder.plan()?.filter(has_ended).map(|plan| Longer { spent_s: plan.spent.seconds, command: resume });
        Ok(Diff {
            cells,
            figure,
            is_paired: true,
            terms,
            notes,
            setting: setting(&results, machine.as_ref()),
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
        let cells = [cells_of_results(&results[0]), cells_of_results(&results[1])];
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
        let machines = [before.machine()?, after.machine()?];
        let surroundings = Surroundings::of(machines[0].clone(), machines[1].clone(), &pairs);
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
        let source = |side: usize| DiffSource {
            folder: &folders[side],
            series: &series[side],
            machine: machines[side].as_ref(),
        };
        Ok(Diff {
            cells: diff_cells(&pairs, figure, compare, [&source(0), &source(1)], &terms),
            figure,
            is_paired: false,
            terms,
            notes,
            setting: setting(&results[1], machines[1].as_ref()),
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

/// `readrandom, 1 reader`; `load by fillseq, 1 writer`.
fn work(key: &CellKey) -> String {
    let variant = if key.variant.is_empty() { String::new() } else { format!(", {}", key.variant) };
    let load = if key.phase == Phase::Load { "load by " } else { "" };
    format!("{load}{}{variant}, {}", key.workload, threads(key.readers, key.writers))
}

/// The main settings of results, and the processor that they are of.
fn setting(results: &[TrialResult], machine: Option<&Machine>) -> Vec<String> {
    main_settings(results).into_iter().chain(machine.map(processor)).collect()
}

/// A cell and its counterpart, and the aspect by which they are compared.
type ComparedPair<'c, 'r> = (Counterparts<'c, 'r>, Aspect);

/// Where the cells of a side come from.
struct DiffSource<'a> {
    /// Its path; empty where both are of one folder.
    folder: &'a str,
    series: &'a Series,
    machine: Option<&'a Machine>,
}

/// The cells of a diff: by `figure`, and by the other one as far as it is known. The comparisons by one figure are a
/// family.
fn diff_cells(
    pairs: &[Counterparts<'_, '_>],
    figure: VerdictFigure,
    compare: impl Fn(&[ComparedPair<'_, '_>]) -> Vec<Comparison>,
    sources: [&DiffSource<'_>; 2],
    terms: &Terms,
) -> Vec<DiffCell> {
    let by_throughput = |pair: &Counterparts<'_, '_>| judged(&[pair.0, pair.1]);
    let by_cpu_time = |pair: &Counterparts<'_, '_>| {
        let is_wanted = figure == VerdictFigure::CpuTime || have_cpu_time(&[pair.0, pair.1]);
        is_wanted.then_some(Aspect::CpuTime).into_iter().collect()
    };
    let family = |aspects: &dyn Fn(&Counterparts<'_, '_>) -> Vec<Aspect>| {
        let mut family: Vec<ComparedPair<'_, '_>> = Vec::new();
        pairs.iter().for_each(|pair| family.extend(aspects(pair).into_iter().map(|one| (*pair, one))));
        let comparisons = compare(&family);
        family.into_iter().zip(comparisons).collect::<Vec<_>>()
    };
    let (throughput, cpu_time) = (family(&by_throughput), family(&by_cpu_time));
    let all = match figure {
        VerdictFigure::Throughput => [throughput, cpu_time].concat(),
        VerdictFigure::CpuTime => [cpu_time, throughput].concat(),
    };
    let mut cells: Vec<(usize, DiffCell)> = Vec::new();
    for ((pair, compared), comparison) in all {
        let index = pairs.iter().position(|(before, _)| std::ptr::eq(*before, pair.0)).unwrap_or_default();
        cells.push((index, diff_cell(pair, compared, comparison, sources, terms)));
    }
    let against = |(index, cell): &(usize, DiffCell)| {
        let mut others = cells.iter().filter(|(other, one)| other == index && one.compared != cell.compared);
        let other = others.find(|(_, other)| other.comparison.contradicts(&cell.comparison));
        other.map(|(_, other)| text::against(cell, other))
    };
    let figure = |(index, cell): &(usize, DiffCell)| {
        let of_other_side = |compared: Aspect| compared != cell.compared && compared.figure() == cell.compared.figure();
        let has_sides = cells.iter().any(|(other, one)| other == index && of_other_side(one.compared));
        match cell.compared {
            Aspect::Throughput(side) if has_sides => format!("{} of {side}", cell.compared.figure().name()),
            compared => compared.figure().name().to_owned(),
        }
    };
    let named: Vec<_> = cells.iter().map(|cell| (against(cell), figure(cell))).collect();
    let named = cells.into_iter().zip(named);
    named.map(|((_, cell), (against, figure))| DiffCell { against, figure, ..cell }).collect()
}

fn diff_cell(
    (before, after): Counterparts<'_, '_>,
    compared: Aspect,
    comparison: Comparison,
    sources: [&DiffSource<'_>; 2],
    terms: &Terms,
) -> DiffCell {
    let same_name = before.key.engine == after.key.engine;
    let side = |cell: &Cell<'_>, source: &DiffSource<'_>| {
        let (figures, steadiness) = (measured(cell, compared), steadiness(&cell.finished, source.series, terms.detect));
        DiffSide {
            name: match same_name {
                true => format!("{} ({})", cell.key.engine, last_part(source.folder)),
                false => cell.key.engine.clone(),
            },
            engine: cell.first().map(|result| result.engine.clone()),
            started: cell.finished.first().map(|result| result.started),
            figure: figures.middle(),
            half_width: MeasuredCell::half_width(&figures, comparison.looks),
            weaknesses: weaknesses(cell, steadiness.as_ref(), source.machine),
            put_off: PutOff::of(cell),
        }
    };
    DiffCell {
        work: work(&before.key),
        compared,
        figure: String::new(),
        against: None,
        before: side(before, sources[0]),
        after: side(after, sources[1]),
        verb: match (before.key.phase, compared) {
            (Phase::Load, _) => "load",
            (Phase::Run, Aspect::Throughput(Side::Writes)) => "write",
            (Phase::Run, _) => "read",
        },
        unit: match compared.figure() {
            VerdictFigure::Throughput => "records/s",
            VerdictFigure::CpuTime => "operations per CPU second",
        },
        comparison,
    }
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

impl DiffCell {
    /// The settings of their engines that differ: `block_size: 4096 before, 16384 after`.
    fn changed_settings(&self) -> Vec<String> {
        let (Some(before), Some(after)) = (&self.before.engine, &self.after.engine) else { return Vec::new() };
        let name = |setting: &Setting| (setting.topic.clone(), setting.name.clone());
        // An engine may say a setting of one name several times.
        let values = |engine: &EngineFacts, wanted: &(String, String)| {
            let of_name = engine.settings.iter().filter(|setting| name(setting) == *wanted);
            of_name.map(|setting| setting.value.clone()).collect::<Vec<_>>().join(", ")
        };
        let change = |wanted: &(String, String)| {
            let [was, is] = [before, after].map(|engine| values(engine, wanted));
            let known = |values: String| if values.is_empty() { "absent".to_owned() } else { values };
            (was != is).then(|| format!("{}: {} before, {} after", wanted.1, known(was), known(is)))
        };
        distinct(before.settings.iter().chain(&after.settings).map(name)).iter().filter_map(change).collect()
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
