//! The row `driver`: what the driver costs, counted in instructions and held by `kvdyno-bench --check` to its limits.

use std::io;

use kvdyno_model::text::counted;

use crate::table::FidelityLine;
use crate::tries::Tries;

/// Counts, and holds it against the limits that the program has.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let Some(mut bench) = tries.bench() else { return Ok(Vec::new()) };
    let output = bench.arg("--check").output()?;
    let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat();
    // A line for each count, with its limit.
    let limits = String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.contains(" of at most ")).count();
    let last = said.lines().last().map(str::to_owned);
    let is_met = output.status.success();
    let figure =
        if is_met { "within all limits".to_owned() } else { last.unwrap_or_else(|| output.status.to_string()) };
    Ok(vec![FidelityLine {
        target: "instructions of the driver, each count of `kvdyno-bench --check`".to_owned(),
        tries: 1,
        figure: figure.replace('|', "/"),
        bound: counted(limits, "limit"),
        is_met,
    }])
}
