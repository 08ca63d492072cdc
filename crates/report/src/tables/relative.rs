//! Variants that ask for the same work, one over the other.

use kvdyno_analysis::verdicts::{Aspect, Comparison, PairedRatios, Terms, Verdict, compare_family, paired};
use kvdyno_model::text::plus_minus;
use kvdyno_results::{Phase, Side, TrialResult, WorkloadFacts};
use schemars::JsonSchema;
use serde::Serialize;

use crate::grid::{Content, Emphasis, Grid, GridCell, GridColumn, GridRow, TableNote, UNSTEADY};
use crate::order::distinct;
use crate::study::{Study, StudyCell};
use crate::verdicts::terms;

/// The rate of one cell over that of its counterpart.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Relative {
    /// The variant whose rate stands above the line.
    pub(crate) variant: String,
    /// The variant whose rate stands below it: the experiment's first.
    pub(crate) over: String,
    /// The engine as the experiment names it.
    pub(crate) engine: String,
    /// The engine as reports name it.
    pub(crate) label: String,
    /// The workload.
    pub(crate) workload: String,
    /// Threads that it was about, above the line.
    pub(crate) threads: u32,
    /// Threads that it was about, below the line.
    pub(crate) threads_over: u32,
    /// The comparison of the one rate over the other. The verdicts of a variant hold together.
    #[serde(flatten)]
    pub(crate) comparison: Comparison,
    /// Half of the ratio's interval over the ratio; absent if there is none.
    pub(crate) relative: Option<f64>,
    /// Whether one of the two was not steady.
    pub(crate) not_steady: bool,
}

/// The rates of each variant but the first over those of the first, wherever both did the same work. Rates with the
/// same number of threads are compared. If the numbers of a step differ between the variants, but are equally many,
/// they are paired in ascending order.
pub(crate) fn relatives(study: &Study<'_>) -> Vec<Relative> {
    let cells: Vec<VariantCell<'_, '_>> = [Phase::Load, Phase::Run]
        .into_iter()
        .flat_map(|phase| study.cells(phase))
        .filter_map(VariantCell::of)
        .collect();
    let variants = distinct(cells.iter().map(|cell| cell.cell.key.variant.as_str()));
    let Some((first, others)) = variants.split_first() else { return Vec::new() };
    let steps = distinct(cells.iter().map(VariantCell::step));
    let of = |variant: &str, step: &StepKey<'_>| {
        let mut of_step: Vec<&VariantCell<'_, '_>> =
            cells.iter().filter(|cell| cell.cell.key.variant == variant && cell.step() == *step).collect();
        of_step.sort_by_key(|cell| cell.threads());
        of_step
    };
    let terms = terms(study);
    let of_variant = |variant: &&str| {
        let counterparts = steps.iter().flat_map(|step| pairs(of(first, step), of(variant, step)));
        let are_of_one_machine = |(below, above): &(&VariantCell<'_, '_>, &VariantCell<'_, '_>)| {
            let number = |cell: &VariantCell<'_, '_>| cell.cell.first().map(|first| first.trial.number);
            number(below).zip(number(above)).is_some_and(|(one, other)| study.machines.are_one(one, other))
        };
        let comparable = counterparts.filter(|(below, above)| above.did_as(below)).filter(are_of_one_machine);
        family(comparable.collect(), &terms)
    };
    others.iter().flat_map(of_variant).collect()
}

/// The rates of one variant over those of the first.
fn family(pairs: Vec<(&VariantCell<'_, '_>, &VariantCell<'_, '_>)>, terms: &Terms) -> Vec<Relative> {
    let compared = |below: &VariantCell<'_, '_>| match below.cell.reads_per_s {
        Some(_) => Aspect::Throughput(Side::Reads),
        None => Aspect::Throughput(Side::Writes),
    };
    let ratio =
        |(below, above): &(&VariantCell<'_, '_>, &VariantCell<'_, '_>)| paired(above.cell, below.cell, compared(below));
    let ratios: Vec<PairedRatios> = pairs.iter().map(ratio).collect();
    let comparisons = compare_family(&ratios, terms);
    pairs.iter().zip(comparisons).map(|((below, above), comparison)| above.over(below, comparison)).collect()
}

/// Tables of [`relatives`], one for each variant but the first.
pub(crate) fn relative_grids(study: &Study<'_>) -> Vec<Grid> {
    let all = relatives(study);
    distinct(all.iter().map(|one| one.variant.as_str())).into_iter().map(|variant| grid(variant, &all)).collect()
}

