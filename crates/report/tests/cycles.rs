//! Figures that only one workload has, in every format; and rows whose settings are tainted.

use crate::support;
use kvdyno_report::{Format, Paper, Screen, against, render};
use kvdyno_results::folder::ResultsFolder;
use kvdyno_results::{FigureValue, NamedFigure, Phase, Setting, WorkloadFigures};

/// The figures of a load that computed cycles.
fn figures() -> WorkloadFigures {
    let count = |column, value| NamedFigure::new(column, FigureValue::Count(value), "Told elsewhere.");
    let rate = FigureValue::Rate(74_137.5);
    WorkloadFigures {
        heading: "3n+1".to_owned(),
        note: "Every answer was held against the same problem solved without a database.".to_owned(),
        figures: vec![
            count("n", 1_000_000).titled("N"),
            NamedFigure::new("spelling", FigureValue::Text("enhanced".to_owned()), "How numbers were spelled."),
            count("longest_cycle", 525).titled("longest"),
            count("longest_start", 837_799),
            count("highest", 56_991_483_520).titled("highest"),
            count("puts", 2_168_610).titled("puts"),
            count("gets", 3_168_608).titled("gets"),
            count("ops", 5_337_218),
            NamedFigure::new("ops_per_s", rate, "Puts and gets a second.").titled("ops/s"),
            count("known", 500_000),
        ],
    }
}

/// Loads of two engines that computed cycles, the second with a setting that taints.
fn computed(folder: &std::path::Path) -> ResultsFolder {
    let results = support::write(folder, 1);
    let loads = results.results().unwrap().into_iter().filter(|r| r.trial.phase == Phase::Load && r.is_finished());
    for (index, mut result) in loads.take(2).enumerate() {
        result.trial.workload = "3n1".to_owned();
        result.trial.variant = format!("row-{:02}", 15 - 2 * index);
        result.figures = Some(figures());
        if index == 1 {
            let (topic, name, value) = ("tainted".into(), "DB_LOG_DSYNC".into(), "nobody waits for it".into());
            result.engine.settings.push(Setting { topic, name, value });
        }
        results.save(&result).unwrap();
    }
    results
}

#[test]
fn each_cell_has_its_own_words() {
    let folder = tempfile::tempdir().unwrap();
    let results = computed(folder.path());
    for (mut result, word) in results.results().unwrap().into_iter().filter(|r| r.figures.is_some()).zip(["one", "two"])
    {
        let words = NamedFigure::new("isolation", FigureValue::Text(word.to_owned()), "A word.").titled("isolation");
        let tries = NamedFigure::new("tries", FigureValue::Factor(1.25), "Tries of each.").titled("tries");
        result.figures = Some(WorkloadFigures { figures: vec![words, tries], ..figures() });
        results.save(&result).unwrap();
    }
    let table = render(&results, Format::Table).unwrap();
    let own: String = table.split("\n\n").filter(|part| part.starts_with("3n+1\n")).collect();
    assert!(own.contains("one") && own.contains("two") && own.contains("1.25"), "{own}");
}

#[test]
fn every_format_has_the_answers() {
    let folder = tempfile::tempdir().unwrap();
    let results = computed(folder.path());
    let table = render(&results, Format::Table).unwrap();
    let own: String = table.split("\n\n").filter(|part| part.starts_with("3n+1\n")).collect();
    insta::assert_snapshot!(own);
    let markdown = render(&results, Format::Markdown).unwrap();
    assert!(markdown.contains("## 3n+1") && markdown.contains("| 56,991,483,520 | 2,168,610 | 3,168,608 | 74,138 |"));
    kvdyno_report::write_page(&results).unwrap();
    let csv = std::fs::read_to_string(results.report_folder().join("load.csv")).unwrap();
    assert!(csv.contains(",1000000,enhanced,525,837799,56991483520,2168610,3168608,5337218,74138,500000,"), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&render(&results, Format::Json).unwrap()).unwrap();
    let rows = json["load"].as_array().unwrap();
    assert_eq!(rows.iter().filter(|row| row["longest_cycle"] == 525).count(), 2);
    assert_eq!(rows.iter().filter(|row| row["tainted"] == "DB_LOG_DSYNC").count(), 1);
    let page = std::fs::read_to_string(kvdyno_report::write_page(&results).unwrap()).unwrap();
    assert!(page.contains("<h2>3n+1</h2>") && page.contains(" TAINTED"));
}

/// A count of records that no answer could be wrong about is in a note, once for all trials of an engine's work.
#[test]
fn answers_that_could_not_be_judged_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let results = computed(folder.path());
    let computed = || results.results().unwrap().into_iter().filter(|result| result.figures.is_some());
    let save = |count: u64| {
        for mut result in computed() {
            let unchecked = NamedFigure::new("unchecked", FigureValue::Count(count), "Nobody can say.");
            let of = |own: WorkloadFigures| WorkloadFigures { figures: vec![unchecked], ..own };
            result.figures = result.figures.map(of);
            result.answers.right = 41_000;
            results.save(&result).unwrap();
        }
        [Format::Table, Format::Markdown, Format::Json].map(|format| render(&results, format).unwrap())
    };
    let words = "1,234 records were unchecked in 41,000 operations";
    for text in save(1234) {
        assert_eq!(text.matches("records were unchecked in").count(), computed().count(), "{text}");
        assert!(text.contains(words), "{text}");
    }
    assert!(std::fs::read_to_string(kvdyno_report::write_page(&results).unwrap()).unwrap().contains(words));
    assert!(save(1)[0].contains("1 record was unchecked in 41,000 operations"));
    assert!(save(0).iter().all(|text| !text.contains("unchecked in")));
}

/// The published rows are held against the loads.
#[test]
fn rows_are_held_against_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let results = computed(folder.path());
    // Trials of no variant would be held against every row.
    for mut result in results.results().unwrap().into_iter().filter(|result| result.trial.variant.is_empty()) {
        result.trial.variant = "other".to_owned();
        results.save(&result).unwrap();
    }
    let text = against(&results, Paper::ThreeNPlusOne, Format::Table, Screen::default(), &results.report_folder())
        .unwrap()
        .text;
    assert!(text.contains("3n+1 on Berkeley DB  2 of 20"), "{text}");
    assert!(
        text.contains("\n15 cache 300000 KiB, 3 threads, log buffer 800 KiB, NOSYNC, DSYNC, 8 partitions"),
        "{text}"
    );
}
