//! Everything, as a table.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use kvdyno_model::{Distribution, DistributionKind, WorkloadName};
use kvdyno_worker::workloads::Reads;

use crate::BenchError;
use crate::bare::{BareLmdb, BareLoop, Loaded};
use crate::counting::{Beside, Counter};
use crate::cycles;
use crate::drive::{Drive, NULL_RECORDS, RECORDS};
use crate::pairs::{self, Pairs};

/// Instructions of every loop that is measured.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// LMDB, a transaction for each get.
    pub each: Beside,
    /// LMDB, one transaction for all gets.
    pub one: Beside,
    /// LMDB, a step of a cursor that scans.
    pub scan: Beside,
    /// LMDB, a put of a batch.
    pub put: Beside,
    /// The null engine.
    pub null: f64,
    /// The null engine, at a rate that no client reaches: no operation is waited for.
    pub null_at_rate: f64,
    /// A record of a batch of reads, the null engine's gets one after the other.
    pub null_batch: f64,
    /// LMDB, gets that cost more than those of `each`.
    pub of_lmdb: Dearer,
    /// The same of the null engine, of a million records.
    pub of_null: Dearer,
    /// Berkeley DB, a starting point of the 3n+1 computation.
    pub start: Beside,
}

/// Gets of one engine; `bare`: of a record that is drawn evenly, by a client that does nothing but gets.
#[derive(Clone, Copy, Debug)]
pub struct Dearer {
    /// Of a record that is drawn by Zipf's law.
    pub zipf: Beside,
    /// Of one that is drawn by the power law within key ranges.
    pub power: Beside,
    /// Of one that is drawn by the normal law.
    pub normal: Beside,
    /// By a client that mixes operations.
    pub mix: Beside,
}

/// Counts them; `pure` are the gets that they are compared with, of so many instructions.
fn dearer(counter: Counter, pure: &Drive, bare: f64) -> Result<Dearer, BenchError> {
    let beside = |drive: Drive| {
        let ours = counter.per_operation(|operations| drive.command(operations))?;
        Ok::<_, BenchError>(Beside { bare, ours })
    };
    let drawn = |distribution| beside(Drive { distribution, ..pure.clone() });
    Ok(Dearer {
        zipf: drawn(Distribution::of(DistributionKind::Zipf))?,
        power: drawn(power())?,
        normal: drawn(Distribution::of(DistributionKind::Normal))?,
        // YCSB's workload C: the loop that does other operations, too.
        mix: beside(Drive { workload: WorkloadName::YcsbC.into(), ..pure.clone() })?,
    })
}

fn gets(engine: &str, folder: &Path) -> Drive {
    Drive::gets(engine, folder, if engine == "null" { NULL_RECORDS } else { RECORDS })
}

/// Gets of LMDB.
fn of_lmdb(lmdb: &Loaded) -> Drive {
    gets("lmdb", &lmdb.folder)
}

/// Batches of the null engine's records.
fn batches(folder: &Path) -> Drive {
    Drive { workload: WorkloadName::MultiReadRandom.into(), ..gets("null", folder) }
}

/// Gets in one transaction.
fn in_one(lmdb: &Loaded) -> Drive {
    Drive { reads_per_transaction: u64::MAX, ..of_lmdb(lmdb) }
}

/// Operations a second of which all are overdue.
const OVERDUE_PER_S: f64 = 1e8;

/// Puts in a batch.
const BATCH: u64 = 100;

/// Steps through all records.
fn scan(lmdb: &Loaded) -> Drive {
    Drive { workload: WorkloadName::ReadSeq.into(), ..of_lmdb(lmdb) }
}

/// Gets of the null engine, of as many records as LMDB's.
fn of_null(folder: &Path) -> Drive {
    Drive::gets("null", folder, RECORDS)
}

/// mixgraph's law, within key ranges.
fn power() -> Distribution {
    "power 0.002312 0.3467 30".parse().unwrap_or(Distribution::of(DistributionKind::Power))
}

/// So many puts in batches, into a new copy of a database.
fn puts(lmdb: &Loaded, operations: u64) -> io::Result<Command> {
    let puts = Drive { workload: WorkloadName::Overwrite.into(), batch: BATCH, ..gets("lmdb", &lmdb.copy()?) };
    puts.command(operations / BATCH)
}

/// Counts the instructions of everything.
pub fn costs(counter: Counter) -> Result<Costs, BenchError> {
    let folder = tempfile::tempdir()?;
    costs_of(counter, folder.path(), &Loaded::make(folder.path())?)
}

fn costs_of(counter: Counter, folder: &Path, lmdb: &Loaded) -> Result<Costs, BenchError> {
    let bare = BareLmdb::compile(folder, lmdb)?;
    let count = |drive: Drive| counter.per_operation(|operations| drive.command(operations));
    let beside = |bare_loop: BareLoop, ours: f64| {
        let bare = counter.per_operation(|operations| bare.command(bare_loop, operations))?;
        Ok::<_, BenchError>(Beside { bare, ours })
    };
    let each = beside(BareLoop::Each, count(of_lmdb(lmdb))?)?;
    Ok(Costs {
        of_lmdb: dearer(counter, &of_lmdb(lmdb), each.ours)?,
        of_null: dearer(counter, &of_null(folder), count(of_null(folder))?)?,
        each,
        one: beside(BareLoop::One, count(in_one(lmdb))?)?,
        scan: beside(BareLoop::Scan, count(scan(lmdb))?)?,
        put: beside(BareLoop::Put(BATCH), counter.per_operation(|operations| puts(lmdb, operations))?)?,
        null_batch: count(batches(folder))? / Reads::USUAL.per_batch as f64,
        start: cycles::instructions(counter)?,
        null: count(gets("null", folder))?,
        null_at_rate: count(Drive { read_rate: Some(OVERDUE_PER_S), ..gets("null", folder) })?,
    })
}

