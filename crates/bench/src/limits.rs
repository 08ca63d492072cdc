//! The most that an operation of the driver's may cost, in instructions. `make test` holds them.

use std::io::Write;

use crate::BenchError;
use crate::counting::Counter;
use crate::table::{self, Costs, Dearer};

/// Limit of a verified and timed LMDB get: instructions above the bare loop.
const LMDB_GET_ABOVE_BARE: f64 = 50.0;
/// Limit of a timed step of LMDB's cursor, key and value verified: instructions above the bare loop.
const LMDB_STEP_ABOVE_BARE: f64 = 60.0;
/// Limit of a put in a batch, its key and value made and the write acknowledged: instructions above the bare loop.
const LMDB_PUT_ABOVE_BARE: f64 = 100.0;
/// Limit of a get of a record drawn by Zipf's law: instructions above a get of a record drawn uniformly.
const ZIPF_ABOVE_UNIFORM: f64 = 60.0;
/// The same limit for the power law within key ranges, and for the normal law.
const POWER_ABOVE_UNIFORM: f64 = 150.0;
const NORMAL_ABOVE_UNIFORM: f64 = 150.0;
/// Limit of a get in the loop that mixes operations: instructions above a loop of gets alone.
const MIX_ABOVE_PURE: f64 = 20.0;
/// Limit of a verified and timed get of the null engine, in instructions.
const NULL_GET: f64 = 220.0;
/// Limit of a get at a rate: instructions above one in a closed loop.
const AT_RATE_ABOVE_CLOSED: f64 = 60.0;
/// Limit of a get in a batch of the null engine, in instructions. It is drawn and noted before the batch is requested.
const NULL_BATCH_GET: f64 = 245.0;
/// Limit of a starting point of the 3n+1 computation, some ten gets and puts: the ratio to the bare program. It is a
/// ratio because nearly all instructions of either program are Berkeley DB's own, and they vary from one build to the
/// next.
const START_OVER_BARE: f64 = 1.03;

/// A count beside its limit, in words. A figure that is no number is above any limit.
struct Held {
    words: String,
    is_kept: bool,
}

fn instructions(what: &str, counted: f64, limit: f64) -> Held {
    let words = format!("{what:<58} {counted:8.1} of at most {limit:.0} instructions");
    Held { words, is_kept: counted <= limit }
}

fn ratio(what: &str, counted: f64, limit: f64) -> Held {
    let words = format!("{what:<58} {counted:8.3} times as many, of at most {limit:.2}");
    Held { words, is_kept: counted <= limit }
}

/// Counts, and compares.
pub fn check() -> Result<(), BenchError> {
    let counter = Counter::choose();
    let all = held(&table::costs(counter)?);
    let mut out = std::io::stdout();
    for held in &all {
        writeln!(out, "{}", held.words)?;
    }
    let broken: Vec<String> = all.into_iter().filter(|held| !held.is_kept).map(|held| held.words).collect();
    if broken.is_empty() { Ok(()) } else { Err(BenchError::Limit(broken.join("; "))) }
}

fn held(costs: &Costs) -> Vec<Held> {
    let mut all = vec![
        instructions("lmdb get above the bare loop, a transaction for each", costs.each.above(), LMDB_GET_ABOVE_BARE),
        instructions("lmdb get above the bare loop, one transaction for all", costs.one.above(), LMDB_GET_ABOVE_BARE),
        instructions("lmdb step of a scan above the bare loop", costs.scan.above(), LMDB_STEP_ABOVE_BARE),
        instructions("lmdb put of a batch above the bare loop", costs.put.above(), LMDB_PUT_ABOVE_BARE),
        instructions("null get", costs.null, NULL_GET),
        instructions(
            "null get at a rate above one in a closed loop",
            costs.null_at_rate - costs.null,
            AT_RATE_ABOVE_CLOSED,
        ),
        instructions("null get in a batch of ten", costs.null_batch, NULL_BATCH_GET),
        ratio("bdb 3n+1 over the bare program, a starting point", costs.start.ratio(), START_OVER_BARE),
    ];
    for (engine, Dearer { zipf, power, normal, mix }) in [("lmdb", costs.of_lmdb), ("null", costs.of_null)] {
        for (what, counted, limit) in [
            ("by Zipf's law above one drawn evenly", zipf, ZIPF_ABOVE_UNIFORM),
            ("by the power law above one drawn evenly", power, POWER_ABOVE_UNIFORM),
            ("by the normal law above one drawn evenly", normal, NORMAL_ABOVE_UNIFORM),
            ("of a mix above one of a pure loop", mix, MIX_ABOVE_PURE),
        ] {
            all.push(instructions(&format!("{engine} get {what}"), counted.above(), limit));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counting::Beside;

    fn costs(start: Beside) -> Costs {
        let equal = Beside { bare: 100.0, ours: 100.0 };
        let dearer = Dearer { zipf: equal, power: equal, normal: equal, mix: equal };
        Costs {
            each: equal,
            one: equal,
            scan: equal,
            put: equal,
            null: 100.0,
            null_at_rate: 100.0,
            null_batch: 100.0,
            of_lmdb: dearer,
            of_null: dearer,
            start,
        }
    }

    #[test]
    fn the_bound_of_a_starting_point_is_a_ratio() {
        let broken = |bare: f64, ours: f64| held(&costs(Beside { bare, ours })).iter().any(|held| !held.is_kept);
        assert!(!broken(72_365.0, 73_254.0) && !broken(720.0, 735.0));
        assert!(broken(72_365.0, 75_000.0) && broken(720.0, 760.0) && broken(0.0, 0.0));
    }

    /// By these words the study of fidelity counts the limits.
    #[test]
    fn each_line_names_its_limit() {
        let lines: Vec<String> =
            held(&costs(Beside { bare: 100.0, ours: 100.0 })).into_iter().map(|held| held.words).collect();
        assert!(lines.iter().all(|line| line.matches(" of at most ").count() == 1), "{lines:?}");
    }
}
