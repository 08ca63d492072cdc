//! Things that others made are safe: runs share no database, `kvdyno clean` removes what bears a token of a dead
//! process and nothing that only looks like it, and nothing is written through a link.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::support::{Comparison, Lab, LoopDevice, Ran, RunningKvdyno, may_set_the_environment};
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// Somebody else.
const NOBODY: u32 = 65534;

/// A load and two trials on it, quick.
fn quick(lab: &Lab) -> Comparison {
    lab.compare(["lmdb"]).workload("readrandom,overwrite").operations(100)
}

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

// ---- two runs

#[test]
fn two_runs_with_one_dir_and_one_name_share_no_database() {
    let lab = Lab::new();
    fs::create_dir(lab.path("storage")).unwrap();
    let kept = |out: &str| quick(&lab).with("dir", "storage").with("out", out).arguments(["--keep"]);
    let both = ["a/res", "b/res"].map(|out| kept(out).start());
    for running in both {
        running.ends().exits(0);
    }
    let bases = fs::read_dir(lab.path("storage")).unwrap().count();
    assert_eq!(bases, 2, "a folder of databases for each");
}

/// A run that kept its databases and lost the result of its last trial, as if it had been ended there.
fn cut_short(lab: &Lab) {
    fs::create_dir(lab.path("storage")).unwrap();
    quick(lab).with("dir", "storage").arguments(["--keep"]).run().exits(0);
    fs::remove_file(lab.path("results/trials/0003-lmdb-overwrite-0r1w/result.json")).unwrap();
}

#[test]
fn a_resumed_run_finds_its_own_databases() {
    let lab = Lab::new();
    cut_short(&lab);
    let base = lab.only_base("storage");
    let resumed = lab.resume();
    resumed.exits(0);
    assert!(!resumed.stderr.contains("loading the database again"), "{}", resumed.stderr);
    assert_eq!(lab.only_base("storage"), base);
}

#[test]
fn a_resumed_run_does_not_take_the_databases_of_another() {
    let lab = Lab::new();
    cut_short(&lab);
    let base = lab.only_base("storage");
    let token = fs::read_to_string(base.join(".lock")).unwrap();
    let run = token.split('"').nth(3).unwrap();
    fs::write(base.join(".lock"), token.replace(run, &"0".repeat(32))).unwrap();
    let before = lab.tree();
    lab.resume().exits(2).says("is not of this run, as its .lock says; move it away");
    assert_eq!(lab.tree(), before);
}

#[test]
fn a_folder_of_databases_that_another_user_owns_is_refused_to_root() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    cut_short(&lab);
    let base = lab.only_base("storage");
    chown(&base, Some(NOBODY), None).unwrap();
    let before = lab.tree();
    lab.resume().exits(2).says("belongs to the user 65534, who could change what is written there; choose another");
    assert_eq!(lab.tree(), before);
    // Nor is a folder of results of his written to.
    fs::create_dir(lab.path("his")).unwrap();
    chown(lab.path("his"), Some(NOBODY), None).unwrap();
    quick(&lab).with("out", "his").run().exits(2).says("belongs to the user 65534");
    assert_eq!(fs::read_dir(lab.path("his")).unwrap().count(), 0);
}

// ---- links and FIFOs

/// Where somebody could put a link that root then would write through.
const LINKS: [&str; 4] =
    ["results/report/.index.html.writing", "results/report/.load.csv.writing", "results/.lock", "storage/BASE/.lock"];

#[test]
fn nothing_is_written_through_a_link() {
    let lab = Lab::new();
    cut_short(&lab);
    let base = lab.only_base("storage").file_name().unwrap().to_string_lossy().into_owned();
    for (number, slot) in LINKS.iter().enumerate() {
        let target = lab.path(format!("target-{number}"));
        fs::write(&target, "years of work").unwrap();
        let link = lab.path(slot.replace("BASE", &base));
        let token = fs::read(&link).ok();
        let _ = fs::remove_file(&link);
        symlink(&target, &link).unwrap();
        let ran = lab.resume();
        assert_eq!(fs::read_to_string(&target).unwrap(), "years of work", "{slot}");
        // A lock is refused, what a killed process may have left is replaced.
        ran.exits(if token.is_some() { 2 } else { 0 });
        fs::remove_file(&link).unwrap_or_default();
        if let Some(token) = token {
            fs::write(&link, token).unwrap();
        }
    }
}

