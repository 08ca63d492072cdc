//! The page, on a made-up experiment.

#![allow(clippy::unwrap_used, reason = "in tests")]

mod support;

use scraper::{Html, Selector};

fn page(repeats: u32) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = kvdyno_report::write_page(&support::write(folder.path(), repeats)).unwrap();
    assert_eq!(path, folder.path().join("report/index.html"));
    let text = std::fs::read_to_string(path).unwrap();
    (folder, text)
}

fn select<'a>(page: &'a Html, what: &str) -> Vec<scraper::ElementRef<'a>> {
    page.select(&Selector::parse(what).unwrap()).collect()
}

#[test]
fn it_is_valid_html() {
    assert!(!Html::parse_document("<!DOCTYPE html><p></b>").errors.is_empty(), "the parser reports nothing");
    for repeats in [1, 3] {
        let parsed = Html::parse_document(&page(repeats).1);
        assert_eq!(parsed.errors, Vec::<std::borrow::Cow<'static, str>>::new());
    }
}

#[test]
fn it_needs_nothing_from_anywhere() {
    let text = page(1).1;
    assert!(!text.contains("http://") && !text.contains("https://"));
    assert!(!text.contains("url(") && !text.contains("@import") && !text.contains("<script"));
    let parsed = Html::parse_document(&text);
    assert!(select(&parsed, "link, script, img, iframe, object, embed, [src], [srcset]").is_empty());
    for link in select(&parsed, "a") {
        let target = link.attr("href").unwrap();
        let is_own = ["verdicts.csv", "load.csv", "run.csv"].contains(&target);
        assert!(target.starts_with('#') || is_own, "{target}");
    }
}

#[test]
fn its_links_lead_somewhere() {
    let (folder, text) = page(1);
    let parsed = Html::parse_document(&text);
    for link in select(&parsed, "a") {
        match link.attr("href").unwrap().strip_prefix('#') {
            Some(anchor) => assert_eq!(select(&parsed, &format!("[id='{anchor}']")).len(), 1, "{anchor}"),
            None => assert!(folder.path().join("report").join(link.attr("href").unwrap()).is_file()),
        }
    }
}

#[test]
fn it_names_every_engine_with_its_version() {
    let parsed = Html::parse_document(&page(1).1);
    let engines: Vec<String> = select(&parsed, ".engines span").iter().map(|e| e.text().collect()).collect();
    let expected = [
        "lmdb 0.9.24",
        "rocksdb 7.8.3",
        "leveldb 1.23",
        "bdb 5.3.28",
        "wiredtiger:btree 3.2.1",
        "wiredtiger:lsm 3.2.1",
        "hyperleveldb 1.0.2",
    ];
    assert_eq!(engines, expected);
}

#[test]
fn failures_stand_at_the_top_and_in_the_tables() {
    let parsed = Html::parse_document(&page(1).1);
    let top: String = select(&parsed, ".warnings .bad")[0].text().collect();
    for reason in ["6 failed trials", "signal 6 (abort)", "3 of 1,210,344 reads gave the value of another key"] {
        assert!(top.contains(reason), "{reason}");
    }
    let rows: Vec<String> = select(&parsed, "#load tr.failed").iter().map(|row| row.text().collect()).collect();
    assert_eq!(rows, ["hyperleveldbfailed, crashed: ended by signal 11 (segmentation fault) after 0.4 s"]);
}

#[test]
fn rows_are_as_wide_as_their_heads() {
    let parsed = Html::parse_document(&page(3).1);
    let cell = Selector::parse("th, td").unwrap();
    for table in select(&parsed, ".scroll table") {
        let rows: Vec<_> = table.select(&Selector::parse("tr").unwrap()).collect();
        let width = |row: &scraper::ElementRef<'_>| -> usize {
            row.select(&cell).map(|c| c.attr("colspan").map_or(1, |span| span.parse().unwrap())).sum()
        };
        let first = width(&rows[0]);
        assert!(rows.iter().all(|row| width(row) == first));
    }
}

#[test]
fn what_users_name_is_escaped() {
    let text = page(1).1;
    assert!(text.contains("made-up &#60;in-memory&#62; scaling") && !text.contains("<in-memory>"));
}

#[test]
fn charts_leave_size_colour_and_font_to_the_page() {
    let parsed = Html::parse_document(&page(1).1);
    let charts = select(&parsed, "figure svg");
    assert_eq!(charts.len(), 2 + 2 + 6 + 6);
    for chart in &charts {
        assert!(chart.attr("width").is_none() && chart.attr("viewBox").is_some() && chart.attr("aria-label").is_some());
        let drawing = chart.html();
        assert!(!drawing.contains("=\"#"), "a colour that no role took the place of");
        assert!(!drawing.contains("font-family"));
    }
}
