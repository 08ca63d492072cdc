//! Makes an experiment of another machine fit this one.
//!
//! What the original was about are ratios: database to memory, cache to database, readers to cores. So records, cache,
//! write buffer and memory limit shrink by one factor, threads by another, and a budget of time is divided over the
//! trials. Where the least that makes sense is too much for the budget, parts are left out ([`crate::thin`]). Nothing ever
//! grows. What was changed is told.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::cycles::{cycles_seconds, is_cycles, stored_bytes};
use crate::experiment::{Experiment, FileError, Order};
use crate::plan::Plan;
use crate::thin::{LeaveOut, thin};
use crate::units::{Bytes, Span};
use crate::variants::overlay;
use kvdyno_workload::Kind;

/// `[fit]`: the machine that the experiment was made for.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct FitSection {
    /// Its memory; absent: the memory does not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Its cores, where the experiment is about threads for each core; absent: numbers of threads stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// What may be left out where a budget has no room for all of it, in this order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leave_out: Vec<LeaveOut>,
}

/// The machine that it is to fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Room {
    /// Bytes of memory.
    pub memory: u64,
    /// Hardware threads.
    pub cores: u32,
    /// How many of them a core has.
    pub threads_per_core: u32,
    /// Bytes free where databases go.
    pub disk: u64,
    /// The time that everything may take.
    pub budget: Option<Duration>,
    /// Engines of the experiment that are not here: they take no time.
    pub missing: BTreeSet<String>,
}

/// Of the free space, what databases may take by their keys and values; engines need more than those.
const DISK_PART: f64 = 0.3;
/// Of the budget, what loading may take; the rest is for runs, their warm-ups, and opening and closing.
const LOAD_PART: f64 = 0.35;
const RUN_PART: f64 = 0.45;
/// Of a run's time, its warm-up.
const WARMUP_PART: f64 = 0.1;
/// What engines load on a small machine, on average: for estimates of time, never for figures.
const LOAD_BYTES_PER_S: f64 = 40e6;
const LOAD_RECORDS_PER_S: f64 = 150e3;
/// The same one by one.
const PUTS_PER_S: f64 = 40e3;

/// Below these an experiment would be about something else.
const LEAST_RECORDS: u64 = 10_000;
const LEAST_CACHE: Least = Least { bytes: 8 << 20, unit: 1 << 20 };
/// 3n+1 is about caches that are small beside a small database.
const LEAST_CACHE_OF_CYCLES: Least = Least { bytes: 256 << 10, unit: 64 << 10 };
const LEAST_WRITE_BUFFER: Least = Least { bytes: 4 << 20, unit: 1 << 20 };
/// Of a memory limit, what is for the programs themselves.
const LEAST_FOR_PROGRAMS: Least = Least { bytes: 64 << 20, unit: 1 << 20 };
pub(crate) const LEAST_RUN: Duration = Duration::from_millis(500);
const LEAST_OPERATIONS: u64 = 1000;

/// A size that shrinks: how far, and in which steps.
#[derive(Clone, Copy)]
struct Least {
    bytes: u64,
    unit: u64,
}

impl Experiment {
    /// The experiment at a size that this machine and the budget have room for, and what was changed, a line each. Places
    /// in it are of no file.
    ///
    /// # Errors
    /// If its variants do not hold together.
    pub fn fitted(&self, room: &Room) -> Result<(Experiment, Vec<String>), FileError> {
        let whole = |error: toml::ser::Error| FileError::new(error.to_string(), 0..0);
        let mut table = Table::try_from(self).map_err(whole)?;
        let mut changes = Vec::new();
        let scale = self.scale(room)?;
        // Where hyperthreads are what it is about, threads are held against cores, not against those.
        let here = if asks_for_smt(&table) { room.cores / room.threads_per_core.max(1) } else { room.cores };
        let least_cache = if is_cycles(self) { LEAST_CACHE_OF_CYCLES } else { LEAST_CACHE };
        each_part(&mut table, &mut |part, name| {
            shrink(part, name, scale, least_cache, &mut changes);
            if let Some(cores) = self.fit.cores {
                fewer_threads(part, name, f64::from(here) / f64::from(cores), &mut changes);
            }
        });
        if room.threads_per_core <= 1 {
            stand_in_for_smt(&mut table, &mut changes);
        }
        if let Some(budget) = room.budget {
            thin(&mut table, budget, &self.fit.leave_out, &room.missing, &mut changes)?;
            let time = run_time(&Experiment::from_table(&table)?, room, budget)?;
            each_part(&mut table, &mut |part, name| shorten(part, name, time, &mut changes));
        }
        changes.retain(|line| !line.starts_with("records:") || !is_changed_by_all(&table));
        Ok((Experiment::from_table(&table)?, changes))
    }

