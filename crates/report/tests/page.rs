//! The page, on a made-up experiment.

use crate::support;
use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use kvdyno_results::{Phase, Setting};
use scraper::{Html, Selector};
use serde_json::Value;
use sha2::{Digest, Sha256};

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

/// One table for an engine, a column for each trial that told any, a row for each statistic.
#[test]
fn statistics_of_an_engine_stand_beside_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 3);
    let told = |topic: &str, name: &str, value: String| Setting { topic: topic.into(), name: name.into(), value };
    for mut result in results.results().unwrap() {
        let (engine, repeat) = (&result.trial.engine, result.trial.repeat);
        if engine == "lmdb" && result.trial.phase == Phase::Load {
            result.statistics =
                vec![told("tree", "depth", format!("{repeat}0")), told("tree", "depth", "twice".into())];
            result.statistics.extend((repeat == 2).then(|| told("tree", "only_here", "7".into())));
        } else {
            result.statistics.clear();
        }
        results.save(&result).unwrap();
    }
    let parsed = Html::parse_document(&std::fs::read_to_string(kvdyno_report::write_page(&results).unwrap()).unwrap());
    let rows = select(&parsed, ".statistics tr").into_iter();
    let texts = |row: scraper::ElementRef<'_>| {
        row.child_elements().map(|cell| cell.text().collect::<String>()).collect::<Vec<_>>().join("|")
    };
    let rows: Vec<String> = rows.map(texts).collect();
    assert!(rows[0].starts_with("||") && rows[0].matches("repeat").count() == 3, "{rows:?}");
    assert_eq!(rows[1..], ["tree|depth|10|20|30", "tree|depth|twice|twice|twice", "tree|only_here||7|"]);
}

#[test]
fn it_needs_nothing_from_anywhere() {
    let parsed = Html::parse_document(&page(1).1);
    assert!(select(&parsed, "link, img, iframe, object, embed, base, form, [src], [srcset], [data]").is_empty());
    let policy = select(&parsed, "meta[http-equiv='Content-Security-Policy']")[0].attr("content").unwrap();
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("http") && !policy.contains('*'), "{policy}");
    for style in select(&parsed, "style") {
        let text: String = style.text().collect();
        assert!(!text.contains("url(") && !text.contains("@import"));
    }
    for link in select(&parsed, "a") {
        let target = link.attr("href").unwrap();
        assert!(target.starts_with('#'), "{target}: a page that is forwarded alone has dead links");
    }
}

#[test]
fn it_runs_its_own_scripts_and_no_other() {
    let parsed = Html::parse_document(&page(1).1);
    let policy = select(&parsed, "meta[http-equiv='Content-Security-Policy']")[0].attr("content").unwrap();
    let scripts: Vec<String> =
        select(&parsed, "script:not([type])").iter().map(|it| it.text().collect::<String>()).collect();
    assert_eq!(scripts.len(), 4);
    for script in &scripts {
        let hash = format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script.as_bytes())));
        assert!(policy.contains(&hash), "the browser would refuse {}…", &script[..60]);
    }
    assert!(scripts[0].contains("Licensed to the Apache Software Foundation"));
    let licence: String = select(&parsed, "footer pre")[0].text().collect();
    assert!(licence.contains("Apache License") && licence.contains("Version 2.0"));
}

#[test]
fn notices_of_what_is_part_of_the_library_travel_in_it() {
    let parsed = Html::parse_document(&page(1).1);
    let notices: String = select(&parsed, "footer pre")[1].text().collect();
    for holder in ["The Apache Software Foundation", "Baidu Inc.", "Mike Bostock", "Microsoft Corporation"] {
        assert!(notices.contains(holder), "{holder}");
    }
}

#[test]
fn settings_stand_beside_each_other_and_differences_are_marked() {
    let parsed = Html::parse_document(&page(1).1);
    let heads: Vec<String> = select(&parsed, "#engines thead th").iter().map(|it| it.text().collect()).collect();
    assert_eq!(heads, ["engine", "durability", "cache", "write buffer", "compression", "background"]);
    let marked: Vec<String> = select(&parsed, "#engines td.differs").iter().map(|it| it.text().collect()).collect();
    assert_eq!(marked, ["mapsize = 1073741824", "lsm.chunk_size = 8388608"]);
    assert!(!select(&parsed, "#engines td.missing").is_empty());
}

