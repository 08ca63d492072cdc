//! The formats, on a made-up experiment. `cargo insta review` shows what a change does to them.

use crate::support;
use kvdyno_report::{Format, ReportError, Screen, render, render_on, write_page};
use kvdyno_results::folder::ResultsFolder;
use kvdyno_results::{CachedPages, Interference, NodePages, ObservedEnvironment};
use serde_json::Value;

/// `published/symas-2014-inmem-load.csv`, after its `numa_policy`.
const PUBLISHED_LOAD: &str =
    "engine,wall_s,user_s,sys_s,cpu_pct,db_kib,process_kib,total_kib,ctx_voluntary,ctx_involuntary";

/// `published/symas-2014-inmem-numa-interleave.csv`.
const PUBLISHED_RUN: &str = "engine,readers,wall_s,user_s,sys_s,cpu_pct,db_kib,process_kib,total_kib,ctx_voluntary,\
                             ctx_involuntary,writes_per_s,reads_per_s";

fn rendered(repeats: u32, format: Format) -> String {
    let folder = tempfile::tempdir().unwrap();
    render(&support::write(folder.path(), repeats), format).unwrap()
}

#[test]
fn table_of_single_trials() {
    insta::assert_snapshot!(rendered(1, Format::Table));
}

#[test]
fn table_of_repeats() {
    insta::assert_snapshot!(rendered(3, Format::Table));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(rendered(3, Format::Markdown));
}

#[test]
fn csv() {
    insta::assert_snapshot!(rendered(1, Format::Csv));
}

#[test]
fn tables_fit_a_terminal() {
    for repeats in [1, 3] {
        let table = rendered(repeats, Format::Table);
        let figures = table.lines().filter(|line| !line.starts_with("- "));
        let widest = figures.map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 120, "{widest}");
    }
}

/// `load.csv` and `run.csv`.
fn of_trials(results: &ResultsFolder) -> [String; 2] {
    write_page(results).unwrap();
    ["load.csv", "run.csv"].map(|name| std::fs::read_to_string(results.report_folder().join(name)).unwrap())
}

fn trials(repeats: u32) -> [String; 2] {
    let folder = tempfile::tempdir().unwrap();
    of_trials(&support::write(folder.path(), repeats))
}

#[test]
fn files_of_trials_begin_with_the_published_columns() {
    let [load, run] = trials(1);
    assert!(load.starts_with(&format!("{PUBLISHED_LOAD},")), "{load}");
    assert!(run.starts_with(&format!("{PUBLISHED_RUN},")), "{run}");
}

#[test]
fn files_of_trials_have_no_figures_of_failed_ones() {
    let [load, run] = trials(3);
    assert_eq!((load.lines().count(), run.lines().count()), (1 + 7 * 3, 1 + 7 * 3 * 3));
    let crashed = run.lines().find(|line| line.starts_with("bdb,4,")).unwrap();
    assert!(crashed.starts_with("bdb,4,,,,,,,,,,,,crashed,ended by signal 6"), "{crashed}");
}

#[test]
fn json_holds_rows_and_estimates() {
    let document: Value = serde_json::from_str(&rendered(3, Format::Json)).unwrap();
    assert_eq!(document["experiment"], "made-up <in-memory> scaling");
    assert_eq!(document["machine"]["cpu"]["threads"], 8);
    assert_eq!(document["settings"]["durability"], "none");
    assert_eq!(document["run"].as_array().unwrap().len(), 63);
    assert_eq!(document["load"][0]["engine"], "lmdb");
    let cell =
        document["cells"].as_array().unwrap().iter().find(|c| c["readers"] == 4 && c["engine"] == "rocksdb").unwrap();
    assert_eq!(cell["reads_per_s"]["method"], "3 repeats");
    assert!(cell["reads_per_s"]["low"].as_f64().unwrap() < cell["reads_per_s"]["value"].as_f64().unwrap());
    let once: Value = serde_json::from_str(&rendered(1, Format::Json)).unwrap();
    assert!(once["doubts"][0]["text"].as_str().unwrap().ends_with('.'));
}

