//! What surrounded the trials, as it was found: for experiments that ask something of the environment.

use kvdyno_results::{ObservedEnvironment, Phase, TrialResult};

use super::{Column, Grid, Row, Text};
use crate::numbers::bytes;
use crate::study::{Study, distinct};

/// A column: what it says of some trials' stages, and where it takes it from.
struct Part {
    head: &'static str,
    number: bool,
    of: fn(&[&ObservedEnvironment]) -> String,
}

const fn words(head: &'static str, of: fn(&[&ObservedEnvironment]) -> String) -> Part {
    Part { head, number: false, of }
}

const fn figure(head: &'static str, of: fn(&[&ObservedEnvironment]) -> String) -> Part {
    Part { head, number: true, of }
}

const PARTS: [Part; 11] = [
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

/// How many of them are told of every experiment that has the table; the others only where they say something.
const ALWAYS: usize = 1;

/// A row for each engine of each variant; none if nothing was asked of the environment, and nothing differs.
pub(crate) fn environment(study: &Study<'_>) -> Option<Grid> {
    if !is_asked(study.experiment) && !differs(study.results) {
        return None;
    }
    let key = |result: &TrialResult| (result.trial.variant.clone(), result.trial.engine.clone());
    let keys = distinct(study.results.iter().map(key));
    let stages_of = |wanted: &(String, String)| {
        let alike = study.results.iter().filter(|result| key(result) == *wanted && !result.environment.cpus.is_empty());
        // The runs last: they are what the figures are about.
        let (runs, loads): (Vec<_>, Vec<_>) = alike.partition(|result| result.trial.phase == Phase::Run);
        loads.into_iter().chain(runs).map(|result| &result.environment).collect::<Vec<_>>()
    };
    let found: Vec<_> = keys.into_iter().map(|key| (stages_of(&key), key)).filter(|(all, _)| !all.is_empty()).collect();
    let has_variants = found.iter().any(|(_, (variant, _))| !variant.is_empty());
    let says = |(place, part): &(usize, &Part)| {
        *place < ALWAYS || found.iter().any(|(stages, _)| !(part.of)(stages).is_empty())
    };
    let parts: Vec<&Part> = PARTS.iter().enumerate().filter(says).map(|(_, part)| part).collect();
    let row = |(stages, (variant, engine)): &(Vec<&ObservedEnvironment>, (String, String))| {
        let names = has_variants.then(|| variant.clone()).into_iter().chain([engine.clone()]);
        let texts = names.chain(parts.iter().map(|part| (part.of)(stages)));
        Row { cells: texts.map(Text::from).collect(), ..Row::default() }
    };
    let names = has_variants.then_some("variant").into_iter().chain(["engine"]);
    let heads = parts.iter().map(|part| Column { head: part.head.to_owned(), number: part.number });
    (!found.is_empty()).then(|| Grid {
        title: "Environment, as it was found".to_owned(),
        columns: names.map(Column::words).chain(heads).collect(),
        rows: found.iter().map(row).collect(),
        note: String::new(),
    })
}

/// Values of `[environment]` that ask for nothing: the file has every key that has a default.
const AS_IT_IS: [&str; 2] = ["warm", "folder"];

/// Whether `[environment]`, or that of a variant, asks for anything.
fn is_asked(experiment: &str) -> bool {
    let table: toml::Table = experiment.parse().unwrap_or_default();
    let asks = |value: &toml::Value| value.as_str().is_none_or(|word| !AS_IT_IS.contains(&word));
    let says = |table: &toml::Table| {
        let environment = table.get("environment").and_then(toml::Value::as_table);
        environment.is_some_and(|environment| environment.values().any(asks))
    };
    let variants = table.get("variant").and_then(toml::Value::as_array);
    says(&table) || variants.into_iter().flatten().filter_map(toml::Value::as_table).any(says)
}

/// Whether trials were surrounded by something else than others.
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

/// What trials say, each once.
fn each(all: &[&ObservedEnvironment], word: fn(&ObservedEnvironment) -> String) -> String {
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

pub(crate) fn smt(environment: &ObservedEnvironment) -> Option<&'static str> {
    environment.smt.map(|on| if on { "on" } else { "off" })
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
