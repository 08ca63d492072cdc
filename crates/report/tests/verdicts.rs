//! Verdicts in every format, on made-up experiments.

use crate::support;
use kvdyno_report::{Format, Paper, Screen, against, render, write_page};
use kvdyno_results::folder::ResultsFolder;
use kvdyno_results::{CpuAccount, DesignFacts, Interference, OpKind, Pacing, SeriesPoint, Setting, TrialResult};
use serde_json::Value;

/// The made-up experiment, its results changed.
fn changed(repeats: u32, change: impl Fn(&mut TrialResult)) -> (tempfile::TempDir, ResultsFolder) {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), repeats);
    for mut result in results.results().unwrap() {
        change(&mut result);
        results.save(&result).unwrap();
    }
    (folder, results)
}

fn json(results: &ResultsFolder) -> Value {
    serde_json::from_str(&render(results, Format::Json).unwrap()).unwrap()
}

/// The lines of the matrix of reads.
fn matrix(results: &ResultsFolder) -> Vec<String> {
    let table = render(results, Format::Table).unwrap();
    let rows = table.split_once("readwhilewriting: reads/s\n").unwrap().1;
    rows.lines().take_while(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn one_repeat_decides_nothing_in_any_format() {
    let (_folder, results) = changed(1, |_| ());
    let table = render(&results, Format::Table).unwrap();
    assert!(table.contains("\nVerdicts\n  Cannot tell: one repeat"), "{table}");
    let rows = matrix(&results);
    let figures = rows[2..8].join("\n");
    assert!(!figures.contains('*') && !figures.contains('≈'), "{figures}");
    assert!(figures.contains("? 638,499") && figures.contains("? 213,123"), "{figures}");
    let document = json(&results);
    let verdicts = document["verdicts"].as_array().unwrap();
    assert!(verdicts.iter().all(|pair| pair["verdict"] == "cannot tell" && pair["low"].is_null()));
    assert!(document["rankings"].as_array().unwrap().iter().all(|ranking| ranking["highest"].is_null()));
    let page = std::fs::read_to_string(write_page(&results).unwrap()).unwrap();
    assert!(!page.contains("class=\"n best\"") && !page.contains("class=\"n near\""));
    assert!(page.contains("class=\"n untold\"") && page.contains("Cannot tell: one repeat"));
}

/// A setup with an interval beside one without: the one that has none is no loser.
#[test]
fn a_figure_without_an_interval_is_no_decided_loss() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 4);
    for result in results.results().unwrap() {
        if result.trial.engine == "rocksdb" && result.trial.repeat > 1 {
            std::fs::remove_dir_all(results.trial_folder(&result.trial)).unwrap();
        }
    }
    let rows = matrix(&results);
    let row = |name: &str| rows.iter().find(|row| row.starts_with(name)).unwrap().clone();
    assert!(row("rocksdb").contains("? 209,251"), "{rows:?}");
    assert!(!row("lmdb").contains('*') && row("lmdb").contains("? "), "{rows:?}");
    assert!(!row("bdb").contains('?') && !row("leveldb").contains('?'), "{rows:?}");
}

#[test]
fn the_star_is_of_one_that_is_faster_than_every_other() {
    let (_folder, results) = changed(3, |result| {
        if result.trial.engine == "rocksdb" {
            let repeat = f64::from(result.trial.repeat);
            let own = 641_000.0 + 900.0 * repeat;
            result.operations.iter_mut().for_each(|operations| operations.records_per_s = own);
        }
        if result.trial.engine == "lmdb" {
            result.operations.iter_mut().for_each(|operations| operations.records_per_s = 640_000.0);
        }
    });
    let rows = matrix(&results);
    assert!(rows.iter().any(|row| row.starts_with("lmdb") && row.contains("≈ 640,000")), "{rows:?}");
    assert!(rows.iter().any(|row| row.starts_with("rocksdb") && row.contains("≈ 642,800")), "{rows:?}");
    let table = render(&results, Format::Table).unwrap();
    assert!(table.contains("rocksdb and lmdb read the same within 3 %"), "{table}");
}

