//! The row `promises`: searches for the highest rate that keeps a promise, again and again. Each must agree with the
//! others within its own interval, end in time, and find no more than a closed loop does.

use std::io;

use kvdyno_analysis::Estimate;
use kvdyno_results::{Phase, Side, TrialResult};

use crate::pairs::{counted, middle};
use crate::table::FidelityLine;
use crate::tries::Tries;

const ENGINES: [&str; 2] = ["lmdb", "rocksdb"];
const PROMISE: &str = "p99=1ms";
/// Searches of each engine to a try: five tries are ten.
const SEARCHES: u32 = 2;
/// Repeats of a search, whose middle and interval are its answer.
const REPEATS: &str = "20";
/// The seconds that a search may take.
const MOST_S: f64 = 300.0;
/// The share of searches that must agree.
const AGREE: f64 = 0.9;

/// The answer of one search, or the rate of a closed loop.
struct RateTry {
    estimate: Option<Estimate>,
    /// Time of its trials, seconds.
    seconds: f64,
}

impl RateTry {
    fn of(results: &[TrialResult]) -> RateTry {
        let runs = results.iter().filter(|result| result.trial.phase == Phase::Run && result.is_finished());
        let rates: Vec<f64> = runs.map(|result| result.rate(Side::Reads)).collect();
        let seconds = results.iter().map(|result| result.os.wall_s).sum();
        RateTry { estimate: Estimate::of_rates(&rates), seconds }
    }

    fn interval(&self) -> Option<(f64, f64)> {
        let estimate = self.estimate.as_ref()?;
        estimate.low.zip(estimate.high)
    }
}

/// Does what is not there yet, and holds it against the targets.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let mut lines = Vec::new();
    for engine in ENGINES {
        let (mut searches, mut closed) = (Vec::new(), Vec::new());
        for seed in 1..=tries.count * SEARCHES {
            let searched = results(tries, &format!("{engine}-{seed}"), engine, &["--find-max-rate", PROMISE], seed)?;
            searches.extend(searched.map(|results| RateTry::of(&results)));
            let of_closed = results(tries, &format!("{engine}-{seed}-closed"), engine, &[], seed)?;
            closed.extend(of_closed.map(|results| RateTry::of(&results)));
        }
        lines.extend(lines_of(engine, &searches, &closed));
    }
    Ok(lines)
}

fn results(tries: &Tries, name: &str, engine: &str, words: &[&str], seed: u32) -> io::Result<Option<Vec<TrialResult>>> {
    let seed = seed.to_string();
    let work = ["--workload", "readrandom", "--readers", "1", "--records", "200k", "--repeat", REPEATS];
    let time = ["--duration", "500ms", "--warmup", "500ms", "--seed", &seed];
    let words = [&[engine], &work[..], &time, words].concat();
    tries.results(name, &words.into_iter().map(str::to_owned).collect::<Vec<_>>())
}

fn lines_of(engine: &str, searches: &[RateTry], closed: &[RateTry]) -> [FidelityLine; 4] {
    let (agree, all) = agreement(searches);
    let (of_closed, all_closed) = agreement(closed);
    let tried = searches.len();
    let below = searches.iter().zip(closed).filter(|(search, closed)| {
        search.interval().zip(closed.interval()).is_some_and(|((low, _), (_, high))| low <= high)
    });
    let (below, of_both) = (below.count(), tried.min(closed.len()));
    let longest = searches.iter().map(|search| search.seconds).fold(0.0, f64::max);
    let line = |target: &str, tries: usize, figure: String, bound: &str, is_met: bool| FidelityLine {
        target: format!("{engine}, {PROMISE}: {target}"),
        tries,
        figure,
        bound: bound.to_owned(),
        is_met: tries > 0 && is_met,
    };
    let told = |agree: usize, tried: usize, all: Option<f64>| {
        let middle_rate = all.map_or("none".to_owned(), |rate| format!("{rate:.0}/s"));
        format!("{}, middle {middle_rate}", counted(agree, tried))
    };
    [
        line(
            "the interval holds the middle of all",
            tried,
            told(agree, tried, all),
            "9 of 10",
            agree as f64 >= AGREE * tried as f64,
        ),
        FidelityLine::without_target(
            format!("{engine}, the closed loops beside them: the same"),
            closed.len(),
            told(of_closed, closed.len(), all_closed),
        ),
        line("longest", tried, format!("{longest:.0} s"), "300 s", longest <= MOST_S),
        line(
            "lower end not above the upper end of a closed loop",
            of_both,
            counted(below, of_both),
            "all",
            below == of_both,
        ),
    ]
}

/// How many hold the middle of all in their own interval, and this middle.
fn agreement(rates: &[RateTry]) -> (usize, Option<f64>) {
    let all = middle(rates.iter().filter_map(|one| Some(one.estimate.as_ref()?.value)).collect());
    let holds = |one: &&RateTry| all.zip(one.interval()).is_some_and(|(all, (low, high))| (low..=high).contains(&all));
    (rates.iter().filter(holds).count(), all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rates: &[f64]) -> RateTry {
        RateTry { estimate: Estimate::of_rates(rates), seconds: 10.0 }
    }

    #[test]
    fn nine_of_ten_searches_must_agree() {
        let near = || of(&[100.0, 102.0, 98.0, 101.0, 99.0]);
        let far = || of(&[50.0, 51.0, 49.0, 50.5, 49.5]);
        let met = |far_off: usize| {
            let searches: Vec<RateTry> = (0..10).map(|nth| if nth < far_off { far() } else { near() }).collect();
            let closed: Vec<RateTry> = (0..10).map(|_| of(&[120.0, 121.0, 119.0])).collect();
            lines_of("lmdb", &searches, &closed).map(|line| line.is_met)
        };
        assert_eq!(met(1), [true; 4]);
        assert_eq!(met(2), [false, true, true, true]);
        assert_eq!(lines_of("lmdb", &[], &[]).map(|line| line.is_met), [false, true, false, false]);
    }

    #[test]
    fn a_search_beyond_the_closed_loop_is_told() {
        let [.., closed] = lines_of("lmdb", &[of(&[100.0, 101.0, 99.0])], &[of(&[50.0, 51.0, 49.0])]);
        assert!(!closed.is_met && closed.figure.starts_with("0 of 1"), "{}", closed.figure);
    }
}
