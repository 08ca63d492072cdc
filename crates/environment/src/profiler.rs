//! Samples of call stacks of processes, which `perf` takes, and the flame graph that they make.
//!
//! Samples are of CPU time: time in which a process sleeps or waits has none. Stacks are unwound by debugging data, so
//! engines without frame pointers have theirs.

use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{fs, str};

use inferno::collapse::Collapse;
use inferno::collapse::perf::Folder;
use inferno::flamegraph;
use rustix::process::{Pid, Signal, kill_process};

/// The most samples of a thread a second. Not a divisor of the kernel's ticks, so that no work that goes with them is
/// sampled always or never.
const MOST_PER_S: u32 = 99;
/// Samples of all threads together beyond which they become fewer a second: each takes [`STACK_BYTES`] of the file.
const MOST_SAMPLES: f64 = 20_000.0;
/// Bytes of each stack that are kept for unwinding.
const STACK_BYTES: u32 = 8192;

/// Processes whose stacks are being sampled. It ends with them, or is told to.
#[derive(Debug)]
pub struct Profiler {
    perf: Child,
    samples: PathBuf,
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
}

/// Why no stacks can be sampled here; `None` if they can.
pub fn obstacle() -> Option<String> {
    let mut perf = Command::new("perf");
    perf.args(["record", "--quiet", "-e", "cpu-clock", "-o", "/dev/null", "--", "true"]);
    match perf.stdin(Stdio::null()).output() {
        Err(cause) => Some(format!(
            "perf cannot be run: {cause}; it is in the package linux-perf or linux-tools of most distributions"
        )),
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!("perf cannot sample: {}", last_line(&output.stderr))),
    }
}

impl Profiler {
    /// Begins to sample the threads of processes, of which about `threads` work for `seconds`. Until it has ended the
    /// samples are in a file of this folder.
    ///
    /// # Errors
    /// If `perf` cannot be started.
    pub fn start(pids: &[u32], (threads, seconds): (u32, f64), folder: &Path) -> io::Result<Profiler> {
        let per_s = per_s(threads, seconds);
        let samples = folder.join("perf.data");
        let pids = pids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let stacks = format!("dwarf,{STACK_BYTES}");
        let mut perf = Command::new("perf");
        perf.args(["record", "--quiet", "-e", "cpu-clock", "-F", &per_s.to_string(), "--call-graph", &stacks]);
        perf.args(["-p", &pids, "-o"]).arg(&samples);
        perf.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Ok(Profiler { perf: perf.spawn()?, samples, per_s })
    }

    /// Tells it to sample no more.
    pub fn stop(&self) {
        if let Some(pid) = Pid::from_raw(self.perf.id() as i32) {
            // Until it is waited for its number belongs to nobody else. It may have ended with the processes.
            let _ = kill_process(pid, Signal::INT);
        }
    }

    /// The flame graph of the samples, with a title. `None` if there are none.
    ///
    /// # Errors
    /// If `perf` failed.
    pub fn finish(mut self, title: &str) -> io::Result<Option<FlameGraph>> {
        self.stop();
        let mut errors = Vec::new();
        self.perf.stderr.take().map_or(Ok(0), |mut stderr| stderr.read_to_end(&mut errors))?;
        self.perf.wait()?;
        let graph = match fs::metadata(&self.samples) {
            Ok(file) if file.len() > 0 => flame_graph(&self.samples, title),
            _ => Err(io::Error::other(format!("perf sampled nothing: {}", last_line(&errors)))),
        };
        let removed = fs::remove_file(&self.samples);
        let graph = graph?;
        removed?;
        Ok(graph.map(|(svg, samples)| FlameGraph { svg, samples, per_s: self.per_s }))
    }
}

fn per_s(threads: u32, seconds: f64) -> u32 {
    let most = MOST_SAMPLES / (f64::from(threads.max(1)) * seconds.max(1.0));
    (most as u32).clamp(1, MOST_PER_S)
}

/// The graph of a file of `perf`, and its samples.
fn flame_graph(samples: &Path, title: &str) -> io::Result<Option<(Vec<u8>, u64)>> {
    let mut script = Command::new("perf");
    // Without their periods samples count one each.
    script.args(["script", "--no-inline", "-F", "comm,pid,tid,time,event,ip,sym,dso", "-i"]).arg(samples);
    let mut script = script.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let stacks = script.stdout.take().map_or(Ok(Vec::new()), |stdout| folded(BufReader::new(stdout)));
    let status = script.wait()?;
    let stacks = stacks?;
    if !status.success() {
        return Err(io::Error::other(format!("perf script ended with {status}")));
    }
    drawn(&stacks, title)
}

/// A line for each stack, with its samples.
fn folded(script: impl io::BufRead) -> io::Result<Vec<u8>> {
    let mut stacks = Vec::new();
    Folder::default().collapse(script, &mut stacks)?;
    Ok(stacks)
}

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

fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it said nothing").to_owned()
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
        assert_eq!(str::from_utf8(&stacks).unwrap(), "kvdyno;main;mdb_get 1\nkvdyno;main;mdb_get;mdb_page_search 1\n");
        let (svg, samples) = drawn(&stacks, "lmdb <1>").unwrap().unwrap();
        let svg = String::from_utf8(svg).unwrap();
        assert_eq!(samples, 2);
        assert!(svg.contains("mdb_page_search (1 samples, 50.00%)") && svg.contains("lmdb &lt;1&gt;"), "{svg}");
    }

    #[test]
    fn no_samples_make_none() {
        assert_eq!(drawn(b"", "nothing").unwrap(), None);
    }

    #[test]
    fn the_last_line_tells_why() {
        assert_eq!(last_line(b"one\ntwo \n\n"), "two");
        assert_eq!(last_line(b""), "it said nothing");
    }
}
