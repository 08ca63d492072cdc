//! A small language over the real binary: `Lab::new().compare(["lmdb", "faulty"]).fault("segv-get").run()` says what is
//! asked of kvdyno, and what it gives is held against what must come of it. Every lab is a folder of its own.
//!
//! - [`Lab`]: the folder in which commands run.
//! - [`Comparison`]: a `kvdyno compare`, or with [`Comparison::file`] the `kvdyno run` of a file that it wrote.
//! - [`RunningKvdyno`] (`running.rs`): a command under way, to be killed or interrupted.
//! - [`Ran`], [`EndedTrial`] (`outcome.rs`): what came of it.

// Helpers of tests are tests: a failure there is a failed test.
#![allow(clippy::unwrap_used)]

pub mod columns;
mod hlog;
pub mod hostile;
mod machine;
mod outcome;
mod prepared;
#[path = "../../../environment/tests/rights/mod.rs"]
mod rights;
mod running;
mod small_filesystem;
pub mod writers;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use kvdyno_results::folder::ResultsFolder;
use tempfile::TempDir;

pub use hlog::interval_log;
pub use machine::LoopDevice;
pub use outcome::{EndedTrial, Ran, squeezed};
pub use rights::{may_mount, may_set_the_environment, pass_over};
pub use running::{HANG, NEVER, RunningKvdyno, eventually, side_by_side};
pub use small_filesystem::SmallFilesystem;

/// A folder of its own, in which commands run, with a register of its own. Its results go to `results` below it.
#[derive(Clone)]
pub struct Lab(Rc<LabFolders>);

struct LabFolders {
    home: TempDir,
    /// `KVDYNO_ENGINES`.
    engines: OsString,
    installed: Installed,
    register: Rc<LabRegister>,
}

/// Whether commands see the engines that the user has installed, which differ from machine to machine.
#[derive(Clone, Copy)]
enum Installed {
    Hidden,
    Seen,
}

/// The register of what the commands of a lab make (`KVDYNO_REGISTER`). Nobody else's `kvdyno clean` knows
/// it, and its own knows no other.
struct LabRegister(TempDir);

impl LabRegister {
    fn new() -> Rc<LabRegister> {
        Rc::new(LabRegister(TempDir::new().unwrap()))
    }

    /// A folder for `KVDYNO_ENGINES`: an adapter that cannot be loaded hides the one behind it.
    fn without_null(&self) -> PathBuf {
        let hiding = self.0.path().join("no-null");
        fs::create_dir_all(&hiding).unwrap();
        fs::write(hiding.join("libkvdyno_null.so"), "").unwrap();
        hiding
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("register")
    }

    fn is_empty(&self) -> bool {
        fs::read_dir(self.folder()).map_or(true, |registers| registers.count() == 0)
    }

    /// Removes what killed commands left, for nobody else will. What tools of theirs still make they must have made.
    fn clean(&self) {
        let since = Instant::now();
        while !self.is_empty() && since.elapsed() < Duration::from_secs(20) {
            let mut clean = Command::new(env!("CARGO_BIN_EXE_kvdyno"));
            // Whether it did is seen below.
            let _ = clean.arg("clean").env("KVDYNO_REGISTER", self.folder()).output();
            thread::sleep(Duration::from_millis(10));
        }
        if !self.is_empty() {
            eprintln!("something stays that stands in the register {}, which goes", self.folder().display());
        }
    }
}

impl Drop for LabFolders {
    fn drop(&mut self) {
        // Before the folder goes, in which something may be mounted.
        self.register.clean();
    }
}

impl Lab {
    /// With every adapter but a usable null engine: what the driver costs is then not measured, which takes a second.
    pub fn new() -> Lab {
        Lab::with_register(LabRegister::new(), false, Installed::Hidden)
    }

    /// The same with the engines that the user has installed.
    pub fn with_installed() -> Lab {
        Lab::with_register(LabRegister::new(), false, Installed::Seen)
    }

    /// With the null engine too.
    pub fn with_null() -> Lab {
        Lab::with_register(LabRegister::new(), true, Installed::Hidden)
    }

    /// Another lab with the same register: what is left of one is known to the other.
    pub fn another(&self) -> Lab {
        Lab::with_register(Rc::clone(&self.0.register), false, Installed::Hidden)
    }

    fn with_register(register: Rc<LabRegister>, null: bool, installed: Installed) -> Lab {
        let mut folders = vec![adapters()];
        if !null {
            folders.insert(0, register.without_null());
        }
        let engines = std::env::join_paths(folders).unwrap();
        Lab(Rc::new(LabFolders { home: TempDir::new().unwrap(), engines, installed, register }))
    }