#[test]
fn what_of_the_machine_changes_figures_is_told_and_the_command_line_folded() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 1);
    let mut machine = results.machine().unwrap().unwrap();
    machine.setup = kvdyno_results::MachineSetup {
        transparent_huge_pages: Some("madvise".into()),
        io_scheduler: Some("mq-deadline".into()),
        drive: Some("Samsung <990> PRO".into()),
        microcode: Some("0xa0011d5".into()),
        mitigations: [("mds", "Vulnerable"), ("l1tf", "Mitigation: PTE Inversion"), ("srbds", "Not affected")]
            .map(|(name, state)| (name.to_owned(), state.to_owned()))
            .into(),
        randomize_va_space: Some(2),
        kernel_command_line: Some("root=/dev/vda1 <quiet>".into()),
        damon_actions: ["pageout".to_owned()].into(),
        reports_free_pages: true,
    };
    kvdyno_results::files::write_json(&results.machine_file(), &machine).unwrap();
    let text = std::fs::read_to_string(kvdyno_report::write_page(&results).unwrap()).unwrap();
    let parsed = Html::parse_document(&text);
    let words = |what: &str| select(&parsed, what).iter().map(|it| it.text().collect::<String>()).collect::<Vec<_>>();
    let facts: Vec<String> = words("#machine .facts div");
    for fact in [
        "huge pagesmadvise",
        "I/O schedulermq-deadline",
        "driveSamsung <990> PRO",
        "microcode0xa0011d5",
        "mitigationsmds vulnerable; 1 mitigated, 1 not affected",
        "free pagesgiven back to the host",
    ] {
        assert!(facts.contains(&fact.to_owned()), "{fact}: {facts:?}");
    }
    assert_eq!(words("#machine details:not([open]) code"), ["root=/dev/vda1 <quiet>"]);
    assert!(!facts.iter().any(|fact| fact.contains("quiet")));
}

/// The page of three repeats beside a paper.
fn against(paper: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let (results, to) = (support::write(folder.path(), 3), folder.path().join("elsewhere"));
    let (paper, format) = (paper.parse().unwrap(), kvdyno_report::Format::Table);
    let rendered = kvdyno_report::against(&results, paper, format, kvdyno_report::Screen::default(), &to).unwrap();
    let text = std::fs::read_to_string(rendered.page.unwrap()).unwrap();
    (folder, text)
}

#[test]
fn published_figures_stand_beside_measured_ones() {
    let parsed = Html::parse_document(&against("inmem-numa").1);
    assert_eq!(parsed.errors, Vec::<std::borrow::Cow<'static, str>>::new());
    let tables = select(&parsed, "#published table");
    let heads: String = tables[1].select(&Selector::parse("th").unwrap()).take(7).map(|it| it.inner_html()).collect();
    assert_eq!(heads, "enginemeasuredof bestrankpublishedof bestrank");
    assert!(select(&parsed, "nav a[href='#published']").len() == 1);
    assert!(select(&Html::parse_document(&page(1).1), "#published").is_empty());
}

#[test]
fn published_figures_are_hollow_marks_beside_measured_ones_with_intervals() {
    let (folder, text) = against("inmem-numa");
    let charts: Vec<Value> = charts_of(&text).into_iter().filter(|chart| chart["kind"] == "dots").collect();
    let reads = charts.iter().find(|chart| description(chart).starts_with("reads beside a writer, 1 reader:")).unwrap();
    let (told, cells) = (description(reads), "measured: runs, variant interleave, 1 reader");
    assert!(told.contains("symas-2014-inmem-numa-interleave") && told.ends_with(cells), "{told}");
    let labels = reads["labels"].as_array().unwrap();
    let at = |name: &str| labels.iter().position(|label| label == name).unwrap();
    let [measured, published] = [0, 1].map(|nth| reads["series"][nth]["points"].as_array().unwrap());
    assert_eq!((measured.len(), published.len()), (11, 11), "of all entries, measured or not");
    assert!(measured[at("lmdb")][2][1].as_f64() > measured[at("lmdb")][1].as_f64());
    assert_eq!(measured[at("tokuft")], Value::Null, "it was not measured");
    assert!(published.iter().all(|point| point[1].as_f64() > Some(0.0) && point[2].is_null()));
    let files = std::fs::read_dir(folder.path().join("elsewhere/charts")).unwrap();
    let names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let such = |name: &&String| name.contains("-published-symas-2014-inmem-numa-interleave-reads-beside-a-writer-1-");
    assert_eq!(names.iter().filter(such).count(), 1, "{names:?}");
}

#[test]
fn series_of_charts_are_thinned_and_charts_without_data_are_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write_long(folder.path(), 1, 3, 900);
    let text = std::fs::read_to_string(kvdyno_report::write_page(&results).unwrap()).unwrap();
    let charts = charts_of(&text);
    for subject in ["reads a second over time", "memory over time", "writes of the device over time", "as curves"] {
        let such: Vec<&Value> = charts.iter().filter(|it| description(it).contains(subject)).collect();
        assert!(!such.is_empty(), "{subject}");
        for series in such.iter().flat_map(|chart| chart["series"].as_array().unwrap()) {
            let points = series["points"].as_array().unwrap().len();
            assert!((60..=200).contains(&points), "{subject}: {points}");
        }
    }
    for trial in std::fs::read_dir(folder.path().join("trials")).unwrap() {
        for file in ["resources.csv", "latency.hlog"] {
            let _ = std::fs::remove_file(trial.as_ref().unwrap().path().join(file));
        }
    }
    let text = std::fs::read_to_string(kvdyno_report::write_page(&results).unwrap()).unwrap();
    let left = charts_of(&text);
    assert!(left.iter().any(|it| description(it).contains("reads a second over time")));
    for subject in ["memory over time", "of the device over time", "as curves"] {
        assert!(!left.iter().any(|it| description(it).contains(subject)), "{subject}");
    }
}

