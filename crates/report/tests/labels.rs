//! Labels stand beside identities, in every format.

use std::collections::BTreeSet;

use crate::support;
use kvdyno_report::{Format, render, write_page};
use kvdyno_results::folder::ResultsFolder;
use kvdyno_results::{ClientKind, Setting, latency_log};
use serde_json::{Value, json};

/// LMDB's clients are processes, Berkeley DB is tainted, and RocksDB's runs with four readers are of another version.
fn results() -> (tempfile::TempDir, ResultsFolder) {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 1);
    for mut result in results.results().unwrap() {
        match result.trial.engine.as_str() {
            "lmdb" => result.trial.clients = ClientKind::Processes,
            "bdb" => {
                let (topic, name, value) = ("tainted".into(), "DB_LOG_DSYNC".into(), "no commit waits".into());
                result.engine.settings.push(Setting { topic, name, value });
            }
            "rocksdb" if result.trial.readers == 4 => {
                (result.trial.number, result.engine.version) = (900, "9.0.0".into());
            }
            _ => continue,
        }
        results.save(&result).unwrap();
    }
    (folder, results)
}

#[test]
fn people_read_labels() {
    let (_folder, results) = results();
    let page = std::fs::read_to_string(write_page(&results).unwrap()).unwrap();
    for text in [render(&results, Format::Table).unwrap(), render(&results, Format::Markdown).unwrap(), page] {
        for label in ["lmdb, processes", "bdb TAINTED", "rocksdb, 7.8.3", "rocksdb, 9.0.0"] {
            assert!(text.contains(label), "{label}: {text}");
        }
    }
}

#[test]
fn programs_read_identities_in_columns_of_their_own() {
    let (_folder, results) = results();
    let csv = render(&results, Format::Csv).unwrap();
    assert!(!csv.contains("TAINTED") && !csv.contains("lmdb, processes") && !csv.contains("rocksdb, 9"), "{csv}");
    let json: Value = serde_json::from_str(&render(&results, Format::Json).unwrap()).unwrap();
    let rows = |list: &str| json[list].as_array().unwrap().clone();
    for row in rows("load").iter().chain(&rows("run")).chain(&rows("cells")) {
        let (engine, label) = (row["engine"].as_str().unwrap(), row["label"]["engine"].as_str().unwrap());
        assert!(label.starts_with(engine) && !engine.contains([',', ' ']), "{row}");
    }
    let tainted = rows("run").into_iter().find(|row| row["engine"] == "bdb").unwrap();
    assert_eq!((&tainted["label"]["engine"], &tainted["tainted"]), (&"bdb TAINTED".into(), &"DB_LOG_DSYNC".into()));
    let lsm = rows("cells").into_iter().find(|row| row["engine"] == "wiredtiger:lsm").unwrap();
    assert_eq!((&lsm["preset"], &lsm["version"], &lsm["library"]), (&"lsm".into(), &"3.2.1".into(), &Value::Null));
}

/// Whichever key it is: no other fact tells these runs apart.
#[test]
fn runs_that_differ_in_one_key_are_named_by_it_and_do_not_compete() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 3);
    let runs = results.results().unwrap().into_iter().filter(|result| result.trial.readers > 0);
    for (number, mut result) in (1000..).zip(runs) {
        for (isolation, number) in [("snapshot", result.trial.number), ("serializable", number)] {
            result.experiment = json!({ "run": [{ "isolation": isolation, "warmup": null }] });
            result.trial.number = number;
            results.save(&result).unwrap();
        }
    }
    let json: Value = serde_json::from_str(&render(&results, Format::Json).unwrap()).unwrap();
    let workload = |row: &Value| row["label"]["workload"].as_str().unwrap().to_owned();
    let names: BTreeSet<String> = json["run"].as_array().unwrap().iter().map(workload).collect();
    let both = ["readwhilewriting, isolation serializable", "readwhilewriting, isolation snapshot"];
    assert_eq!(names, both.map(str::to_owned).into());
    let table = render(&results, Format::Table).unwrap();
    for name in both {
        assert!(table.contains(&format!("{name}, 4 readers, 1 writer")), "{table}");
    }
    assert!(!table.contains("#2"), "{table}");
}

#[test]
fn cells_have_the_percentiles_of_all_their_operations() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 3);
    let json: Value = serde_json::from_str(&render(&results, Format::Json).unwrap()).unwrap();
    let cells = json["cells"].as_array().unwrap();
    let run = cells.iter().find(|cell| cell["engine"] == "lmdb" && cell["readers"] == 2).unwrap();
    let latency = &run["latencies"][0];
    assert_eq!((&latency["kind"], &latency["merged"]), (&"get".into(), &true.into()));
    assert_eq!(latency["p99_9_ns"]["method"], "3 repeats");
    assert!(latency["p99_9_ns"]["low"].as_f64() < latency["p99_9_ns"]["value"].as_f64());
}

#[test]
fn a_missing_log_of_latencies_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 3);
    assert!(!render(&results, Format::Table).unwrap().contains(latency_log::FILE));
    let lmdb =
        results.results().unwrap().into_iter().find(|r| r.trial.engine == "lmdb" && r.trial.readers == 2).unwrap();
    std::fs::remove_file(results.trial_folder(&lmdb.trial).join(latency_log::FILE)).unwrap();
    let note = "lmdb readwhilewriting, 2 readers, 1 writer: no latency.hlog of every trial: percentiles of get, put \
                are medians of the trials' own";
    assert!(render(&results, Format::Table).unwrap().contains(note));
    std::fs::write(results.trial_folder(&lmdb.trial).join(latency_log::FILE), "Tag=get,0,0,1,!\n").unwrap();
    let error = render(&results, Format::Table).unwrap_err().to_string();
    assert!(error.contains(latency_log::FILE) && error.contains("damaged"), "{error}");
}