    /// A file or folder of the lab.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.home.path().join(name)
    }

    /// The results of what ran.
    pub fn folder(&self) -> ResultsFolder {
        ResultsFolder::at(self.path("results"))
    }

    /// The folder of the register of what its commands make; it is there once there was one.
    pub fn register(&self) -> PathBuf {
        self.0.register.folder()
    }

    /// `kvdyno` in this folder, to be given arguments.
    pub fn kvdyno(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kvdyno"));
        command
            .current_dir(self.path(""))
            .env("KVDYNO_ENGINES", &self.0.engines)
            .env("KVDYNO_REGISTER", self.register())
            .env("NO_COLOR", "1")
            .env("LC_ALL", "C.UTF-8");
        match self.0.installed {
            Installed::Hidden => command.env("XDG_DATA_HOME", "/nowhere"),
            Installed::Seen => &mut command,
        };
        command
    }

    /// Runs `kvdyno` with these arguments to its end.
    pub fn run<const N: usize>(&self, arguments: [&str; N]) -> Ran {
        self.start(arguments).ends()
    }

    /// The same with arguments whose number is not known.
    pub fn run_with(&self, arguments: &[&str]) -> Ran {
        let mut command = self.kvdyno();
        command.args(arguments);
        RunningKvdyno::start(self.clone(), command).ends()
    }

    /// Starts `kvdyno` with these arguments.
    pub fn start<const N: usize>(&self, arguments: [&str; N]) -> RunningKvdyno {
        let mut command = self.kvdyno();
        command.args(arguments);
        RunningKvdyno::start(self.clone(), command)
    }

    /// Goes on where a run was ended.
    pub fn resume(&self) -> Ran {
        self.run(["run", "--resume", "results"])
    }

    /// The report of the results in a format.
    pub fn report(&self, format: &str) -> String {
        self.run(["report", "results", "--format", format]).exits(0).stdout.clone()
    }

    /// A comparison of small databases, one reader and short trials, unless it says otherwise.
    pub fn compare<const N: usize>(&self, engines: [&str; N]) -> Comparison {
        let defaults = [("records", "2000"), ("readers", "1"), ("warmup", "0s"), ("repeat", "1"), ("out", "results")];
        Comparison {
            lab: self.clone(),
            engines: engines.map(str::to_owned).to_vec(),
            values: defaults.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            more: Vec::new(),
            edits: Vec::new(),
        }
    }

    /// Writes a file into the lab.
    pub fn write(&self, name: &str, text: &str) -> &Self {
        fs::write(self.path(name), text).unwrap();
        self
    }

    /// Every result that is there, by the name of its trial, to the byte.
    pub fn result_files(&self) -> BTreeMap<String, Vec<u8>> {
        let trials = fs::read_dir(self.path("results/trials")).into_iter().flatten().flatten();
        let result = |trial: fs::DirEntry| {
            let result = fs::read(trial.path().join("result.json")).ok()?;
            Some((trial.file_name().into_string().unwrap(), result))
        };
        trials.filter_map(result).collect()
    }

    /// The folders of databases that are there now.
    pub fn databases(&self) -> Vec<PathBuf> {
        let mut databases = Vec::new();
        let folders = fs::read_dir(self.path("results/databases")).into_iter().flatten().flatten();
        databases.extend(folders.map(|folder| folder.path().join("database")).filter(|database| database.is_dir()));
        databases.sort();
        databases
    }

    /// The only folder of databases in `dir`.
    #[track_caller]
    pub fn only_base(&self, dir: &str) -> PathBuf {
        let bases = fs::read_dir(self.path(dir)).unwrap().flatten().map(|entry| entry.path());
        let is_base = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("kvdyno-");
        let bases: Vec<_> = bases.filter(is_base).collect();
        assert_eq!(bases.len(), 1, "{bases:?}");
        bases[0].clone()
    }

    /// Every file and folder with its size, to see whether anything was touched.
    pub fn tree(&self) -> Vec<String> {
        let mut all = Vec::new();
        let mut folders = vec![self.path("")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let facts = entry.metadata().unwrap();
                // A lock names the process that had it last, by a number of four to seven digits.
                let has_no_size = facts.is_dir() || entry.file_name() == ".lock";
                all.push(format!("{} {}", entry.path().display(), if has_no_size { 0 } else { facts.len() }));
                if facts.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        all.sort();
        all
    }
}

