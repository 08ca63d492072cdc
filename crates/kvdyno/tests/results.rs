//! The folder that a run leaves: results that agree with themselves, files that other tools read, reports in every
//! form.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs;

use kvdyno_results::{Operations, Percentile, Phase, TrialResult};
use support::{Comparison, Lab, Ran, interval_log};

/// The columns of `published/symas-2014-inmem-load.csv`, but for the first, which is the same in all of our rows.
const LOAD_COLUMNS: &str =
    "engine,wall_s,user_s,sys_s,cpu_pct,db_kib,process_kib,total_kib,ctx_voluntary,ctx_involuntary,";
/// The columns of `published/symas-2014-inmem-numa-interleave.csv`.
const RUN_COLUMNS: &str = "engine,readers,wall_s,user_s,sys_s,cpu_pct,db_kib,process_kib,total_kib,ctx_voluntary,\
                           ctx_involuntary,writes_per_s,reads_per_s,";

/// Three engines, reads beside a writer, a scan, updates: twelve trials.
fn comparison() -> Comparison {
    let engines = Lab::new().compare(["faulty", "lmdb", "leveldb"]).with("records", 5000).milliseconds(100);
    engines.workload("readwhilewriting,readseq,overwrite").with("readers", 2)
}

fn operations<'a>(result: &'a TrialResult, kind: &str) -> &'a Operations {
    result.operations.iter().find(|operations| operations.kind.name() == kind).unwrap()
}

#[test]
fn figures_agree_with_each_other() {
    let ran = comparison().milliseconds(600).workload("readwhilewriting,overwrite").run();
    ran.is_clean();
    for result in ran.results() {
        cpu_is_user_and_system_over_wall(&result);
        rates_are_operations_over_the_window(&result);
        latencies_fit_the_rates(&result);
        the_window_lies_within_the_process(&result);
    }
}

/// As `time` has it, cut to a whole number.
#[track_caller]
fn cpu_is_user_and_system_over_wall(result: &TrialResult) {
    let os = &result.os;
    let exact = 100.0 * (os.user_s + os.sys_s) / os.wall_s;
    // Milliseconds are cut too, of wall and of CPU time alike.
    let rounding = 1.0 + 100.0 * 0.002 / os.wall_s;
    assert!((exact - os.cpu_pct as f64).abs() <= rounding, "{exact}: {os:?}");
}

/// A thread's own time begins when it gets a CPU, the window when it might: on a busy machine somewhat earlier.
const LATE_S: f64 = 0.06;

#[track_caller]
fn rates_are_operations_over_the_window(result: &TrialResult) {
    let window = result.window.as_ref().unwrap().seconds;
    assert!(!result.operations.is_empty());
    // The window ends with the last thread's last operation, which may wait for the disk while the others are through.
    let longest = result.operations.iter().map(|o| o.latency.max_ns).max().unwrap() as f64 / 1e9;
    for o in &result.operations {
        let seconds = o.operations as f64 / o.operations_per_s;
        let tolerance = 0.05 * window + LATE_S + longest;
        assert!((seconds - window).abs() <= tolerance, "{seconds}, {window}: {:?} {o:?}", result.trial);
        let batch = o.records as f64 / o.operations as f64;
        assert!((o.records_per_s - o.operations_per_s * batch).abs() <= 0.001 * o.records_per_s, "{o:?}");
    }
}

/// A thread has one call under way at a time.
#[track_caller]
fn latencies_fit_the_rates(result: &TrialResult) {
    let seconds = result.window.as_ref().unwrap().seconds;
    for o in &result.operations {
        let l = &o.latency;
        let percentiles = Percentile::ALL.map(|percentile| l.at(percentile));
        let rising: Vec<u64> = [l.min_ns].into_iter().chain(percentiles).chain([l.max_ns]).collect();
        assert!(rising.is_sorted() && (l.min_ns..=l.max_ns).contains(&l.mean_ns), "{l:?}");
        let in_calls = l.mean_ns as f64 * o.operations as f64 / 1e9;
        let possible = seconds * f64::from(o.threads);
        assert!(in_calls <= 1.05 * possible, "{in_calls} s of {possible} s: {:?} {o:?}", result.trial);
        // What takes microseconds is not said to take nanoseconds: most of a thread's time goes into calls.
        assert!(in_calls >= 0.02 * possible, "{in_calls} s of {possible} s: {:?} {o:?}", result.trial);
    }
}

#[track_caller]
fn the_window_lies_within_the_process(result: &TrialResult) {
    let window = result.window.as_ref().unwrap();
    assert!(window.seconds + window.warmup_seconds <= result.os.wall_s, "{window:?} {:?}", result.os);
    assert!(window.user_s <= result.os.user_s + 0.01 && window.sys_s <= result.os.sys_s + 0.01, "{window:?}");
}

