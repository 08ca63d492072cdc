//! For other programs: a tidy table of cells, and JSON as its schema has it.

use crate::support;
use std::collections::{BTreeMap, BTreeSet};

use kvdyno_report::{Format, render, schema, write_ods, write_page};
use kvdyno_results::Percentile;
use kvdyno_results::folder::ResultsFolder;
use serde_json::Value;

fn made_up(repeats: u32) -> (tempfile::TempDir, ResultsFolder) {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), repeats);
    (folder, results)
}

/// The rows of a table that has one head and as many fields in each row; another table beneath it is an error.
fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let heads = reader.headers().unwrap().clone();
    assert_eq!(heads.iter().collect::<BTreeSet<_>>().len(), heads.len(), "a column has another's name");
    let row = |row: csv::StringRecord| heads.iter().map(str::to_owned).zip(row.iter().map(str::to_owned)).collect();
    reader.records().map(|record| row(record.unwrap())).collect()
}

#[test]
fn csv_is_one_table_with_a_row_for_each_cell() {
    let (_folder, results) = made_up(3);
    let csv = render(&results, Format::Csv).unwrap();
    assert!(!csv.contains("\n\n"));
    let rows = rows(&csv);
    assert_eq!(rows.len(), 7 + 7 * 3);
    let one = |engine: &str, readers: &str| {
        rows.iter().find(|row| row["engine"] == engine && row["readers"] == readers && row["phase"] == "run").unwrap()
    };
    let rocksdb = one("rocksdb", "4");
    let number = |name: &str| rocksdb[name].parse::<f64>().unwrap();
    for figure in ["reads_per_s", "writes_per_s", "wall_s", "read_p99_ns", "write_p50_ns"] {
        let [low, high] = ["low", "high"].map(|end| number(&format!("{figure}_{end}")));
        assert!(low <= number(figure) && number(figure) <= high, "{figure}: {rocksdb:?}");
    }
    assert_eq!((&*rocksdb["finished"], &*rocksdb["failed"], &*rocksdb["reason"]), ("3", "0", ""));
    assert_eq!((&*rocksdb["version"], &*rocksdb["value_size"], &*rocksdb["cache_bytes"]), ("7.8.3", "100", "33554432"));
    let crashed = one("bdb", "4");
    assert_eq!((&*crashed["finished"], &*crashed["reads_per_s"], &*crashed["db_kib"]), ("0", "", ""));
    assert!(crashed["reason"].contains("signal 6"), "{crashed:?}");
}

#[test]
fn the_same_tables_lie_beside_the_page() {
    let (_folder, results) = made_up(1);
    write_page(&results).unwrap();
    let saved = |name: &str| std::fs::read_to_string(results.report_folder().join(name)).unwrap();
    assert_eq!(saved("cells.csv"), render(&results, Format::Csv).unwrap());
    for name in ["cells.csv", "verdicts.csv", "load.csv", "run.csv"] {
        assert!(!rows(&saved(name)).is_empty(), "{name}");
    }
}

fn json(results: &ResultsFolder) -> Value {
    serde_json::from_str(&render(results, Format::Json).unwrap()).unwrap()
}

#[test]
fn json_is_as_its_schema_has_it() {
    let schema = schema();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    for repeats in [1, 3] {
        let (_folder, results) = made_up(repeats);
        let document = json(&results);
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert_eq!(errors, Vec::<String>::new());
    }
    // It refuses what a report does not say.
    let (_folder, results) = made_up(1);
    for change in [
        |document: &mut Value| document["missing"] = "2".into(),
        |document: &mut Value| document["cells"][0]["more"] = 1.into(),
        |document: &mut Value| drop(document["run"][0].as_object_mut().unwrap().remove("trial")),
        |document: &mut Value| document["run"][0]["records"] = "1,000,000".into(),
    ] {
        let mut document = json(&results);
        change(&mut document);
        assert!(!validator.is_valid(&document));
    }
}

#[test]
fn json_has_each_percentile_of_a_cell_with_its_interval() {
    let (_folder, results) = made_up(3);
    let latency = &json(&results)["cells"][0]["latencies"][0];
    assert!(latency["kind"].is_string() && latency["merged"].is_boolean(), "{latency}");
    for percentile in Percentile::ALL {
        let estimate = &latency[percentile.key()];
        assert_eq!(estimate["method"], "3 repeats", "{latency}");
        let [least, low, value, most] = [&latency["min_ns"], &estimate["low"], &estimate["value"], &latency["max_ns"]]
            .map(|figure| figure.as_f64().unwrap());
        assert!(low <= value && least <= value && value <= most, "{latency}");
    }
}

