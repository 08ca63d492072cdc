//! The printed tables, `published/*.csv`, as comparisons.

use std::collections::HashMap;

use kvdyno_model::text::counted;
use kvdyno_results::Phase;

use super::comparison::{CellFilter, ComparedFigure, PublishedComparison, PublishedEntry};
use super::paper::Paper;
use crate::error::ReportError;
use crate::order::distinct;

/// Printed figures may differ from what others of their row come to by this much, relatively, before that is called a
/// slip: `time` cuts CPU % to a whole number, and the times to hundredths of a second.
const SLIP: f64 = 0.05;

/// The most threads of the report on hyperthreads, on 30 cores. Here they are what the machine has, so these are
/// compared with the experiment's most, whichever they are.
const MOST_THREADS: &str = "50";

/// A row of a printed table.
struct PrintedRow {
    /// Its number among the rows of its engine, or of the table if that names none; from 1.
    number: usize,
    /// Its fields by the names of their columns.
    fields: HashMap<String, String>,
}

impl PrintedRow {
    fn text(&self, column: &str) -> &str {
        self.fields.get(column).map_or("", String::as_str)
    }

    fn owned(&self, column: &str) -> Option<String> {
        self.fields.get(column).cloned()
    }

    fn figure(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or(f64::NAN)
    }
}

/// A column that is compared: the figure that it is, its name, and the title of the comparison.
type ComparedColumn = (ComparedFigure, &'static str, &'static str);

