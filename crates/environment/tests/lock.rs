//! A lock and its holder's death.

// Helpers of tests are tests: a failure there is a failed test.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

use kvdyno_environment::lock::{FolderLock, LockError};
use kvdyno_environment::process::spawn;
use rustix::process::{Pid, Signal, kill_process};

mod helper_process;

#[test]
#[ignore = "started by a test as a process of its own"]
fn holder() {
    let Some(folder) = helper_process::argument() else { return };
    let _lock = FolderLock::acquire(Path::new(&folder)).unwrap();
    helper_process::say("locked", std::process::id());
    std::thread::sleep(helper_process::LONG);
}

#[test]
fn a_holder_is_named_and_its_death_frees_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut helper = helper_process::start("holder", folder.path().to_str().unwrap(), |_| {});
    let holder = helper.hear("locked");
    let error = FolderLock::acquire(folder.path()).unwrap_err();
    assert!(matches!(&error, LockError::Held { pid: Some(pid), .. } if pid.to_string() == holder), "{error}");

    kill_process(Pid::from_child(&helper.process), Signal::KILL).unwrap();
    helper.process.wait().unwrap();
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