/// Whoever guesses the names of logs before they are written.
#[test]
fn logs_are_not_written_through_a_link() {
    let lab = Lab::new();
    cut_short(&lab);
    let logs = ["results/trials/0003-lmdb-overwrite-0r1w/worker.log", "results/auditing/3/audit.log"];
    for (number, log) in logs.iter().enumerate() {
        let target = lab.path(format!("target-{number}"));
        fs::write(&target, "years of work").unwrap();
        fs::create_dir_all(lab.path(log).parent().unwrap()).unwrap();
        let _ = fs::remove_file(lab.path(log));
        symlink(&target, lab.path(log)).unwrap();
    }
    lab.resume().exits(0);
    for number in 0..logs.len() {
        assert_eq!(fs::read_to_string(lab.path(format!("target-{number}"))).unwrap(), "years of work", "{number}");
    }
    assert!(!lab.path(logs[0]).is_symlink());
}

#[test]
fn a_report_is_not_written_into_a_folder_that_a_link_leads_to() {
    let lab = Lab::new();
    quick(&lab).run().exits(0);
    fs::remove_dir_all(lab.path("results/report")).unwrap();
    fs::create_dir(lab.path("elsewhere")).unwrap();
    symlink(lab.path("elsewhere"), lab.path("results/report")).unwrap();
    lab.run(["report", "results"]).exits(1).says("results/report is a link, or no folder");
    assert_eq!(fs::read_dir(lab.path("elsewhere")).unwrap().count(), 0);
}

#[test]
fn a_fifo_in_a_results_folder_is_an_error_that_names_it() {
    let lab = Lab::new();
    quick(&lab).run().exits(0);
    let trial = "results/trials/0002-lmdb-readrandom-1r0w";
    for name in ["series.csv", "resources.csv", "latency.hlog", "result.json"].map(|name| format!("{trial}/{name}")) {
        let content = fs::read(lab.path(&name)).unwrap();
        fs::remove_file(lab.path(&name)).unwrap();
        fifo(&lab.path(&name));
        lab.run(["report", "results"]).exits(2).says(&format!("{name} is damaged: it is not a regular file"));
        fs::remove_file(lab.path(&name)).unwrap();
        fs::write(lab.path(&name), content).unwrap();
    }
    lab.run(["report", "results"]).exits(0);
}

// ---- what only looks like kvdyno's

/// Four of each kind, made by somebody else in every likeness of kvdyno's.
struct Lookalikes {
    bases: Vec<PathBuf>,
    points: Vec<PathBuf>,
    devices: Vec<LoopDevice>,
    groups: Vec<PathBuf>,
    processes: Vec<Child>,
    links: Vec<PathBuf>,
}

impl Lookalikes {
    fn new(lab: &Lab, owner: Option<u32>) -> Lookalikes {
        let mut new = Lookalikes {
            bases: Vec::new(),
            points: Vec::new(),
            devices: Vec::new(),
            groups: Vec::new(),
            processes: Vec::new(),
            links: Vec::new(),
        };
        for number in 0..4 {
            let base = lab.path("").canonicalize().unwrap().join(format!("kvdyno-results-{number}"));
            let folder = base.join("data");
            fs::create_dir_all(folder.join("database")).unwrap();
            fs::write(folder.join("database/thesis.tex"), "years of work").unwrap();
            // Whoever waits for a writer of it waits for ever.
            fifo(&base.join(".lock"));
            let point = folder.join("kvdyno-storage");
            fs::create_dir(&point).unwrap();
            runs("mount", &["-t", "tmpfs", "none", point.to_str().unwrap()]);
            fs::write(point.join("thesis.tex"), "years of work").unwrap();
            let name = format!("kvdyno-results-{number}/data/kvdyno-data.img");
            new.devices.push(LoopDevice::new(lab, &name, 1));
            // No other test has a group of this name, in this program or in another that runs now.
            let own = lab.path("").file_name().unwrap().to_string_lossy().into_owned();
            let group = memory_groups().join(format!("kvdyno-{}{own}-{number}", std::process::id()));
            fs::create_dir(&group).unwrap();
            let mut sleep = Command::new("sleep");
            if let Some(owner) = owner {
                sleep.uid(owner).gid(owner);
            }
            let sleeper = sleep.arg("1000").spawn().unwrap();
            fs::write(group.join("cgroup.procs"), sleeper.id().to_string()).unwrap();
            let link = base.join("kvdyno-link");
            symlink(lab.path(format!("kvdyno-results-{number}/data/database/thesis.tex")), &link).unwrap();
            for mine in [&base, &folder, &folder.join("database"), &point, &group, &base.join(".lock"), &link] {
                lchown(mine, owner, owner).unwrap();
            }
            new.bases.push(base);
            new.points.push(point);
            new.groups.push(group);
            new.processes.push(sleeper);
            new.links.push(link);
        }
        new
    }

