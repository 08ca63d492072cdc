//! Every engine that is here in every workload and preset: it passes, or cannot do it. `docs/engines/workloads.md` has
//! the table, in which `make engine-table` writes the rows of the engines that are here anew.

#[allow(dead_code)]
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

/// Each column's cell; none if the engine is not here.
fn cells_of(engine: &str) -> Option<(Vec<String>, Vec<String>)> {
    let head = format!(
        "engines = [\"{engine}\"]\n[lab]\ndatabase = \"fresh\"\norder = \"sequential\"\nrepeat = 1\naudit = \"full\"\n\
         missing_engines = \"skip\"\n"
    );
    let mut results = Vec::new();
    for group in Group::ALL {
        let lab = Lab::new();
        lab.write("experiment.toml", &experiment(group, &head, OPERATIONS));
        let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
        if !lab.path("results").exists() {
            continue;
        }
        results.extend(ran.results().into_iter().filter(|result| result.trial.phase == Phase::Run));
    }
    let mut failures = Vec::new();
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
    (!results.is_empty()).then_some((cells, failures))
}

#[test]
#[ignore = "takes minutes, and tells of the engines that are here: `make engine-table`"]
fn every_engine_passes_in_each_workload_that_it_can_do() {
    let (next, rows, failures) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()), Mutex::new(Vec::new()));
    let work = || {
        while let Some(engine) = ENGINES.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some((cells, failed)) = cells_of(engine) else { continue };
            rows.lock().unwrap().insert((*engine).to_owned(), format!("| {engine} | {} |", cells.join(" | ")));
            failures.lock().unwrap().extend(failed);
        }
    };
    thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    write_table(rows.into_inner().unwrap());
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Rows of engines that are not here stay as they are.
fn write_table(new: BTreeMap<String, String>) {
    let file = kvdyno_gates::repository::top().join("docs/engines/workloads.md");
    let text = fs::read_to_string(&file).unwrap();
    let (begin, end) = ("<!-- table: begin, written by make engine-table -->\n\n", "\n<!-- table: end -->");
    let (before, rest) = text.split_once(begin).unwrap();
    let (old, after) = rest.split_once(end).unwrap();
    let engine = |row: &str| row.trim_start_matches('|').split('|').next().unwrap_or_default().trim().to_owned();
    let mut rows: BTreeMap<String, String> =
        old.lines().skip(2).map(|row| (engine(row), row.to_owned())).filter(|(name, _)| !name.is_empty()).collect();
    rows.extend(new);
    let headings: Vec<&str> = WORKLOADS.iter().map(|column| column.heading).collect();
    let head = format!("| engine | {} |\n|---|{}", headings.join(" | "), "---|".repeat(headings.len()));
    let rows: Vec<String> = rows.into_values().collect();
    fs::write(&file, format!("{before}{begin}{head}\n{}\n{end}{after}", rows.join("\n"))).unwrap();
}
