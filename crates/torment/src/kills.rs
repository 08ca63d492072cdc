//! Runs whose parent is killed again and again: nothing is lost, nothing done twice, nothing left behind.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use kvdyno_dataset::{Stream, subseed};
use kvdyno_results::folder::ResultsFolder;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::TormentArguments;
use crate::done::PartsDone;
use crate::summary::TormentLine;

/// A sort of runs, with what its file says.
#[derive(Clone, Copy)]
struct KilledSort {
    name: &'static str,
    engines: &'static str,
    /// The runs, each with its workload.
    runs: &'static [&'static str],
    /// Keys of each run.
    run: &'static str,
    environment: &'static str,
    /// Keys of `[lab]`.
    lab: &'static str,
}

const SORTS: [KilledSort; 6] = [
    KilledSort { name: "plain", ..PLAIN },
    KilledSort {
        name: "ext4 and a limit of memory",
        environment: "[environment]\nstorage = \"ext4\"\nmemory = \"1GiB\"\n",
        ..PLAIN
    },
    KilledSort { name: "processes", run: "clients = \"processes\"\n", ..PLAIN },
    // 4 loads and 16 runs of each, in slices and as duets.
    KilledSort {
        name: "beside each other, on copies",
        engines: "\"lmdb\", \"leveldb\"",
        lab: "database = \"snapshot\"\n",
        ..PLAIN
    },
    // What was committed and deleted before a kill is known to the runs after it.
    KilledSort {
        name: "transactions, deletes and roles",
        runs: &[
            "workload = \"transfer\"\nreaders = [1, 2]\n",
            "workload = \"mix\"\nreaders = [1, 2]\nmix = \"get 50, put 25, delete 25\"\n",
            "workload = \"mix\"\nreaders = [3, 4]\n[[run.role]]\nmix = \"get 100\"\n\
             [[run.role]]\nmix = \"put 50, delete 50\"\n",
        ],
        ..PLAIN
    },
    KilledSort {
        name: "queues",
        engines: "\"leveldb\"",
        runs: &[
            "workload = \"mix\"\nreaders = [1, 2]\nmix = \"insert 50, take 50\"\n",
            "workload = \"mix\"\nreaders = [3, 4]\n[[run.role]]\nmix = \"get 100\"\n\
             [[run.role]]\nmix = \"insert 50, take 50\"\n",
        ],
        ..PLAIN
    },
];
/// LMDB, because processes can share its databases; 2 loads and 16 runs, of a tenth of a second each.
const PLAIN: KilledSort =
    KilledSort { name: "", engines: "\"lmdb\"", runs: &READS_AND_WRITES, run: "", environment: "", lab: "" };
const READS_AND_WRITES: [&str; 4] = [
    "workload = \"readrandom\"\nreaders = [1, 2]\n",
    "workload = \"readwhilewriting\"\nreaders = [1, 2]\n",
    "workload = \"readseq\"\nreaders = [1, 2]\n",
    "workload = \"readreverse\"\nreaders = [1, 2]\n",
];
/// No kill comes later after a start, milliseconds: about two trials.
const LATEST: u64 = 400;
/// A run that is resumed for the last time ends in this time, on the slowest machine.
const LONG: Duration = Duration::from_secs(600);
/// Everything of a killed run is gone after this time.
const SOON: Duration = Duration::from_secs(10);

/// The experiment file of a run.
fn file(KilledSort { engines, runs, run, environment, lab, .. }: KilledSort) -> String {
    let section = |of: &&str| {
        // Roles are tables of their own, and come last.
        format!("[[run]]\nduration = \"100ms\"\nwarmup = \"0s\"\n{run}{of}")
    };
    let sections: String = runs.iter().map(section).collect();
    format!(
        "engines = [{engines}]\n[data]\nrecords = 20000\n[settings]\ncache = \"64MiB\"\n{environment}{sections}\
         [lab]\nrepeat = 2\nmin_free = \"16MiB\"\n{lab}"
    )
}

/// The outcome of the runs of a sort.
#[derive(Default, Serialize, Deserialize)]
struct KillCount {
    runs: u64,
    kills: u64,
    results: u64,
    misses: Vec<String>,
}

impl KillCount {
    fn add(&mut self, more: KillCount) {
        self.runs += more.runs;
        self.kills += more.kills;
        self.results += more.results;
        self.misses.extend(more.misses);
    }
}

