//! Variants that ask for the same work, one over the other.

use kvdyno_analysis::Estimate;
use kvdyno_results::{Phase, TrialResult, WorkloadFacts};
use serde::Serialize;

use crate::grid::{Grid, GridCell, GridColumn, GridRow, TableNote};
use crate::numbers::plus_minus;
use crate::order::distinct;
use crate::study::{Study, StudyCell};

/// The rate of one cell over that of its counterpart.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Relative {
    /// Whose rate stands above the line.
    pub(crate) variant: String,
    /// Whose rate stands below it: the experiment's first variant.
    pub(crate) over: String,
    /// As the experiment names it.
    pub(crate) engine: String,
    /// As reports name it.
    pub(crate) label: String,
    /// The workload.
    pub(crate) workload: String,
    /// Threads that it was about, above the line.
    pub(crate) threads: u32,
    /// The same below it.
    pub(crate) threads_over: u32,
    /// The one rate over the other.
    pub(crate) ratio: f64,
    /// Half of its 95 % interval over its value, from the intervals of both (the relative errors of independent figures
    /// add as squares); absent if one has none.
    pub(crate) relative: Option<f64>,
}

/// For each variant but the first its rates over those of the first, wherever both did the same work. Numbers of
/// threads are held against the same; where a step has others in one variant, as many of them, the first against the
/// first.
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
    let pairs =
        others.iter().flat_map(|variant| steps.iter().flat_map(|step| pairs(of(first, step), of(variant, step))));
    pairs.filter_map(|(below, above)| VariantCell::over(above, below)).collect()
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
        GridCell::words(of.iter().find(here).map_or(String::new(), |one| one.text()))
    };
    let row = |(engine, workload): (&str, &str)| {
        let figures = threads.iter().map(|count| figure(engine, workload, *count));
        let cells = [engine, workload].map(GridCell::words).into_iter().chain(figures).collect();
        GridRow { cells, ..GridRow::default() }
    };
    let heads = threads.iter().map(|count| GridColumn::numbers(head(*count)));
    let mut grid = Grid {
        title: format!("{variant} over {over}: rates"),
        columns: ["engine", "step"].map(GridColumn::words).into_iter().chain(heads).collect(),
        rows: rows.iter().copied().map(row).collect(),
        notes: vec![TableNote::Words(note(variant, over, &threads))],
    };
    grid.group_rows();
    grid
}

fn head((over, threads): (u32, u32)) -> String {
    if over == threads { format!("t{threads}") } else { format!("t{over}→{threads}") }
}

fn note(variant: &str, over: &str, threads: &[(u32, u32)]) -> String {
    let other = threads.iter().find(|(over, threads)| over != threads);
    let pairs = other
        .map_or(String::new(), |(below, above)| format!(" t{below}→{above}: {below} in {over}, {above} in {variant}."));
    format!("Above 1: {variant} did more in the same time. Columns are numbers of threads.{pairs}")
}

impl Relative {
    fn text(&self) -> String {
        let interval = self.relative.map_or(String::new(), |relative| format!(" {}", plus_minus(relative)));
        format!("{:.2}{interval}", self.ratio)
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

    /// The rate of what it is about.
    fn rate(&self) -> Option<&Estimate> {
        self.cell.reads_per_s.as_ref().or(self.cell.writes_per_s.as_ref())
    }

    /// `None` if the two did not do the same work.
    fn over(above: &Self, below: &Self) -> Option<Relative> {
        let work = |cell: &Self| WorkloadFacts { seed: 0, ..cell.result.workload.clone() };
        let same = work(above) == work(below) && above.result.engine.version == below.result.engine.version;
        let (rate, over) = (above.rate()?, below.rate()?);
        let relative = rate.relative().zip(over.relative()).map(|(one, other)| one.hypot(other));
        (same && over.value > 0.0).then(|| Relative {
            variant: above.cell.key.variant.clone(),
            over: below.cell.key.variant.clone(),
            engine: above.cell.key.engine.clone(),
            label: above.cell.label.engine.clone(),
            workload: above.cell.key.workload.clone(),
            threads: above.threads(),
            threads_over: below.threads(),
            ratio: rate.value / over.value,
            relative,
        })
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
