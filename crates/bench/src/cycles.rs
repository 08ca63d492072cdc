//! `kvdyno-bench 3n1`: the 3n+1 computation on Berkeley DB with the report's best settings, by kvdyno's worker and by a
//! bare program that does the same and verifies nothing.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use kvdyno_dataset::KeyFormat;
use kvdyno_engine::{Durability, EngineSettings};
use kvdyno_experiment::Experiment;
use kvdyno_model::WorkloadName;
use kvdyno_worker::workloads::{Data, TrialEnd, WorkloadParameters, WorkloadSpec};
use kvdyno_worker::{KnownContents, TrialSpec};

use crate::BenchError;
use crate::bare;
use crate::counting::{Beside, Counter};
use crate::drive::{choice, print};
use crate::pairs::{self, Pairs};

/// Row 13 of the report; checkpoints at close alone, as a bare program has them.
const OPTIONS: [(&str, &str); 3] = [("log_buffer", "800KiB"), ("partitions", "8"), ("checkpoint_kib", "0")];
/// Five quarters of 300000 KiB, which the adapter makes of it.
const CACHE: u64 = 375_000 << 10;

/// The size of the task, the same for both.
#[derive(Clone, Copy, Debug)]
struct Size {
    starts: u64,
    threads: u32,
    pairs: usize,
}

impl Size {
    fn of(words: &[&str]) -> Option<Size> {
        let number = |index: usize, otherwise: u64| words.get(index).map_or(Some(otherwise), |word| word.parse().ok());
        let size = Size { starts: number(0, 1_000_000)?, threads: number(1, 3)? as u32, pairs: number(2, 5)? as usize };
        (words.len() <= 3 && size.starts > 0 && size.threads > 0 && size.pairs > 0).then_some(size)
    }
}

/// One of the two programs, with a new folder for each database.
struct Program<'a> {
    /// Absent for our own.
    bare: Option<PathBuf>,
    threads: u32,
    folder: &'a Path,
}

impl Program<'_> {
    /// The program with so many starting points. It is given an empty folder: what was there is removed.
    fn starting(&self, starts: u64) -> std::io::Result<Command> {
        let database = self.folder.join(if self.bare.is_some() { "bare" } else { "kvdyno" });
        if database.exists() {
            std::fs::remove_dir_all(&database)?;
        }
        std::fs::create_dir(&database)?;
        let mut command = match &self.bare {
            Some(bare) => Command::new(bare),
            None => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg("drive-3n1");
                command
            }
        };
        command.arg(&database).arg(starts.to_string()).arg(self.threads.to_string());
        Ok(command)
    }

    /// Instructions of a starting point.
    fn instructions(&self, counter: Counter) -> Result<f64, BenchError> {
        let program = |operations| self.starting(operations / OPERATIONS_OF_START);
        Ok(counter.per_operation(program)? * OPERATIONS_OF_START as f64)
    }
}

/// Counting takes the difference of two runs, in which a starting point counts for so many operations: there are five
/// in each, and putting makes them dear.
const OPERATIONS_OF_START: u64 = 10;

/// Both programs, with folders for their databases beneath one.
struct Both<'a> {
    own: Program<'a>,
    bare: Program<'a>,
}

