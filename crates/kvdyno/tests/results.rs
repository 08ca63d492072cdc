//! The folder that a run leaves: results that agree with themselves, files that other tools read, reports in every
//! form.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Comparison, Lab, Ran, interval_log};
use kvdyno_results::{Operations, Percentile, Phase, SeriesPoint, TrialResult};

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
    result.operations.iter().find(|operations| operations.kind.word() == kind).unwrap()
}

/// How long the runs of the figures that agree measure.
const REQUESTED_MS: u64 = 600;

#[test]
fn figures_agree_with_each_other() {
    let ran = comparison().milliseconds(REQUESTED_MS).workload("readwhilewriting,overwrite").run();
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

/// The time of each client ends with its own last operation: after what was asked, and at the end of the window at the
/// latest. A load's only writer has all of it.
#[track_caller]
fn rates_are_operations_over_the_window(result: &TrialResult) {
    let window = result.window.as_ref().unwrap().seconds;
    let shortest = if result.trial.phase == Phase::Run { REQUESTED_MS as f64 / 1000.0 } else { window };
    assert!(!result.operations.is_empty());
    for o in &result.operations {
        let seconds = o.operations as f64 / o.operations_per_s;
        let times = 0.95 * shortest..=1.05 * window;
        assert!(times.contains(&seconds), "{seconds} s, not in {times:?}: {:?} {o:?}", result.trial);
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
    // A sleep lasts as long as was asked, and longer where many want the processor, but not a thousand times as long.
    assert!(latency.at(Percentile::P99_9) >= 50_000_000 && latency.max_ns < 50_000_000_000, "{latency:?}");
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
    let ran = comparison().milliseconds(1500).workload("readwhilewriting").run();
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
        // The parent notices the end of the window a little later, and nothing is counted after it.
        let window = result.window.unwrap().seconds;
        let is_within = |row: &SeriesPoint| row.end_s - row.seconds <= window || row.operations == 0;
        assert!(rows.iter().all(|row| is_within(row) && row.end_s <= result.os.wall_s), "{window}: {rows:?}");
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
        assert_eq!(
            names,
            ["latency.hlog", "resources.csv", "result.json", "series.csv", "spec.json", "worker.json", "worker.log"]
        );
    }
}

/// In turns each trial has the machine for itself, and so its device.
#[test]
fn memory_and_device_over_time_are_those_of_the_trial() {
    let lmdb = Lab::new().compare(["lmdb"]).with("records", 20_000).workload("overwrite").milliseconds(2500);
    let ran = lmdb.arguments(["--design", "turns", "--durability", "commit"]).run();
    for result in ran.is_clean().results().iter().filter(|result| result.trial.phase == Phase::Run) {
        let points = ran.lab.folder().resources(&result.trial).unwrap();
        let series = ran.lab.folder().series(&result.trial).unwrap();
        let ends = |of: &[f64]| of.iter().map(|end| format!("{end:.3}")).collect::<Vec<_>>();
        let (points_end, series_end): (Vec<f64>, Vec<f64>) =
            (points.iter().map(|point| point.end_s).collect(), series.iter().map(|point| point.end_s).collect());
        assert!(points.len() >= 2 && ends(&points_end) == ends(&series_end), "{points_end:?} {series_end:?}");
        for point in &points {
            let resident = point.resident_kib.unwrap();
            assert!((1000..=result.os.peak_rss_kib).contains(&resident), "{resident}: {:?}", result.os);
        }
        // What lies on no device of its own has no figure, in the trial as over its time.
        let written: Option<u64> = points.iter().map(|point| point.device_write_bytes).sum();
        let whole = result.os.device.as_ref().map(|device| device.write_bytes);
        assert_eq!(written.is_some(), whole.is_some(), "{points:?} {:?}", result.os.device);
        assert!(written <= whole && written != Some(0), "{written:?} of {whole:?}");
    }
}

/// They are read once a point, so that the points have no more than the whole window.
#[test]
fn counters_of_an_engine_are_seen_over_time() {
    let synthetic = Lab::new().compare(["synthetic"]).with("records", 20_000).workload("overwrite").milliseconds(2500);
    let ran = synthetic.option("synthetic.write_amplification=1").arguments(["--design", "turns"]).run();
    for result in ran.is_clean().results().iter().filter(|result| result.trial.phase == Phase::Run) {
        let points = ran.lab.folder().resources(&result.trial).unwrap();
        let counted: Vec<u64> = points.iter().filter_map(|point| point.flushed_bytes).collect();
        let whole = result.window.as_ref().and_then(|window| window.counters.as_ref()?.flushed_bytes).unwrap();
        let sum: u64 = counted.iter().sum();
        assert!(sum > whole / 2 && sum <= whole, "{counted:?} of {whole}");
        assert!(points.iter().all(|point| point.compacted_bytes.is_none() && point.stalled_s.is_none()), "{points:?}");
    }
}

fn sha256(path: &Path) -> String {
    let output = Command::new("sha256sum").arg(path).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split_whitespace().next().unwrap().to_owned()
}

/// A library of the system's with its package, and an adapter that carries its engine.
#[test]
fn a_result_names_the_file_that_has_the_engines_code() {
    let ran = Lab::new().compare(["lmdb", "faulty"]).workload("readrandom").operations(100).run();
    for result in ran.is_clean().results() {
        let file = result.engine.file.clone().unwrap();
        let (path, carried) = (Path::new(&file.path), Path::new(&result.engine.adapter).canonicalize().unwrap());
        assert_eq!(path.canonicalize().unwrap(), path, "no link");
        assert_eq!(path == carried, result.engine.name == "faulty", "{file:?}");
        assert_eq!(file.sha256.unwrap(), sha256(path));
        let owner = Command::new("dpkg-query").arg("--search").arg(path).output();
        let is_known = owner.is_ok_and(|owner| owner.status.success());
        let package = file.package.filter(|package| package.source == "dpkg" && !package.version.is_empty());
        assert_eq!(
            package.is_some_and(|package| path.to_string_lossy().contains("lmdb") && package.name.contains("lmdb")),
            is_known && result.engine.name == "lmdb"
        );
    }
    let csv = fs::read_to_string(ran.lab.path("results/report/run.csv")).unwrap();
    assert!(csv.lines().next().unwrap().contains("engine_file,engine_sha256,engine_package"), "{csv}");
    assert!(fs::read_to_string(ran.lab.path("results/report/index.html")).unwrap().contains("SHA-256"));
}

/// The version folder that an engine's library lies in says which package that is.
#[test]
fn a_library_that_was_installed_has_its_version_folder_for_a_package() {
    let lab = Lab::new();
    let first = lab.compare(["lmdb"]).workload("readrandom").operations(100).run();
    let system = first.is_clean().results()[0].engine.file.clone().unwrap();
    fs::remove_dir_all(lab.path("results")).unwrap();
    let folder = lab.path("data/kvdyno/engines/lmdb@9.8.7");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(&system.path, folder.join("liblmdb.so")).unwrap();
    fs::write(folder.join("installed.toml"), "source = \"cargo made-up 9.8.7\"\nlibrary = \"liblmdb.so\"\n").unwrap();
    let arguments = ["compare", "lmdb@9.8.7", "--records", "2000", "--operations", "100", "--out", "results"];
    let output = lab.kvdyno().args(arguments).env("XDG_DATA_HOME", lab.path("data")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results = lab.folder().results().unwrap();
    let file = results[0].engine.file.clone().unwrap();
    let package = file.package.unwrap();
    assert_eq!((&*package.name, &*package.version, &*package.source), ("lmdb", "9.8.7", "cargo made-up 9.8.7"));
    assert_eq!(file.path, folder.join("liblmdb.so").canonicalize().unwrap().display().to_string());
    assert_eq!(file.sha256, system.sha256, "the same file");
}

#[test]
fn results_of_before_that_do_not_name_the_file_are_read() {
    let lab = Lab::new();
    let ran = lab.compare(["lmdb"]).workload("readrandom").operations(100).run();
    for result in ran.is_clean().results() {
        let file = lab.folder().trial_folder(&result.trial).join("result.json");
        let mut json: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        json["engine"].as_object_mut().unwrap().remove("file").unwrap();
        fs::write(&file, json.to_string()).unwrap();
    }
    lab.report("table");
    let page = fs::read_to_string(lab.path("results/report/index.html")).unwrap();
    assert!(page.contains("Settings of each engine") && !page.contains("SHA-256"));
}

#[test]
fn files_of_trials_begin_with_the_published_columns() {
    let ran = comparison().with("format", "csv").run();
    ran.is_clean();
    let saved = |name: &str| fs::read_to_string(ran.lab.path("results/report").join(name)).unwrap();
    let (load, run) = (saved("load.csv"), saved("run.csv"));
    assert!(load.starts_with(LOAD_COLUMNS), "{load}");
    assert!(run.starts_with(RUN_COLUMNS), "{run}");
    let mut rows = csv::Reader::from_reader(run.as_bytes());
    let numbers = rows.records().map(|row| row.unwrap()).map(|row| (1..13).all(|n| row[n].parse::<f64>().is_ok()));
    assert_eq!(numbers.collect::<Vec<_>>(), [true; 9]);
    // What is printed is the table of cells.
    assert_eq!(ran.stdout, saved("cells.csv"));
    let cells: Result<Vec<_>, _> = csv::Reader::from_reader(ran.stdout.as_bytes()).records().collect();
    assert_eq!(cells.unwrap().len(), 12);
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

/// The command that a page shows, as its Copy button gives it.
fn command_of_page(page: &str) -> String {
    let code = page.split("id=\"repeat\"").nth(1).unwrap().split("<code>").nth(1).unwrap();
    let code = code.split("</code>").next().unwrap();
    let escapes = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    escapes.iter().fold(code.to_owned(), |text, (escape, character)| text.replace(escape, character))
}

/// Whatever an experiment is called: nothing in the command means anything to a shell.
#[test]
fn the_command_on_the_page_plans_the_same_trials() {
    for name in ["comparison", "it's \"$HOME\" `id` $(id) \\ <b>&amp; 100 %", "END\nEND_"] {
        let lab = Lab::new();
        let quick = lab.compare(["lmdb", "faulty"]).workload("readrandom,readseq").operations(100).with("name", name);
        quick.option("faulty.every=9").with("repeat", 2).run().is_clean();
        let page = fs::read_to_string(lab.path("results/report/index.html")).unwrap();
        let command = command_of_page(&page);
        assert!(command.starts_with("kvdyno run /dev/stdin <<'END"), "{command}");
        let kvdyno = lab.kvdyno();
        let run = |command: &str| {
            let mut shell = Command::new("sh");
            let program = Path::new(kvdyno.get_program()).parent().unwrap();
            let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
            shell
                .args(["-c", command])
                .current_dir(lab.path(""))
                .envs(kvdyno.get_envs().filter_map(|(k, v)| Some((k, v?))));
            let output = shell.env("PATH", path).output().unwrap();
            assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        let experiment = fs::read_to_string(lab.path("results/experiment.toml")).unwrap();
        assert_eq!(run(&command.replacen("kvdyno run", "kvdyno run --dry-run", 1)), experiment);
        // And it runs: the same trials with the same seeds.
        let before = names_and_seeds(&lab);
        fs::rename(lab.path("results"), lab.path("first")).unwrap();
        run(&command.replacen("kvdyno run", "kvdyno run --out results", 1));
        assert_eq!(names_and_seeds(&lab), before);
    }
}

/// `| head` closes the pipe early; that is nobody's mistake.
#[test]
fn a_closed_pipe_brings_nothing_down() {
    let lab = Lab::new();
    for arguments in [vec!["compare", "lmdb", "--dry-run"], vec!["engines"], vec!["workloads"]] {
        let (_, closed) = std::io::pipe().unwrap();
        let ran = lab.kvdyno().args(&arguments).stdout(closed).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.code() == Some(0) && !said.contains("Broken pipe"), "{arguments:?}: {said}");
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
