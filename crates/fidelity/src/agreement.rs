//! The row `agreement`: comparisons of engines, workloads and numbers of threads at random, whose report must agree
//! with itself. It is held against what a user gets: the text of the report, and its JSON. No verdict contradicts the
//! rates of its table, no star stands where a neighbour cannot be told, no sentence is without its row; and the three
//! designs never name two winners.

use std::collections::BTreeSet;
use std::io;

use kvdyno_dataset::subseed;
use serde_json::Value;

use crate::pairs::{ENGINES, counted};
use crate::said::{Claim, RateField, Sentence, sentences};
use crate::table::FidelityLine;
use crate::tries::{Tries, TryReports};

const WORKLOADS: [&str; 7] =
    ["readrandom", "readseq", "fwdrange", "overwrite", "readwhilewriting", "fwdrangewhilewriting", "ycsb-a"];
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

/// The number of checks of a kind, and the contradictions that they observed.
#[derive(Debug, Default)]
struct Contradictions {
    of: usize,
    all: Vec<String>,
}

/// The contradictions of the reports of some comparisons with themselves.
#[derive(Debug, Default)]
struct ReportAgreement {
    /// Verdicts and the rates of their tables.
    verdicts: Contradictions,
    /// Marks of tables and the verdicts of those that they stand at.
    stars: Contradictions,
    /// Sentences and their rows.
    sentences: Contradictions,
}

/// Does what is not there yet, and holds it against the targets. A try is twenty comparisons; the reports of the pair
/// with three designs are held against themselves with them.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let (mut all, mut compared) = (ReportAgreement::default(), 0);
    let (mut winners, mut measured) = (BTreeSet::new(), 0);
    for design in DESIGNS {
        let words: Vec<String> = OPPOSITE.into_iter().chain(["--design", design]).map(str::to_owned).collect();
        let Some(reports) = tries.reports(&format!("opposite-{design}"), &words)? else { continue };
        measured += 1;
        all.hold(&reports);
        winners.extend(winner(&reports));
    }
    for number in 0..u64::from(tries.count) * COMPARISONS {
        let Some(reports) = tries.reports(&format!("random-{number}"), &drawn(number))? else { continue };
        compared += 1;
        all.hold(&reports);
    }
    let ReportAgreement { verdicts, stars, sentences } = all;
    let named = match winners.len() {
        0 => "none has a winner".to_owned(),
        _ => Vec::from_iter(&winners).into_iter().map(String::as_str).collect::<Vec<_>>().join(", "),
    };
    Ok(vec![
        none_of(format!("{compared} comparisons at random, and those below: verdicts against their table"), &verdicts),
        none_of("the same: stars and other marks against their verdict".to_owned(), &stars),
        none_of("the same: sentences without their row".to_owned(), &sentences),
        FidelityLine {
            target: "rocksdb and wiredtiger:btree, overwrite: one winner in duets, slices and turns".to_owned(),
            tries: measured,
            figure: named,
            bound: "never two".to_owned(),
            is_met: measured == DESIGNS.len() && winners.len() <= 1,
        },
    ])
}

