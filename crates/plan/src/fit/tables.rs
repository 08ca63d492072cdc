//! The tables of an experiment that can be made to fit: the experiment itself and each variant, and their runs.

use kvdyno_model::{KeyPath, KeyStep};
use toml::{Table, Value};

use super::change::FitChange;

/// The experiment itself and each of its variants, with their names.
pub(super) fn each_table(table: &mut Table, change: &mut dyn FnMut(&mut Table, &str)) {
    change(table, "");
    for variant in variants_of(table) {
        let name = variant.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        change(variant, &name);
    }
}

/// Whether each variant sets its own number of records, so that the experiment's own is unused.
pub(super) fn is_changed_by_all(table: &Table) -> bool {
    let variants = table.get("variant").and_then(Value::as_array);
    let has = |variant: &Value| variant.get("data").and_then(|data| data.get("records")).is_some();
    variants.is_some_and(|variants| !variants.is_empty() && variants.iter().all(has))
}

pub(super) fn section<'a>(table: &'a mut Table, name: &str) -> Option<&'a mut Table> {
    table.get_mut(name).and_then(Value::as_table_mut)
}

/// `[[run]]`, or a variant's `run.…`.
pub(super) fn runs(table: &mut Table) -> Vec<&mut Table> {
    table.get_mut("run").map(tables).unwrap_or_default()
}

/// The same of the experiment and of its variants.
pub(super) fn all_runs(table: &mut Table) -> Vec<&mut Table> {
    let of_key = |(key, value): (_, _)| match String::as_str(key) {
        "run" => tables(value),
        "variant" => tables(value).into_iter().flat_map(runs).collect(),
        _ => Vec::new(),
    };
    table.iter_mut().flat_map(of_key).collect()
}

/// A table, or the tables of a list.
fn tables(value: &mut Value) -> Vec<&mut Table> {
    match value {
        Value::Array(all) => all.iter_mut().filter_map(Value::as_table_mut).collect(),
        Value::Table(one) => vec![one],
        _ => Vec::new(),
    }
}

/// The variants.
pub(super) fn variants_of(table: &mut Table) -> impl Iterator<Item = &mut Table> {
    let variants = table.get_mut("variant").and_then(Value::as_array_mut);
    variants.into_iter().flatten().filter_map(Value::as_table_mut)
}

/// The value of a key, where a table says it.
pub(super) fn value_mut(table: &mut Table, key: impl Into<KeyPath>) -> Option<&mut Value> {
    match key.into().steps() {
        [KeyStep::Key(name)] => table.get_mut(name),
        [KeyStep::Key(section), KeyStep::Key(name)] => table.get_mut(section)?.as_table_mut()?.get_mut(name),
        _ => None,
    }
}

/// Tells a change, once.
pub(super) fn tell<T: PartialEq + ToString>(
    changes: &mut Vec<FitChange>,
    variant: &str,
    key: impl Into<KeyPath>,
    (old, new): (&T, &T),
) {
    let change =
        FitChange::Value { variant: variant.to_owned(), key: key.into(), old: old.to_string(), new: new.to_string() };
    if old != new && !changes.contains(&change) {
        changes.push(change);
    }
}