#[test]
fn settings_have_types() {
    let (_folder, results) = made_up(1);
    let settings = &json(&results)["settings"];
    assert_eq!(settings["records"], 1_000_000);
    assert_eq!(settings["cache_bytes"], 32 << 20);
    assert_eq!(settings["compressibility"], 0.5);
    assert_eq!(settings["durability"], "none");
    // Loads and runs have others, which stand in their rows.
    assert_eq!(settings.get("batch"), None);
}

#[test]
fn a_spreadsheet_has_every_table_with_numbers_as_numbers() {
    let (folder, results) = made_up(3);
    let path = folder.path().join("tables.ods");
    write_ods(&results, None, &path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(&bytes[30..38], b"mimetype", "readers know the file by its first entry");
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes.as_slice())).unwrap();
    let mut entry = |name: &str| std::io::read_to_string(archive.by_name(name).unwrap()).unwrap();
    assert_eq!(entry("mimetype"), "application/vnd.oasis.opendocument.spreadsheet");
    assert!(entry("META-INF/manifest.xml").contains("content.xml"));
    let content = entry("content.xml");
    let sheets: Vec<&str> =
        content.split("table:name=\"").skip(1).map(|rest| rest.split_once('"').unwrap().0).collect();
    assert_eq!(sheets[..4], ["cells", "verdicts", "loads", "runs"]);
    for name in ["Load", "readwhilewriting  reads s", "readwhilewriting  CPU of an ope"] {
        assert!(sheets.contains(&name), "{sheets:?}");
    }
    assert_eq!(sheets.iter().collect::<BTreeSet<_>>().len(), sheets.len());
    assert!(!content.contains("<text:p>[]</text:p>"), "a list is no field");
    let rates = content.split("table:name=\"readwhilewriting  reads s\"").nth(1).unwrap();
    assert!(rates.contains("office:value-type=\"float\" office:value=\"640251"), "{rates}");
    // The data of charts, with the interval of a point: rates against threads, and rates over time.
    let sheet = |begin: &str| {
        let name = sheets.iter().find(|name| name.starts_with(begin)).unwrap_or_else(|| panic!("{begin}: {sheets:?}"));
        content.split(&format!("table:name=\"{name}\"")).nth(1).unwrap().split("</table:table>").next().unwrap()
    };
    for begin in [
        "Reads a second, readwhilewritin",
        "Over time  reads, readwhilewri",
        "Over time  latency of reads, re",
        "Latency  reads, readwhilewritin",
    ] {
        let sheet = sheet(begin);
        assert!(sheet.contains("<text:p>rocksdb</text:p>"), "{sheet}");
        for head in ["chart", "figure", "series", "x", "value", "low", "high", "stall"] {
            assert!(sheet.contains(&format!("<text:p>{head}</text:p>")), "{sheet}");
        }
    }
    assert!(sheet("Reads a second").contains("office:value=\"640251"), "{}", sheet("Reads a second"));
    // The same results give the same file.
    write_ods(&results, None, &path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

/// Of each chart of the page: its caption, and what its figures are.
fn figures_of(page: &str) -> Vec<(String, String)> {
    let parsed = scraper::Html::parse_document(page);
    let select = |what: &str| scraper::Selector::parse(what).unwrap();
    let (figure, caption, data) = (select("figure"), select("figcaption"), select("script"));
    let of = |it: scraper::ElementRef<'_>| {
        let text = |what: &scraper::Selector| it.select(what).next().unwrap().text().collect::<String>();
        let chart: Value = serde_json::from_str(&text(&data)).unwrap();
        let titles = [&chart["y"]["title"], &chart["unit"], &chart["x"]["title"]];
        (text(&caption), titles.into_iter().find_map(Value::as_str).unwrap().to_owned())
    };
    parsed.select(&figure).map(of).collect()
}

