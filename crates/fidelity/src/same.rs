//! The row `same`: engines compared with themselves by CPU time, with nobody beside, on copies of a load that the two
//! swap, and on loads of their own. The two must be called the same in time.

use std::io;

use kvdyno_analysis::verdicts::{Verdict, VerdictFigure};

use crate::itself::{OwnTry, different};
use crate::pairs::{PairTry, counted, middle};
use crate::table::FidelityLine;
use crate::tries::Tries;

const DETECT: f64 = 0.03;
const ENGINES: [&str; 4] = ["lmdb", "leveldb", "bdb", "rocksdb"];
/// Comparisons of each of them to a try and origin of databases: five tries are 100 of each origin.
const COMPARISONS: u32 = 5;
/// A little less than the minute in which it must be told.
const BUDGET: &str = "57s";
const WITHIN_S: f64 = 60.0;
/// The share of comparisons that must be called the same in this time.
const CALLED_THE_SAME: f64 = 0.9;

/// Does what is not there yet of the row `same`, and holds it against the targets.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let mut lines = Vec::new();
    for (origin, words) in [("shared", "copies that they swap"), ("fresh", "loads of their own")] {
        let mut all = Vec::new();
        for seed in 1..=tries.count * COMPARISONS {
            for engine in ENGINES {
                let name = format!("{engine}-{origin}-{seed}-same");
                let seed = seed.to_string();
                let words = ["--workload", "readrandom", "--records", "1M", "--figure", "cpu", "--detect", "3%"];
                let more = ["--budget", BUDGET, "--database", origin, "--seed", &seed];
                let words: Vec<String> =
                    [engine, engine].iter().chain(&words).chain(&more).map(|&word| word.to_owned()).collect();
                let pair = tries.diff(None, &name, &words)?;
                let pair = pair.map(|one| PairTry::of(&one, VerdictFigure::CpuTime, DETECT));
                all.extend(pair.map(|pair| OwnTry { engine, workload: "readrandom", pair }));
            }
        }
        let different = different(&all);
        lines.push(FidelityLine { target: format!("{words}: different"), ..different });
        lines.push(called_the_same(words, &all));
    }
    Ok(lines)
}

fn called_the_same(words: &str, all: &[OwnTry]) -> FidelityLine {
    let is_same = |one: &&OwnTry| {
        let verdict = one.pair.comparison.as_ref().map(|comparison| comparison.verdict);
        verdict == Some(Verdict::Same) && one.pair.wall_s <= WITHIN_S
    };
    let same = all.iter().filter(is_same).count();
    let walls = middle(all.iter().map(|one| one.pair.wall_s).collect());
    FidelityLine {
        target: format!("{words}: the same within 3 %, within a minute"),
        tries: all.len(),
        figure: format!("{}, middle time {:.1} s", counted(same, all.len()), walls.unwrap_or_default()),
        bound: "9 of 10".to_owned(),
        is_met: !all.is_empty() && same as f64 >= CALLED_THE_SAME * all.len() as f64,
    }
}
