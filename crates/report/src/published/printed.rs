//! The printed tables, `published/*.csv`, as comparisons.

use kvdyno_model::text::counted;
use kvdyno_results::Phase;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::comparison::{CellFilter, ComparedFigure, PublishedComparison, PublishedEntry};
use super::paper::Paper;
use crate::error::ReportError;
use crate::order::distinct;

const INMEM_LOAD: &str = include_str!("../../../../published/symas-2014-inmem-load.csv");
const INMEM_RUN: &str = include_str!("../../../../published/symas-2014-inmem-numa-interleave.csv");
const BDB_3N1: &str = include_str!("../../../../published/anderson-2011-bdb-3n1.csv");
const SMT_VMSTAT: &str = include_str!("../../../../published/callaghan-2023-smt-vmstat.csv");
const SMT_CPU: &str = include_str!("../../../../published/callaghan-2023-smt-cpu-per-op.csv");
const OPTANE_LOAD: &str = include_str!("../../../../published/symas-2018-optane-load.csv");

/// CPU % may differ from (user + system) / wall by this much, relatively, before it is called a slip: `time` cuts it to
/// a whole number, and the times to hundredths of a second.
const SLIP: f64 = 0.05;

#[derive(Deserialize)]
struct Accounts {
    engine: String,
    wall_s: f64,
    user_s: f64,
    sys_s: f64,
    cpu_pct: f64,
}

#[derive(Deserialize)]
struct InmemLoad {
    numa_policy: String,
    engine: String,
    wall_s: f64,
}

#[derive(Deserialize)]
struct InmemRun {
    engine: String,
    readers: u32,
    reads_per_s: f64,
    writes_per_s: f64,
}

#[derive(Deserialize)]
struct ThreeNPlusOne {
    cache_kib: u64,
    threads: u32,
    log_buffer_kib: Option<u64>,
    nosync_txn: u8,
    log_dsync: u8,
    sort_by_length: u8,
    partitions: u32,
    n: u64,
    wall_s: f64,
    ops: f64,
    ops_per_s: f64,
    puts: f64,
    gets: f64,
}

#[derive(Deserialize)]
struct Vmstat {
    benchmark: String,
    threads: u32,
    smt: String,
    context_switches_per_s: f64,
}

#[derive(Deserialize)]
struct CpuPerOperation {
    benchmark: String,
    threads: u32,
    smt: String,
    user_us_per_op: f64,
    sys_us_per_op: f64,
    total_us_per_op: f64,
}

#[derive(Deserialize)]
struct OptaneLoad {
    engine: String,
    device: String,
    filesystem: String,
    journal: String,
    wall_s: f64,
    write_amp_ops_per_record: f64,
    fs_out_ops: f64,
}

fn rows<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, ReportError> {
    Ok(csv::Reader::from_reader(text.as_bytes()).deserialize().collect::<Result<_, _>>()?)
}

/// The comparisons of a paper, in the order of its tables.
pub(super) fn comparisons(paper: Paper) -> Result<Vec<PublishedComparison>, ReportError> {
    match paper {
        Paper::InmemNuma => inmem(),
        Paper::ThreeNPlusOne => three_n_plus_one(),
        Paper::DbbenchSmt => smt(),
        Paper::Storage => storage(),
    }
}

fn inmem() -> Result<Vec<PublishedComparison>, ReportError> {
    let loads: Vec<InmemLoad> = rows(INMEM_LOAD)?;
    let runs: Vec<InmemRun> = rows(INMEM_RUN)?;
    let pick = |engine: &str, variant: &str, phase| CellFilter {
        engine: Some(engine.to_owned()),
        variant: Some(variant.to_owned()),
        phase: Some(phase),
        ..CellFilter::default()
    };
    let load = |policy: &String| PublishedComparison {
        table: "symas-2014-inmem-load",
        title: format!("load, {policy} memory"),
        entry: "engine",
        figure: ComparedFigure::Wall,
        entries: loads
            .iter()
            .filter(|row| row.numa_policy == *policy)
            .map(|row| PublishedEntry {
                label: row.engine.clone(),
                published: row.wall_s,
                cell: pick(&row.engine, policy, Phase::Load),
            })
            .collect(),
    };
    let run = |readers: u32, figure: ComparedFigure| PublishedComparison {
        table: "symas-2014-inmem-numa-interleave",
        title: format!(
            "{} beside a writer, {}",
            if figure == ComparedFigure::Reads { "reads" } else { "writes" },
            counted(readers, "reader")
        ),
        entry: "engine",
        figure,
        entries: runs
            .iter()
            .filter(|row| row.readers == readers)
            .map(|row| PublishedEntry {
                label: row.engine.clone(),
                published: if figure == ComparedFigure::Reads { row.reads_per_s } else { row.writes_per_s },
                cell: CellFilter { readers: Some(readers), ..pick(&row.engine, "interleave", Phase::Run) },
            })
            .collect(),
    };
    let readers = distinct(runs.iter().map(|row| row.readers));
    let mut comparisons: Vec<PublishedComparison> =
        distinct(loads.iter().map(|row| row.numa_policy.clone())).iter().map(load).collect();
    for figure in [ComparedFigure::Reads, ComparedFigure::Writes] {
        comparisons.extend(readers.iter().map(|&readers| run(readers, figure)));
    }
    Ok(comparisons)
}