#[test]
fn each_chart_of_the_page_has_rows_in_the_spreadsheet() {
    let (folder, results) = made_up(3);
    for mut result in results.results().unwrap() {
        result.os.fs_in_ops = result.workload.records;
        results.save(&result).unwrap();
    }
    let paper: kvdyno_report::Paper = "inmem-numa".parse().unwrap();
    let (format, screen, to) = (Format::Table, kvdyno_report::Screen::default(), folder.path().join("page"));
    let page = kvdyno_report::against(&results, paper, format, screen, &to).unwrap().page.unwrap();
    let figures = figures_of(&std::fs::read_to_string(page).unwrap());
    assert!(figures.len() > 50 && figures.iter().any(|(_, figure)| figure == "bytes for each byte"), "{figures:?}");
    let path = folder.path().join("tables.ods");
    write_ods(&results, Some(paper), &path).unwrap();
    let mut archive = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
    let content = std::io::read_to_string(archive.by_name("content.xml").unwrap()).unwrap();
    let text = |words: &str| {
        let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        format!("<table:table-cell office:value-type=\"string\"><text:p>{words}</text:p></table:table-cell>")
    };
    for (caption, figure) in figures {
        assert!(!figure.is_empty() && content.contains(&(text(&caption) + &text(&figure))), "{caption}: {figure}");
    }
}

#[cfg(feature = "parquet")]
mod parquet_files {
    use super::*;
    use parquet::basic::Type as PhysicalType;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field, Row};

    /// The columns of a file with their types, and its rows.
    fn read(folder: &tempfile::TempDir, name: &str) -> (Vec<(String, PhysicalType)>, Vec<Row>) {
        let file = std::fs::File::open(folder.path().join("tables").join(name)).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let schema = reader.metadata().file_metadata().schema_descr();
        let columns = schema.columns().iter().map(|column| (column.name().to_owned(), column.physical_type()));
        (columns.collect(), reader.get_row_iter(None).unwrap().map(Result::unwrap).collect())
    }

    fn field<'a>(row: &'a Row, name: &str) -> &'a Field {
        row.get_column_iter().find(|(column, _)| *column == name).unwrap().1
    }

    #[test]
    fn cells_are_those_of_csv_with_types() {
        let (folder, results) = made_up(3);
        kvdyno_report::write_parquet(&results, &folder.path().join("tables")).unwrap();
        let csv = rows(&render(&results, Format::Csv).unwrap());
        let (columns, rows) = read(&folder, "cells.parquet");
        let names: BTreeSet<&String> = columns.iter().map(|(name, _)| name).collect();
        assert_eq!(names, csv[0].keys().collect());
        assert_eq!(rows.len(), csv.len());
        for (row, expected) in rows.iter().zip(&csv) {
            for (name, value) in row.get_column_iter() {
                let expected = &expected[name];
                match value {
                    Field::Null => assert_eq!(expected, "", "{name}"),
                    Field::Str(text) => assert_eq!(text.trim(), expected.trim(), "{name}"),
                    Field::Long(number) => assert_eq!(*number, expected.parse::<i64>().unwrap(), "{name}"),
                    Field::Double(number) => assert_eq!(*number, expected.parse::<f64>().unwrap(), "{name}"),
                    other => panic!("{name}: {other:?}"),
                }
            }
        }
        // A schema does not depend on what a run gave: one without repeats, of which no interval is known, has it too.
        let (other, results) = made_up(1);
        kvdyno_report::write_parquet(&results, &other.path().join("tables")).unwrap();
        assert_eq!(read(&other, "cells.parquet").0, columns);
    }

    #[test]
    fn every_point_of_every_series_is_there() {
        let (folder, results) = made_up(1);
        kvdyno_report::write_parquet(&results, &folder.path().join("tables")).unwrap();
        let (columns, rows) = read(&folder, "series.parquet");
        assert_eq!(columns[0], ("engine".to_owned(), PhysicalType::BYTE_ARRAY));
        let trials = results.results().unwrap();
        let points: usize = trials.iter().map(|result| results.series(&result.trial).unwrap().len()).sum();
        assert!(points > 0 && rows.len() == points, "{points}, {}", rows.len());
        let first = &results.series(&trials[0].trial).unwrap();
        let of_first: Vec<&Row> =
            rows.iter().filter(|row| *field(row, "trial") == Field::Long(trials[0].trial.number.into())).collect();
        assert_eq!(of_first.len(), first.len());
        for (row, point) in of_first.iter().zip(first) {
            assert_eq!(field(row, "records_per_s"), &Field::Double(point.records_per_s));
            assert_eq!(field(row, "operations"), &Field::Long(point.operations as i64));
            assert_eq!(field(row, "engine"), &Field::Str(trials[0].trial.engine.clone()));
        }
    }
}
