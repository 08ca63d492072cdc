//! Tables on terminals of several widths: nothing is longer than a line, and no figure is broken.

use std::collections::BTreeSet;

use crate::support;
use kvdyno_model::VerdictFigure;
use kvdyno_report::{Diff, Format, Screen, against, render_on};
use kvdyno_results::folder::ResultsFolder;

const WIDTHS: [usize; 4] = [60, 80, 120, 200];

fn at(results: &ResultsFolder, width: usize) -> String {
    render_on(results, Screen { width: Some(width), colour: false }).unwrap()
}

/// Words that have a digit; those of settings and sentences may stand elsewhere, and stay whole.
fn figures(text: &str) -> Vec<&str> {
    let mut figures: Vec<&str> =
        text.split_whitespace().filter(|word| word.contains(|c: char| c.is_ascii_digit())).collect();
    figures.sort_unstable();
    figures.dedup();
    figures
}

#[test]
fn tables_at_each_width() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 3);
    for width in WIDTHS {
        insta::assert_snapshot!(format!("width_{width}"), at(&results, width));
    }
}

#[test]
fn no_line_is_longer_than_the_terminal_and_no_figure_is_broken() {
    for repeats in [1, 3] {
        let folder = tempfile::tempdir().unwrap();
        let results = support::write(folder.path(), repeats);
        let widest = at(&results, 1000);
        for width in WIDTHS {
            let text = at(&results, width);
            let longest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
            assert!(longest.chars().count() <= width, "{width}: {longest}");
            assert_eq!(figures(&text), figures(&widest), "{width}");
        }
    }
}

/// An engine given by its path has a name as long as the path.
#[test]
fn long_names_give_way() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 1);
    for mut result in results.results().unwrap().into_iter().filter(|result| result.trial.engine == "bdb") {
        std::fs::remove_dir_all(results.trial_folder(&result.trial)).unwrap();
        result.trial.engine = "./a/long/path/to/the/build/of/an/adapter/libmine.so".into();
        results.save(&result).unwrap();
    }
    for width in WIDTHS {
        let text = at(&results, width);
        let tables = text.lines().filter(|line| line.contains("./a/") && line.contains("117,"));
        assert!(tables.clone().count() > 0, "{text}");
        assert_eq!(tables.map(|line| line.chars().count()).max().filter(|longest| *longest > width), None, "{text}");
    }
}

#[test]
fn colours_take_no_room() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 3);
    let coloured = render_on(&results, Screen { width: Some(80), colour: true }).unwrap();
    let mut parts = coloured.split('\u{1b}');
    let first = parts.next().unwrap().to_owned();
    let plain = parts.fold(first, |all, part| all + part.split_once('m').unwrap().1);
    let trimmed = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(trimmed(&plain), trimmed(&at(&results, 80)));
}

/// A change that made two engines slower, as `kvdyno diff` tells it.
fn diff(format: Format) -> String {
    let folder = tempfile::tempdir().unwrap();
    let results = ["monday", "friday"].map(|name| support::write(&folder.path().join(name), 3));
    for mut result in results[1].results().unwrap() {
        if matches!(result.trial.engine.as_str(), "lmdb" | "leveldb") {
            result.operations.iter_mut().for_each(|made| made.records_per_s /= 1.37);
            results[1].save(&result).unwrap();
        }
    }
    let terms = (0.03, VerdictFigure::Throughput);
    let text = Diff::of_folders(&results[0], &results[1], terms, false).unwrap().render(format);
    text.replace(&format!("{}/", folder.path().display()), "")
}

/// Reads and writes of one work are two figures, for people and for what tracks them by their names.
#[test]
fn each_figure_of_a_diff_has_a_name_of_its_own() {
    let json: serde_json::Value = serde_json::from_str(&diff(Format::Json)).unwrap();
    let names: Vec<&str> = json.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:#?}");
    assert!(names.iter().any(|name| name.ends_with("1 writer, throughput of reads: lmdb (monday)")), "{names:#?}");
    let text = diff(Format::Markdown);
    assert!(text.contains("| throughput of writes |") && text.contains("by throughput of writes: "), "{text}");
}

fn beside(width: Option<usize>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 3);
    let (paper, screen) = ("inmem-numa".parse().unwrap(), Screen { width, colour: false });
    against(&results, paper, Format::Table, screen, &folder.path().join("page")).unwrap().text
}

fn is_whole(text: &str, widest: &str, width: usize) {
    let longest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
    assert!(longest.chars().count() <= width, "{width}: {longest}");
    assert_eq!(figures(text), figures(widest), "{width}");
}

#[test]
fn a_diff_at_each_width() {
    let widest = diff(Format::Table);
    for width in WIDTHS {
        let text = Screen { width: Some(width), colour: false }.fitted(&widest);
        is_whole(&text, &widest, width);
        insta::assert_snapshot!(format!("diff_{width}"), text);
    }
}

#[test]
fn published_beside_measured_at_each_width() {
    let widest = beside(Some(1000));
    for width in WIDTHS {
        let text = beside(Some(width));
        is_whole(&text, &widest, width);
        insta::assert_snapshot!(format!("against_{width}"), text);
    }
}
