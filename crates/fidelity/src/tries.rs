//! Tries: the program is run, and its results are kept and read.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use kvdyno_results::TrialResult;
use kvdyno_results::folder::ResultsFolder;
use serde_json::Value;

/// The program and the folder that keeps what it leaves.
#[derive(Debug)]
pub struct Tries {
    kvdyno: PathBuf,
    /// A hash of the program and of its adapters.
    code: u64,
    folder: PathBuf,
    /// Tries of each cell.
    pub count: u32,
}

impl Tries {
    /// Tries of a row.
    pub fn new(kvdyno: &Path, folder: &Path, count: u32) -> io::Result<Tries> {
        fs::create_dir_all(folder)?;
        let kvdyno = kvdyno.canonicalize()?;
        let code = code_of(&kvdyno)?;
        Ok(Tries { kvdyno, code, folder: folder.canonicalize()?, count })
    }

    /// The results of the try `name`, which are those of `kvdyno compare` with `words`: as they were kept, or by
    /// running it now.
    pub fn results(&self, name: &str, words: &[String]) -> io::Result<Vec<TrialResult>> {
        let folder = self.kept(name, "compare", words, &[0])?;
        ResultsFolder::open(&folder).map_err(io::Error::other)?.results().map_err(io::Error::other)
    }

    /// The report of the same try, as JSON.
    pub fn report(&self, name: &str, words: &[String]) -> io::Result<Value> {
        let folder = self.kept(name, "compare", words, &[0])?;
        let output = Command::new(&self.kvdyno).args(["report", "--format", "json"]).arg(&folder).output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("{}: {}", folder.display(), said.trim())));
        }
        serde_json::from_slice(&output.stdout).map_err(io::Error::other)
    }

    /// The same of `kvdyno diff`, whatever its verdict.
    pub fn diff(&self, name: &str, words: &[String]) -> io::Result<DiffTry> {
        self.diff_beside(None, name, words)
    }

    /// The same, with another process at work beside it.
    pub fn diff_beside_busy_process(&self, name: &str, words: &[String]) -> io::Result<DiffTry> {
        self.diff_beside(Some(BusyProcess::begin), &format!("{name}-beside"), words)
    }

    /// A figure that this program works out, as it was kept or anew.
    pub fn figure(&self, name: &str, work_out: impl FnOnce() -> f64) -> io::Result<f64> {
        let own = fnv(FNV_START, &fs::read(std::env::current_exe()?)?);
        let file = self.folder.join(format!("{name}-{own:016x}"));
        match fs::read_to_string(&file) {
            Ok(text) => text.trim().parse().map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let figure = work_out();
                let unfinished = file.with_extension("unfinished");
                fs::write(&unfinished, figure.to_string())?;
                fs::rename(&unfinished, &file).map(|()| figure)
            }
            Err(error) => Err(error),
        }
    }

    /// The program that measures the driver, beside the one that is tried.
    pub fn bench(&self) -> Command {
        Command::new(self.kvdyno.with_file_name("kvdyno-bench"))
    }

    fn diff_beside(
        &self,
        busy: Option<fn() -> io::Result<BusyProcess>>,
        name: &str,
        words: &[String],
    ) -> io::Result<DiffTry> {
        let folder = self.kept_beside(busy, name, "diff", words, &[0, 3, 4])?;
        let wall_s = fs::read_to_string(folder.join(WALL))?.trim().parse().map_err(io::Error::other)?;
        let folder = ResultsFolder::open(&folder).map_err(io::Error::other)?;
        let plan = folder.plan().map_err(io::Error::other)?;
        let engines = plan.as_ref().and_then(|plan| plan.experiment.get("engines")?.as_array());
        let names = engines.into_iter().flatten().filter_map(|engine| engine.as_str().map(str::to_owned));
        Ok(DiffTry { setups: names.collect(), results: folder.results().map_err(io::Error::other)?, wall_s })
    }

    /// The folder of a try, which is run if there is none. Its name depends on the words, the program and the adapters:
    /// after a change of any of them the try is run again, and earlier results do not count.
    fn kept(&self, name: &str, command: &str, words: &[String], codes: &[i32]) -> io::Result<PathBuf> {
        self.kept_beside(None, name, command, words, codes)
    }

    fn kept_beside(
        &self,
        busy: Option<fn() -> io::Result<BusyProcess>>,
        name: &str,
        command: &str,
        words: &[String],
        codes: &[i32],
    ) -> io::Result<PathBuf> {
        let folder = self.folder.join(format!("{name}-{}", self.tag(command, words)));
        if !folder.exists() {
            let _beside = busy.map(|begin| begin()).transpose()?;
            self.run(&folder, command, words, codes)?;
        }
        Ok(folder)
    }

    /// A hash of what a try is of.
    fn tag(&self, command: &str, words: &[String]) -> String {
        let all = [command].into_iter().chain(words.iter().map(String::as_str));
        let hash = all.fold(self.code, |hash, word| fnv(fnv(hash, word.as_bytes()), &[0]));
        format!("{hash:016x}")
    }

    /// A folder has its name only when it is whole: what was interrupted is done again.
    fn run(&self, folder: &Path, name: &str, words: &[String], codes: &[i32]) -> io::Result<()> {
        let unfinished = folder.with_extension("unfinished");
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        let mut command = Command::new(&self.kvdyno);
        command.arg(name).args(words).arg("--out").arg(&unfinished).stdin(Stdio::null());
        let begun = Instant::now();
        let output = command.output()?;
        if !output.status.code().is_some_and(|code| codes.contains(&code)) {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("{}: {}", folder.display(), said.trim())));
        }
        fs::write(unfinished.join(WALL), begun.elapsed().as_secs_f64().to_string())?;
        fs::rename(&unfinished, folder)
    }
}

