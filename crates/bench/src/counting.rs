//! Instructions of an operation, in user space.
//!
//! A program is run twice, with fewer and with more operations: the difference is the operations' alone. The counter is
//! the processor's where the kernel offers it (`perf stat -e instructions:u`), otherwise valgrind's; the two agree but
//! for the variants of libc's functions that each processor gets.

use std::fmt;
use std::path::Path;
use std::process::{Command, Output};

use crate::BenchError;

/// The means of counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// The processor.
    Perf,
    /// valgrind, instruction by instruction: slow, and repeatable to the last one.
    Valgrind,
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Counter::Perf => "perf stat -e instructions:u",
            Counter::Valgrind => "valgrind --tool=callgrind",
        })
    }
}

/// Instructions of the same work: the bare loop's and ours.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    pub bare: f64,
    pub ours: f64,
}

impl Beside {
    /// The instructions that ours has more.
    pub fn above(&self) -> f64 {
        self.ours - self.bare
    }

    /// Ours over the bare loop's.
    pub fn ratio(&self) -> f64 {
        self.ours / self.bare
    }
}

/// A program whose cost is a matter of how many operations it is asked for.
pub trait Countable {
    /// The program, asked for so many operations.
    fn command(&self, operations: u64) -> Command;
}

impl Counter {
    /// The best there is here.
    pub fn choose() -> Counter {
        let mut probe = Command::new("true");
        match perf(&mut probe) {
            Ok(_) => Counter::Perf,
            Err(_) => Counter::Valgrind,
        }
    }

    /// Instructions of one operation.
    pub fn per_operation(self, program: &dyn Countable) -> Result<f64, BenchError> {
        let (few, many) = match self {
            Counter::Perf => (200_000, 1_200_000),
            Counter::Valgrind => (10_000, 60_000),
        };
        let count = |operations| match self {
            Counter::Perf => perf(&mut program.command(operations)),
            Counter::Valgrind => valgrind(&mut program.command(operations)),
        };
        Ok((count(many)? as f64 - count(few)? as f64) / (many - few) as f64)
    }
}

/// `wrapper` before the program of `command`.
fn wrapped(wrapper: &str, arguments: &[&str], command: &Command) -> Command {
    let mut wrapped = Command::new(wrapper);
    wrapped.args(arguments).arg(command.get_program()).args(command.get_args());
    wrapped
}

fn perf(command: &mut Command) -> Result<u64, BenchError> {
    let mut command = wrapped("perf", &["stat", "-x", ",", "-e", "instructions:u"], command);
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = text.lines().find(|line| line.contains("instructions:u")).unwrap_or_default();
    match (output.status.success(), line.split(',').next().and_then(|count| count.parse().ok())) {
        (true, Some(count)) => Ok(count),
        _ => Err(BenchError::Program(format!("perf stat: {}", text.trim()))),
    }
}

fn valgrind(command: &mut Command) -> Result<u64, BenchError> {
    let arguments = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let output = wrapped("valgrind", &arguments, command).output()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let total = text.lines().find_map(|line| line.split("refs:").nth(1).map(|count| count.trim().replace(',', "")));
    match (output.status.success(), total.and_then(|count| count.parse().ok())) {
        (true, Some(count)) => Ok(count),
        _ => Err(BenchError::Program(format!("valgrind: {}", text.trim()))),
    }
}

/// Index of the first figure that a program prints: nanoseconds for an operation.
pub const NANOSECONDS: usize = 0;
/// Index of the third one, of programs that can run beside another: nanoseconds of processor time for an operation.
pub const CPU_NANOSECONDS: usize = 2;

/// Nanoseconds for an operation.
pub fn nanoseconds(command: &mut Command) -> Result<f64, BenchError> {
    let output = command.output()?;
    figure(command, &output, NANOSECONDS)
}

/// The figure at `index` of those that `command` printed.
pub fn figure(command: &Command, output: &Output, index: usize) -> Result<f64, BenchError> {
    let text = String::from_utf8_lossy(&output.stdout);
    match (output.status.success(), text.split_whitespace().nth(index).and_then(|figure| figure.parse().ok())) {
        (true, Some(figure)) => Ok(figure),
        _ => {
            let program = Path::new(command.get_program()).display();
            Err(BenchError::Program(format!("{program}: {text}{}", String::from_utf8_lossy(&output.stderr))))
        }
    }
}
