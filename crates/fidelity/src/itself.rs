//! The row `itself`: real engines compared with themselves, reading and writing, on fresh databases, while a second
//! process competes for a processor. The two sides may come out as different no more often than intervals of 95 %
//! allow: over all engines, 15 of 200. The intervals must be narrow, so that `cannot tell` wins nothing.

use std::io;

use kvdyno_analysis::verdicts::VerdictFigure;

use crate::pairs::{ENGINES, PairTry, counted, middle, most_of};
use crate::table::FidelityLine;
use crate::tries::{Busy, Tries};

const DETECT: f64 = 0.03;
/// Time for some repeats, so that 200 take less than an hour.
const BUDGET: &str = "15s";
/// So few that each repeat's databases are loaded in a moment.
const RECORDS: &str = "50k";

/// Work that is compared with itself.
struct OwnWork {
    workload: &'static str,
    /// Comparisons of each engine to a try.
    comparisons: u32,
    /// The most that half of an interval may be.
    half_width: f64,
}

/// Five comparisons of each of eight engines to a try: five tries are 200.
const WORKS: [OwnWork; 2] = [
    OwnWork { workload: "readrandom", comparisons: 4, half_width: 0.03 },
    OwnWork { workload: "overwrite", comparisons: 1, half_width: 0.1 },
];

/// One comparison of an engine with itself.
pub(crate) struct OwnTry {
    pub(crate) engine: &'static str,
    pub(crate) workload: &'static str,
    pub(crate) pair: PairTry,
}

/// Does what is not there yet, and holds it against the targets. Engines take turns, so that what is there is of all of
/// them whenever the time is over.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let mut all = Vec::new();
    for number in 1..=tries.count {
        for work in &WORKS {
            for seed in (number - 1) * work.comparisons + 1..=number * work.comparisons {
                for engine in ENGINES {
                    let workload = work.workload;
                    let pair = against_itself(tries, engine, workload, seed)?;
                    all.extend(pair.map(|pair| OwnTry { engine, workload, pair }));
                }
            }
        }
    }
    let of_engines = ENGINES.map(|engine| different_of(&all, engine));
    Ok([vec![different(&all)], of_engines.into(), WORKS.iter().map(|work| half_width(&all, work)).collect()].concat())
}

fn against_itself(tries: &Tries, engine: &str, workload: &str, seed: u32) -> io::Result<Option<PairTry>> {
    let name = format!("{engine}-{workload}-{seed}-beside").replace(':', "-");
    let seed = seed.to_string();
    let words = ["--workload", workload, "--records", RECORDS, "--detect", "3%", "--budget", BUDGET];
    // A diff of one engine would share a load.
    let words = [engine, engine].into_iter().chain(words).chain(["--database", "fresh", "--seed", &seed]);
    let words: Vec<String> = words.map(str::to_owned).collect();
    Ok(tries.diff(Some(Busy::Thirds), &name, &words)?.map(|one| PairTry::of(&one, VerdictFigure::Throughput, DETECT)))
}

/// How many were called different over all engines. One that has no comparison is no try, and fails the line.
pub(crate) fn different(all: &[OwnTry]) -> FidelityLine {
    let (different, tried) = called_different(all.iter());
    let (most, without) = (most_of(tried, 0.05), all.len() - tried);
    let failed = if without > 0 { format!("; {without} compared nothing") } else { String::new() };
    FidelityLine {
        target: format!("{} engines against themselves: different", ENGINES.len()),
        tries: tried,
        figure: counted(different, tried) + &failed,
        bound: format!("at most {most}"),
        is_met: tried > 0 && without == 0 && different <= most,
    }
}

/// The part of an engine in that sum, without a target: of eight bounds for so few comparisons each, one would be
/// exceeded by chance too often.
fn different_of(all: &[OwnTry], engine: &str) -> FidelityLine {
    let (different, tried) = called_different(all.iter().filter(|one| one.engine == engine));
    FidelityLine::without_target(format!("of these {engine}"), tried, counted(different, tried))
}

/// How many were called different, and of how many comparisons.
fn called_different<'a>(all: impl Iterator<Item = &'a OwnTry>) -> (usize, usize) {
    let compared: Vec<_> = all.filter_map(|one| one.pair.comparison.as_ref()).collect();
    (compared.iter().filter(|comparison| comparison.differs).count(), compared.len())
}