/// The built adapters.
pub fn adapters() -> PathBuf {
    let built = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/release/engines");
    let folder = std::env::var_os("KVDYNO_ENGINES").map_or_else(built, PathBuf::from);
    for name in ["null", "faulty", "lmdb", "leveldb", "rocksdb"] {
        let adapter = folder.join(format!("libkvdyno_{name}.so"));
        assert!(adapter.is_file(), "{} is not there: run make build first, or set KVDYNO_ENGINES", adapter.display());
    }
    folder.canonicalize().unwrap()
}

/// Faults of the faulty engine that strike in reads, beside those that end with `-get`.
const READ_FAULTS: [&str; 7] =
    ["other-key", "old-value", "torn-value", "flipped-bit", "short-value", "long-value", "missing"];

/// The arguments of a `kvdyno compare`.
#[derive(Clone)]
pub struct Comparison {
    lab: Lab,
    engines: Vec<String>,
    values: BTreeMap<String, String>,
    more: Vec<String>,
    edits: Vec<(&'static str, toml::Value)>,
}

impl Comparison {
    /// Where it runs.
    pub fn lab(&self) -> &Lab {
        &self.lab
    }

    /// `--NAME VALUE`, instead of what was said before.
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.values.insert(name.to_owned(), value.to_string());
        self
    }

    /// Anything else on the command line.
    pub fn arguments<const N: usize>(mut self, more: [&str; N]) -> Self {
        self.more.extend(more.map(str::to_owned));
        self
    }

    /// The same in a new lab.
    pub fn again(mut self) -> Self {
        self.lab = Lab::new();
        self
    }

    /// `--workload`.
    pub fn workload(self, workloads: &str) -> Self {
        self.with("workload", workloads)
    }

    /// How many operations each reader does: the quickest of trials.
    pub fn operations(mut self, operations: u64) -> Self {
        self.values.remove("duration");
        self.with("operations", operations)
    }

    /// How long trials measure.
    pub fn milliseconds(mut self, milliseconds: u64) -> Self {
        self.values.remove("operations");
        self.with("duration", format!("{milliseconds}ms"))
    }

    /// The fault of the faulty engine, at every so-many-th operation. One of reads is for the trials that read: an
    /// audit would meet it in the load already.
    pub fn fault(self, fault: &str, every: u64) -> Self {
        let of_reads = READ_FAULTS.contains(&fault) || fault.ends_with("-get");
        let spared = if of_reads { self.with("audit", "off") } else { self };
        spared
            .arguments(["--option", &format!("faulty.fault={fault}")])
            .arguments(["--option", &format!("faulty.every={every}")])
    }

    /// An engine's option: `ENGINE.OPTION=VALUE`.
    pub fn option(self, option: &str) -> Self {
        self.arguments(["--option", option])
    }

    /// `lab.hang_timeout`, which only a file can say. The comparison then runs from a file.
    pub fn file(mut self, key: &'static str, value: impl Into<toml::Value>) -> Self {
        self.edits.push((key, value.into()));
        self
    }

    /// The command that it is.
    pub fn command(&self) -> Command {
        let mut command = self.lab.kvdyno();
        command.arg("compare").args(&self.engines);
        if !self.values.contains_key("operations") && !self.values.contains_key("duration") {
            command.args(["--duration", "200ms"]);
        }
        for (name, value) in &self.values {
            command.arg(format!("--{name}")).arg(value);
        }
        command.args(&self.more);
        command
    }

    /// The experiment file that it writes, with what only a file can say.
    pub fn experiment(&self) -> String {
        let mut command = self.command();
        command.arg("--dry-run");
        let text = RunningKvdyno::start(self.lab.clone(), command).ends().exits(0).stdout.clone();
        let mut experiment: toml::Table = text.parse().unwrap();
        for (key, value) in &self.edits {
            let (section, key) = key.split_once('.').unwrap();
            experiment[section].as_table_mut().unwrap().insert(key.to_owned(), value.clone());
        }
        experiment.to_string()
    }

    /// Starts it.
    pub fn start(&self) -> RunningKvdyno {
        if self.edits.is_empty() {
            return RunningKvdyno::start(self.lab.clone(), self.command());
        }
        self.lab.write("experiment.toml", &self.experiment());
        self.lab.start(["run", "experiment.toml", "--out", "results"])
    }

    /// Runs it to its end.
    pub fn run(&self) -> Ran {
        self.start().ends()
    }
}

/// Whether two texts of a result say the same, but for what a fresh process read back, which comes after the last trial
/// on a database.
pub fn same_but_for_audit(one: &[u8], other: &[u8]) -> bool {
    let without = |text: &[u8]| {
        let mut result: serde_json::Value = serde_json::from_slice(text).unwrap();
        if let Some(audit) = result.get_mut("audit") {
            audit["process"] = serde_json::Value::Null;
        }
        result
    };
    without(one) == without(other)
}
