//! Paired timing: two programs in turns, so that a drift of the machine's speed falls on both; or both at once on the
//! same processors, so that not even a neighbour's burst falls on one of them alone.

use std::io;
use std::process::{Command, Stdio};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::BenchError;
use crate::counting::{CPU_NANOSECONDS, figure, nanoseconds};

/// Figures of pairs of runs.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// Median nanoseconds of the first.
    pub first_ns: f64,
    /// Median nanoseconds of the second.
    pub second_ns: f64,
    /// Median of first over second, pair by pair.
    pub ratio: f64,
    /// Quartiles of it.
    pub ratio_range: (f64, f64),
}

/// Runs both in turns, `pairs` times after one that does not count.
pub fn run(
    pairs: usize,
    first: impl Fn() -> io::Result<Command>,
    second: impl Fn() -> io::Result<Command>,
) -> Result<Pairs, BenchError> {
    nanoseconds(&mut first()?)?;
    nanoseconds(&mut second()?)?;
    let mut times = Vec::new();
    for pair in 0..pairs {
        // Each goes first in half of the pairs.
        let (a, b) = if pair % 2 == 0 {
            let a = nanoseconds(&mut first()?)?;
            (a, nanoseconds(&mut second()?)?)
        } else {
            let b = nanoseconds(&mut second()?)?;
            (nanoseconds(&mut first()?)?, b)
        };
        times.push((a, b));
    }
    Ok(Pairs::of(&times))
}

/// Runs both at the same time on the same `processors` (a number of them), `pairs` times: the scheduler takes turns of
/// some milliseconds. Gives processor time for an operation, which each program prints.
///
/// On a virtual machine whose processors are shared with others', where whole runs in turns differed by 25 %, this
/// ratio came out the same to half a percent.
pub fn side_by_side(
    pairs: usize,
    processors: usize,
    first: impl Fn() -> io::Result<Command>,
    second: impl Fn() -> io::Result<Command>,
) -> Result<Pairs, BenchError> {
    let before = sched_getaffinity(None).map_err(io::Error::from)?;
    let mut few = CpuSet::new();
    (0..CpuSet::MAX_CPU).filter(|&cpu| before.is_set(cpu)).take(processors).for_each(|cpu| few.set(cpu));
    // Processes get it from the thread that starts them.
    sched_setaffinity(None, &few).map_err(io::Error::from)?;
    let times: Result<Vec<_>, _> = (0..pairs).map(|_| both(&mut first()?, &mut second()?)).collect();
    sched_setaffinity(None, &before).map_err(io::Error::from)?;
    Ok(Pairs::of(&times?))
}

fn both(first: &mut Command, second: &mut Command) -> Result<(f64, f64), BenchError> {
    let (a, b) = (piped(first).spawn()?, piped(second).spawn()?);
    // They print a line each, which a pipe holds until it is read.
    let (a, b) = (a.wait_with_output()?, b.wait_with_output()?);
    Ok((figure(first, &a, CPU_NANOSECONDS)?, figure(second, &b, CPU_NANOSECONDS)?))
}

fn piped(command: &mut Command) -> &mut Command {
    command.stdout(Stdio::piped()).stderr(Stdio::piped())
}

impl Pairs {
    fn of(times: &[(f64, f64)]) -> Pairs {
        let sorted = |figure: fn(&(f64, f64)) -> f64| {
            let mut figures: Vec<f64> = times.iter().map(figure).collect();
            figures.sort_by(f64::total_cmp);
            figures
        };
        let ratios = sorted(|(a, b)| a / b);
        let middle = |figures: &[f64]| figures[figures.len() / 2];
        Pairs {
            first_ns: middle(&sorted(|(a, _)| *a)),
            second_ns: middle(&sorted(|(_, b)| *b)),
            ratio: middle(&ratios),
            ratio_range: (ratios[ratios.len() / 4], ratios[ratios.len() * 3 / 4]),
        }
    }
}
