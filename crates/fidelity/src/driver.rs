//! The row `driver`: what the driver costs beside a bare loop, counted in instructions by `kvdyno-bench --check`.

use std::io;

use crate::table::FidelityLine;
use crate::tries::Tries;

/// Counts, and holds it against the limits that the program has.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let Some(mut bench) = tries.bench() else { return Ok(Vec::new()) };
    let output = bench.arg("--check").output()?;
    let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat();
    let last = said.lines().last().map(str::to_owned);
    let is_met = output.status.success();
    let figure =
        if is_met { "within all limits".to_owned() } else { last.unwrap_or_else(|| output.status.to_string()) };
    Ok(vec![FidelityLine {
        target: "instructions of a get, a put of a batch, and a step of a scan, above a bare loop".to_owned(),
        tries: 1,
        figure: figure.replace('|', "/"),
        bound: "50, 100 and 60".to_owned(),
        is_met,
    }])
}
