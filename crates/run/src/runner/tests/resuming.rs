//! Runs that were interrupted or killed, and go on.

use std::fs;

use kvdyno_results::FailureKind::{Crashed, EngineError};
use kvdyno_results::Skipped;

use super::*;
use crate::runner::{Summary, files};

#[test]
fn what_is_done_is_not_done_again_failed_or_not() {
    let mut run = TestRun::of("a", "readrandom overwrite", "");
    run.script.say("a readrandom", Act::Fails(Crashed));
    let summary = run.go_on().unwrap();
    run.done();
    assert_eq!((run.go_on().unwrap(), run.done().as_str()), (summary, ""));
    assert!(run.heard.begun.is_empty() && !run.has_databases());
}

#[test]
fn an_interrupted_trial_counts_as_not_begun_and_nothing_comes_after_it() {
    let mut run = TestRun::of("a", "readrandom overwrite", "repeat = 2");
    run.script.say("a overwrite", Act::Interrupted);
    assert_eq!(run.go_on().unwrap(), Summary { ended: 2, failed: 0, interrupted: true });
    assert_eq!(
        (run.done().as_str(), run.saved().as_str()),
        ("a load, a readrandom, a overwrite", "a load, a readrandom")
    );
    assert!(run.has_databases());
}

#[test]
fn a_run_goes_on_at_the_trial_that_was_interrupted_on_a_database_that_is_loaded_again() {
    let mut run = TestRun::of("a", "readrandom overwrite", "");
    run.script.say("a overwrite", Act::Interrupted);
    run.calls();
    assert_eq!(run.calls(), "remove a, a reload, a overwrite, audit a of 1+3, remove a");
    assert_eq!(run.heard.begun, [("a overwrite".to_owned(), 2, 3)]);
    assert!(run.result("a overwrite").notes[0].starts_with("the database was loaded again"));
}

#[test]
fn a_run_that_was_killed_between_trials_goes_on_with_its_database() {
    let mut run = TestRun::of("a", "overwrite readrandom", "");
    run.die_after("a overwrite");
    assert_eq!((run.done().as_str(), run.saved().as_str()), ("a load, a overwrite", "a load, a overwrite"));
    assert_eq!(run.calls(), "a readrandom, audit a of 1+2, remove a");
    assert_eq!(run.before("a readrandom"), "a load;a overwrite;");
}

#[test]
fn what_a_killed_run_left_to_do_after_its_last_trial_is_done() {
    let mut run = TestRun::of("a", "overwrite", "");
    run.die_after("a overwrite");
    run.done();
    assert_eq!(run.calls(), "audit a of 1+2, remove a");
    assert!(!run.has_databases());
}

#[test]
fn a_load_that_failed_before_the_kill_takes_its_runs_with_it() {
    let mut run = TestRun::of("a", "readrandom", "");
    run.script.say("a load", Act::Fails(EngineError));
    run.die_after("a load");
    run.done();
    assert_eq!(
        (run.calls().as_str(), run.saved().as_str()),
        ("remove a", "a load: engine-error, a readrandom: not-run")
    );
    assert_eq!(run.reason("a readrandom"), "the load failed: it was to fail");
}

#[test]
fn a_load_that_computes_its_records_goes_on_where_it_was_interrupted() {
    let mut run = TestRun::of("a", "", "[load]\nworkload = \"3n1\"");
    run.script.say("a load", Act::Interrupted);
    run.calls();
    assert_eq!(run.calls(), "a load, audit a of 1, remove a");
    assert_eq!(run.before("a load"), "a load;");
    assert_eq!(run.heard.notes, ["a: going on with what the ended run has computed"]);
}

#[test]
fn an_interrupted_audit_is_made_anew_and_nothing_comes_before_it() {
    let mut run = TestRun::of("a", "overwrite", "repeat = 2");
    run.script.say("audit a", Act::Interrupted);
    assert_eq!(run.go_on().unwrap(), Summary { ended: 2, failed: 0, interrupted: true });
    assert_eq!(run.done(), "a load, a overwrite, audit a of 1+2");
    assert!(run.calls().starts_with("audit a of 1+2, remove a, a load 2"));
}

#[test]
fn a_load_that_is_interrupted_when_done_again_interrupts_the_run() {
    let mut run = TestRun::of("a", "overwrite readrandom", "");
    run.script.say("a overwrite", Act::Fails(Crashed));
    run.script.say("a reload", Act::Interrupted);
    assert!(run.go_on().unwrap().interrupted);
    run.done();
    assert_eq!(run.calls(), "remove a, a reload, a readrandom, audit a of 1, remove a");
}

#[test]
fn what_was_decided_holds_whatever_the_rule_says_now() {
    let mut run = TestRun::of("a", "readrandom", "repeat = \"auto\"");
    run.calls();
    run.rule.enough_after = Some(9);
    assert_eq!(run.calls(), "");
    assert_eq!(run.heard.notes, ["once: it is decided"]);
}

#[test]
fn trials_that_the_saved_plan_leaves_out_are_left_out() {
    let mut run = TestRun::of("a", "readrandom overwrite", "");
    let mut plan = run.folder.plan().unwrap().unwrap();
    plan.skipped = vec![Skipped { repeat: 1, trials: vec![2], why: "it is decided".to_owned() }];
    files::write_json(&run.folder.plan_file(), &plan).unwrap();
    assert_eq!(run.calls(), "a load, a overwrite, audit a of 1+3, remove a");
    assert_eq!(run.heard.begun.last(), Some(&("a overwrite".to_owned(), 1, 2)));
}

#[test]
fn the_plan_keeps_how_much_was_done() {
    let mut run = TestRun::of("a", "readrandom", "repeat = 2");
    run.script.say("a readrandom 2", Act::Interrupted);
    run.calls();
    assert_eq!(run.folder.plan().unwrap().unwrap().spent.trials, 3);
    // Results that have none get none.
    fs::remove_file(run.folder.plan_file()).unwrap();
    run.calls();
    assert!(!run.folder.plan_file().exists());
}
