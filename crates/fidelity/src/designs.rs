//! The row `designs`: duets, slices and long turns of the same pairs of engines say the same. A duet is compared by CPU
//! time and by nothing else: where that compares nothing the pair is not counted, and the line says so.

use std::io;

use kvdyno_analysis::cells_of_results;
use kvdyno_analysis::verdicts::{Aspect, PairedRatio, PairedRatios, Terms, compare, paired};
use kvdyno_results::{Side, TrialResult};

use crate::pairs::{counted, middle, pairs_of, run_of};
use crate::table::FidelityLine;
use crate::tries::Tries;

/// Engines whose reads are bound by the processor once their database is in memory, so that each design may be used: 21
/// pairs.
const ENGINES: [&str; 7] = ["lmdb", "mdbx", "bdb", "leveldb", "rocksdb", "sqlite", "wiredtiger:btree"];
/// Largest difference between two designs, in the logarithm of a ratio.
const MOST_DISTANCE: f64 = 0.02;
/// The share of pairs that must agree.
const AGREE: f64 = 0.95;

const WORK: [&str; 8] = ["--workload", "readrandom", "--records", "1M", "--readers", "1", "--database", "snapshot"];
const SLICES: [&str; 6] = ["--design", "slices", "--duration", "4s", "--warmup", "1s"];
const TURNS: [&str; 6] = ["--design", "turns", "--duration", "15s", "--warmup", "1s"];
const DUET: [&str; 6] = ["--design", "duet", "--duration", "2s", "--warmup", "500ms"];

const BY_RATE: Aspect = Aspect::Throughput(Side::Reads);

/// The logarithms of the ratios of two engines, by each design that tells one.
struct DesignPair {
    names: String,
    by_design: [Option<f64>; 3],
    /// Why the duet tells none.
    refusal: Option<String>,
}

/// Does what is not there yet, and holds it against the target. A try is a repeat.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let of_all = |name: &str, design: &[&str]| results(tries, name, &ENGINES, design);
    let (slices, turns) = (of_all("slices", &SLICES)?, of_all("turns", &TURNS)?);
    let mut pairs = Vec::new();
    for (one, other) in pairs_of(&ENGINES) {
        let duet = results(tries, &format!("duet-{one}-{other}").replace(':', "-"), &[one, other], &DUET)?;
        let (Some(duet), Some(slices), Some(turns)) = (duet, &slices, &turns) else { continue };
        let rates = |results: &[TrialResult]| log_ratio(results, one, other, BY_RATE);
        let refusal = duet.iter().find_map(TrialResult::against_cpu_time).map(|why| why.to_string());
        let by_duet = log_ratio(&duet, one, other, Aspect::CpuTime).filter(|_| refusal.is_none());
        pairs.push(DesignPair {
            names: format!("{one} and {other}"),
            by_design: [by_duet, rates(slices), rates(turns)],
            refusal,
        });
    }
    let lines = [("duets and slices", 0, 1), ("duets and long turns", 0, 2), ("slices and long turns", 1, 2)];
    Ok(lines.map(|(words, one, other)| line(words, &pairs, (one, other))).into())
}

fn line(words: &str, pairs: &[DesignPair], (one, other): (usize, usize)) -> FidelityLine {
    let distance = |pair: &DesignPair| Some((pair.by_design[one]? - pair.by_design[other]?).abs());
    let distances: Vec<f64> = pairs.iter().filter_map(distance).collect();
    let without = |pair: &DesignPair| match distance(pair) {
        None => Some(format!("{}, {}", pair.names, pair.refusal.as_deref().unwrap_or("no ratio"))),
        Some(_) => None,
    };
    let without: Vec<String> = pairs.iter().filter_map(without).collect();
    let tried = distances.len();
    let agree = distances.iter().filter(|distance| **distance <= MOST_DISTANCE).count();
    let most = distances.iter().copied().fold(0.0, f64::max);
    let not_counted = match without.len() {
        0 => String::new(),
        count => format!("; {count} not counted: {}", without.join("; ")),
    };
    let told = |middle: f64| format!("; middle {:.1} %, most {:.1} %", 100.0 * middle, 100.0 * most);
    let figure = counted(agree, tried) + &middle(distances).map_or(String::new(), told);
    FidelityLine {
        target: format!("{words}: ratios of two engines at most 2 % apart"),
        tries: tried,
        figure: figure + &not_counted,
        bound: "19 of 20".to_owned(),
        is_met: tried > 0 && agree as f64 >= AGREE * tried as f64,
    }
}

fn results(tries: &Tries, name: &str, engines: &[&str], design: &[&str]) -> io::Result<Option<Vec<TrialResult>>> {
    let repeat = tries.count.to_string();
    let repeats = ["--repeat", &repeat];
    let words = engines.iter().chain(&WORK).chain(design).chain(&repeats).copied();
    tries.results(name, &words.map(str::to_owned).collect::<Vec<_>>())
}

/// The logarithm of the ratio of `one` over `other`, over repeats. That of a duet is its own: kvdyno itself would take
/// that of the slices where the two differ, which is what this row is to tell.
fn log_ratio(results: &[TrialResult], one: &str, other: &str, compared: Aspect) -> Option<f64> {
    let cells = cells_of_results(results);
    let pair = paired(run_of(&cells, one)?, run_of(&cells, other)?, compared);
    let own = |ratio: &PairedRatio| PairedRatio { by_slices: None, ..*ratio };
    let pair = PairedRatios { ratios: pair.ratios.iter().map(own).collect(), ..pair };
    Some(compare(&pair, &Terms::default()).ratio?.ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(by_design: [Option<f64>; 3], refusal: Option<&str>) -> DesignPair {
        DesignPair { names: "lmdb and bdb".to_owned(), by_design, refusal: refusal.map(str::to_owned) }
    }

    #[test]
    fn a_duet_that_compares_nothing_is_not_counted_and_told() {
        let near = || pair([Some(0.5), Some(0.51), Some(0.4)], None);
        let refused = || pair([None, Some(0.5), Some(0.5)], Some("clients slept 3.2 % of the time"));
        let with_duets = line("duets and slices", &[near(), refused()], (0, 1));
        assert_eq!((with_duets.tries, with_duets.is_met), (1, true));
        let told = "; 1 not counted: lmdb and bdb, clients slept 3.2 % of the time";
        assert!(with_duets.figure.ends_with(told), "{}", with_duets.figure);
        let without_duets = line("slices and turns", &[near(), refused()], (1, 2));
        assert_eq!((without_duets.tries, without_duets.is_met), (2, false));
        assert!(!line("duets and slices", &[refused()], (0, 1)).is_met);
    }
}
