//! The row `twentieth`: eight engines with one and two readers, in four minutes each. Whole trials in turns must need
//! twenty times as long for intervals as narrow. What a run with ten times the budget decides must not come out the
//! other way round, and most of it must be decided.

use std::io;

use kvdyno_analysis::verdicts::{Aspect, Looks, Pairing, Terms, Verdict, compare, paired};
use kvdyno_analysis::{Cell, SameWork, cells_of_results, same_work};
use kvdyno_results::{Phase, Side, TrialResult};

use crate::pairs::{ENGINES, counted, half_width, pairs_of, quantiles, run_of};
use crate::table::FidelityLine;
use crate::tries::{CompareTry, Tries};

/// Numbers of readers: a column each, with runs of its own.
const READERS: [&str; 2] = ["1", "2"];
/// The budget of a short run.
const SHORT: &str = "4m";
/// Ten times as much; the run ends before it if all pairs are decided.
const LONG: &str = "40m";
/// Whole trials: of the length that an experiment has by default, and about as many as short runs have, so that the
/// intervals differ by the scatter of repeats alone.
const WHOLE_TRIALS: [&str; 8] = ["--design", "turns", "--duration", "10s", "--warmup", "1s", "--repeat", "10"];
/// The share of the pairs that the long run decides that the short one must decide.
const DECIDED: f64 = 0.9;
/// How many times as long turns must take for the same intervals.
const TIMES_AS_LONG: f64 = 20.0;

const BY_RATE: Aspect = Aspect::Throughput(Side::Reads);

/// Does what is not there yet, and holds it against the targets. A try is a short run; the others are done once.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let (mut of, mut decided, mut reversed, mut times) = (0, 0, 0, Vec::new());
    for readers in READERS {
        let long = in_budget(tries, "long", readers, LONG, 1)?.map_or(Vec::new(), |long| verdicts(&long.results));
        let turns = in_turns(tries, readers)?;
        for number in 1..=tries.count {
            let Some(short) = in_budget(tries, &format!("short-{number}"), readers, SHORT, number)? else { continue };
            times.extend(turns.iter().flat_map(|turns| times_of_pairs(turns, &short)));
            let short = verdicts(&short.results);
            for (pair, long) in long.iter().filter(|(_, long)| long.is_decided()) {
                let short = short.iter().find(|(other, _)| other == pair);
                let short = short.map_or(Verdict::CannotTell, |(_, short)| *short);
                of += 1;
                decided += usize::from(short.is_decided());
                let differ = |one: Verdict| matches!(one, Verdict::Faster | Verdict::Slower);
                reversed += usize::from(differ(*long) && short == long.reversed());
            }
        }
    }
    Ok(vec![
        line_of_times(times),
        FidelityLine {
            target: "pairs that the long run decides, the other way round".to_owned(),
            tries: of,
            figure: counted(reversed, of),
            bound: "none".to_owned(),
            is_met: of > 0 && reversed == 0,
        },
        FidelityLine {
            target: "the same, decided".to_owned(),
            tries: of,
            figure: counted(decided, of),
            bound: "9 of 10".to_owned(),
            is_met: of > 0 && decided as f64 >= DECIDED * of as f64,
        },
    ])
}

fn line_of_times(times: Vec<f64>) -> FidelityLine {
    let tries = times.len();
    let quarters = quantiles(times, [0.25, 0.5, 0.75]);
    let told = |[low, middle, high]: [f64; 3]| {
        format!("middle {middle:.0} times as long; half of them {low:.0} to {high:.0} times")
    };
    FidelityLine {
        target: "a pair's interval: time of whole trials in turns for the same".to_owned(),
        tries,
        figure: quarters.map_or("none".to_owned(), told),
        bound: format!("{TIMES_AS_LONG} times"),
        is_met: quarters.is_some_and(|[_, middle, _]| middle >= TIMES_AS_LONG),
    }
}

fn in_budget(tries: &Tries, name: &str, readers: &str, budget: &str, seed: u32) -> io::Result<Option<CompareTry>> {
    let seed = seed.to_string();
    let more =
        ["--repeat", "auto", "--question", "difference", "--loads", "at-once", "--budget", budget, "--seed", &seed];
    run(tries, name, readers, &more)
}