fn grid(variant: &str, all: &[Relative]) -> Grid {
    let of: Vec<&Relative> = all.iter().filter(|one| one.variant == variant).collect();
    let over = of.first().map_or("", |one| one.over.as_str());
    let mut threads = distinct(of.iter().map(|one| (one.threads_over, one.threads)));
    threads.sort_unstable();
    let mut rows = distinct(of.iter().map(|one| (one.label.as_str(), one.workload.as_str())));
    // Engines together, each with its steps in their order.
    let engines = distinct(rows.iter().map(|(engine, _)| *engine));
    rows.sort_by_key(|(engine, _)| engines.iter().position(|name| name == engine));
    let figure = |engine: &str, workload: &str, count: (u32, u32)| {
        let here = |one: &&&Relative| {
            (one.label.as_str(), one.workload.as_str(), (one.threads_over, one.threads)) == (engine, workload, count)
        };
        of.iter().find(here).map_or_else(GridCell::default, |one| one.field())
    };
    let row = |(engine, workload): (&str, &str)| {
        let figures = threads.iter().map(|count| figure(engine, workload, *count));
        let cells = [engine, workload].map(GridCell::words).into_iter().chain(figures).collect();
        GridRow { cells, ..GridRow::default() }
    };
    let heads = threads.iter().map(|count| GridColumn::numbers(head(*count)));
    let unsteady = of.iter().any(|one| one.not_steady);
    let unsteady = unsteady.then(|| TableNote::Words(format!("{UNSTEADY} one of the two was not steady.")));
    let mut grid = Grid {
        title: format!("{variant} over {over}: rates"),
        columns: ["engine", "step"].map(GridColumn::words).into_iter().chain(heads).collect(),
        rows: rows.iter().copied().map(row).collect(),
        notes: std::iter::once(TableNote::Words(note(variant, over, &threads))).chain(unsteady).collect(),
    };
    grid.group_rows();
    grid
}

fn head((over, threads): (u32, u32)) -> String {
    if over == threads { format!("t{threads}") } else { format!("t{over}→{threads}") }
}

fn note(variant: &str, over: &str, threads: &[(u32, u32)]) -> String {
    let other = threads.iter().find(|(over, threads)| over != threads);
    let pairs = other.map_or(String::new(), |(below, above)| {
        format!("\nt{below}→{above}: {below} in {over}, {above} in {variant}.")
    });
    format!(
        "Above 1: {variant} did more in the same time; ≈ the same; ? cannot tell. Columns are numbers of \
         threads.{pairs}"
    )
}

impl Relative {
    fn field(&self) -> GridCell {
        let mark = if self.not_steady { UNSTEADY } else { "" };
        let interval = self.relative.map_or(String::new(), |relative| format!(" {}", plus_minus(relative)));
        let ratio = self.comparison.ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}{mark}{interval}"));
        let emphasis = match self.comparison.verdict {
            Verdict::Faster | Verdict::Slower => Emphasis::Plain,
            Verdict::Same => Emphasis::Near,
            Verdict::CannotTell => Emphasis::Untold,
        };
        GridCell { content: Content::Words(ratio), emphasis }
    }
}

/// A cell of a variant that has figures, and its first trial.
struct VariantCell<'c, 'r> {
    cell: &'c StudyCell<'r>,
    result: &'r TrialResult,
}

/// The engine's label, the phase and the workload.
type StepKey<'a> = (&'a str, Phase, &'a str);

impl<'c, 'r> VariantCell<'c, 'r> {
    fn of(cell: &'c StudyCell<'r>) -> Option<Self> {
        let result = *cell.finished.first()?;
        (!cell.key.variant.is_empty()).then_some(VariantCell { cell, result })
    }

    fn step(&self) -> StepKey<'_> {
        (&self.cell.label.engine, self.cell.key.phase, &self.cell.key.workload)
    }

    fn threads(&self) -> u32 {
        let key = &self.cell.key;
        if key.readers > 0 { key.readers } else { key.writers }
    }

    /// Whether the two did the same work.
    fn did_as(&self, other: &Self) -> bool {
        let work = |cell: &Self| WorkloadFacts { seed: 0, ..cell.result.workload.clone() };
        work(self) == work(other) && self.result.engine.version == other.result.engine.version
    }

    fn over(&self, below: &Self, comparison: Comparison) -> Relative {
        Relative {
            variant: self.cell.key.variant.clone(),
            over: below.cell.key.variant.clone(),
            engine: self.cell.key.engine.clone(),
            label: self.cell.label.engine.clone(),
            workload: self.cell.key.workload.clone(),
            threads: self.threads(),
            threads_over: below.threads(),
            not_steady: self.cell.is_unsteady() || below.cell.is_unsteady(),
            relative: comparison.interval().map(|(low, high)| (high / low).sqrt() - 1.0),
            comparison,
        }
    }
}

/// Counterparts of one step in two variants.
fn pairs<'t, 'c, 'r>(
    below: Vec<&'t VariantCell<'c, 'r>>,
    above: Vec<&'t VariantCell<'c, 'r>>,
) -> Vec<(&'t VariantCell<'c, 'r>, &'t VariantCell<'c, 'r>)> {
    let counts = |cells: &[&VariantCell<'_, '_>]| cells.iter().map(|cell| cell.threads()).collect::<Vec<_>>();
    let shared = counts(&below).iter().any(|count| counts(&above).contains(count));
    let doubled =
        below.len() == above.len() && below.iter().zip(&above).all(|(one, other)| other.threads() == 2 * one.threads());
    match shared && !doubled {
        true => {
            let counterpart =
                |one: &&'t VariantCell<'c, 'r>| above.iter().find(|other| other.threads() == one.threads()).copied();
            below.iter().filter_map(|one| Some((*one, counterpart(one)?))).collect()
        }
        false if below.len() == above.len() => below.into_iter().zip(above).collect(),
        false => Vec::new(),
    }
}
