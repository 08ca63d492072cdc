//! The rows about copies of adapters that are made slower by a known time: that they are seen to be slower, in time, or
//! at the least never called the same.

use std::io;

use kvdyno_analysis::verdicts::{Verdict, VerdictFigure};
use kvdyno_results::{Phase, TrialResult};

use crate::pairs::{PairTry, counted, middle};
use crate::table::FidelityLine;
use crate::tries::Tries;

/// Copies of these engines' adapters, which can be told to be slower.
const ENGINES: &[&str] = &["slow-lmdb", "slow-leveldb", "slow-bdb", "slow-rocksdb"];

/// Where a call's CPU time is taken from, of which a slow-down is a fraction.
#[derive(Clone, Copy)]
enum CallCost {
    /// A run of a setup's usual length: most of its calls find the engine's cache full.
    LongRun,
    /// Diffs with the budget of the tries, as their verdict measures it: starts are short, and many calls find the
    /// engine's cache empty.
    ShortStarts,
}

/// A slow-down and its target.
struct Slowdown {
    engines: &'static [&'static str],
    /// The option of the copy that makes it slower: nanoseconds a call.
    option: &'static str,
    workload: &'static str,
    /// The slow-down as a fraction of a call's CPU time.
    share: f64,
    /// Where that CPU time is taken from.
    cost: CallCost,
    /// The figure that decides.
    figure: VerdictFigure,
    /// The least difference that matters; below the slow-down, so that this is not the same.
    detect: &'static str,
    /// A little less than the seconds of the target.
    budget: &'static str,
    /// The share of tries that must come to the right verdict.
    right: f64,
    /// The verdict that is right.
    is_right: fn(&PairTry) -> bool,
    /// The same in words.
    words: &'static str,
}

/// The first slow-down by burned time; the others are told by their differences from it.
const WITHIN_15_S: Slowdown = Slowdown {
    engines: ENGINES,
    option: "burn_ns",
    workload: "readrandom",
    share: 0.03,
    cost: CallCost::LongRun,
    figure: VerdictFigure::CpuTime,
    detect: "1%",
    budget: "14s",
    right: 0.9,
    is_right: |one| is_slower(one) && one.wall_s <= 15.0,
    words: "slower within 15 s",
};

/// The row `slowdown`: burned time.
const BURNED: [Slowdown; 6] = [
    WITHIN_15_S,
    Slowdown { cost: CallCost::ShortStarts, ..WITHIN_15_S },
    Slowdown {
        engines: &["slow-lmdb", "slow-leveldb"],
        share: 0.01,
        detect: "0.3%",
        budget: "175s",
        is_right: |one| is_slower(one) && one.wall_s <= 180.0,
        words: "slower within 3 minutes",
        ..WITHIN_15_S
    },
    Slowdown {
        share: 0.05,
        figure: VerdictFigure::Throughput,
        detect: "2%",
        budget: "57s",
        is_right: |one| is_slower(one) && one.wall_s <= 60.0,
        words: "slower within a minute",
        ..WITHIN_15_S
    },
    Slowdown {
        figure: VerdictFigure::Throughput,
        budget: "175s",
        is_right: |one| is_slower(one) && one.wall_s <= 180.0,
        words: "slower within 3 minutes",
        ..WITHIN_15_S
    },
    Slowdown {
        engines: &["slow-lmdb", "slow-leveldb", "slow-rocksdb"],
        workload: "overwrite",
        share: 0.05,
        figure: VerdictFigure::Throughput,
        budget: "115s",
        is_right: |one| is_slower(one) && one.wall_s <= 120.0,
        words: "slower within 2 minutes",
        ..WITHIN_15_S
    },
];

/// The row `waiting`: time that no processor is burned in, or by one thread at a time.
const WAITED: [Slowdown; 2] = [waited_for("sleep_ns"), waited_for("lock_ns")];

const fn waited_for(option: &'static str) -> Slowdown {
    Slowdown {
        option,
        figure: VerdictFigure::Throughput,
        budget: "30s",
        right: 1.0,
        is_right: |one| !is_the_same(one),
        words: "never the same",
        ..WITHIN_15_S
    }
}

/// Burned time: does what is not there yet, and holds it against the targets.
pub fn burned(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    measure(tries, &BURNED)
}

/// The same of time that is slept, or burned under a lock.
pub fn waited(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    measure(tries, &WAITED)
}

fn is_slower(one: &PairTry) -> bool {
    one.comparison.as_ref().is_some_and(|one| one.high.is_some_and(|high| high < 1.0))
}

fn is_the_same(one: &PairTry) -> bool {
    one.comparison.as_ref().is_some_and(|one| one.verdict == Verdict::Same)
}

fn measure(tries: &Tries, slowdowns: &[Slowdown]) -> io::Result<Vec<FidelityLine>> {
    let mut lines = Vec::new();
    for slowdown in slowdowns {
        for engine in slowdown.engines {
            lines.extend(line(tries, engine, slowdown)?);
        }
    }
    Ok(lines)
}

