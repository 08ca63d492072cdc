//! Tries: the program is run, and its results are kept and read.

use std::cell::Cell;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kvdyno_analysis::verdicts::Looks;
use kvdyno_model::{KeyValue, TimeSpan, fnv1a};
use kvdyno_results::TrialResult;
use kvdyno_results::folder::ResultsFolder;
use serde_json::Value;

use crate::program::TriedProgram;
use crate::row_time::RowTime;

/// The program and the folder that keeps what it leaves. A try that is not there is done as long as the row has time;
/// then it is absent, and counts as left.
pub struct Tries {
    program: TriedProgram,
    folder: PathBuf,
    /// Tries of each cell.
    pub count: u32,
    time: RowTime,
    progress: Cell<RowProgress>,
}

/// How many tries of a row are there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowProgress {
    /// Kept from earlier calls.
    pub kept: u32,
    /// Done in this call.
    pub done: u32,
    /// Not done yet.
    pub left: u32,
}

impl RowProgress {
    /// Tries that are there.
    pub fn there(self) -> u32 {
        self.kept + self.done
    }
}

impl Tries {
    /// Tries of a row that has this much time.
    pub fn new(program: &TriedProgram, folder: &Path, count: u32, time: RowTime) -> io::Result<Tries> {
        fs::create_dir_all(folder)?;
        let progress = Cell::new(RowProgress::default());
        Ok(Tries { program: program.clone(), folder: folder.canonicalize()?, count, time, progress })
    }

    /// How far the row is.
    pub fn progress(&self) -> RowProgress {
        self.progress.get()
    }

    /// The results of the try `name`, which are those of `kvdyno compare` with `words`: as they were kept, or by
    /// running it now.
    pub fn results(&self, name: &str, words: &[String]) -> io::Result<Option<Vec<TrialResult>>> {
        Ok(self.compare(name, words)?.map(|one| one.results))
    }

    /// The same, with its time.
    pub fn compare(&self, name: &str, words: &[String]) -> io::Result<Option<CompareTry>> {
        let Some(folder) = self.kept(None, name, "compare", words, &[0])? else { return Ok(None) };
        let results = ResultsFolder::open(&folder).map_err(io::Error::other)?.results().map_err(io::Error::other)?;
        Ok(Some(CompareTry { results, wall_s: wall_s(&folder)?, folder }))
    }

    /// The reports of the same try as a user gets them, even where trials of it failed.
    pub fn reports(&self, name: &str, words: &[String]) -> io::Result<Option<TryReports>> {
        let Some(folder) = self.kept(None, name, "compare", words, &[0, 1])? else { return Ok(None) };
        Ok(Some(TryReports { text: self.report(&folder, "table")?, json: self.report_of(&folder)?, folder }))
    }

    /// The same of `kvdyno diff`, whatever its verdict, with another process at work beside it if there is one.
    pub fn diff(&self, beside: Option<Busy>, name: &str, words: &[String]) -> io::Result<Option<DiffTry>> {
        let Some(folder) = self.kept(beside, name, "diff", words, &[0, 3, 4])? else { return Ok(None) };
        let wall_s = wall_s(&folder)?;
        let folder = ResultsFolder::open(&folder).map_err(io::Error::other)?;
        let plan = folder.plan().map_err(io::Error::other)?;
        let looks = Looks::of_values(plan.as_ref().and_then(|plan| plan.most_values));
        let engines = plan.as_ref().and_then(|plan| plan.experiment.get("engines")?.as_array());
        let names = engines.into_iter().flatten().filter_map(|engine| engine.as_str().map(str::to_owned));
        let results = folder.results().map_err(io::Error::other)?;
        Ok(Some(DiffTry { setups: names.collect(), results, looks, wall_s }))
    }

    /// A figure that this program works out, as it was kept or anew.
    pub fn figure(&self, name: &str, work_out: impl FnOnce() -> f64) -> io::Result<Option<f64>> {
        let own = fnv1a(fs::read(std::env::current_exe()?)?);
        let file = self.folder.join(format!("{name}-{own:016x}"));
        match fs::read_to_string(&file) {
            Ok(text) => {
                self.count_kept();
                text.trim().parse().map(Some).map_err(io::Error::other)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if !self.may_begin(Duration::ZERO) {
                    return Ok(None);
                }
                let figure = work_out();
                let unfinished = file.with_extension("unfinished");
                fs::write(&unfinished, figure.to_string())?;
                fs::rename(&unfinished, &file).map(|()| Some(figure))
            }
            Err(error) => Err(error),
        }
    }

    /// The program that measures the driver, beside the one that is tried; absent where the time is over.
    pub fn bench(&self) -> Option<Command> {
        self.may_begin(Duration::ZERO).then(|| Command::new(self.program.path.with_file_name("kvdyno-bench")))
    }

    /// Counts tries as left that cannot be named before another was done.
    pub fn leave(&self, tries: u32) {
        let progress = self.progress.get();
        self.progress.set(RowProgress { left: progress.left + tries, ..progress });
    }

    fn count_kept(&self) {
        let progress = self.progress.get();
        self.progress.set(RowProgress { kept: progress.kept + 1, ..progress });
    }

