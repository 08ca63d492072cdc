//! Every fault in every workload that can meet it: caught, and in no other a false alarm. Each fault is a test of its
//! own. `docs/faults.md` has the table, of which each writes its row with `KVDYNO_REGENERATE=run`.

use std::path::PathBuf;
use std::{fs, panic, thread};

use crate::support::Lab;
use crate::support::columns::{Column, Does, Group, RECORDS, WORKLOADS, experiment};
use Does::{
    Deletes, DeletesRanges, Ends, Front, HasBounds, InsertsIfAbsent, Looks, Reads, ReadsAgain, Rereads, Seeks, Steps,
    Transacts, UpdatesAtOnce, Writes, WritesTwo,
};
use kvdyno_results::{Phase, TrialOutcome, TrialResult};

/// A row: the fault, its description, and what a workload must do to meet it: all of one of these.
struct Row {
    fault: &'static str,
    words: &'static str,
    can_meet: &'static [&'static [Does]],
}

/// The rows, each with a test of its name.
macro_rules! rows {
    ($($test:ident: $fault:literal, $words:literal, $can_meet:expr;)*) => {
        const ROWS: &[Row] = &[$(Row { fault: $fault, words: $words, can_meet: &$can_meet }),*];
        $(
            #[test]
            fn $test() {
                is_caught_where_it_can_be_met($fault);
            }
        )*
    };
}

rows! {
    other_key: "other-key", "a read gives the value of another record", [&[Reads]];
    flipped_bit: "flipped-bit", "a read gives a value with one bit changed", [&[Reads]];
    short_value: "short-value", "a read gives a value without its last byte", [&[Reads]];
    long_value: "long-value", "a read gives a value with a byte more", [&[Reads]];
    torn_value: "torn-value", "a read gives halves of two values", [&[Reads]];
    old_value: "old-value", "a read gives the value before the newest", [&[Rereads]];
    missing: "missing", "a read does not find a record that is there", [&[Looks]];
    dropped_write: "dropped-write", "a put, an insert or a delete is acknowledged and not done", [&[Writes]];
    undone_delete: "undone-delete", "a delete is acknowledged and not done", [&[Deletes]];
    ghost: "ghost", "a record that was deleted is there again later", [&[Deletes]];
    blind_insert: "blind-insert", "an insert-if-absent replaces what is there", [&[InsertsIfAbsent]];
    refused_insert: "refused-insert", "an insert-if-absent is refused, though nothing is there", [&[InsertsIfAbsent]];
    long_range: "long-range", "the deletion of a range takes the record after it, too", [&[DeletesRanges]];
    half_range: "half-range", "of the deletion of a range one half is seen before the other", [&[DeletesRanges]];
    seek_skip: "seek-skip", "a seek passes over the first record: a hole at the front", [&[Seeks], &[Front]];
    seek_ghost: "seek-ghost", "a seek gives a record that was deleted", [&[Seeks, Deletes], &[Front]];
    scan_skip: "scan-skip", "a cursor passes over a record: a hole", [&[Steps]];
    scan_order: "scan-order", "a cursor gives two records in the wrong order", [&[Steps]];
    scan_twice: "scan-twice", "a cursor gives a record twice", [&[Steps]];
    scan_short: "scan-short", "a cursor ends before the last record", [&[Steps]];
    unbounded: "unbounded", "a cursor goes beyond its bounds", [&[HasBounds]];
    phantom: "phantom", "before the first record and after the last stands another", [&[Ends], &[Front]];
    half_transaction: "half-transaction", "of a transaction one write of two is committed", [&[WritesTwo]];
    dirty_read: "dirty-read", "a transaction reads what another has not committed", [&[Transacts]];
    lost_update: "lost-update", "a transaction commits over another's since it read", [&[Transacts]];
    unrepeated_read: "unrepeated-read", "a transaction sees another's commit when it reads again", [&[ReadsAgain]];
    lost_atomic_update: "lost-atomic-update", "an update by one call is built on the value before the newest",
        [&[UpdatesAtOnce]];
    none: "none", "nothing", [];
}