#[test]
fn colour_only_when_asked_for_and_then_nothing_else_differs() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 1);
    let plain = render(&results, Format::Table).unwrap();
    let coloured = render_on(&results, Screen { width: None, colour: true }).unwrap();
    assert!(!plain.contains('\u{1b}'));
    assert!(coloured.contains("\u{1b}[31mfailed, wrong answer"));
    let without_codes = strip_codes(&coloured);
    let words = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(words(&without_codes), words(&plain));
}

/// The second variant is a tenth faster, and twice as fast where it has twice the threads; a variant of other work is
/// held against nothing.
#[test]
fn variants_of_the_same_work_stand_beside_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 1);
    let all = results.results().unwrap();
    let variants = [("smt-off", 1.0, 1), ("smt-on", 1.1, 1), ("doubled", 2.0, 2), ("small", 1.0, 1)];
    for (index, (variant, faster, times)) in variants.into_iter().enumerate() {
        for mut result in all.iter().filter(|r| ["lmdb", "rocksdb"].contains(&&*r.trial.engine)).cloned() {
            result.trial.number += 1000 * (1 + index as u32);
            result.trial.variant = variant.into();
            result.trial.readers *= times;
            result.workload.value_size = if variant == "small" { 24 } else { 100 };
            result.operations.iter_mut().for_each(|o| o.records_per_s *= faster);
            results.save(&result).unwrap();
        }
    }
    for result in all.iter().filter(|result| result.trial.number < 1000) {
        std::fs::remove_dir_all(results.trial_folder(&result.trial)).ok();
    }
    let table = render(&results, Format::Table).unwrap();
    let begin = table.find("smt-on over smt-off").unwrap();
    let end = table[begin..].find("readwhilewriting, smt-off").unwrap();
    insta::assert_snapshot!(table[begin..begin + end].trim_end());
    let document: Value = serde_json::from_str(&render(&results, Format::Json).unwrap()).unwrap();
    let relative = document["relative"].as_array().unwrap();
    assert!(relative.iter().all(|one| one["over"] == "smt-off" && one["variant"] != "small"));
    assert_eq!(relative.len(), 2 * 2 * (1 + 3));
    let page = std::fs::read_to_string(kvdyno_report::write_page(&results).unwrap()).unwrap();
    assert!(page.contains("Variants beside each other") && page.contains("doubled over smt-off: rates"));
}

fn strip_codes(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn a_folder_without_results_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = ResultsFolder::open(folder.path()).unwrap_err();
    assert!(ReportError::from(error).to_string().contains("is not a results folder"));
}

#[test]
fn an_experiment_that_has_not_begun_still_has_a_report() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("experiment.toml"), "name = \"empty\"").unwrap();
    let results = ResultsFolder::open(folder.path()).unwrap();
    assert_eq!(render(&results, Format::Table).unwrap(), "empty\n");
    for &format in Format::ALL {
        render(&results, format).unwrap();
    }
    kvdyno_report::write_page(&results).unwrap();
}

#[test]
fn other_work_under_the_same_name_is_told_apart_and_not_pooled() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 1);
    let mut other = results.results().unwrap().into_iter().find(|r| r.trial.readers == 4).unwrap();
    (other.trial.number, other.trial.repeat, other.workload.value_size) = (900, 2, 24);
    results.save(&other).unwrap();
    let table = render(&results, Format::Table).unwrap();
    assert!(table.contains("readwhilewriting, value_size 100: reads/s"), "{table}");
    assert!(table.contains("readwhilewriting, value_size 24: reads/s"));
    assert!(!table.contains("2 repeats"));
}

#[test]
fn another_version_under_the_same_name_is_told_apart_and_not_pooled() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 1);
    let mut other = results.results().unwrap().into_iter().find(|r| r.trial.readers == 4).unwrap();
    (other.trial.number, other.trial.repeat, other.engine.version) = (900, 2, "0.9.90".into());
    results.save(&other).unwrap();
    let table = render(&results, Format::Table).unwrap();
    assert!(table.contains("\nlmdb, 0.9.24 ") && table.contains("\nlmdb, 0.9.90 "), "{table}");
}

#[test]
fn the_null_engine_is_not_in_the_running() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 1);
    for mut result in results.results().unwrap().into_iter().filter(|r| r.trial.engine == "lmdb") {
        result.engine.name = "null".into();
        results.save(&result).unwrap();
    }
    let table = render(&results, Format::Table).unwrap();
    assert!(!table.contains("? 638,499") && table.contains("638,499"), "{table}");
    assert!(table.contains("\nwiredtiger:btree  ? 285,759"), "{table}");
}

