//! What surrounded the trials, as it was found: for experiments that ask something of the stage.

use kvdyno_record::{Phase, Record, StageFacts};

use super::{Column, Grid, Row, Text};
use crate::numbers::bytes;
use crate::study::{Study, distinct};

/// A column: what it says of some trials' stages, and where it takes it from.
struct Part {
    head: &'static str,
    number: bool,
    of: fn(&[&StageFacts]) -> String,
}

const fn words(head: &'static str, of: fn(&[&StageFacts]) -> String) -> Part {
    Part { head, number: false, of }
}

const fn figure(head: &'static str, of: fn(&[&StageFacts]) -> String) -> Part {
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

/// A row for each engine of each variant; none if nothing was asked of the stage, and nothing differs.
pub(crate) fn stage(study: &Study<'_>) -> Option<Grid> {
    if !is_asked(study.experiment) && !differs(study.records) {
        return None;
    }
    let key = |record: &Record| (record.trial.variant.clone(), record.trial.engine.clone());
    let keys = distinct(study.records.iter().map(key));
    let stages_of = |wanted: &(String, String)| {
        let alike = study.records.iter().filter(|record| key(record) == *wanted && !record.stage.cpus.is_empty());
        // The runs last: they are what the figures are about.
        let (runs, loads): (Vec<_>, Vec<_>) = alike.partition(|record| record.trial.phase == Phase::Run);
        loads.into_iter().chain(runs).map(|record| &record.stage).collect::<Vec<_>>()
    };
    let found: Vec<_> = keys.into_iter().map(|key| (stages_of(&key), key)).filter(|(all, _)| !all.is_empty()).collect();
    let has_variants = found.iter().any(|(_, (variant, _))| !variant.is_empty());
    let says = |(place, part): &(usize, &Part)| {
        *place < ALWAYS || found.iter().any(|(stages, _)| !(part.of)(stages).is_empty())
    };
    let parts: Vec<&Part> = PARTS.iter().enumerate().filter(says).map(|(_, part)| part).collect();
    let row = |(stages, (variant, engine)): &(Vec<&StageFacts>, (String, String))| {
        let names = has_variants.then(|| variant.clone()).into_iter().chain([engine.clone()]);
        let texts = names.chain(parts.iter().map(|part| (part.of)(stages)));
        Row { cells: texts.map(Text::from).collect(), ..Row::default() }
    };
    let names = has_variants.then_some("variant").into_iter().chain(["engine"]);
    let heads = parts.iter().map(|part| Column { head: part.head.to_owned(), number: part.number });
    (!found.is_empty()).then(|| Grid {
        title: "Stage, as it was found".to_owned(),
        columns: names.map(Column::words).chain(heads).collect(),
        rows: found.iter().map(row).collect(),
        note: String::new(),
    })
}

/// Whether `[stage]`, or that of a variant, says anything.
fn is_asked(experiment: &str) -> bool {
    let table: toml::Table = experiment.parse().unwrap_or_default();
    let says =
        |table: &toml::Table| table.get("stage").and_then(toml::Value::as_table).is_some_and(|stage| !stage.is_empty());
    let variants = table.get("variant").and_then(toml::Value::as_array);
    says(&table) || variants.into_iter().flatten().filter_map(toml::Value::as_table).any(says)
}

/// Whether trials were surrounded by something else than others.
fn differs(records: &[Record]) -> bool {
    let words = |record: &Record| {
        let stage = &record.stage;
        let numa = stage.numa_policy.clone();
        (stage.cpus.clone(), numa, stage.allocator.clone(), stage.memory_limit, stage.filesystem.clone())
    };
    distinct(records.iter().filter(|record| !record.stage.cpus.is_empty()).map(words)).len() > 1
}

/// What trials say, each once.
fn each(all: &[&StageFacts], word: fn(&StageFacts) -> String) -> String {
    distinct(all.iter().map(|stage| word(stage)).filter(|word| !word.is_empty())).join(" / ")
}

fn most(all: &[&StageFacts], figure: fn(&StageFacts) -> Option<u64>) -> Option<u64> {
    all.iter().filter_map(|stage| figure(stage)).max()
}

/// The longest part of the time in which a trial's threads waited for memory.
fn stalled(all: &[&StageFacts]) -> Option<String> {
    let most = all.iter().filter_map(|stage| stage.memory_pressure).max_by(f64::total_cmp)?;
    Some(format!("{:.1} %", 100.0 * most))
}

fn cached(stage: &StageFacts) -> Option<String> {
    let pages = stage.cached.filter(|pages| pages.total > 0)?;
    Some(format!("{:.0} %", 100.0 * pages.cached as f64 / pages.total as f64))
}

pub(crate) fn smt(stage: &StageFacts) -> Option<&'static str> {
    stage.smt.map(|on| if on { "on" } else { "off" })
}

/// `0: 52 %, 1: 48 %`; nothing where there is one node.
fn shares(stage: &StageFacts) -> String {
    let all: u64 = stage.numa_pages.iter().map(|pages| pages.kb).sum();
    if stage.numa_pages.len() < 2 || all == 0 {
        return String::new();
    }
    let share = |kb: u64| 100.0 * kb as f64 / all as f64;
    let texts = stage.numa_pages.iter().map(|pages| format!("{}: {:.0} %", pages.node, share(pages.kb)));
    texts.collect::<Vec<_>>().join(", ")
}

fn size(count: u64) -> String {
    bytes(count as f64)
}
