//! The price of calls at a border between languages stands beneath every table that has such an engine.

use crate::support;
use kvdyno_report::{Format, render, write_page};
use kvdyno_results::Setting;
use kvdyno_results::folder::ResultsFolder;

/// A made-up experiment in which calls into the engines cross a border, as their adapters say.
fn results(repeats: u32, engines: &[(&str, &[(&str, &str)])]) -> (tempfile::TempDir, ResultsFolder) {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), repeats);
    for mut result in results.results().unwrap() {
        let Some((_, said)) = engines.iter().find(|(engine, _)| *engine == result.trial.engine) else { continue };
        let entry = |(name, value): &(&str, &str)| Setting {
            topic: "crossing".into(),
            name: (*name).into(),
            value: value.replace('N', &result.trial.repeat.to_string()),
        };
        result.statistics.extend(said.iter().map(entry));
        results.save(&result).unwrap();
    }
    (folder, results)
}

const TO_GO: &[(&str, &str)] = &[("ns_per_call", "6N.4"), ("border", "from C to Go")];

fn crossings(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.contains("crosses")).collect()
}

#[test]
fn each_table_with_such_engines_says_what_their_calls_pay() {
    let (_folder, results) = results(3, &[("rocksdb", TO_GO), ("leveldb", TO_GO)]);
    let table = render(&results, Format::Table).unwrap();
    let line = "Each call crosses from C to Go and back, included in all figures: rocksdb 62 ns, leveldb 62 ns.";
    // The load, reads/s, writes/s, rates and costs.
    assert_eq!(crossings(&table), [line; 5]);
    let note =
        "3 repeats: rates are geometric means, ± the upper half of the 95 % interval; other figures are medians.";
    assert!(table.contains(&format!("{note}\n{line}\n")), "{table}");
}

#[test]
fn only_engines_that_cross_are_named() {
    let (_folder, paying) = results(1, &[("rocksdb", TO_GO)]);
    let markdown = render(&paying, Format::Markdown).unwrap();
    let told = crossings(&markdown);
    let line = "Each call crosses from C to Go and back, included in all figures: rocksdb 61 ns.";
    assert!(!told.is_empty() && told.iter().all(|one| one.ends_with(line)), "{told:?}");
    let (_folder, without) = results(1, &[]);
    assert!(crossings(&render(&without, Format::Markdown).unwrap()).is_empty());
}

#[test]
fn the_page_says_it_too() {
    let (_folder, results) = results(1, &[("rocksdb", TO_GO)]);
    let page = std::fs::read_to_string(write_page(&results).unwrap()).unwrap();
    let notes = page.lines().filter(|line| line.contains("class=\"note\"") || line.contains("crosses"));
    let told = notes.filter(|line| line.contains("from C to Go and back, included in all figures: rocksdb 61 ns."));
    // The load, reads/s, writes/s, the engine's table and the latencies.
    assert_eq!(told.count(), 5);
}

#[test]
fn borders_are_told_apart_and_one_without_a_name_is_told() {
    let java = &[("ns_per_call", "25"), ("border", "from C\u{1b} to Java")];
    let (_folder, results) = results(1, &[("rocksdb", TO_GO), ("leveldb", java), ("bdb", &[("ns_per_call", "7")])]);
    let table = render(&results, Format::Table).unwrap();
    assert!(table.contains("crosses from C to Go and back, included in all figures: rocksdb 61 ns."), "{table}");
    assert!(table.contains("crosses from C to Java and back, included in all figures: leveldb 25 ns."));
    assert!(table.contains("crosses a border between languages and back, included in all figures: bdb 7 ns."));
}

#[test]
fn what_is_no_price_is_left_out() {
    for price in ["", "soon", "-1", "NaN"] {
        let (_folder, results) = results(1, &[("rocksdb", &[("ns_per_call", price)])]);
        assert!(crossings(&render(&results, Format::Table).unwrap()).is_empty(), "{price}");
    }
}