/// One read in a hundred takes 50 ms: the 99.9th percentile knows, the median does not.
#[test]
fn slow_operations_show_in_the_percentiles() {
    let slow = Lab::new().compare(["faulty"]).workload("readrandom").operations(1000).fault("slow-get", 100);
    let ran = slow.run();
    let result = ran.is_clean().trials("faulty", "readrandom").remove(0).result;
    let latency = &operations(&result, "get").latency;
    assert!(latency.at(Percentile::P50) < 1_000_000, "{latency:?}");
    assert!(latency.at(Percentile::P99_9) >= 50_000_000 && latency.max_ns < 500_000_000, "{latency:?}");
}

#[test]
fn latency_logs_hold_every_operation() {
    let ran = comparison().run();
    ran.is_clean();
    for result in ran.results() {
        let log = fs::read_to_string(ran.lab.folder().trial_folder(&result.trial).join("latency.hlog")).unwrap();
        let counted = result.operations.iter().map(|o| (o.kind.to_string(), o.operations)).collect();
        assert_eq!(interval_log(&log), counted, "{:?}", result.trial);
    }
}

/// Rows lie within the window, so they hold most operations and never more than all.
#[test]
fn time_series_add_up() {
    let ran = comparison().milliseconds(500).workload("readwhilewriting").run();
    for result in ran.is_clean().results() {
        let rows = ran.lab.folder().series(&result.trial).unwrap();
        for o in &result.operations {
            let rows = rows.iter().filter(|row| row.kind == o.kind);
            let (operations, records) = rows.fold((0, 0), |sum, row| (sum.0 + row.operations, sum.1 + row.records));
            assert!(operations <= o.operations && records <= o.records, "{operations}, {records}: {o:?}");
            if result.trial.phase == Phase::Run {
                assert!(operations as f64 >= 0.3 * o.operations as f64, "{operations}: {:?} {o:?}", result.trial);
            }
        }
        let window = result.window.unwrap().seconds;
        assert!(rows.iter().all(|row| row.end_s <= window + 0.15), "{window}: {rows:?}");
    }
}

// ---- files

#[test]
fn a_results_folder_has_what_it_should() {
    let ran = comparison().run();
    ran.is_clean();
    assert!(ran.lab.folder().machine().unwrap().is_some());
    for result in ran.results() {
        assert!(result.os.peak_rss_kib > 1000, "{:?}", result.os);
        assert!(result.engine.version.starts_with(|c: char| c.is_ascii_digit()), "{:?}", result.engine);
        assert!(result.engine.settings.iter().any(|setting| setting.topic == "durability"), "{:?}", result.engine);
        assert!(result.space.db_kib >= 5000 * 116 / 1024 && result.space.db_peak_kib >= result.space.db_kib);
        let folder = ran.lab.folder().trial_folder(&result.trial);
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["latency.hlog", "result.json", "series.csv", "spec.json", "worker.json", "worker.log"]);
    }
}

#[test]
fn csv_begins_with_the_published_columns() {
    let ran = comparison().with("format", "csv").run();
    ran.is_clean();
    let (load, run) = ran.stdout.split_once("\n\n").unwrap();
    assert!(load.starts_with(LOAD_COLUMNS), "{load}");
    assert!(run.starts_with(RUN_COLUMNS), "{run}");
    let saved = |name: &str| fs::read_to_string(ran.lab.path("results/report").join(name)).unwrap();
    assert_eq!((saved("load.csv").trim_end(), saved("run.csv").trim_end()), (load, run.trim_end()));
    let mut rows = csv::Reader::from_reader(run.as_bytes());
    let numbers = rows.records().map(|row| row.unwrap()).map(|row| (1..13).all(|n| row[n].parse::<f64>().is_ok()));
    assert_eq!(numbers.collect::<Vec<_>>(), [true; 9]);
}

#[test]
fn reports_come_in_every_form() {
    let ran = comparison().run();
    ran.is_clean();
    assert_eq!(ran.lab.report("table"), ran.stdout);
    let json: serde_json::Value = serde_json::from_str(&ran.lab.report("json")).unwrap();
    assert_eq!((json["load"].as_array().unwrap().len(), json["run"].as_array().unwrap().len()), (3, 9));
    assert_eq!(json["run"][0]["outcome"], "finished");
    let markdown = ran.lab.report("md");
    assert!(markdown.starts_with("# comparison\n") && markdown.contains("\n| --- |"), "{markdown}");
    for workload in ["readwhilewriting", "readseq", "overwrite"] {
        assert!(ran.stdout.contains(workload) && markdown.contains(workload));
    }
}

/// One file that needs no other.
#[test]
fn the_page_is_written() {
    let ran = comparison().run();
    ran.is_clean().says("charts: ").says("results/report/index.html");
    let page = || fs::read_to_string(ran.lab.path("results/report/index.html")).unwrap();
    assert!(page().contains("<svg") && page().contains("</html>"));
    assert!(!page().contains("src=\"http") && !page().contains("href=\"http"));
    fs::remove_dir_all(ran.lab.path("results/report")).unwrap();
    ran.lab.report("table");
    assert!(page().contains("</html>"));
}

// ---- the same again

