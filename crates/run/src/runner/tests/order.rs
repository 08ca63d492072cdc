//! The trials that are done, their order, and the reports about them.

use std::time::Duration;

use kvdyno_model::Design;
use kvdyno_results::Spent;

use super::*;
use crate::runner::files;

/// The names of trials alone, without what is done between them.
fn trials(calls: &str) -> Vec<&str> {
    calls.split(", ").filter(|call| !call.starts_with("audit") && !call.starts_with("remove")).collect()
}

#[test]
fn engines_take_turns_at_each_step() {
    let mut run = TestRun::of("a b", "readrandom overwrite", "");
    let calls = run.calls();
    let mut steps: Vec<Vec<&str>> = trials(&calls).chunks(2).map(<[&str]>::to_vec).collect();
    steps.iter_mut().for_each(|step| step.sort());
    assert_eq!(steps, [["a load", "b load"], ["a readrandom", "b readrandom"], ["a overwrite", "b overwrite"]]);
    assert_eq!((trials(&calls).join(", "), &run.heard.ended), (run.planned().join(", "), &run.planned()));
}

#[test]
fn sequential_order_has_one_database_at_a_time() {
    let calls = TestRun::of("a b", "overwrite", "order = \"sequential\"").calls();
    let (one, other) = (
        "a load, a overwrite, audit a of 1+2, remove a, b load, b overwrite, audit b of 3+4, remove b",
        "b load, b overwrite, audit b of 1+2, remove b, a load, a overwrite, audit a of 3+4, remove a",
    );
    assert!(calls == one || calls == other, "{calls}");
}

#[test]
fn each_repeat_has_a_database_of_its_own() {
    let calls = TestRun::of("a", "overwrite", "repeat = 3").calls();
    let of = |repeat: &str, numbers: &str| {
        format!("a load{repeat}, a overwrite{repeat}, audit a{repeat} of {numbers}, remove a{repeat}")
    };
    assert_eq!(calls, [of("", "1+2"), of(" 2", "3+4"), of(" 3", "5+6")].join(", "));
}

#[test]
fn trials_beside_each_other_are_started_together() {
    let calls = TestRun::of("a b c", "readrandom", "design = \"slices\"").calls();
    let step: Vec<&str> = calls.split(", ").filter(|call| call.contains("readrandom")).collect();
    let [together] = step[..] else { panic!("{calls}") };
    let mut names: Vec<&str> = together.split(" + ").collect();
    names.sort();
    assert_eq!(names, ["a readrandom", "b readrandom", "c readrandom"]);
}

/// The script has slices of all trials that are open together.
#[test]
fn each_repeat_may_be_a_duet_where_only_duets_have_the_figure() {
    let designs = |figure: &str| {
        let of_one = "[engine.a]\nengine = \"one\"\n[engine.b]\nengine = \"one\"";
        let lab = format!("repeat = 2\ndesign = \"auto\"\nfigure = \"{figure}\"\n{of_one}");
        let mut run = TestRun::of("a b", "readrandom", &lab);
        run.calls();
        run.script.designs.take()
    };
    assert_eq!(designs("throughput"), [Design::Auto, Design::Slices]);
    assert_eq!(designs("cpu"), [Design::Auto, Design::Auto]);
}

#[test]
fn loads_are_done_at_once_on_as_many_processors_as_there_are() {
    let mut run = TestRun::of("a b c", "readrandom", "loads = \"at-once\"");
    let processors = run.checked.variants[0].environment.placement.cpus().len();
    let calls = run.calls();
    let loads = trials(&calls).into_iter().filter(|call| call.contains("load"));
    let at_once: Vec<usize> = loads.map(|call| call.split(" + ").count()).collect();
    let expected: Vec<usize> = [(); 3].chunks(processors).map(<[()]>::len).collect();
    assert_eq!(at_once, expected, "{calls}");
}

#[test]
fn loads_at_once_begin_with_those_that_took_longest() {
    let mut run = TestRun::of("a b c d", "readrandom", "loads = \"at-once\"\nrepeat = 2");
    run.script.say("c load", Act::Takes(9.0));
    run.script.say("a load", Act::Takes(8.0));
    let processors = run.checked.variants[0].environment.placement.cpus().len();
    let calls = run.calls();
    let loads = trials(&calls).into_iter().flat_map(|call| call.split(" + ")).filter(|call| call.ends_with("load 2"));
    let first: Vec<&str> = loads.take(2).collect();
    assert!(processors == 1 || first == ["c load 2", "a load 2"], "{calls}");
}