/// A try of `kvdyno diff`.
#[derive(Debug)]
pub struct DiffTry {
    /// Results of both setups.
    pub results: Vec<TrialResult>,
    /// Their names, the one before the change first.
    pub setups: Vec<String>,
    /// Wall time of the whole command, in seconds.
    pub wall_s: f64,
}

/// A process that takes a processor for a third of a second and leaves it for as long, until this is dropped.
#[derive(Debug)]
pub struct BusyProcess(Child);

impl BusyProcess {
    fn begin() -> io::Result<BusyProcess> {
        let script = "while :; do timeout 0.3 sh -c 'while :; do :; done'; sleep 0.3; done";
        Command::new("sh").args(["-c", script]).process_group(0).stdin(Stdio::null()).spawn().map(BusyProcess)
    }
}

impl Drop for BusyProcess {
    fn drop(&mut self) {
        // What it started ends by itself within a third of a second.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A hash of a program and of the adapters in the folders beside it: what a commit changed is in one of them.
fn code_of(kvdyno: &Path) -> io::Result<u64> {
    let mut files = vec![kvdyno.to_owned()];
    for folder in ["engines", "slow"].map(|name| kvdyno.with_file_name(name)) {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        let adapters = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
        files.extend(adapters.into_iter().filter(|path| path.extension().is_some_and(|end| end == "so")));
    }
    files.sort();
    files.iter().try_fold(FNV_START, |hash, file| Ok(fnv(hash, &fs::read(file)?)))
}

/// FNV-1a, 64 bits.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// The file beside the results with the seconds that the command took.
const WALL: &str = "wall_s";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A program that makes the results folder that it is given, after it was changed to this `version`.
    fn program(folder: &Path, version: &str) -> PathBuf {
        let path = folder.join("kvdyno");
        let text = format!(
            "#!/bin/sh\n# {version}\nfor last; do :; done\nmkdir -p \"$last\"\necho run >> {}/runs\n",
            folder.display()
        );
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn a_figure_is_worked_out_once() {
        let folder = tempfile::tempdir().unwrap();
        let tries = Tries::new(&program(folder.path(), "first"), &folder.path().join("kept"), 1).unwrap();
        assert_eq!(tries.figure("x", || 1.25).unwrap(), 1.25);
        assert_eq!(tries.figure("x", || panic!("it is there")).unwrap(), 1.25);
        assert_eq!(tries.figure("y", || -0.5).unwrap(), -0.5);
    }

    #[test]
    fn a_busy_process_is_at_work_until_it_is_dropped() {
        let busy = BusyProcess::begin().unwrap();
        let process = PathBuf::from(format!("/proc/{}", busy.0.id()));
        assert!(process.exists());
        drop(busy);
        assert!(!process.exists());
    }

    #[test]
    fn a_try_is_kept_for_its_words_and_its_program_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (first, runs) = (program(folder.path(), "first"), folder.path().join("runs"));
        let kept = folder.path().join("kept");
        let times = || fs::read_to_string(&runs).unwrap_or_default().lines().count();
        let words = |seed: &str| vec!["lmdb".to_owned(), "--seed".to_owned(), seed.to_owned()];
        let tries = Tries::new(&first, &kept, 1).unwrap();
        let one = tries.kept("x", "compare", &words("1"), &[0]).unwrap();
        assert_eq!((tries.kept("x", "compare", &words("1"), &[0]).unwrap(), times()), (one.clone(), 1));
        assert_ne!(tries.kept("x", "compare", &words("2"), &[0]).unwrap(), one);
        assert_ne!(tries.kept("x", "diff", &words("1"), &[0]).unwrap(), one);
        assert_eq!(times(), 3);
        let changed = Tries::new(&program(folder.path(), "second"), &kept, 1).unwrap();
        assert_ne!(changed.kept("x", "compare", &words("1"), &[0]).unwrap(), one, "an old try of another program");
        fs::create_dir(folder.path().join("engines")).unwrap();
        fs::write(folder.path().join("engines/libkvdyno_x.so"), "an adapter").unwrap();
        Tries::new(&first, &kept, 1).unwrap().kept("x", "compare", &words("1"), &[0]).unwrap();
        assert_eq!(times(), 5, "another adapter is another try");
    }
}
