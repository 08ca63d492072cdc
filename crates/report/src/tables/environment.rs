//! The environment of the trials as it was observed: for experiments that request something of it.

use kvdyno_experiment::Experiment;
use kvdyno_model::EnvironmentSection;
use kvdyno_model::text::bytes;
use kvdyno_results::{ObservedEnvironment, Phase, TrialResult};

use crate::figures::declared::smt;
use crate::grid::{ColumnGroup, Grid, GridCell, GridColumn, GridRow};
use crate::order::distinct;
use crate::study::Study;

/// A column: its head, and its words for the environments of some trials.
struct EnvironmentColumn {
    head: &'static str,
    is_number: bool,
    of: fn(&[&ObservedEnvironment]) -> String,
}

const fn words(head: &'static str, of: fn(&[&ObservedEnvironment]) -> String) -> EnvironmentColumn {
    EnvironmentColumn { head, is_number: false, of }
}

const fn figure(head: &'static str, of: fn(&[&ObservedEnvironment]) -> String) -> EnvironmentColumn {
    EnvironmentColumn { head, is_number: true, of }
}

const COLUMNS: [EnvironmentColumn; 11] = [
    words("CPUs", |all| each(all, |s| s.cpus.clone())),
    words("SMT", |all| each(all, |s| smt(s).unwrap_or_default().to_owned())),
    words("memory from", |all| each(all, |s| s.numa_policy.clone().unwrap_or_default())),
    words("pages by node", |all| all.last().map(|s| shares(s)).unwrap_or_default()),
    words("malloc", |all| each(all, |s| s.allocator.clone())),
    figure("memory limit", |all| each(all, |s| s.memory_limit.map(size).unwrap_or_default())),
    figure("peak", |all| most(all, |s| s.memory_peak).map(size).unwrap_or_default()),
    figure("stalled", |all| stalled(all).unwrap_or_default()),
    figure("cached before", |all| each(all, |s| cached(s).unwrap_or_default())),
    words("storage", |all| each(all, |s| if s.storage == "folder" { String::new() } else { s.storage.clone() })),
    words("filesystem", |all| each(all, |s| s.filesystem.clone())),
];

/// The number of columns that every such table has. The others stand only where they say something.
const ALWAYS: usize = 1;

/// The environments that one engine of one variant had.
struct Environments<'a> {
    variant: &'a str,
    engine: &'a str,
    all: Vec<&'a ObservedEnvironment>,
}

impl<'a> Environments<'a> {
    /// The heads of figures that bring their own names.
    fn titles(&self) -> impl Iterator<Item = &'a str> {
        self.all.iter().flat_map(|one| &one.figures).filter_map(|figure| figure.title.as_deref())
    }

    /// The values of such a figure.
    fn titled(&self, title: &str) -> String {
        each(&self.all, |environment| {
            let figure = environment.figures.iter().find(|figure| figure.title.as_deref() == Some(title));
            figure.map_or(String::new(), |figure| figure.value.to_string())
        })
    }
}

/// A row for each engine of each variant; none if nothing was requested of the environment, and nothing differs.
pub(crate) fn environment(study: &Study<'_>) -> Option<Grid> {
    if !is_requested(study.experiment) && !differs(study.results) {
        return None;
    }
    let observed = observed(study.results);
    let has_variants = observed.iter().any(|one| !one.variant.is_empty());
    let says = |(index, column): &(usize, &EnvironmentColumn)| {
        *index < ALWAYS || observed.iter().any(|one| !(column.of)(&one.all).is_empty())
    };
    let columns: Vec<&EnvironmentColumn> = COLUMNS.iter().enumerate().filter(says).map(|(_, column)| column).collect();
    let titles = distinct(observed.iter().flat_map(|one| one.titles()));
    let row = |one: &Environments<'_>| {
        let names = has_variants.then_some(one.variant).into_iter().chain([one.engine]).map(GridCell::words);
        let cells = names.chain(columns.iter().map(|column| GridCell::words((column.of)(&one.all))));
        let cells = cells.chain(titles.iter().map(|title| GridCell::words(one.titled(title)))).collect();
        GridRow { cells, ..GridRow::default() }
    };
    let names = has_variants.then_some("variant").into_iter().chain(["engine"]).map(GridColumn::words);
    let heads = columns.iter().map(|column| match column.is_number {
        true => GridColumn::numbers(column.head),
        false => GridColumn { group: ColumnGroup::Rates, ..GridColumn::words(column.head) },
    });
    (!observed.is_empty()).then(|| Grid {
        title: "Observed environment".to_owned(),
        columns: names.chain(heads).chain(titles.iter().copied().map(GridColumn::numbers)).collect(),
        rows: observed.iter().map(row).collect(),
        notes: Vec::new(),
    })
}