/// Rows are named by their number in the table: `row-07`, as the experiment's variants are.
fn three_n_plus_one() -> Result<Vec<PublishedComparison>, ReportError> {
    let rows: Vec<ThreeNPlusOne> = rows(BDB_3N1)?;
    let entry = |(index, row): (usize, &ThreeNPlusOne)| PublishedEntry {
        label: format!("{:02} {}", index + 1, settings(row)),
        published: row.ops_per_s,
        cell: CellFilter {
            variant: Some(format!("row-{:02}", index + 1)),
            phase: Some(Phase::Load),
            ..CellFilter::default()
        },
    };
    Ok(vec![PublishedComparison {
        table: "anderson-2011-bdb-3n1",
        title: "3n+1 on Berkeley DB".to_owned(),
        entry: "settings",
        figure: ComparedFigure::Operations,
        entries: rows.iter().enumerate().map(entry).collect(),
    }])
}

fn settings(row: &ThreeNPlusOne) -> String {
    let mut words = vec![match row.cache_kib {
        0 => "default cache".to_owned(),
        kib => format!("cache {kib} KiB"),
    }];
    words.push(counted(row.threads, "thread"));
    words.extend(row.log_buffer_kib.map(|kib| format!("log buffer {kib} KiB")));
    let flags = [(row.nosync_txn, "NOSYNC"), (row.log_dsync, "DSYNC"), (row.sort_by_length, "by length")];
    words.extend(flags.iter().filter(|(set, _)| *set == 1).map(|(_, word)| (*word).to_owned()));
    words.extend((row.partitions > 1).then(|| format!("{} partitions", row.partitions)));
    words.extend((row.n != 1_000_000).then(|| format!("N {}", row.n)));
    words.join(", ")
}

/// Threads there are 10 to 50 on 30 cores; here they are what the machine has, so the paper's most threads are compared
/// with the experiment's most, whichever they are.
fn smt() -> Result<Vec<PublishedComparison>, ReportError> {
    let vmstat: Vec<Vmstat> = rows(SMT_VMSTAT)?;
    let cpu: Vec<CpuPerOperation> = rows(SMT_CPU)?;
    let most = vmstat.iter().map(|row| row.threads).max().unwrap_or(0);
    let entry = |benchmark: &str, smt: &str, published: f64| PublishedEntry {
        label: format!("{benchmark}, SMT {smt}"),
        published,
        cell: CellFilter {
            engine: Some("rocksdb".to_owned()),
            variant: Some(format!("smt-{smt}")),
            workload: Some(step_of(benchmark).to_owned()),
            phase: Some(Phase::Run),
            most_threads: true,
            ..CellFilter::default()
        },
    };
    let comparison = |table, title: &str, figure, entries| PublishedComparison {
        table,
        title: format!("{title}, {most} threads there"),
        entry: "benchmark",
        figure,
        entries,
    };
    let switches = vmstat.iter().filter(|row| row.threads == most);
    let cpu = cpu.iter().filter(|row| row.threads == most);
    Ok(vec![
        comparison(
            "callaghan-2023-smt-vmstat",
            "context switches",
            ComparedFigure::Switches,
            switches.map(|row| entry(&row.benchmark, &row.smt, row.context_switches_per_s)).collect(),
        ),
        comparison(
            "callaghan-2023-smt-cpu-per-op",
            "CPU for an operation",
            ComparedFigure::CpuPerOperation,
            cpu.map(|row| entry(&row.benchmark, &row.smt, row.total_us_per_op)).collect(),
        ),
    ])
}