    /// By how much the data must shrink.
    fn scale(&self, room: &Room) -> Result<f64, FileError> {
        let memory = self.fit.memory.map_or(1.0, |memory| room.memory as f64 / memory.0 as f64);
        let variants = self.variants()?;
        let engines = |experiment: &Experiment| {
            let here = |name: &&toml::Spanned<String>| !room.missing.contains(name.get_ref());
            experiment.engines.iter().filter(here).count() as f64
        };
        let at_once = |experiment: &Experiment| match self.lab.order {
            Order::Turns => engines(experiment),
            Order::Engine => 1.0,
        };
        let largest = variants.iter().map(|one| stored_bytes(&one.experiment) as f64 * at_once(&one.experiment));
        let disk = DISK_PART * room.disk as f64 / largest.fold(1.0, f64::max);
        let seconds = |one: &Experiment| (load_seconds(one) + part_seconds(one)) * engines(one);
        let loading: f64 = variants.iter().map(|one| seconds(&one.experiment)).sum();
        let loading = loading * f64::from(*self.lab.repeat.get_ref());
        let part = if self.run.is_empty() { LOAD_PART + RUN_PART } else { LOAD_PART };
        let time = room.budget.map_or(1.0, |budget| part * budget.as_secs_f64() / loading);
        let least = variants.iter().map(|one| least_scale(&one.experiment)).fold(0.0, f64::max);
        Ok(memory.min(disk).min(time).max(least).min(1.0))
    }
}

/// The scale at which a limit of memory still has room for the engine's cache and buffer and for the programs: data that
/// shrank further would no longer be so many times the memory.
fn least_scale(experiment: &Experiment) -> f64 {
    let Some(limit) = experiment.stage.asked().memory else { return 0.0 };
    let shared = limit.saturating_sub(experiment.settings.cache.0).saturating_sub(experiment.settings.write_buffer.0);
    (LEAST_FOR_PROGRAMS.bytes + LEAST_WRITE_BUFFER.bytes) as f64 / shared.max(1) as f64
}

pub(crate) fn load_seconds(experiment: &Experiment) -> f64 {
    if is_cycles(experiment) {
        return cycles_seconds(experiment);
    }
    let data = experiment.data();
    let bytes = (data.key_size + data.value_size) as f64;
    let records_per_s = if experiment.load_batch() > 1 { LOAD_RECORDS_PER_S } else { PUTS_PER_S };
    data.records as f64 * (bytes / LOAD_BYTES_PER_S).max(1.0 / records_per_s)
}

/// Of runs that end after a part of the records: their time shrinks with the database, as that of its load.
fn part_seconds(experiment: &Experiment) -> f64 {
    let records = *experiment.data.records.get_ref() as f64;
    let parts =
        experiment.run.iter().filter_map(|run| Some(run.ends_after_part()? * run.readers.get_ref().len() as f64));
    parts.map(|part| part * records / PUTS_PER_S).sum()
}

/// The experiment itself and each of its variants, with their names.
pub(crate) fn each_part(table: &mut Table, change: &mut dyn FnMut(&mut Table, &str)) {
    change(table, "");
    for variant in variants_of(table) {
        let name = variant.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        change(variant, &format!("variant {name}: "));
    }
}

/// Whether each variant has its own number of records, so that the experiment's own stands for nothing.
fn is_changed_by_all(table: &Table) -> bool {
    let variants = table.get("variant").and_then(Value::as_array);
    let has = |variant: &Value| variant.get("data").and_then(|data| data.get("records")).is_some();
    variants.is_some_and(|variants| !variants.is_empty() && variants.iter().all(has))
}

fn section<'a>(part: &'a mut Table, name: &str) -> Option<&'a mut Table> {
    part.get_mut(name).and_then(Value::as_table_mut)
}

