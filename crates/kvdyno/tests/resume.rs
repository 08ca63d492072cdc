//! A run that is ended at any moment goes on where it stopped: what is finished stays, the rest is done, once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{Comparison, Lab, Ran, RunningKvdyno, eventually, same_but_for_audit};
use kvdyno_results::Phase;

/// Two loads, then reads beside a writer and reads alone, in turns: six trials in about a second. By this seed LMDB
/// comes first in each step.
fn comparison(lab: &Lab) -> Comparison {
    let comparison = lab.compare(["lmdb", "faulty"]).with("records", 20_000).with("seed", 22);
    comparison.workload("readwhilewriting,readrandom").milliseconds(150)
}

const TRIALS: [&str; 6] = [
    "0001-lmdb-load",
    "0002-faulty-load",
    "0003-lmdb-readwhilewriting-1r1w",
    "0004-faulty-readwhilewriting-1r1w",
    "0005-lmdb-readrandom-1r0w",
    "0006-faulty-readrandom-1r0w",
];

/// Nothing outlives the killed run, what it had finished stays as it was, and the rest is done.
#[track_caller]
fn goes_on_after(killed: &Ran) {
    let lab = &killed.lab;
    lab.has_no_workers();
    let before = lab.result_files();
    let resumed = lab.resume();
    resumed.exits(0);
    let after = lab.result_files();
    assert_eq!(after.keys().map(String::as_str).collect::<Vec<_>>(), TRIALS, "{}", resumed.stderr);
    kept(&before, &after);
    for (name, result) in resumed.results().into_iter().map(|result| (result.trial.number, result)) {
        assert!(result.is_finished() && result.answers.failures() == 0, "{name}: {:?}", result.outcome);
    }
    lab.has_no_workers();
    assert!(!lab.path("results/databases").exists() && !lab.path("results/reloading").exists());
    // Trials that were done before are not announced again.
    let announced = resumed.stderr.lines().filter(|line| line.starts_with('[')).count();
    assert_eq!(announced, TRIALS.len() - before.len(), "{}", resumed.stderr);
}

#[track_caller]
fn kept(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) {
    for (name, result) in before {
        assert!(after.get(name).is_some_and(|after| same_but_for_audit(after, result)), "{name} was repeated");
    }
}

fn begun() -> RunningKvdyno {
    comparison(&Lab::new()).start().has_begun()
}

/// A run that another build began says so in what this one measures, and in nothing else.
#[test]
fn results_of_another_build_are_told_from_those_before() {
    let killed = begun().has_records(2).killed();
    let lab = &killed.lab;
    let file = lab.path("results/machine.json");
    let mut machine: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    machine["build"]["commit"] = "0123456789ab".into();
    fs::write(&file, machine.to_string()).unwrap();
    let before = lab.result_files().len();
    let resumed = lab.resume();
    resumed.exits(0).says("the run was begun by 0.1.0, commit 0123456789ab, ");
    for (nth, result) in resumed.results().iter().enumerate() {
        let told = result.notes.iter().filter(|note| note.starts_with("by kvdyno 0.1.0, ")).count();
        assert_eq!(told, usize::from(nth >= before), "trial {}: {:?}", result.trial.number, result.notes);
    }
    // By the same build nothing is noted.
    let killed = begun().has_records(2).killed();
    let resumed = killed.lab.resume();
    assert!(!resumed.stderr.contains("was begun by"), "{}", resumed.stderr);
    assert!(resumed.results().iter().all(|result| !result.notes.iter().any(|note| note.starts_with("by kvdyno"))));
}

// ---- SIGKILL

#[test]
fn killed_at_any_early_moment() {
    for milliseconds in [0, 30, 80, 150] {
        goes_on_after(&begun().after(milliseconds).killed());
    }
}

#[test]
fn killed_at_any_later_moment() {
    for milliseconds in [300, 450, 600, 800] {
        goes_on_after(&begun().after(milliseconds).killed());
    }
}

#[test]
fn killed_just_after_a_trial_was_saved() {
    for count in 1..TRIALS.len() {
        let killed = begun().has_records(count).killed();
        assert!(killed.lab.result_files().len() >= count);
        goes_on_after(&killed);
    }
}