/// The report calls the script's last step by what it does before it waits.
fn step_of(benchmark: &str) -> &str {
    if benchmark == "overwrite" { "overwriteandwait" } else { benchmark }
}

fn storage() -> Result<Vec<PublishedComparison>, ReportError> {
    let all: Vec<OptaneLoad> = rows(OPTANE_LOAD)?;
    let comparison = |device: &String, figure: ComparedFigure, title: &str| PublishedComparison {
        table: "symas-2018-optane-load",
        title: format!("{title}, {device}"),
        entry: "engine, filesystem",
        figure,
        entries: all
            .iter()
            .filter(|row| row.device == *device)
            .map(|row| PublishedEntry {
                label: format!("{}, {}", row.engine, variant(row)),
                published: if figure == ComparedFigure::Wall { row.wall_s } else { row.write_amp_ops_per_record },
                cell: CellFilter {
                    engine: Some(row.engine.clone()),
                    variant: Some(variant(row)),
                    phase: Some(Phase::Load),
                    ..CellFilter::default()
                },
            })
            .collect(),
    };
    let devices = distinct(all.iter().map(|row| row.device.clone()));
    let figures =
        [(ComparedFigure::Wall, "load"), (ComparedFigure::OutputsPerRecord, "filesystem outputs of the load")];
    Ok(figures
        .iter()
        .flat_map(|(figure, title)| devices.iter().map(|device| comparison(device, *figure, title)).collect::<Vec<_>>())
        .collect())
}

/// As the experiment's variants are called.
fn variant(row: &OptaneLoad) -> String {
    match (row.filesystem.as_str(), row.journal.as_str()) {
        ("ext4", "no") => "ext4-nojournal".to_owned(),
        (filesystem, _) => filesystem.to_owned(),
    }
}

/// Where printed figures do not fit each other.
pub(super) fn slips(paper: Paper) -> Result<Vec<String>, ReportError> {
    match paper {
        Paper::InmemNuma => {
            let mut slips = account_slips("load", &rows(INMEM_LOAD)?);
            slips.extend(account_slips("run", &rows(INMEM_RUN)?));
            Ok(slips)
        }
        Paper::ThreeNPlusOne => Ok(rows::<ThreeNPlusOne>(BDB_3N1)?
            .iter()
            .enumerate()
            .flat_map(|(index, row)| {
                let name = format!("row {}", index + 1);
                [
                    slip(&format!("{name}: operations"), row.ops, "puts + gets", row.puts + row.gets),
                    // Wall times are whole seconds in print.
                    slip(
                        &format!("{name}: operations/s"),
                        row.ops_per_s,
                        "operations over wall time",
                        row.ops / row.wall_s,
                    ),
                ]
            })
            .flatten()
            .collect()),
        Paper::DbbenchSmt => Ok(rows::<CpuPerOperation>(SMT_CPU)?
            .iter()
            .filter_map(|row| {
                let name = format!("{}, SMT {}: CPU µs", row.benchmark, row.smt);
                slip(&name, row.total_us_per_op, "user + system", row.user_us_per_op + row.sys_us_per_op)
            })
            .collect()),
        // 80 million records.
        Paper::Storage => Ok(rows::<OptaneLoad>(OPTANE_LOAD)?
            .iter()
            .filter_map(|row| {
                let name = format!("{} on {} {}: outputs a record", row.engine, row.device, variant(row));
                slip(&name, row.write_amp_ops_per_record, "outputs over 80 million", row.fs_out_ops / 80e6)
            })
            .collect()),
    }
}

fn account_slips(table: &str, rows: &[Accounts]) -> Vec<String> {
    let name = |index: usize, row: &Accounts| {
        let nth = rows[..index].iter().filter(|other| other.engine == row.engine).count() + 1;
        format!("{table} table, {}, row {nth}: CPU %", row.engine)
    };
    rows.iter()
        .enumerate()
        .filter_map(|(index, row)| {
            let own = 100.0 * (row.user_s + row.sys_s) / row.wall_s;
            slip(&name(index, row), row.cpu_pct, "user + system over wall time", own)
        })
        .collect()
}

fn slip(what: &str, printed: f64, how: &str, own: f64) -> Option<String> {
    // A whole number may stand for anything up to the next one.
    let differs = (printed - own).abs() > (SLIP * own).max(1.0);
    differs.then(|| format!("{what} is printed as {printed:.0}; {how} gives {own:.0}"))
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