fn charts_of(page: &str) -> Vec<Value> {
    let parsed = Html::parse_document(page);
    let data = select(&parsed, "figure script");
    data.iter().map(|it| serde_json::from_str(&it.text().collect::<String>()).unwrap()).collect()
}

fn description(chart: &Value) -> &str {
    chart["description"].as_str().unwrap()
}

#[test]
fn it_carries_its_tables() {
    let (folder, text) = page(1);
    let parsed = Html::parse_document(&text);
    let files = select(&parsed, "script[data-file]");
    assert_eq!(files.len(), 4);
    for file in files {
        let packed = STANDARD.decode(file.text().collect::<String>()).unwrap();
        let mut content = String::new();
        GzDecoder::new(packed.as_slice()).read_to_string(&mut content).unwrap();
        let beside = folder.path().join("report").join(file.attr("data-file").unwrap());
        assert_eq!(content, std::fs::read_to_string(beside).unwrap());
    }
}

/// The words of a drawing.
fn words_of(chart: &scraper::ElementRef<'_>) -> Vec<String> {
    let text = Selector::parse("text").unwrap();
    chart.select(&text).map(|it| it.text().collect::<String>().trim().to_owned()).collect()
}

#[test]
fn both_painters_draw_the_same_series_and_labels() {
    let published = against("inmem-numa").1;
    for text in [page(3).1, published] {
        let parsed = Html::parse_document(&text);
        select(&parsed, "figure").iter().for_each(painted_alike);
    }
}

/// That a drawing has the series, the labels and the intervals of what the script draws.
fn painted_alike(figure: &scraper::ElementRef<'_>) {
    let (svg, data) = (Selector::parse("svg").unwrap(), Selector::parse("script").unwrap());
    let drawing = figure.select(&svg).next().unwrap();
    let words = words_of(&drawing);
    let chart: Value = serde_json::from_str(&figure.select(&data).next().unwrap().text().collect::<String>()).unwrap();
    assert_eq!(chart["description"], drawing.attr("aria-label").unwrap());
    let series = chart["series"].as_array().unwrap();
    for name in series.iter().map(|it| it["name"].as_str().unwrap()) {
        assert_eq!(words.iter().filter(|word| *word == name).count(), 1, "{name} in {words:?}");
    }
    let labels = labels_of(&chart);
    assert!(!labels.is_empty());
    for label in &labels {
        assert!(words.contains(label), "{label} is not in {words:?}");
    }
    if chart["markers"] == true || chart["kind"] == "dots" {
        let points: Vec<&Value> = series.iter().flat_map(|it| it["points"].as_array().unwrap()).collect();
        let intervals = points.iter().filter(|point| !point[2].is_null()).count();
        let drawn = drawing.html().matches("stroke-width=\"12\"").count();
        assert_eq!(drawn, 3 * intervals, "an interval is a line and two feet: {}", chart["description"]);
    }
}

/// Words that a chart must have beside the names of its series.
fn labels_of(chart: &Value) -> Vec<String> {
    let strings = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    let mut labels: Vec<String> = match chart["kind"].as_str().unwrap() {
        "bars" => strings(&chart["labels"]).into_iter().chain([chart["unit"].as_str().unwrap().to_owned()]).collect(),
        "dots" | "triangle" => strings(&chart["labels"]).into_iter().chain(axis_words(&chart["x"])).collect(),
        _ => ["x", "y"].iter().flat_map(|axis| axis_words(&chart[axis])).collect(),
    };
    labels.retain(|label| !label.is_empty());
    labels
}

/// The title and the marks of an axis.
fn axis_words(axis: &Value) -> Vec<String> {
    let ticks = axis["ticks"].as_array().unwrap().iter().map(|tick| tick[1].as_str().unwrap().to_owned());
    ticks.chain([axis["title"].as_str().unwrap().to_owned()]).collect()
}

