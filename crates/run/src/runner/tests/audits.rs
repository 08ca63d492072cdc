//! Databases that a fresh process reads back.

use kvdyno_results::FailureKind::{Crashed, LostWrite, WrongAnswer};

use super::*;

#[test]
fn a_database_is_read_back_once_after_its_last_trial() {
    let calls = "a load, a overwrite, a readrandom, audit a of 1+2, remove a";
    assert_eq!(TestRun::of("a", "overwrite readrandom", "").calls(), calls);
}

#[test]
fn a_database_that_was_left_in_the_middle_is_not() {
    let mut run = TestRun::of("a", "overwrite", "");
    run.script.say("a overwrite", Act::Fails(Crashed));
    assert_eq!(run.calls(), "a load, a overwrite, remove a");
}

#[test]
fn neither_is_what_keeps_nothing_or_is_not_to_be() {
    assert_eq!(TestRun::of("volatile", "overwrite", "").calls(), "volatile load, volatile overwrite, remove volatile");
    assert_eq!(TestRun::of("a", "overwrite", "audit = \"off\"").calls(), "a load, a overwrite, remove a");
}

#[test]
fn a_loss_fails_the_trial_that_wrote_what_was_lost() {
    let mut run = TestRun::of("a", "overwrite readrandom", "");
    run.script.say("audit a", Act::Loses(1));
    assert_eq!(run.go_on().unwrap().failed, 1);
    assert_eq!(run.saved(), "a load, a overwrite: lost-write, a readrandom");
    let lost = "of 10 records that a fresh process read back 1 were missing";
    assert!(run.reason("a overwrite").starts_with(lost), "{}", run.reason("a overwrite"));
    assert!(run.heard.notes[0].starts_with(&format!("a: trial 2 has failed: {lost}")), "{:?}", run.heard.notes);
    // The finding on each part is in the result of the trial that wrote it.
    let missing = |name| run.result(name).audit.unwrap().process.map(|read| read.missing);
    assert_eq!((missing("a load"), missing("a overwrite")), (Some(0), Some(1)));
}

#[test]
fn what_cannot_be_read_back_fails_every_trial_that_wrote() {
    let mut run = TestRun::of("a", "overwrite readrandom", "");
    run.script.say("audit a", Act::Fails(LostWrite));
    run.calls();
    assert_eq!(run.saved(), "a load: lost-write, a overwrite: lost-write, a readrandom");
    assert_eq!(run.heard.notes.len(), 2);
}

#[test]
fn a_trial_that_had_failed_keeps_its_reason() {
    let mut run = TestRun::of("a", "overwrite", "");
    run.script.say("a overwrite", Act::Fails(WrongAnswer));
    run.script.say("audit a", Act::Loses(1));
    run.calls();
    assert_eq!(run.saved(), "a load, a overwrite: wrong-answer");
    assert!(run.heard.notes.is_empty(), "{:?}", run.heard.notes);
}

#[test]
fn a_load_that_proves_lost_takes_the_runs_to_come_with_it() {
    let mut run = TestRun::of("a", "overwrite readrandom", "");
    run.script.say("a overwrite", Act::Fails(WrongAnswer));
    run.script.say("audit a", Act::Loses(0));
    assert_eq!(run.calls(), "a load, a overwrite, audit a of 1+2, remove a");
    assert_eq!(run.saved(), "a load: lost-write, a overwrite: wrong-answer, a readrandom: not-run");
}

#[test]
fn processes_that_outlived_it_are_told_of_in_the_last_result_alone() {
    let mut run = TestRun::of("a", "overwrite", "");
    run.script.say("audit a", Act::Survives);
    run.calls();
    assert!(run.result("a load").notes.is_empty());
    assert_eq!(run.result("a overwrite").notes, ["one survived"]);
}

#[test]
fn databases_of_a_step_are_read_back_before_one_of_them_goes() {
    let mut run = TestRun::of("a b", "overwrite", "");
    let calls = run.calls();
    let last = calls.rsplit(", ").take(4).filter_map(|call| call.split(' ').next());
    assert_eq!(last.collect::<Vec<_>>(), ["remove", "remove", "audit", "audit"], "{calls}");
}

#[test]
fn what_was_found_in_one_database_is_kept_if_another_s_audit_is_interrupted() {
    let mut run = TestRun::of("a b", "overwrite", "");
    run.script.say("audit a", Act::Loses(0));
    run.script.say("audit b", Act::Interrupted);
    assert!(run.go_on().unwrap().interrupted);
    let failed = run.saved().split(", ").filter(|result| result.ends_with("lost-write")).count();
    // On one processor they are read back one after the other, in random order.
    assert_eq!(failed, usize::from(run.done().contains("audit a")));
}
