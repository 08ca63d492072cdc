//! Every wrong answer is caught, counted as what it is, and fails its trial; and right ones are not.

use kvdyno_model::Verify;

use crate::support::{Comparison, Lab, Ran};
use kvdyno_results::AnswerCounts;

const READS: [&str; 4] = ["readrandom", "readwhilewriting", "readseq", "readreverse"];
const GETS: [&str; 2] = ["readrandom", "readwhilewriting"];
const SCANS: [&str; 2] = ["readseq", "readreverse"];
const RANGES: [&str; 4] = ["fwdrange", "revrange", "fwdrangewhilewriting", "revrangewhilewriting"];
const BATCHES: [&str; 1] = ["multireadrandom"];

/// The counter in which a fault shows.
type AnswerCount = fn(&AnswerCounts) -> u64;
const WRONG: AnswerCount = |answers| answers.wrong;
const TORN: AnswerCount = |answers| answers.torn;
const STALE: AnswerCount = |answers| answers.stale;
const MISSING: AnswerCount = |answers| answers.missing;

/// Ten writes that are lost, after as many as are left alone.
const WRITES_FIRST: u64 = 1000 + 10 * 97;

/// A thousand records, read and scanned thrice; a fault strikes at each 97th operation.
fn faulty(workloads: &[&str]) -> Comparison {
    let readers = Lab::new().compare(["faulty"]).with("records", 1000).operations(3000).with("readers", 2);
    readers.workload(&workloads.join(","))
}

/// `fault` shows in each of `workloads`, is counted by `count` and fails the trial, and in the same run without it
/// nothing does.
#[track_caller]
fn caught(fault: &str, workloads: &[&str], count: AnswerCount) {
    caught_in(faulty(workloads), fault, workloads, count);
}

#[track_caller]
fn caught_in(comparison: Comparison, fault: &str, workloads: &[&str], count: AnswerCount) {
    let ran = comparison.clone().fault(fault, 97).run();
    shows_in(&ran, fault, workloads, count);
    most_are_right(&ran, workloads);
    comparison.again().run().is_clean();
}

/// As [`caught_in`], where the fault shows only in what a client has written that writes beside the reads: these wait
/// for it, or who gets a processor when would decide what they find.
#[track_caller]
fn caught_beside_a_writer(comparison: Comparison, fault: &str, workload: &str, count: AnswerCount) {
    caught_in(comparison.option(&format!("faulty.writes_first={WRITES_FIRST}")), fault, &[workload], count);
}

#[track_caller]
fn shows_in(ran: &Ran, fault: &str, workloads: &[&str], count: AnswerCount) {
    ran.exits(1).is_whole().reports_failures();
    ran.trial("faulty", "load").finished();
    for workload in workloads {
        let trial = ran.trial("faulty", workload);
        let answers = &trial.result.answers;
        assert!(count(answers) > 0, "{fault} in {workload}: {answers:?}");
        trial.failed("wrong-answer", "the first: ").failed("wrong-answer", answers.first_failure.as_ref().unwrap());
    }
}

#[track_caller]
fn most_are_right(ran: &Ran, workloads: &[&str]) {
    for workload in workloads {
        let answers = ran.trial("faulty", workload).result.answers;
        assert!(answers.right > answers.failures(), "{workload}: {answers:?}");
    }
}

#[test]
fn the_value_of_another_key_is_wrong() {
    caught("other-key", &READS, WRONG);
}

#[test]
fn a_flipped_bit_is_wrong_or_tears_the_value() {
    caught("flipped-bit", &READS, |answers| answers.wrong + answers.torn);
}

#[test]
fn a_value_too_short_is_wrong() {
    caught("short-value", &READS, WRONG);
}

#[test]
fn a_value_too_long_is_wrong() {
    caught("long-value", &READS, WRONG);
}

#[test]
fn halves_of_two_values_are_torn() {
    caught("torn-value", &READS, TORN);
}

/// One byte of padding is the whole difference, far from any header.
#[test]
fn large_values_are_checked_to_the_last_byte() {
    caught_in(faulty(&READS).with("value-size", 4000), "flipped-bit", &READS, |answers| answers.wrong + answers.torn);
    caught_in(faulty(&READS).with("value-size", 4000), "torn-value", &READS, TORN);
}

/// Values too small for a header are checked too.
#[test]
fn small_values_are_checked() {
    for size in [8, 16, 24] {
        caught_in(faulty(&GETS).with("value-size", size), "other-key", &GETS, WRONG);
        caught_in(faulty(&GETS).with("value-size", size), "flipped-bit", &GETS, |a| a.wrong + a.torn + a.stale);
    }
}

