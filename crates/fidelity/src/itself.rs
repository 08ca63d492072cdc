//! The row `itself`: real engines compared with themselves, reading and writing, on fresh databases, while a second
//! process competes for a processor. The two sides may come out as different no more often than intervals of 95 %
//! allow. The intervals must be narrow, so that `cannot tell` wins nothing.

use std::io;

use crate::pairs::{counted, diff_beside_busy_process, middle, most_of};
use crate::table::{FidelityLine, FidelityTable};
use crate::tries::Tries;

const ENGINES: [&str; 4] = ["lmdb", "leveldb", "bdb", "rocksdb"];
const DETECT: f64 = 0.03;
/// Time enough for the databases of all of them.
const BUDGET: &str = "60s";

/// Work that is compared with itself.
struct OwnWork {
    workload: &'static str,
    /// Divisor of the number of tries.
    rarer: u32,
    /// The most that half of an interval may be.
    half_width: f64,
}

const WORKS: [OwnWork; 2] = [
    OwnWork { workload: "readrandom", rarer: 1, half_width: 0.03 },
    OwnWork { workload: "overwrite", rarer: 4, half_width: 0.1 },
];

/// Does what is not there yet, and holds it against the targets.
pub fn measure(tries: &Tries) -> io::Result<FidelityTable> {
    let mut lines = Vec::new();
    for work in &WORKS {
        for engine in ENGINES {
            lines.extend(against_itself(tries, engine, work)?);
        }
    }
    Ok(FidelityTable::new(lines))
}

fn against_itself(tries: &Tries, engine: &str, work: &OwnWork) -> io::Result<[FidelityLine; 2]> {
    let (mut different, mut widths) = (0, Vec::new());
    let count = tries.count.div_ceil(work.rarer);
    for number in 1..=count {
        let seed = number.to_string();
        let words = ["--workload", work.workload, "--records", "1M", "--detect", "3%", "--budget", BUDGET];
        // A diff of one engine would share a load.
        let words = [engine, engine].into_iter().chain(words).chain(["--database", "fresh", "--seed", &seed]);
        let words: Vec<String> = words.map(str::to_owned).collect();
        let one = diff_beside_busy_process(tries, &format!("{engine}-{}-{number}", work.workload), &words, DETECT)?;
        different += usize::from(one.comparison.as_ref().is_some_and(|one| one.differs));
        widths.extend(one.half_width());
    }
    let most = most_of(count as usize, 0.05);
    let what = format!("{engine} against itself, {}", work.workload);
    let differing = FidelityLine {
        target: format!("{what}: different"),
        tries: count as usize,
        figure: counted(different, count as usize),
        bound: format!("at most {most}"),
        is_met: different <= most,
    };
    let (tried, width) = (widths.len(), middle(widths));
    let wide = FidelityLine {
        target: format!("{what}: half-width, median"),
        tries: tried,
        figure: width.map_or("none".to_owned(), |width| format!("{:.2} %", 100.0 * width)),
        bound: format!("{:.0} %", 100.0 * work.half_width),
        is_met: width.is_some_and(|width| width <= work.half_width),
    };
    Ok([differing, wide])
}
