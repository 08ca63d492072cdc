//! Scales numbers of threads by cores and hyperthreads.

use kvdyno_environment::requested::EnvironmentKey;
use kvdyno_experiment::{RunKey, overlay};
use kvdyno_model::Smt;
use serde::Deserialize;
use toml::{Table, Value};

use super::change::FitChange;
use super::tables::{runs, section, tell, variants_of};

/// Numbers of readers by the factor of the cores; numbers that become the same are one.
pub(super) fn fewer_threads(table: &mut Table, variant: &str, scale: f64, changes: &mut Vec<FitChange>) {
    for run in runs(table) {
        let Some(readers) = run.get_mut(RunKey::Readers.name()).and_then(Value::as_array_mut) else { continue };
        let old: Vec<i64> = readers.iter().filter_map(Value::as_integer).collect();
        let mut new: Vec<i64> =
            old.iter().map(|&count| (count as f64 * scale.min(1.0)).ceil().max(1.0) as i64).collect();
        new.dedup();
        tell(changes, variant, RunKey::Readers, (&format!("{old:?}"), &format!("{new:?}")));
        *readers = new.into_iter().map(Value::Integer).collect();
    }
}

/// Whether a variant is to have the hyperthreads of its cores.
pub(super) fn has_smt(variant: &Table) -> bool {
    let smt = variant.get("environment").and_then(|environment| environment.get(EnvironmentKey::Smt.name()));
    smt.and_then(|smt| Smt::deserialize(smt.clone()).ok()) == Some(Smt::On)
}

pub(super) fn asks_for_smt(table: &Table) -> bool {
    let variants = table.get("variant").and_then(Value::as_array);
    variants.into_iter().flatten().filter_map(Value::as_table).any(has_smt)
}

/// On a machine without hyperthreads, two threads for each core stand in for them: what has SMT gets twice the readers.
pub(super) fn stand_in_for_smt(table: &mut Table, changes: &mut Vec<FitChange>) {
    let usual = table.get("run").and_then(Value::as_array).cloned().unwrap_or_default();
    for variant in variants_of(table).filter(|variant| has_smt(variant)) {
        let own = Table::from_iter(variant.remove("run").map(|run| ("run".to_owned(), run)));
        let mut whole = Table::from_iter([("run".to_owned(), Value::Array(usual.clone()))]);
        overlay(&mut whole, own);
        for readers in
            runs(&mut whole).into_iter().filter_map(|run| run.get_mut(RunKey::Readers.name())?.as_array_mut())
        {
            *readers = readers.iter().filter_map(Value::as_integer).map(|count| Value::Integer(2 * count)).collect();
        }
        variant.extend(whole);
        // The request for hyperthreads is removed: the environment would refuse it without them.
        section(variant, "environment").and_then(|environment| environment.remove(EnvironmentKey::Smt.name()));
        let name = variant.get("name").and_then(Value::as_str).unwrap_or_default();
        changes.push(FitChange::StandInForSmt { variant: name.to_owned() });
    }
}
