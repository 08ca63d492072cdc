//! Everything, as a table.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use kvdyno_worker::workloads::{Reads, WorkloadName};

use crate::BenchError;
use crate::bare::BareLmdb;
use crate::counting::{Beside, Countable, Counter};
use crate::cycles;
use crate::drive::{Drive, NULL_RECORDS, RECORDS, load, workload};
use crate::pairs::{self, Pairs};

/// Instructions of every loop that is measured.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// LMDB, a transaction for each get.
    pub each: Beside,
    /// LMDB, one transaction for all gets.
    pub one: Beside,
    /// The null engine.
    pub null: f64,
    /// A record of a batch of reads, the null engine's gets one after the other.
    pub null_batch: f64,
    /// Berkeley DB, a starting point of the 3n+1 computation.
    pub start: Beside,
}

/// This program, driving.
struct Driven<'a>(Drive<'a>);

impl Countable for Driven<'_> {
    fn command(&self, operations: u64) -> Command {
        let program = std::env::current_exe().unwrap_or_else(|_| "kvdyno-bench".into());
        let mut command = Command::new(program);
        command.args(Drive { operations, ..self.0.clone() }.arguments());
        command
    }
}

fn driven<'a>(engine: &'a str, folder: &'a Path, threads: u32, reads_per_transaction: u64) -> Driven<'a> {
    let records = if engine == "null" { NULL_RECORDS } else { RECORDS };
    Driven(Drive {
        engine,
        folder,
        workload: WorkloadName::driver_check(),
        records,
        threads,
        operations: 0,
        reads_per_transaction,
    })
}

/// Batches of the null engine's records.
fn batches(folder: &Path) -> Result<Driven<'_>, BenchError> {
    Ok(Driven(Drive { workload: workload("multireadrandom")?, ..driven("null", folder, 1, 1).0 }))
}

/// As many reads in a transaction as anybody asks for.
const ALL: u64 = u64::MAX;

/// Counts the instructions of everything.
pub fn costs(counter: Counter) -> Result<Costs, BenchError> {
    let folder = tempfile::tempdir()?;
    let lmdb = folder.path().join("lmdb");
    std::fs::create_dir(&lmdb)?;
    load("lmdb", &lmdb, RECORDS)?;
    costs_of(counter, folder.path(), &lmdb)
}

fn costs_of(counter: Counter, folder: &Path, lmdb: &Path) -> Result<Costs, BenchError> {
    let mut bare = BareLmdb::compile(folder, lmdb)?;
    let count = |program: &dyn Countable| counter.per_operation(program);
    let each = Beside { bare: count(&bare)?, ours: count(&driven("lmdb", lmdb, 1, 1))? };
    bare.one_transaction = true;
    let one = Beside { bare: count(&bare)?, ours: count(&driven("lmdb", lmdb, 1, ALL))? };
    let null_batch = count(&batches(folder)?)? / Reads::default().per_batch as f64;
    let start = cycles::instructions(counter)?;
    Ok(Costs { each, one, null: count(&driven("null", folder, 1, 1))?, null_batch, start })
}

/// Measures and prints everything.
pub fn run() -> Result<(), BenchError> {
    let folder = tempfile::tempdir()?;
    let lmdb = folder.path().join("lmdb");
    std::fs::create_dir(&lmdb)?;
    let mut out = std::io::stdout();
    writeln!(out, "loading {RECORDS} records of 16 + 100 bytes into LMDB")?;
    load("lmdb", &lmdb, RECORDS)?;
    let counter = Counter::choose();
    writeln!(out, "counting instructions with {counter}\n")?;
    let costs = costs_of(counter, folder.path(), &lmdb)?;
    let mut bare = BareLmdb::compile(folder.path(), &lmdb)?;
    header(&mut out)?;
    let each = time(&bare, &driven("lmdb", &lmdb, 1, 1))?;
    beside(&mut out, "lmdb readrandom, a transaction for each get", &costs.each, &each)?;
    bare.one_transaction = true;
    let one = time(&bare, &driven("lmdb", &lmdb, 1, ALL))?;
    beside(&mut out, "lmdb readrandom, one transaction for all", &costs.one, &one)?;
    null(&mut out, folder.path(), costs.null)?;
    writeln!(out, "{:<46} {:>12.1}", "null multireadrandom, for each record", costs.null_batch)?;
    let start = "bdb 3n+1, for each starting point";
    writeln!(out, "{start:<46} {:>12.1}, the bare loop {:.1}", costs.start.ours, costs.start.bare)?;
    Ok(())
}

fn time(bare: &BareLmdb, ours: &Driven<'_>) -> Result<Pairs, BenchError> {
    const GETS: u64 = 1_500_000;
    pairs::run(15, || bare.command(GETS), || ours.command(GETS))
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
    let single = driven("null", folder, 1, 1);
    let double = driven("null", folder, 2, 1);
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