#[test]
fn json_has_every_pair_with_its_terms() {
    let (_folder, results) = changed(3, |_| ());
    let document = json(&results);
    let verdicts = document["verdicts"].as_array().unwrap();
    let of_one_reader =
        |pair: &&Value| pair["work"] == "readwhilewriting, 1 reader, 1 writer" && pair["side"] == "reads";
    let pairs: Vec<&Value> = verdicts.iter().filter(of_one_reader).collect();
    assert_eq!(pairs.len(), 6 * 5 / 2);
    let first = pairs[0];
    assert_eq!((&first["one"], &first["other"]), (&"lmdb".into(), &"wiredtiger:btree".into()));
    assert_eq!((&first["verdict"], &first["repeats"], &first["looks"]), (&"faster".into(), &3.into(), &"once".into()));
    assert_eq!((&first["neighbours"], &first["pairs"], &first["detect"]), (&true.into(), &5.into(), &0.03.into()));
    assert!(first["low"].as_f64().unwrap() > 2.0 && first["one_cell"]["readers"] == 1);
    let ranking = &document["rankings"][1];
    assert_eq!(ranking["order"].as_array().unwrap().len(), 6);
    assert_eq!((&ranking["highest"], &ranking["adjustment"]), (&"lmdb".into(), &"Holm".into()));
}

#[test]
fn csv_has_a_row_for_each_pair() {
    let (folder, results) = changed(3, |_| ());
    write_page(&results).unwrap();
    let csv = std::fs::read_to_string(folder.path().join("report/verdicts.csv")).unwrap();
    let mut lines = csv.lines();
    let head = "work,one,other,verdict,figure,side,why,ratio,low,high,differs,repeats,detect,looks,neighbours,pairs,\
                bias,by_slices,not_steady";
    assert_eq!(lines.next().unwrap(), head);
    let first = lines.next().unwrap();
    assert!(first.starts_with("Load: fillseq,lmdb,wiredtiger:btree,faster,throughput,writes,,1.9"), "{first}");
    assert!(first.ends_with(",true,3,0.03,once,true,5,,false,"), "{first}");
    assert_eq!(lines.count() + 1, json(&results)["verdicts"].as_array().unwrap().len());
}

/// LMDB and RocksDB with one reader, as a duet.
fn a_duet() -> (tempfile::TempDir, ResultsFolder) {
    let (folder, results) = changed(4, |result| {
        let rate = result.operations.iter().find(|one| one.kind == OpKind::Get).map(|one| one.records_per_s);
        let cpu_s = 1.0 + 0.002 * f64::from(result.trial.number % 4);
        let duet = rate.map(|rate| CpuAccount { operations: rate as u64, cpu_s, client_cpu_s: 1.0 });
        result.design =
            duet.map(|duet| DesignFacts { duet: Some(duet), slices: 10, slept: Some(0.0), ..DesignFacts::default() });
    });
    for result in results.results().unwrap() {
        let is_of_two = ["lmdb", "rocksdb"].contains(&result.trial.engine.as_str());
        if !is_of_two || result.trial.readers > 1 {
            std::fs::remove_dir_all(results.trial_folder(&result.trial)).unwrap();
        }
    }
    (folder, results)
}

