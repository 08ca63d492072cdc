//! The settings of an experiment, and its machine.

use kvdyno_results::{ClientKind, Machine, Phase, Setting, TrialResult};

use crate::grid::{Grid, GridCell, GridColumn, GridRow};
use crate::numbers::{bytes, grouped};
use crate::order::distinct;
use crate::study::Study;
use crate::words::counted;

/// A name and its value.
pub(crate) type Fact = (String, String);

/// A setting in words.
type SettingOf = fn(&TrialResult) -> Option<String>;

const SETTINGS: [(&str, SettingOf); 13] = [
    ("records", |r| Some(grouped(r.workload.records as f64))),
    ("key + value", |r| {
        Some(format!("{} + {} bytes", grouped(r.workload.key_size as f64), grouped(r.workload.value_size as f64)))
    }),
    ("keys", |r| Some(r.workload.keys())),
    ("compressible", |r| Some(format!("{:.0} %", 100.0 * r.workload.compressibility))),
    ("durability", |r| Some(r.workload.durability.clone())),
    ("cache", |r| Some(bytes(r.workload.cache_bytes as f64))),
    ("write buffer", |r| Some(bytes(r.workload.write_buffer_bytes as f64))),
    ("compression", |r| Some(r.workload.compression.clone())),
    ("verify", |r| Some(r.workload.verify.clone())),
    ("audit", |r| r.audit.as_ref().map(|audit| audit.extent.to_string())),
    ("batch", |r| Some(grouped(r.workload.batch as f64))),
    ("reads a transaction", |r| (r.trial.readers > 0).then(|| grouped(r.workload.reads_per_transaction as f64))),
    ("writes limited to", |r| r.workload.write_rate.map(|rate| format!("{}/s", grouped(rate)))),
];

/// The lab-wide settings. One that differs between workloads stands with each. That clients are processes stands
/// there if all are; where some are, the engines' labels say it.
pub(crate) fn key_facts(study: &Study<'_>) -> Vec<Fact> {
    let fact = |(name, word): (&str, SettingOf)| of_all(study.results, word).map(|value| (name.to_owned(), value));
    let all = study.results.iter().all(|result| result.trial.clients == ClientKind::Processes);
    let clients = (all && !study.results.is_empty()).then(|| ("clients".to_owned(), ClientKind::Processes.to_string()));
    SETTINGS.into_iter().filter_map(fact).chain(clients).collect()
}

fn of_all(results: &[TrialResult], word: SettingOf) -> Option<String> {
    let values = distinct(results.iter().filter_map(|result| word(result).map(|value| (value, &result.workload.name))));
    let words = distinct(values.iter().map(|(value, _)| value.clone()));
    let with_workloads = |word: &String| {
        let workloads: Vec<&str> =
            values.iter().filter(|(value, _)| value == word).map(|(_, name)| name.as_str()).collect();
        format!("{word} ({})", workloads.join(", "))
    };
    match words.as_slice() {
        [] => None,
        [word] => Some(word.clone()),
        words => Some(words.iter().map(with_workloads).collect::<Vec<_>>().join("; ")),
    }
}

/// Engines as the user named them.
fn named<'a>(study: &Study<'a>) -> Vec<&'a str> {
    distinct(study.results.iter().map(|result| result.trial.engine.as_str()))
}

/// `lmdb 0.9.24` for each engine that said its version.
pub(crate) fn versions(study: &Study<'_>) -> Vec<String> {
    let with_version = |result: &TrialResult| match result.engine.version.as_str() {
        "" => result.trial.engine.clone(),
        version => format!("{} {version}", result.trial.engine),
    };
    let known = distinct(study.results.iter().filter(|r| !r.engine.version.is_empty()).map(with_version));
    let unknown = named(study).into_iter().filter(|engine| {
        !study.results.iter().any(|result| result.trial.engine == *engine && !result.engine.version.is_empty())
    });
    known.into_iter().chain(unknown.map(str::to_owned)).collect()
}

