//! Instructions of an operation, in user space.
//!
//! A program is run twice, with fewer and with more operations: the difference is the operations' alone. The counter is
//! the processor's where the kernel offers it (`perf stat -e instructions:u`), otherwise valgrind's; the two agree but
//! for the variants of libc's functions that each processor gets.

use std::fmt;
use std::io;
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

impl Counter {
    /// The best there is here.
    pub fn choose() -> Counter {
        match counted(Counter::Perf, &Command::new("true")) {
            Ok(_) => Counter::Perf,
            Err(_) => Counter::Valgrind,
        }
    }

    /// Instructions of one operation of a program, which is given how many it is to do.
    pub fn per_operation(self, program: impl Fn(u64) -> io::Result<Command>) -> Result<f64, BenchError> {
        let (few, many) = match self {
            Counter::Perf => (200_000, 1_200_000),
            Counter::Valgrind => (10_000, 60_000),
        };
        let count = |operations| counted(self, &program(operations)?);
        Ok((count(many)? as f64 - count(few)? as f64) / (many - few) as f64)
    }
}

/// The instructions of a program, which stand in a line of what `counter` says after it.
fn counted(counter: Counter, command: &Command) -> Result<u64, BenchError> {
    let (wrapper, arguments): (_, &[&str]) = match counter {
        Counter::Perf => ("perf", &["stat", "-x", ",", "-e", "instructions:u"]),
        Counter::Valgrind => ("valgrind", &["--tool=callgrind", "--callgrind-out-file=/dev/null"]),
    };
    let program = [command.get_program()].into_iter().chain(command.get_args());
    let output = Command::new(wrapper).args(arguments).args(program).output()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let count = text.lines().find_map(|line| match counter {
        Counter::Perf => line.split(',').next().filter(|_| line.contains("instructions:u"))?.parse().ok(),
        Counter::Valgrind => line.split("refs:").nth(1)?.trim().replace(',', "").parse().ok(),
    });
    match (output.status.success(), count) {
        (true, Some(count)) => Ok(count),
        _ => Err(BenchError::Program(format!("{wrapper}: {}", text.trim()))),
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