/// A duet compares no speeds: its verdict says so wherever it stands.
#[test]
fn a_duets_verdict_names_cpu_time_in_every_format() {
    let (folder, results) = a_duet();
    let work = "readwhilewriting, 1 reader, 1 writer";
    let sentence = "rocksdb uses 3.0";
    let rest = " times as much CPU time per operation as lmdb";
    for format in [Format::Table, Format::Markdown] {
        // As if lines had no end.
        let text = render(&results, format).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, by_cpu_time) = text.split_once(&format!("{work}, by CPU time per operation")).unwrap();
        assert!(by_cpu_time.contains(sentence) && by_cpu_time.contains(rest), "{text}");
        assert!(text.contains("It is not throughput"), "{text}");
        assert!(text.contains(&format!("{work}, by throughput of reads")) && text.contains("lmdb reads"), "{text}");
        assert!(text.contains("Load: fillseq, by throughput") && text.contains("lmdb loads"), "{text}");
    }
    let document = json(&results);
    let verdicts = document["verdicts"].as_array().unwrap();
    let is_of_duet = |one: &&Value| one["work"] == work && one["figure"] == "CPU time per operation";
    let of = |all: &[Value]| all.iter().find(is_of_duet).cloned().unwrap();
    let pair = of(verdicts);
    assert_eq!((&pair["side"], &pair["verdict"]), (&Value::Null, &"faster".into()));
    assert!(pair["sentence"].as_str().unwrap().contains(rest), "{pair}");
    assert!(pair["ratio"].as_f64().unwrap() > 2.9, "{pair}");
    assert_eq!(of(document["rankings"].as_array().unwrap())["highest"], "lmdb");
    let load = verdicts.iter().find(|one| one["work"] != work).unwrap();
    assert_eq!((&load["figure"], &load["side"]), (&"throughput".into(), &"writes".into()));
    let page = std::fs::read_to_string(write_page(&results).unwrap()).unwrap();
    assert!(page.contains(rest) && page.contains(&format!("{work}, by CPU time per operation")));
    let csv = std::fs::read_to_string(folder.path().join("report/verdicts.csv")).unwrap();
    assert!(csv.lines().any(|line| line.contains(",lmdb,rocksdb,faster,CPU time per operation,,,3.0")), "{csv}");
}

/// Where a duet and the slices say the opposite, or reads and writes do, neither sentence is silent about the other.
#[test]
fn opposite_verdicts_name_each_other() {
    let (_folder, results) = changed(4, |result| {
        let is_lmdb = result.trial.engine == "lmdb";
        for operations in &mut result.operations {
            operations.records_per_s = match (is_lmdb, operations.kind == OpKind::Get) {
                (true, true) | (false, false) => 3000.0,
                _ => 1000.0,
            } + f64::from(result.trial.number % 3);
        }
        let duet = CpuAccount { operations: if is_lmdb { 1000 } else { 2000 }, cpu_s: 1.0, client_cpu_s: 1.0 };
        result.design = Some(DesignFacts { duet: Some(duet), slices: 10, slept: Some(0.0), ..DesignFacts::default() });
    });
    let document = json(&results);
    let sentence = |figure: &str, side: Value| {
        let is_it = |pair: &&Value| {
            (&pair["work"], &pair["figure"], &pair["side"])
                == (&"readwhilewriting, 1 reader, 1 writer".into(), &figure.into(), &side)
                && [&pair["one"], &pair["other"]].contains(&&"lmdb".into())
                && [&pair["one"], &pair["other"]].contains(&&"rocksdb".into())
        };
        let pair = document["verdicts"].as_array().unwrap().iter().find(is_it).unwrap();
        pair["sentence"].as_str().unwrap().to_owned()
    };
    let reads = sentence("throughput", "reads".into());
    assert!(reads.starts_with("lmdb reads 3.00 times as fast as rocksdb"), "{reads}");
    assert!(reads.contains("; but rocksdb writes 3.00 times as fast as lmdb"), "{reads}");
    assert!(reads.ends_with(": no winner"), "{reads}");
    let writes = sentence("throughput", "writes".into());
    assert!(writes.starts_with("rocksdb writes") && writes.contains("; but lmdb reads 3.00 times"), "{writes}");
    let cpu_time = sentence("CPU time per operation", Value::Null);
    assert!(cpu_time.starts_with("lmdb uses 2.00 times as much CPU time per operation as rocksdb"), "{cpu_time}");
    assert!(cpu_time.contains("; but lmdb reads 3.00 times as fast as rocksdb"), "{cpu_time}");
}

