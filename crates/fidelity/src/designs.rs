//! The row `designs`: duets, slices and long turns of the same pairs of engines say the same. A duet is compared by CPU
//! time and by nothing else: where that compares nothing the pair is not counted, and the line says so. A last line has
//! what a duet adds to each engine's operations, which its ratio keeps where it is not the same for both.

use std::io;

use kvdyno_analysis::cells_of_results;
use kvdyno_analysis::verdicts::{Aspect, PairedRatio, PairedRatios, Terms, compare, paired};
use kvdyno_results::{Phase, Side, TrialResult};

use crate::pairs::{counted, half_width, middle, pairs_of, run_of};
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

/// The ratio of two engines by one design.
#[derive(Clone, Copy)]
struct DesignRatio {
    log_ratio: f64,
    /// Half of its interval, of the logarithm.
    half_width: f64,
}

/// The ratios of two engines, by each design that tells one.
struct DesignPair {
    names: String,
    by_design: [Option<DesignRatio>; 3],
    /// Why the duet tells none.
    refusal: Option<String>,
}

/// Does what is not there yet, and holds it against the target. A try is a repeat.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let of_all = |name: &str, design: &[&str]| results(tries, name, &ENGINES, design);
    let (slices, turns) = (of_all("slices", &SLICES)?, of_all("turns", &TURNS)?);
    let (mut pairs, mut beside) = (Vec::new(), Vec::new());
    for (one, other) in pairs_of(&ENGINES) {
        let duet = results(tries, &format!("duet-{one}-{other}").replace(':', "-"), &[one, other], &DUET)?;
        let (Some(duet), Some(slices), Some(turns)) = (duet, &slices, &turns) else { continue };
        beside.extend([one, other].iter().filter_map(|engine| beside_over_alone(&duet, engine)));
        let rates = |results: &[TrialResult]| ratio(results, one, other, BY_RATE);
        let refusal = duet.iter().find_map(TrialResult::against_cpu_time).map(|why| why.to_string());
        let by_duet = ratio(&duet, one, other, Aspect::CpuTime).filter(|_| refusal.is_none());
        pairs.push(DesignPair {
            names: format!("{one} and {other}"),
            by_design: [by_duet, rates(slices), rates(turns)],
            refusal,
        });
    }
    let lines = [("duets and slices", 0, 1), ("duets and long turns", 0, 2), ("slices and long turns", 1, 2)];
    let lines = lines.map(|(words, one, other)| line(words, &pairs, (one, other)));
    Ok(lines.into_iter().chain([line_of_duets(beside)]).collect())
}

/// CPU time of engines' operations beside another's, over that alone.
fn line_of_duets(mut beside: Vec<f64>) -> FidelityLine {
    beside.sort_by(f64::total_cmp);
    let tried = beside.len();
    let figure = match (beside.first().copied(), beside.last().copied(), middle(beside)) {
        (Some(least), Some(most), Some(middle)) => format!("{least:.2} to {most:.2} times, middle {middle:.2}"),
        _ => "none".to_owned(),
    };
    let target = "CPU time per operation in duets over that alone, each engine of each pair".to_owned();
    FidelityLine::without_target(target, tried, figure)
}

fn line(words: &str, pairs: &[DesignPair], (one, other): (usize, usize)) -> FidelityLine {
    let both = |pair: &DesignPair| pair.by_design[one].zip(pair.by_design[other]);
    let distance_of = |(one, other): (DesignRatio, DesignRatio)| (one.log_ratio - other.log_ratio).abs();
    let distance = |pair: &DesignPair| both(pair).map(distance_of);
    let distances: Vec<f64> = pairs.iter().filter_map(distance).collect();
    let overlap = |both: &(DesignRatio, DesignRatio)| distance_of(*both) <= both.0.half_width + both.1.half_width;
    let overlapping = pairs.iter().filter_map(both).filter(overlap).count();
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
    let told = |middle: f64| {
        let (middle, most) = (100.0 * middle, 100.0 * most);
        format!("; middle {middle:.1} %, most {most:.1} %; intervals of {overlapping} overlap")
    };
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

/// The ratio of `one` over `other`, over repeats. That of a duet is its own: kvdyno itself would take that of slices
/// where the two differ, which is what this row is to tell.
fn ratio(results: &[TrialResult], one: &str, other: &str, compared: Aspect) -> Option<DesignRatio> {
    let cells = cells_of_results(results);
    let pair = paired(run_of(&cells, one)?, run_of(&cells, other)?, compared);
    let own = |ratio: &PairedRatio| PairedRatio { by_slices: None, ..*ratio };
    let pair = PairedRatios { ratios: pair.ratios.iter().map(own).collect(), ..pair };
    let comparison = compare(&pair, &Terms::default());
    Some(DesignRatio { log_ratio: comparison.ratio?.ln(), half_width: half_width(&comparison)? })
}

/// CPU time per operation of an engine in the duets of its trials over that in their other slices, in the middle of the
/// repeats.
fn beside_over_alone(duet: &[TrialResult], engine: &str) -> Option<f64> {
    let of_engine = duet.iter().filter(|result| result.trial.engine == engine && result.trial.phase == Phase::Run);
    let times = |result: &TrialResult| {
        let beside = result.design.as_ref()?.duet?.operations_per_cpu_s()?;
        Some(result.operations_per_cpu_s_alone()? / beside)
    };
    middle(of_engine.filter_map(times).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With intervals of ± 2 %.
    fn pair(log_ratios: [Option<f64>; 3], refusal: Option<&str>) -> DesignPair {
        let by_design = log_ratios.map(|ratio| ratio.map(|log_ratio| DesignRatio { log_ratio, half_width: 0.02 }));
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

    #[test]
    fn intervals_that_overlap_are_counted() {
        let pairs = [0.5, 0.53, 0.55].map(|other| pair([Some(0.5), Some(other), None], None));
        let line = line("duets and slices", &pairs, (0, 1));
        assert!(line.figure.contains("1 of 3") && line.figure.ends_with("intervals of 2 overlap"), "{}", line.figure);
    }

    #[test]
    fn what_duets_add_is_told_from_the_least_to_the_most() {
        assert_eq!(line_of_duets(vec![1.2, 1.1, 1.13]).figure, "1.10 to 1.20 times, middle 1.13");
        assert_eq!(line_of_duets(Vec::new()).figure, "none");
    }
}
