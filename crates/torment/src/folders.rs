//! Damaged results folders.

use std::fs;
use std::hint::black_box;
use std::io;
use std::ops::Range;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use kvdyno_dataset::{Stream, subseed};
use kvdyno_report::{Format, Rendered, ReportError, Screen, Tables, report};
use kvdyno_results::folder::{ReadError, ResultsFolder};
use kvdyno_torment::mutation::mutated;

use crate::sampled;
use crate::summary::TormentLine;
use crate::supervised::{self, supervise_all};

/// One in this many folders is read by the program itself.
const SAMPLE: u64 = 100;
/// Files that are damaged at once, at most.
const MOST_FILES: u64 = 3;

/// The experiment whose results are damaged: reads, writes, a mix that deletes, roles.
const TEMPLATE: &str = "engines = [\"faulty\", \"skeleton\"]\n[data]\nrecords = 2000\n[lab]\nrepeat = 2\n\
    [[run]]\nworkload = \"readrandom\"\nreaders = [1, 2]\nduration = \"250ms\"\nwarmup = \"0s\"\n\
    [[run]]\nworkload = \"readwhilewriting\"\nreaders = [1]\nduration = \"250ms\"\nwarmup = \"0s\"\n\
    [[run]]\nworkload = \"mix\"\nmix = \"get 60, put 20, delete 20\"\nreaders = [2]\nduration = \"250ms\"\n\
    warmup = \"0s\"\n\
    [[run]]\nworkload = \"mix\"\nreaders = [1]\nduration = \"250ms\"\nwarmup = \"0s\"\n\
    [[run.role]]\nname = \"visitors\"\nmix = \"get 95, put 5\"\n[[run.role]]\nmix = \"delete 50, put 50\"\n";

/// A results folder, reported in every format and as a page. Whether there was a report, exit code 0; if not, it was
/// the folder's fault, exit code 2.
///
/// # Panics
/// If anything else went wrong: the program would end with exit code 1.
fn is_reported(results: &ResultsFolder) -> bool {
    let on = (Screen::default(), Tables::All);
    Format::ALL.iter().all(|&format| match report(results, format, on, &results.report_folder()) {
        Ok(Rendered { page: Err(error), .. }) => panic!("exit code 1: {error}"),
        Ok(rendered) => !black_box(rendered).text.is_empty(),
        Err(ReportError::Read(ReadError::Io { path, cause })) => panic!("exit code 1: {}: {cause}", path.display()),
        Err(ReportError::Read(_)) => false,
        Err(error) => panic!("exit code 1: {error}"),
    })
}

/// The reader's side: damages a copy of the folder `template`, reports it, and mends the copy.
///
/// # Errors
/// If files cannot be had, or nobody listens.
pub fn read(template: &Path, seed: u64, numbers: Range<u64>) -> io::Result<()> {
    let copy = tempfile::tempdir_in(template.parent().unwrap_or(template))?;
    let files = files_of(template)?;
    copy_all(template, copy.path(), &files)?;
    supervised::tell(numbers, |number| {
        let damaged = damage(template, copy.path(), &files, seed, number)?;
        let taken = is_reported(&ResultsFolder::at(copy.path()));
        mend(template, copy.path(), &damaged)?;
        Ok(taken)
    })
}

/// The files that a report is made of, by their paths in the folder.
fn files_of(template: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![template.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let relative = path.strip_prefix(template).map_err(io::Error::other)?.to_owned();
            match path.is_dir() {
                true if relative != Path::new("report") => folders.push(path),
                false => files.push(relative),
                true => (),
            }
        }
    }
    files.retain(|file| file.extension().is_some_and(|kind| kind != "log" && kind != "lock"));
    files.sort();
    Ok(files)
}

fn copy_all(template: &Path, copy: &Path, files: &[PathBuf]) -> io::Result<()> {
    for file in files {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(copy.join(folder))?;
        }
        fs::copy(template.join(file), copy.join(file))?;
    }
    Ok(())
}

/// Damages some files of the copy; which.
fn damage(template: &Path, copy: &Path, files: &[PathBuf], seed: u64, number: u64) -> io::Result<Vec<PathBuf>> {
    let mut random = Stream::new(subseed(seed, &[number, 1]));
    let mut damaged = Vec::new();
    for turn in 0..=random.below(MOST_FILES) {
        let file = &files[random.below(files.len() as u64) as usize];
        if damaged.contains(file) {
            continue;
        }
        damaged.push(file.clone());
        let path = copy.join(file);
        let content = fs::read(template.join(file))?;
        fs::remove_file(&path)?;
        match random.below(16) {
            0 => (),
            1 => fs::create_dir(&path)?,
            2 => symlink("nothing", &path)?,
            3 => symlink("/dev/zero", &path)?,
            4 => fs::write(&path, "")?,
            5 => fifo(&path)?,
            _ => fs::write(&path, mutated(&[content], subseed(seed, &[turn]), number))?,
        }
    }
    Ok(damaged)
}

fn fifo(path: &Path) -> io::Result<()> {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    Ok(rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0)?)
}

fn mend(template: &Path, copy: &Path, damaged: &[PathBuf]) -> io::Result<()> {
    for file in damaged {
        let path = copy.join(file);
        match fs::symlink_metadata(&path) {
            Err(_) => (),
            Ok(facts) if facts.is_dir() => fs::remove_dir_all(&path)?,
            Ok(_) => fs::remove_file(&path)?,
        }
        fs::copy(template.join(file), &path)?;
    }
    Ok(())
}

/// The parent's side.
///
/// # Errors
/// If the folder to be damaged cannot be made, or a process cannot be started.
pub fn torment(kvdyno: &Path, home: &Path, seed: u64, folders: u64) -> io::Result<Vec<TormentLine>> {
    let template = home.join("results");
    std::fs::write(home.join("template.toml"), TEMPLATE)?;
    let run = ["run", "template.toml", "--out", "results"];
    let made = Command::new(kvdyno).args(run).current_dir(home).output()?;
    if !made.status.success() {
        let said = String::from_utf8_lossy(&made.stderr);
        return Err(io::Error::other(format!("no results to damage: {said}")));
    }
    let outcome = supervise_all(folders, || supervised::reader("folders", &template, seed))?;
    // Some of them by the program itself.
    let (copy, files) = (home.join("sample"), files_of(&template)?);
    copy_all(&template, &copy, &files)?;
    let sample = sampled::line("the same by `kvdyno report`", folders, SAMPLE, |number| {
        let damaged = damage(&template, &copy, &files, seed, number)?;
        let miss = sampled::miss(Command::new(kvdyno).arg("report").arg(&copy))?;
        mend(&template, &copy, &damaged)?;
        Ok(miss)
    })?;
    Ok(vec![outcome.line("damaged results folders", "reported"), sample])
}
