//! The settings of an experiment, and its machine.

use kvdyno_model::text::counted;
use kvdyno_model::text::{bytes, grouped};
use kvdyno_results::{ClientKind, EngineFile, Machine, Phase, RoleFacts, Setting, TrialResult, WorkloadFacts};
use serde_json::{Map, Value};

use crate::grid::{ColumnGroup, Emphasis, Grid, GridCell, GridColumn, GridRow};
use crate::order::distinct;
use crate::study::Study;

/// A name and its value.
pub(crate) type Fact = (String, String);

/// A setting in words.
type SettingOf = fn(&TrialResult) -> Option<String>;

const SETTINGS: [(&str, SettingOf); 18] = [
    ("records", |r| Some(grouped(r.workload.records as f64))),
    ("key + value", |r| Some(r.workload.sizes(|bytes| grouped(bytes as f64)))),
    ("keys", |r| Some(r.workload.keys())),
    ("compressible", |r| Some(format!("{:.0} %", 100.0 * r.workload.compressibility))),
    ("durability", |r| Some(r.workload.durability.to_string())),
    ("cache", |r| Some(bytes(r.workload.cache_bytes as f64))),
    ("write buffer", |r| Some(bytes(r.workload.write_buffer_bytes as f64))),
    ("compression", |r| Some(r.workload.compression.to_string())),
    ("verify", |r| Some(r.workload.verify.to_string())),
    ("audit", |r| r.audit.as_ref().map(|audit| audit.extent.to_string())),
    ("batch", |r| Some(grouped(r.workload.batch as f64))),
    ("reads a transaction", |r| (r.trial.readers > 0).then(|| grouped(r.workload.reads_per_transaction as f64))),
    ("writes limited to", |r| r.workload.write_rate.map(|rate| format!("{}/s", grouped(rate)))),
    ("reads come at", |r| r.workload.read_rate.map(|rate| format!("{}/s", grouped(rate)))),
    ("operations come at", |r| r.workload.rate.map(|rate| format!("{}/s", grouped(rate)))),
    ("highest rate with", |r| r.workload.find_max_rate.map(|promise| promise.to_string())),
    ("arrival", |r| r.workload.arrival.map(|arrival| arrival.to_string())),
    ("roles", |r| Some(roles(&r.workload)).filter(|roles| !roles.is_empty())),
];

/// The roles of clients in words; empty where these are all alike.
fn roles(workload: &WorkloadFacts) -> String {
    workload.roles.iter().map(role).collect::<Vec<_>>().join("; ")
}

/// `front: 4 x get 95, put 5, zipf 0.99, 100 a second`.
fn role(role: &RoleFacts) -> String {
    let rate = role.rate.map_or(String::new(), |rate| format!(", {} a second", grouped(rate)));
    let durability = role.durability.as_ref().map_or(String::new(), |level| format!(", durability {level}"));
    let part = Some(role.part_in_words()).filter(|part| !part.is_empty());
    let part = part.map_or(String::new(), |part| format!(", {part}"));
    format!("{}: {} x {}, {}{rate}{durability}{part}", role.name, role.clients, role.mix, role.distribution)
}

/// The lab-wide settings. One that differs between workloads stands with each. That clients are processes stands
/// there if all are; where some are, the engines' labels say it.
pub(crate) fn key_facts(study: &Study<'_>) -> Vec<Fact> {
    let all = study.results.iter().all(|result| result.trial.clients == ClientKind::Processes);
    let has_run = !study.results.is_empty();
    let clients = (all && has_run).then(|| ("clients".to_owned(), ClientKind::Processes.to_string()));
    let database = has_run.then(|| ("databases".to_owned(), study.experiment.lab.database.to_string()));
    settings(study.results).into_iter().chain(clients).chain(database).collect()
}

fn settings(results: &[TrialResult]) -> Vec<Fact> {
    let fact = |(name, word): (&str, SettingOf)| of_all(results, word).map(|value| (name.to_owned(), value));
    SETTINGS.into_iter().filter_map(fact).collect()
}

/// The settings that figures depend on most, each as `records 1,000,000`.
pub(crate) fn main_settings(results: &[TrialResult]) -> Vec<String> {
    let is_main = |(name, _): &Fact| ["records", "key + value", "durability", "cache"].contains(&name.as_str());
    settings(results).into_iter().filter(is_main).map(|(name, value)| format!("{name} {value}")).collect()
}

/// `Intel(R) Xeon(R) Processor, 2 threads on 2 cores, 1 socket`.
pub(crate) fn processor(machine: &Machine) -> String {
    format!("{}, {}", machine.cpu.model, processors(machine))
}

