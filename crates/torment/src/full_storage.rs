//! Runs whose databases share a filesystem that is too small for some of them: each trial ends with a result, and the
//! only failures are for want of space.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kvdyno_dataset::{Stream, subseed};
use kvdyno_results::{FailureKind, TrialOutcome, TrialResult};

use crate::TormentArguments;
use crate::done::PartsDone;
use crate::kills::TormentedRun;
use crate::summary::TormentLine;

/// Sizes of the filesystem, MiB, from one in which the program takes the space for enough.
const SIZES_MIB: std::ops::Range<u64> = 64..112;
/// The same with a copy of each load.
const SIZES_WITH_COPIES_MIB: std::ops::Range<u64> = 108..156;

/// The experiment: two engines with 20 MB of values each, in slices or on copies of their loads.
fn file(storage: &Path, is_copied: bool) -> String {
    let database = if is_copied { "snapshot" } else { "kept" };
    format!(
        "engines = [\"lmdb\", \"leveldb\"]\n[data]\nrecords = 20000\nvalue_size = 1000\ncompressibility = 0.0\n\
         [settings]\ncache = \"16MiB\"\nwrite_buffer = \"4MiB\"\n\
         [[run]]\nworkload = \"overwrite\"\nreaders = [1, 2]\nduration = \"500ms\"\nwarmup = \"0s\"\n\
         [[run]]\nworkload = \"readwhilewriting\"\nreaders = [1, 2]\nduration = \"500ms\"\nwarmup = \"0s\"\n\
         [lab]\nrepeat = 1\nmin_free = \"4MiB\"\ndatabase = \"{database}\"\ndir = {:?}\n",
        storage.to_string_lossy()
    )
}

/// As many runs as were ordered, on a filesystem of another size each.
///
/// # Errors
/// If no filesystem can be made, or the program not be started.
pub fn torment(kvdyno: &Path, arguments: &TormentArguments, done: &mut PartsDone) -> io::Result<TormentLine> {
    let (mut lacked, mut results, mut misses) = (0, 0, Vec::new());
    for number in 0..arguments.full {
        let (more_lacked, more_results, more_misses) =
            done.part(&format!("full {number}"), || one(kvdyno, arguments.seed, number))?;
        lacked += more_lacked;
        results += more_results;
        misses.extend(more_misses);
    }
    Ok(TormentLine {
        what: "full storage that databases share".to_owned(),
        done: arguments.full,
        remark: format!("{results} results, {lacked} of them failures for want of space"),
        misses,
    })
}

/// One run: failures for want of space, results, misses.
fn one(kvdyno: &Path, seed: u64, number: u64) -> io::Result<(usize, usize, Vec<String>)> {
    let mut misses = Vec::new();
    let mut random = Stream::new(subseed(seed, &[number, 4]));
    let is_copied = number % 2 == 1;
    let sizes = if is_copied { SIZES_WITH_COPIES_MIB } else { SIZES_MIB };
    let size_mib = sizes.start + random.below(sizes.end - sizes.start);
    let run = TormentedRun::empty(kvdyno)?;
    let storage = SharedStorage::mount(run.home(), size_mib)?;
    run.write(&file(&storage.point, is_copied))?;
    let status = run.ends()?;
    drop(storage);
    if !matches!(status.and_then(|status| status.code()), Some(0 | 1)) {
        misses.push(format!("{size_mib} MiB: {status:?}: {}", run.log().replace('\n', " ")));
    }
    let of_run = run.results().results().map_err(io::Error::other)?;
    let planned = run.planned()?.len();
    if planned == 0 || of_run.len() != planned {
        misses.push(format!("{size_mib} MiB: {planned} trials were planned, {} have a result", of_run.len()));
    }
    misses.extend(of_run.iter().filter_map(other_failure).map(|words| format!("{size_mib} MiB: {words}")));
    let lacked = of_run.iter().filter(|result| !result.is_finished()).count();
    run.is_given_back(&mut misses)?;
    Ok((lacked, of_run.len(), misses))
}

/// A failure that is not for want of space: the engine's own, of a trial or of the load that it stands on.
fn other_failure(result: &TrialResult) -> Option<String> {
    let TrialOutcome::Failed(failure) = &result.outcome else { return None };
    let is_of_space = failure.kind == FailureKind::NoSpace || failure.kind == FailureKind::NotRun;
    (!is_of_space).then(|| format!("trial {}, {}: {failure:?}", result.trial.number, result.trial.engine))
}

/// An ext4 on a file, mounted until it is dropped.
struct SharedStorage {
    point: PathBuf,
}

impl SharedStorage {
    fn mount(home: &Path, size_mib: u64) -> io::Result<SharedStorage> {
        let (image, point) = (home.join("image"), home.join("storage"));
        fs::File::create(&image)?.set_len(size_mib << 20)?;
        fs::create_dir(&point)?;
        command("mkfs.ext4", &["-q".as_ref(), "-F".as_ref(), image.as_os_str()])?;
        command("mount", &["-o".as_ref(), "loop".as_ref(), image.as_os_str(), point.as_os_str()])?;
        Ok(SharedStorage { point })
    }
}

impl Drop for SharedStorage {
    fn drop(&mut self) {
        // What is left is told as a miss of the run.
        let _ = command("umount", &[self.point.as_os_str()]);
    }
}

fn command(name: &str, arguments: &[&std::ffi::OsStr]) -> io::Result<()> {
    let output = Command::new(name).args(arguments).stdin(Stdio::null()).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim()))),
    }
}