fn in_turns(tries: &Tries, readers: &str) -> io::Result<Option<CompareTry>> {
    run(tries, "turns", readers, &WHOLE_TRIALS)
}

fn run(tries: &Tries, name: &str, readers: &str, more: &[&str]) -> io::Result<Option<CompareTry>> {
    let words = ["--workload", "readrandom", "--records", "1M", "--readers", readers];
    let words = ENGINES.iter().chain(&words).chain(more).map(|word| (*word).to_owned());
    tries.compare(&format!("{name}-of-{readers}"), &words.collect::<Vec<_>>())
}

/// For each pair, how many times as long turns take until its interval is that of the short run.
fn times_of_pairs(turns: &CompareTry, short: &CompareTry) -> Vec<f64> {
    let pairs = half_widths(&turns.results).into_iter().zip(half_widths(&short.results));
    let times = |(of_turns, of_short): (Option<f64>, Option<f64>)| {
        Some(times_as_long((of_turns?, turns.wall_s), (of_short?, short.wall_s)))
    };
    pairs.filter_map(times).collect()
}

/// How many times as long the first takes until its interval is that of the second, of the half widths and the seconds
/// of both: intervals become narrower with the root of the time.
fn times_as_long((width, seconds): (f64, f64), (other_width, other_seconds): (f64, f64)) -> f64 {
    seconds / other_seconds * (width / other_width).powi(2)
}

/// Half of the interval of each pair's ratio.
fn half_widths(results: &[TrialResult]) -> Vec<Option<f64>> {
    let cells = cells_of_results(results);
    let of_pair = |(one, other): (&str, &str)| {
        half_width(&compare(&paired(run_of(&cells, one)?, run_of(&cells, other)?, BY_RATE), &Terms::default()))
    };
    pairs_of(&ENGINES).map(of_pair).collect()
}

/// The verdicts of all pairs: the number of the column, and the two engines in the order of their names.
fn verdicts(results: &[TrialResult]) -> Vec<((usize, String, String), Verdict)> {
    let mut cells = cells_of_results(results);
    cells.sort_by(|one, other| (one.key.readers, &one.key.engine).cmp(&(other.key.readers, &other.key.engine)));
    let cells: Vec<&Cell<'_>> = cells.iter().collect();
    let terms = Terms { looks: Looks::AfterEach, ..Terms::default() };
    let of_column = |(column, same): (usize, &SameWork)| {
        let engine = |index: usize| cells[same.cells[index]].key.engine.clone();
        let of_pair = |pairing: Pairing| {
            let (one, other) = (engine(pairing.one), engine(pairing.other));
            let verdict = pairing.comparison.verdict;
            match one <= other {
                true => ((column, one, other), verdict),
                false => ((column, other, one), verdict.reversed()),
            }
        };
        same.rivals(&cells, BY_RATE).all_pairs(&terms).into_iter().map(of_pair).collect::<Vec<_>>()
    };
    let columns: Vec<SameWork> = same_work(&cells).into_iter().filter(|same| same.phase == Phase::Run).collect();
    columns.iter().enumerate().flat_map(of_column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_the_times_is_held_against_the_bound() {
        let slow = line_of_times(vec![40.0, 10.0, 21.0, 90.0, 20.5]);
        assert_eq!((slow.tries, slow.is_met), (5, true));
        assert_eq!(slow.figure, "middle 21 times as long; half of them 20 to 40 times");
        let quick = line_of_times(vec![40.0, 10.0, 19.9]);
        assert!(!quick.is_met, "{}", quick.figure);
        let none = line_of_times(Vec::new());
        assert_eq!((none.figure.as_str(), none.is_met), ("none", false));
    }

    #[test]
    fn an_interval_half_as_wide_takes_four_times_as_long() {
        assert_eq!(times_as_long((0.02, 100.0), (0.01, 10.0)), 40.0);
        assert_eq!(times_as_long((0.01, 10.0), (0.02, 100.0)), 1.0 / 40.0);
    }
}
