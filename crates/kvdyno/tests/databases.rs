//! Where the database of a run comes from: kept from the run before, loaded anew, or a copy.

use crate::support::{Comparison, EndedTrial, Lab, Ran, RunningKvdyno};
use kvdyno_results::Phase;

/// Two runs that write, on one engine.
fn writers(database: &str) -> Comparison {
    let comparison = Lab::new().compare(["lmdb"]).workload("overwrite").operations(3000);
    comparison.with("readers", "1,2").with("database", database)
}

/// The version that a run goes on from: 0 on a database that is as it was loaded.
fn version_before(trial: &EndedTrial) -> u64 {
    let spec: serde_json::Value = serde_json::from_str(&trial.file("spec.json")).expect("a specification");
    spec["contents"]["last_version"].as_u64().expect("a number")
}

fn versions(ran: &Ran) -> Vec<u64> {
    let mut runs = ran.trials("lmdb", "overwrite");
    runs.sort_by_key(|run| run.result.trial.number);
    runs.iter().map(|run| version_before(run.finished())).collect()
}

fn loads(ran: &Ran) -> usize {
    ran.results().iter().filter(|result| result.trial.phase == Phase::Load).count()
}

#[test]
fn a_run_goes_on_with_what_the_one_before_it_left() {
    let ran = writers("kept").run();
    ran.exits(0);
    let versions = versions(&ran);
    assert!(versions[0] == 0 && versions[1] > 0, "{versions:?}");
}

#[test]
fn each_run_begins_on_a_database_as_it_was_loaded() {
    for database in ["fresh", "snapshot"] {
        let ran = writers(database).run();
        ran.exits(0);
        assert_eq!(versions(&ran), [0, 0], "{database}");
        assert_eq!(loads(&ran), 1, "{database}: a load that is done again is not measured");
        for result in ran.results().iter().filter(|result| result.trial.phase == Phase::Run) {
            let audit = result.audit.as_ref().and_then(|audit| audit.process.as_ref());
            assert!(audit.is_some_and(|finding| finding.read > 0), "{database}: it is read back before it is gone");
            assert_eq!(result.copied_from.map(|copy| copy.load), (database == "snapshot").then_some(1));
        }
        ran.is_clean();
        assert!(ran.lab.databases().is_empty(), "{database}");
    }
}

/// In sixteen repeats on the load of one, in the next on that of the other.
#[test]
fn builds_of_one_engine_share_their_loads_in_a_diff() {
    let lab = Lab::new();
    let words = ["--records", "2000", "--duration", "100ms", "--warmup", "0s", "--repeat", "17", "--out", "results"];
    let ran = lab.run_with(&[&["diff", "lmdb", "lmdb"][..], &words].concat());
    assert!(ran.stdout.contains("copies of the same loads"), "{}", ran.stdout);
    let report = ran.lab.run(["report", "results"]);
    report.exits(0);
    assert!(!report.stdout.contains("no repeat in which both finished"), "{}", report.stdout);
    let results = ran.results();
    let of_load = |repeat: u32| {
        let loads = results.iter().filter(|one| one.trial.phase == Phase::Load && one.trial.repeat == repeat);
        loads.map(|one| (one.trial.number, one.trial.engine.clone())).collect::<Vec<_>>()
    };
    let (first, second) = (of_load(1), of_load(17));
    assert_eq!((first.len(), second.len(), loads(&ran)), (1, 1, 2));
    assert_ne!(first[0].1, second[0].1, "they load in turns");
    for run in results.iter().filter(|one| one.trial.phase == Phase::Run) {
        let load = if run.trial.repeat < 17 { &first } else { &second };
        let copy = run.copied_from.unwrap();
        let is_second = run.trial.repeat.is_multiple_of(2) != run.trial.engine.ends_with("@new");
        assert_eq!((copy.load, copy.number), (load[0].0, u32::from(is_second)), "{:?}", run.trial);
        assert!(run.is_finished() && run.answers.right > 0);
    }
}

/// The database that more repeats would have stood on is removed, too. Three rounds on copies are six repeats.
#[test]
fn nothing_is_left_where_fewer_repeats_were_enough() {
    let lab = Lab::new();
    let words = ["--records", "2000", "--duration", "100ms", "--warmup", "0s", "--detect", "100%", "--out", "results"];
    let mut command = lab.kvdyno();
    command.args(["diff", "lmdb", "lmdb"]).args(words);
    // One load, and what had no interference of six repeats.
    RunningKvdyno::start(lab.clone(), command).has_records(1 + 6 * 2).killed();
    lab.has_no_workers().has_only_repeats(6);
    lab.without_interference("results");
    lab.gives_figures_of("results", "lmdb", "lmdb@new");
    let ran = lab.run(["diff", "--resume", "results"]);
    ran.exits(0);
    assert_eq!(loads(&ran), 1);
    assert_eq!(ran.results().iter().map(|result| result.trial.repeat).max(), Some(6));
    assert!(!lab.path("results/databases").exists());
}

#[test]
fn other_options_have_databases_of_their_own() {
    let words = ["--option", "B.meminit=false", "--records", "2000", "--duration", "100ms", "--repeat", "1"];
    let ran = Lab::new().run_with(&[&["diff", "lmdb", "lmdb"][..], &words, &["--out", "results"]].concat());
    assert_eq!(loads(&ran), 2);
    assert!(ran.results().iter().all(|result| result.copied_from.is_none()));
}

#[test]
fn a_copy_that_cannot_be_is_refused_before_anything_is_touched() {
    for (engines, database, words) in [
        (["lmdb", "leveldb"], "shared", "lmdb and leveldb are not of one engine"),
        (["lmdb", "gone"], "snapshot", "there is no engine `gone`"),
    ] {
        let lab = Lab::new();
        lab.run(["compare", engines[0], engines[1], "--database", database, "--out", "results"]).exits(2).says(words);
        assert!(!lab.path("results").exists());
    }
}

/// The copy of a run that was killed is made again, and the load stays.
#[test]
fn a_killed_run_goes_on_with_the_load_that_is_there() {
    let lab = Lab::new();
    let comparison = lab.compare(["lmdb", "leveldb"]).workload("overwrite").with("database", "snapshot");
    let killed = comparison.milliseconds(1000).with("readers", "1,2").start().has_records(3).killed();
    killed.lab.has_no_workers();
    let before = killed.lab.result_files();
    let resumed = killed.lab.resume();
    resumed.exits(0);
    assert_eq!((resumed.results().len(), loads(&resumed)), (6, 2));
    let loaded_again = resumed.results().iter().any(|result| result.notes.iter().any(|note| note.contains("again")));
    assert!(!loaded_again);
    assert!(before.keys().all(|name| resumed.lab.result_files().contains_key(name)));
    assert!(resumed.lab.databases().is_empty());
}
