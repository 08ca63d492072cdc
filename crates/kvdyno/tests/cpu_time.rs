//! CPU time of everything in a trial's control group, held against what an engine says that its own work took.

use crate::support::{EndedTrial, Lab, Ran};
use kvdyno_model::Design;
use kvdyno_plan::design::ALONE_OF_A_DUET;
use kvdyno_results::{CpuAccount, DesignFacts};

/// The part by which CPU time for each operation may be wrong.
const TOLERANCE: f64 = 0.03;

/// Two set-ups of one engine that read, with options of their own. They begin without a warm-up, so that all of their
/// work is in the accounts.
fn run(design: &str, duration: &str, warmup: &str, [one, other]: [&str; 2]) -> Ran {
    let lab = Lab::new();
    let engine = |name: &str, options: &str| {
        format!("[engine.{name}]\nengine = \"synthetic\"\noptions = {{ get_ns = 2000{options} }}\n")
    };
    let text = format!(
        "engines = [\"one\", \"other\"]\n[data]\nrecords = 2000\n[lab]\ndesign = \"{design}\"\n[[run]]\nworkload = \
         \"readrandom\"\nreaders = [1]\nduration = \"{duration}\"\nwarmup = \"{warmup}\"\n{}{}",
        engine("one", one),
        engine("other", other)
    );
    lab.write("experiment.toml", &text);
    let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
    ran.exits(0);
    ran
}

#[track_caller]
fn trial(ran: &Ran, engine: &str) -> EndedTrial {
    let trial = ran.trial(engine, "readrandom");
    trial.finished();
    trial
}

#[track_caller]
fn design(trial: &EndedTrial) -> &DesignFacts {
    trial.result.design.as_ref().expect("a design")
}

/// CPU seconds that the engine says its background work took.
#[track_caller]
fn told_s(trial: &EndedTrial) -> f64 {
    let told = trial.result.statistics.iter().find(|entry| entry.topic == "background" && entry.name == "cpu_s");
    told.expect("the engine's own account").value.parse().unwrap()
}

/// CPU seconds for each operation.
fn each(account: CpuAccount, cpu_s: f64) -> f64 {
    cpu_s / account.operations as f64
}

#[track_caller]
fn agree(what: &str, one: f64, other: f64) {
    let off = (one / other - 1.0).abs();
    assert!(off <= TOLERANCE, "{what}: {one} and {other} are {:.1} % apart", 100.0 * off);
}

const THREAD: &str = ", background_share = 20";
const CHILD: &str = ", child_share = 20";

/// In a duet, which a background of this size makes no verdict; but its CPU time is counted all the same.
#[test]
fn threads_and_processes_of_an_engine_are_in_the_cpu_time_of_slices_and_duets() {
    let ran = run("duet", "2s", "0s", [THREAD, CHILD]);
    for (engine, other) in [("one", "other"), ("other", "one")] {
        let (trial, other) = (trial(&ran, engine), trial(&ran, other));
        let (facts, cpu) = (design(&trial), trial.result.cpu);
        assert_eq!((facts.design, cpu.coarse), (Design::Duet, false));
        let (alone, duets) = (cpu.alone.unwrap(), facts.duet.unwrap());
        let all = alone.plus(duets);
        agree("with the engine's own account", each(all, all.cpu_s), each(all, all.client_cpu_s + told_s(&trial)));
        // Opening and closing, which are no slices, are the rest.
        let whole_s = cpu.whole_s.unwrap();
        assert!(whole_s >= all.cpu_s, "{whole_s} {all:?}");
        agree("with the whole group", each(all, all.cpu_s), each(all, whole_s));
        // Without a warm-up each operation is in one of the two.
        assert_eq!(all.operations, trial.result.answers.right);
        let of_duets = facts.duet_slices.iter().map(|slice| slice.operations).sum::<u64>();
        let alone_of_duets = facts.duet_slices.len() as u64 * u64::from(ALONE_OF_A_DUET);
        assert_eq!((of_duets, alone_of_duets), (duets.operations, facts.slices));
        // Each slice that it has to itself is the part of the duration that was asked for.
        assert!(trial.result.window.as_ref().unwrap().seconds >= 1.9);
        assert_eq!(facts.background_beside, other.result.background_share());
        assert!(trial.result.background_share().unwrap() > 0.05, "{alone:?}");
        assert_eq!(trial.result.operations_per_cpu_s_in_duets(), None);
    }
    let report = ran.lab.report("table");
    assert!(report.contains("The CPU time of a duet is not compared, because background work has"), "{report}");
    assert!(!report.contains("CPU time per operation"), "{report}");
}

#[test]
fn threads_and_processes_of_an_engine_are_in_the_cpu_time_of_turns() {
    let ran = run("turns", "3s", "0s", [THREAD, CHILD]);
    for engine in ["one", "other"] {
        let trial = trial(&ran, engine);
        let cpu = trial.result.cpu;
        let alone = cpu.alone.unwrap();
        assert!(cpu.coarse && cpu.whole_s.unwrap() >= alone.cpu_s);
        assert_eq!(alone.operations, trial.result.operations[0].operations);
        let told_s = alone.client_cpu_s + told_s(&trial);
        agree("with the engine's own account", each(alone, alone.cpu_s), each(alone, told_s));
    }
    // A load is over too soon for an account that lags behind.
    let load = ran.lab.folder().results().unwrap().into_iter().find(|result| result.design.is_none()).unwrap();
    assert_eq!((load.cpu.alone, load.cpu.coarse), (None, false));
    assert!(load.cpu.whole_s.unwrap() > 0.0);
}

#[test]
fn background_work_makes_slices_of_what_would_be_a_duet() {
    // A client that stands still for 1 % of its warm-up makes slices: of 100 ms, 1 ms would be enough.
    let quiet = run("auto", "200ms", "1s", ["", ""]);
    let of_quiet = trial(&quiet, "one");
    assert_eq!(design(&of_quiet).design, Design::Duet, "{}", design(&of_quiet).why);
    assert!(design(&of_quiet).why.ends_with("% of the CPU time"), "{}", design(&of_quiet).why);
    assert!(design(&of_quiet).duet.is_some_and(|duet| duet.operations > 0));
    for busy in [THREAD, CHILD] {
        let ran = run("auto", "200ms", "100ms", ["", busy]);
        let facts = design(&trial(&ran, "one")).clone();
        assert_eq!((facts.design, facts.duet, facts.background_beside), (Design::Slices, None, None), "{}", facts.why);
        let why = "no duet: of the CPU time of ";
        assert!(facts.why.starts_with(why) && facts.why.contains(", in its warm-up: background work has"));
        let alone = trial(&ran, "one").result.operations_per_cpu_s_alone();
        assert!(alone.is_some_and(|rate| rate > 0.0));
    }
}
