//! Databases that stay, go, are loaded again or copied.

use std::fs;

use kvdyno_results::DatabaseCopy;

use super::*;

#[test]
fn nothing_is_left_when_all_is_done() {
    let mut run = TestRun::of("a b", "readrandom", "repeat = 2");
    run.calls();
    assert!(!run.has_databases());
}

#[test]
fn databases_that_are_to_be_kept_are_kept() {
    let mut run = TestRun::of("a", "overwrite", "keep = true");
    assert_eq!(run.calls(), "a load, a overwrite, audit a of 1+2");
    assert!(run.has_databases());
    assert_eq!(run.calls(), "", "they are not read back again");
}

#[test]
fn databases_lie_below_the_folder_that_is_named() {
    let storage = testbed::home();
    let names = || fs::read_dir(storage.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    let mut run = TestRun::of("a", "readrandom", &format!("dir = {:?}", storage.path()));
    run.script.say("a readrandom", Act::Interrupted);
    run.calls();
    let name = names()[0].to_string_lossy().into_owned();
    assert!(name.starts_with("kvdyno-") && name.ends_with(run.name.short()), "{name}");
    run.calls();
    assert!(names().is_empty() && !run.has_databases());
}

#[test]
fn fresh_loads_again_before_each_further_run_and_says_nothing_of_it() {
    let mut run = TestRun::of("a", "overwrite readrandom", "database = \"fresh\"");
    let (first, then) =
        ("a load, a overwrite, audit a of 1+2, remove a", "a reload, a readrandom, audit a of 1, remove a");
    assert_eq!(run.calls(), [first, then].join(", "));
    assert_eq!(run.before("a readrandom"), "a load;");
    assert!(run.heard.notes.is_empty() && run.result("a readrandom").notes.is_empty());
}

#[test]
fn a_snapshot_gives_each_run_a_new_copy_of_a_load_that_was_read_back() {
    let mut run = TestRun::of("a", "readrandom overwrite", "database = \"snapshot\"");
    let calls = "a load, audit a of 1, a readrandom, remove a copy0, a overwrite, audit a of 3, remove a copy0, \
                 remove a loaded";
    assert_eq!(run.calls(), calls);
    assert_eq!((run.before("a readrandom"), run.before("a overwrite")), ("a load;".into(), "a load;".into()));
    assert_eq!(run.result("a overwrite").copied_from, Some(DatabaseCopy { load: 1, number: 0 }));
    assert!(!run.has_databases());
}

#[test]
fn set_ups_that_share_a_load_stand_on_copies_of_it() {
    let mut run = TestRun::of("a b", "overwrite", "database = \"shared\"");
    let calls = run.calls();
    assert_eq!((calls.matches("load,").count(), calls.matches("overwrite").count()), (1, 2), "{calls}");
    assert_eq!((run.before("a overwrite"), run.before("b overwrite")), ("a load;".into(), "a load;".into()));
    let copy = |name: &str| run.result(name).copied_from.unwrap().number;
    assert_eq!((copy("a overwrite"), copy("b overwrite")), (0, 1));
}

#[test]
fn a_copy_that_was_only_read_is_kept_for_the_next_repeat() {
    let shared = |workload| TestRun::of("a b", workload, "database = \"shared\"\nrepeat = 2").calls();
    // At the end each copy goes, and in between those that were written.
    assert_eq!(shared("readrandom").matches("remove a copy").count(), 1);
    assert_eq!(shared("overwrite").matches("remove a copy").count(), 2);
}

#[test]
fn copies_that_no_further_repeat_needs_go_when_the_results_are_enough() {
    let mut run = TestRun::of("a b", "readrandom", "database = \"shared\"\nrepeat = \"auto\"");
    run.calls();
    assert!(!run.has_databases());
}

#[test]
fn a_load_that_somebody_removed_is_loaded_again_and_read_back_before_it_is_copied() {
    let mut run = TestRun::of("a", "readrandom", "database = \"snapshot\"");
    run.script.say("a readrandom", Act::Interrupted);
    run.calls();
    fs::remove_dir_all(run.folder.root().join("databases")).unwrap();
    assert_eq!(run.calls(), "a reload, audit a of 1, a readrandom, remove a copy0, remove a loaded");
}

#[test]
fn a_user_can_stop_a_copy() {
    let mut run = TestRun::of("a", "readrandom", "database = \"snapshot\"");
    run.stop.counter().store(1, std::sync::atomic::Ordering::SeqCst);
    assert!(run.go_on().unwrap().interrupted);
    assert_eq!((run.done().as_str(), run.saved().as_str()), ("a load, audit a of 1", "a load"));
    run.stop = Default::default();
    assert_eq!(run.calls(), "remove a copy0, a readrandom, remove a copy0, remove a loaded");
    assert_eq!(run.before("a readrandom"), "a load;");
}