/// The requested work for programs, numbers as numbers and sizes in bytes: what all trials have in common. What differs
/// stands in their rows.
pub(crate) fn common_work(study: &Study<'_>) -> Map<String, Value> {
    let mut work = study.results.iter().filter_map(|result| match serde_json::to_value(&result.workload) {
        Ok(Value::Object(mut work)) => {
            work.insert("clients".to_owned(), result.trial.clients.to_string().into());
            Some(work)
        }
        _ => None,
    });
    let mut common = work.next().unwrap_or_default();
    for other in work {
        common.retain(|key, value| other.get(key) == Some(value));
    }
    // Names and seeds of trials are no settings.
    common.retain(|key, value| !matches!(key.as_str(), "name" | "seed") && !value.is_null());
    common
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
        ("processor", processor(machine)),
        ("memory", bytes(machine.memory_kib as f64 * 1024.0)),
        ("NUMA nodes", machine.numa.len().to_string()),
        ("caches", caches(machine)),
        ("filesystem", filesystem(machine)),
        ("system", format!("{}, kernel {}", machine.system, machine.kernel)),
        ("clock", machine.clock.clone()),
        ("kvdyno", kvdyno(machine)),
    ];
    facts.extend(cpu.governor.clone().map(|governor| ("governor", governor)));
    facts.extend(cpu.hypervisor.clone().map(|hypervisor| ("hypervisor", hypervisor)));
    // The kernel's command line is long: folded on the page, and in JSON.
    facts.extend(machine.setup.facts().into_iter().filter(|(name, _)| *name != "command line"));
    facts.extend(driver(machine).map(|driver| ("driver's own cost", driver)));
    facts.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// `0.1.0, commit 1a2b3c4d5e6f`.
fn kvdyno(machine: &Machine) -> String {
    let commit = machine.build.as_ref().and_then(|build| build.commit.as_ref());
    commit.map_or(machine.kvdyno.clone(), |commit| format!("{}, commit {commit}", machine.kvdyno))
}

/// `8 threads on 4 cores, 1 socket`.
fn processors(machine: &Machine) -> String {
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
    let spinning = if filesystem.rotational == Some(true) { ", reported as rotational" } else { "" };
    let ahead = filesystem.read_ahead_kib.map(|kib| format!(", read-ahead {}", bytes(kib as f64 * 1024.0)));
    let ahead = ahead.unwrap_or_default();
    format!("{}{device}{spinning}{ahead} ({})", filesystem.kind, filesystem.options)
}

fn driver(machine: &Machine) -> Option<String> {
    let driver = machine.driver.as_ref()?;
    let (low, high) = driver.get_ns_range;
    Some(format!("{:.0} ns a get ({low:.0} to {high:.0})", driver.get_ns))
}

/// A setup with what its adapter set.
struct SetUp<'a> {
    /// The engine as the user named it.
    named: &'a str,
    /// The engine's own name, which presets and versions share.
    engine: &'a str,
    settings: &'a [Setting],
}

impl SetUp<'_> {
    /// Whether the setup's words of a topic differ from those of its neighbours. Setups of the same engine differ if
    /// any word differs. Setups of other engines are compared only by numbers: a number differs if it is not the most
    /// frequent one.
    fn differs(&self, topic: &str, all: &[SetUp<'_>]) -> bool {
        let alike = |other: &&SetUp<'_>| other.engine == self.engine && !other.settings.is_empty();
        let words = of_topic(self.settings, topic);
        if all.iter().filter(alike).any(|other| of_topic(other.settings, topic) != words) {
            return true;
        }
        let count = |number: f64| all.iter().filter(|other| only_number(other.settings, topic) == Some(number)).count();
        let numbers = || all.iter().filter_map(|other| only_number(other.settings, topic));
        let most = numbers().map(count).max().unwrap_or(0);
        only_number(self.settings, topic).is_some_and(|own| count(own) < most || (most == 1 && numbers().count() > 1))
    }
}

/// The topic of options that are an engine's own: as many as it likes, so that they stand apart.
const OPTIONS: &str = "options";

/// The settings that each adapter made, differences marked: the setups down, the lab's topics across; then the engines'
/// own options; then the files that have the engines' code.
pub(crate) fn engine_settings(study: &Study<'_>) -> Vec<Grid> {
    let setups: Vec<SetUp<'_>> = named(study).into_iter().map(|named| set(study, named)).collect();
    let topics = distinct(setups.iter().flat_map(|one| one.settings.iter().map(|s| s.topic.as_str())));
    let (options, lab): (Vec<&str>, Vec<&str>) = topics.into_iter().partition(|topic| *topic == OPTIONS);
    let mut grids = vec![of_topics(&setups, &lab, "")];
    grids.extend((!options.is_empty()).then(|| of_topics(&setups, &options, "Options of each engine")));
    grids.extend(engine_files(study, &setups));
    if lab.is_empty() && options.is_empty() { Vec::new() } else { grids }
}

