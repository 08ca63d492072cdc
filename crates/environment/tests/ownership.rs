//! The things of a killed process are found by its token.

// Helpers of tests are tests: a failure there is a failed test.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kvdyno_environment::leftovers::{leftovers, wait_for_ending};
use kvdyno_environment::ownership::{OwnedFolder, RegisterFolder};
use rustix::process::{Pid, Signal, geteuid, kill_process};

mod helper_process;

#[test]
#[ignore = "started by a test as a process of its own"]
fn maker() {
    let Some(parent) = helper_process::argument() else { return };
    let folder = OwnedFolder::new(Path::new(&parent)).unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    helper_process::say("made", folder.path().display());
    std::thread::sleep(helper_process::LONG);
}

#[test]
fn a_temporary_folder_is_left_over_when_its_maker_is_dead_and_not_before() {
    let (parent, registers) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut helper = helper_process::start("maker", parent.path().to_str().unwrap(), |command| {
        command.env("KVDYNO_REGISTER", registers.path());
    });
    let folder = PathBuf::from(helper.hear("made"));
    let shown = format!("the folder {}", folder.display());
    let registers = [RegisterFolder { path: registers.path().to_owned(), user: geteuid().as_raw() }];
    let is_left = || {
        let (left, kept) = leftovers(&registers);
        let things: Vec<String> = left.iter().flat_map(|one| &one.things).map(ToString::to_string).collect();
        let is_kept = kept.iter().any(|one| one.what == shown && one.why.contains("works with it"));
        (things, is_kept)
    };
    assert_eq!(is_left(), (vec![], true));

    kill_process(Pid::from_child(&helper.process), Signal::KILL).unwrap();
    helper.process.wait().unwrap();
    // What it had started goes on for a moment, and holds its register.
    let register = fs::read_dir(&registers[0].path).unwrap().next().unwrap().unwrap();
    let held = fs::File::open(register.path()).unwrap();
    held.lock().unwrap();
    assert_eq!(is_left(), (vec![], true));
    let ending = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        drop(held);
    });
    wait_for_ending(&registers, helper_process::LONG);
    ending.join().unwrap();
    assert_eq!(is_left(), (vec![shown.clone()], false));
    for one in leftovers(&registers).0 {
        one.things.iter().for_each(|thing| thing.remove().unwrap());
        one.close().unwrap();
    }
    assert!(!folder.exists());
    assert_eq!(is_left(), (vec![], false));
}