/// Faults of reads alone: an audit, which reads as others do, would only meet them too.
const OF_READS: [&str; 7] =
    ["other-key", "flipped-bit", "short-value", "long-value", "torn-value", "old-value", "missing"];

/// Faults that need two transactions at once: how often those meet is a matter of the machine. Each waits a moment for
/// another, so few transactions are enough, and many take long.
const OF_MEETINGS: [&str; 3] = ["dirty-read", "lost-update", "unrepeated-read"];

/// Operations of each client.
const OPERATIONS: u64 = 8000;

/// Of the operations that a fault can hit it hits one in so many.
const EVERY: u64 = 97;

/// The same for a fault that only the client notices whose record comes first of all. On a busy machine one client may
/// hold that record while all others do all of their operations, and then have fewer than [`EVERY`] of its own left.
const EVERY_AT_FRONT: u64 = 5;

/// Writes that come before the reads beside them: ten that are lost, after those that are left alone.
const WRITES_FIRST: u64 = RECORDS + 10 * EVERY;

/// The runs of all workloads, in the order of their columns, each on a database as it was loaded, with a fault that
/// strikes at each [`EVERY`]th operation that it can hit. Of writes it leaves as many alone as the load has. Where
/// transactions have to meet, it strikes each time.
fn results_with(fault: &str) -> Vec<TrialResult> {
    // They mostly wait for processes to begin and end.
    let mut results = thread::scope(|scope| {
        let running = Group::ALL.map(|group| scope.spawn(move || results_of(group, fault)));
        let ended = running.into_iter().map(|one| one.join().unwrap_or_else(|cause| panic::resume_unwind(cause)));
        ended.flatten().collect::<Vec<_>>()
    });
    results.sort_by_key(|result| WORKLOADS.iter().position(|column| column.is_of(result)));
    results
}

fn results_of(group: Group, fault: &str) -> Vec<TrialResult> {
    let audit = if OF_READS.contains(&fault) { "off" } else { "sample" };
    let meets = OF_MEETINGS.contains(&fault);
    let (every, operations) = match fault {
        _ if meets => (1, OPERATIONS / 2),
        "seek-skip" => (EVERY_AT_FRONT, OPERATIONS),
        _ => (EVERY, OPERATIONS),
    };
    let after = if fault == "dropped-write" { RECORDS } else { 0 };
    let writes_first = if group == Group::BesideAWriter { WRITES_FIRST } else { 0 };
    // A variant has one run on a load of its own anyway; what processes share is the log.
    let (database, durability) = if group == Group::Mixes { ("kept", "process") } else { ("snapshot", "none") };
    let head = format!(
        "engines = [\"faulty\"]\n[engine.faulty]\noptions = {{ fault = \"{fault}\", every = {every}, \
         after = {after}, writes_first = {writes_first}, transactions = true, concurrent = true }}\n\
         [settings]\ndurability = \"{durability}\"\n\
         [lab]\ndatabase = \"{database}\"\norder = \"sequential\"\nrepeat = 1\naudit = \"{audit}\"\n"
    );
    let lab = Lab::new();
    lab.write("experiment.toml", &experiment(group, &head, operations));
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

/// The cell as the workload's own operations and the audit make it. Writers read some of their records back, too, so
/// that the number of these reads, and whether one meets a lost record, is a matter of the machine.
fn without_read_backs<'a>(cell: &'a str, column: &Column, row: &Row) -> &'a str {
    let (only_read, only_written) = (OF_READS.contains(&row.fault), row.fault == "dropped-write");
    match cell {
        "read" if only_read && column.can_meet(&[&[Writes]]) && !column.can_meet(row.can_meet) => "",
        "read" if only_written && !column.can_meet(&[&[Reads], &[Looks]]) => "audit",
        cell => cell,
    }
}

