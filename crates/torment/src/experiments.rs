//! Mutated experiment files.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::thread;

use kvdyno_experiment::SHIPPED;
use kvdyno_torment::inputs;
use kvdyno_torment::mutation::mutated;

use crate::sampled;
use crate::summary::TormentLine;
use crate::supervised::{self, ReaderOutcome, supervise};

/// Every section and most keys, on engines that every machine has.
const OWN: [&str; 3] = [
    include_str!("../../../tests/inputs/experiment/every-section.toml"),
    include_str!("../../../tests/inputs/experiment/every-key.toml"),
    include_str!("../../../tests/inputs/experiment/mixes-and-roles.toml"),
];
/// One in this many files is read by the program itself.
const SAMPLE: u64 = 1000;
/// Readers at a time.
const READERS: u64 = 2;

/// The reader's side: mutations of the files in the folder `seeds`.
///
/// # Errors
/// If a seed cannot be read, or nobody listens.
pub fn read(seeds: &Path, seed: u64, numbers: Range<u64>) -> io::Result<()> {
    let seeds = seeds_of(seeds)?;
    supervised::tell(numbers, |number| Ok(inputs::experiment(&mutated(&seeds, seed, number))))
}

fn seeds_of(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut paths: Vec<_> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    paths.iter().map(fs::read).collect()
}

/// The parent's side.
///
/// # Errors
/// If a process cannot be started or a file not be written.
pub fn torment(kvdyno: &Path, home: &Path, seed: u64, files: u64) -> io::Result<Vec<TormentLine>> {
    let folder = home.join("seeds");
    fs::create_dir(&folder)?;
    let shipped = SHIPPED.iter().map(|one| one.text);
    for (number, text) in OWN.into_iter().chain(shipped).enumerate() {
        fs::write(folder.join(format!("{number:02}.toml")), text)?;
    }
    let program = std::env::current_exe()?;
    let share = files.div_ceil(READERS);
    let readers = (0..READERS).map(|reader| {
        let (program, folder) = (program.clone(), folder.clone());
        let numbers = (reader * share).min(files)..((reader + 1) * share).min(files);
        thread::spawn(move || {
            supervise(numbers, |range| {
                let mut command = Command::new(&program);
                command.arg("experiments").arg(&folder);
                command.args([seed, range.start, range.end].map(|number| number.to_string()));
                command
            })
        })
    });
    let mut outcome = ReaderOutcome::default();
    for reader in readers.collect::<Vec<_>>() {
        outcome.add(reader.join().map_err(|_| io::Error::other("a thread panicked"))??);
    }
    let remark = format!("in processes that read many; {} taken, at most {} KiB", outcome.taken, outcome.peak_kib);
    let what = "mutated experiment files".to_owned();
    let lines = vec![TormentLine { what, done: outcome.done, remark, misses: outcome.misses }];
    Ok(lines.into_iter().chain([sample(kvdyno, home, &seeds_of(&folder)?, seed, files)?]).collect())
}

/// Some of them by `kvdyno run --dry-run`, which asks the engines too.
fn sample(kvdyno: &Path, home: &Path, seeds: &[Vec<u8>], seed: u64, files: u64) -> io::Result<TormentLine> {
    let path = home.join("mutated.toml");
    let mut line = TormentLine {
        what: "the same by `kvdyno run --dry-run`".to_owned(),
        done: 0,
        remark: format!("one in {SAMPLE}"),
        misses: Vec::new(),
    };
    for number in (0..files).step_by(SAMPLE as usize) {
        fs::write(&path, mutated(seeds, seed, number))?;
        let miss = sampled::miss(Command::new(kvdyno).args(["run", "--dry-run"]).arg(&path).current_dir(home))?;
        line.misses.extend(miss.map(|miss| format!("input {number}: {miss}")));
        line.done += 1;
    }
    Ok(line)
}