#[test]
fn killed_again_and_again() {
    let lab = Lab::new();
    let mut killed = comparison(&lab).start().has_begun().after(100).killed();
    for count in 1..4 {
        let before = lab.result_files();
        let again = lab.start(["run", "--resume", "results"]);
        eventually("one more result", || lab.result_files().len() > before.len().min(TRIALS.len() - 1));
        killed = again.after(30 * count).killed();
        kept(&before, &lab.result_files());
    }
    goes_on_after(&killed);
}

/// The worker dies with its parent even if the engine never comes back.
#[test]
fn killed_while_an_engine_hangs() {
    let hanging = Lab::new().compare(["faulty"]).workload("readrandom").fault("hang-get", 1);
    let killed = hanging.start().has_records(1).has_a_worker().after(100).killed();
    killed.lab.has_no_workers();
}

// ---- what is known of a database survives

/// Between the kill and the resumption the database is exchanged for one without the updates: only the saved ledger of
/// acknowledged writes can tell.
#[test]
fn old_values_are_known_as_stale_after_a_resumption() {
    let loaded = Lab::new();
    comparison(&loaded).workload("readrandom").arguments(["--keep"]).run().exits(0);
    let lab = Lab::new();
    comparison(&lab).milliseconds(800).with("design", "turns").start().has_begun().killed().lab.has_no_workers();
    has_values_of(&lab, &loaded);
    // LMDB's updates are done and saved, its reads are not. In slices those of both engines would be saved at once.
    let killed = lab.start(["run", "--resume", "results"]).has_records(3).killed();
    killed.lab.has_no_workers();
    assert!(!lab.result_files().contains_key(TRIALS[4]), "it was killed too late");
    let database =
        |lab: &Lab| lab.databases().into_iter().find(|folder| folder.to_string_lossy().contains("/lmdb-")).unwrap();
    exchange(&database(&loaded), &database(&lab));
    let resumed = lab.resume();
    resumed.exits(1).all_finished("faulty").is_whole();
    resumed.trial("lmdb", "readrandom").failed("wrong-answer", "had been acknowledged");
    assert!(resumed.trial("lmdb", "readrandom").result.answers.stale > 0);
}

/// Lets a run that has begun begin anew, with the values of another: each draws a seed of its own.
fn has_values_of(lab: &Lab, other: &Lab) {
    for folder in ["results/trials", "results/databases"] {
        // It may not have come so far.
        let _ = fs::remove_dir_all(lab.path(folder));
    }
    fs::copy(other.path("results/values.seed"), lab.path("results/values.seed")).unwrap();
}