/// Setups with their settings of some topics.
fn of_topics(setups: &[SetUp<'_>], topics: &[&str], title: &str) -> Grid {
    let cell = |one: &SetUp<'_>, topic: &str| match of_topic(one.settings, topic) {
        words if words.is_empty() => GridCell { emphasis: Emphasis::Missing, ..GridCell::words("–") },
        words if one.differs(topic, setups) => GridCell { emphasis: Emphasis::Differs, ..GridCell::words(words) },
        words => GridCell::words(words),
    };
    let row = |one: &SetUp<'_>| of_setup(one, topics.iter().map(|topic| cell(one, topic)));
    by_setup(title, topics, setups.iter().map(row).collect())
}

/// The files that have the engines' code; absent where none is known.
fn engine_files(study: &Study<'_>, setups: &[SetUp<'_>]) -> Option<Grid> {
    let is_known = |fact: FileFact| setups.iter().any(|one| !of_files(study, one.named, fact).is_empty());
    let facts: Vec<_> = FILE_FACTS.iter().filter(|(_, fact)| is_known(*fact)).collect();
    let row = |one: &SetUp<'_>| {
        of_setup(one, facts.iter().map(|(_, fact)| GridCell::words(of_files(study, one.named, *fact))))
    };
    let heads: Vec<&str> = facts.iter().map(|(head, _)| *head).collect();
    (!facts.is_empty()).then(|| by_setup("Files with the engines' code", &heads, setups.iter().map(row).collect()))
}

fn of_setup(one: &SetUp<'_>, cells: impl Iterator<Item = GridCell>) -> GridRow {
    GridRow { cells: std::iter::once(GridCell::words(one.named)).chain(cells).collect(), ..GridRow::default() }
}

fn by_setup(title: &str, heads: &[&str], rows: Vec<GridRow>) -> Grid {
    let heads = heads.iter().map(|head| GridColumn { group: ColumnGroup::Rates, ..GridColumn::words(*head) });
    Grid {
        title: title.to_owned(),
        columns: std::iter::once(GridColumn::words("engine")).chain(heads).collect(),
        rows,
        notes: Vec::new(),
    }
}

/// A fact of the file that has an engine's code.
type FileFact = fn(&EngineFile) -> Option<String>;

const FILE_FACTS: [(&str, FileFact); 3] = [
    ("file", |file| Some(file.path.clone())),
    ("package", |file| file.package.as_ref().map(ToString::to_string)),
    // JSON and CSV have the whole checksum.
    ("SHA-256", |file| Some(format!("{}…", file.sha256.as_ref()?.chars().take(16).collect::<String>()))),
];

/// A fact of each of the files that an engine's trials had: one, unless it was replaced while they ran.
fn of_files(study: &Study<'_>, engine: &str, fact: FileFact) -> String {
    let files = study.results.iter().filter(|result| result.trial.engine == engine);
    distinct(files.filter_map(|result| fact(result.engine.file.as_ref()?))).join("\n")
}

/// The settings of the first trial of a setup that ran, a run rather than a load.
fn set<'a>(study: &Study<'a>, named: &'a str) -> SetUp<'a> {
    let of = |phase| study.trials(phase).find(|r| r.trial.engine == named && !r.engine.settings.is_empty());
    let facts = of(Phase::Run).or_else(|| of(Phase::Load)).map(|result| &result.engine);
    SetUp {
        named,
        engine: facts.map_or(named, |facts| facts.name.as_str()),
        settings: facts.map_or(&[], |facts| facts.settings.as_slice()),
    }
}

/// The value of a topic of one setting, if it is a number.
fn only_number(settings: &[Setting], topic: &str) -> Option<f64> {
    let mut of_topic = settings.iter().filter(|setting| setting.topic == topic);
    let only = of_topic.next().filter(|_| of_topic.next().is_none())?;
    only.value.parse().ok()
}

fn of_topic(settings: &[Setting], topic: &str) -> String {
    let line = |setting: &Setting| match setting.value.as_str() {
        "" => setting.name.clone(),
        value => format!("{} = {value}", setting.name),
    };
    settings.iter().filter(|setting| setting.topic == topic).map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(topic: &str, name: &str, value: &str) -> Setting {
        Setting { topic: topic.to_owned(), name: name.to_owned(), value: value.to_owned() }
    }

    #[test]
    fn settings_differ_from_those_of_the_same_engine_and_from_most_numbers() {
        let of = |cache: &str, log: &str| vec![setting("cache", "size", cache), setting("durability", "log", log)];
        let all = [of("32", "on"), of("32", "off"), of("64", "sync"), of("32", "none")];
        let engines = ["a", "a", "b", "c"];
        let setups: Vec<SetUp<'_>> =
            all.iter().zip(engines).map(|(settings, engine)| SetUp { named: engine, engine, settings }).collect();
        let differ = |topic: &str| setups.iter().map(|one| one.differs(topic, &setups)).collect::<Vec<_>>();
        assert_eq!(differ("cache"), [false, false, true, false]);
        assert_eq!(differ("durability"), [true, true, false, false]);
        assert_eq!(differ("compression"), [false; 4]);
    }
}
