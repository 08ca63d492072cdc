//! Trials that fail, and errors of the lab itself.

use std::fs;

use kvdyno_environment::lock::FolderLock;
use kvdyno_results::FailureKind::{Crashed, EngineError, Hung, NoMemory, NoSpace, NotSynced, WrongAnswer};

use super::*;
use crate::runner::{RunError, Summary};

#[test]
fn a_trial_that_failed_is_saved_and_the_others_go_on() {
    let mut run = TestRun::of("a b", "readrandom", "repeat = 2");
    run.script.say("a readrandom", Act::Fails(Crashed));
    let summary = run.go_on().unwrap();
    assert_eq!(summary, Summary { ended: 8, failed: 1, interrupted: false });
    assert_eq!((run.saved().matches(", ").count(), run.saved().matches("a readrandom: crashed").count()), (7, 1));
}

#[test]
fn a_load_that_failed_takes_its_runs_with_it_and_its_database_goes_at_once() {
    for (engine, load, other) in [("a", "a load", "b"), ("b", "b load", "a")] {
        let mut run = TestRun::of("a b", "readrandom", "");
        run.script.say(load, Act::Fails(EngineError));
        assert_eq!(run.calls_of(engine), format!("{load}, remove {engine}"));
        assert_eq!(run.reason(&format!("{engine} readrandom")), "the load failed: it was to fail");
        assert!(run.result(&format!("{other} readrandom")).is_finished());
        // Also where a trial that was not run comes after one that was.
        assert_eq!(run.heard.ended, run.planned());
    }
}

#[test]
fn after_a_crash_the_database_is_loaded_again_and_the_next_result_says_so() {
    let mut run = TestRun::of("a", "overwrite readrandom", "");
    run.script.say("a overwrite", Act::Fails(Crashed));
    let calls = "a load, a overwrite, remove a, a reload, a readrandom, audit a of 1, remove a";
    assert_eq!(run.calls(), calls);
    assert_eq!(run.heard.notes, ["a: loading the database again"]);
    assert_eq!(run.before("a readrandom"), "a load;");
    let notes = run.result("a readrandom").notes;
    assert!(notes.len() == 1 && notes[0].starts_with("the database was loaded again before this trial"), "{notes:?}");
}

#[test]
fn a_database_that_was_closed_in_order_is_read_back_before_it_is_loaded_again() {
    for failure in [WrongAnswer, NotSynced] {
        let mut run = TestRun::of("a", "overwrite readrandom", "");
        run.script.say("a overwrite", Act::Fails(failure));
        let calls = run.calls();
        let read_back = "a load, a overwrite, audit a of 1+2, remove a, a reload, a readrandom";
        assert!(calls.starts_with(read_back), "{failure:?}: {calls}");
    }
}

#[test]
fn what_cannot_be_loaded_again_is_not_run() {
    let mut run = TestRun::of("a", "overwrite readrandom", "repeat = 2");
    run.script.say("a overwrite", Act::Fails(Crashed));
    run.script.say("a reload", Act::Fails(Hung));
    assert!(run.calls().contains("a overwrite, remove a, a reload, remove a, a load 2"));
    assert_eq!(run.reason("a readrandom"), "the database could not be loaded again: it was to fail");
    assert!(run.result("a readrandom 2").is_finished());
}

#[test]
fn trials_that_lacked_memory_beside_each_other_run_again_each_by_itself() {
    let mut run = TestRun::of("a b", "readrandom", "design = \"slices\"");
    run.script.say("a readrandom", Act::Fails(NoMemory));
    run.script.say("b readrandom", Act::Fails(NoMemory));
    let calls = run.calls();
    assert!(calls.contains(", a readrandom, ") && calls.contains(", b readrandom, "), "{calls}");
    assert_eq!(run.heard.notes.iter().filter(|note| note.contains(": running again alone: ")).count(), 2);
    assert!(run.result("a readrandom").is_finished() && run.result("b readrandom").is_finished());
}

#[test]
fn one_of_them_that_lacked_memory_has_failed() {
    let mut run = TestRun::of("a b", "readrandom", "design = \"slices\"");
    run.script.say("a readrandom", Act::Fails(NoMemory));
    assert!(!run.calls().contains(", a readrandom, "));
    assert!(run.saved().contains("a readrandom: no-memory"), "{}", run.saved());
}

#[test]
fn one_of_them_that_lacked_space_runs_again_by_itself() {
    let mut run = TestRun::of("a b", "readrandom", "design = \"slices\"");
    run.script.say("a readrandom", Act::Fails(NoSpace));
    let calls = run.calls();
    assert!(calls.contains(", a readrandom, ") && !calls.contains(", b readrandom, "), "{calls}");
    assert!(run.result("a readrandom").is_finished() && run.result("b readrandom").is_finished());
}

#[test]
fn a_trial_that_cannot_be_saved_has_failed_by_that_and_the_next_one_runs() {
    let mut run = TestRun::of("a", "readrandom overwrite", "");
    run.script.say("a readrandom", Act::Unsaved);
    run.calls();
    assert_eq!(run.saved(), "a load, a readrandom: lab-error, a overwrite");
    assert!(run.reason("a readrandom").starts_with("the lab could not save the trial: "));
}

#[test]
fn an_error_of_the_lab_ends_the_run_which_can_be_gone_on_with() {
    let mut run = TestRun::of("a", "readrandom overwrite", "");
    run.script.say("a overwrite", Act::LabError);
    assert_eq!(run.go_on().unwrap_err().to_string(), "cannot run trial 3 (a): no process");
    assert_eq!(
        (run.done().as_str(), run.saved().as_str()),
        ("a load, a readrandom, a overwrite", "a load, a readrandom")
    );
    // The databases are unlocked and still there.
    drop(FolderLock::acquire_for(&run.folder.root().join("databases"), &run.name).unwrap());
    assert_eq!(run.calls(), "remove a, a reload, a overwrite, audit a of 1+3, remove a");
}

#[test]
fn a_database_that_cannot_be_read_back_for_want_of_a_process_ends_the_run_too() {
    let mut run = TestRun::of("a", "readrandom", "");
    run.script.say("audit a", Act::LabError);
    let error = run.go_on().unwrap_err().to_string();
    assert!(error.starts_with("cannot read back what is in ") && error.ends_with("/database: no process"), "{error}");
    assert_eq!(run.saved(), "a load, a readrandom");
}

#[test]
fn an_engine_that_cannot_give_back_what_it_keeps_outside_stops_nothing() {
    let mut run = TestRun::of("a", "readrandom", "repeat = 2");
    run.script.say("remove a", Act::Complains);
    assert!(run.calls().ends_with("a load 2, a readrandom 2, audit a 2 of 3, remove a 2"));
    assert_eq!(run.heard.notes, ["it could not"]);
    let mut other = TestRun::of("a", "readrandom", "");
    other.script.say("remove a", Act::LabError);
    let error = other.go_on().unwrap_err().to_string();
    assert!(error.starts_with("cannot remove ") && error.ends_with(": no process"), "{error}");
}

#[test]
fn a_folder_of_databases_that_is_not_the_runs_is_left_alone() {
    let mut run = TestRun::of("a", "readrandom", "");
    let mine = run.folder.root().join("databases/mine");
    fs::create_dir_all(&mine).unwrap();
    let refused = run.go_on().unwrap_err();
    assert!(matches!(refused, RunError::Base(_)), "{refused}");
    assert!(run.done().is_empty() && mine.exists());
}
