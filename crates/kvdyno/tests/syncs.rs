//! Commits that are acknowledged and not synced fail their trials.

use kvdyno_results::{FailureKind, Phase, Syncs, TrialOutcome};

use crate::support::writers::{RUNS, with_clients};
use crate::support::{Lab, Ran, may_set_the_environment};

/// Records of each database, so that a load has as many commits.
const RECORDS: u64 = 100;

/// An experiment at durability `commit`. Each engine has an ext4 of its own.
fn on_its_own_device(engines: &str, options: &str, runs: &[&str]) -> Ran {
    in_design("auto", engines, options, &with_clients(runs, 1000))
}

fn in_design(design: &str, engines: &str, options: &str, runs: &str) -> Ran {
    let text = format!(
        "engines = [{engines}]\n{options}\n[data]\nrecords = {RECORDS}\n[load]\nbatch = 1\n\
         [settings]\ndurability = \"commit\"\n\
         [environment]\nstorage = \"ext4\"\nstorage_size = \"256MiB\"\n[lab]\nmin_free = \"16MiB\"\n\
         repeat = 1\ndatabase = \"snapshot\"\ndesign = \"{design}\"\n{runs}"
    );
    let lab = Lab::new();
    lab.write("experiment.toml", &text);
    lab.run(["run", "experiment.toml", "--out", "results"])
}

/// The options of the engine `faulty` with a fault after so many commits.
fn faulty(fault: &str, after: u64) -> String {
    format!(
        "[engine.faulty]\noptions = {{ fault = \"{fault}\", every = 1, after = {after}, transactions = true, \
         concurrent = true }}"
    )
}

#[test]
fn a_load_that_does_not_sync_fails() {
    if !may_set_the_environment() {
        return;
    }
    for fault in ["unsynced-commit", "synced-elsewhere"] {
        let ran = on_its_own_device("\"faulty\"", &faulty(fault, 0), &RUNS[..1]);
        ran.exits(1).is_whole();
        ran.trial("faulty", "load").failed("not-synced", "100 commits of 1 client were acknowledged as durable");
    }
}

#[test]
fn a_run_that_does_not_sync_fails() {
    if !may_set_the_environment() {
        return;
    }
    let ran = on_its_own_device("\"faulty\"", &faulty("unsynced-commit", RECORDS), &RUNS);
    ran.exits(1).is_whole();
    for result in ran.results() {
        let is_caught =
            matches!(&result.outcome, TrialOutcome::Failed(failure) if failure.kind == FailureKind::NotSynced);
        let is_its = result.trial.phase == Phase::Run;
        assert!(is_caught == is_its && result.is_finished() != is_its, "{:?}: {:?}", result.trial, result.outcome);
    }
}

#[test]
fn engines_that_sync_have_a_flush_for_each_commit() {
    if !may_set_the_environment() {
        return;
    }
    let engines = "\"faulty\", \"lmdb\", \"leveldb\", \"sqlite\"";
    let ran = on_its_own_device(engines, &faulty("none", 0), &RUNS[..1]);
    ran.exits(0).is_whole();
    let told: Vec<_> = ran.results().iter().filter_map(|result| result.commits()).collect();
    assert_eq!(told.len(), 8, "{told:?}");
    assert!(told.iter().all(|commits| commits.commits >= RECORDS && !commits.are_unsynced()), "{told:?}");
}

/// In slices the flushes of a device may be those of another trial.
#[test]
fn in_slices_the_syncs_of_each_process_are_counted() {
    if !may_set_the_environment() {
        return;
    }
    let run = "[[run]]\nworkload = \"overwrite\"\nduration = \"400ms\"\nwarmup = \"0s\"\n";
    let ran = in_design("slices", "\"faulty\", \"lmdb\"", &faulty("unsynced-commit", RECORDS), run);
    ran.exits(1).is_whole();
    let caught = ran.trial("faulty", "overwrite");
    caught.failed("not-synced", "were acknowledged as durable, and the filesystem did ");
    let told = ran.trial("lmdb", "overwrite").result.commits().unwrap();
    assert!(matches!(told.syncs, Syncs::OfWorker(syncs) if syncs >= told.commits), "{told:?}");
}