fn none_of(target: String, held: &Contradictions) -> FidelityLine {
    FidelityLine {
        target,
        tries: held.of,
        figure: counted(held.all.len(), held.of),
        bound: "none".to_owned(),
        is_met: held.of > 0 && held.all.is_empty(),
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

impl Contradictions {
    /// Counts one, with what contradicts in it.
    fn count(&mut self, reports: &TryReports, contradiction: Option<String>) {
        self.of += 1;
        if let Some(words) = contradiction {
            eprintln!("contradiction in {}: {words}", reports.folder.display());
            self.all.push(words);
        }
    }
}

impl ReportAgreement {
    fn hold(&mut self, reports: &TryReports) {
        let all = sentences(&reports.text);
        for sentence in &all {
            self.sentences.count(reports, without_row(sentence, &all, reports));
            let fields = fields(sentence, &reports.text).filter(|_| !sentence.is_of_cpu_time());
            let Some((claim, fields)) = fields else { continue };
            if let Claim::Better(..) = claim {
                self.verdicts.count(reports, against_rates(sentence, &fields));
            }
            if !sentence.heading.starts_with("Load: ") {
                self.stars.count(reports, against_marks(sentence, claim, &fields));
            }
        }
        for pair in list(&reports.json["verdicts"]).iter().filter(|pair| is_decided(pair)) {
            if pair["figure"] == "throughput" {
                let is_so = is_borne_out(pair, &reports.json);
                self.verdicts.count(reports, (!is_so).then(|| format!("JSON: {}", pair["sentence"])));
            }
        }
        for ranking in list(&reports.json["rankings"]).iter().filter(|ranking| !ranking["highest"].is_null()) {
            let is_told = list(&ranking["verdicts"]).first().is_some_and(|first| first == "faster");
            let is_first = list(&ranking["order"]).first() == Some(&ranking["highest"]);
            self.stars.count(reports, (!is_told || !is_first).then(|| format!("JSON: {ranking}")));
        }
    }
}

/// The fields of the table for the two engines of a sentence, if it compares two.
fn fields<'r, 's>(sentence: &'s Sentence, report: &'r str) -> Option<(Claim<'s>, [Option<RateField<'r>>; 2])> {
    let claim = sentence.claim()?;
    let (Claim::Better(one, other) | Claim::Same(one, other) | Claim::CannotTell(one, other)) = claim else {
        return None;
    };
    Some((claim, [one, other].map(|engine| sentence.field(report, engine))))
}

/// A sentence that is not understood, has no figures in a table, no verdict in JSON, or no word of the opposite.
fn without_row(sentence: &Sentence, all: &[Sentence], reports: &TryReports) -> Option<String> {
    let said = |words: &str| Some(format!("{words}: {}: {}", sentence.heading, sentence.text));
    let Some(claim) = sentence.claim() else { return said("not understood") };
    if claim == Claim::LeftOut {
        return None;
    }
    if !list(&reports.json["verdicts"]).iter().any(|pair| pair["sentence"] == sentence.text.as_str()) {
        return said("not in JSON");
    }
    let has_figures = |(_, fields): (Claim<'_>, [Option<RateField<'_>>; 2])| {
        fields.iter().all(|field| field.is_some_and(|field| field.figure().is_some()))
    };
    if !fields(sentence, &reports.text).is_some_and(has_figures) {
        return said("no row");
    }
    let Claim::Better(better, other) = claim else { return None };
    let work = |sentence: &Sentence| sentence.heading.split(", by ").next().map(str::to_owned);
    let opposite = |one: &&Sentence| work(one) == work(sentence) && one.claim() == Some(Claim::Better(other, better));
    let is_told = sentence.names_the_opposite() || !all.iter().any(|one| opposite(&one));
    if is_told { None } else { said("two winners") }
}

/// A verdict that the printed rates of the better one and of the other contradict.
fn against_rates(sentence: &Sentence, fields: &[Option<RateField<'_>>; 2]) -> Option<String> {
    let [better, other] = fields.map(|field| field.and_then(|field| field.figure()));
    let is_against = better.zip(other).is_some_and(|(better, other)| better <= other);
    is_against.then(|| format!("{}: {}; {fields:?}", sentence.heading, sentence.text))
}

/// Marks that are not those of the verdict on the only two of a column.
fn against_marks(sentence: &Sentence, claim: Claim<'_>, fields: &[Option<RateField<'_>>; 2]) -> Option<String> {
    let marks = match claim {
        Claim::Better(..) => [Some('*'), None],
        Claim::Same(..) => [Some('≈'); 2],
        Claim::CannotTell(..) => [Some('?'); 2],
        Claim::LeftOut => return None,
    };
    let is_so = fields.map(|field| field.and_then(|field| field.mark)) == marks;
    (!is_so).then(|| format!("{}: {}; {fields:?}", sentence.heading, sentence.text))
}