#[test]
fn a_dry_run_writes_the_file_that_does_the_same() {
    let lab = Lab::new();
    let quick = lab.compare(["lmdb", "faulty"]).workload("readrandom,readseq").with("readers", "1,2").operations(500);
    let comparison = quick.with("seed", 7).option("faulty.every=9").with("repeat", 2);
    let before = lab.tree();
    let file = comparison.experiment();
    assert_eq!(lab.tree(), before, "a dry run touches nothing");
    comparison.run().is_clean();
    let from_line = names_and_seeds(&lab);
    fs::rename(lab.path("results"), lab.path("first")).unwrap();
    lab.write("mine.toml", &file);
    lab.run(["run", "mine.toml", "--out", "results"]).is_clean();
    assert_eq!(names_and_seeds(&lab), from_line);
    let written = |folder: &str| fs::read_to_string(lab.path(folder).join("experiment.toml")).unwrap();
    assert_eq!(written("first"), written("results"));
    // Run from a file, a dry run gives it back with every key spelled out.
    assert_eq!(lab.run(["run", "mine.toml", "--dry-run"]).exits(0).stdout, written("results"));
}

/// `| head` closes the pipe early; that is nobody's mistake.
#[test]
fn a_closed_pipe_brings_nothing_down() {
    let lab = Lab::new();
    for arguments in [vec!["compare", "lmdb", "--dry-run"], vec!["engines"], vec!["workloads"]] {
        let (_, closed) = std::io::pipe().unwrap();
        let ran = lab.kvdyno().args(&arguments).stdout(closed).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.code() == Some(1) && said.contains("cannot print: Broken pipe"), "{arguments:?}: {said}");
    }
}

fn names_and_seeds(lab: &Lab) -> Vec<(String, u64)> {
    let results = lab.folder().results().unwrap();
    let name =
        |result: &TrialResult| lab.folder().trial_folder(&result.trial).file_name().unwrap().to_string_lossy().into();
    results.iter().map(|result| (name(result), result.workload.seed)).collect()
}

/// Engines get the same streams, trials different ones, another seed different ones again.
#[test]
fn seeds_make_the_streams() {
    let seeds = |seed: u64| {
        let lab = Lab::new();
        let quick = lab.compare(["faulty", "lmdb"]).workload("readrandom").operations(100).with("seed", seed);
        quick.with("repeat", 2).run().is_clean();
        lab.folder().results().unwrap().iter().map(|result| result.workload.seed).collect::<Vec<_>>()
    };
    let (first, again, other) = (seeds(1), seeds(1), seeds(2));
    assert_eq!(first, again);
    assert!(first.iter().all(|seed| !other.contains(seed)));
    let mut different = first.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), first.len() / 2);
}

// ---- where databases go

#[test]
fn databases_go_at_the_end_unless_they_are_kept() {
    let quick = |lab: &Lab| lab.compare(["lmdb", "faulty"]).workload("readrandom").operations(100);
    quick(&Lab::new()).run().is_clean();
    let kept = Lab::new();
    quick(&kept).arguments(["--keep"]).run().exits(0);
    assert_eq!(kept.databases().len(), 2);
    assert!(kept.databases().iter().all(|folder| fs::read_dir(folder).unwrap().count() > 0));
}

#[test]
fn databases_go_where_they_are_to_be_measured() {
    let lab = Lab::new();
    fs::create_dir(lab.path("storage")).unwrap();
    lab.write("storage/thesis.tex", "years of work");
    let stored = lab.compare(["lmdb"]).workload("readrandom").operations(100).with("dir", "storage");
    stored.arguments(["--keep"]).run().exits(0);
    assert!(!lab.path("results/databases").exists());
    let base = lab.only_base("storage");
    let below = fs::read_dir(&base).unwrap().flatten().filter(|entry| entry.file_name() != ".lock").count();
    assert_eq!(below, 1, "a folder for the one database");
    // Without --keep what kvdyno made there goes, and nothing else does.
    fs::remove_dir_all(base).unwrap();
    fs::remove_dir_all(lab.path("results")).unwrap();
    stored_again(&lab);
    assert_eq!(fs::read_dir(lab.path("storage")).unwrap().count(), 1);
}

fn stored_again(lab: &Lab) -> Ran {
    let ran = lab.compare(["lmdb"]).workload("readrandom").operations(100).with("dir", "storage").run();
    ran.is_clean();
    ran
}

#[test]
fn a_result_has_the_keys_that_its_trial_was_given_and_the_defaults_of_the_others() {
    let ran = Lab::new().compare(["lmdb"]).with("records", 5000).workload("readseq,overwrite").operations(100).run();
    ran.is_clean();
    let defaults = serde_json::to_value(kvdyno_experiment::SettingsSection::default()).unwrap();
    for result in ran.results() {
        let keys = &result.experiment;
        assert_eq!((&keys["data"]["records"], &keys["settings"]), (&5000.into(), &defaults));
        let runs = keys["run"].as_array().unwrap();
        let workloads: Vec<&str> = runs.iter().map(|run| run["workload"].as_str().unwrap()).collect();
        let own = [result.trial.workload.as_str()];
        assert_eq!(workloads, own[..usize::from(result.trial.phase == Phase::Run)]);
    }
}