/// Names of the files of a folder, in order.
fn names_in(folder: &std::path::Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn each_chart_is_a_file_with_colours_of_its_own() {
    let (folder, text) = page(1);
    let charts = folder.path().join("report/charts");
    let names = names_in(&charts);
    let parsed = Html::parse_document(&text);
    // Those of latencies over time have two further percentiles, which the page draws when they are wanted.
    let choices = charts_of(&text).iter().filter_map(|chart| chart["choices"].as_array()).map(Vec::len).sum::<usize>();
    assert_eq!((names.len(), choices), (select(&parsed, "figure svg").len() + choices, 12));
    for name in &names {
        let drawing = std::fs::read_to_string(charts.join(name)).unwrap();
        assert!(drawing.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        assert!(drawing.contains("--s0:") && drawing.contains("--background:") && !drawing.contains("<script"));
    }
    for what in ["-reads-a-second.svg", "-reads-a-second-logarithmic.svg", "-p99.svg", "-instead-p50.svg", "-p99-9.svg"]
    {
        assert!(names.iter().any(|name| name.ends_with(what)), "{what}: {names:?}");
    }
}

#[test]
fn files_of_others_stay_beside_the_charts() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 1);
    let charts = folder.path().join("elsewhere/charts");
    std::fs::create_dir_all(charts.join("001-mine.svg.d")).unwrap();
    let foreign =
        [("mine.svg", "<svg/>"), ("001-mine.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>"), ("notes", "")];
    foreign.iter().for_each(|(name, text)| std::fs::write(charts.join(name), text).unwrap());
    let make = || {
        let (format, screen) = (kvdyno_report::Format::Table, kvdyno_report::Screen::default());
        kvdyno_report::report(&results, format, (screen, kvdyno_report::Tables::All), charts.parent().unwrap())
            .unwrap()
            .page
            .unwrap();
    };
    make();
    let first = names_in(&charts);
    // One that an earlier page had and this one has not.
    let stale = charts.join("999-run-0-gone.svg");
    std::fs::copy(charts.join(first.iter().find(|name| name.ends_with("load-times.svg")).unwrap()), &stale).unwrap();
    make();
    assert_eq!(names_in(&charts), first);
    assert!(!stale.exists() && charts.join("001-mine.svg.d").is_dir());
    for (name, text) in foreign {
        assert_eq!(std::fs::read_to_string(charts.join(name)).unwrap(), text);
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
    let crashed = "failed, crashed: ended by signal 11 (segmentation fault) after 0.4 s";
    // In the table of costs and in that of amplification.
    assert_eq!(rows, [format!("hyperleveldb{crashed}"), format!("hyperleveldbfillseq{crashed}")]);
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
    // Loads, rates with their logarithmic twins, efficiency of reads, CPU, amplification, latencies and their curves,
    // rates and latencies over time, memory and device.
    assert_eq!(charts.len(), 3 + 2 * 2 + 1 + 3 + 1 + 6 + 6 + 6 + 6 + 9);
    for chart in &charts {
        assert!(chart.attr("width").is_none() && chart.attr("viewBox").is_some() && chart.attr("aria-label").is_some());
        let drawing = chart.html();
        assert!(!drawing.contains("=\"#"), "a colour that no role took the place of");
        assert!(!drawing.contains("font-family"));
    }
}

#[test]
fn verdicts_and_a_chart_stand_before_failures_and_these_before_other_charts() {
    for engines in [3, 7, 22] {
        let folder = tempfile::tempdir().unwrap();
        let path = kvdyno_report::write_page(&support::write_of(folder.path(), 3, engines)).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what}"));
        let failures = if engines > 3 { at("<div class=\"bad\">") } else { at("<nav") };
        let charts: Vec<usize> = text.match_indices("<figure").map(|(at, _)| at).collect();
        assert!(at("id=\"verdicts\"") < charts[0] && charts[0] < failures && failures < charts[1]);
        let parsed = Html::parse_document(&text);
        // Nothing needs to be opened for a ratio with its interval, of each work.
        for verdict in select(&parsed, "#verdicts > .verdict:not(.whole)") {
            let first: String = verdict.select(&Selector::parse("li").unwrap()).next().unwrap().text().collect();
            assert!(first.contains(" to ") && first.contains("repeats"), "{first}");
        }
        assert_eq!(
            select(&parsed, "#verdicts > .verdict:not(.whole)").len(),
            7,
            "loads, and reads and writes of three works"
        );
    }
}

#[test]
fn charts_stand_before_tables_and_doubts_behind_a_count() {
    let text = page(1).1;
    let at = |what: &str| text.find(what).unwrap();
    assert!(at("<figure") < at("<table"), "the first chart stands beneath a table");
    assert!(at("<figure") < at("<h2>Setting"));
    let parsed = Html::parse_document(&text);
    let counts: Vec<String> =
        select(&parsed, ".warnings details.odd > summary").iter().map(|s| s.text().collect()).collect();
    assert!(counts.iter().any(|count| count.starts_with("Notes of the trials: ")), "{counts:?}");
    assert!(select(&parsed, ".warnings details[open]").is_empty());
}
