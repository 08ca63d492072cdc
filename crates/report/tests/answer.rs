//! The end of a report on a terminal.

use crate::support;
use kvdyno_report::{Format, Screen, Tables, report};

/// A report's text at a width, without the path of its folder.
fn text(repeats: u32, width: usize, tables: Tables) -> String {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), repeats);
    let screen = Screen { width: Some(width), colour: false };
    let rendered = report(&results, Format::Table, (screen, tables), &results.report_folder()).unwrap();
    assert!(rendered.page.unwrap().is_file());
    rendered.text.replace(&results.root().display().to_string(), "results")
}

fn answer(text: &str) -> &str {
    &text[text.rfind("\nAnswer").unwrap() + 1..]
}

#[test]
fn the_answer_is_all_on_the_last_screen() {
    for repeats in [1, 3] {
        for width in [60, 80, 120, 200] {
            let text = text(repeats, width, Tables::Main);
            let lines: Vec<&str> = answer(&text).lines().collect();
            // Below stands the path of the page.
            assert!(lines.len() <= 14 && lines.iter().all(|line| line.chars().count() <= width), "{width}:\n{lines:?}");
            assert_eq!(lines.last(), Some(&"again: kvdyno run results/experiment.toml"));
        }
    }
}

#[test]
fn the_answer_at_80_columns() {
    insta::assert_snapshot!(answer(&text(3, 80, Tables::Main)));
}

#[test]
fn one_repeat_answers_nothing_and_says_so() {
    let text = text(1, 120, Tables::Main);
    assert!(answer(&text).contains("one repeat") && answer(&text).contains("--repeat 5 may help"), "{text}");
}

#[test]
fn tables_of_costs_come_where_all_are_wanted() {
    let [main, all] = [Tables::Main, Tables::All].map(|tables| text(3, 80, tables));
    for title in ["what it cost", "amplification"] {
        assert!(!main.contains(title) && all.contains(title), "{title}");
    }
    assert_eq!(answer(&main), answer(&all));
    assert!(main.lines().count() < all.lines().count());
}
