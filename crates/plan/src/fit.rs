//! Makes an experiment of another machine fit this one.
//!
//! The original's ratios are kept: database to memory, cache to database, readers to cores. So records, cache, write
//! buffer, memory limit and the sizes of engines' own files and levels shrink by one factor, threads by another, and a
//! budget of time is divided over the trials. If even the smallest sensible experiment exceeds the budget, parts of it
//! are left out ([`mod@thin`]). An experiment without repeats gets some if the budget has room ([`mod@repeats`]);
//! nothing else grows. Every change is reported.

mod capacity;
mod change;
mod data;
mod engines;
mod estimate;
mod options;
mod repeats;
mod tables;
mod thin;
mod threads;
mod time;

use kvdyno_experiment::{DataKey, Experiment, FileError, Variant};
use kvdyno_model::{KeyPath, Order, Repeat};
use toml::Table;

use crate::backing_store::stored_bytes;
use crate::check::check_count;
pub use capacity::MachineCapacity;
use capacity::{LOAD_SHARE, RUN_SHARE};
pub use change::FitChange;
use data::{least_cache, least_scale, shrink};
pub use engines::EnginesHere;
use estimate::{cautious_fraction_seconds, cautious_load_seconds};
use options::shrink_options;
use repeats::with_repeats;
use tables::{each_table, is_changed_by_all};
use thin::thin;
use threads::{asks_for_smt, fewer_threads, stand_in_for_smt};
use time::{limit_trials, run_time, shorten};

pub(crate) use estimate::{OVERHEAD, load_seconds};
pub use time::shorten_for_repeats;

/// The share of the free space that keys and values may take; engines need more than those.
const DISK_SHARE: f64 = 0.3;
/// Repeats that `auto` is taken for: most comparisons are decided by then, and a budget ends it anyhow.
const REPEATS_OF_AUTO: u32 = 10;

/// The experiment at a size that this machine and the budget allow, and the changes.
///
/// # Errors
/// If its variants do not hold together.
pub fn fitted(experiment: &Experiment, machine: &MachineCapacity) -> Result<(Experiment, Vec<FitChange>), FileError> {
    check_count(&experiment.variants()?)?;
    let mut counted = experiment.clone();
    if experiment.lab.repeat.is_auto() {
        counted.lab.repeat = Repeat::times(REPEATS_OF_AUTO);
    }
    let is_once = experiment.lab.repeat == Repeat::times(1);
    let repeated = if is_once { with_repeats(experiment, machine)? } else { None };
    let is_repeated = repeated.is_some();
    let (table, changes) = repeated.map_or_else(|| fitted_table(&counted, machine), Ok)?;
    let mut fitted = Experiment::from_table(&table)?;
    if !is_repeated {
        fitted.lab.repeat = experiment.lab.repeat;
    }
    Ok((fitted, changes))
}

/// Fits an experiment whose number of repeats is known, and returns it as a table.
fn fitted_table(experiment: &Experiment, machine: &MachineCapacity) -> Result<(Table, Vec<FitChange>), FileError> {
    let mut table = Table::try_from(experiment).map_err(|error| FileError::new(error.to_string()))?;
    let mut changes = Vec::new();
    let scale = scale_of(experiment, machine)?;
    // If the experiment studies hyperthreads, threads scale with cores, not with hyperthreads.
    let here = if asks_for_smt(&table) { machine.cores / machine.threads_per_core.max(1) } else { machine.cores };
    let least_cache = least_cache(experiment);
    let variants = experiment.variants()?;
    each_table(&mut table, &mut |table, variant| {
        shrink(table, variant, scale, least_cache, &mut changes);
        let writes_out = |label: &str| writes_out(&variants, variant, label);
        shrink_options(table, variant, &writes_out, &machine.engines.sizes, scale, &mut changes);
        if let Some(cores) = experiment.fit.cores {
            fewer_threads(table, variant, f64::from(here) / cores.get() as f64, &mut changes);
        }
    });
    if machine.threads_per_core <= 1 {
        stand_in_for_smt(&mut table, &mut changes);
    }
    if let Some(budget) = machine.budget {
        thin(&mut table, budget, &experiment.fit.leave_out, &machine.engines.missing, &mut changes)?;
        let time = run_time(&Experiment::from_table(&table)?, machine, budget)?;
        each_table(&mut table, &mut |table, variant| shorten(table, variant, time, &mut changes));
        limit_trials(&mut table, budget, &mut changes);
    }
    if is_changed_by_all(&table) {
        let records = KeyPath::from(DataKey::Records);
        let own_records = |change: &FitChange| match change {
            FitChange::Value { variant, key, .. } => variant.is_empty() && *key == records,
            _ => false,
        };
        changes.retain(|change| !own_records(change));
    }
    Ok((table, changes))
}

