//! Helper processes: an ignored test of the same binary, started as a process of its own.

// Each test binary uses some of this.
#![allow(dead_code)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const ARGUMENT: &str = "KVDYNO_HELPER";

/// Longer than anything takes.
pub const LONG: Duration = Duration::from_secs(60);

/// A process that runs one ignored test. Dropping it kills it.
pub struct HelperProcess {
    pub process: Child,
    lines: Receiver<String>,
}

/// Starts the ignored test `test` with `argument`; `prepare` may change the command first.
pub fn start(test: &str, argument: &str, prepare: impl FnOnce(&mut Command)) -> HelperProcess {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]).env(ARGUMENT, argument).stdout(Stdio::piped());
    prepare(&mut command);
    let mut process = command.spawn().unwrap();
    let out = BufReader::new(process.stdout.take().unwrap());
    let (said, lines) = channel();
    // It ends with the helper, or with whoever listens to it.
    std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| said.send(line)));
    HelperProcess { process, lines }
}

/// The argument, if this process was started as a helper.
pub fn argument() -> Option<String> {
    std::env::var(ARGUMENT).ok()
}

/// Tells the test that started this helper a word with its value.
pub fn say(word: &str, value: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{word}={value}").unwrap();
}

impl HelperProcess {
    /// The value that the helper says for `word`, skipping everything before.
    pub fn hear(&mut self, word: &str) -> String {
        let until = Instant::now() + LONG;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|why| panic!("the helper did not say {word}: {why}"));
            if let Some(value) = line.strip_prefix(word).and_then(|rest| rest.strip_prefix('=')) {
                return value.to_owned();
            }
        }
    }
}

impl Drop for HelperProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Whether the process is gone, or a zombie that nobody has reaped yet.
pub fn is_dead(pid: &str) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.rsplit(')').next().unwrap().trim_start().starts_with(['Z', 'X']),
        Err(_) => true,
    }
}

pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < LONG, "still not so: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