/// Reads beside a writer, and scans after one: an old value is right for its key, but not now.
#[test]
fn the_value_before_the_newest_is_stale() {
    caught_beside_a_writer(faulty(&["readwhilewriting"]), "old-value", "readwhilewriting", STALE);
    for scan in ["readrandom", "readseq", "readreverse"] {
        caught_in(faulty(&["overwrite", scan]), "old-value", &[scan], STALE);
    }
}

/// Before the first key and after the last one: a scan begins where the engine's records do.
#[test]
fn a_record_that_nobody_wrote_is_wrong() {
    for scan in SCANS {
        let ran = faulty(&[scan]).fault("phantom", 1).run();
        ran.exits(1).is_whole().reports_failures();
        let trial = ran.trial("faulty", scan);
        assert!(trial.result.answers.wrong >= 4, "at both ends of each pass: {:?}", trial.result.answers);
        trial.failed("wrong-answer", "a key that was never written");
    }
}

#[test]
fn a_miss_of_a_record_that_is_there_is_missing() {
    caught("missing", &GETS, MISSING);
}

/// The load's: the record is not there. (A writer beside the reads would soon write it again.)
#[test]
fn a_dropped_write_of_the_load_is_missing() {
    let reads = ["readrandom", "readseq", "readreverse"];
    caught_in(faulty(&reads).with("audit", "off"), "dropped-write", &reads, MISSING);
}

/// The run's: the record is there, but old. Of those that are lost in an overwrite some thirty are the last of their
/// record, whichever writer comes first.
#[test]
fn a_dropped_update_is_stale() {
    let beside = faulty(&["readwhilewriting"]).option("faulty.after=1000");
    caught_beside_a_writer(beside, "dropped-write", "readwhilewriting", STALE);
    for read in ["readrandom", "readseq", "readreverse"] {
        let after = faulty(&["overwrite", read]).with("records", 4000).operations(6000).option("faulty.after=4000");
        caught_in(after.with("audit", "off"), "dropped-write", &[read], STALE);
    }
}

#[test]
fn a_record_that_a_scan_passes_over_is_missing() {
    caught("scan-skip", &SCANS, MISSING);
}

/// The first of the two seems passed over, the second comes again.
#[test]
fn records_in_each_others_place_are_wrong() {
    caught("scan-order", &SCANS, WRONG);
}

// ---- ranges and batches of reads

#[test]
fn a_value_in_a_range_or_a_batch_is_checked_as_any_other() {
    let both: Vec<&str> = RANGES.iter().chain(&BATCHES).copied().collect();
    caught("other-key", &both, WRONG);
    caught("short-value", &both, WRONG);
    caught("flipped-bit", &both, |answers| answers.wrong + answers.torn);
    caught("torn-value", &both, TORN);
}

#[test]
fn a_record_that_a_range_passes_over_is_missing() {
    caught("scan-skip", &RANGES, MISSING);
}

/// The first of the two seems passed over, and the range is given up there: what it gives afterwards is not judged.
#[test]
fn records_of_a_range_in_each_others_place_are_caught() {
    caught("scan-order", &RANGES, MISSING);
}

#[test]
fn a_miss_in_a_batch_is_missing() {
    caught("missing", &BATCHES, MISSING);
}

/// Beside a writer and after one: what was acknowledged before the seek must be there.
#[test]
fn an_old_value_in_a_range_or_a_batch_is_stale() {
    for workload in ["fwdrangewhilewriting", "revrangewhilewriting"] {
        caught_beside_a_writer(faulty(&[workload]), "old-value", workload, STALE);
    }
    for workload in ["fwdrange", "revrange", "multireadrandom"] {
        caught_in(faulty(&["overwrite", workload]), "old-value", &[workload], STALE);
    }
}

/// The load's: a range finds a hole in the database.
#[test]
fn a_dropped_write_of_the_load_is_missing_in_ranges_and_batches() {
    let reads = ["fwdrange", "revrange", "multireadrandom"];
    caught_in(faulty(&reads).with("audit", "off"), "dropped-write", &reads, MISSING);
}

// ---- mixes

const MIXES: [&str; 5] = ["ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-f"];
const MIXED_RANGES: [&str; 1] = ["ycsb-e"];

#[test]
fn a_value_in_a_mix_is_checked_as_any_other() {
    let all: Vec<&str> = MIXES.iter().chain(&MIXED_RANGES).copied().collect();
    caught("other-key", &all, WRONG);
    caught("short-value", &all, WRONG);
    caught("long-value", &all, WRONG);
    caught("flipped-bit", &all, |answers| answers.wrong + answers.torn);
    caught("torn-value", &all, TORN);
    caught("missing", &MIXES, MISSING);
}

