//! A results folder that is not whole is never taken for one: what is missing is told, what is damaged is an error, and
//! a run does not go on with another experiment than it was begun with.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use crate::support::{Lab, Ran};

/// A load and two runs.
fn finished() -> Lab {
    let lab = Lab::new();
    lab.compare(["faulty"]).workload("readrandom,readseq").operations(100).run().exits(0);
    lab
}

fn trial(lab: &Lab, name: &str) -> PathBuf {
    lab.path("results/trials").join(name)
}

/// Exit code 2, and nothing touched.
#[track_caller]
fn refused<const N: usize>(lab: &Lab, arguments: [&str; N]) -> Ran {
    let before = lab.tree();
    let ran = lab.run(arguments);
    ran.exits(2);
    assert_eq!(lab.tree(), before, "something was touched: {}", ran.stderr);
    ran
}

#[test]
fn a_folder_that_misses_a_trial_says_so_in_every_format() {
    let lab = finished();
    assert!(!lab.report("table").contains("Incomplete"));
    fs::remove_dir_all(trial(&lab, "0002-faulty-readrandom-1r0w")).unwrap();
    let words = "2 of 3 trials have a result; there is none of faulty readrandom, 1 reader, repeat 1";
    let table = lab.report("table");
    assert!(table.contains(&format!("Incomplete: {words}")), "{table}");
    assert!(lab.report("md").contains(words));
    let json: serde_json::Value = serde_json::from_str(&lab.report("json")).unwrap();
    assert_eq!(json["missing"], 1);
    let page = fs::read_to_string(lab.path("results/report/index.html")).unwrap();
    assert!(page.contains(words) && page.contains("2 of 3 trials finished"));
}

#[test]
fn a_result_that_is_no_file_is_an_error() {
    let lab = finished();
    let result = trial(&lab, "0002-faulty-readrandom-1r0w").join("result.json");
    fs::remove_file(&result).unwrap();
    symlink("nothing.json", &result).unwrap();
    for command in [&["report", "results"][..], &["run", "--resume", "results"]] {
        lab.run_with(command).exits(2).says("result.json is damaged: it is a link to nothing");
    }
    fs::remove_file(&result).unwrap();
    fs::create_dir(&result).unwrap();
    lab.run(["report", "results"]).exits(2).says("result.json is damaged: it is not a regular file");
}

/// Whoever opens one waits for ever for somebody who writes.
#[test]
fn a_fifo_is_an_error_and_not_waited_for() {
    for name in ["series.csv", "resources.csv", "latency.hlog", "result.json"] {
        let lab = finished();
        let file = trial(&lab, "0002-faulty-readrandom-1r0w").join(name);
        fs::remove_file(&file).unwrap();
        assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
        lab.run(["report", "results"]).exits(2).says(&format!("{name} is damaged: it is not a regular file"));
    }
}

#[test]
fn two_results_of_one_trial_are_an_error() {
    let lab = finished();
    fs::create_dir(trial(&lab, "0009-copy")).unwrap();
    let from = trial(&lab, "0002-faulty-readrandom-1r0w").join("result.json");
    fs::copy(from, trial(&lab, "0009-copy").join("result.json")).unwrap();
    refused(&lab, ["report", "results"]).says("it is of trial 2, of which there is another result");
}

#[test]
fn a_run_does_not_go_on_with_another_experiment() {
    let lab = finished();
    fs::remove_dir_all(trial(&lab, "0003-faulty-readseq-1r0w")).unwrap();
    let file = lab.path("results/experiment.toml");
    let text = fs::read_to_string(&file).unwrap();
    let changed = text.replace("records = 2000", "records = 4000").replace("repeat = 1", "repeat = 2");
    assert_ne!(changed, text);
    fs::write(&file, &changed).unwrap();
    refused(&lab, ["run", "--resume", "results"])
        .says("experiment.toml was changed since the run began")
        .says("data.records was 2000 and is 4000; lab.repeat was 1 and is 2; restore it, or start anew");
    // A comment changes nothing.
    fs::write(&file, format!("# mine\n{text}")).unwrap();
    lab.resume().exits(0).is_whole();
}

/// Another adapter of the same name may do less, and then the numbers of trials mean others.
#[test]
fn a_run_does_not_go_on_with_another_plan() {
    let lab = finished();
    let file = lab.path("results/plan.json");
    let text = fs::read_to_string(&file).unwrap();
    let mut plan: serde_json::Value = serde_json::from_str(&text).unwrap();
    plan["trials"][2]["workload"] = "readreverse".into();
    fs::write(&file, plan.to_string()).unwrap();
    lab.resume().exits(2).says("another plan than it was begun with: trial 3 was faulty readreverse");
}