/// The runs last: they are what the figures are about.
fn observed(results: &[TrialResult]) -> Vec<Environments<'_>> {
    fn key(result: &TrialResult) -> (&str, &str) {
        (&result.trial.variant, &result.trial.engine)
    }
    let of = |(variant, engine)| {
        let known = results.iter().filter(|result| !result.environment.cpus.is_empty());
        let alike = known.filter(|result| key(result) == (variant, engine));
        let (runs, loads): (Vec<_>, Vec<_>) = alike.partition(|result| result.trial.phase == Phase::Run);
        let all = loads.into_iter().chain(runs).map(|result| &result.environment).collect();
        Environments { variant, engine, all }
    };
    distinct(results.iter().map(key)).into_iter().map(of).filter(|one| !one.all.is_empty()).collect()
}

/// Whether `[environment]`, or that of a variant, asks for anything.
fn is_requested(experiment: &Experiment) -> bool {
    let usual = EnvironmentSection::default();
    let asks = |one: &Experiment| one.environment != usual;
    asks(experiment) || experiment.variants().is_ok_and(|variants| variants.iter().any(|one| asks(&one.experiment)))
}

/// Whether trials had another environment than others.
fn differs(results: &[TrialResult]) -> bool {
    let words = |result: &TrialResult| {
        let environment = &result.environment;
        let numa = environment.numa_policy.clone();
        (
            environment.cpus.clone(),
            numa,
            environment.allocator.clone(),
            environment.memory_limit,
            environment.filesystem.clone(),
        )
    };
    distinct(results.iter().filter(|result| !result.environment.cpus.is_empty()).map(words)).len() > 1
}

/// The words of the trials, each once.
fn each(all: &[&ObservedEnvironment], word: impl Fn(&ObservedEnvironment) -> String) -> String {
    distinct(all.iter().map(|environment| word(environment)).filter(|word| !word.is_empty())).join(" / ")
}

fn most(all: &[&ObservedEnvironment], figure: fn(&ObservedEnvironment) -> Option<u64>) -> Option<u64> {
    all.iter().filter_map(|environment| figure(environment)).max()
}

/// The longest part of the time in which a trial's threads waited for memory.
fn stalled(all: &[&ObservedEnvironment]) -> Option<String> {
    let most = all.iter().filter_map(|environment| environment.memory_pressure).max_by(f64::total_cmp)?;
    Some(format!("{:.1} %", 100.0 * most))
}

fn cached(environment: &ObservedEnvironment) -> Option<String> {
    let pages = environment.cached.filter(|pages| pages.total > 0)?;
    Some(format!("{:.0} %", 100.0 * pages.cached as f64 / pages.total as f64))
}

/// `0: 52 %, 1: 48 %`; nothing where there is one node.
fn shares(environment: &ObservedEnvironment) -> String {
    let all: u64 = environment.numa_pages.iter().map(|pages| pages.kib).sum();
    if environment.numa_pages.len() < 2 || all == 0 {
        return String::new();
    }
    let share = |kib: u64| 100.0 * kib as f64 / all as f64;
    let texts = environment.numa_pages.iter().map(|pages| format!("{}: {:.0} %", pages.node, share(pages.kib)));
    texts.collect::<Vec<_>>().join(", ")
}

fn size(count: u64) -> String {
    bytes(count as f64)
}