    /// Whether there is time for one more, with a budget if it has one; it is counted as done, or as left. The first of
    /// a call begins whatever its budget is.
    fn may_begin(&self, budget: Duration) -> bool {
        let progress = self.progress.get();
        let given = if progress.done > 0 { budget } else { Duration::ZERO };
        if !self.time.is_enough(given) {
            self.leave(1);
            return false;
        }
        self.progress.set(RowProgress { done: progress.done + 1, ..progress });
        true
    }

    /// The report of a results folder for programs.
    pub fn report_of(&self, folder: &Path) -> io::Result<Value> {
        serde_json::from_str(&self.report(folder, "json")?).map_err(io::Error::other)
    }

    fn report(&self, folder: &Path, format: &str) -> io::Result<String> {
        let output = Command::new(&self.program.path).args(["report", "--format", format]).arg(folder).output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("{}: {}", folder.display(), said.trim())));
        }
        String::from_utf8(output.stdout).map_err(io::Error::other)
    }

    /// The folder of a try, which is run if there is none. Its name depends on the words and on the sources of the
    /// program and of its adapters: after a change of any of them the try is run again, and earlier results do not
    /// count.
    fn kept(
        &self,
        beside: Option<Busy>,
        name: &str,
        command: &str,
        words: &[String],
        codes: &[i32],
    ) -> io::Result<Option<PathBuf>> {
        let folder = self.folder.join(format!("{name}-{}", self.tag(command, words)));
        if folder.exists() {
            self.count_kept();
            return Ok(Some(folder));
        }
        if !self.may_begin(budget(words)?) {
            return Ok(None);
        }
        let _beside = beside.map(Busy::begin).transpose()?;
        self.run(&folder, command, words, codes)?;
        Ok(Some(folder))
    }

    /// A hash of what a try is of.
    fn tag(&self, command: &str, words: &[String]) -> String {
        let all = [&self.program.sources, command].into_iter().chain(words.iter().map(String::as_str));
        format!("{:016x}", fnv1a(all.flat_map(|word| word.bytes().chain([0]))))
    }

    /// A folder has its name only when it is whole: what was interrupted is done again.
    fn run(&self, folder: &Path, name: &str, words: &[String], codes: &[i32]) -> io::Result<()> {
        let unfinished = folder.with_extension("unfinished");
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        let mut command = Command::new(&self.program.path);
        command.arg(name).args(words).arg("--out").arg(&unfinished).stdin(Stdio::null());
        let begun = Instant::now();
        let output = command.output()?;
        let wall_s = begun.elapsed().as_secs_f64();
        if !output.status.code().is_some_and(|code| codes.contains(&code)) {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("{}: {}", folder.display(), said.trim())));
        }
        fs::write(unfinished.join(WALL), wall_s.to_string())?;
        fs::rename(&unfinished, folder)?;
        eprintln!("{} {wall_s:.1} s", folder.display());
        Ok(())
    }
}

/// The value of `--budget` in the words of a command; no time without one.
fn budget(words: &[String]) -> io::Result<Duration> {
    let value = words.iter().skip_while(|word| *word != "--budget").nth(1);
    value.map_or(Ok(Duration::ZERO), |text| TimeSpan::<0>::from_text(text).map(TimeSpan::get).map_err(io::Error::other))
}

/// The seconds that the command took which left this folder.
fn wall_s(folder: &Path) -> io::Result<f64> {
    fs::read_to_string(folder.join(WALL))?.trim().parse().map_err(io::Error::other)
}

/// The reports of a results folder.
#[derive(Debug)]
pub struct TryReports {
    /// The folder.
    pub folder: PathBuf,
    /// The text of `kvdyno report`.
    pub text: String,
    /// Its JSON.
    pub json: Value,
}

/// A try of `kvdyno compare`.
#[derive(Debug)]
pub struct CompareTry {
    /// The folder.
    pub folder: PathBuf,
    /// Results of all setups.
    pub results: Vec<TrialResult>,
    /// Wall time of the whole command, in seconds.
    pub wall_s: f64,
}

/// A try of `kvdyno diff`.
#[derive(Debug)]
pub struct DiffTry {
    /// Results of both setups.
    pub results: Vec<TrialResult>,
    /// Their names, the one before the change first.
    pub setups: Vec<String>,
    /// How often intervals were looked at.
    pub looks: Looks,
    /// Wall time of the whole command, in seconds.
    pub wall_s: f64,
}

/// The work of another process.
#[derive(Clone, Copy, Debug)]
pub enum Busy {
    /// It takes a processor for a third of a second and leaves it for as long.
    Thirds,
    /// It always wants this logical processor.
    Always(usize),
}

/// A process that is at work until this is dropped.
#[derive(Debug)]
struct BusyProcess(Child);

impl Busy {
    fn begin(self) -> io::Result<BusyProcess> {
        let script = match self {
            Busy::Thirds => "while :; do timeout 0.3 sh -c 'while :; do :; done'; sleep 0.3; done".to_owned(),
            Busy::Always(cpu) => format!("exec taskset --cpu-list {cpu} sh -c 'while :; do :; done'"),
        };
        Command::new("sh").args(["-c", &script]).process_group(0).stdin(Stdio::null()).spawn().map(BusyProcess)
    }
}

