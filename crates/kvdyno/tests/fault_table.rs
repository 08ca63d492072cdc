//! Every fault in every workload that can meet it: caught, and in no other a false alarm. `docs/faults.md` has the
//! table, written by this test with `KVDYNO_REGENERATE=run`.

#![allow(clippy::unwrap_used)]

#[path = "support/columns.rs"]
mod columns;
mod support;

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use Does::{
    Deletes, DeletesRanges, Ends, Front, HasBounds, InsertsIfAbsent, Looks, Reads, ReadsAgain, Rereads, Seeks, Steps,
    Transacts, UpdatesAtOnce, Writes, WritesTwo,
};
use columns::{Does, RECORDS, WORKLOADS, experiments};
use kvdyno_results::{Phase, TrialOutcome, TrialResult};
use support::Lab;

/// A row: the fault, its description, and what a workload must do to meet it: all of one of these.
const FAULTS: [(&str, &str, &[&[Does]]); 28] = [
    ("other-key", "a read gives the value of another record", &[&[Reads]]),
    ("flipped-bit", "a read gives a value with one bit changed", &[&[Reads]]),
    ("short-value", "a read gives a value without its last byte", &[&[Reads]]),
    ("long-value", "a read gives a value with a byte more", &[&[Reads]]),
    ("torn-value", "a read gives halves of two values", &[&[Reads]]),
    ("old-value", "a read gives the value before the newest", &[&[Rereads]]),
    ("missing", "a read does not find a record that is there", &[&[Looks]]),
    ("dropped-write", "a put, an insert or a delete is acknowledged and not done", &[&[Writes]]),
    ("undone-delete", "a delete is acknowledged and not done", &[&[Deletes]]),
    ("ghost", "a record that was deleted is there again later", &[&[Deletes]]),
    ("blind-insert", "an insert-if-absent replaces what is there", &[&[InsertsIfAbsent]]),
    ("refused-insert", "an insert-if-absent is refused, though nothing is there", &[&[InsertsIfAbsent]]),
    ("long-range", "the deletion of a range takes the record after it, too", &[&[DeletesRanges]]),
    ("half-range", "of the deletion of a range one half is seen before the other", &[&[DeletesRanges]]),
    ("seek-skip", "a seek passes over the first record: a hole at the front", &[&[Seeks], &[Front]]),
    ("seek-ghost", "a seek gives a record that was deleted", &[&[Seeks, Deletes], &[Front]]),
    ("scan-skip", "a cursor passes over a record: a hole", &[&[Steps]]),
    ("scan-order", "a cursor gives two records in the wrong order", &[&[Steps]]),
    ("scan-twice", "a cursor gives a record twice", &[&[Steps]]),
    ("scan-short", "a cursor ends before the last record", &[&[Steps]]),
    ("unbounded", "a cursor goes beyond its bounds", &[&[HasBounds]]),
    ("phantom", "before the first record and after the last stands another", &[&[Ends], &[Front]]),
    ("half-transaction", "of a transaction one write of two is committed", &[&[WritesTwo]]),
    ("dirty-read", "a transaction reads what another has not committed", &[&[Transacts]]),
    ("lost-update", "a transaction commits over another's since it read", &[&[Transacts]]),
    ("unrepeated-read", "a transaction sees another's commit when it reads again", &[&[ReadsAgain]]),
    ("lost-atomic-update", "an update by one call is built on the value before the newest", &[&[UpdatesAtOnce]]),
    ("none", "nothing", &[]),
];

/// Faults of reads alone: an audit, which reads as others do, would only meet them too.
const OF_READS: [&str; 7] =
    ["other-key", "flipped-bit", "short-value", "long-value", "torn-value", "old-value", "missing"];

/// Faults that need two transactions at once: how often those meet is a matter of the machine.
const OF_MEETINGS: [&str; 3] = ["dirty-read", "lost-update", "unrepeated-read"];

/// Operations of each client.
const OPERATIONS: u64 = 8000;

/// The runs of all workloads, each on a database of its own, with a fault that strikes at each 97th operation that it
/// can hit. Of writes it leaves as many alone as the load has. Where transactions have to meet, it strikes each time.
fn results_with(fault: &str) -> Vec<TrialResult> {
    let audit = if OF_READS.contains(&fault) { "off" } else { "sample" };
    let (every, after) =
        if OF_MEETINGS.contains(&fault) { (1, 0) } else { (97, if fault == "dropped-write" { RECORDS } else { 0 }) };
    let head = format!(
        "engines = [\"faulty\"]\n[engine.faulty]\noptions = {{ fault = \"{fault}\", every = {every}, \
         after = {after}, transactions = true, concurrent = true }}\n\
         [lab]\ndatabase = \"fresh\"\norder = \"sequential\"\nrepeat = 1\naudit = \"{audit}\"\n"
    );
    experiments(&head, OPERATIONS).iter().flat_map(|text| results_of(text, fault)).collect()
}

fn results_of(text: &str, fault: &str) -> Vec<TrialResult> {
    let lab = Lab::new();
    lab.write("experiment.toml", text);
    let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
    ran.is_whole();
    if fault == "none" {
        ran.exits(0);
    }
    ran.results().into_iter().filter(|result| result.trial.phase == Phase::Run).collect()
}
/// Who found it: `read` by the workload's own answers, `audit` by reading back.
fn caught_by(result: &TrialResult) -> &'static str {
    let TrialOutcome::Failed(failure) = &result.outcome else { return "" };
    match serde_json::to_value(failure.kind).unwrap().as_str().unwrap() {
        "wrong-answer" => "read",
        "lost-write" => "audit",
        other => panic!("{other}: {}", failure.reason),
    }
}

#[test]
fn every_fault_is_caught_in_each_workload_that_can_meet_it() {
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(vec![String::new(); FAULTS.len()]));
    let surprises = Mutex::new(Vec::new());
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((fault, words, can_meet)) = FAULTS.get(index) else { break };
            let results = results_with(fault);
            assert_eq!(results.len(), WORKLOADS.len(), "{fault}");
            let cells: Vec<&str> = results.iter().map(caught_by).collect();
            for (column, (cell, result)) in WORKLOADS.iter().zip(cells.iter().zip(&results)) {
                if cell.is_empty() == column.can_meet(can_meet) {
                    let finding = format!("{fault} in {}: {:?} {:?}", column.heading, result.outcome, result.answers);
                    surprises.lock().unwrap().push(finding);
                }
            }
            rows.lock().unwrap()[index] = format!("| {words} | {} |\n", cells.join(" | "));
        }
    };
    thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let surprises = surprises.into_inner().unwrap();
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
    let headings: Vec<&str> = WORKLOADS.iter().map(|column| column.heading).collect();
    let head = format!("| fault | {} |\n|---|{}\n", headings.join(" | "), "---|".repeat(headings.len()));
    let table = format!("{head}{}", rows.into_inner().unwrap().concat());
    let file = kvdyno_gates::repository::top().join("docs/faults.md");
    let text = fs::read_to_string(&file).unwrap();
    let (begin, end) = ("<!-- table: begin, written by a test -->\n\n", "\n<!-- table: end -->");
    let (before, rest) = text.split_once(begin).unwrap();
    let (old, after) = rest.split_once(end).unwrap();
    if std::env::var_os("KVDYNO_REGENERATE").is_some() {
        fs::write(&file, format!("{before}{begin}{table}{end}{after}")).unwrap();
    } else {
        assert_eq!(old, table, "docs/faults.md; KVDYNO_REGENERATE=run writes it");
    }
}