/// An update must be there when its client, or another, reads the record again: one in three that are lost is read
/// before it is written again, and so many are lost that some are read.
#[test]
fn an_update_that_a_mix_loses_is_stale() {
    for workload in ["ycsb-a", "ycsb-f"] {
        // Else it is the same few records that are read again and again, most of them wrong.
        let one = || faulty(&[workload]).with("distribution", "uniform");
        caught_in(one(), "old-value", &[workload], STALE);
        let unaudited = one().operations(20_000).with("audit", "off").option("faulty.after=1000");
        caught_in(unaudited, "dropped-write", &[workload], STALE);
    }
}

/// The latest are read most, by the other client too; a range goes over them. A client that is interrupted in an insert
/// holds the latest where they are: if the one before it is lost, most reads may miss it.
#[test]
fn an_insert_that_is_lost_is_missing() {
    for workload in ["ycsb-d", "ycsb-e"] {
        let one = faulty(&[workload]).operations(60_000).with("audit", "off").option("faulty.after=1000");
        let one = if workload == "ycsb-e" { one.with("distribution", "latest") } else { one };
        let ran = one.clone().fault("dropped-write", 97).run();
        shows_in(&ran, "dropped-write", &[workload], MISSING);
        let answers = ran.trial("faulty", workload).result.answers;
        assert!(answers.right > 0 && answers.failures() == answers.missing, "{workload}: {answers:?}");
        one.again().run().is_clean();
    }
}

/// By fresh sessions, or by a fresh process, where no read happens to find it.
#[test]
fn an_audit_finds_the_inserts_that_are_lost() {
    let inserting = |fault| {
        let lab = Lab::new().compare(["faulty"]).with("records", 1000).with("readers", 2).workload("mix");
        lab.with("mix", "insert 100").operations(3000).option("faulty.after=1000").fault(fault, 97)
    };
    inserting("dropped-write").run().trial("faulty", "mix").failed("lost-write", "missing");
    inserting("lost-at-close").run().trial("faulty", "mix").failed("lost-write", "missing");
    inserting("none").run().is_clean();
}

#[test]
fn a_record_that_the_range_of_a_mix_passes_over_is_missing() {
    caught("scan-skip", &MIXED_RANGES, MISSING);
    caught("scan-order", &MIXED_RANGES, MISSING);
}

/// Where records are inserted, not everything after the last loaded one is right.
#[test]
fn a_record_after_all_inserted_ones_that_nobody_wrote_is_wrong() {
    let latest = faulty(&MIXED_RANGES).with("distribution", "latest").fault("phantom", 1).run();
    latest.exits(1).trial("faulty", "ycsb-e").failed("wrong-answer", "a key that was never written");
}

/// The writer beside the reads brings lost records back, so it is slow: at full speed it may be done before they begin.
#[test]
fn records_lost_at_the_closing_are_missing() {
    let comparison = faulty(&READS).with("audit", "off").with("write-rate", 100);
    let ran = comparison.clone().fault("lost-at-close", 1).run();
    for read in READS {
        let trial = ran.trial("faulty", read);
        trial.failed("wrong-answer", "missing; the first: ");
        assert!(trial.result.answers.missing > 0);
    }
    ran.exits(1).is_whole().reports_failures();
    comparison.again().run().is_clean();
}

/// In the warm-up too, which is not measured. It is a time, in which the clients may get no processor, so it is longer
/// until there are more wrong answers than operations that were measured.
#[test]
fn wrong_answers_of_the_warm_up_count() {
    let mut runs = [200, 1000, 5000, 25_000].into_iter().map(|milliseconds| {
        let warm = faulty(&["readrandom"]).operations(100).with("warmup", format!("{milliseconds}ms"));
        warm.fault("other-key", 10).run()
    });
    let has_more = |ran: &Ran| {
        let result = ran.trial("faulty", "readrandom").result;
        assert_eq!(result.operations[0].operations, 200);
        result.answers.wrong > 200
    };
    let ran = runs.find(has_more).expect("wrong answers of the warm-up are counted");
    ran.trial("faulty", "readrandom").failed("wrong-answer", "the value of record");
}

/// It is requested, said, and then nothing but hit and miss is looked at.
#[test]
fn verification_can_be_switched_off() {
    let off = faulty(&GETS).with("verify", "off");
    let ran = off.clone().fault("other-key", 97).run();
    ran.is_clean();
    assert!(ran.stdout.contains("verify off"), "{}", ran.stdout);
    assert!(ran.results().iter().all(|result| result.workload.verify == Verify::Off));
    let ran = off.again().fault("missing", 97).run();
    for workload in GETS {
        ran.trial("faulty", workload).failed("wrong-answer", "missing");
    }
}