#[test]
fn a_rate_that_was_asked_for_and_not_reached_is_in_the_sentence() {
    let (_folder, results) = changed(3, |result| {
        let is_lmdb = result.trial.engine == "lmdb";
        let missed = is_lmdb || result.trial.engine == "rocksdb" && result.trial.repeat == 2;
        result.workload.write_rate = Some(500.0);
        for operations in result.operations.iter_mut().filter(|operations| operations.writes()) {
            operations.pacing = Some(Pacing { kept: !missed, behind_s: 3.0, ..Pacing::default() });
            (operations.operations_per_s, operations.records_per_s) = if is_lmdb { (9.5, 9.5) } else { (500.0, 500.0) };
        }
    });
    let document = json(&results);
    let of_run = |pair: &&Value| pair["work"] == "readwhilewriting, 1 reader, 1 writer";
    let pairs: Vec<&Value> = document["verdicts"].as_array().unwrap().iter().filter(of_run).collect();
    assert!(pairs.iter().all(|pair| pair["side"] == "reads"), "the rate of writes was requested");
    let missed = "; lmdb did 9.50 of 500 requested writes a second";
    let missed_once = "; rocksdb did not keep its rate of writes in 1 of 3 repeats";
    for pair in pairs {
        let sentence = pair["sentence"].as_str().unwrap();
        assert_eq!(sentence.contains(missed), sentence.contains("lmdb"), "{sentence}");
        assert_eq!(sentence.contains(missed_once), sentence.contains("rocksdb"), "{sentence}");
    }
}

#[test]
fn a_run_that_may_have_ended_for_its_figures_has_wider_intervals() {
    let (_folder, results) = changed(4, |_| ());
    let of = |document: &Value, is_load: bool| {
        let mut verdicts = document["verdicts"].as_array().unwrap().iter();
        let verdict = verdicts.find(|pair| pair["work"].as_str().unwrap().starts_with("Load") == is_load).unwrap();
        let [detect, low] = ["detect", "low"].map(|figure| verdict[figure].as_f64().unwrap());
        (verdict["looks"].as_str().unwrap().to_owned(), detect, low)
    };
    let once = json(&results);
    std::fs::write(results.experiment_file(), "name = \"a\"\n[lab]\nrepeat = \"auto\"\ndetect = 0.05\n").unwrap();
    let document = json(&results);
    let [before, after] = [&once, &document].map(|document| of(document, false));
    assert_eq!((before.0.as_str(), after.0.as_str(), after.1), ("once", "after-each", 0.05));
    assert!(after.2 < before.2);
    // Loads have no part in when it ended.
    assert_eq!((of(&document, true).0, of(&document, true).2), (of(&once, true).0, of(&once, true).2));
}

#[test]
fn a_little_stolen_time_is_noted_and_not_marked() {
    let stolen = |cpu_time_share| {
        changed(1, move |result| {
            result.environment.interference = vec![Interference::StolenCpuTime { cpu_time_share }];
        })
    };
    let (_folder, results) = stolen(0.016);
    let table = render(&results, Format::Table).unwrap();
    assert!(!table.contains("! ") && table.contains("1.6 % of CPU time was stolen"), "{table}");
    let (_folder, results) = stolen(0.07);
    assert!(render(&results, Format::Table).unwrap().contains("! 638,499"));
}

/// The sentences of all runs about a side.
fn sentences(results: &ResultsFolder, side: &str) -> String {
    let verdicts = json(results)["verdicts"].clone();
    let of_side = |verdict: &&Value| verdict["side"] == side && verdict["one_cell"]["phase"] == "run";
    let sentences = verdicts.as_array().unwrap().iter().filter(of_side).map(|verdict| verdict["sentence"].to_string());
    sentences.collect::<Vec<_>>().join("\n")
}

#[test]
fn durability_that_is_met_by_a_stronger_one_stands_beside_verdicts_on_writes() {
    let declare = |engines: &'static [&str]| {
        changed(3, |result| {
            if engines.contains(&result.trial.engine.as_str()) {
                let (topic, name, value) = ("stronger".into(), "process".into(), "it has no weaker mode".into());
                result.engine.settings.push(Setting { topic, name, value });
            }
        })
    };
    let (_folder, one) = declare(&["lmdb"]);
    let clause = "; lmdb meets durability none as process";
    assert!(sentences(&one, "writes").contains(clause), "{}", sentences(&one, "writes"));
    assert!(!sentences(&one, "reads").contains(clause), "{}", sentences(&one, "reads"));
    let (_folder, all) = declare(&["lmdb", "rocksdb", "leveldb", "bdb", "wiredtiger:btree", "wiredtiger:lsm"]);
    assert!(!sentences(&all, "writes").contains("meets durability"), "of all it is no difference");
}

