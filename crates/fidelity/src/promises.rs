//! The row `promises`: searches for the highest rate that keeps a promise, again and again. Each must agree with the
//! others within its own interval, end in time, and find no more than a closed loop does.

use std::io;

use serde_json::Value;

use crate::pairs::{counted, middle};
use crate::table::FidelityLine;
use crate::tries::Tries;

const ENGINES: [&str; 2] = ["lmdb", "rocksdb"];
const PROMISE: &str = "p99=1ms";
/// Searches of each engine to a try: five tries are ten.
const SEARCHES: u32 = 2;
/// The time that a search may take. It ends before that when its rate is known.
const BUDGET: &str = "5m";
/// The same, seconds.
const MOST_S: f64 = 300.0;
/// The closed loops beside them are too short to end by their budget.
const CLOSED: [&str; 6] = ["--repeat", "20", "--duration", "500ms", "--warmup", "500ms"];
/// The share of searches that must agree.
const AGREE: f64 = 0.9;

/// The answer of one search, or the rate of a closed loop, as its report has them.
struct RateTry {
    /// Reads a second; absent if there is none.
    rate: Option<f64>,
    /// Its 95 % interval; absent if there is none.
    interval: Option<(f64, f64)>,
    /// Time of the whole command, seconds.
    wall_s: f64,
}

impl RateTry {
    fn of(report: &Value, wall_s: f64) -> RateTry {
        let mut cells = report["cells"].as_array().into_iter().flatten();
        let rate = cells.find(|cell| cell["phase"] == "run").map_or(&Value::Null, |cell| &cell["reads_per_s"]);
        RateTry { rate: rate["value"].as_f64(), interval: rate["low"].as_f64().zip(rate["high"].as_f64()), wall_s }
    }
}

/// Does what is not there yet, and holds it against the targets.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let mut lines = Vec::new();
    for engine in ENGINES {
        let (mut searches, mut closed) = (Vec::new(), Vec::new());
        for seed in 1..=tries.count * SEARCHES {
            let search = ["--find-max-rate", PROMISE, "--budget", BUDGET];
            searches.extend(try_of(tries, &format!("{engine}-{seed}"), engine, &search, seed)?);
            closed.extend(try_of(tries, &format!("{engine}-{seed}-closed"), engine, &CLOSED, seed)?);
        }
        lines.extend(lines_of(engine, &searches, &closed));
    }
    Ok(lines)
}

fn try_of(tries: &Tries, name: &str, engine: &str, words: &[&str], seed: u32) -> io::Result<Option<RateTry>> {
    let seed = seed.to_string();
    let work = [engine, "--workload", "readrandom", "--readers", "1", "--records", "200k", "--seed", &seed];
    let words: Vec<String> = work.iter().chain(words).map(|word| (*word).to_owned()).collect();
    let Some(one) = tries.compare(name, &words)? else { return Ok(None) };
    Ok(Some(RateTry::of(&tries.report_of(&one.folder)?, one.wall_s)))
}

fn lines_of(engine: &str, searches: &[RateTry], closed: &[RateTry]) -> [FidelityLine; 4] {
    let (agree, all) = agreement(searches);
    let (of_closed, all_closed) = agreement(closed);
    let tried = searches.len();
    let below = searches.iter().zip(closed).filter(|(search, closed)| {
        search.interval.zip(closed.interval).is_some_and(|((low, _), (_, high))| low <= high)
    });
    let (below, of_both) = (below.count(), tried.min(closed.len()));
    let longest = searches.iter().map(|search| search.wall_s).fold(0.0, f64::max);
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
            "the interval holds the middle of the others",
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

/// How many hold the middle of the others in their own interval, and the middle of all. The middle of all may be the
/// rate of one of them, which holds it whatever its interval is.
fn agreement(rates: &[RateTry]) -> (usize, Option<f64>) {
    let middle_without = |left_out: Option<usize>| {
        let kept = rates.iter().enumerate().filter(|(nth, _)| Some(*nth) != left_out);
        middle(kept.filter_map(|(_, one)| one.rate).collect())
    };
    let holds = |(nth, one): &(usize, &RateTry)| {
        let others = middle_without(Some(*nth)).zip(one.interval);
        others.is_some_and(|(others, (low, high))| (low..=high).contains(&others))
    };
    (rates.iter().enumerate().filter(holds).count(), middle_without(None))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A rate that is known to two in a hundred.
    fn of(rate: f64) -> RateTry {
        let rate = json!({ "value": rate, "low": 0.98 * rate, "high": 1.02 * rate });
        let load = json!({ "phase": "load", "reads_per_s": null });
        RateTry::of(&json!({ "cells": [load, { "phase": "run", "reads_per_s": rate }] }), 10.0)
    }

    #[test]
    fn nine_of_ten_searches_must_agree() {
        let near = || of(100.0);
        let far = || of(50.0);
        let met = |far_off: usize| {
            let searches: Vec<RateTry> = (0..10).map(|nth| if nth < far_off { far() } else { near() }).collect();
            let closed: Vec<RateTry> = (0..10).map(|_| of(120.0)).collect();
            lines_of("lmdb", &searches, &closed).map(|line| line.is_met)
        };
        assert_eq!(met(1), [true; 4]);
        assert_eq!(met(2), [false, true, true, true]);
        assert_eq!(lines_of("lmdb", &[], &[]).map(|line| line.is_met), [false, true, false, false]);
    }

    #[test]
    fn none_agrees_with_itself() {
        assert_eq!(agreement(&[of(100.0), of(110.0)]), (0, Some(100.0)));
        assert_eq!(agreement(&[of(100.0), of(101.0), of(110.0)]), (2, Some(101.0)));
    }

    #[test]
    fn a_search_beyond_the_closed_loop_is_told() {
        let [.., closed] = lines_of("lmdb", &[of(100.0)], &[of(50.0)]);
        assert!(!closed.is_met && closed.figure.starts_with("0 of 1"), "{}", closed.figure);
    }
}