fn shrink(part: &mut Table, name: &str, scale: f64, least_cache: Least, changes: &mut Vec<String>) {
    if let Some(records) = section(part, "data").and_then(|data| data.get_mut("records")) {
        let old = records.as_integer().unwrap_or(0).max(0) as u64;
        let new = two_digits(old as f64 * scale).max(LEAST_RECORDS).min(old);
        tell(changes, &format!("{name}records"), &old, &new);
        *records = Value::Integer(new as i64);
    }
    for run in runs(part) {
        let Some(operations) = run.get_mut("operations") else { continue };
        let old = operations.as_integer().unwrap_or(0).max(0) as u64;
        let new = two_digits(old as f64 * scale).max(LEAST_OPERATIONS).min(old);
        tell(changes, &format!("{name}operations"), &old, &new);
        *operations = Value::Integer(new as i64);
    }
    let sizes = [
        ("settings", "cache", least_cache),
        ("settings", "write_buffer", LEAST_WRITE_BUFFER),
        ("stage", "memory", LEAST_FOR_PROGRAMS),
    ];
    for (place, key, least) in sizes {
        let Some(size) = section(part, place).and_then(|section| section.get_mut(key)) else { continue };
        let Some(old) = size.as_str().and_then(|text| text.parse::<Bytes>().ok()) else { continue };
        let new = ((old.0 as f64 * scale).ceil() as u64).next_multiple_of(least.unit);
        let new = Bytes(new.max(least.bytes).min(old.0));
        tell(changes, &format!("{name}{key}"), &old, &new);
        *size = Value::String(new.to_string());
    }
}

fn fewer_threads(part: &mut Table, name: &str, scale: f64, changes: &mut Vec<String>) {
    for run in runs(part) {
        let Some(readers) = run.get_mut("readers").and_then(Value::as_array_mut) else { continue };
        let old: Vec<i64> = readers.iter().filter_map(Value::as_integer).collect();
        let mut new: Vec<i64> =
            old.iter().map(|&count| (count as f64 * scale.min(1.0)).ceil().max(1.0) as i64).collect();
        new.dedup();
        tell(changes, &format!("{name}readers"), &format!("{old:?}"), &format!("{new:?}"));
        *readers = new.into_iter().map(Value::Integer).collect();
    }
}

/// `[[run]]`, or a variant's `run.…`.
pub(crate) fn runs(part: &mut Table) -> Vec<&mut Table> {
    match part.get_mut("run") {
        Some(Value::Array(runs)) => runs.iter_mut().filter_map(Value::as_table_mut).collect(),
        Some(Value::Table(run)) => vec![run],
        _ => Vec::new(),
    }
}

/// What is left of the budget for each run.
fn run_time(experiment: &Experiment, room: &Room, budget: Duration) -> Result<Duration, FileError> {
    let plan = Plan::of(&experiment.variants()?);
    let runs = plan
        .trials
        .iter()
        .filter(|trial| trial.planned_time().is_some() && !room.missing.contains(&trial.key.engine))
        .count();
    Ok((budget.mul_f64(RUN_PART) / runs.max(1) as u32).max(LEAST_RUN))
}

fn shorten(part: &mut Table, name: &str, time: Duration, changes: &mut Vec<String>) {
    let of_variant = !name.is_empty();
    for run in runs(part) {
        let old = run.get("duration").and_then(Value::as_str).and_then(|text| text.parse::<Span>().ok());
        // A variant that says nothing of it has what the experiment has.
        if ends_by_itself(run) || (of_variant && old.is_none()) {
            continue;
        }
        let old = old.unwrap_or(Span(crate::experiment::DURATION));
        let new = Span(Duration::from_millis(time.mul_f64(1.0 - WARMUP_PART).as_millis() as u64).min(old.0));
        tell(changes, &format!("{name}duration"), &old, &new);
        run.insert("duration".to_owned(), Value::String(new.to_string()));
        let warmup = Span(Duration::from_millis(time.mul_f64(WARMUP_PART).as_millis() as u64));
        run.insert("warmup".to_owned(), Value::String(warmup.to_string()));
    }
}

/// After a number of operations, not after a time.
fn ends_by_itself(run: &Table) -> bool {
    let kind = run.get("workload").and_then(Value::as_str).and_then(|name| name.parse::<Kind>().ok());
    let by_part = kind.is_some_and(Kind::ends_by_part) && !run.contains_key("duration");
    by_part || run.contains_key("operations") || run.contains_key("part")
}

fn variants_of(table: &mut Table) -> impl Iterator<Item = &mut Table> {
    let variants = table.get_mut("variant").and_then(Value::as_array_mut);
    variants.into_iter().flatten().filter_map(Value::as_table_mut)
}

