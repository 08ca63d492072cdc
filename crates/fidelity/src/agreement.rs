//! The row `agreement`: comparisons of engines, workloads and numbers of threads at random, whose report must agree
//! with itself. No verdict contradicts the rates of its table, no star stands where a neighbour cannot be told, and the
//! three designs name the same winner.

use std::io;

use kvdyno_dataset::subseed;
use serde_json::Value;

use crate::pairs::counted;
use crate::table::{FidelityLine, FidelityTable};
use crate::tries::Tries;

/// Engines of which two are drawn.
const ENGINES: [&str; 8] = ["lmdb", "mdbx", "bdb", "leveldb", "rocksdb", "sqlite", "wiredtiger:btree", "hyperleveldb"];
const WORKLOADS: [&str; 4] = ["readrandom", "readseq", "overwrite", "readwhilewriting"];
const READERS: [&str; 3] = ["1", "2", "1,2"];
/// Comparisons to a try.
const COMPARISONS: u64 = 20;
const LENGTHS: [&str; 8] = ["--records", "20k", "--duration", "300ms", "--warmup", "50ms", "--repeat", "4"];

/// Two engines of which one does more a second and the other uses less CPU time for each operation.
const OPPOSITE: [&str; 14] = [
    "rocksdb",
    "wiredtiger:btree",
    "--records",
    "100k",
    "--write-buffer",
    "1MiB",
    "--repeat",
    "4",
    "--duration",
    "2s",
    "--workload",
    "overwrite",
    "--readers",
    "1",
];
const DESIGNS: [&str; 3] = ["duet", "slices", "turns"];

/// Does what is not there yet, and holds it against the targets. A try is twenty comparisons.
pub fn measure(tries: &Tries) -> io::Result<FidelityTable> {
    let (mut verdicts, mut against, mut stars, mut untold) = (0, 0, 0, 0);
    let comparisons = u64::from(tries.count) * COMPARISONS;
    for number in 0..comparisons {
        let report = tries.report(&format!("random-{number}"), &drawn(number))?;
        let pairs = list(&report["verdicts"]);
        let decided = pairs.iter().filter(|pair| is_decided(pair) && pair["figure"] == "throughput");
        for pair in decided {
            verdicts += 1;
            against += usize::from(!is_borne_out(pair, &report));
        }
        for ranking in list(&report["rankings"]).iter().filter(|ranking| !ranking["highest"].is_null()) {
            stars += 1;
            untold += usize::from(list(&ranking["verdicts"]).first().is_none_or(|first| first != "faster"));
        }
    }
    let mut winners = Vec::new();
    for design in DESIGNS {
        let words: Vec<String> = OPPOSITE.into_iter().chain(["--design", design]).map(str::to_owned).collect();
        let report = tries.report(&format!("opposite-{design}"), &words)?;
        let of_writes = |ranking: &&Value| {
            ranking["figure"] == "throughput" && !ranking["work"].as_str().is_some_and(|work| work.starts_with("Load"))
        };
        let rankings = list(&report["rankings"]);
        winners
            .extend(rankings.iter().find(of_writes).and_then(|ranking| ranking["highest"].as_str().map(str::to_owned)));
    }
    let named = winners.len();
    winners.dedup();
    Ok(FidelityTable::new(vec![
        none_of(
            format!("{comparisons} comparisons at random: verdicts against the rates of their table"),
            against,
            verdicts,
        ),
        none_of("the same: stars beside a neighbour that cannot be told".to_owned(), untold, stars),
        FidelityLine {
            target: "rocksdb and wiredtiger:btree, overwrite: one winner in duets, slices and turns".to_owned(),
            tries: DESIGNS.len(),
            figure: format!("{named} name {}", winners.join(", ")),
            bound: "never two".to_owned(),
            is_met: winners.len() <= 1,
        },
    ]))
}

fn none_of(target: String, wrong: usize, of: usize) -> FidelityLine {
    FidelityLine {
        target,
        tries: of,
        figure: counted(wrong, of),
        bound: "none".to_owned(),
        is_met: of > 0 && wrong == 0,
    }
}

/// The words of a comparison: the same for the same number.
fn drawn(number: u64) -> Vec<String> {
    let draw = |what: u64, count: usize| (subseed(number, &[what]) % count as u64) as usize;
    let first = draw(0, ENGINES.len());
    let second = (first + 1 + draw(1, ENGINES.len() - 1)) % ENGINES.len();
    let seed = number.to_string();
    let words = [ENGINES[first], ENGINES[second], "--workload", WORKLOADS[draw(2, WORKLOADS.len())], "--readers"];
    let words = words.into_iter().chain([READERS[draw(3, READERS.len())], "--seed", &seed]).chain(LENGTHS);
    words.map(str::to_owned).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn is_decided(pair: &Value) -> bool {
    pair["verdict"] == "faster" || pair["verdict"] == "slower"
}

/// Whether the rates of the two cells stand as the verdict says. A verdict without its cells is not borne out.
fn is_borne_out(pair: &Value, report: &Value) -> bool {
    let column = if pair["side"] == "reads" { "reads_per_s" } else { "writes_per_s" };
    let rate = |which: &str| {
        let is_it = |cell: &&Value| {
            let key = pair[which].as_object();
            key.is_some_and(|key| key.iter().all(|(name, value)| cell[name] == *value))
        };
        list(&report["cells"]).iter().find(is_it)?[column]["value"].as_f64()
    };
    match (rate("one_cell"), rate("other_cell"), pair["verdict"].as_str()) {
        (Some(one), Some(other), Some("faster")) => one > other,
        (Some(one), Some(other), Some("slower")) => one < other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_verdict_is_held_against_the_rates_of_its_cells() {
        let report = |lmdb: f64| {
            json!({ "cells": [
                { "engine": "lmdb", "readers": 1, "reads_per_s": { "value": lmdb } },
                { "engine": "bdb", "readers": 1, "reads_per_s": { "value": 2.0 } },
            ]})
        };
        let pair = json!({
            "verdict": "faster", "side": "reads",
            "one_cell": { "engine": "lmdb", "readers": 1 }, "other_cell": { "engine": "bdb", "readers": 1 },
        });
        assert!(is_borne_out(&pair, &report(3.0)) && !is_borne_out(&pair, &report(1.0)));
        assert!(!is_borne_out(&pair, &json!({ "cells": [] })), "no sentence without its row");
    }

    #[test]
    fn comparisons_differ_and_can_be_had_again() {
        assert_eq!(drawn(7), drawn(7));
        let all: std::collections::BTreeSet<_> = (0..100).map(|number| drawn(number)[..6].to_vec()).collect();
        assert!(all.len() > 60, "{}", all.len());
        assert!((0..1000).all(|number| drawn(number)[0] != drawn(number)[1]));
    }
}
