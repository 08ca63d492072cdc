//! Commits that are acknowledged and not synced fail their trials.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use kvdyno_results::{FailureKind, Phase, Syncs, TrialOutcome};

use crate::support::writers::{RUNS, with_clients};
use crate::support::{Lab, Ran, may_set_the_environment};

/// Records of each database, so that a load has as many commits.
const RECORDS: u64 = 100;

/// An experiment at durability `commit`. Each engine has an ext4 of its own.
fn on_its_own_device(engines: &str, options: &str, runs: &[&str]) -> Ran {
    let storage = "[environment]\nstorage = \"ext4\"\nstorage_size = \"256MiB\"\n";
    at_commit(&Lab::new(), engines, options, &format!("{storage}{}", with_clients(runs, 1000)))
}

/// The end of `[lab]`, and all that comes after it, is `rest`.
fn at_commit(lab: &Lab, engines: &str, options: &str, rest: &str) -> Ran {
    let text = format!(
        "engines = [{engines}]\n{options}\n[data]\nrecords = {RECORDS}\n[load]\nbatch = 1\n\
         [settings]\ndurability = \"commit\"\n\
         [lab]\nmin_free = \"16MiB\"\n\
         repeat = 1\ndatabase = \"snapshot\"\n{rest}"
    );
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

/// An ext4 on a device that writes through: no sync needs a flush. It is there for as long as this lives.
struct WritesThrough {
    device: String,
    folder: PathBuf,
}

impl WritesThrough {
    fn mount(lab: &Lab, name: &str) -> WritesThrough {
        let (image, folder) = (lab.path("image"), lab.path(name));
        File::create(&image).unwrap().set_len(64 << 20).unwrap();
        fs::create_dir(&folder).unwrap();
        let device = done(Command::new("losetup").args(["--find", "--show"]).arg(&image));
        let mounted = WritesThrough { device: device.trim().to_owned(), folder };
        mounted.set_write_cache("write through");
        done(Command::new("mkfs.ext4").args(["-q", &mounted.device]));
        done(Command::new("mount").arg(&mounted.device).arg(&mounted.folder));
        mounted
    }

    fn set_write_cache(&self, kind: &str) {
        let queue = Path::new("/sys/block").join(self.device.trim_start_matches("/dev/")).join("queue");
        fs::write(queue.join("write_cache"), kind).unwrap();
    }
}

impl Drop for WritesThrough {
    fn drop(&mut self) {
        // The kernel keeps it for the next file that the device stands for.
        self.set_write_cache("write back");
        let unmounted = Command::new("umount").arg(&self.folder).status();
        let detached = Command::new("losetup").args(["--detach", &self.device]).status();
        assert!(std::thread::panicking() || (unmounted.unwrap().success() && detached.unwrap().success()));
    }
}

fn done(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn where_no_flush_is_needed_the_syncs_of_the_worker_are_counted() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    let _storage = WritesThrough::mount(&lab, "through");
    let rest = format!("dir = \"through\"\n{}", with_clients(&RUNS[..1], 1000));
    let ran = at_commit(&lab, "\"faulty\", \"lmdb\"", &faulty("unsynced-commit", RECORDS), &rest);
    ran.exits(0).is_whole();
    let commits = |engine: &str| ran.trial(engine, "overwrite").result.commits().unwrap();
    let sound = commits("lmdb");
    assert!(matches!(sound.syncs, Syncs::OfWorker(syncs) if syncs >= sound.commits), "{sound:?}");
    assert!(commits("faulty").are_unsynced(), "{:?}", commits("faulty"));
    let report = ran.lab.report("md");
    assert!(report.contains("commits of 1 clients were acknowledged as durable, but the filesystem did"), "{report}");
}
