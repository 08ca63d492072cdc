//! Every engine that is here in every workload and preset: it passes, or cannot do it. `docs/engines/workloads.md` has
//! the table, in which `make engine-table` writes the rows of the engines that are here anew, or of those that
//! `KVDYNO_TABLE_ENGINES` names.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::support::Lab;
use crate::support::columns::{Column, Group, WORKLOADS, experiment};
use kvdyno_results::{Phase, TrialOutcome};

const ENGINES: [&str; 22] = [
    "badger",
    "basho-leveldb",
    "bbolt",
    "bdb",
    "bdb:snapshot",
    "faulty",
    "fjall",
    "gtm",
    "hyperleveldb",
    "iris",
    "leveldb",
    "lmdb",
    "mdbx",
    "pebble",
    "redb",
    "rocksdb",
    "skeleton",
    "sled",
    "sqlite",
    "tokuft",
    "wiredtiger:btree",
    "wiredtiger:lsm",
];

/// Failures that are known, and told in the page of the engine.
const KNOWN: [(&str, &str); 0] = [];

/// Operations of each client.
const OPERATIONS: u64 = 2000;

/// The engines of the table that are to be run, and whether they have to be here.
fn engines() -> (Vec<String>, bool) {
    let named = std::env::var("KVDYNO_TABLE_ENGINES").unwrap_or_default();
    match named.split_whitespace().map(str::to_owned).collect::<Vec<_>>() {
        all if all.is_empty() => (ENGINES.map(str::to_owned).to_vec(), false),
        named => (named, true),
    }
}

/// Each column's cell, and what failed; no cells if nothing ran.
fn cells_of(engine: &str, must_be_here: bool) -> (Option<Vec<String>>, Vec<String>) {
    let head = format!(
        "engines = [\"{engine}\"]\n[lab]\ndatabase = \"fresh\"\norder = \"sequential\"\nrepeat = 1\naudit = \"full\"\n\
         missing_engines = \"skip\"\n"
    );
    let (mut results, mut failures) = (Vec::new(), Vec::new());
    for group in Group::ALL {
        let lab = Lab::with_installed();
        lab.write("experiment.toml", &experiment(group, &head, OPERATIONS));
        let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
        if !lab.path("results").exists() {
            let is_missing = ran.stderr.contains("none of the engines can be measured here");
            if must_be_here || !is_missing {
                failures.push(format!("{engine}: {}", ran.stderr));
            }
            continue;
        }
        results.extend(ran.results().into_iter().filter(|result| result.trial.phase == Phase::Run));
    }
    let outcome = |column: &Column| results.iter().find(|result| column.is_of(result)).map(|result| &result.outcome);
    let mut cell = |column: &Column| match outcome(column) {
        Some(TrialOutcome::Finished) => "yes".to_owned(),
        Some(TrialOutcome::Failed(failure)) => {
            if !KNOWN.contains(&(engine, column.heading)) {
                failures.push(format!("{engine}, {}: {}", column.heading, failure.reason));
            }
            "**no**".to_owned()
        }
        None => String::new(),
    };
    let cells: Vec<String> = WORKLOADS.iter().map(&mut cell).collect();
    ((!results.is_empty()).then_some(cells), failures)
}

#[test]
#[ignore = "takes minutes, and tells of the engines that are here: `make engine-table`"]
fn every_engine_passes_in_each_workload_that_it_can_do() {
    let (engines, must_be_here) = engines();
    let (next, rows, failures) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()), Mutex::new(Vec::new()));
    let work = || {
        while let Some(engine) = engines.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (cells, failed) = cells_of(engine, must_be_here);
            let row = cells.map(|cells| (engine.clone(), format!("| {engine} | {} |", cells.join(" | "))));
            rows.lock().unwrap().extend(row);
            failures.lock().unwrap().extend(failed);
        }
    };
    thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    write_table(rows.into_inner().unwrap());
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Rows of engines that were not run stay as they are, if they have these columns.
fn write_table(new: BTreeMap<String, String>) {
    let file = kvdyno_gates::repository::top().join("docs/engines/workloads.md");
    let text = fs::read_to_string(&file).unwrap();
    let (begin, end) = ("<!-- table: begin, written by make engine-table -->\n\n", "\n<!-- table: end -->");
    let (before, rest) = text.split_once(begin).unwrap();
    let (old, after) = rest.split_once(end).unwrap();
    let headings: Vec<&str> = WORKLOADS.iter().map(|column| column.heading).collect();
    let head = format!("| engine | {} |\n|---|{}", headings.join(" | "), "---|".repeat(headings.len()));
    let engine = |row: &str| row.trim_start_matches('|').split('|').next().unwrap_or_default().trim().to_owned();
    let kept = old.strip_prefix(head.as_str()).unwrap_or_default().lines().filter(|row| !row.is_empty());
    let mut rows: BTreeMap<String, String> = kept.map(|row| (engine(row), row.to_owned())).collect();
    rows.extend(new);
    let rows: Vec<String> = rows.into_values().collect();
    fs::write(&file, format!("{before}{begin}{head}\n{}\n{end}{after}", rows.join("\n"))).unwrap();
}
