//! The row `twentieth`: eight engines with one and two readers, in a twentieth of the time that ten minutes for each
//! cell take. What a run ten times as long decides must not come out the other way round, and most of it must be
//! decided. It takes two calls of an hour, one for each number of readers.

use std::io;

use kvdyno_analysis::verdicts::{Aspect, Looks, Pairing, Terms, Verdict};
use kvdyno_analysis::{Cell, SameWork, cells_of_results, same_work};
use kvdyno_results::{Phase, Side, TrialResult};

use crate::pairs::{ENGINES, counted};
use crate::table::FidelityLine;
use crate::tries::Tries;

/// Numbers of readers: a column each, with runs of its own, so that five short runs and the long one of a column take
/// an hour.
const READERS: [&str; 2] = ["1", "2"];
/// A twentieth of the eight cells of a column, of ten minutes each.
const SHORT: &str = "4m";
/// Ten times as long.
const LONG: &str = "40m";
/// The share of the pairs that the long run decides that the short one must decide.
const DECIDED: f64 = 0.9;

/// Does what is not there yet, and holds it against the targets. A try is a short run; the long one is done once.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let (mut of, mut decided, mut reversed) = (0, 0, 0);
    for readers in READERS {
        let long = verdicts(&run(tries, "long", readers, LONG, 1)?.unwrap_or_default());
        for number in 1..=tries.count {
            let Some(short) = run(tries, &format!("short-{number}"), readers, SHORT, number)? else { continue };
            let short = verdicts(&short);
            for (pair, long) in long.iter().filter(|(_, long)| long.is_decided()) {
                let short = short.iter().find(|(other, _)| other == pair);
                let short = short.map_or(Verdict::CannotTell, |(_, short)| *short);
                of += 1;
                decided += usize::from(short.is_decided());
                let differ = |one: Verdict| matches!(one, Verdict::Faster | Verdict::Slower);
                reversed += usize::from(differ(*long) && short == long.reversed());
            }
        }
    }
    Ok(vec![
        FidelityLine {
            target: "pairs that the long run decides, the other way round".to_owned(),
            tries: of,
            figure: counted(reversed, of),
            bound: "none".to_owned(),
            is_met: of > 0 && reversed == 0,
        },
        FidelityLine {
            target: "the same, decided".to_owned(),
            tries: of,
            figure: counted(decided, of),
            bound: "9 of 10".to_owned(),
            is_met: of > 0 && decided as f64 >= DECIDED * of as f64,
        },
    ])
}

fn run(tries: &Tries, name: &str, readers: &str, budget: &str, seed: u32) -> io::Result<Option<Vec<TrialResult>>> {
    let seed = seed.to_string();
    let words = ["--workload", "readrandom", "--records", "1M", "--readers", readers, "--repeat", "auto"];
    let more = ["--question", "difference", "--budget", budget, "--seed", &seed];
    let words = ENGINES.iter().chain(&words).chain(&more).map(|word| (*word).to_owned());
    tries.results(&format!("{name}-of-{readers}"), &words.collect::<Vec<_>>())
}

/// The verdicts of all pairs: the number of the column, and the two engines in the order of their names.
fn verdicts(results: &[TrialResult]) -> Vec<((usize, String, String), Verdict)> {
    let mut cells = cells_of_results(results);
    cells.sort_by(|one, other| (one.key.readers, &one.key.engine).cmp(&(other.key.readers, &other.key.engine)));
    let cells: Vec<&Cell<'_>> = cells.iter().collect();
    let terms = Terms { looks: Looks::AfterEach, ..Terms::default() };
    let of_column = |(column, same): (usize, &SameWork)| {
        let engine = |index: usize| cells[same.cells[index]].key.engine.clone();
        let of_pair = |pairing: Pairing| {
            let (one, other) = (engine(pairing.one), engine(pairing.other));
            let verdict = pairing.comparison.verdict;
            match one <= other {
                true => ((column, one, other), verdict),
                false => ((column, other, one), verdict.reversed()),
            }
        };
        same.rivals(&cells, Aspect::Throughput(Side::Reads))
            .all_pairs(&terms)
            .into_iter()
            .map(of_pair)
            .collect::<Vec<_>>()
    };
    let columns: Vec<SameWork> = same_work(&cells).into_iter().filter(|same| same.phase == Phase::Run).collect();
    columns.iter().enumerate().flat_map(of_column).collect()
}
