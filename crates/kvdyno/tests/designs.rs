//! Designs of comparison: who is measured beside whom, and what becomes of it when one of them does not behave.

use std::collections::HashSet;
use std::fs;

use crate::support::{Comparison, EndedTrial, Lab, Ran, eventually};
use kvdyno_model::Design;
use kvdyno_results::{DesignFacts, Interference, Phase};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Short slices of one reader on small databases.
fn readers<const N: usize>(engines: [&str; N]) -> Comparison {
    Lab::new().compare(engines).workload("readrandom").with("duration", "200ms")
}

/// The run of an engine, which came to its end.
#[track_caller]
fn finished(ran: &Ran, engine: &str) -> EndedTrial {
    let trial = ran.trial(engine, ran.workload());
    trial.finished();
    trial
}

#[track_caller]
fn design(trial: &EndedTrial) -> &DesignFacts {
    trial.result.design.as_ref().expect("a design")
}

#[test]
fn two_readers_are_a_duet_beside_slices_of_their_own() {
    let ran = readers(["lmdb", "leveldb"]).with("design", "duet").run();
    ran.exits(0);
    for (engine, other) in [("lmdb", "leveldb"), ("leveldb", "lmdb")] {
        let trial = finished(&ran, engine);
        let facts = design(&trial);
        assert_eq!((facts.design, facts.why.as_str()), (Design::Duet, "it was requested"));
        assert_eq!(facts.beside, [finished(&ran, other).result.trial.number]);
        let duet = facts.duet.unwrap();
        assert!(duet.operations > 0 && duet.cpu_s > 0.0 && duet.client_cpu_s <= duet.cpu_s * 1.5);
        let result = &trial.result;
        assert!(facts.slices > 0 && result.reads_per_s() > 0.0 && result.operations[0].latency.max_ns > 0);
        // What stands still between its slices is no part of the window.
        let window = result.window.as_ref().unwrap();
        assert!(window.seconds < result.os.wall_s);
        assert!(result.answers.right > result.operations[0].operations, "the duet's answers are verified, too");
    }
}

#[test]
fn more_than_two_have_slices_in_turn_and_the_writers_are_audited() {
    let ran = readers(["lmdb", "leveldb", "rocksdb"]).workload("readwhilewriting").run();
    ran.exits(0);
    for engine in ["lmdb", "leveldb", "rocksdb"] {
        let trial = finished(&ran, engine);
        let facts = design(&trial);
        assert_eq!((facts.design, facts.beside.len()), (Design::Slices, 2));
        assert_eq!(facts.why, "no duet: there are 3 set-ups");
        assert_eq!((facts.duet, facts.slices), (None, 4));
        assert!(trial.result.audit.as_ref().unwrap().process.is_some());
    }
}

/// CPU time would call the one faster that does less in a second.
#[test]
fn two_different_engines_are_no_duet_that_nobody_asked_for() {
    let ran = readers(["lmdb", "synthetic"]).run();
    ran.exits(0);
    for engine in ["lmdb", "synthetic"] {
        let trial = finished(&ran, engine);
        let facts = design(&trial);
        assert_eq!((facts.design, facts.duet), (Design::Slices, None));
        assert!(
            facts.why.starts_with("no duet: ")
                && facts.why.ends_with(" are different engines, and CPU time is no rate")
        );
    }
    assert!(!ran.stdout.contains("CPU time per operation"), "{}", ran.stdout);
}

#[test]
fn turns_are_whole_trials() {
    let ran = readers(["lmdb", "leveldb"]).with("design", "turns").run();
    let trial = finished(ran.exits(0), "lmdb");
    let facts = design(&trial);
    assert_eq!((facts.design, facts.beside.as_slice(), facts.slices, facts.slept), (Design::Turns, &[][..], 0, None));
}

/// On a machine with one processor they have turns, too.
#[test]
fn loads_at_once_are_not_compared_and_say_who_loaded_beside_them() {
    let ran = readers(["lmdb", "leveldb"]).with("loads", "at-once").with("repeat", "2").run();
    let load = |engine: &str| ran.trials(engine, "load").remove(0);
    let (one, other) = (load("lmdb"), load("leveldb"));
    let beside = |trial: &EndedTrial| trial.result.design.as_ref().map(|facts| facts.beside.clone());
    let are_at_once = std::thread::available_parallelism().unwrap().get() > 1;
    assert_eq!(beside(&one), are_at_once.then(|| vec![other.result.trial.number]));
    assert_eq!(beside(&other), are_at_once.then(|| vec![one.result.trial.number]));
    ran.exits(0);
    assert_eq!(ran.stdout.contains("their loads ran at once"), are_at_once, "{}", ran.stdout);
    let in_turns = readers(["lmdb", "leveldb"]).run();
    assert_eq!(beside(&in_turns.exits(0).trial("lmdb", "load")), None);
}