fn exchange(from: &Path, to: &Path) {
    fs::remove_dir_all(to).unwrap();
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A database in which a trial was killed is not trusted; the others are.
#[test]
fn only_the_database_that_was_in_use_is_loaded_again() {
    let slow = comparison(&Lab::new()).milliseconds(800).with("design", "turns");
    let killed = slow.start().has_records(3).has_a_worker().after(50).killed();
    let saved = killed.lab.result_files().len();
    goes_on_after(&killed);
    let runs = killed.lab.resume().results();
    for (nth, run) in runs.iter().enumerate().filter(|(_, run)| run.trial.phase == Phase::Run) {
        let notes = &run.notes;
        match nth == saved {
            true => assert!(notes.concat().contains("the database was loaded again before this trial"), "{notes:?}"),
            false => assert!(notes.is_empty(), "{:?}: {notes:?}", run.trial),
        }
    }
}

/// A trial that failed has ended, and is not tried again.
#[test]
fn failures_are_not_repeated() {
    let lab = Lab::new();
    let killed = comparison(&lab).fault("segv-get", 1000).start().has_records(4).killed();
    let before = killed.lab.has_no_workers().result_files();
    let resumed = lab.resume();
    kept(&before, &lab.result_files());
    resumed.trial("faulty", "readwhilewriting").failed("crashed", "SIGSEGV");
    resumed.exits(1).all_finished("lmdb").is_whole();
}

/// Also when the load was what failed.
#[test]
fn a_failed_load_is_not_repeated() {
    let lab = Lab::new();
    let killed = comparison(&lab).fault("segv-open", 1).start().has_records(2).killed();
    let before = killed.lab.has_no_workers().result_files();
    let resumed = lab.resume();
    kept(&before, &lab.result_files());
    resumed.trial("faulty", "readrandom").failed("not-run", "the load failed: signal 11 (SIGSEGV)");
    resumed.exits(1).all_finished("lmdb").is_whole();
}

// ---- SIGINT

#[test]
fn interrupted_it_says_how_to_go_on() {
    for count in [0, 1, 3] {
        let begun = comparison(&Lab::new()).milliseconds(600).start().has_begun();
        let interrupted = begun.has_records(count).has_a_worker().after(20).interrupted().ends();
        let folder = interrupted.lab.folder().root().canonicalize().unwrap();
        interrupted.exits(130).says(&format!("interrupted; go on with: kvdyno run --resume {}", folder.display()));
        assert!(interrupted.lab.clients().is_empty(), "it ends its worker before it ends");
        goes_on_after(&interrupted);
    }
}

/// The worker's end by the signal is no crash: its trial has no result, and is done again.
#[test]
fn a_scheduler_ends_it_with_its_workers() {
    let begun = comparison(&Lab::new()).milliseconds(600).start().has_begun();
    let ended = begun.has_records(2).has_a_worker().ended_with_its_workers().ends();
    goes_on_after(ended.exits(130));
}

/// A second Ctrl-C does not wait for the engine.
#[test]
fn interrupted_twice_it_ends_at_once() {
    let hanging = Lab::new().compare(["faulty"]).workload("readrandom").fault("hang-get", 1);
    let working = hanging.start().has_records(1).has_a_worker().after(200).interrupted();
    let working = working.after(500);
    assert!(!working.lab().clients().is_empty(), "the first lets the engine close its database");
    // Who waited for the engine would wait for the minute of `lab.hang_timeout`.
    let since = std::time::Instant::now();
    let ended = working.interrupted().ends();
    assert!(since.elapsed().as_secs() < 40, "{}", ended.stderr);
    ended.exits(130).says("interrupted; go on with: kvdyno run --resume");
    assert!(ended.lab.clients().is_empty());
}

// ---- one run a folder

#[test]
fn two_runs_do_not_share_a_folder() {
    let first = begun().has_a_worker().stopped();
    let second = first.lab().resume();
    second.exits(2).says(&format!("is in use by process {}; wait for it to end", first.pid()));
    let before = first.lab().result_files();
    let ended = first.continued().ends();
    ended.is_clean();
    kept(&before, &ended.lab.result_files());
}

#[test]
fn a_finished_run_is_only_reported() {
    let lab = Lab::new();
    let ran = comparison(&lab).run();
    ran.is_clean();
    let before = lab.result_files();
    let resumed = lab.resume();
    resumed.exits(0);
    assert_eq!(resumed.stdout, ran.stdout);
    assert_eq!(lab.result_files(), before);
    assert!(!lab.path("results/databases").exists());
}

/// With other databases than those of the results folder, on the storage that `--dir` names.
#[test]
fn databases_elsewhere_are_found_again() {
    let lab = Lab::new();
    fs::create_dir(lab.path("storage")).unwrap();
    let killed = comparison(&lab).with("dir", "storage").start().has_records(3).killed();
    goes_on_after(&killed);
    assert_eq!(fs::read_dir(lab.path("storage")).unwrap().count(), 0);
}

/// Half a result is none: it is written aside and renamed.
#[test]
fn what_was_being_written_does_not_count() {
    let killed = begun().has_records(3).killed();
    let folder = killed.lab.path("results/trials").join(TRIALS[4]);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(".result.json.writing"), "{ \"schema\": 1, \"tri").unwrap();
    goes_on_after(&killed);
}

/// A result that was damaged since is not taken for good, nor overwritten.
#[test]
fn a_damaged_record_is_told() {
    let killed = begun().has_records(1).killed();
    let result = Path::new("results/trials").join(TRIALS[0]).join("result.json");
    killed.lab.has_no_workers().write(result.to_str().unwrap(), "{ \"schema\": 1, \"tri");
    killed.lab.resume().exits(2).says("result.json is damaged");
}