/// Whether a variant is to have the hyperthreads of its cores.
fn has_smt(variant: &Table) -> bool {
    let smt = variant.get("stage").and_then(|stage| stage.get("smt"));
    smt.and_then(Value::as_str) == Some("on")
}

fn asks_for_smt(table: &Table) -> bool {
    let variants = table.get("variant").and_then(Value::as_array);
    variants.into_iter().flatten().filter_map(Value::as_table).any(has_smt)
}

/// On a machine without hyperthreads, two threads for each core stand in for them: what has SMT gets twice the readers.
fn stand_in_for_smt(table: &mut Table, changes: &mut Vec<String>) {
    let usual = table.get("run").and_then(Value::as_array).cloned().unwrap_or_default();
    for variant in variants_of(table).filter(|variant| has_smt(variant)) {
        let own = Table::from_iter(variant.remove("run").map(|run| ("run".to_owned(), run)));
        let mut whole = Table::from_iter([("run".to_owned(), Value::Array(usual.clone()))]);
        overlay(&mut whole, own);
        for readers in runs(&mut whole).into_iter().filter_map(|run| run.get_mut("readers")?.as_array_mut()) {
            *readers = readers.iter().filter_map(Value::as_integer).map(|count| Value::Integer(2 * count)).collect();
        }
        variant.extend(whole);
        // What is not there cannot be had: the stage would refuse it.
        section(variant, "stage").and_then(|stage| stage.remove("smt"));
        let name = variant.get("name").and_then(Value::as_str).unwrap_or_default();
        changes.push(format!(
            "variant {name}: twice the readers, two threads for each core, because this machine has no hyperthreads"
        ));
    }
}

fn tell<T: PartialEq + ToString>(changes: &mut Vec<String>, what: &str, old: &T, new: &T) {
    let line = format!("{what}: {} instead of {}", new.to_string(), old.to_string());
    if old != new && !changes.contains(&line) {
        changes.push(line);
    }
}

