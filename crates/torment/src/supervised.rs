//! Inputs that are read in processes of their own, one after the other: a process that dies, hangs or takes too much is
//! the miss of the input that it was at, and the next process goes on behind it.

use std::env;
use std::io::{self, BufReader, Read, Write};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::summary::TormentLine;

/// No input may take longer, twice: a machine that stood still in between is no fault of the input.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// No input may take more memory, KiB.
pub const MOST_KIB: u64 = 512 << 10;
/// After so many misses there is nothing more to learn.
const MOST_MISSES: usize = 20;
/// Inputs between two looks at the memory.
const BETWEEN_LOOKS: u64 = 500;

/// The outcome of the inputs.
#[derive(Default)]
pub struct ReaderOutcome {
    /// How many were read.
    pub done: u64,
    /// The number of those that were taken for sound.
    pub taken: u64,
    /// The most memory of a process, KiB.
    pub peak_kib: u64,
    /// The number of those that were answered in time only when they were read again.
    pub late: u64,
    /// The inputs that were not answered as they must be.
    pub misses: Vec<String>,
}

/// Why a reader was given up.
enum GivenUp {
    /// It told nothing for [`PATIENCE`].
    Silent,
    /// It has so many KiB of memory.
    Memory(u64),
}

impl ReaderOutcome {
    /// Adds another's.
    pub fn add(&mut self, other: ReaderOutcome) {
        self.done += other.done;
        self.taken += other.taken;
        self.peak_kib = self.peak_kib.max(other.peak_kib);
        self.late += other.late;
        self.misses.extend(other.misses);
    }

    /// The line of the summary; `taken` is the word for inputs that were.
    pub fn line(self, what: &str, taken: &str) -> TormentLine {
        let late = if self.late > 0 { format!("; {} answered when read again", self.late) } else { String::new() };
        let (of_all, peak) = (self.taken, self.peak_kib);
        let remark = format!("in processes that read many; {of_all} {taken}, at most {peak} KiB{late}");
        TormentLine { what: what.to_owned(), done: self.done, remark, misses: self.misses }
    }
}

/// The command of a reader, this program's own, of a range of inputs that are made from those in a folder.
///
/// # Errors
/// If the system does not tell where the program is.
pub fn reader(name: &'static str, folder: &Path, seed: u64) -> io::Result<impl Fn(Range<u64>) -> Command + use<>> {
    let (program, folder) = (env::current_exe()?, folder.to_owned());
    Ok(move |range: Range<u64>| {
        let mut command = Command::new(&program);
        command.arg(name).arg(&folder).args([seed, range.start, range.end].map(|number| number.to_string()));
        command
    })
}

/// The reader's side: tells each number before its input is read, and whether the one before was taken.
///
/// # Errors
/// If nobody listens any more.
pub fn tell(numbers: Range<u64>, mut read: impl FnMut(u64) -> io::Result<bool>) -> io::Result<()> {
    let mut out = io::stdout();
    let mut taken = false;
    let end = numbers.end;
    for number in numbers {
        say(&mut out, number, taken)?;
        taken = read(number)?;
    }
    say(&mut out, end, taken)?;
    // So that the parent can look at the memory of all of them.
    io::stdin().read_to_end(&mut Vec::new()).map(drop)
}

fn say(out: &mut io::Stdout, number: u64, taken: bool) -> io::Result<()> {
    let mut message = [u8::from(taken); 9];
    message[..8].copy_from_slice(&number.to_le_bytes());
    out.write_all(&message)?;
    out.flush()
}

/// Readers at a time.
const READERS: u64 = 2;

/// Lets processes read the numbers below `count`, some at a time. Each is started by the command that `command` gives.
///
/// # Errors
/// If no process can be started.
pub fn supervise_all<C>(count: u64, command: impl Fn() -> io::Result<C>) -> io::Result<ReaderOutcome>
where
    C: Fn(Range<u64>) -> Command + Send + 'static,
{
    let share = count.div_ceil(READERS);
    let numbers = |reader: u64| (reader * share).min(count)..((reader + 1) * share).min(count);
    let begin = |reader| {
        let (numbers, command) = (numbers(reader), command()?);
        Ok(thread::spawn(move || supervise(numbers, command)))
    };
    let readers = (0..READERS).map(begin).collect::<io::Result<Vec<_>>>()?;
    let mut outcome = ReaderOutcome::default();
    for reader in readers {
        outcome.add(reader.join().map_err(|_| io::Error::other("a thread panicked"))??);
    }
    Ok(outcome)
}

