//! The row `itself`: real engines against themselves, on fresh databases. Nothing may come out as different more often
//! than intervals of 95 % allow, and the intervals must be narrow, so that `cannot tell` wins nothing.

use std::io;

use crate::pairs::{diff, middle, most_of};
use crate::table::{FidelityLine, FidelityTable};
use crate::tries::Tries;

const ENGINES: [&str; 4] = ["lmdb", "leveldb", "bdb", "rocksdb"];
const DETECT: f64 = 0.03;
/// The most that half of an interval may be, for reads.
const HALF_WIDTH: f64 = 0.03;
/// Time enough for the databases of all of them.
const BUDGET: &str = "60s";

/// Does what is not there yet, and holds it against the targets.
pub fn measure(tries: &Tries) -> io::Result<FidelityTable> {
    let mut lines = Vec::new();
    for engine in ENGINES {
        let (mut different, mut widths) = (0, Vec::new());
        for number in 1..=tries.count {
            let words = ["--records", "1M", "--detect", "3%", "--budget", BUDGET, "--seed", &number.to_string()];
            let words: Vec<String> = [engine, engine].iter().chain(&words).map(|word| (*word).to_owned()).collect();
            let one = diff(tries, &format!("{engine}-{number}"), &words, DETECT)?;
            different += usize::from(one.comparison.as_ref().is_some_and(|one| one.differs));
            widths.extend(one.half_width());
        }
        let most = most_of(tries.count as usize, 0.05);
        lines.push(FidelityLine {
            target: format!("{engine} against itself: different"),
            tries: tries.count as usize,
            figure: different.to_string(),
            bound: format!("at most {most}"),
            is_met: different <= most,
        });
        let (tried, width) = (widths.len(), middle(widths));
        lines.push(FidelityLine {
            target: format!("{engine} against itself: half-width, median"),
            tries: tried,
            figure: width.map_or("none".to_owned(), |width| format!("{:.2} %", 100.0 * width)),
            bound: format!("{:.0} %", 100.0 * HALF_WIDTH),
            is_met: width.is_some_and(|width| width <= HALF_WIDTH),
        });
    }
    Ok(FidelityTable::new(lines))
}