/// Where memory was limited, tables say what went to and from the storage.
#[test]
fn a_limited_memory_shows_what_the_storage_did() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 1);
    assert!(!render(&results, Format::Table).unwrap().contains("to and from the storage"));
    for mut result in results.results().unwrap() {
        result.environment.memory_limit = Some(64 << 20);
        result.os.fs_in_ops = 3 * (result.answers.right + result.answers.failures());
        results.save(&result).unwrap();
    }
    let text = render(&results, Format::Table).unwrap();
    let (_, table) = text.split_once("readwhilewriting: to and from the storage").unwrap();
    assert!(table.contains("in/op") && table.contains(" 3.00 "), "{table}");
}

/// The results with the runs of LMDB in another environment, as `change` makes it.
fn in_another_environment(change: fn(&mut ObservedEnvironment)) -> (tempfile::TempDir, ResultsFolder) {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 1);
    for mut result in results.results().unwrap() {
        result.environment = ObservedEnvironment {
            cpus: "0-7".into(),
            smt: Some(true),
            numa_policy: Some("default".into()),
            numa_pages: vec![NodePages { node: 0, kib: 1000, file_kib: 0 }],
            allocator: "libc".into(),
            storage: "folder".into(),
            ..ObservedEnvironment::default()
        };
        if result.trial.engine == "lmdb" {
            change(&mut result.environment);
        }
        results.save(&result).unwrap();
    }
    (folder, results)
}

#[test]
fn an_environment_that_nobody_requested_and_that_is_the_same_for_all_has_no_table() {
    let (_folder, results) = in_another_environment(|_| ());
    assert!(!render(&results, Format::Table).unwrap().contains("Observed environment"));
}

#[test]
fn an_environment_that_differs_has_a_table() {
    let (_folder, results) = in_another_environment(|environment| {
        environment.cpus = "1".into();
        environment.numa_policy = Some("interleave:0-1".into());
        environment.numa_pages =
            [(0, 3000), (1, 1000)].map(|(node, kib)| NodePages { node, kib, file_kib: 0 }).to_vec();
        environment.memory_limit = Some(1 << 30);
        environment.memory_peak = Some(1 << 29);
        environment.memory_pressure = Some(0.125);
        environment.cached = Some(CachedPages { cached: 1, total: 4 });
    });
    let table = render(&results, Format::Table).unwrap();
    let table = table.split_once("Observed environment\n").unwrap().1;
    let rows: Vec<&str> = table.lines().take(4).collect();
    insta::assert_snapshot!(rows.join("\n"), @"
    engine            CPUs  SMT  memory from     pages by node     malloc  memory limit     peak  stalled  cached before
    ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    lmdb              1     on   interleave:0-1  0: 75 %, 1: 25 %  libc           1 GiB  512 MiB   12.5 %           25 %
    rocksdb           0-7   on   default                           libc
    ");
    let csv = of_trials(&results).concat();
    assert!(csv.contains(",1,on,interleave:0-1,0:3000;1:1000,libc,1073741824,536870912,0.125,1,4,folder,,"), "{csv}");
    assert!(render(&results, Format::Markdown).unwrap().contains("## Observed environment"));
}

#[test]
fn an_environment_that_was_requested_has_a_table() {
    let (folder, results) = in_another_environment(|_| ());
    std::fs::write(folder.path().join("experiment.toml"), "[[variant]]\nname = \"a\"\nenvironment.cpus = 8\n").unwrap();
    assert!(render(&results, Format::Table).unwrap().contains("Observed environment"));
}

#[test]
fn trials_with_interference_are_marked() {
    let (_folder, results) = in_another_environment(|environment| {
        environment.interference = vec![Interference::OtherProcesses { cpus: 1.2 }]
    });
    let table = render(&results, Format::Table).unwrap();
    assert!(table.contains("? ! 638,499"), "{table}");
    assert!(table.contains("! interference with at least one of its trials: the notes say by what."), "{table}");
    assert!(
        table.contains("lmdb fillseq, repeat 1: other processes and the kernel's own threads used 1.2 CPUs"),
        "{table}"
    );
    assert!(!table.contains("! 285,759"), "{table}");
}