#[test]
fn what_is_read_ahead_stands_beside_verdicts_on_reads() {
    let (_folder, results) = changed(3, |result| {
        // A load and a warm-up before it read as they like.
        result.os.read_bytes = Some(result.answers.right << 20);
        let reads: u64 = result.operations.iter().filter(|one| !one.writes()).map(|one| one.operations).sum();
        let is_lmdb = result.trial.engine == "lmdb";
        let read_bytes = Some(if is_lmdb { reads << 20 } else { 0 });
        result.window.iter_mut().for_each(|window| window.read_bytes = read_bytes);
    });
    let clause = "; lmdb read 1024 KiB from the storage for each read operation";
    assert!(!sentences(&results, "reads").contains("; rocksdb read"), "{}", sentences(&results, "reads"));
    assert!(sentences(&results, "reads").contains(clause), "{}", sentences(&results, "reads"));
    assert!(!sentences(&results, "writes").contains(clause), "{}", sentences(&results, "writes"));
}

#[test]
fn an_interval_wider_than_the_figure_is_doubted() {
    let (_folder, results) = changed(2, |result| {
        let factor = if result.trial.repeat == 1 { 1.0 } else { 1.3 };
        result.operations.iter_mut().for_each(|operations| operations.records_per_s *= factor);
    });
    let table = render(&results, Format::Table).unwrap();
    let doubt = "lmdb readwhilewriting, 1 reader, 1 writer: Its repeats are too few or differ too much for a figure: \
                 reads a second have ±4";
    assert!(table.contains(doubt), "{table}");
}

#[test]
fn many_groups_are_a_line_each_and_their_pairs_are_on_the_page() {
    let (folder, results) = changed(3, |_| ());
    for mut result in results.results().unwrap().into_iter().filter(|result| result.trial.readers == 1) {
        for readers in [8, 16, 32] {
            result.trial.number += 1000;
            result.trial.readers = readers;
            results.save(&result).unwrap();
        }
    }
    let table = render(&results, Format::Table).unwrap();
    let line = "  readwhilewriting, 8 readers, 1 writer, by throughput of reads: lmdb 2.24x > wiredtiger:btree ";
    assert!(table.contains(line) && !table.contains("times as fast as"), "{table}");
    let page = std::fs::read_to_string(write_page(&results).unwrap()).unwrap();
    assert!(page.contains(
        "<summary>readwhilewriting, 8 readers, 1 writer, by throughput of reads: each beside the next</summary>"
    ));
    // What is open has a ratio with its interval: of the first to the next, and to the last.
    let open = page.split_once("id=\"verdicts\"").unwrap().1.split_once("<details>").unwrap().0;
    for sentence in [
        "lmdb reads 2.24 times as fast as wiredtiger:btree (2.19 to 2.29), 3 repeats",
        "lmdb reads 6.34 times as fast as wiredtiger:lsm (5.41 to 7.42), 3 repeats",
    ] {
        assert!(open.contains(sentence), "{open}");
    }
    assert!(!open.contains("1 writer: lmdb &gt;") && !open.contains("1 writer: lmdb &#62;"), "the terminal's lines");
    drop(folder);
}

#[test]
fn an_order_other_than_published_is_decided_or_not() {
    let (_folder, results) = changed(3, |_| ());
    let text = against(
        &results,
        "inmem-numa".parse::<Paper>().unwrap(),
        Format::Table,
        Screen::default(),
        &results.report_folder(),
    )
    .unwrap()
    .text;
    insta::assert_snapshot!(text);
}

/// Halves the rates of LMDB with one reader from the middle of each of its first `trials` trials on.
fn halved(results: &ResultsFolder, trials: u32) {
    let of_one_reader = |result: &TrialResult| (result.trial.engine.as_str(), result.trial.readers) == ("lmdb", 1);
    for result in results.results().unwrap().iter().filter(|result| of_one_reader(result)) {
        let mut points = five_times(&results.series(&result.trial).unwrap());
        let middle = points.last().unwrap().end_s / 2.0;
        let second_half = points.iter_mut().filter(|point| point.end_s > middle);
        if result.trial.repeat <= trials {
            second_half.for_each(|point| point.records /= 2);
        }
        results.save_series(&result.trial, &points).unwrap();
    }
}