#[test]
fn each_trial_is_told_with_its_index_and_the_number_of_all() {
    let mut run = TestRun::of("a", "readrandom overwrite", "repeat = 2");
    run.calls();
    // A third repeat stands by, and does not count.
    let indices: Vec<(usize, usize)> = run.heard.begun.iter().map(|(_, index, count)| (*index, *count)).collect();
    assert_eq!(indices, [(0, 6), (1, 6), (2, 6), (3, 6), (4, 6), (5, 6)]);
}

#[test]
fn the_time_left_is_told_once_a_load_told_how_long_it_takes() {
    let mut run = TestRun::of("a", "readrandom overwrite", "");
    run.calls();
    // Warm-up and measured part take 3 s. Beyond that half a second is reckoned with, until a trial took none.
    assert_eq!(run.heard.left, [None, Some(Duration::from_secs(7)), Some(Duration::from_secs(3))]);
    let mut auto = TestRun::of("a", "readrandom", "repeat = \"auto\"");
    auto.calls();
    assert_eq!(auto.heard.left, [None, None]);
}

/// Warm-up and measured part of two trials take 6 s, and the step takes 4 s more than that; two loads take 1 s each.
#[test]
fn the_time_left_counts_the_time_of_trials_that_are_open_together_once() {
    let mut run = TestRun::of("a b", "readrandom", "repeat = 2\ndesign = \"slices\"");
    run.script.together_s = 8.0;
    run.calls();
    assert_eq!(run.heard.left.last(), Some(&Some(Duration::from_secs(10))), "{:?}", run.heard.left);
}

#[test]
fn the_note_of_the_program_comes_first_in_every_result() {
    let mut run = TestRun::of("a", "readrandom", "repeat = 2");
    (run.script.note, run.rule.interfered_with) = (Some("another began it"), "a readrandom");
    run.calls();
    assert_eq!(run.result("a load").notes, ["another began it"]);
    let [first, second] = &run.result("a readrandom 3").notes[..] else { panic!("two notes") };
    assert!(first == "another began it" && second.starts_with("repeats repeat"), "{first}, {second}");
}

#[test]
fn auto_repeats_until_the_results_are_enough() {
    let mut run = TestRun::of("a", "readrandom", "repeat = \"auto\"");
    run.rule.enough_after = Some(2);
    let calls = run.calls();
    assert_eq!(trials(&calls), ["a load", "a readrandom", "a load 2", "a readrandom 2"]);
    assert_eq!(run.heard.notes, ["2 times: it is decided"]);
    let enough = run.folder.plan().unwrap().unwrap().enough.unwrap();
    assert_eq!((enough.repeat, enough.why.as_str()), (2, "it is decided"));
}

#[test]
fn a_budget_that_is_spent_has_time_for_the_first_repeat_alone() {
    let mut run = TestRun::of("a", "readrandom", "repeat = \"auto\"\nbudget = \"1h\"");
    run.rule.enough_after = Some(9);
    let mut plan = run.folder.plan().unwrap().unwrap();
    plan.spent = Spent { seconds: 3600.0, trials: 0 };
    files::write_json(&run.folder.plan_file(), &plan).unwrap();
    assert_eq!(trials(&run.calls()), ["a load", "a readrandom"]);
    assert_eq!(run.heard.notes, ["once: the budget of 1h has no time for another"]);
    assert_eq!(run.calls(), "", "that stays so");
    let mut plan = run.folder.plan().unwrap().unwrap();
    plan.lengthen("10h".parse().unwrap());
    files::write_json(&run.folder.plan_file(), &plan).unwrap();
    run.checked.experiment.lab.budget = plan.budget;
    run.rule.enough_after = Some(2);
    assert_eq!(trials(&run.calls()), ["a load 2", "a readrandom 2"]);
    assert_eq!(run.heard.notes, ["2 times: it is decided"]);
}

#[test]
fn a_repeat_with_interference_is_done_again_and_says_so() {
    let mut run = TestRun::of("a", "readrandom overwrite", "repeat = 2");
    run.rule.interfered_with = "a readrandom 2";
    let calls = run.calls();
    // The overwrites of the second repeat had no interference.
    assert_eq!(trials(&calls)[6..], ["a load 3", "a readrandom 3"]);
    assert_eq!(run.heard.notes, ["repeat 2 had interference, and is repeated as repeat 3: others took it"]);
    for name in ["a load 3", "a readrandom 3"] {
        assert_eq!(run.result(name).notes, ["repeats repeat 2, which had interference: others took it"]);
    }
    assert!(run.result("a readrandom 2").notes.is_empty());
    assert!(run.heard.begun.ends_with(&[("a load 3".to_owned(), 6, 8), ("a readrandom 3".to_owned(), 7, 8)]));
}