impl Drop for BusyProcess {
    fn drop(&mut self) {
        // What it started ends by itself within a third of a second.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The file beside the results with the seconds that the command took.
const WALL: &str = "wall_s";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::rc::Rc;

    use super::*;

    /// A program that makes the results folder that it is given, and counts how often it did.
    fn program(folder: &Path) -> TriedProgram {
        let path = folder.join("kvdyno");
        let text =
            format!("#!/bin/sh\nfor last; do :; done\nmkdir -p \"$last\"\necho run >> {}/runs\n", folder.display());
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        TriedProgram { path, commit: "1a2b3c4d5e6f".to_owned(), sources: "1".to_owned() }
    }

    /// Tries of a row whose time is never over.
    fn tries(program: &TriedProgram, folder: &Path) -> Tries {
        Tries::new(program, &folder.join("kept"), 1, RowTime::by(|| Duration::ZERO, Duration::MAX)).unwrap()
    }

    fn words(seed: &str) -> Vec<String> {
        vec!["lmdb".to_owned(), "--seed".to_owned(), seed.to_owned()]
    }

    #[test]
    fn a_figure_is_worked_out_once() {
        let folder = tempfile::tempdir().unwrap();
        let tries = tries(&program(folder.path()), folder.path());
        assert_eq!(tries.figure("x", || 1.25).unwrap(), Some(1.25));
        assert_eq!(tries.figure("x", || panic!("it is there")).unwrap(), Some(1.25));
        assert_eq!(tries.figure("y", || -0.5).unwrap(), Some(-0.5));
        assert_eq!(tries.progress(), RowProgress { kept: 1, done: 2, left: 0 });
    }

    #[test]
    fn a_busy_process_is_at_work_until_it_is_dropped() {
        let busy = Busy::Thirds.begin().unwrap();
        let process = PathBuf::from(format!("/proc/{}", busy.0.id()));
        assert!(process.exists());
        drop(busy);
        assert!(!process.exists());
    }

    #[test]
    fn a_try_is_kept_for_its_words_and_its_program_alone() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("runs");
        let times = || fs::read_to_string(&runs).unwrap_or_default().lines().count();
        let program = program(folder.path());
        let first = tries(&program, folder.path());
        let kept = |tries: &Tries, command: &str, seed: &str| {
            tries.kept(None, "x", command, &words(seed), &[0]).unwrap().unwrap()
        };
        let one = kept(&first, "compare", "1");
        assert_eq!((kept(&first, "compare", "1"), times()), (one.clone(), 1));
        assert_ne!(kept(&first, "compare", "2"), one);
        assert_ne!(kept(&first, "diff", "1"), one);
        assert_eq!(times(), 3);
        let other = TriedProgram { sources: "2".to_owned(), ..program };
        assert_ne!(kept(&tries(&other, folder.path()), "compare", "1"), one, "an old try of another program");
        assert_eq!(times(), 4);
    }

    /// A row with these minutes, in which each look at the clock is a minute later.
    fn row(program: &TriedProgram, folder: &Path, most: u64) -> Tries {
        let minutes = Rc::new(Cell::new(0));
        let clock = move || Duration::from_secs(60 * minutes.replace(minutes.get() + 1));
        let time = RowTime::by(clock, Duration::from_secs(60 * most));
        Tries::new(program, &folder.join("kept"), 1, time).unwrap()
    }

    #[test]
    fn when_the_time_is_over_what_is_there_is_read_and_the_rest_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path());
        let row = |most: u64| {
            let tries = row(&program, folder.path(), most);
            let kept = |seed: &&str| tries.kept(None, "x", "compare", &words(seed), &[0]).unwrap().is_some();
            let there = ["1", "2", "3", "4", "5"].iter().filter(|seed| kept(seed)).count();
            (there, tries.progress())
        };
        assert_eq!(row(3), (3, RowProgress { kept: 0, done: 3, left: 2 }));
        assert_eq!(row(0), (3, RowProgress { kept: 3, done: 0, left: 2 }));
        assert_eq!(row(1), (4, RowProgress { kept: 3, done: 1, left: 1 }));
        assert_eq!(row(3), (5, RowProgress { kept: 4, done: 1, left: 0 }));
    }

    /// After one of three minutes there is not more than half of four left.
    #[test]
    fn a_long_try_begins_no_more_when_half_of_its_budget_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path());
        let tries = row(&program, folder.path(), 3);
        let with_budget = |seed: &str| [words(seed), ["--budget", "4m"].map(str::to_owned).to_vec()].concat();
        let begins = |words: Vec<String>| tries.kept(None, "x", "compare", &words, &[0]).unwrap().is_some();
        assert!(begins(with_budget("1")) && !begins(with_budget("2")) && begins(words("3")));
        assert_eq!(tries.progress(), RowProgress { kept: 0, done: 2, left: 1 });
        assert!(tries.kept(None, "x", "compare", &["--budget".to_owned(), "x".to_owned()], &[0]).is_err());
    }
}