/// The fault is caught in each workload that can meet it, no other has a false alarm, and the document has its row.
#[track_caller]
fn is_caught_where_it_can_be_met(fault: &str) {
    let row = ROWS.iter().find(|row| row.fault == fault).unwrap();
    let results = results_with(fault);
    let are_of_columns = WORKLOADS.iter().zip(&results).all(|(column, result)| column.is_of(result));
    assert!(are_of_columns && results.len() == WORKLOADS.len(), "{} results", results.len());
    let cells = WORKLOADS.iter().zip(&results);
    let cells: Vec<&str> = cells.map(|(column, result)| without_read_backs(caught_by(result), column, row)).collect();
    let mut surprises = Vec::new();
    for (column, (cell, result)) in WORKLOADS.iter().zip(cells.iter().zip(&results)) {
        if cell.is_empty() == column.can_meet(row.can_meet) {
            surprises.push(format!("{fault} in {}: {:?} {:?}", column.heading, result.outcome, result.answers));
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
    let line = format!("| {} | {} |", row.words, cells.join(" | "));
    if std::env::var_os("KVDYNO_REGENERATE").is_some() {
        return write_row(row.words, &line);
    }
    let text = document();
    let (_, table, _) = parts(&text);
    let old = table.lines().find(|old| begins_with(old, row.words)).unwrap_or("no row");
    assert_eq!(old, line, "docs/faults.md; KVDYNO_REGENERATE=run writes it");
}

/// No row too many, and none out of its place.
#[test]
fn the_document_has_these_rows_and_columns() {
    let text = document();
    let (_, table, _) = parts(&text);
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some(&*heading()), "docs/faults.md; KVDYNO_REGENERATE=run writes it");
    let words: Vec<&str> = lines.skip(1).map(|line| line.split('|').nth(1).unwrap().trim()).collect();
    assert_eq!(
        words,
        ROWS.iter().map(|row| row.words).collect::<Vec<_>>(),
        "docs/faults.md; KVDYNO_REGENERATE=run writes it"
    );
}

fn heading() -> String {
    format!("| fault | {} |", WORKLOADS.iter().map(|column| column.heading).collect::<Vec<_>>().join(" | "))
}

fn begins_with(line: &str, words: &str) -> bool {
    line.strip_prefix("| ").and_then(|line| line.strip_prefix(words)).is_some_and(|line| line.starts_with(" |"))
}

fn file() -> PathBuf {
    kvdyno_gates::repository::top().join("docs/faults.md")
}

fn document() -> String {
    fs::read_to_string(file()).unwrap()
}

/// The document before its table, the table, and what follows.
fn parts(text: &str) -> (&str, &str, &str) {
    let (begin, end) = ("<!-- table: begin, written by a test -->\n\n", "\n<!-- table: end -->");
    let table = text.find(begin).unwrap() + begin.len();
    let (old, _) = text[table..].split_once(end).unwrap();
    (&text[..table], old, &text[table + old.len()..])
}

/// Writes a row. The others, each of which a test writes that may be another process, stay.
fn write_row(words: &str, line: &str) {
    let turn = fs::File::create(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("faults.md.lock")).unwrap();
    turn.lock().unwrap();
    let text = document();
    let (before, old, after) = parts(&text);
    let rows = ROWS.iter().map(|row| match old.lines().find(|old| begins_with(old, row.words)) {
        _ if row.words == words => line.to_owned(),
        Some(old) => old.to_owned(),
        None => format!("| {} |", row.words),
    });
    let ruler = format!("|---|{}", "---|".repeat(WORKLOADS.len()));
    let table: String = [heading(), ruler].into_iter().chain(rows).map(|line| line + "\n").collect();
    fs::write(file(), format!("{before}{table}{after}")).unwrap();
}