/// Whether an engine's options belong in the table of this variant, or, without a name, of the experiment itself. A
/// section for an engine that is not measured there is an error, so an engine of only some variants has its options in
/// those.
fn writes_out(variants: &[Variant], name: &str, label: &str) -> bool {
    let has = |one: &Variant| one.experiment.engines.iter().any(|engine| engine == label);
    let is_in_all = variants.iter().all(has);
    match variants.iter().find(|one| one.name == name && !name.is_empty()) {
        Some(one) => !is_in_all && has(one),
        None => is_in_all,
    }
}

/// By how much the data must shrink.
fn scale_of(experiment: &Experiment, machine: &MachineCapacity) -> Result<f64, FileError> {
    let memory = experiment.fit.memory.map_or(1.0, |memory| machine.memory as f64 / memory.get() as f64);
    let variants = experiment.variants()?;
    let engines = |one: &Experiment| {
        let here = |name: &&String| !machine.engines.missing.contains(*name);
        one.engines.iter().filter(here).count() as f64
    };
    let at_once = |one: &Experiment| match experiment.lab.order {
        Order::Interleaved => engines(one),
        Order::Sequential => 1.0,
    };
    let largest = variants.iter().map(|one| stored_bytes(&one.experiment) as f64 * at_once(&one.experiment));
    let disk = DISK_SHARE * machine.disk as f64 / largest.fold(1.0, f64::max);
    let seconds = |one: &Experiment| (cautious_load_seconds(one) + cautious_fraction_seconds(one)) * engines(one);
    let loading: f64 = variants.iter().map(|one| seconds(&one.experiment)).sum();
    let loading = loading * f64::from(experiment.lab.repeat.most());
    let share = if experiment.run.is_empty() { LOAD_SHARE + RUN_SHARE } else { LOAD_SHARE };
    let time = machine.budget.map_or(1.0, |budget| share * budget.as_secs_f64() / loading);
    let least = variants.iter().map(|one| least_scale(&one.experiment)).fold(0.0, f64::max);
    Ok(memory.min(disk).min(time).max(least).min(1.0))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plan::Plan;
    use kvdyno_model::{Arrival, TimeSpan};
    use proptest::prelude::*;
    use toml::Value;

    /// A database of large values may have fewer records than ten thousand, but some.
    #[test]
    fn large_values_are_fewer_records() {
        let records = |value_size: u64| {
            let text = format!("[data]\nrecords = 1000000\nvalue_size = {value_size}\n");
            let mut table: Table = text.parse().unwrap();
            shrink(&mut table, "", 1e-9, least_cache(&Experiment::default()), &mut Vec::new());
            table["data"]["records"].as_integer()
        };
        assert_eq!([100, 32 << 10, 1 << 20].map(records), [Some(10_000), Some(2048), Some(100)]);
    }

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

    fn machine() -> MachineCapacity {
        MachineCapacity {
            memory: 16 << 30,
            cores: 2,
            threads_per_core: 1,
            disk: 200 << 30,
            budget: None,
            engines: EnginesHere::default(),
        }
    }

    #[test]
    fn ratios_stay() {
        let (fitted, changes) = fitted(&Experiment::parse(TEXT).unwrap(), &machine()).unwrap();
        let scale = fitted.data.records.get() as f64 / 40e6;
        assert!(scale < 0.5 && (fitted.settings.cache.get() as f64 / (16u64 << 30) as f64 / scale - 1.0).abs() < 0.1);
        assert_eq!(fitted.run[0].readers.to_string(), "1,2,4,8");
        let small = &fitted.variants().unwrap()[0].experiment;
        assert!((small.data.records.get() as f64 / 4e9 / scale - 1.0).abs() < 0.1);
        assert!(changes.iter().any(|line| line.to_string().starts_with("variant small: data.records")), "{changes:?}");
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
        let machine = MachineCapacity { cores: 4, budget: Some(Duration::from_secs(60)), ..machine() };
        let (fitted, changes) = fitted(&Experiment::parse(STEPS).unwrap(), &machine).unwrap();
        let scale = fitted.data.records.get() as f64 / 40e6;
        let operations = fitted.run[2].operations.unwrap().get() as f64;
        assert!((operations / 4e6 / scale - 1.0).abs() < 0.1, "{changes:?}");
        assert!(fitted.run[1].duration.is_none() && fitted.run[2].duration.is_none());
        assert!(fitted.run[0].duration.unwrap().get() < Duration::from_secs(10));
    }

    #[test]
    fn roles_keep_their_parts_of_a_shorter_window() {
        let text = "engines = [\"a\"]\n[[run]]\nworkload = \"mix\"\nduration = \"100m\"\n\
                    [[run.role]]\nmix = \"get 100\"\nuntil = \"50m\"\n\
                    [[run.role]]\nmix = \"put 100\"\nfrom = \"20m\"\nuntil = \"100m\"\n";
        let machine = MachineCapacity { budget: Some(Duration::from_secs(60)), ..machine() };
        let (fitted, changes) = fitted(&Experiment::parse(text).unwrap(), &machine).unwrap();
        let run = &fitted.run[0];
        let duration = run.duration.unwrap().get().as_secs_f64();
        assert!(duration < 20.0, "{duration}");
        let part = |time: Option<TimeSpan>| (time.unwrap().get().as_secs_f64() / duration * 100.0).round();
        assert_eq!([run.role[0].until, run.role[1].from, run.role[1].until].map(part), [50.0, 20.0, 100.0]);
        assert!(run.role[0].from.is_none());
        let told: Vec<String> =
            changes.iter().map(ToString::to_string).filter(|change| change.contains("role")).collect();
        assert!(told.len() == 3 && told[1].starts_with("run.role") && told[1].contains(" instead of 20m"), "{told:?}");
        crate::roles::check_roles(run).unwrap();
    }

    #[test]
    fn two_threads_for_each_core_stand_in_for_hyperthreads() {
        let variants = "[[variant]]\nname = \"off\"\nenvironment.smt = \"off\"\n[[variant]]\nname = \
                        \"on\"\nenvironment.smt = \"on\"\n";
        let mut table: Table = format!("{STEPS}\n{variants}").parse().unwrap();
        let mut changes = Vec::new();
        assert!(asks_for_smt(&table));
        stand_in_for_smt(&mut table, &mut changes);
        let readers = |variant: &Value, run: usize| variant["run"][run]["readers"].as_array().unwrap().clone();
        let variants = table["variant"].as_array().unwrap();
        assert!(variants[0].get("run").is_none());
        assert_eq!(
            (variants[0]["environment"]["smt"].as_str(), variants[1]["environment"].get("smt")),
            (Some("off"), None)
        );
        assert_eq!(readers(&variants[1], 0), [20, 40, 60, 80, 100].map(Value::Integer));
        assert_eq!(readers(&variants[1], 2), [Value::Integer(20)]);
        assert_eq!((changes.len(), changes[0].to_string().contains("no hyperthreads")), (1, true));
    }

    /// As in the 3n1 experiment: the rows of the table measure one engine, other variants many.
    #[test]
    fn options_stand_where_their_engine_is_measured() {
        let text = "engines = [\"a\"]\nfit = { memory = \"32GiB\" }\n[[variant]]\nname = \"row\"\n[[variant]]\nname = \
                    \"many\"\nengines = [\"a\", \"b\"]\n";
        let size = |name: &str| kvdyno_engine::ScaledOption { name: name.to_owned(), bytes: 1 << 30, least: 1 };
        let sizes = [("a", "file"), ("b", "level")].map(|(engine, option)| (engine.to_owned(), vec![size(option)]));
        let engines = EnginesHere { sizes: sizes.into(), ..EnginesHere::default() };
        let (fitted, _) = fitted(&Experiment::parse(text).unwrap(), &MachineCapacity { engines, ..machine() }).unwrap();
        let variants = fitted.variants().unwrap();
        let sections = |nth: usize| variants[nth].experiment.engine.keys().cloned().collect::<Vec<String>>();
        assert_eq!((sections(0), sections(1)), (vec!["a".to_owned()], vec!["a".to_owned(), "b".to_owned()]));
    }

    #[test]
    fn a_machine_with_room_changes_nothing() {
        let experiment = Experiment::parse(TEXT).unwrap();
        let machine = MachineCapacity { memory: 64 << 30, cores: 64, disk: u64::MAX, ..machine() };
        let (fitted, changes) = fitted(&experiment, &machine).unwrap();
        assert_eq!((fitted.to_toml().unwrap(), changes), (experiment.to_toml().unwrap(), Vec::new()));
    }

    #[test]
    fn a_budget_is_divided_over_the_trials() {
        let machine = MachineCapacity { budget: Some(Duration::from_secs(600)), ..machine() };
        let (fitted, _) = fitted(&Experiment::parse(TEXT).unwrap(), &machine).unwrap();
        let plan = Plan::of(&fitted.variants().unwrap());
        let runs: Duration = plan.ordered().filter_map(|trial| trial.planned_time()).sum();
        assert!(runs < Duration::from_secs(300) && runs > Duration::from_secs(200), "{runs:?}");
        let loads: f64 =
            fitted.variants().unwrap().iter().map(|one| 2.0 * cautious_load_seconds(&one.experiment)).sum();
        assert!(loads < 215.0, "{loads}");
    }

    /// A period that fits stays, and one that no longer does is as long as the run.
    #[test]
    fn a_period_is_not_longer_than_its_shortened_run() {
        let text = "engines = [\"a\"]\n[[run]]\nworkload = \"readrandom\"\nread_rate = 5\narrival = \"sine 60s\"\n\
                    duration = \"60s\"\n[[run]]\nworkload = \"mix\"\nduration = \"2m\"\n[[run.role]]\nmix = \
                    \"get 100\"\nrate = 9\narrival = \"bursty 30s\"\n[[run.role]]\nmix = \"get 100\"\nrate = 9\n\
                    arrival = \"sine\"\n";
        let machine = MachineCapacity { budget: Some(Duration::from_secs(60)), ..machine() };
        let (fitted, changes) = fitted(&Experiment::parse(text).unwrap(), &machine).unwrap();
        let [first, second] = &fitted.run[..] else { panic!("{:?}", fitted.run) };
        let (window, period) = (first.duration.unwrap(), |arrival: Option<Arrival>| arrival.unwrap().period());
        assert!(window < TimeSpan::seconds(10) && window > TimeSpan::seconds(1), "{window}");
        assert_eq!(period(first.arrival), Some(window.get()));
        assert_eq!(
            second.role.iter().map(|role| period(role.arrival)).collect::<Vec<_>>(),
            [Some(window.get()), Some(Duration::from_secs(1))]
        );
        let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
        for told in ["run.arrival: sine ", "run.role.arrival: bursty "] {
            assert!(changes.iter().any(|change| change.contains(told)), "{changes:?}");
        }
        crate::check::check_alone(&fitted).unwrap();
    }

    /// A figure without an interval decides nothing; but engines are worth more than repeats.
    #[test]
    fn what_is_to_be_done_once_is_repeated_where_the_budget_has_room() {
        let fitted = |repeat: &str, minutes: u64| {
            let text = format!(
                "engines = [\"lmdb\", \"leveldb\", \"bdb\"]\n[fit]\nleave_out = [\"readers\", \"engines\"]\n[data]\n\
                 records = 100000\n[[run]]\nworkload = \"readrandom\"\nreaders = [1, 2, 4]\nduration = \"60s\"\n[lab]\n\
                 repeat = {repeat}\n"
            );
            let machine = MachineCapacity { budget: Some(Duration::from_secs(60 * minutes)), ..machine() };
            let (experiment, changes) = super::fitted(&Experiment::parse(&text).unwrap(), &machine).unwrap();
            (
                experiment.lab.repeat.to_string(),
                experiment.engines.len(),
                changes.iter().map(ToString::to_string).collect(),
            )
        };
        let told = |changes: &Vec<String>| changes.iter().any(|change| change.contains("lab.repeat: "));
        let (repeat, engines, changes): (String, usize, Vec<String>) = fitted("1", 10);
        assert!((repeat.as_str(), engines) == ("8", 3) && told(&changes), "{repeat}: {changes:?}");
        assert_eq!(fitted("1", 1).0, "3");
        for (repeat, minutes) in [("5", 10), ("\"auto\"", 10)] {
            let (kept, _, changes) = fitted(repeat, minutes);
            assert!(kept == repeat.trim_matches('"') && !told(&changes), "{kept}: {changes:?}");
        }
    }

    /// Synced puts take the most of the time, and a cache stays as small beside its database as it was.
    #[test]
    fn cycles_shrink_with_their_cache() {
        let text = |durability: &str| {
            format!(
                "engines = [\"bdb\"]\n[data]\nrecords = 1000000\n[settings]\ncache = \"20MiB\"\ndurability = \
                 \"{durability}\"\n[load]\nworkload = \"3n1\"\n"
            )
        };
        let shrunk = |durability| {
            let machine = MachineCapacity { budget: Some(Duration::from_secs(60)), ..machine() };
            fitted(&Experiment::parse(&text(durability)).unwrap(), &machine).unwrap().0
        };
        let (synced, not) = (shrunk("commit"), shrunk("none"));
        assert!(
            synced.data.records.get() < 20_000 && not.data.records.get() > 300_000,
            "{} {}",
            synced.data.records.get(),
            not.data.records.get()
        );
        let part = not.settings.cache.get() as f64 / (20u64 << 20) as f64;
        assert!((part * 1e6 / not.data.records.get() as f64 - 1.0).abs() < 0.1);
        assert!(synced.settings.cache.get() < 1 << 20);
    }

    proptest! {
        #[test]
        fn nothing_grows_and_the_result_can_be_read(
            memory in 1u64..1 << 40, cores in 1u32..256, disk in 0u64..1 << 45,
        ) {
            let experiment = Experiment::parse(TEXT).unwrap();
            let (fitted, _) = fitted(&experiment, &MachineCapacity { memory, cores, disk, ..machine() }).unwrap();
            prop_assert!(fitted.data.records <= experiment.data.records);
            prop_assert!(fitted.settings.cache.get() <= experiment.settings.cache.get());
            prop_assert!(Experiment::parse(&fitted.to_toml().unwrap()).is_ok());
        }
    }
}
