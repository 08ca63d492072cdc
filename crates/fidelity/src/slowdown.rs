//! The row `slowdown`: an adapter that burns 3 % more in each get is seen to be slower, in time.

use std::io;

use crate::pairs::{diff, middle};
use crate::table::{FidelityLine, FidelityTable};
use crate::tries::Tries;

/// Copies of these engines' adapters, which can be told to burn.
const ENGINES: [&str; 2] = ["slow-lmdb", "slow-rocksdb"];
const SLOWDOWN: f64 = 0.03;
/// Below the slow-down, so that it is not the same.
const DETECT: f64 = 0.01;
/// The time of the whole command.
const SECONDS: f64 = 15.0;
/// The share of tries that must find it.
const SHARE: f64 = 0.9;

/// Does what is not there yet, and holds it against the targets.
pub fn measure(tries: &Tries) -> io::Result<FidelityTable> {
    let mut lines = Vec::new();
    for engine in ENGINES {
        let burn = burn_ns(tries, engine)?;
        let (mut seen, mut walls, mut ratios) = (0, Vec::new(), Vec::new());
        for number in 1..=tries.count {
            let (seed, option) = (number.to_string(), format!("B.burn_ns={burn}"));
            let words = ["--option", &option, "--records", "1M", "--detect", "1%", "--duration", "500ms"];
            let words = words.into_iter().chain(["--budget", "14s", "--seed", &seed]);
            let words: Vec<String> = [engine, engine].into_iter().chain(words).map(str::to_owned).collect();
            let one = diff(tries, &format!("{engine}-{number}"), &words, DETECT)?;
            let slower = one.comparison.as_ref().is_some_and(|one| one.high.is_some_and(|high| high < 1.0));
            seen += u32::from(slower && one.wall_s <= SECONDS);
            walls.push(one.wall_s);
            ratios.extend(one.comparison.and_then(|one| one.ratio));
        }
        let words = |figure: Option<f64>| figure.map_or("none".to_owned(), |figure| format!("{figure:.3}"));
        lines.push(FidelityLine {
            target: format!("{engine} slowed by {burn} ns a get (3 %), seen within {SECONDS} s"),
            tries: tries.count as usize,
            figure: format!("{seen}; middle ratio {}, middle time {} s", words(middle(ratios)), words(middle(walls))),
            bound: format!("{} of 10", 10.0 * SHARE),
            is_met: f64::from(seen) >= SHARE * f64::from(tries.count),
        });
    }
    Ok(FidelityTable::new(lines))
}

/// So much of a get's CPU time, as it is measured without anything burnt.
fn burn_ns(tries: &Tries, engine: &str) -> io::Result<u64> {
    let words = [engine, "--records", "1M", "--workload", "readrandom", "--readers", "1", "--repeat", "1"];
    let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    let results = tries.results(&format!("{engine}-plain"), &words)?;
    let of_get = results.iter().filter(|result| result.trial.readers > 0).find_map(|run| run.cpu_us_per_operation());
    let (user_us, sys_us) = of_get.ok_or_else(|| io::Error::other("a run without operations"))?;
    Ok((1000.0 * (user_us + sys_us) * SLOWDOWN).round() as u64)
}
