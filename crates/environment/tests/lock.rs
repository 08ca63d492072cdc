//! A lock and its holder's death.

// Helpers of tests are tests: a failure there is a failed test.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

use kvdyno_environment::lock::{FolderLock, LockError};
use kvdyno_environment::process::spawn;
use rustix::process::{Pid, Signal, kill_process};

mod parts;

#[test]
#[ignore = "a part played by a process"]
fn holder() {
    let Some(folder) = parts::argument() else { return };
    let _lock = FolderLock::acquire(Path::new(&folder)).unwrap();
    parts::say("locked", std::process::id());
    std::thread::sleep(parts::LONG);
}

#[test]
fn a_holder_is_named_and_its_death_frees_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut player = parts::start("holder", folder.path().to_str().unwrap(), |_| {});
    let holder = player.hear("locked");
    let error = FolderLock::acquire(folder.path()).unwrap_err();
    assert!(matches!(&error, LockError::Held { pid: Some(pid), .. } if pid.to_string() == holder), "{error}");

    kill_process(Pid::from_child(&player.process), Signal::KILL).unwrap();
    player.process.wait().unwrap();
    FolderLock::acquire(folder.path()).unwrap();
}

#[test]
fn a_worker_does_not_hold_its_parents_lock() {
    let folder = tempfile::tempdir().unwrap();
    let lock = FolderLock::acquire(folder.path()).unwrap();
    let _worker = spawn(Command::new("sleep").arg("1000")).unwrap();
    drop(lock);
    FolderLock::acquire(folder.path()).unwrap();
}