/// The median half-width of the engine with the widest.
fn half_width(all: &[OwnTry], work: &OwnWork) -> FidelityLine {
    let of_work = |engine: &str| -> Vec<f64> {
        let tries = all.iter().filter(|one| (one.engine, one.workload) == (engine, work.workload));
        tries.filter_map(|one| one.pair.half_width()).collect()
    };
    let widths: Vec<(&str, Vec<f64>)> = ENGINES.map(|engine| (engine, of_work(engine))).into();
    let tried = widths.iter().map(|(_, widths)| widths.len()).sum();
    let medians = widths.into_iter().filter_map(|(engine, widths)| Some((engine, middle(widths)?)));
    let widest = medians.max_by(|one, other| one.1.total_cmp(&other.1));
    FidelityLine {
        target: format!("{}: half-width, median of the engine with the widest", work.workload),
        tries: tried,
        figure: widest.map_or("none".to_owned(), |(engine, width)| format!("{:.2} %, {engine}", 100.0 * width)),
        bound: format!("{:.0} %", 100.0 * work.half_width),
        is_met: widest.is_some_and(|(_, width)| width <= work.half_width),
    }
}

#[cfg(test)]
mod tests {
    use kvdyno_analysis::verdicts::{PairedRatios, Terms, compare};

    use super::*;

    /// A comparison with this ratio in its repeats, up and down by a thousandth; without a ratio, none.
    fn one(engine: &'static str, workload: &'static str, log_ratio: Option<f64>) -> OwnTry {
        let of = |log_ratio: f64| PairedRatios::of(&[log_ratio - 0.001, log_ratio, log_ratio + 0.001]);
        let comparison = log_ratio.map(|log_ratio| compare(&of(log_ratio), &Terms::default()));
        OwnTry { engine, workload, pair: PairTry { comparison, wall_s: 1.0 } }
    }

    #[test]
    fn two_hundred_may_be_called_different_fifteen_times() {
        let all = |differ: usize| -> Vec<OwnTry> {
            let log_ratio = |index: usize| if index < differ { 0.1 } else { 0.0 };
            (0..200).map(|index| one(ENGINES[index % 8], "readrandom", Some(log_ratio(index)))).collect()
        };
        let line = different(&all(15));
        assert_eq!((line.tries, line.bound.as_str(), line.is_met), (200, "at most 15", true));
        assert!(!different(&all(16)).is_met && !different(&[]).is_met);
        let line = different(&[one("lmdb", "readrandom", Some(0.0)), one("lmdb", "readrandom", None)]);
        assert_eq!((line.tries, line.is_met), (1, false));
        assert!(line.figure.ends_with("; 1 compared nothing"), "{}", line.figure);
    }

    /// An engine that is always called different is hidden in a sum.
    #[test]
    fn an_engine_has_a_line_of_its_own() {
        let log_ratio = |engine: &str| if engine == "bdb" { 0.1 } else { 0.0 };
        let all: Vec<OwnTry> = (0..200)
            .map(|index| ENGINES[index % 8])
            .enumerate()
            .map(|(index, engine)| one(engine, "readrandom", Some(if index < 40 { log_ratio(engine) } else { 0.0 })))
            .collect();
        assert!(different(&all).is_met);
        let [bdb, lmdb] = ["bdb", "lmdb"].map(|engine| different_of(&all, engine));
        assert_eq!((bdb.target.as_str(), bdb.tries, bdb.bound.as_str()), ("of these bdb", 25, ""));
        assert!(bdb.figure.starts_with("5 of 25 ("), "{}", bdb.figure);
        assert!(lmdb.figure.starts_with("0 of 25 ("), "{}", lmdb.figure);
    }

    #[test]
    fn five_tries_are_two_hundred_comparisons() {
        let of_engine: u32 = WORKS.iter().map(|work| work.comparisons).sum();
        assert_eq!(5 * of_engine as usize * ENGINES.len(), 200);
    }

    #[test]
    fn the_engine_with_the_widest_interval_counts() {
        let all = [one("lmdb", "overwrite", Some(0.0)), one("bdb", "readrandom", Some(0.0))];
        assert!(half_width(&all, &WORKS[0]).figure.ends_with(" %, bdb"));
        assert!(half_width(&all, &WORKS[1]).is_met && half_width(&all, &WORKS[1]).tries == 1);
        assert!(!half_width(&[], &WORKS[0]).is_met);
    }
}
