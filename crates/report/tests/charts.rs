//! Charts of the page, on made-up results that were changed so that they say something.

use crate::support;
use kvdyno_results::{Phase, TrialResult};
use scraper::{ElementRef, Html, Selector};
use serde_json::Value;

/// A chart of a page: its caption, what the script draws, the drawings on paper.
struct Figure {
    caption: String,
    chart: Value,
    drawings: Vec<String>,
}

impl Figure {
    fn of(figure: ElementRef<'_>) -> Figure {
        let all = |what: &str| figure.select(&Selector::parse(what).unwrap()).collect::<Vec<_>>();
        let text = |what: &str| all(what)[0].text().collect::<String>();
        Figure {
            caption: text("figcaption"),
            chart: serde_json::from_str(&text("script")).unwrap(),
            drawings: all("svg").into_iter().map(|svg| svg.html()).collect(),
        }
    }

    fn series(&self, name: &str) -> &[Value] {
        let all = self.chart["series"].as_array().unwrap();
        all.iter().find(|series| series["name"] == name).unwrap()["points"].as_array().unwrap()
    }
}

/// The figures of the page of results that were changed.
fn figures(repeats: u32, change: impl Fn(&mut TrialResult)) -> Vec<Figure> {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), repeats);
    for mut result in results.results().unwrap() {
        change(&mut result);
        results.save(&result).unwrap();
    }
    support::stalls::stall(&results, "rocksdb");
    let page = std::fs::read_to_string(kvdyno_report::write_page(&results).unwrap()).unwrap();
    Html::parse_document(&page).select(&Selector::parse("figure").unwrap()).map(Figure::of).collect()
}

fn captioned<'f>(figures: &'f [Figure], caption: &str) -> &'f Figure {
    let all = || figures.iter().map(|figure| &figure.caption).collect::<Vec<_>>();
    figures.iter().find(|figure| figure.caption == caption).unwrap_or_else(|| panic!("{caption}: {:?}", all()))
}

/// Reads that come from the storage: of LMDB none, of the others more with each.
fn from_storage(result: &mut TrialResult) {
    let operations = match result.trial.phase {
        Phase::Load => result.workload.records,
        Phase::Run => result.answers.right,
    };
    result.os.fs_in_ops = match result.trial.engine.as_str() {
        "lmdb" => 0,
        "rocksdb" => operations / 50,
        _ => operations * 40,
    };
}

#[test]
fn filesystem_operations_for_each_operation_have_logarithmic_axes() {
    let figures = figures(3, from_storage);
    for what in ["inputs", "outputs"] {
        let figure = captioned(&figures, &format!("Filesystem {what} for each operation"));
        assert_eq!((&figure.chart["y"]["log"], &figure.chart["y"]["title"]), (&true.into(), &"blocks/op".into()));
    }
    let inputs = captioned(&figures, "Filesystem inputs for each operation");
    assert_eq!(inputs.chart["y"]["range"], serde_json::json!([-2.0, 2.0]));
    let words: Vec<&Value> = inputs.chart["y"]["ticks"].as_array().unwrap().iter().map(|tick| &tick[1]).collect();
    assert_eq!(words, ["0.01", "0.1", "1", "10", "100"]);
    let near = |point: &Value, figure: f64| (point[1].as_f64().unwrap() / figure - 1.0).abs() < 0.01;
    assert!(inputs.series("rocksdb").iter().all(|point| near(point, 0.02)), "{:?}", inputs.series("rocksdb"));
    assert!(inputs.series("leveldb").iter().all(|point| near(point, 40.0)), "{:?}", inputs.series("leveldb"));
    // 0 has no logarithm: the script gets 0, and both painters put it at the lower end.
    assert!(inputs.series("lmdb").iter().all(|point| point[1] == 0.0), "{:?}", inputs.series("lmdb"));
    let drawing = Html::parse_fragment(&inputs.drawings[0]);
    let heights = |what: &str, height: &str| -> Vec<f64> {
        let all = drawing.select(&Selector::parse(what).unwrap()).collect::<Vec<_>>();
        all.iter().filter_map(|it| it.attr(height)).map(|it| it.parse().unwrap()).collect()
    };
    let lowest = heights("circle[fill='var(--s0)']", "cy").into_iter().fold(0.0, f64::max);
    assert!((2820.0..=2840.0).contains(&lowest), "the first engine's mark stands at {lowest}");
}

#[test]
fn loads_have_filesystem_operations_and_context_switches() {
    let figures = figures(3, from_storage);
    let traffic = captioned(&figures, "Filesystem inputs and outputs for each operation of the load");
    assert_eq!((&traffic.chart["kind"], &traffic.chart["x"]["log"]), (&"dots".into(), &true.into()));
    let labels: Vec<&Value> = traffic.chart["labels"].as_array().unwrap().iter().collect();
    assert_eq!(labels[..3], ["lmdb", "rocksdb", "leveldb"]);
    assert_eq!(traffic.series("inputs")[2][1], 40.0);
    assert!(traffic.series("outputs").iter().all(|point| point[1].as_f64() > Some(0.0)));
    let switches = captioned(&figures, "Context switches of the load");
    assert_eq!((&switches.chart["kind"], &switches.chart["unit"]), (&"bars".into(), &"switches".into()));
    let of = |name: &str| switches.series(name)[0][1].as_f64().unwrap();
    assert!(of("voluntary") > 900.0 && of("involuntary") < 40.0, "{} {}", of("voluntary"), of("involuntary"));
}