/// A column that follows from others of its row: the figure in words, its name, and how it is computed from the others,
/// in words and as a formula.
type DerivedColumn = (&'static str, &'static str, &'static str, fn(&PrintedRow) -> f64);

/// A printed table, and what is done with its columns.
struct PrintedTable {
    paper: Paper,
    name: &'static str,
    csv: &'static str,
    /// The head of its entries: `engine`.
    entry: &'static str,
    phase: Phase,
    compared: &'static [ComparedColumn],
    /// The rows that are compared with each other, in words that follow the title; absent for rows that are with none.
    group: fn(&PrintedRow) -> Option<String>,
    label: fn(&PrintedRow) -> String,
    /// The measured cells of a row, but for the phase.
    cell: fn(&PrintedRow) -> CellFilter,
    derived: &'static [DerivedColumn],
    /// A row's name where one of its figures does not follow from the others.
    named: fn(&PrintedRow) -> String,
}

const CPU_PERCENT: &[DerivedColumn] = &[("CPU %", "cpu_pct", "user + system over wall time", |row| {
    100.0 * (row.figure("user_s") + row.figure("sys_s")) / row.figure("wall_s")
})];

/// The printed tables, in the order of the reports.
const TABLES: [PrintedTable; 6] = [
    PrintedTable {
        paper: Paper::InmemNuma,
        name: "symas-2014-inmem-load",
        csv: include_str!("../../../../published/symas-2014-inmem-load.csv"),
        entry: "engine",
        phase: Phase::Load,
        compared: &[(ComparedFigure::Wall, "wall_s", "load")],
        group: |row| Some(format!("{} memory", row.text("numa_policy"))),
        label: |row| row.text("engine").to_owned(),
        cell: |row| CellFilter {
            engine: row.owned("engine"),
            variant: row.owned("numa_policy"),
            ..CellFilter::default()
        },
        derived: CPU_PERCENT,
        named: |row| format!("load table, {}, row {}", row.text("engine"), row.number),
    },
    PrintedTable {
        paper: Paper::InmemNuma,
        name: "symas-2014-inmem-numa-interleave",
        csv: include_str!("../../../../published/symas-2014-inmem-numa-interleave.csv"),
        entry: "engine",
        phase: Phase::Run,
        compared: &[
            (ComparedFigure::Reads, "reads_per_s", "reads beside a writer"),
            (ComparedFigure::Writes, "writes_per_s", "writes beside a writer"),
        ],
        group: |row| Some(counted(row.figure("readers"), "reader")),
        label: |row| row.text("engine").to_owned(),
        cell: |row| CellFilter {
            engine: row.owned("engine"),
            variant: Some("interleave".to_owned()),
            readers: row.text("readers").parse().ok(),
            ..CellFilter::default()
        },
        derived: CPU_PERCENT,
        named: |row| format!("run table, {}, row {}", row.text("engine"), row.number),
    },
    // Rows are named by their number in the table: `row-07`, as the experiment's variants are.
    PrintedTable {
        paper: Paper::ThreeNPlusOne,
        name: "anderson-2011-bdb-3n1",
        csv: include_str!("../../../../published/anderson-2011-bdb-3n1.csv"),
        entry: "settings",
        phase: Phase::Load,
        compared: &[(ComparedFigure::Operations, "ops_per_s", "3n+1 on Berkeley DB")],
        group: |_| Some(String::new()),
        label: |row| format!("{:02} {}", row.number, settings(row)),
        cell: |row| CellFilter { variant: Some(format!("row-{:02}", row.number)), ..CellFilter::default() },
        derived: &[
            ("operations", "ops", "puts + gets", |row| row.figure("puts") + row.figure("gets")),
            // Wall times are whole seconds in print.
            ("operations/s", "ops_per_s", "operations over wall time", |row| row.figure("ops") / row.figure("wall_s")),
        ],
        named: |row| format!("row {}", row.number),
    },
    PrintedTable {
        paper: Paper::DbbenchSmt,
        name: "callaghan-2023-smt-vmstat",
        csv: include_str!("../../../../published/callaghan-2023-smt-vmstat.csv"),
        entry: "benchmark",
        phase: Phase::Run,
        compared: &[(ComparedFigure::Switches, "context_switches_per_s", "context switches")],
        group: most_threads,
        label: benchmark,
        cell: of_benchmark,
        derived: &[],
        named: benchmark,
    },
    PrintedTable {
        paper: Paper::DbbenchSmt,
        name: "callaghan-2023-smt-cpu-per-op",
        csv: include_str!("../../../../published/callaghan-2023-smt-cpu-per-op.csv"),
        entry: "benchmark",
        phase: Phase::Run,
        compared: &[(ComparedFigure::CpuPerOperation, "total_us_per_op", "CPU for an operation")],
        group: most_threads,
        label: benchmark,
        cell: of_benchmark,
        derived: &[("CPU µs", "total_us_per_op", "user + system", |row| {
            row.figure("user_us_per_op") + row.figure("sys_us_per_op")
        })],
        named: benchmark,
    },
    PrintedTable {
        paper: Paper::Storage,
        name: "symas-2018-optane-load",
        csv: include_str!("../../../../published/symas-2018-optane-load.csv"),
        entry: "engine, filesystem",
        phase: Phase::Load,
        compared: &[
            (ComparedFigure::Wall, "wall_s", "load"),
            (ComparedFigure::OutputsPerRecord, "write_amp_ops_per_record", "filesystem outputs of the load"),
        ],
        group: |row| row.owned("device"),
        label: |row| format!("{}, {}", row.text("engine"), storage(row)),
        cell: |row| CellFilter { engine: row.owned("engine"), variant: Some(storage(row)), ..CellFilter::default() },
        derived: &[("outputs a record", "write_amp_ops_per_record", "outputs over 80 million", |row| {
            row.figure("fs_out_ops") / 80e6
        })],
        named: |row| format!("{} on {} {}", row.text("engine"), row.text("device"), storage(row)),
    },
];

fn settings(row: &PrintedRow) -> String {
    let mut words = vec![match row.text("cache_kib") {
        "0" => "default cache".to_owned(),
        kib => format!("cache {kib} KiB"),
    }];
    words.push(counted(row.figure("threads"), "thread"));
    words.extend(row.owned("log_buffer_kib").filter(|kib| !kib.is_empty()).map(|kib| format!("log buffer {kib} KiB")));
    let flags = [("nosync_txn", "NOSYNC"), ("log_dsync", "DSYNC"), ("sort_by_length", "by length")];
    words.extend(flags.iter().filter(|(flag, _)| row.text(flag) == "1").map(|(_, word)| (*word).to_owned()));
    words.extend((row.text("partitions") != "1").then(|| format!("{} partitions", row.text("partitions"))));
    words.extend((row.text("n") != "1000000").then(|| format!("N {}", row.text("n"))));
    words.join(", ")
}

fn most_threads(row: &PrintedRow) -> Option<String> {
    (row.text("threads") == MOST_THREADS).then(|| format!("{MOST_THREADS} threads there"))
}

fn benchmark(row: &PrintedRow) -> String {
    format!("{}, SMT {}", row.text("benchmark"), row.text("smt"))
}

fn of_benchmark(row: &PrintedRow) -> CellFilter {
    // The report calls the script's last step by what it does before it waits.
    let step =
        row.owned("benchmark").map(|name| if name == "overwrite" { "overwriteandwait".to_owned() } else { name });
    CellFilter {
        engine: Some("rocksdb".to_owned()),
        variant: Some(format!("smt-{}", row.text("smt"))),
        workload: step,
        most_threads: true,
        ..CellFilter::default()
    }
}

/// The storage of a row in the words of the experiment's variants.
fn storage(row: &PrintedRow) -> String {
    match (row.text("filesystem"), row.text("journal")) {
        ("ext4", "no") => "ext4-nojournal".to_owned(),
        (filesystem, _) => filesystem.to_owned(),
    }
}

impl PrintedTable {
    fn rows(&self) -> Result<Vec<PrintedRow>, ReportError> {
        let mut rows: Vec<PrintedRow> = Vec::new();
        for fields in csv::Reader::from_reader(self.csv.as_bytes()).deserialize() {
            let fields: HashMap<String, String> = fields?;
            let of_its_engine = rows.iter().filter(|row| row.fields.get("engine") == fields.get("engine"));
            rows.push(PrintedRow { number: of_its_engine.count() + 1, fields });
        }
        Ok(rows)
    }

    fn comparisons(&self) -> Result<Vec<PublishedComparison>, ReportError> {
        let rows = self.rows()?;
        let groups = distinct(rows.iter().filter_map(self.group));
        let comparison = |(figure, column, title): &ComparedColumn, group: &String| PublishedComparison {
            table: self.name,
            title: if group.is_empty() { (*title).to_owned() } else { format!("{title}, {group}") },
            entry: self.entry,
            figure: *figure,
            entries: rows
                .iter()
                .filter(|row| (self.group)(row).as_ref() == Some(group))
                .map(|row| PublishedEntry {
                    label: (self.label)(row),
                    published: row.figure(column),
                    cell: CellFilter { phase: Some(self.phase), ..(self.cell)(row) },
                })
                .collect(),
        };
        let of_column = |column| groups.iter().map(move |group| (column, group));
        Ok(self.compared.iter().flat_map(of_column).map(|(column, group)| comparison(column, group)).collect())
    }

    fn slips(&self) -> Result<Vec<String>, ReportError> {
        let mut slips = Vec::new();
        for row in self.rows()? {
            for (figure, column, way, formula) in self.derived {
                let (printed, own) = (row.figure(column), formula(&row));
                // A whole number may stand for anything up to the next one.
                if (printed - own).abs() > (SLIP * own).max(1.0) {
                    let name = (self.named)(&row);
                    slips.push(format!("{name}: {figure} is printed as {printed:.0}; {way} gives {own:.0}"));
                }
            }
        }
        Ok(slips)
    }
}

fn of_tables<T>(paper: Paper, of: fn(&PrintedTable) -> Result<Vec<T>, ReportError>) -> Result<Vec<T>, ReportError> {
    let all: Result<Vec<Vec<T>>, _> = TABLES.iter().filter(|table| table.paper == paper).map(of).collect();
    Ok(all?.into_iter().flatten().collect())
}

/// The comparisons of a paper, in the order of its tables.
pub(super) fn comparisons(paper: Paper) -> Result<Vec<PublishedComparison>, ReportError> {
    of_tables(paper, PrintedTable::comparisons)
}

/// The printed figures that do not fit each other.
pub(super) fn slips(paper: Paper) -> Result<Vec<String>, ReportError> {
    of_tables(paper, PrintedTable::slips)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_slip_is_found_and_no_other_in_its_tables() {
        let slips = slips(Paper::InmemNuma).unwrap();
        assert_eq!(slips.len(), 1, "{slips:?}");
        assert!(slips[0].contains("wiredtiger-btree") && slips[0].contains("132") && slips[0].contains("227"));
    }

    #[test]
    fn every_paper_has_comparisons_with_entries() {
        for &paper in Paper::ALL {
            let comparisons = comparisons(paper).unwrap();
            assert!(comparisons.iter().all(|comparison| comparison.entries.len() > 1), "{paper}");
            let mut entries = comparisons.iter().flat_map(|comparison| &comparison.entries);
            assert!(entries.all(|entry| entry.published.is_finite() && entry.cell.variant.is_some()), "{paper}");
            assert!(slips(paper).is_ok());
        }
        let inmem = comparisons(Paper::InmemNuma).unwrap();
        let reads = inmem.iter().find(|comparison| comparison.title == "reads beside a writer, 64 readers").unwrap();
        assert_eq!(reads.entries.len(), 11);
        assert_eq!(comparisons(Paper::ThreeNPlusOne).unwrap()[0].entries.len(), 20);
    }

    #[test]
    fn every_published_table_is_compared() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../published");
        let names = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut there: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".csv")?.to_owned())).collect();
        let mut compared: Vec<&str> = distinct(
            Paper::ALL.iter().flat_map(|paper| comparisons(*paper).unwrap()).map(|comparison| comparison.table),
        );
        there.sort_unstable();
        compared.sort_unstable();
        assert_eq!(compared, there);
    }
}