#[test]
fn a_design_that_the_work_does_not_allow_is_refused_before_anything_is_touched() {
    for (comparison, words) in [
        (readers(["lmdb", "leveldb", "rocksdb"]).with("design", "duet"), "lab.design = duet cannot be: there are 3"),
        (
            readers(["lmdb", "leveldb"]).operations(10).with("design", "slices"),
            "readrandom ends by its number of operations",
        ),
        (readers(["lmdb", "leveldb"]).with("design", "slices").with("order", "sequential"), "one database at a time"),
    ] {
        let lab = comparison.lab().clone();
        comparison.run().exits(2).says(words);
        assert!(lab.tree().is_empty(), "{:?}", lab.tree());
    }
}

#[test]
fn one_that_crashes_or_hangs_in_its_slice_ends_itself_alone() {
    for (fault, kind) in [("segv-get", "crashed"), ("hang-get", "hung")] {
        let comparison = readers(["lmdb", "faulty", "leveldb"]).fault(fault, 1000);
        // The others, which are sound, have to meet it, too, however busy the machine.
        let ran = if fault == "hang-get" { comparison.with("hang-timeout", "10s").run() } else { comparison.run() };
        ran.exits(1);
        ran.trial("faulty", "readrandom").failed(kind, "");
        for engine in ["lmdb", "leveldb"] {
            let trial = finished(&ran, engine);
            assert_eq!((design(&trial).design, design(&trial).slices), (Design::Slices, 4), "{fault}");
        }
    }
}

#[test]
fn a_killed_run_of_slices_goes_on_and_nothing_stays_frozen() {
    let lab = Lab::new();
    let comparison = lab.compare(["lmdb", "leveldb", "rocksdb"]).workload("readrandom").with("duration", "3s");
    let running = comparison.start();
    eventually("slices", || lab.path("results/trials").read_dir().is_ok_and(|trials| trials.count() == 6));
    running.after(1000).killed();
    lab.has_no_processes();
    lab.resume().is_clean();
}

#[test]
fn a_run_repeats_until_its_comparisons_are_decided_and_remembers_that() {
    let lab = Lab::new();
    let engine =
        |name: &str, ns: u32| format!("[engine.{name}]\nengine = \"synthetic\"\noptions = {{ get_ns = {ns} }}\n");
    let text = "engines = [\"quick\", \"slow\"]\n[data]\nrecords = 2000\n[lab]\nrepeat = \"auto\"\ndetect = 0.9\n\
                [[run]]\nworkload = \"readrandom\"\nreaders = [1]\nduration = \"200ms\"\nwarmup = \"0s\"\n";
    lab.write("experiment.toml", &format!("{text}{}{}", engine("quick", 2000), engine("slow", 100_000)));
    // What others take of the machine decides nothing: three repeats are there, as on an idle one.
    let of_three = 3 * 4;
    lab.start(["run", "experiment.toml", "--out", "results"]).has_records(of_three).killed();
    lab.has_no_workers().has_only_repeats(3);
    lab.without_interference("results");
    let ran = lab.resume();
    ran.exits(0).says("every comparison that matters is decided");
    let plan = lab.folder().plan().unwrap().unwrap();
    let enough = plan.enough.clone().unwrap();
    assert!((3..30).contains(&enough.repeat), "{enough:?}");
    assert_eq!(plan.expected().count(), ran.results().len());
    let before = lab.result_files();
    lab.resume().exits(0);
    assert_eq!(lab.result_files(), before);
    assert!(!lab.report("table").contains("not there"), "what need not be done is not missed");
}

