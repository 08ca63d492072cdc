//! Leaves parts of an experiment out for which a budget of time has no room, in the order that its file says.
//!
//! ```toml
//! [fit]
//! leave_out = ["readers", "variants", "engines"]
//! ```

use std::collections::BTreeSet;
use std::time::Duration;

use kvdyno_results::Phase;
use toml::{Table, Value};

use super::change::FitChange;
use super::estimate::{CAUTION, OVERHEAD, cautious_load_seconds};
use super::tables::all_runs;
use super::time::LEAST_RUN;
use crate::design::times_measured;
use crate::plan::Plan;
use kvdyno_experiment::{Experiment, FileError, RunKey};
use kvdyno_model::LeaveOut;

/// The fewest of each kind that stay: with fewer there is nothing to compare.
const LEAST: usize = 2;

/// Leaves things out of `table`, an experiment, until the rest can be done in `budget` at the least length of runs; or
/// until nothing more may be left out. `missing` are engines that will not be measured anyway.
pub(super) fn thin(
    table: &mut Table,
    budget: Duration,
    order: &[LeaveOut],
    missing: &BTreeSet<String>,
    changes: &mut Vec<FitChange>,
) -> Result<(), FileError> {
    let before = table.clone();
    for what in order {
        let all: Vec<Vec<Value>> = counts(table).into_iter().map(|readers| readers.clone()).collect();
        while estimate(table, missing)? > budget && less(table, *what, &all, missing)? {}
    }
    tell(&before, table, changes);
    Ok(())
}

/// The least time that the experiment takes.
pub(super) fn estimate(table: &Table, missing: &BTreeSet<String>) -> Result<Duration, FileError> {
    let variants = Experiment::from_table(table)?.variants()?;
    let plan = Plan::of(&variants);
    let trials = plan.ordered().filter(|trial| !missing.contains(&trial.key.engine));
    let time = trials.map(|trial| {
        let experiment = &variants[trial.variant].experiment;
        let least = |time: Duration| time.min(LEAST_RUN) * times_measured(experiment);
        OVERHEAD * CAUTION
            + match trial.key.phase {
                Phase::Load => Duration::from_secs_f64(cautious_load_seconds(experiment)),
                Phase::Run => trial.planned_time().map_or(Duration::ZERO, least),
            }
    });
    Ok(time.sum())
}

/// Leaves one more thing out; of numbers of readers, which were `all`. False if that cannot be.
fn less(table: &mut Table, what: LeaveOut, all: &[Vec<Value>], missing: &BTreeSet<String>) -> Result<bool, FileError> {
    Ok(match what {
        LeaveOut::Readers => one_less(table, all),
        LeaveOut::Variants => drop_slowest_variant(table)?,
        LeaveOut::Engines => drop_last_engine(table, missing),
    })
}

/// Shortens the longest lists of readers in `table` by one, evenly spaced over the original numbers.
fn one_less(table: &mut Table, all: &[Vec<Value>]) -> bool {
    let most = counts(table).iter().map(|readers| readers.len()).max().unwrap_or(0);
    if most > LEAST {
        counts(table).into_iter().zip(all).for_each(|(readers, all)| *readers = spread(all, most - 1));
    }
    most > LEAST
}

/// The lists of readers of the experiment and of its variants, always in the same order.
fn counts(table: &mut Table) -> Vec<&mut Vec<Value>> {
    all_runs(table).into_iter().filter_map(|run| run.get_mut(RunKey::Readers.name())?.as_array_mut()).collect()
}

/// `count` of `values`, evenly spaced, with the first and the last.
fn spread(values: &[Value], count: usize) -> Vec<Value> {
    if values.len() <= count {
        return values.to_vec();
    }
    let last = values.len() - 1;
    (0..count).map(|index| values[(index * last + (count - 1) / 2) / (count - 1)].clone()).collect()
}

/// Drops the variant whose load takes longest.
fn drop_slowest_variant(table: &mut Table) -> Result<bool, FileError> {
    let variants = Experiment::from_table(table)?.variants()?;
    if variants.len() <= LEAST {
        return Ok(false);
    }
    let costs = variants.iter().map(|variant| cautious_load_seconds(&variant.experiment));
    let slowest = costs.enumerate().max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(index, _)| index);
    let list = table.get_mut("variant").and_then(Value::as_array_mut);
    if let (Some(list), Some(index)) = (list, slowest) {
        list.remove(index);
    }
    Ok(true)
}

