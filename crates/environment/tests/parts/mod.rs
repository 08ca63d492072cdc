//! Parts that other processes play: an ignored test of the same binary, started as a process of its own.

// Each test binary uses some of this.
#![allow(dead_code)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const PART: &str = "KVDYNO_PART";

/// Longer than anything takes.
pub const LONG: Duration = Duration::from_secs(60);

/// A process that plays a part. Dropping it kills it.
pub struct Player {
    pub process: Child,
    lines: BufReader<ChildStdout>,
}

/// Starts the ignored test `part` with `argument`; `prepare` may change the command first.
pub fn start(part: &str, argument: &str, prepare: impl FnOnce(&mut Command)) -> Player {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", part, "--ignored", "--nocapture"]).env(PART, argument).stdout(Stdio::piped());
    prepare(&mut command);
    let mut process = command.spawn().unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap());
    Player { process, lines }
}

/// The argument, if this process was started to play a part.
pub fn argument() -> Option<String> {
    std::env::var(PART).ok()
}

/// What a player says.
pub fn say(word: &str, value: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{word}={value}").unwrap();
}

impl Player {
    /// The value that the player says for `word`, skipping everything before.
    pub fn hear(&mut self, word: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.lines.read_line(&mut line).unwrap(), 0, "the player ended without saying {word}");
            if let Some(value) = line.trim_end().strip_prefix(word).and_then(|rest| rest.strip_prefix('=')) {
                return value.to_owned();
            }
        }
    }
}

impl Drop for Player {
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