/// Absent as long as it is not known how much slower the copy is to be.
fn line(tries: &Tries, engine: &str, slowdown: &Slowdown) -> io::Result<Option<FidelityLine>> {
    let Slowdown { option, workload, share, figure, detect, cost, .. } = *slowdown;
    let (of_cost, in_words) = match cost {
        CallCost::LongRun => ("", ""),
        CallCost::ShortStarts => ("-short-starts", " of what such a diff measures"),
    };
    let Some(cpu_ns) = cpu_ns(tries, engine, slowdown)? else {
        tries.leave(tries.count);
        return Ok(None);
    };
    let ns = (share * cpu_ns).round() as u64;
    let (mut right, mut walls, mut ratios) = (0, Vec::new(), Vec::new());
    for number in 1..=tries.count {
        let words = diff_words(engine, slowdown, Some(ns), number);
        let name = format!("{engine}-{workload}-{option}-{share}{of_cost}-{}-{number}", figure.word());
        let Some(one) = tries.diff(None, &name, &words)? else { continue };
        let one = PairTry::of(&one, figure, of_per_cent(detect)?);
        right += u32::from((slowdown.is_right)(&one));
        walls.push(one.wall_s);
        ratios.extend(one.comparison.and_then(|one| one.ratio));
    }
    let figure = |figure: Option<f64>, digits| figure.map_or("none".to_owned(), |figure| format!("{figure:.digits$}"));
    let (percent, tried) = (100.0 * share, walls.len());
    Ok(Some(FidelityLine {
        target: format!(
            "{engine}, {workload}, {}, {option} = {ns} ({percent:.0} %{in_words}): {}",
            slowdown.figure.name(),
            slowdown.words
        ),
        tries: tried,
        figure: format!(
            "{}; middle ratio {}, middle time {} s",
            counted(right as usize, tried),
            figure(middle(ratios), 3),
            figure(middle(walls), 1)
        ),
        bound: format!("{} of 10", 10.0 * slowdown.right),
        is_met: tried > 0 && f64::from(right) >= slowdown.right * tried as f64,
    }))
}

/// The part of 1 that a text such as `3%` is.
fn of_per_cent(text: &str) -> io::Result<f64> {
    let number = text.trim_end_matches('%').parse::<f64>().map_err(io::Error::other)?;
    Ok(number / 100.0)
}

/// The words of a diff of `engine` with itself; `ns` is the slow-down of the second.
fn diff_words(engine: &str, slowdown: &Slowdown, ns: Option<u64>, seed: u32) -> Vec<String> {
    let Slowdown { option, workload, detect, budget, figure, .. } = *slowdown;
    let (given, seed) = (ns.map(|ns| format!("B.{option}={ns}")), seed.to_string());
    let given = given.iter().flat_map(|given| ["--option", given]);
    let words = ["--database", "shared", "--workload", workload, "--records", "1M", "--detect", detect];
    let more = ["--budget", budget, "--seed", &seed, "--figure", figure.word()];
    [engine, engine].into_iter().chain(given).chain(words).chain(more).map(str::to_owned).collect()
}

/// Diffs that tell the CPU time of a call in short starts: of one alone a busy minute of the machine decides.
const PLAIN_DIFFS: u32 = 3;

/// CPU time of an operation, nanoseconds, as it is measured without a slow-down; absent as long as tries are left.
fn cpu_ns(tries: &Tries, engine: &str, slowdown: &Slowdown) -> io::Result<Option<f64>> {
    let calls = match slowdown.cost {
        CallCost::LongRun => of_long_run(tries, engine, slowdown),
        CallCost::ShortStarts => of_short_starts(tries, engine, slowdown),
    }?;
    let Some(calls) = calls else { return Ok(None) };
    middle(calls).map(Some).ok_or_else(|| io::Error::other(format!("{engine} without a call's CPU time")))
}

fn of_long_run(tries: &Tries, engine: &str, slowdown: &Slowdown) -> io::Result<Option<Vec<f64>>> {
    let workload = slowdown.workload;
    let words = [engine, "--records", "1M", "--workload", workload, "--readers", "1", "--repeat", "1"];
    let results = tries.results(&format!("{engine}-{workload}-plain"), &words.map(str::to_owned))?;
    let cost = |result: &TrialResult| {
        let (user_us, sys_us) = result.cpu_us_per_operation()?;
        Some(1000.0 * (user_us + sys_us))
    };
    let of_run = |result: &&TrialResult| result.trial.phase == Phase::Run;
    Ok(results.map(|results| results.iter().filter(of_run).filter_map(cost).collect()))
}

fn of_short_starts(tries: &Tries, engine: &str, slowdown: &Slowdown) -> io::Result<Option<Vec<f64>>> {
    let Slowdown { workload, budget, .. } = *slowdown;
    let cost = |result: &TrialResult| Some(1e9 / result.operations_per_cpu_s_in_duets()?);
    let mut calls = Vec::new();
    for number in 1..=PLAIN_DIFFS {
        let name = format!("{engine}-{workload}-plain-{budget}-{number}");
        let Some(one) = tries.diff(None, &name, &diff_words(engine, slowdown, None, number))? else { return Ok(None) };
        calls.extend(one.results.iter().filter_map(cost));
    }
    Ok(Some(calls))
}