/// All runs and kills, in turns of the sorts.
///
/// # Errors
/// If files cannot be had, or the program not be started.
pub fn torment(kvdyno: &Path, arguments: &TormentArguments, done: &mut PartsDone) -> io::Result<Vec<TormentLine>> {
    let mut counts: [KillCount; SORTS.len()] = Default::default();
    let each = arguments.kills.div_ceil(arguments.runs.max(1));
    for run in 0..arguments.runs {
        let sort = (run % SORTS.len() as u64) as usize;
        let mut random = Stream::new(subseed(arguments.seed, &[run, 2]));
        counts[sort].add(done.part(&format!("killed {run}"), || one(kvdyno, SORTS[sort], each, &mut random))?);
    }
    let line = |(sort, count): (KilledSort, KillCount)| TormentLine {
        what: format!("`kill -9` of the parent, {}", sort.name),
        done: count.kills,
        remark: format!("{} runs, {} results", count.runs, count.results),
        misses: count.misses,
    };
    let mut lines: Vec<TormentLine> = SORTS.into_iter().zip(counts).map(line).collect();
    lines.push(done.part("abandoned", || abandoned(kvdyno, arguments))?);
    Ok(lines)
}

/// A run that is killed so often, and then resumed to its end. If it ends before, it is begun again for the rest.
fn one(kvdyno: &Path, sort: KilledSort, kills: u64, random: &mut Stream) -> io::Result<KillCount> {
    let (mut left, mut count) = (kills, KillCount::default());
    while left > 0 {
        let lab = TormentedRun::new(kvdyno, sort)?;
        let mut before = SavedResults::new();
        let has_all = |before: &SavedResults| lab.planned().map(|all| !all.is_empty() && before.len() >= all.len());
        while left > 0 && !has_all(&before)? {
            lab.is_killed(random)?;
            (left, count.kills) = (left - 1, count.kills + 1);
            before = lab.unchanged(before, &mut count.misses)?;
        }
        let status = lab.ends()?;
        let after = lab.unchanged(before, &mut count.misses)?;
        count.runs += 1;
        count.results += after.len() as u64;
        lab.is_whole(status, &after, &mut count.misses)?;
        lab.is_given_back(&mut count.misses)?;
    }
    Ok(count)
}

/// Runs that are killed and never resumed: after `kvdyno clean` nothing of them is left.
fn abandoned(kvdyno: &Path, arguments: &TormentArguments) -> io::Result<TormentLine> {
    let mut line = TormentLine {
        what: "killed, not resumed, then `kvdyno clean`".to_owned(),
        done: 0,
        remark: String::new(),
        misses: Vec::new(),
    };
    let mut random = Stream::new(subseed(arguments.seed, &[3]));
    for run in 0..arguments.runs.div_ceil(10) {
        let lab = TormentedRun::new(kvdyno, SORTS[(run % SORTS.len() as u64) as usize])?;
        lab.is_killed(&mut random)?;
        lab.waits_for_processes()?;
        let cleaned = lab.command().arg("clean").stdin(Stdio::null()).output()?;
        let before = line.misses.len();
        lab.is_given_back(&mut line.misses)?;
        if !cleaned.status.success() || line.misses.len() > before {
            let told = [cleaned.stdout, cleaned.stderr].concat();
            let told = String::from_utf8_lossy(&told).replace('\n', " ");
            line.misses.push(format!("clean: {}: {told}", cleaned.status));
        }
        line.done += 1;
    }
    Ok(line)
}

/// The results of a run, by their files.
type SavedResults = BTreeMap<PathBuf, SavedResult>;

/// A result as it was saved. A fresh process may later add to it what it found of the trial's writes.
#[derive(Debug, PartialEq)]
struct SavedResult {
    /// The result without that addition, which never changes; the text of the file if it is not JSON.
    lasting: Value,
    /// Whether it has the addition.
    read_back: bool,
}

impl SavedResult {
    fn of(content: &[u8]) -> SavedResult {
        let unreadable = |_| Value::String(String::from_utf8_lossy(content).into_owned());
        let mut lasting = serde_json::from_slice(content).unwrap_or_else(unreadable);
        let process = lasting.pointer_mut("/audit/process").map(Value::take);
        SavedResult { lasting, read_back: process.is_some_and(|process| !process.is_null()) }
    }

    /// The fault in what is there now.
    fn miss(&self, now: Option<&SavedResult>) -> Option<&'static str> {
        match now {
            None => Some("was lost"),
            Some(now) if now.lasting != self.lasting => Some("was done twice"),
            Some(now) if self.read_back && !now.read_back => Some("has lost what a fresh process found"),
            Some(_) => None,
        }
    }
}