/// Lets processes read `numbers`, each of which `command` starts for a range.
fn supervise(numbers: Range<u64>, command: impl Fn(Range<u64>) -> Command) -> io::Result<ReaderOutcome> {
    let mut outcome = ReaderOutcome::default();
    let mut from = numbers.start;
    // The input that gave no answer in time, and is read again.
    let mut silent = None;
    while from < numbers.end && outcome.misses.len() < MOST_MISSES {
        let mut child =
            command(from..numbers.end).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let last = watch(&mut child, (from, numbers.end), &mut outcome);
        let words = end(child)?;
        match last {
            Ok(number) if number == numbers.end => from = number,
            Ok(number) => {
                outcome.misses.push(format!("input {number}: {words}"));
                from = number + 1;
            }
            Err((number, GivenUp::Silent)) if silent != Some(number) => {
                silent = Some(number);
                outcome.late += 1;
                from = number;
            }
            Err((number, given_up)) => {
                let why = match given_up {
                    GivenUp::Silent => format!("no answer in {} s, twice", PATIENCE.as_secs()),
                    GivenUp::Memory(kib) => format!("{kib} KiB of memory, in the {BETWEEN_LOOKS} before it"),
                };
                if matches!(given_up, GivenUp::Silent) {
                    outcome.late -= 1;
                    outcome.done += 1;
                }
                outcome.misses.push(format!("input {number}: {why}"));
                from = number + 1;
            }
        }
    }
    Ok(outcome)
}

/// Follows a process: the number that it told last, or why it was given up at one.
fn watch(child: &mut Child, (from, end): (u64, u64), outcome: &mut ReaderOutcome) -> Result<u64, (u64, GivenUp)> {
    let told = child.stdout.take().map(listen);
    let told = told.unwrap_or_else(|| channel().1);
    let (mut last, mut is_counted) = (from, false);
    loop {
        match told.recv_timeout(PATIENCE) {
            Ok((number, taken)) => {
                (last, is_counted) = (number, true);
                outcome.taken += u64::from(taken);
                outcome.done += 1;
                if number.is_multiple_of(BETWEEN_LOOKS) || number == end {
                    let kib = peak_kib(child.id());
                    outcome.peak_kib = outcome.peak_kib.max(kib);
                    if kib > MOST_KIB {
                        return Err((number, GivenUp::Memory(kib)));
                    }
                }
                if number == end {
                    // The message at the end is of no input.
                    outcome.done -= 1;
                    return Ok(end);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(last),
            Err(RecvTimeoutError::Timeout) => {
                // It is counted when it is read again, or given up.
                outcome.done -= u64::from(is_counted);
                return Err((last, GivenUp::Silent));
            }
        }
    }
}

fn listen(out: ChildStdout) -> Receiver<(u64, bool)> {
    let (sender, told) = channel();
    thread::spawn(move || {
        let mut out = BufReader::new(out);
        let mut message = [0; 9];
        while out.read_exact(&mut message).is_ok() {
            let mut number = [0; 8];
            number.copy_from_slice(&message[..8]);
            if sender.send((u64::from_le_bytes(number), message[8] != 0)).is_err() {
                break;
            }
        }
    });
    told
}

/// Ends a process; how it ended and what it said last.
fn end(mut child: Child) -> io::Result<String> {
    drop(child.stdin.take());
    // One that waits for the end of its input ends by itself; one that hangs does not.
    let _ = rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::TERM);
    let mut said = String::new();
    if let Some(mut err) = child.stderr.take() {
        err.read_to_string(&mut said)?;
    }
    let status = child.wait()?;
    let first = said.lines().filter(|line| !line.is_empty()).take(2).collect::<Vec<_>>().join(": ");
    Ok(format!("{status}: {first}"))
}

/// The most memory that a process ever had, KiB; 0 if it is gone.
fn peak_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A reader that tells a number and does what `then` says.
    fn reader(number: u8, then: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("printf '\\{number:03o}\\0\\0\\0\\0\\0\\0\\0\\0'; {then}")]);
        command
    }

    #[test]
    fn a_reader_that_dies_is_the_miss_of_its_input() {
        let outcome = supervise(5..6, |_| reader(5, "echo so it was >&2; exit 101")).unwrap();
        assert_eq!(outcome.misses, ["input 5: exit status: 101: so it was"]);
        let outcome = supervise(5..6, |_| reader(5, "kill -SEGV $$")).unwrap();
        assert!(outcome.misses[0].starts_with("input 5: signal: 11"), "{:?}", outcome.misses);
    }

    #[test]
    fn an_input_without_an_answer_is_read_again() {
        let starts = Cell::new(0);
        let hangs_for = |times: u32| {
            starts.set(0);
            supervise(5..6, |_| {
                starts.set(starts.get() + 1);
                if starts.get() <= times { reader(5, "exec sleep 1000") } else { reader(6, "cat") }
            })
            .unwrap()
        };
        let once = hangs_for(1);
        assert_eq!((once.late, once.misses.len(), starts.get()), (1, 0, 2));
        let always = hangs_for(9);
        assert_eq!((always.late, always.misses.as_slice()), (0, &["input 5: no answer in 10 s, twice".to_owned()][..]));
    }

    #[test]
    fn after_a_miss_the_next_reader_goes_on_behind_it() {
        let outcome = supervise(5..7, |range| match range.start {
            5 => reader(5, "exit 101"),
            _ => reader(7, "cat"),
        });
        assert_eq!(outcome.unwrap().misses.len(), 1);
    }
}