fn drop_last_engine(table: &mut Table, missing: &BTreeSet<String>) -> bool {
    let Some(engines) = table.get_mut("engines").and_then(Value::as_array_mut) else { return false };
    let here = |engine: &Value| !engine.as_str().is_some_and(|name| missing.contains(name));
    if engines.iter().filter(|engine| here(engine)).count() <= LEAST {
        return false;
    }
    let Some(last) = engines.iter().rposition(here) else { return false };
    let removed = engines.remove(last);
    if let (Some(sections), Some(name)) = (table.get_mut("engine").and_then(Value::as_table_mut), removed.as_str()) {
        sections.remove(name);
    }
    true
}

fn tell(before: &Table, after: &Table, changes: &mut Vec<FitChange>) {
    let names = |table: &Table, key: &str| -> Vec<String> {
        let values = table.get(key).and_then(Value::as_array).into_iter().flatten();
        let name = |value: &Value| value.as_str().or_else(|| value.get("name")?.as_str()).map(str::to_owned);
        values.filter_map(name).collect()
    };
    for (key, what) in [("engines", LeaveOut::Engines), ("variant", LeaveOut::Variants)] {
        let kept = names(after, key);
        let gone: Vec<String> = names(before, key).into_iter().filter(|name| !kept.contains(name)).collect();
        if !gone.is_empty() {
            changes.push(FitChange::LeftOut { what, names: gone });
        }
    }
    let texts = |table: &Table| -> Vec<String> {
        let mut table = table.clone();
        let texts = counts(&mut table).into_iter().map(|readers| Value::Array(readers.clone()).to_string());
        Vec::from_iter(texts.collect::<BTreeSet<String>>())
    };
    let (old, new) = (texts(before), texts(after));
    if old != new {
        changes.push(FitChange::FewerReaders { old, new });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        engines = ["a", "b", "c", "gone"]
        [data]
        records = 1000000
        [[run]]
        readers = [1, 2, 4, 8, 16, 32, 64]
        [[variant]]
        name = "small"
        data.records = 10000
        [[variant]]
        name = "large"
        [[variant]]
        name = "middle"
        data.records = 100000
        [engine.c]
        engine = "lmdb"
    "#;

    fn thinned(seconds: u64, order: &[LeaveOut]) -> (Table, Vec<FitChange>) {
        let (mut table, mut changes) = (TEXT.parse::<Table>().unwrap(), Vec::new());
        let missing = BTreeSet::from(["gone".to_owned()]);
        thin(&mut table, Duration::from_secs(seconds), order, &missing, &mut changes).unwrap();
        (table, changes)
    }

    #[test]
    fn with_time_enough_all_stays() {
        let (table, changes) = thinned(3600, &[LeaveOut::Readers, LeaveOut::Variants, LeaveOut::Engines]);
        assert_eq!((table, changes), (TEXT.parse().unwrap(), Vec::new()));
    }

    #[test]
    fn what_comes_first_in_the_order_goes_first() {
        let (table, changes) = thinned(30, &[LeaveOut::Readers, LeaveOut::Variants]);
        assert_eq!(table["run"][0]["readers"].as_array().unwrap().len(), 2, "{changes:?}");
        assert_eq!(table["variant"].as_array().unwrap().len(), 2, "{changes:?}");
        assert!(changes[0].to_string().starts_with("without variant large"), "{changes:?}");
        assert_eq!(table["engines"].as_array().unwrap().len(), 4);
        let (table, changes) = thinned(1, &[LeaveOut::Engines]);
        assert_eq!(table["engines"].as_array().unwrap().len(), 3, "{changes:?}");
        assert!(table["engine"].get("c").is_none());
        assert_eq!(table["variant"].as_array().unwrap().len(), 3);
    }

    #[test]
    fn counts_keep_their_ends() {
        let counts = |numbers: &[i64]| numbers.iter().copied().map(Value::Integer).collect::<Vec<_>>();
        let all = counts(&[1, 2, 4, 8, 16, 32, 64]);
        assert_eq!(spread(&all, 3), counts(&[1, 8, 64]));
        assert_eq!(spread(&all, 2), counts(&[1, 64]));
        assert_eq!(spread(&all, 5), counts(&[1, 4, 8, 32, 64]));
        assert_eq!(spread(&all[..2], 2), counts(&[1, 2]));
    }
}
