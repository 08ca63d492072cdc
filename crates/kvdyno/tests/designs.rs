//! Designs of comparison: who is measured beside whom, and what becomes of it when one of them does not behave.

mod support;

use kvdyno_model::Design;
use kvdyno_results::DesignFacts;

use support::{Comparison, EndedTrial, Lab, Ran, eventually};

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
    for (engine, other) in [("lmdb", 4), ("leveldb", 3)] {
        let trial = finished(&ran, engine);
        let facts = design(&trial);
        assert_eq!((facts.design, facts.why.as_str()), (Design::Duet, "it was requested"));
        assert_eq!(facts.beside, [other]);
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

#[test]
fn turns_are_whole_trials() {
    let ran = readers(["lmdb", "leveldb"]).with("design", "turns").run();
    let trial = finished(ran.exits(0), "lmdb");
    let facts = design(&trial);
    assert_eq!((facts.design, facts.beside.as_slice(), facts.slices, facts.slept), (Design::Turns, &[][..], 0, None));
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
        let ran = comparison.with("hang-timeout", "1s").run();
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
    let comparison = lab.compare(["lmdb", "leveldb"]).workload("readrandom").with("duration", "200ms");
    let ran = comparison.with("repeat", "auto").with("detect", "0.9").run();
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