/// The machine.
pub(crate) fn machine_facts(machine: &Machine) -> Vec<Fact> {
    let cpu = &machine.cpu;
    let mut facts = vec![
        ("processor", format!("{}, {}", cpu.model, processors(machine))),
        ("memory", bytes(machine.memory_kib as f64 * 1024.0)),
        ("NUMA nodes", machine.numa.len().to_string()),
        ("caches", caches(machine)),
        ("filesystem", filesystem(machine)),
        ("system", format!("{}, kernel {}", machine.system, machine.kernel)),
        ("clock", machine.clock.clone()),
        ("kvdyno", machine.kvdyno.clone()),
    ];
    facts.extend(cpu.governor.clone().map(|governor| ("governor", governor)));
    facts.extend(cpu.hypervisor.clone().map(|hypervisor| ("hypervisor", hypervisor)));
    facts.extend(driver(machine).map(|driver| ("driver's own cost", driver)));
    facts.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// `8 threads on 4 cores, 1 socket`.
pub(crate) fn processors(machine: &Machine) -> String {
    let cpu = &machine.cpu;
    format!("{} on {}, {}", counted(cpu.threads, "thread"), counted(cpu.cores, "core"), counted(cpu.sockets, "socket"))
}

fn caches(machine: &Machine) -> String {
    let cache = |c: &kvdyno_results::Cache| format!("L{} {}", c.level, bytes(c.size_kib as f64 * 1024.0));
    machine.caches.iter().map(cache).collect::<Vec<_>>().join(", ")
}

fn filesystem(machine: &Machine) -> String {
    let filesystem = &machine.filesystem;
    let device = filesystem.device.as_deref().map(|device| format!(" on {device}")).unwrap_or_default();
    let spinning = if filesystem.rotational == Some(true) { ", rotational by its own word" } else { "" };
    let ahead = filesystem.read_ahead_kib.map(|kib| format!(", reads {} ahead", bytes(kib as f64 * 1024.0)));
    let ahead = ahead.unwrap_or_default();
    format!("{}{device}{spinning}{ahead} ({})", filesystem.kind, filesystem.options)
}

fn driver(machine: &Machine) -> Option<String> {
    let driver = machine.driver.as_ref()?;
    let (low, high) = driver.get_ns_range;
    Some(format!("{:.0} ns a get ({low:.0} to {high:.0})", driver.get_ns))
}

/// The settings that each adapter made, the lab's topics down and the engines across.
pub(crate) fn engine_settings(study: &Study<'_>) -> Option<Grid> {
    let engines: Vec<(&str, &[Setting])> =
        named(study).into_iter().map(|engine| (engine, set(study, engine))).collect();
    let topics = distinct(engines.iter().flat_map(|(_, settings)| settings.iter().map(|s| s.topic.as_str())));
    let row = |topic: &&str| {
        let cells = engines.iter().map(|(_, settings)| GridCell::words(of_topic(settings, topic)));
        GridRow { cells: std::iter::once(GridCell::words(*topic)).chain(cells).collect(), ..GridRow::default() }
    };
    let heads = engines.iter().map(|(engine, _)| GridColumn::words(*engine));
    (!topics.is_empty()).then(|| Grid {
        title: "Settings of each engine".to_owned(),
        columns: std::iter::once(GridColumn::words("")).chain(heads).collect(),
        rows: topics.iter().map(row).collect(),
        notes: Vec::new(),
    })
}

/// The settings of the first trial of an engine that ran, a run rather than a load.
fn set<'a>(study: &'a Study<'a>, engine: &str) -> &'a [Setting] {
    let of = |phase| study.trials(phase).find(|r| r.trial.engine == engine && !r.engine.settings.is_empty());
    of(Phase::Run).or_else(|| of(Phase::Load)).map_or(&[], |result| result.engine.settings.as_slice())
}

fn of_topic(settings: &[Setting], topic: &str) -> String {
    let line = |setting: &Setting| match setting.value.as_str() {
        "" => setting.name.clone(),
        value => format!("{} = {value}", setting.name),
    };
    settings.iter().filter(|setting| setting.topic == topic).map(line).collect::<Vec<_>>().join("\n")
}
