//! The row `promises`: searches for the highest rate that keeps a promise, again and again. Each must agree with the
//! others within its own interval, end in time, and find no more than a closed loop does. Where the machine's speed
//! changes from one search to the next, no search can know; so it is told as well whether they agree in the share of
//! what a closed loop reaches, which each measures first.

use std::io;

use kvdyno_analysis::Estimate;
use kvdyno_analysis::verdicts::Looks;
use kvdyno_results::{Operations, RateSearch, TrialResult};
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

/// A figure of one try.
#[derive(Clone, Copy, Default)]
struct TriedFigure {
    /// Absent if there is none.
    value: Option<f64>,
    /// Its 95 % interval; absent if there is none.
    interval: Option<(f64, f64)>,
}

/// The answer of one search, or the rate of a closed loop.
struct RateTry {
    /// Reads a second, as the report has them.
    rate: TriedFigure,
    /// That over the rate of the closed loop that each repeat of a search begins with; absent of a closed loop.
    share: TriedFigure,
    /// Measured parts, each at the rate that its search found, that keep the promise, and all of them.
    measured: (usize, usize),
    /// Time of the whole command, seconds.
    wall_s: f64,
}

impl RateTry {
    /// The results stand in the order in which they were had.
    fn of(report: &Value, results: &[TrialResult], wall_s: f64) -> RateTry {
        let mut cells = report["cells"].as_array().into_iter().flatten();
        let rate = cells.find(|cell| cell["phase"] == "run").map_or(&Value::Null, |cell| &cell["reads_per_s"]);
        let (value, interval) = (rate["value"].as_f64(), rate["low"].as_f64().zip(rate["high"].as_f64()));
        let finished = || results.iter().filter(|result| result.is_finished());
        let share = share_of(finished().filter_map(|result| result.search.as_ref()));
        let kept: Vec<bool> =
            finished().filter_map(|one| keeps_promise(one.search.as_ref()?, one.operations.first()?)).collect();
        let measured = (kept.iter().filter(|kept| **kept).count(), kept.len());
        RateTry { rate: TriedFigure { value, interval }, share, measured, wall_s }
    }
}

/// Whether the reads of the measured part, at the rate that was found, keep the promise; absent if none was found.
fn keeps_promise(search: &RateSearch, reads: &Operations) -> Option<bool> {
    search.highest_per_s?;
    Some(reads.pacing?.kept && search.promise.is_kept(|latency| reads.latency.promised(latency)))
}

/// The share of searches, with the interval that a rate of as many repeats has.
fn share_of<'r>(searches: impl Iterator<Item = &'r RateSearch>) -> TriedFigure {
    let of_capacity = searches.filter(|search| search.capacity_per_s > 0.0);
    let shares: Vec<f64> =
        of_capacity.filter_map(|search| Some(search.highest_per_s? / search.capacity_per_s)).collect();
    let of = |share: Estimate| TriedFigure { value: Some(share.value), interval: share.low.zip(share.high) };
    Estimate::of_rates(&shares, Looks::AfterEach).map(of).unwrap_or_default()
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
    Ok(Some(RateTry::of(&tries.report_of(&one.folder)?, &one.results, one.wall_s)))
}