/// Measures and prints everything.
pub fn run() -> Result<(), BenchError> {
    let folder = tempfile::tempdir()?;
    let mut out = std::io::stdout();
    writeln!(out, "loading {RECORDS} records of 16 + 100 bytes into LMDB")?;
    let lmdb = Loaded::make(folder.path())?;
    let counter = Counter::choose();
    writeln!(out, "counting instructions with {counter}\n")?;
    let costs = costs_of(counter, folder.path(), &lmdb)?;
    let bare = BareLmdb::compile(folder.path(), &lmdb)?;
    header(&mut out)?;
    let each = time(&bare, BareLoop::Each, &of_lmdb(&lmdb), 1_500_000)?;
    beside(&mut out, "lmdb readrandom, a transaction for each get", &costs.each, &each)?;
    let one = time(&bare, BareLoop::One, &in_one(&lmdb), 1_500_000)?;
    beside(&mut out, "lmdb readrandom, one transaction for all", &costs.one, &one)?;
    let steps = time(&bare, BareLoop::Scan, &scan(&lmdb), 10_000_000)?;
    beside(&mut out, "lmdb readseq, a step", &costs.scan, &steps)?;
    let put = "lmdb overwrite in batches, for each put";
    writeln!(out, "{put:<46} {:>12.1}, the bare loop {:.1}", costs.put.ours, costs.put.bare)?;
    for (engine, Dearer { zipf, power, normal, mix }) in [("lmdb", costs.of_lmdb), ("null", costs.of_null)] {
        for (what, Beside { bare, ours }) in [
            ("readrandom by Zipf's law", zipf),
            ("readrandom by the power law", power),
            ("readrandom by the normal law", normal),
            ("get of a mix", mix),
        ] {
            writeln!(out, "{:<46} {ours:>12.1}, {bare:.1} without", format!("{engine} {what}"))?;
        }
    }
    null(&mut out, folder.path(), costs.null)?;
    writeln!(out, "{:<46} {:>12.1}", "null readrandom at a rate, each get overdue", costs.null_at_rate)?;
    writeln!(out, "{:<46} {:>12.1}", "null multireadrandom, for each record", costs.null_batch)?;
    let start = "bdb 3n+1, for each starting point";
    writeln!(out, "{start:<46} {:>12.1}, the bare loop {:.1}\n", costs.start.ours, costs.start.bare)?;
    distributions(&mut out, counter, &of_null(folder.path()))
}

/// The table of docs/performance.md: gets of the null engine by each distribution, the cheapest first.
fn distributions(out: &mut impl Write, counter: Counter, pure: &Drive) -> Result<(), BenchError> {
    let kinds = DistributionKind::ALL.iter().filter(|kind| **kind != DistributionKind::Power);
    let mut rows = Vec::new();
    for distribution in kinds.map(|kind| Distribution::of(*kind)).chain([power()]) {
        let drive = Drive { distribution, ..pure.clone() };
        rows.push((counter.per_operation(|operations| drive.command(operations))?, distribution));
    }
    let uniform = rows.iter().find(|row| row.1 == Distribution::default()).map_or(f64::NAN, |row| row.0);
    rows.sort_by(|one, other| one.0.total_cmp(&other.0));
    writeln!(out, "| distribution | instructions | above uniform |\n| --- | ---: | ---: |")?;
    for (instructions, distribution) in rows {
        writeln!(out, "| `{distribution}` | {instructions:.1} | {:.1} |", instructions - uniform)?;
    }
    Ok(())
}

fn time(bare: &BareLmdb, bare_loop: BareLoop, ours: &Drive, operations: u64) -> Result<Pairs, BenchError> {
    pairs::run(15, || bare.command(bare_loop, operations), || ours.command(operations))
}

fn header(out: &mut impl Write) -> Result<(), BenchError> {
    writeln!(out, "{:<46} {:>12} {:>9} {:>22}", "", "instructions", "ns", "rate / bare (quartiles)")?;
    Ok(())
}

fn beside(out: &mut impl Write, what: &str, costs: &Beside, pairs: &Pairs) -> Result<(), BenchError> {
    writeln!(out, "{what}")?;
    writeln!(out, "{:<46} {:>12.1} {:>9.1}", "  bare loop", costs.bare, pairs.first_ns)?;
    let (low, high) = pairs.ratio_range;
    writeln!(
        out,
        "{:<46} {:>12.1} {:>9.1} {:>10.3} ({low:.3} to {high:.3})",
        "  kvdyno, every value verified, latency recorded", costs.ours, pairs.second_ns, pairs.ratio
    )?;
    writeln!(out, "{:<46} {:>12.1}\n", "  above the bare loop", costs.above())?;
    Ok(())
}

/// The null engine, on one thread and on two.
fn null(out: &mut impl Write, folder: &Path, instructions: f64) -> Result<(), BenchError> {
    const GETS: u64 = 20_000_000;
    let single = gets("null", folder);
    let double = Drive { threads: 2, ..gets("null", folder) };
    let pairs = pairs::run(9, || single.command(GETS), || double.command(GETS))?;
    writeln!(out, "null readrandom, every value verified, latency recorded")?;
    writeln!(out, "{:<46} {instructions:>12.1} {:>9.1}", "  1 thread", pairs.first_ns)?;
    let (low, high) = pairs.ratio_range;
    writeln!(
        out,
        "  2 threads do {:.2} times the work of 1 ({:.2} to {:.2})",
        2.0 * pairs.ratio,
        2.0 * low,
        2.0 * high
    )?;
    Ok(())
}
