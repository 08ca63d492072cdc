//! Variants of an experiment, engines that are left out, and experiments made to fit.

#![allow(clippy::unwrap_used)]

mod support;

use support::Lab;

const FILE: &str = r#"
name = "sizes"
engines = ["lmdb", "voldemort", "faulty"]
lab = { missing = "skip" }
fit = { memory = "64TiB", cores = 1024 }
[data]
records = 20000
[[run]]
workload = "readrandom"
readers = [1, 2]
operations = 200
warmup = "0s"
[[variant]]
name = "small"
data.value_size = 30
[[variant]]
name = "large"
data.value_size = 900
run.readers = [1]
engines = ["lmdb"]
"#;

#[test]
fn each_variant_has_its_own_databases_and_what_is_not_here_is_left_out() {
    let lab = Lab::new();
    lab.write("sizes.toml", FILE);
    let ran = lab.run(["run", "sizes.toml", "--out", "results", "--format", "csv"]);
    ran.exits(0).says("left out: voldemort (small): there is no engine `voldemort`");
    let records = lab.results().records().unwrap();
    let named: Vec<String> = records
        .iter()
        .map(|record| format!("{} {} {}", record.trial.variant, record.trial.engine, record.workload.value_size))
        .collect();
    let small = ["small lmdb 30", "small faulty 30"];
    let expected = [small, small, small].concat().into_iter().chain(["large lmdb 900"; 2]).collect::<Vec<_>>();
    assert_eq!(named, expected);
    assert!(records.iter().all(|record| record.is_finished()));
    assert!(!lab.path("results/databases").exists());
    assert!(lab.report("table").contains("voldemort was left out: there is no engine `voldemort`"));
    assert!(lab.report("table").contains("readrandom, large: reads/s"));
}

#[test]
fn an_interrupted_experiment_with_variants_goes_on() {
    let lab = Lab::new();
    lab.write("sizes.toml", FILE);
    lab.run(["run", "sizes.toml", "--out", "results"]).exits(0);
    let trials = lab.path("results/trials");
    let last = std::fs::read_dir(&trials).unwrap().map(|entry| entry.unwrap().path()).max().unwrap();
    std::fs::remove_dir_all(last).unwrap();
    lab.resume().exits(0);
    assert_eq!(lab.results().records().unwrap().len(), 8);
}

#[test]
fn a_variant_that_cannot_be_says_where() {
    let lab = Lab::new();
    lab.write("sizes.toml", &FILE.replace("data.value_size = 30", "data.value_sise = 30"));
    let ran = lab.run(["run", "sizes.toml"]);
    ran.exits(2).says("variant `small`: unknown field `value_sise`").says("sizes.toml:13");
}

#[test]
fn an_experiment_is_made_to_fit() {
    let lab = Lab::new();
    lab.write("sizes.toml", FILE);
    let ran = lab.run(["run", "sizes.toml", "--fit", "--dry-run"]);
    ran.exits(0).says("fit: records: 10000 instead of 20000").says("fit: readers: [1] instead of [1, 2]");
    ran.says("6 trials: 3 loads, and 3 runs");
    assert!(ran.stdout.contains("records = 10000"), "{}", ran.stdout);
    lab.run(["run", "sizes.toml", "--budget", "1m"]).exits(2).says("--fit");
}

#[test]
fn an_experiment_without_any_engine_that_is_here_is_refused() {
    let lab = Lab::new();
    lab.write("none.toml", "engines = [\"voldemort\"]\nlab = { missing = \"skip\" }\n");
    lab.run(["run", "none.toml"]).exits(2).says("none of the engines can be measured here").says("voldemort");
}