    /// How many of the twenty are gone, or not what they were.
    fn harmed(&mut self) -> usize {
        let is_intact = |path: PathBuf| fs::read_to_string(path).is_ok_and(|text| text == "years of work");
        let bases = self.bases.iter().filter(|base| !is_intact(base.join("data/database/thesis.tex"))).count();
        let mounts = self.points.iter().filter(|point| !is_intact(point.join("thesis.tex"))).count();
        let devices = self.devices.iter().filter(|device| !device.is_bound()).count();
        let ended = self.processes.iter_mut().map(|process| process.try_wait().unwrap().is_some());
        let groups = self.groups.iter().zip(ended).filter(|(group, ended)| *ended || !group.is_dir()).count();
        let links = self.links.iter().filter(|link| !is_intact(link.to_path_buf())).count();
        bases + mounts + devices + groups + links
    }
}

impl Drop for Lookalikes {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
        for point in &self.points {
            let _ = Command::new("umount").arg(point).status();
        }
        for group in &self.groups {
            let since = std::time::Instant::now();
            // Processes that were killed leave it a little later.
            while fs::remove_dir(group).is_err() && group.is_dir() && since.elapsed().as_secs() < 10 {
                std::thread::yield_now();
            }
        }
    }
}

fn runs(program: &str, arguments: &[&str]) {
    assert!(Command::new(program).args(arguments).status().unwrap().success(), "{program} {arguments:?}");
}

/// The hierarchy in which kvdyno makes groups.
fn memory_groups() -> PathBuf {
    let one = PathBuf::from("/sys/fs/cgroup/memory");
    if one.is_dir() { one } else { "/sys/fs/cgroup".into() }
}

#[test]
fn of_twenty_things_that_look_like_kvdynos_none_is_removed_or_written_through() {
    none_is_harmed(None);
}

#[test]
fn nor_of_twenty_that_another_user_has() {
    none_is_harmed(Some(NOBODY));
}

/// Twenty things that are root's, or another's as far as he may have them.
fn none_is_harmed(owner: Option<u32>) {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    let mut lookalikes = Lookalikes::new(&lab, owner);
    let cleaned = lab.run(["clean"]);
    assert_eq!(lookalikes.harmed(), 0, "{}", cleaned.stdout);
    for point in &lookalikes.points {
        let (point, register) = (point.display(), lab.register());
        let line = format!("left the mount at {point}: no register in {} has it", register.display());
        assert!(cleaned.stdout.contains(&line), "{}", cleaned.stdout);
    }
    // Nor by a run in the midst of them.
    let text = "storage = \"ext4\"\nstorage_size = \"128MiB\"\nmemory = \"128MiB\"";
    let ran = on_storage(&lab, text).ends();
    ran.exits(0);
    // A user without rights is told the same, and need not wait for it: he may look at each thing, and do nothing.
    let begun = Instant::now();
    let said = as_nobody(&lab, "clean");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?} for {said}", begun.elapsed());
    assert!(said.contains(&format!("left the control group {}", lookalikes.groups[0].display())), "{said}");
    assert_eq!(lookalikes.harmed(), 0);
}

/// A short experiment in an environment that is made for it.
fn on_storage(lab: &Lab, environment: &str) -> RunningKvdyno {
    let text = format!(
        "engines = [\"lmdb\"]\n[environment]\n{environment}\n[data]\nrecords = 5000\n[[run]]\nworkload = \
         \"readrandom\"\nreaders = [1]\nduration = \"1s\"\nwarmup = \"0s\"\n[lab]\nmin_free = \"16MiB\"\n"
    );
    lab.write("experiment.toml", &text).start(["run", "experiment.toml", "--out", "results"])
}

