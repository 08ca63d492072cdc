//! Commands under way, and what they must not leave behind.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Comparison, Lab, Ran};

/// No command of a test takes so long, on the slowest machine.
const LONG: Duration = Duration::from_secs(600);

/// No condition of a test takes so long to come about, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A time in which nothing happens only in an engine that hangs: beside other suites a sound one may wait seconds for
/// its disk. Who waits for it waits for many engines at once: [`side_by_side`].
pub const HANG: &str = "30s";

/// A limit that nothing exceeds within [`LONG`].
pub const NEVER: &str = "1h";

/// Runs all of them at the same time, each in a lab of its own.
pub fn side_by_side<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> Vec<Ran> {
    let running: Vec<RunningKvdyno> = comparisons.into_iter().map(Comparison::start).collect();
    running.into_iter().map(RunningKvdyno::ends).collect()
}

/// A command under way.
pub struct RunningKvdyno {
    lab: Lab,
    child: Child,
    out: File,
    err: File,
}

impl RunningKvdyno {
    pub fn start(lab: Lab, mut command: Command) -> RunningKvdyno {
        let (out, err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        command.stdin(Stdio::null()).stdout(out.try_clone().unwrap()).stderr(err.try_clone().unwrap());
        RunningKvdyno { lab, child: command.spawn().unwrap(), out, err }
    }

    /// Where it runs.
    pub fn lab(&self) -> &Lab {
        &self.lab
    }

    /// Its process number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end, but not for ever.
    pub fn ends(mut self) -> Ran {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(since.elapsed() < LONG, "kvdyno does not end; so far it said: {}", text(&mut self.err));
            sleep(Duration::from_millis(5));
        };
        let (stdout, stderr) = (text(&mut self.out), text(&mut self.err));
        Ran { lab: self.lab.clone(), status, stdout, stderr }
    }

    /// Waits until so many trials have ended.
    pub fn has_records(self, count: usize) -> Self {
        eventually(&format!("{count} records"), || self.lab.result_files().len() >= count);
        self
    }

    /// Waits until it has said what it will do: from then on it can be resumed.
    pub fn has_begun(self) -> Self {
        eventually("experiment.toml", || self.lab.folder().experiment_file().is_file());
        self
    }

    /// Waits until a worker is at work, and not one that reads back what another has written.
    pub fn has_a_worker(self) -> Self {
        eventually("a worker", || self.lab.clients().iter().any(|line| !line.contains(" --audit ")));
        self
    }

    /// Lets some time pass.
    pub fn after(self, milliseconds: u64) -> Self {
        sleep(Duration::from_millis(milliseconds));
        self
    }

    /// SIGKILL: it cannot do anything about it.
    pub fn killed(mut self) -> Ran {
        self.child.kill().unwrap();
        self.ends()
    }

    /// SIGSTOP: it stays as it is until it is [continued](RunningKvdyno::continued).
    pub fn stopped(self) -> Self {
        kill_process(Pid::from_child(&self.child), Signal::STOP).unwrap();
        self
    }

    /// SIGCONT.
    pub fn continued(self) -> Self {
        kill_process(Pid::from_child(&self.child), Signal::CONT).unwrap();
        self
    }

    /// SIGTERM to its workers and then to itself, as by a scheduler that ends a job. What it sees first is settled: it
    /// stands still meanwhile.
    pub fn ended_with_its_workers(self) -> Self {
        let stopped = self.stopped();
        for pid in stopped.lab().worker_pids() {
            kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
        }
        kill_process(Pid::from_child(&stopped.child), Signal::TERM).unwrap();
        stopped.continued()
    }

    /// SIGINT, as by Ctrl-C.
    pub fn interrupted(self) -> Self {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        self
    }
}

impl Drop for RunningKvdyno {
    fn drop(&mut self) {
        // It may have ended long ago.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Lab {
    /// ClientKind of this lab that live, by their command lines.
    pub fn clients(&self) -> Vec<String> {
        self.worker_processes().into_iter().map(|(_, line)| line).collect()
    }

    /// The same, by their numbers.
    pub fn worker_pids(&self) -> Vec<i32> {
        self.worker_processes().into_iter().map(|(pid, _)| pid).collect()
    }

    fn worker_processes(&self) -> Vec<(i32, String)> {
        let home = self.path("").canonicalize().unwrap().join("");
        let of_this_lab = |line: &str| line.contains("worker") && line.contains(&*home.to_string_lossy());
        let process = |entry: fs::DirEntry| {
            let line = String::from_utf8_lossy(&fs::read(entry.path().join("cmdline")).ok()?).replace('\0', " ");
            Some((entry.file_name().to_str()?.parse().ok()?, line))
        };
        let processes = fs::read_dir("/proc").unwrap().flatten().filter_map(process);
        processes.filter(|(_, line)| of_this_lab(line)).collect()
    }

    /// Processes that have this lab as their current folder or a part of it, or name it, but for `kvdyno` commands of
    /// the test's own: by their numbers.
    pub fn processes(&self) -> Vec<i32> {
        let home = self.path("").canonicalize().unwrap();
        let home = home.to_string_lossy();
        let is_here = |entry: &fs::DirEntry| {
            let folder =
                fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.to_string_lossy().starts_with(&*home));
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            folder || String::from_utf8_lossy(&line).contains(&*home)
        };
        let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
        fs::read_dir("/proc").unwrap().flatten().filter(is_here).filter_map(number).collect()
    }

    /// Nothing at all outlives the command.
    pub fn has_no_processes(&self) -> &Self {
        eventually("the end of all processes", || self.processes().is_empty());
        self
    }

    /// No worker outlives the run that started it.
    pub fn has_no_workers(&self) -> &Self {
        eventually("the end of all clients", || self.clients().is_empty());
        self
    }
}

/// Waits until `is_so`, with patience.
pub fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < PATIENCE, "waited in vain for {what}");
        sleep(Duration::from_millis(1));
    }
}

fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}
