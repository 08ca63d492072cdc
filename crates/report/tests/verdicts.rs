//! Verdicts in every format, on made-up experiments.

#![allow(clippy::unwrap_used, reason = "in tests")]

mod support;

use kvdyno_report::{Format, Paper, against, render, write_page};
use kvdyno_results::TrialResult;
use kvdyno_results::folder::ResultsFolder;
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
    let of_one_reader = |pair: &&Value| pair["work"] == "readwhilewriting, 1 reader, 1 writer";
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
    let head = "work,one,other,verdict,why,ratio,low,high,differs,repeats,detect,looks,neighbours,pairs";
    assert_eq!(lines.next().unwrap(), head);
    let first = lines.next().unwrap();
    assert!(first.starts_with("Load: fillseq,lmdb,wiredtiger:btree,faster,,1.9"), "{first}");
    assert!(first.ends_with(",true,3,0.03,once,true,5"), "{first}");
    assert_eq!(lines.count() + 1, json(&results)["verdicts"].as_array().unwrap().len());
}

#[test]
fn a_run_that_may_have_ended_for_its_figures_has_wider_intervals() {
    let (_folder, results) = changed(4, |_| ());
    let low = |document: &Value| document["verdicts"][0]["low"].as_f64().unwrap();
    let once = low(&json(&results));
    std::fs::write(results.experiment_file(), "name = \"a\"\n[lab]\nrepeat = \"auto\"\ndetect = 0.05\n").unwrap();
    let document = json(&results);
    assert_eq!(
        (&document["verdicts"][0]["looks"], &document["verdicts"][0]["detect"]),
        (&"after-each".into(), &0.05.into())
    );
    assert!(low(&document) < once);
}

#[test]
fn a_little_stolen_time_is_noted_and_not_marked() {
    let stolen = |pct: &'static str| {
        changed(1, move |result| {
            result.environment.interference = vec![format!("{pct} % of CPU time was stolen by the hypervisor")];
        })
    };
    let (_folder, results) = stolen("1.6");
    let table = render(&results, Format::Table).unwrap();
    assert!(!table.contains("! ") && table.contains("1.6 % of CPU time was stolen"), "{table}");
    let (_folder, results) = stolen("7.0");
    assert!(render(&results, Format::Table).unwrap().contains("! 638,499"));
}

#[test]
fn an_interval_wider_than_the_figure_is_doubted() {
    let (_folder, results) = changed(2, |result| {
        let factor = if result.trial.repeat == 1 { 1.0 } else { 1.3 };
        result.operations.iter_mut().for_each(|operations| operations.records_per_s *= factor);
    });
    let table = render(&results, Format::Table).unwrap();
    let doubt = "lmdb readwhilewriting, 1 reader, 1 writer: Its repeats are too few or differ too much for a figure: \
                 reads a second have ±1";
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
    let line = "  readwhilewriting, 8 readers, 1 writer: lmdb > wiredtiger:btree > rocksdb > leveldb > bdb";
    assert!(table.contains(line) && !table.contains("times as fast as"), "{table}");
    let page = std::fs::read_to_string(write_page(&results).unwrap()).unwrap();
    assert!(page.contains("<summary>readwhilewriting, 8 readers, 1 writer</summary>"));
    assert!(page.contains("times as fast as"));
    drop(folder);
}

#[test]
fn an_order_other_than_published_is_decided_or_not() {
    let (_folder, results) = changed(3, |_| ());
    let text = against(&results, "inmem-numa".parse::<Paper>().unwrap(), Format::Table).unwrap();
    insta::assert_snapshot!(text);
}