/// Down to two digits, so that numbers stay easy to read.
fn two_digits(number: f64) -> u64 {
    let unit = 10f64.powf((number.max(1.0).log10().floor() - 1.0).max(0.0));
    ((number / unit).floor() * unit) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = r#"
        engines = ["a", "b"]
        fit = { memory = "32GiB", cores = 16 }
        [data]
        records = 40000000
        value_size = 4000
        [settings]
        cache = "16GiB"
        write_buffer = "256MiB"
        [[run]]
        readers = [1, 2, 4, 8, 16, 32, 64]
        duration = "20m"
        [[variant]]
        name = "small"
        data.records = 4000000000
        data.value_size = 24
        [[variant]]
        name = "large"
    "#;

    fn room() -> Room {
        Room {
            memory: 16 << 30,
            cores: 2,
            threads_per_core: 1,
            disk: 200 << 30,
            budget: None,
            missing: BTreeSet::new(),
        }
    }

    #[test]
    fn ratios_stay() {
        let (fitted, changes) = Experiment::parse(TEXT).unwrap().fitted(&room()).unwrap();
        let scale = *fitted.data.records.get_ref() as f64 / 40e6;
        assert!(scale < 0.5 && (fitted.settings.cache.0 as f64 / (16u64 << 30) as f64 / scale - 1.0).abs() < 0.1);
        assert_eq!(fitted.run[0].readers.get_ref(), &[1, 2, 4, 8]);
        let small = &fitted.variants().unwrap()[0].experiment;
        assert!((*small.data.records.get_ref() as f64 / 4e9 / scale - 1.0).abs() < 0.1);
        assert!(changes.iter().any(|line| line.starts_with("variant small: records")), "{changes:?}");
    }

    const STEPS: &str = r#"
        engines = ["a"]
        fit = { cores = 30 }
        [data]
        records = 40000000
        [[run]]
        workload = "readrandom"
        readers = [10, 20, 30, 40, 50]
        duration = "5m"
        [[run]]
        workload = "overwritesome"
        readers = [10]
        [[run]]
        workload = "overwrite"
        readers = [10]
        operations = 4000000
    "#;

    #[test]
    fn what_ends_by_itself_shrinks_with_the_data() {
        let room = Room { cores: 4, budget: Some(Duration::from_secs(60)), ..room() };
        let (fitted, changes) = Experiment::parse(STEPS).unwrap().fitted(&room).unwrap();
        let scale = *fitted.data.records.get_ref() as f64 / 40e6;
        let operations = fitted.run[2].operations.unwrap() as f64;
        assert!((operations / 4e6 / scale - 1.0).abs() < 0.1, "{changes:?}");
        assert!(fitted.run[1].duration.is_none() && fitted.run[2].duration.is_none());
        assert!(fitted.run[0].duration.as_ref().unwrap().get_ref().0 < Duration::from_secs(10));
    }

    #[test]
    fn two_threads_for_each_core_stand_in_for_hyperthreads() {
        let variants =
            "[[variant]]\nname = \"off\"\nstage.smt = \"off\"\n[[variant]]\nname = \"on\"\nstage.smt = \"on\"\n";
        let mut table: Table = format!("{STEPS}\n{variants}").parse().unwrap();
        let mut changes = Vec::new();
        assert!(asks_for_smt(&table));
        stand_in_for_smt(&mut table, &mut changes);
        let readers = |variant: &Value, run: usize| variant["run"][run]["readers"].as_array().unwrap().clone();
        let variants = table["variant"].as_array().unwrap();
        assert!(variants[0].get("run").is_none());
        assert_eq!((variants[0]["stage"]["smt"].as_str(), variants[1]["stage"].get("smt")), (Some("off"), None));
        assert_eq!(readers(&variants[1], 0), [20, 40, 60, 80, 100].map(Value::Integer));
        assert_eq!(readers(&variants[1], 2), [Value::Integer(20)]);
        assert_eq!((changes.len(), changes[0].contains("no hyperthreads")), (1, true));
    }

    #[test]
    fn a_machine_with_room_changes_nothing() {
        let experiment = Experiment::parse(TEXT).unwrap();
        let room = Room { memory: 64 << 30, cores: 64, disk: u64::MAX, ..room() };
        let (fitted, changes) = experiment.fitted(&room).unwrap();
        assert_eq!((fitted.to_toml().unwrap(), changes), (experiment.to_toml().unwrap(), Vec::new()));
    }

    #[test]
    fn a_budget_is_divided_over_the_trials() {
        let room = Room { budget: Some(Duration::from_secs(600)), ..room() };
        let (fitted, _) = Experiment::parse(TEXT).unwrap().fitted(&room).unwrap();
        let plan = Plan::of(&fitted.variants().unwrap());
        let runs: Duration = plan.trials.iter().filter_map(|trial| trial.planned_time()).sum();
        assert!(runs < Duration::from_secs(300) && runs > Duration::from_secs(200), "{runs:?}");
        let loads: f64 = fitted.variants().unwrap().iter().map(|one| 2.0 * load_seconds(&one.experiment)).sum();
        assert!(loads < 215.0, "{loads}");
    }

    /// Synced puts take the most of the time, and a cache stays as small beside its database as it was.
    #[test]
    fn cycles_shrink_with_their_cache() {
        let text = |durability: &str| {
            format!(
                "engines = [\"bdb\"]\n[data]\nrecords = 1000000\n[settings]\ncache = \"20MiB\"\ndurability = \"{durability}\"\n\
                 [load]\nworkload = \"3n1\"\n"
            )
        };
        let fitted = |durability| {
            let room = Room { budget: Some(Duration::from_secs(60)), ..room() };
            Experiment::parse(&text(durability)).unwrap().fitted(&room).unwrap().0
        };
        let (synced, not) = (fitted("commit"), fitted("none"));
        assert!(
            synced.data().records < 20_000 && not.data().records > 300_000,
            "{} {}",
            synced.data().records,
            not.data().records
        );
        let part = not.settings.cache.0 as f64 / (20u64 << 20) as f64;
        assert!((part * 1e6 / not.data().records as f64 - 1.0).abs() < 0.1);
        assert!(synced.settings.cache.0 < 1 << 20);
    }

    proptest! {
        #[test]
        fn nothing_grows_and_the_result_can_be_read(memory in 1u64..1 << 40, cores in 1u32..256, disk in 0u64..1 << 45) {
            let experiment = Experiment::parse(TEXT).unwrap();
            let (fitted, _) = experiment.fitted(&Room { memory, cores, disk, ..room() }).unwrap();
            prop_assert!(fitted.data.records.get_ref() <= experiment.data.records.get_ref());
            prop_assert!(fitted.settings.cache.0 <= experiment.settings.cache.0);
            prop_assert!(Experiment::parse(&fitted.to_toml().unwrap()).is_ok());
        }
    }
}