/// Its workers stand frozen in their groups, and nobody is left who would end them.
#[test]
fn what_was_frozen_when_the_lab_and_its_keepers_were_killed_is_cleaned_up() {
    let lab = Lab::new();
    let comparison = lab.compare(["lmdb", "leveldb", "rocksdb"]).workload("readrandom").with("duration", "20s");
    let running = comparison.start();
    eventually("slices", || lab.path("results/trials").read_dir().is_ok_and(|trials| trials.count() == 6));
    eventually("workers", || lab.worker_pids().len() >= 3);
    let kill = |pid: i32| kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
    let keepers: HashSet<i32> = lab.worker_pids().into_iter().filter_map(parent).collect();
    // The lab may not see its keepers go: it would end the workers itself.
    kill_process(Pid::from_raw(running.pid() as i32).unwrap(), Signal::STOP).unwrap();
    for keeper in keepers.into_iter().filter(|keeper| *keeper != running.pid() as i32) {
        kill(keeper).unwrap();
    }
    running.killed();
    lab.run(["clean"]).exits(0);
    lab.has_no_processes();
    // And the run can be gone on with.
    assert!(lab.folder().plan().unwrap().is_some());
}

/// The parent of a process.
fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

#[test]
fn a_repeat_with_interference_is_done_again_and_says_so() {
    let lab = Lab::new();
    let comparison = lab.compare(["lmdb", "leveldb"]).workload("readrandom").with("duration", "100ms");
    comparison.with("repeat", "2").run().exits(0);
    // Real interference is removed.
    lab.has_only_repeats(2);
    lab.without_interference("results");
    let before = lab.folder().results().unwrap();
    let files = lab.result_files();
    lab.resume().exits(0);
    assert_eq!(lab.result_files(), files, "what had no interference is not done again");
    let suffering = before.iter().find(|result| result.trial.repeat == 1 && result.trial.phase == Phase::Run).unwrap();
    let is_it = |result: &Value| result["trial"]["number"] == suffering.trial.number;
    assert!(lab.say_interference("results", &[Interference::StolenCpuTime { cpu_time_share: 0.41 }], is_it));
    lab.resume().exits(0).says("repeat 1 had interference, and is repeated as repeat 3");
    let results = lab.folder().results().unwrap();
    let of = |repeat: u32| results.iter().filter(|result| result.trial.repeat == repeat).collect::<Vec<_>>();
    assert_eq!((of(1).len(), of(3).len()), (4, 4), "both are kept");
    let note = "repeats repeat 1, which had interference: 41.0 % of CPU time was stolen by the hypervisor";
    assert!(of(3).iter().all(|result| result.notes.iter().any(|said| said == note)), "{:?}", of(3)[0].notes);
    let plan = lab.folder().plan().unwrap().unwrap();
    assert_eq!((plan.repeated.len(), plan.expected().count()), (1, results.len()));
    assert!(plan.spent.seconds > 0.0 && plan.spent.trials == results.len(), "{:?}", plan.spent);
    // It was done once more, and not for ever.
    let files = lab.result_files();
    lab.resume().exits(0);
    assert_eq!(lab.result_files(), files);
    assert!(!lab.report("table").contains("not there"));
}

/// However little time there is, the first is done; and all of it is on the account, from the start of the command on.
#[test]
fn a_budget_is_the_time_of_everything() {
    let lab = Lab::new();
    let comparison = lab.compare(["lmdb", "leveldb"]).workload("readrandom").with("duration", "100ms");
    let ran = comparison.with("repeat", "auto").with("budget", "1ms").run();
    ran.exits(0).says("once: the budget of 1ms has no time for another");
    let plan = lab.folder().plan().unwrap().unwrap();
    assert_eq!(plan.enough.as_ref().map(|enough| enough.repeat), Some(1));
    assert_eq!(plan.most_values, Some(10), "few values have few looks");
    let of_trials: f64 = ran.results().iter().filter(|r| r.trial.phase == Phase::Load).map(|r| r.os.wall_s).sum();
    assert!(plan.spent.seconds > of_trials, "{:?} {of_trials}", plan.spent);
    lab.resume().exits(0);
    let again = lab.folder().plan().unwrap().unwrap();
    assert!(again.spent.seconds > plan.spent.seconds, "what a resumed run takes counts, too");
    let longer = lab.run(["run", "--resume", "results", "--budget", "2ms"]);
    longer.exits(0).says("once: the budget of 2ms has no time for another");
    let plan = lab.folder().plan().unwrap().unwrap();
    assert_eq!((plan.budget, plan.most_values), (Some("2ms".parse().unwrap()), None));
    lab.resume().exits(0).says("once: the budget of 2ms");
}