/// The words of a copy of the program to a user who may do nothing.
fn as_nobody(lab: &Lab, argument: &str) -> String {
    fs::set_permissions(lab.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(copy(lab, "program"));
    command.current_dir("/").arg(argument).uid(NOBODY).gid(NOBODY).env("KVDYNO_REGISTER", lab.path("his-register"));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn copy(lab: &Lab, name: &str) -> PathBuf {
    fs::copy(env!("CARGO_BIN_EXE_kvdyno"), lab.path(name)).unwrap();
    lab.path(name)
}

// ---- runs in progress, and those that were killed

#[test]
fn a_program_of_another_name_leaves_a_living_run_alone() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    let copied = copy(&lab, "kvdyno-new");
    let running = on_storage(&lab, "storage = \"ext4\"\nstorage_size = \"128MiB\"\nmemory = \"128MiB\"");
    let running = running.has_records(1).has_a_worker();
    let cleaned = Command::new(copied).arg("clean").env("KVDYNO_REGISTER", lab.register()).output().unwrap();
    let said = String::from_utf8_lossy(&cleaned.stdout).into_owned();
    assert!(said.contains(&format!("process {} works with it", running.pid())), "{said}");
    running.ends().exits(0).is_clean();
}

/// The workers are the program that began the run, whatever bears its name by now.
#[test]
fn a_program_that_is_replaced_in_the_middle_of_a_run_goes_on() {
    let comparison = quick(&Lab::new()).milliseconds(300);
    let lab = comparison.lab().clone();
    let program = copy(&lab, "program");
    let command = comparison.command();
    let mut copied = Command::new(&program);
    copied.args(command.get_args()).current_dir(lab.path(""));
    for (name, value) in command.get_envs() {
        value.map(|value| copied.env(name, value));
    }
    let running = RunningKvdyno::start(lab.clone(), copied).has_records(1);
    fs::write(lab.path("other"), "#!/bin/false\n").unwrap();
    fs::rename(lab.path("other"), &program).unwrap();
    let ran = running.ends();
    ran.exits(0).is_clean();
    assert_eq!(ran.all_finished("lmdb").results().len(), 3);
}

/// The register says what was made at a point, and that is not what somebody mounted over it.
#[test]
fn a_filesystem_that_somebody_mounted_over_that_of_a_killed_run_stays() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    on_storage(&lab, "storage = \"ext4\"\nstorage_size = \"128MiB\"").has_a_worker().killed();
    let mounts = lab.mounts_and_loops();
    let made = mounts.iter().find(|line| line.contains(" - ext4 ")).unwrap_or_else(|| panic!("{mounts:?}"));
    let point = PathBuf::from(made.split(' ').nth(4).unwrap());
    runs("mount", &["-t", "tmpfs", "none", point.to_str().unwrap()]);
    fs::write(point.join("thesis.tex"), "years of work").unwrap();
    let cleaned = lab.run(["clean"]);
    assert_eq!(fs::read_to_string(point.join("thesis.tex")).unwrap(), "years of work", "{}", cleaned.stdout);
    runs("umount", &[point.to_str().unwrap()]);
    lab.run(["clean"]).exits(0);
    lab.has_given_back();
}

#[test]
fn a_filesystem_that_somebody_mounted_in_a_database_folder_is_not_emptied() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    cut_short(&lab);
    let slot = fs::read_dir(lab.only_base("storage")).unwrap().flatten().map(|entry| entry.path());
    let point = slot.into_iter().find(|path| path.is_dir()).unwrap().canonicalize().unwrap().join("mine");
    fs::create_dir(&point).unwrap();
    runs("mount", &["-t", "tmpfs", "none", point.to_str().unwrap()]);
    fs::write(point.join("thesis.tex"), "years of work").unwrap();
    // Without the result of its load the database is made anew.
    fs::remove_file(lab.path("results/trials/0001-lmdb-load/result.json")).unwrap();
    let ran: Ran = lab.resume();
    let text = fs::read_to_string(point.join("thesis.tex"));
    runs("umount", &[point.to_str().unwrap()]);
    assert_eq!(text.unwrap(), "years of work");
    ran.exits(1).says("a filesystem is mounted in");
}