impl<'a> Both<'a> {
    fn prepare(folder: &'a Path, threads: u32) -> Result<Both<'a>, BenchError> {
        let program = bare::compile(folder, "bare_3n1", include_str!("bare_3n1.c"), &["-ldb", "-pthread"])?;
        let side = |bare: Option<PathBuf>| Program { bare, threads, folder };
        Ok(Both { own: side(None), bare: side(Some(program)) })
    }

    /// Instructions of a starting point, for both programs.
    fn instructions(&self, counter: Counter) -> Result<Beside, BenchError> {
        Ok(Beside { bare: self.bare.instructions(counter)?, ours: self.own.instructions(counter)? })
    }
}

/// Instructions of a starting point, with one thread.
pub fn instructions(counter: Counter) -> Result<Beside, BenchError> {
    let folder = tempfile::tempdir()?;
    Both::prepare(folder.path(), 1)?.instructions(counter)
}

/// Compares, and prints.
pub fn run(words: &[&str]) -> Result<(), BenchError> {
    let usage = || BenchError::Program("usage: kvdyno-bench 3n1 [STARTS [THREADS [PAIRS]]]".to_owned());
    let Size { starts, threads, pairs } = Size::of(words).ok_or_else(usage)?;
    let folder = tempfile::tempdir()?;
    let Both { own, bare } = Both::prepare(folder.path(), threads)?;
    let mut out = std::io::stdout();
    writeln!(out, "3n+1 on Berkeley DB, {starts} starting points, {threads} threads, {pairs} pairs")?;
    let turns = pairs::run(pairs, || own.starting(starts), || bare.starting(starts))?;
    writeln!(out, "in turns:         bare C {:>8.0} ops/s", rate(turns.second_ns, threads))?;
    writeln!(out, "                  kvdyno {:>8.0} ops/s    {}", rate(turns.first_ns, threads), ratio(&turns))?;
    let beside = pairs::side_by_side(pairs, threads as usize, || own.starting(starts), || bare.starting(starts))?;
    writeln!(out, "at the same time: bare C {:>8.0} CPU ns/op", beside.second_ns)?;
    writeln!(out, "                  kvdyno {:>8.0} CPU ns/op  {}", beside.first_ns, ratio(&beside))?;
    let counter = Counter::choose();
    let Beside { bare, ours } = instructions(counter)?;
    writeln!(
        out,
        "instructions a starting point, one thread ({counter}): bare {bare:.0}, kvdyno {ours:.0}, ratio {:.3}",
        ours / bare
    )?;
    Ok(())
}

/// The ratio of rates, which is that of times upside down.
fn ratio(pairs: &Pairs) -> String {
    let (low, high) = pairs.ratio_range;
    format!("kvdyno / bare {:.3} (quartiles {:.3} to {:.3})", 1.0 / pairs.ratio, 1.0 / high, 1.0 / low)
}

/// Operations a second of all threads, from nanoseconds that one thread takes for one.
fn rate(ns: f64, threads: u32) -> f64 {
    f64::from(threads) * 1e9 / ns
}

/// kvdyno's side: `drive-3n1 FOLDER STARTS THREADS`.
pub fn drive(words: &[&str]) -> Result<(), BenchError> {
    let usage = || BenchError::Program("drive-3n1 FOLDER STARTS THREADS".to_owned());
    let [folder, starts, threads] = words else { return Err(usage()) };
    let (starts, threads) = (starts.parse().map_err(|_| usage())?, threads.parse().map_err(|_| usage())?);
    let options = OPTIONS.map(|(name, value)| (name.to_owned(), value.to_owned()));
    print(&choice("bdb", &options)?, &spec(Path::new(folder), starts, threads))
}

fn spec(folder: &Path, starts: u64, threads: u32) -> TrialSpec {
    let sizes = Data { key_size: 8, key_format: KeyFormat::Binary, value_size: 8, ..Data::of_records(starts) };
    let data = Data { compressibility: 0.0, ..sizes };
    let parameters =
        WorkloadParameters { writers: threads, ..WorkloadParameters::on(data, TrialEnd::Operations(u64::MAX)) };
    let settings = Experiment::default().engine_settings();
    let lab = EngineSettings { durability: Durability::None, cache_bytes: CACHE, write_buffer_bytes: 0, ..settings };
    let contents = KnownContents::loaded(0);
    let trial = TrialSpec::without_parent(
        WorkloadSpec { name: WorkloadName::ThreeNPlusOne.into(), parameters },
        lab,
        folder.to_owned(),
    );
    TrialSpec { contents, ..trial }
}