/// Loads have no part in when a run ends, so that nobody looked at them in between, unless a later budget lengthens it.
#[test]
fn a_later_budget_is_one_more_look_at_loads() {
    let lab = Lab::new();
    let comparison = lab.compare(["lmdb", "leveldb"]).workload("readrandom").with("duration", "100ms");
    comparison.with("repeat", "auto").with("budget", "1ms").run().exits(0);
    let looks_of = |phase: &str| -> Vec<Value> {
        let report: Value = serde_json::from_str(&lab.report("json")).unwrap();
        let of = report["verdicts"].as_array().unwrap().iter().filter(|pair| pair["one_cell"]["phase"] == phase);
        of.map(|pair| pair["looks"].clone()).collect()
    };
    let once = looks_of("load");
    assert_eq!((once.len(), once[0] == looks_of("run")[0]), (1, false), "{once:?}");
    lab.run(["run", "--resume", "results", "--budget", "2ms"]).exits(0);
    let later = looks_of("load");
    assert_ne!(later, once);
    assert_eq!(later[0], looks_of("run")[0]);
}

#[test]
fn a_set_number_of_repeats_takes_no_time_limit() {
    let lab = Lab::new();
    lab.compare(["faulty"]).workload("readrandom").operations(100).run().exits(0);
    let files = lab.tree();
    let refused = lab.run(["run", "--resume", "results", "--budget", "1m"]);
    refused.exits(2).says("--budget: the number of its repeats ends this run");
    assert_eq!(lab.tree(), files);
}

/// Its figures are the driver's: no verdict is about them.
#[test]
fn nothing_is_repeated_for_the_sake_of_the_null_engine() {
    let comparison = Lab::with_null().compare(["null", "faulty"]).workload("readrandom").operations(2000);
    let ran = comparison.with("repeat", "auto").run();
    ran.exits(0).says("once: nothing is left to compare");
    assert_eq!(ran.lab.folder().plan().unwrap().unwrap().enough.map(|enough| enough.repeat), Some(1));
}

/// Not in the random one of their turns.
#[test]
fn a_report_has_the_engines_in_the_order_of_the_command() {
    let mut first = Vec::new();
    for seed in ["1", "2", "3", "4"] {
        let lab = Lab::new();
        let comparison = lab.compare(["sqlite", "lmdb", "leveldb"]).workload("readrandom").operations(100);
        comparison.with("seed", seed).run().exits(0);
        first.push(lab.folder().results().unwrap()[0].trial.engine.clone());
        let csv = lab.report("csv");
        let of_engine = |line: &str| ["sqlite", "lmdb", "leveldb"].into_iter().find(|engine| line.contains(engine));
        let engines: Vec<&str> = csv.lines().skip(1).filter_map(of_engine).collect();
        assert_eq!(engines[..3], ["sqlite", "lmdb", "leveldb"], "{csv}");
    }
    assert!(first.iter().any(|engine| *engine != first[0]), "another begins with another seed: {first:?}");
}

/// The first line of a run, which `--dry-run` has, too.
#[test]
fn a_budget_says_beforehand_what_it_will_tell() {
    let lab = Lab::new();
    let told = |words: &[&str]| {
        let line = ["--records", "2000", "--workload", "readrandom", "--readers", "1", "--dry-run"];
        lab.run_with(&[words, &line].concat()).exits(0).stderr.clone()
    };
    let same = told(&["diff", "lmdb", "lmdb", "--figure", "cpu", "--budget", "14s"]);
    let words = ["; in 14s about ", " repeats, which usually tell ratios of CPU time per operation to ± ", " %"];
    assert!(words.iter().all(|word| same.contains(word)), "{same}");
    let others = told(&["compare", "lmdb", "faulty", "--budget", "14s"]);
    assert!(others.contains(" repeats, which usually tell ratios of throughput to ± "), "{others}");
    let short = told(&["compare", "lmdb", "faulty", "--budget", "2s"]);
    assert!(short.contains("; in 2s about ") && short.contains(": too few for an interval"), "{short}");
    let counted = told(&["compare", "lmdb", "faulty", "--repeat", "3"]);
    assert!(!counted.contains(" about 3 repeats") && !counted.contains("usually"), "{counted}");
    let turns = told(&["compare", "lmdb", "faulty", "--design", "turns", "--budget", "14s"]);
    assert!(turns.contains("; in 14s about ") && !turns.contains("usually"), "{turns}");
}
