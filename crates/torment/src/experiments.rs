//! Mutated experiment files.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

use kvdyno_experiment::SHIPPED;
use kvdyno_torment::inputs;
use kvdyno_torment::mutation::mutated;

use crate::sampled;
use crate::summary::TormentLine;
use crate::supervised::{self, supervise_all};

/// One in this many files is read by the program itself.
const SAMPLE: u64 = 1000;

/// The reader's side: mutations of the experiments that ship and of the files in `inputs`, with which the fuzz target
/// begins too.
///
/// # Errors
/// If a file cannot be read, or nobody listens.
pub fn read(inputs: &Path, seed: u64, numbers: Range<u64>) -> io::Result<()> {
    let seeds = seeds(inputs)?;
    supervised::tell(numbers, |number| Ok(inputs::experiment(&mutated(&seeds, seed, number))))
}

fn seeds(inputs: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut paths: Vec<_> = fs::read_dir(inputs)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    let shipped = SHIPPED.iter().map(|one| Ok(one.text.into()));
    paths.iter().map(fs::read).chain(shipped).collect()
}

/// The parent's side.
///
/// # Errors
/// If a process cannot be started or a file not be written.
pub fn torment(kvdyno: &Path, home: &Path, inputs: &Path, seed: u64, files: u64) -> io::Result<Vec<TormentLine>> {
    let outcome = supervise_all(files, || supervised::reader("experiments", inputs, seed))?;
    // Some of them by the program itself, which asks the engines too.
    let (seeds, path) = (seeds(inputs)?, home.join("mutated.toml"));
    let sample = sampled::line("the same by `kvdyno run --dry-run`", files, SAMPLE, |number| {
        fs::write(&path, mutated(&seeds, seed, number))?;
        sampled::miss(Command::new(kvdyno).args(["run", "--dry-run"]).arg(&path).current_dir(home))
    })?;
    Ok(vec![outcome.line("mutated experiment files", "taken"), sample])
}
