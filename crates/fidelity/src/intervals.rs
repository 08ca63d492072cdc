//! The row `intervals`: simulated comparisons, whose truth is known, hold it in 94 to 96 of 100.

use std::collections::BTreeMap;
use std::io;

use kvdyno_analysis::simulation::{SimulatedCoverage, SimulatedEnd, simulate, simulated_comparisons};

use crate::table::FidelityLine;
use crate::tries::Tries;

/// Simulations of each comparison, whatever the number of tries of other rows.
const SIMULATED: usize = 10_000;
/// The least and the most of the intervals that hold the truth.
const SHARES: (f64, f64) = (0.94, 0.96);

/// Simulates what is not there yet, and holds it against the target.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let mut by_end: BTreeMap<String, Vec<SimulatedCoverage>> = BTreeMap::new();
    for (seed, what) in (0u64..).zip(simulated_comparisons()) {
        let held =
            tries.figure(&format!("comparison-{seed}-{SIMULATED}"), || simulate(&what, SIMULATED, seed).held as f64)?;
        let Some(held) = held else { continue };
        let coverage = SimulatedCoverage { tries: SIMULATED, held: held as usize, ..SimulatedCoverage::default() };
        by_end.entry(words(what.end)).or_default().push(coverage);
    }
    Ok(by_end.iter().map(|(end, all)| line(end, all)).collect())
}

fn words(end: SimulatedEnd) -> String {
    match end {
        SimulatedEnd::After(count) => format!("{count:2} repeats"),
        SimulatedEnd::Decided => "stopped when decided".to_owned(),
        SimulatedEnd::Precise(half) => format!("stopped at ± {:.0} %", 100.0 * half),
        SimulatedEnd::Missed => "stopped when the truth was missed".to_owned(),
    }
}

/// The lowest and the highest share of intervals that hold the truth, over all kinds of noise.
fn line(end: &str, all: &[SimulatedCoverage]) -> FidelityLine {
    let by_share = |one: &&SimulatedCoverage, other: &&SimulatedCoverage| one.share().total_cmp(&other.share());
    let share = |one: Option<&SimulatedCoverage>| match one {
        None => "none".to_owned(),
        Some(one) => {
            let (low, high) = one.bounds();
            format!("{:.1} % ({:.1} to {:.1})", 100.0 * one.share(), 100.0 * low, 100.0 * high)
        }
    };
    let (least, most) = (all.iter().min_by(by_share), all.iter().max_by(by_share));
    let is_within = |one: &SimulatedCoverage| (SHARES.0..=SHARES.1).contains(&one.share());
    FidelityLine {
        target: format!("{}: intervals at 95 % hold the truth", end.trim()),
        tries: SIMULATED * all.len(),
        figure: format!("{} to {}", share(least), share(most)),
        bound: "94 to 96 %".to_owned(),
        is_met: all.iter().all(is_within),
    }
}
