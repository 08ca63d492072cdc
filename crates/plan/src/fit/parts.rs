//! The parts of an experiment's table that can be made to fit: the experiment itself and each variant, and their runs.

use toml::{Table, Value};

/// The experiment itself and each of its variants, with their names.
pub(super) fn each_part(table: &mut Table, change: &mut dyn FnMut(&mut Table, &str)) {
    change(table, "");
    for variant in variants_of(table) {
        let name = variant.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        change(variant, &format!("variant {name}: "));
    }
}

/// Whether each variant has its own number of records, so that the experiment's own stands for nothing.
pub(super) fn is_changed_by_all(table: &Table) -> bool {
    let variants = table.get("variant").and_then(Value::as_array);
    let has = |variant: &Value| variant.get("data").and_then(|data| data.get("records")).is_some();
    variants.is_some_and(|variants| !variants.is_empty() && variants.iter().all(has))
}

pub(super) fn section<'a>(part: &'a mut Table, name: &str) -> Option<&'a mut Table> {
    part.get_mut(name).and_then(Value::as_table_mut)
}

/// `[[run]]`, or a variant's `run.…`.
pub(super) fn runs(part: &mut Table) -> Vec<&mut Table> {
    match part.get_mut("run") {
        Some(Value::Array(runs)) => runs.iter_mut().filter_map(Value::as_table_mut).collect(),
        Some(Value::Table(run)) => vec![run],
        _ => Vec::new(),
    }
}

/// The variants.
pub(super) fn variants_of(table: &mut Table) -> impl Iterator<Item = &mut Table> {
    let variants = table.get_mut("variant").and_then(Value::as_array_mut);
    variants.into_iter().flatten().filter_map(Value::as_table_mut)
}

/// Tells a change, once.
pub(super) fn tell<T: PartialEq + ToString>(changes: &mut Vec<String>, what: &str, old: &T, new: &T) {
    let line = format!("{what}: {} instead of {}", new.to_string(), old.to_string());
    if old != new && !changes.contains(&line) {
        changes.push(line);
    }
}