/// The series five times, one behind the other, in the same time: steadiness is told from 50 points on.
fn five_times(series: &[SeriesPoint]) -> Vec<SeriesPoint> {
    let length = series.last().unwrap().end_s + 1.0;
    let shortened = |nth: u32, point: &SeriesPoint| SeriesPoint {
        end_s: (point.end_s + f64::from(nth) * length) / 5.0,
        seconds: point.seconds / 5.0,
        ..point.clone()
    };
    (0..5).flat_map(|nth| series.iter().map(move |point| shortened(nth, point))).collect()
}

/// LMDB with one reader is marked where its rate stands, in its verdicts and among the doubts.
#[test]
fn a_cell_that_was_not_steady_says_so_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 3);
    halved(&results, 2);
    let row = matrix(&results).into_iter().find(|row| row.starts_with("lmdb")).unwrap();
    let figures: Vec<&str> = row.split_whitespace().filter(|word| word.contains(',')).collect();
    assert!(figures[0].ends_with('†') && !figures[1].ends_with('†'), "{row}");
    let doubt = "lmdb readwhilewriting, 1 reader, 1 writer: Not steady in 2 of 3 repeats: its rate of";
    for format in [Format::Table, Format::Markdown] {
        let text = render(&results, format).unwrap();
        assert!(text.contains(doubt) && text.contains("† not steady: the doubts say how."), "{text}");
        assert!(text.lines().any(|line| line.contains("‡ lmdb: was not steady")), "{text}");
        assert!(text.contains("lmdb‡ reads 2.") && text.contains("‡ with"), "{text}");
    }
    let document = json(&results);
    let of_one_reader = |cell: &&Value| (&cell["engine"], &cell["readers"]) == (&"lmdb".into(), &1.into());
    let cell = document["cells"].as_array().unwrap().iter().find(of_one_reader).unwrap();
    let steadiness = &cell["steadiness"];
    let told = (&steadiness["state"], &steadiness["told"], &steadiness["not_steady"]);
    assert_eq!(told, (&"not steady".into(), &3.into(), &2.into()));
    let pairs = document["verdicts"].as_array().unwrap();
    let pair = pairs.iter().find(|pair| pair["work"] == "readwhilewriting, 1 reader, 1 writer").unwrap();
    assert_eq!(pair["not_steady"], serde_json::json!(["lmdb"]));
    assert!(pair["sentence"].as_str().unwrap().ends_with("; lmdb was not steady"));
    let page = std::fs::read_to_string(write_page(&results).unwrap()).unwrap();
    assert!(page.contains("‡ lmdb: was not steady") && page.contains("Not steady in 2 of 3 repeats"), "the page");
    let csv = std::fs::read_to_string(folder.path().join("report/verdicts.csv")).unwrap();
    assert!(csv.lines().any(|line| line.ends_with(",lmdb")), "{csv}");
}

/// One trial of three is the machine's, not the engine's.
#[test]
fn one_trial_of_three_that_was_not_steady_marks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 3);
    halved(&results, 1);
    let row = matrix(&results).into_iter().find(|row| row.starts_with("lmdb")).unwrap();
    assert!(!row.contains('†'), "{row}");
}

#[test]
fn runs_too_short_to_tell_are_not_called_steady() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 3);
    for result in results.results().unwrap() {
        let points = results.series(&result.trial).unwrap();
        let short: Vec<_> = points.into_iter().filter(|point| point.end_s < 9.5).collect();
        results.save_series(&result.trial, &short).unwrap();
    }
    let table = render(&results, Format::Table).unwrap();
    let note = "steady or not: not told of 17 cells: their time series have fewer than 50 points";
    assert!(table.contains(note) && !table.contains('†'), "{table}");
    let document = json(&results);
    let runs = document["cells"].as_array().unwrap().iter().filter(|cell| !cell["steadiness"].is_null());
    assert!(runs.map(|cell| &cell["steadiness"]["state"]).all(|state| state == "not told"));
}
