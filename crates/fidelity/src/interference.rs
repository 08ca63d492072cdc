//! The row `interference`: others that take a processor are told in trials of any length and each design, and a quiet
//! machine has no note.

use std::io;

use kvdyno_analysis::is_marked;
use kvdyno_model::Design;
use kvdyno_results::{Interference, TrialResult};
use rustix::thread::{CpuSet, sched_getaffinity};

use crate::pairs::counted;
use crate::table::FidelityLine;
use crate::tries::{Busy, DiffTry, Tries};

const DESIGNS: [Design; 3] = [Design::Turns, Design::Slices, Design::Duet];
const LENGTHS: [&str; 3] = ["500ms", "1s", "4s"];
const WORK: [&str; 10] =
    ["lmdb", "lmdb", "--records", "50k", "--workload", "readrandom", "--readers", "1", "--warmup", "50ms"];
/// Quiet runs to a try.
const QUIET: u32 = 4;
/// Trials that are as they must be, and what was told of the others.
#[derive(Debug, Default)]
struct Trials {
    tries: usize,
    right: usize,
    all: usize,
    wrong: Vec<String>,
}

impl Trials {
    fn count(&mut self, one: &DiffTry, is_right: fn(&TrialResult) -> bool) {
        self.tries += 1;
        for result in &one.results {
            self.all += 1;
            match is_right(result) {
                true => self.right += 1,
                false => self.wrong.push(told(result)),
            }
        }
    }

    fn line(self, target: String) -> FidelityLine {
        let others = self.wrong.first().map_or(String::new(), |first| format!("; the first of the others: {first}"));
        FidelityLine {
            target,
            tries: self.tries,
            figure: counted(self.right, self.all) + &others,
            bound: "all".to_owned(),
            is_met: self.all > 0 && self.right == self.all,
        }
    }
}

/// Does what is not there yet, and holds it against the targets. A try is a `diff` of two equal setups in one repeat;
/// beside the loop in two, on the loop's processor, which is the first that this process may run on.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let mut lines = Vec::new();
    let cpu = first_allowed()?;
    let cpus = format!("{cpu}-{cpu}");
    for design in DESIGNS {
        let mut quiet = Trials::default();
        for number in 1..=QUIET * tries.count {
            let words = words(design, "1s", &["--repeat", "1", "--seed", &number.to_string()]);
            if let Some(one) = tries.diff(None, &format!("quiet-{design}-{number}"), &words)? {
                quiet.count(&one, |result| result.environment.interference.is_empty());
            }
        }
        lines.push(quiet.line(format!("{design}, nobody else at work: trials without a note")));
    }
    for design in DESIGNS {
        let mut beside = Trials::default();
        for length in LENGTHS {
            for number in 1..=tries.count {
                let words = words(design, length, &["--cpus", &cpus, "--repeat", "2", "--seed", &number.to_string()]);
                let name = format!("loop-{design}-{length}-{number}");
                if let Some(one) = tries.diff(Some(Busy::Always(cpu)), &name, &words)? {
                    let runs = one.results.into_iter().filter(|result| result.design.is_some()).collect();
                    beside.count(&DiffTry { results: runs, ..one }, names_others);
                }
            }
        }
        lines.push(
            beside.line(format!("{design} of 0.5, 1 and 4 s, a busy loop on the processor: trials that tell it")),
        );
    }
    Ok(lines)
}

fn words(design: Design, length: &str, more: &[&str]) -> Vec<String> {
    let design = design.to_string();
    let words = WORK.into_iter().chain(["--design", &design, "--duration", length]);
    words.chain(more.iter().copied()).map(str::to_owned).collect()
}

fn names_others(result: &TrialResult) -> bool {
    is_marked(result) && others(result).is_some()
}

/// The note of a trial that others had its clients' processors.
pub fn others(result: &TrialResult) -> Option<&Interference> {
    let is_it = |one: &&Interference| matches!(one, Interference::ClientsProcessors { .. });
    result.environment.interference.iter().find(is_it)
}

/// The first logical processor that this thread, and what it starts, may run on.
fn first_allowed() -> io::Result<usize> {
    let allowed = sched_getaffinity(None)?;
    let first = (0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu));
    first.ok_or_else(|| io::Error::other("no processor is allowed"))
}

/// The clauses of a trial with its name.
fn told(result: &TrialResult) -> String {
    let clauses: Vec<String> = result.environment.interference.iter().map(ToString::to_string).collect();
    let clauses = if clauses.is_empty() { "no note".to_owned() } else { clauses.join(", ") };
    format!("{} {}: {clauses}", result.trial.engine, result.trial.workload)
}

#[cfg(test)]
mod tests {
    use rustix::thread::sched_setaffinity;

    use super::*;

    /// Each test has a thread of its own.
    #[test]
    fn the_processor_of_the_loop_is_one_that_is_allowed() {
        let allowed = sched_getaffinity(None).unwrap();
        for cpu in (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)) {
            let mut only = CpuSet::new();
            only.set(cpu);
            sched_setaffinity(None, &only).unwrap();
            assert_eq!(first_allowed().unwrap(), cpu);
        }
    }

    #[test]
    fn one_trial_that_is_not_right_fails_the_line_and_is_told() {
        let of = |right, all| {
            let wrong = vec!["lmdb readrandom: no note".to_owned(); all - right];
            let line = Trials { tries: 1, right, all, wrong }.line(String::new());
            (line.figure, line.is_met)
        };
        assert_eq!(of(4, 4), ("4 of 4 (40 to 100 %)".to_owned(), true));
        let (figure, is_met) = of(3, 4);
        assert!(figure.ends_with("; the first of the others: lmdb readrandom: no note") && !is_met, "{figure}");
        assert!(!of(0, 0).1);
    }
}