/// A run in a folder of its own.
pub(crate) struct TormentedRun {
    home: tempfile::TempDir,
    kvdyno: PathBuf,
}

impl TormentedRun {
    fn new(kvdyno: &Path, sort: KilledSort) -> io::Result<TormentedRun> {
        let run = TormentedRun::empty(kvdyno)?;
        run.write(&file(sort))?;
        Ok(run)
    }

    /// One without an experiment file so far.
    pub(crate) fn empty(kvdyno: &Path) -> io::Result<TormentedRun> {
        Ok(TormentedRun { home: tempfile::tempdir()?, kvdyno: kvdyno.to_owned() })
    }

    /// Writes its experiment file.
    pub(crate) fn write(&self, experiment: &str) -> io::Result<()> {
        fs::write(self.home().join("experiment.toml"), experiment)
    }

    /// Its folder.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// The errors and the progress that it told last.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.home().join("log")).unwrap_or_default()
    }

    pub(crate) fn results(&self) -> ResultsFolder {
        ResultsFolder::at(self.home.path().join("results"))
    }

    /// The program in this folder. What it makes is in a register of its own: others may be at work on the machine.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.kvdyno);
        command.current_dir(self.home.path()).env("KVDYNO_REGISTER", self.home.path().join("register"));
        command
    }

    /// Begins the run, or goes on with it.
    fn go_on(&self) -> io::Result<Child> {
        let arguments: &[&str] = match self.results().experiment_file().is_file() {
            true => &["run", "--resume", "results"],
            false => {
                // One that was killed before it could be resumed has left at most files, which `--out` refuses.
                let _ = fs::remove_dir_all(self.results().root());
                &["run", "experiment.toml", "--out", "results"]
            }
        };
        let log = fs::File::create(self.home.path().join("log"))?;
        let mut command = self.command();
        command.args(arguments);
        // A torment that is ended by a signal leaves no run that goes on without it.
        let follow = || {
            let ended = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
            ended.map_err(io::Error::from)
        };
        // SAFETY: the hook makes one system call, which is allowed between fork and exec.
        unsafe { command.pre_exec(follow) };
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn()
    }

    /// Goes on with the run, and kills it some time after it could be resumed, if it has not ended.
    fn is_killed(&self, random: &mut Stream) -> io::Result<()> {
        let mut child = self.go_on()?;
        let begun = || Ok(self.results().experiment_file().is_file() || child.try_wait()?.is_some());
        wait_until(LONG, Duration::from_millis(1), begun)?;
        sleep(Duration::from_millis(random.below(LATEST)));
        child.kill()?;
        child.wait().map(drop)
    }

    /// The numbers of the trials that there will be, as far as that is known; empty before there is a plan. A repeat
    /// that replaces one with interference leaves some out.
    pub(crate) fn planned(&self) -> io::Result<Vec<u32>> {
        let plan = self.results().plan().map_err(io::Error::other)?;
        let mut numbers: Vec<u32> = plan.iter().flat_map(|plan| plan.expected()).map(|trial| trial.number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Begins it, or goes on with it. Its end, or `None` if it does not end.
    pub(crate) fn ends(&self) -> io::Result<Option<ExitStatus>> {
        let mut child = self.go_on()?;
        if !wait_until(LONG, Duration::from_millis(5), || Ok(child.try_wait()?.is_some()))? {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        child.wait().map(Some)
    }

    /// The results that are there. What was there before must be as it was: it was neither lost nor done again.
    fn unchanged(&self, before: SavedResults, misses: &mut Vec<String>) -> io::Result<SavedResults> {
        let mut now = SavedResults::new();
        for entry in fs::read_dir(self.results().root().join("trials")).into_iter().flatten() {
            let path = entry?.path().join("result.json");
            match fs::read(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => (),
                content => drop(now.insert(path, SavedResult::of(&content?))),
            }
        }
        misses.extend(before.iter().filter_map(|(path, old)| {
            let miss = old.miss(now.get(path))?;
            Some(format!("{} {miss}", path.display()))
        }));
        Ok(now)
    }

    /// After the last resumption: every trial of the plan once, and each finished.
    fn is_whole(&self, status: Option<ExitStatus>, files: &SavedResults, misses: &mut Vec<String>) -> io::Result<()> {
        match status {
            Some(status) if status.success() => (),
            Some(status) => misses.push(format!("the last resumption: {status}: {}", self.log().replace('\n', " "))),
            None => misses.push(format!("the last resumption did not end: {}", self.log().replace('\n', " "))),
        }
        let results = self.results().results().map_err(io::Error::other)?;
        let planned = self.planned()?;
        let numbers: Vec<u32> = results.iter().map(|result| result.trial.number).collect();
        if planned.is_empty() || files.len() != planned.len() || numbers != planned {
            misses.push(format!("trials {planned:?} were planned, there are results of {numbers:?}"));
        }
        let unfinished = results.iter().filter(|result| !result.is_finished());
        misses.extend(unfinished.map(|result| format!("trial {}: {:?}", result.trial.number, result.outcome)));
        if self.results().root().join("databases").exists() {
            misses.push("databases are left".to_owned());
        }
        Ok(())
    }

    /// No process, mount, loop device or control group has to do with this folder any more.
    pub(crate) fn is_given_back(&self, misses: &mut Vec<String>) -> io::Result<()> {
        wait_until(SOON, Duration::from_millis(10), || Ok(self.leftovers().is_empty()))?;
        misses.extend(self.leftovers().into_iter().map(|what| format!("left over: {what}")));
        Ok(())
    }

    /// Tools that a killed kvdyno started go on to their end; until then `kvdyno clean` leaves alone what they make.
    fn waits_for_processes(&self) -> io::Result<bool> {
        wait_until(SOON, Duration::from_millis(10), || Ok(self.processes().is_empty()))
    }

    /// The command lines that name this folder.
    fn processes(&self) -> Vec<String> {
        self.named_here(entries("/proc").map(|entry| text(entry.path().join("cmdline"))))
    }

    fn named_here(&self, lines: impl Iterator<Item = String>) -> Vec<String> {
        let home = self.home.path().to_string_lossy().into_owned();
        lines.filter(|line| line.contains(&home)).collect()
    }

    fn leftovers(&self) -> Vec<String> {
        let loops = entries("/sys/block").map(|entry| text(entry.path().join("loop/backing_file")));
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let here = self.named_here(loops.chain(mounts.lines().map(str::to_owned)));
        [self.processes(), here, self.groups()].concat()
    }

    /// Control groups that bear the name of the run, which its lock tells.
    fn groups(&self) -> Vec<String> {
        let lock = fs::read(self.results().root().join(".lock")).unwrap_or_default();
        let lock: Value = serde_json::from_slice(&lock).unwrap_or_default();
        let Some(run) = lock["run"].as_str() else { return Vec::new() };
        let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
        let mut left = Vec::new();
        while let Some(folder) = folders.pop() {
            if folder.to_string_lossy().contains(run) {
                left.push(folder.display().to_string());
            }
            let below = fs::read_dir(folder).into_iter().flatten().flatten();
            folders.extend(below.filter(|one| one.file_type().is_ok_and(|kind| kind.is_dir())).map(|one| one.path()));
        }
        left
    }
}

/// Looks again and again whether it is so, for at most `longest`; whether it came to be.
fn wait_until(longest: Duration, pause: Duration, mut is_so: impl FnMut() -> io::Result<bool>) -> io::Result<bool> {
    let since = Instant::now();
    while !is_so()? {
        if since.elapsed() >= longest {
            return Ok(false);
        }
        sleep(pause);
    }
    Ok(true)
}

fn entries(folder: &str) -> impl Iterator<Item = fs::DirEntry> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

/// A file of the kernel's; empty if what it tells of is gone.
fn text(path: PathBuf) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " ")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(wrote: u32, process: &str) -> SavedResult {
        let text = format!(r#"{{"wrote": {wrote}, "audit": {{"session": null, "process": {process}}}}}"#);
        SavedResult::of(text.as_bytes())
    }

    #[test]
    fn a_result_is_neither_lost_nor_done_again_and_what_is_found_of_it_later_stays() {
        let (before, after) = (saved(1, "null"), saved(1, r#"{"read": 5}"#));
        assert_eq!(before.miss(None), Some("was lost"));
        assert_eq!(before.miss(Some(&saved(2, "null"))), Some("was done twice"));
        assert_eq!(before.miss(Some(&SavedResult::of(b"{\"wrote\": 1"))), Some("was done twice"));
        assert_eq!(before.miss(Some(&after)), None);
        assert_eq!(after.miss(Some(&before)), Some("has lost what a fresh process found"));
    }
}
