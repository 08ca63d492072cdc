//! The most that an operation of the driver's may cost, in instructions. `make test` holds them.

use std::io::Write;

use crate::BenchError;
use crate::counting::Counter;
use crate::table::{self, Costs};

/// Above the bare loop, for a verified and timed LMDB get.
const LMDB_GET_ABOVE_BARE: f64 = 50.0;
/// Above the bare loop, for a step of LMDB's cursor, key and value verified, and timed.
const LMDB_STEP_ABOVE_BARE: f64 = 60.0;
/// Above the bare loop, for a put of a batch, key and value made, and acknowledged.
const LMDB_PUT_ABOVE_BARE: f64 = 100.0;
/// Above one that is drawn evenly, for a get of a record that is drawn by Zipf's law.
const ZIPF_ABOVE_UNIFORM: f64 = 60.0;
/// The same by the power law within key ranges, and by the normal law.
const POWER_ABOVE_UNIFORM: f64 = 150.0;
const NORMAL_ABOVE_UNIFORM: f64 = 150.0;
/// Above a loop of nothing else, for a get of the loop that mixes operations.
const MIX_ABOVE_PURE: f64 = 20.0;
/// For a verified and timed get of the null engine.
const NULL_GET: f64 = 220.0;
/// For one of a batch, which is drawn and noted before the batch is asked for.
const NULL_BATCH_GET: f64 = 245.0;
/// Above the bare program, for a starting point of the 3n+1 computation: some ten gets and puts.
const START_ABOVE_BARE: f64 = 1000.0;

/// Counts, and compares.
pub fn check() -> Result<(), BenchError> {
    let counter = Counter::choose();
    let costs = table::costs(counter)?;
    let mut out = std::io::stdout();
    for (what, counted, limit) in figures(&costs) {
        writeln!(out, "{what:<58} {counted:8.1} of at most {limit:.0} instructions")?;
    }
    match figures(&costs).into_iter().find(|(_, counted, limit)| counted > limit) {
        Some((what, counted, limit)) => {
            Err(BenchError::Limit(format!("{what}: {counted:.1} instructions, at most {limit}")))
        }
        None => Ok(()),
    }
}

fn figures(costs: &Costs) -> [(&'static str, f64, f64); 11] {
    [
        ("lmdb get above the bare loop, a transaction for each", costs.each.above(), LMDB_GET_ABOVE_BARE),
        ("lmdb get above the bare loop, one transaction for all", costs.one.above(), LMDB_GET_ABOVE_BARE),
        ("lmdb step of a scan above the bare loop", costs.scan.above(), LMDB_STEP_ABOVE_BARE),
        ("lmdb put of a batch above the bare loop", costs.put.above(), LMDB_PUT_ABOVE_BARE),
        ("lmdb get by Zipf's law above one drawn evenly", costs.zipf.above(), ZIPF_ABOVE_UNIFORM),
        ("lmdb get by the power law above one drawn evenly", costs.power.above(), POWER_ABOVE_UNIFORM),
        ("lmdb get by the normal law above one drawn evenly", costs.normal.above(), NORMAL_ABOVE_UNIFORM),
        ("lmdb get of a mix above one of a pure loop", costs.mix.above(), MIX_ABOVE_PURE),
        ("null get", costs.null, NULL_GET),
        ("null get in a batch of ten", costs.null_batch, NULL_BATCH_GET),
        ("bdb 3n+1 above the bare program, a starting point", costs.start.above(), START_ABOVE_BARE),
    ]
}