/// The engine that has the star, in the text of the report or in its JSON.
fn winner(reports: &TryReports) -> Vec<String> {
    let all = sentences(&reports.text);
    let runs = all.iter().filter(|sentence| !sentence.heading.starts_with("Load: "));
    let starred = runs.filter_map(|sentence| match fields(sentence, &reports.text)? {
        (Claim::Better(one, _), [Some(RateField { mark: Some('*'), .. }), _]) => Some(one.to_owned()),
        (Claim::Better(_, other), [_, Some(RateField { mark: Some('*'), .. })]) => Some(other.to_owned()),
        _ => None,
    });
    let is_of_run = |ranking: &&Value| {
        ranking["figure"] == "throughput" && !ranking["work"].as_str().is_some_and(|work| work.starts_with("Load"))
    };
    let highest = list(&reports.json["rankings"]).iter().filter(is_of_run);
    starred.chain(highest.filter_map(|ranking| ranking["highest"].as_str().map(str::to_owned))).collect()
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
    use std::path::PathBuf;

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

    const SENTENCE: &str = "lmdb reads 20 % faster than bdb (+19 % to +21 %), 4 repeats";

    /// A report with one sentence, and a table of these two fields.
    fn reports(sentence: &str, lmdb: &str, bdb: &str) -> TryReports {
        let table = format!("engine    1 reader\n──\nlmdb  {lmdb:>12}\nbdb   {bdb:>12}\n");
        let text = format!(
            "name\n\nVerdicts\nreadrandom, 1 reader, by throughput\n  {sentence}\n\nreadrandom: reads/s\n{table}"
        );
        let json = json!({ "verdicts": [{ "sentence": sentence, "verdict": "same" }], "rankings": [] });
        TryReports { folder: PathBuf::from("x"), text, json }
    }

    /// How many verdicts, marks and sentences contradict.
    fn contradictions(reports: &TryReports) -> [usize; 3] {
        let mut all = ReportAgreement::default();
        all.hold(reports);
        [&all.verdicts, &all.stars, &all.sentences].map(|held| held.all.len())
    }

    #[test]
    fn what_a_report_says_is_held_against_itself() {
        assert_eq!(contradictions(&reports(SENTENCE, "* 1,200", "1,000")), [0, 0, 0]);
        assert_eq!(contradictions(&reports(SENTENCE, "* 900", "1,000")), [1, 0, 0], "its rates say otherwise");
        assert_eq!(contradictions(&reports(SENTENCE, "? 1,200", "? 1,000")), [0, 1, 0], "no star");
        let untold = "cannot tell: lmdb and bdb, 3 % apart, 4 repeats: the interval is too wide";
        assert_eq!(contradictions(&reports(untold, "? 1,200", "? 1,000")), [0, 0, 0]);
        assert_eq!(contradictions(&reports(untold, "* 1,200", "1,000")), [0, 1, 0], "a star beside an untold one");
        assert_eq!(contradictions(&reports(SENTENCE, "* 1,200", "failed"))[2], 1, "no figure in its row");
        let mut other = reports(SENTENCE, "* 1,200", "1,000");
        other.json = json!({});
        assert_eq!(contradictions(&other), [0, 0, 1], "JSON does not have it");
    }

    /// The verdicts of two figures may be opposite, and then each names the other.
    #[test]
    fn two_winners_are_told_of() {
        let two = |but: &str| {
            let opposite = format!("bdb uses 20 % less CPU time per operation than lmdb{but}");
            let mut reports = reports(&format!("{SENTENCE}{but}"), "* 1,200", "1,000");
            let heading = "\n\nreadrandom: reads/s";
            let of_cpu = format!("\nreadrandom, 1 reader, by CPU time per operation\n  {opposite}{heading}");
            reports.text = reports.text.replace(heading, &of_cpu);
            reports.json["verdicts"] = json!([{ "sentence": format!("{SENTENCE}{but}") }, { "sentence": opposite }]);
            reports
        };
        assert_eq!(contradictions(&two("; but the other")), [0, 0, 0]);
        assert_eq!(contradictions(&two("")), [0, 0, 2]);
        assert_eq!(winner(&two("")), ["lmdb", "lmdb"]);
    }

    #[test]
    fn comparisons_differ_and_can_be_had_again() {
        assert_eq!(drawn(7), drawn(7));
        let all: BTreeSet<_> = (0..100).map(|number| drawn(number)[..6].to_vec()).collect();
        assert!(all.len() > 60, "{}", all.len());
        assert!((0..1000).all(|number| drawn(number)[0] != drawn(number)[1]));
    }
}