#[test]
fn names_of_many_engines_have_room_in_every_drawing() {
    let folder = tempfile::tempdir().unwrap();
    let page = kvdyno_report::write_page(&support::write_of(folder.path(), 1, 24)).unwrap();
    let page = Html::parse_document(&std::fs::read_to_string(page).unwrap());
    let figures: Vec<Figure> = page.select(&Selector::parse("figure").unwrap()).map(Figure::of).collect();
    let text = Selector::parse("text").unwrap();
    for figure in figures.iter().filter(|figure| figure.chart["kind"] == "lines") {
        let drawing = Html::parse_fragment(&figure.drawings[0]);
        for name in figure.chart["series"].as_array().unwrap().iter().map(|series| series["name"].as_str().unwrap()) {
            let named = |it: &ElementRef<'_>| it.text().collect::<String>().trim() == name;
            let label = drawing.select(&text).find(named).unwrap();
            let y: f64 = label.attr("y").unwrap().parse().unwrap();
            assert!(y > 100.0, "{}: {name} stands at {y}", figure.chart["description"]);
        }
    }
}

#[test]
fn where_the_storage_does_not_matter_there_are_no_charts_of_it() {
    let figures = figures(1, |_| ());
    assert!(!figures.iter().any(|figure| figure.caption.contains("Filesystem")));
    captioned(&figures, "Context switches of the load");
}

#[test]
fn rates_have_a_logarithmic_twin_on_paper() {
    let figures = figures(3, |_| ());
    for caption in ["Reads a second", "Writes a second"] {
        let figure = captioned(&figures, caption);
        let words = |nth: usize| -> Vec<String> {
            let drawing = Html::parse_fragment(&figure.drawings[nth]);
            let text = Selector::parse("text").unwrap();
            drawing.select(&text).map(|it| it.text().collect::<String>().trim().to_owned()).collect()
        };
        assert_eq!(figure.drawings.len(), 2);
        assert!(words(0).contains(&"0".to_owned()), "{:?}", words(0));
        let marks = words(1);
        assert!(!marks.contains(&"0".to_owned()) && marks.contains(&"100 k".to_owned()), "{marks:?}");
        for series in figure.chart["series"].as_array().unwrap() {
            assert!(marks.contains(&series["name"].as_str().unwrap().to_owned()), "{marks:?}");
        }
    }
}

#[test]
fn stalls_are_crossed_and_told_to_the_script() {
    let figures = figures(1, |_| ());
    let over_time = |it: &&Figure| it.chart["description"].as_str().unwrap().contains("over time");
    let crosses = |svg: &str| svg.matches("stroke-width=\"16\"").count();
    let stalls = |figure: &Figure, name: &str| figure.series(name).iter().filter(|point| point[3] == true).count();
    let mut seen = 0;
    for figure in figures.iter().filter(over_time) {
        let told = figure.chart["series"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap());
        let of_figure: usize = told.map(|name| stalls(figure, name)).sum();
        let is_of_machine = figure.chart["y"]["words"] == "bytes";
        assert_eq!((stalls(figure, "rocksdb"), of_figure), if is_of_machine { (0, 0) } else { (1, 1) });
        // A cross is two lines.
        assert_eq!(crosses(&figure.drawings[0]), 2 * of_figure, "{}", figure.caption);
        seen += of_figure;
    }
    assert_eq!(seen, 3 * 2 * 2, "of each number of readers, both sides and both figures");
}

#[test]
fn latencies_over_time_can_be_switched_between_percentiles() {
    let figures = figures(3, |_| ());
    let such: Vec<&Figure> = figures.iter().filter(|figure| figure.chart["shown"] == "p99").collect();
    assert_eq!(such.len(), 6);
    for figure in such {
        let choices = figure.chart["choices"].as_array().unwrap();
        let names: Vec<&Value> = choices.iter().map(|choice| &choice["name"]).collect();
        assert_eq!(names, ["p50", "p99.9"]);
        for (nth, series) in figure.chart["series"].as_array().unwrap().iter().enumerate() {
            let shown = series["points"].as_array().unwrap();
            let [p50, p99_9] = [0, 1].map(|choice: usize| choices[choice]["figures"][nth].as_array().unwrap());
            assert_eq!((p50.len(), p99_9.len()), (shown.len(), shown.len()));
            for ((low, point), high) in p50.iter().zip(shown).zip(p99_9) {
                assert!(low.as_f64() < point[1].as_f64() && point[1].as_f64() < high.as_f64(), "{low} {point} {high}");
            }
        }
        assert!(choices[1]["y"]["title"].as_str().unwrap().starts_with("p99.9 of "));
    }
}

#[test]
fn marks_without_an_interval_are_hollow() {
    // A mark of the background within each mark of a point; marks beside names are whole.
    let inner = Selector::parse("circle[r='22'][fill='var(--background)']").unwrap();
    let hollow = |figure: &Figure| Html::parse_fragment(&figure.drawings[0]).select(&inner).count();
    let without = |figure: &Figure| figure.series("lmdb").iter().filter(|point| point[2].is_null()).count();
    for (repeats, expected) in [(1, 3), (3, 0)] {
        let figures = figures(repeats, |_| ());
        let rates = captioned(&figures, "Reads a second");
        assert_eq!((without(rates), hollow(rates)), (expected, expected), "{repeats}");
        // The greatest latency is that of one operation, and has none however many repeats there are.
        let reads = |it: &&Figure| it.chart["description"].as_str().unwrap().starts_with("latency of reads, 1 reader");
        let latency = figures.iter().find(reads).unwrap();
        assert!(latency.series("lmdb").last().unwrap()[2].is_null() && hollow(latency) >= 1);
    }
}
