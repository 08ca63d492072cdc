//! Samples of call stacks of processes, which `perf` takes, and the flame graph that they make.
//!
//! Samples are of CPU time: time in which a process sleeps or waits has none. Stacks are unwound by debugging data, so
//! engines without frame pointers have theirs.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::process::{Child, Command, Stdio};
use std::str;

use inferno::collapse::Collapse;
use inferno::collapse::perf::Folder;
use inferno::flamegraph;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process};

/// The most samples of a thread a second. Not a divisor of the kernel's ticks, so that no work that goes with them is
/// sampled always or never.
const MOST_PER_S: u32 = 99;
/// Samples of all clients together beyond which they become fewer a second, and bytes beyond which there are no more: a
/// sample takes a little more than [`STACK_BYTES`], and the engine's own threads have some, too.
const MOST_SAMPLES: f64 = 20_000.0;
const MOST_BYTES: &str = "512M";
/// Bytes of each stack that are kept for unwinding.
const STACK_BYTES: u32 = 8192;
/// Memory for samples of each processor: a part of what the kernel lets a user lock, so that there can be several.
const BUFFER: &str = "128K";
/// The event that is sampled: it needs no counter of the processor's, which virtual machines often lack.
const EVENT: &str = "cpu-clock";
/// Its name where the kernel allows samples of user time alone.
const USER_EVENT: &[u8] = b"cpu-clock:u";

/// Processes whose stacks are being sampled. It ends with them, or is told to.
#[derive(Debug)]
pub struct Profiler {
    perf: Child,
    /// In memory: the storage is the engines'.
    samples: File,
    /// Samples of a thread a second.
    per_s: u32,
}

/// The flame graph of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlameGraph {
    /// An SVG that can be searched and zoomed by its own script.
    pub svg: Vec<u8>,
    /// Samples that it has.
    pub samples: u64,
    /// Samples of a thread a second of CPU time.
    pub per_s: u32,
    /// Whether the kernel's part is absent, because this user may not see it.
    pub user_only: bool,
}

/// Folded stacks: a line for each, with its samples.
#[derive(Debug, PartialEq, Eq)]
struct FoldedStacks {
    lines: Vec<u8>,
    user_only: bool,
}

/// Why no stacks can be sampled here; `None` if they can.
pub fn obstacle() -> Option<String> {
    let mut perf = Command::new("perf");
    perf.args(["record", "--quiet", "-e", EVENT, "-o", "/dev/null", "--", "true"]);
    match perf.stdin(Stdio::null()).output() {
        Err(cause) => Some(format!(
            "perf cannot be run: {cause}; it is in the package linux-perf or linux-tools of most distributions"
        )),
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(refusal(&output.stderr)),
    }
}

/// The refusal in what `perf` said.
fn refusal(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    match said.contains("perf_event_paranoid") && !level.is_empty() {
        true => format!("kernel.perf_event_paranoid = {} does not allow it", level.trim()),
        false => format!("perf cannot sample: {}", first_line(&said)),
    }
}

impl Profiler {
    /// Begins to sample the threads of processes, of which about `threads` work for `seconds`.
    ///
    /// # Errors
    /// If `perf` cannot be started.
    pub fn start(pids: &[u32], (threads, seconds): (u32, f64)) -> io::Result<Profiler> {
        let per_s = per_s(threads, seconds);
        let samples = File::from(memfd_create("kvdyno-samples", MemfdFlags::CLOEXEC)?);
        let pids = pids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let mut perf = Command::new("perf");
        // Without `-B` and `-N` it would search all files for their build and keep copies of them.
        perf.args(["record", "--quiet", "-B", "-N", "-m", BUFFER, "--max-size", MOST_BYTES]);
        perf.args(["-e", EVENT, "-F", &per_s.to_string(), "--call-graph", &format!("dwarf,{STACK_BYTES}")]);
        perf.args(["-p", &pids, "-o", "-"]);
        perf.stdin(Stdio::null()).stdout(samples.try_clone()?).stderr(Stdio::piped());
        Ok(Profiler { perf: perf.spawn()?, samples, per_s })
    }

    /// The process that samples.
    pub fn pid(&self) -> u32 {
        self.perf.id()
    }

    /// Tells it to sample no more. It may have ended with the processes.
    pub fn stop(&mut self) {
        // Once it was waited for, its number may be another's.
        if let (Ok(None), Some(pid)) = (self.perf.try_wait(), Pid::from_raw(self.perf.id() as i32)) {
            let _ = kill_process(pid, Signal::INT);
        }
    }

    /// The flame graph of the samples, with a title. `None` if there are none.
    ///
    /// # Errors
    /// If `perf` failed.
    pub fn finish(mut self, title: &str) -> io::Result<Option<FlameGraph>> {
        self.stop();
        let mut said = Vec::new();
        self.perf.stderr.take().map_or(Ok(0), |mut stderr| stderr.read_to_end(&mut said))?;
        self.perf.wait()?;
        if self.samples.metadata()?.len() == 0 {
            return Err(io::Error::other(refusal(&said)));
        }
        self.samples.rewind()?;
        let stacks = of_samples(self.samples.try_clone()?)?;
        let title = if stacks.user_only { format!("{title}: user time alone") } else { title.to_owned() };
        let graph = drawn(&stacks.lines, &title)?;
        let (per_s, user_only) = (self.per_s, stacks.user_only);
        Ok(graph.map(|(svg, samples)| FlameGraph { svg, samples, per_s, user_only }))
    }
}

