//! Sizes among the engines' own options, such as that of a table file, which shrink with the data: a tree keeps as many
//! levels and files as it had.

use std::collections::BTreeMap;

use kvdyno_engine::ScaledOption;
use kvdyno_model::{ByteSize, KeyPath, KeyStep};
use serde::Deserialize;
use toml::{Table, Value};

use super::change::FitChange;

/// Engines round sizes to pages; a size in whole pages is one that they take as it is.
const PAGE: u64 = 4096;

/// Shrinks the size options in `table`, which is that of a variant or of the experiment: those that the table sets
/// itself, and all options of the engines for which `writes_out` is true.
pub(super) fn shrink_options(
    table: &mut Table,
    variant: &str,
    writes_out: &dyn Fn(&str) -> bool,
    sizes: &BTreeMap<String, Vec<ScaledOption>>,
    scale: f64,
    changes: &mut Vec<FitChange>,
) {
    for (label, options) in sizes {
        for option in options {
            let said = said(table, label, &option.name);
            let Some(bytes) = said.or_else(|| writes_out(label).then_some(option.bytes)) else { continue };
            let key = [label, "options", &option.name]
                .into_iter()
                .fold(KeyPath::new("", "engine"), |path, step| path.then(KeyStep::Key(step.to_owned())));
            let wanted = ((bytes as f64 * scale).ceil() as u64).next_multiple_of(PAGE);
            let new = wanted.max(option.least).min(bytes);
            if new != bytes {
                say(table, label, &option.name, new);
                let (old, new) = (ByteSize(bytes).to_string(), ByteSize(new).to_string());
                changes.push(FitChange::Value { variant: variant.to_owned(), key: key.clone(), old, new });
            }
            if wanted < new {
                let times = new as f64 / (bytes as f64 * scale);
                changes.push(FitChange::AtLeast { variant: variant.to_owned(), key, bytes: ByteSize(new), times });
            }
        }
    }
}

/// The value that a table has for an option.
fn said(table: &Table, label: &str, option: &str) -> Option<u64> {
    let value = table.get("engine")?.get(label)?.get("options")?.get(option)?;
    ByteSize::deserialize(value.clone()).ok().map(ByteSize::get)
}

fn say(table: &mut Table, label: &str, option: &str, bytes: u64) {
    let mut inner = table;
    for step in ["engine", label, "options"] {
        let entry = inner.entry(step).or_insert_with(|| Value::Table(Table::new()));
        let Some(next) = entry.as_table_mut() else { return };
        inner = next;
    }
    inner.insert(option.to_owned(), Value::String(ByteSize(bytes).to_string()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(name: &str, bytes: u64, least: u64) -> ScaledOption {
        ScaledOption { name: name.to_owned(), bytes, least }
    }

    /// Levels of a tree whose first has `base` bytes and each next ten times as many.
    fn levels(data: f64, base: u64) -> f64 {
        (data / base as f64).log10().ceil()
    }

    #[test]
    fn a_tree_keeps_its_levels_and_files() {
        let sizes = BTreeMap::from([(
            "rocksdb:pfx".to_owned(),
            vec![option("level", 256 << 20, 1 << 20), option("file", 64 << 20, 64 << 10)],
        )]);
        let (data, scale) = (100e9, 0.01);
        let (mut table, mut changes) = (Table::new(), Vec::new());
        shrink_options(&mut table, "", &|_| true, &sizes, scale, &mut changes);
        let [level, file] = ["level", "file"].map(|name| said(&table, "rocksdb:pfx", name).unwrap());
        assert_eq!(levels(data, 256 << 20), levels(data * scale, level));
        let files = [data / (64 << 20) as f64, data * scale / file as f64];
        assert!((files[0] / files[1] - 1.0).abs() < 0.01, "{files:?}");
        assert_eq!(changes.len(), 2);
        assert!(changes[0].to_string().starts_with("engine.rocksdb:pfx.options.level: "), "{}", changes[0]);
    }

    #[test]
    fn a_size_that_cannot_shrink_so_far_is_named() {
        let sizes = BTreeMap::from([("leveldb".to_owned(), vec![option("fixed", 10 << 20, 10 << 20)])]);
        let (mut table, mut changes) = (Table::new(), Vec::new());
        shrink_options(&mut table, "", &|_| true, &sizes, 0.01, &mut changes);
        assert!(table.is_empty());
        let [change] = changes.as_slice() else { panic!("{changes:?}") };
        assert_eq!(
            change.to_string(),
            "engine.leveldb.options.fixed: 10MiB is the least: 100 times as much beside the database as it was"
        );
    }

    #[test]
    fn a_variant_keeps_to_what_it_says() {
        let sizes = BTreeMap::from([("a".to_owned(), vec![option("file", 1 << 30, 1), option("level", 1 << 30, 1)])]);
        let mut table: Table = "engine.a.options.file = \"100MiB\"".parse().unwrap();
        let mut changes = Vec::new();
        shrink_options(&mut table, "v", &|_| false, &sizes, 0.1, &mut changes);
        assert_eq!((said(&table, "a", "file"), said(&table, "a", "level")), (Some(10 << 20), None));
        assert!(changes[0].to_string().starts_with("variant v: engine.a.options.file: "));
    }

    #[test]
    fn nothing_changes_where_nothing_shrinks() {
        let sizes = BTreeMap::from([("a".to_owned(), vec![option("odd", 1001, 1)])]);
        let (mut table, mut changes) = (Table::new(), Vec::new());
        shrink_options(&mut table, "", &|_| true, &sizes, 1.0, &mut changes);
        assert!(table.is_empty() && changes.is_empty());
    }
}
