//! The row `designs`: duets, slices and long turns of the same pairs of engines say the same.

use std::convert::Infallible;
use std::io;

use kvdyno_analysis::verdicts::{Aspect, Terms, compare, have_cpu_time, paired};
use kvdyno_analysis::{Series, cells};
use kvdyno_results::latency_log::LatencyLog;
use kvdyno_results::{Phase, Side, TrialKey, TrialResult};

use crate::pairs::{counted, middle};
use crate::table::{FidelityLine, FidelityTable};
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

/// Does what is not there yet, and holds it against the target. A try is a repeat.
pub fn measure(tries: &Tries) -> io::Result<FidelityTable> {
    let of_all = |name: &str, design: &[&str]| results(tries, name, &ENGINES, design);
    let (slices, turns) = (of_all("slices", &SLICES)?, of_all("turns", &TURNS)?);
    let mut pairs = Vec::new();
    for (index, one) in ENGINES.iter().enumerate() {
        for other in &ENGINES[index + 1..] {
            let duet = results(tries, &format!("duet-{one}-{other}").replace(':', "-"), &[one, other], &DUET)?;
            let by_design = [&duet, &slices, &turns].map(|results| log_ratio(results, one, other));
            let [Some(duet), Some(slices), Some(turns)] = by_design else {
                return Err(io::Error::other(format!("{one} and {other}: a design has no ratio of them")));
            };
            pairs.push([duet, slices, turns]);
        }
    }
    let lines = [("duets and slices", 0, 1), ("duets and long turns", 0, 2), ("slices and long turns", 1, 2)];
    Ok(FidelityTable::new(lines.map(|(words, one, other)| line(words, &pairs, (one, other))).into()))
}

fn line(words: &str, pairs: &[[f64; 3]], (one, other): (usize, usize)) -> FidelityLine {
    let distances: Vec<f64> = pairs.iter().map(|ratios| (ratios[one] - ratios[other]).abs()).collect();
    let agree = distances.iter().filter(|distance| **distance <= MOST_DISTANCE).count();
    let most = distances.iter().copied().fold(0.0, f64::max);
    let middle = middle(distances).unwrap_or(f64::NAN);
    FidelityLine {
        target: format!("{words}: ratios of two engines at most 2 % apart"),
        tries: pairs.len(),
        figure: format!("{}; middle {:.1} %, most {:.1} %", counted(agree, pairs.len()), 100.0 * middle, 100.0 * most),
        bound: "19 of 20".to_owned(),
        is_met: agree as f64 >= AGREE * pairs.len() as f64,
    }
}

fn results(tries: &Tries, name: &str, engines: &[&str], design: &[&str]) -> io::Result<Vec<TrialResult>> {
    let repeat = tries.count.to_string();
    let repeats = ["--repeat", &repeat];
    let words = engines.iter().chain(&WORK).chain(design).chain(&repeats).copied();
    tries.results(name, &words.map(str::to_owned).collect::<Vec<_>>())
}

/// The logarithm of the ratio of `one` over `other`, over repeats.
fn log_ratio(results: &[TrialResult], one: &str, other: &str) -> Option<f64> {
    let no_latencies = |_: &TrialKey| Ok::<_, Infallible>(LatencyLog::new());
    let Ok(cells) = cells(results, &Series::new(), no_latencies);
    let of = |engine: &str| cells.iter().find(|cell| cell.key.phase == Phase::Run && cell.key.engine == engine);
    let both = [of(one)?, of(other)?];
    let compared = if have_cpu_time(&both) { Aspect::CpuTime } else { Aspect::Throughput(Side::Reads) };
    let pair = paired(both[0], both[1], compared);
    Some(compare(&pair, &Terms::default()).ratio?.ln())
}