impl Drop for Profiler {
    fn drop(&mut self) {
        self.stop();
        // Nobody is left to be told.
        let _ = self.perf.wait();
    }
}

fn per_s(threads: u32, seconds: f64) -> u32 {
    let most = MOST_SAMPLES / (f64::from(threads.max(1)) * seconds.max(1.0));
    (most as u32).clamp(1, MOST_PER_S)
}

/// The stacks of what `perf` sampled.
fn of_samples(samples: File) -> io::Result<FoldedStacks> {
    let mut script = Command::new("perf");
    // Without their periods samples count one each.
    script.args(["script", "--no-inline", "-F", "comm,pid,tid,time,event,ip,sym,dso", "-i", "-"]);
    let mut script = script.stdin(samples).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let empty = FoldedStacks { lines: Vec::new(), user_only: false };
    let stacks = script.stdout.take().map_or(Ok(empty), |stdout| folded(BufReader::new(stdout)));
    let status = script.wait()?;
    let stacks = stacks?;
    match status.success() {
        true => Ok(stacks),
        false => Err(io::Error::other(format!("perf script ended with {status}"))),
    }
}

fn folded(mut script: impl BufRead) -> io::Result<FoldedStacks> {
    // The first sample names the event, and all have the same.
    let user_only = script.fill_buf()?.windows(USER_EVENT.len()).any(|bytes| bytes == USER_EVENT);
    let mut lines = Vec::new();
    Folder::default().collapse(script, &mut lines)?;
    Ok(FoldedStacks { lines, user_only })
}

/// The graph of folded stacks, and its samples.
fn drawn(stacks: &[u8], title: &str) -> io::Result<Option<(Vec<u8>, u64)>> {
    let lines: Vec<&str> = str::from_utf8(stacks).map_err(io::Error::other)?.lines().collect();
    let samples = lines.iter().filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum();
    if samples == 0 {
        return Ok(None);
    }
    let mut options = flamegraph::Options::default();
    options.title = title.to_owned();
    options.deterministic = true;
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, lines, &mut svg)?;
    Ok(Some((svg, samples)))
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty() && *line != "Error:").unwrap_or("it said nothing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_of_many_threads_are_sampled_less_often() {
        assert_eq!(per_s(1, 10.0), 99);
        assert_eq!(per_s(64, 300.0), 1);
        assert_eq!(per_s(8, 100.0), 25);
        assert_eq!(per_s(0, 0.0), 99);
    }

    /// Two samples as `perf script` prints them.
    const SCRIPT: &str = "\
kvdyno 100/101 5.0: cpu-clock:
\t5500 mdb_get+0x10 (/usr/lib/liblmdb.so)
\t5600 main+0x1 (/usr/bin/kvdyno)

kvdyno 100/101 5.1: cpu-clock:
\t5700 mdb_page_search+0x10 (/usr/lib/liblmdb.so)
\t5500 mdb_get+0x12 (/usr/lib/liblmdb.so)
\t5600 main+0x1 (/usr/bin/kvdyno)

";

    #[test]
    fn samples_of_a_script_make_a_graph() {
        let stacks = folded(SCRIPT.as_bytes()).unwrap();
        let lines = "kvdyno;main;mdb_get 1\nkvdyno;main;mdb_get;mdb_page_search 1\n";
        assert_eq!((str::from_utf8(&stacks.lines).unwrap(), stacks.user_only), (lines, false));
        let of_user = folded(SCRIPT.replace("cpu-clock", "cpu-clock:u").as_bytes()).unwrap();
        assert_eq!(of_user, FoldedStacks { user_only: true, ..folded(SCRIPT.as_bytes()).unwrap() });
        let (svg, samples) = drawn(&stacks.lines, "lmdb <1>").unwrap().unwrap();
        let svg = String::from_utf8(svg).unwrap();
        assert_eq!(samples, 2);
        assert!(svg.contains("mdb_page_search (1 samples, 50.00%)") && svg.contains("lmdb &lt;1&gt;"), "{svg}");
    }

    #[test]
    fn no_samples_make_none() {
        assert_eq!(drawn(b"", "nothing").unwrap(), None);
    }

    #[test]
    fn a_refusal_is_told_in_one_line() {
        let words = "Error:\nNo permission to enable cpu-clock event.\n\nkernel.perf_event_paranoid = -1";
        assert!(
            refusal(words.as_bytes()).starts_with("kernel.perf_event_paranoid = "),
            "{}",
            refusal(words.as_bytes())
        );
        assert_eq!(refusal(b"Error:\nno such event\n"), "perf cannot sample: no such event");
        assert_eq!(refusal(b""), "perf cannot sample: it said nothing");
    }
}