fn lines_of(engine: &str, searches: &[RateTry], closed: &[RateTry]) -> [FidelityLine; 6] {
    let rates = |tries: &[RateTry]| agreement(&tries.iter().map(|one| one.rate).collect::<Vec<_>>());
    let (agree, all) = rates(searches);
    let (of_closed, all_closed) = rates(closed);
    let (of_shares, all_shares) = agreement(&searches.iter().map(|one| one.share).collect::<Vec<_>>());
    let tried = searches.len();
    let below = searches.iter().zip(closed).filter(|(search, closed)| {
        search.rate.interval.zip(closed.rate.interval).is_some_and(|((low, _), (_, high))| low <= high)
    });
    let measured = searches.iter().map(|search| search.measured);
    let (kept, parts) = measured.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
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
            format!("{engine}, their share of the closed loop that each repeat begins with: the same"),
            tried,
            format!("{}, middle {:.2}", counted(of_shares, tried), all_shares.unwrap_or_default()),
        ),
        FidelityLine::without_target(
            format!("{engine}, their measured parts, at the rates that were found: {PROMISE} kept again"),
            parts,
            counted(kept, parts),
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

/// How many hold the middle of the others in their own interval, and the middle of all. The middle of all may be one of
/// them, which holds it whatever its interval is.
fn agreement(figures: &[TriedFigure]) -> (usize, Option<f64>) {
    let middle_without = |left_out: Option<usize>| {
        let kept = figures.iter().enumerate().filter(|(nth, _)| Some(*nth) != left_out);
        middle(kept.filter_map(|(_, one)| one.value).collect())
    };
    let holds = |(nth, one): &(usize, &TriedFigure)| {
        let others = middle_without(Some(*nth)).zip(one.interval);
        others.is_some_and(|(others, (low, high))| (low..=high).contains(&others))
    };
    (figures.iter().enumerate().filter(holds).count(), middle_without(None))
}

#[cfg(test)]
mod tests {
    use kvdyno_results::{Latency, OpKind, Pacing, Percentiles};
    use serde_json::json;

    use super::*;

    /// A rate that is known to two in a hundred.
    fn of(rate: f64) -> RateTry {
        let rate = json!({ "value": rate, "low": 0.98 * rate, "high": 1.02 * rate });
        let load = json!({ "phase": "load", "reads_per_s": null });
        RateTry::of(&json!({ "cells": [load, { "phase": "run", "reads_per_s": rate }] }), &[], 10.0)
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
        assert_eq!(met(1), [true; 6]);
        assert_eq!(met(2), [false, true, true, true, true, true]);
        assert_eq!(lines_of("lmdb", &[], &[]).map(|line| line.is_met), [false, true, true, true, false, false]);
    }

    /// A search; a highest rate of 0 is that the promise was kept at none.
    fn search((capacity_per_s, highest_per_s): (f64, f64)) -> RateSearch {
        RateSearch {
            promise: PROMISE.parse().unwrap(),
            capacity_per_s,
            least_per_s: 1.0,
            highest_per_s: Some(highest_per_s).filter(|rate| *rate > 0.0),
            probes: Vec::new(),
            measured: None,
        }
    }

    #[test]
    fn a_measured_part_keeps_the_promise_by_its_latency_and_its_rate() {
        let kept = |highest: f64, p99_ns: u64, is_rate_kept: bool| {
            let percentiles = Percentiles::from_fn(|_| p99_ns);
            let reads = Operations {
                kind: OpKind::Get,
                threads: 1,
                operations: 1000,
                records: 1000,
                operations_per_s: highest,
                records_per_s: highest,
                latency: Latency { percentiles, ..Latency::default() },
                pacing: Some(Pacing { kept: is_rate_kept, ..Pacing::default() }),
            };
            keeps_promise(&search((100.0, highest)), &reads)
        };
        assert_eq!(kept(50.0, 1_000_000, true), Some(true));
        assert_eq!((kept(50.0, 1_000_001, true), kept(50.0, 1, false)), (Some(false), Some(false)));
        assert_eq!(kept(0.0, 1, true), None);
    }

    #[test]
    fn the_share_does_not_change_with_the_speed_of_the_machine() {
        let of = |searches: &[(f64, f64)]| share_of(searches.iter().map(|one| search(*one)).collect::<Vec<_>>().iter());
        let [slow, fast] = [1.0, 2.0].map(|speed| {
            let rates = [(100.0, 50.0), (100.0, 51.0), (0.0, 50.0), (98.0, 50.0), (100.0, 0.0)];
            of(&rates.map(|(capacity, highest)| (speed * capacity, speed * highest)))
        });
        assert_eq!((slow.value, slow.interval), (fast.value, fast.interval));
        assert!(slow.interval.is_some_and(|(low, high)| low < 0.5 && 0.52 < high), "{:?}", slow.interval);
        assert!(slow.value.is_some_and(|share| (0.5..0.511).contains(&share)), "{:?}", slow.value);
        assert_eq!(of(&[]).value, None);
    }

    #[test]
    fn none_agrees_with_itself() {
        let of_rates = |rates: &[f64]| agreement(&rates.iter().map(|rate| of(*rate).rate).collect::<Vec<_>>());
        assert_eq!(of_rates(&[100.0, 110.0]), (0, Some(100.0)));
        assert_eq!(of_rates(&[100.0, 101.0, 110.0]), (2, Some(101.0)));
    }

    #[test]
    fn a_search_beyond_the_closed_loop_is_told() {
        let [.., closed] = lines_of("lmdb", &[of(100.0)], &[of(50.0)]);
        assert!(!closed.is_met && closed.figure.starts_with("0 of 1"), "{}", closed.figure);
    }
}
