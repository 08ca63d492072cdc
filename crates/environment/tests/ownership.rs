//! A process that is killed leaves what it made, and that is found by its token.

// Helpers of tests are tests: a failure there is a failed test.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use kvdyno_environment::leftovers::leftovers;
use kvdyno_environment::ownership::OwnedFolder;
use rustix::process::{Pid, Signal, kill_process};

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
    let parent = tempfile::tempdir().unwrap();
    let mut helper = helper_process::start("maker", parent.path().to_str().unwrap(), |_| {});
    let folder = PathBuf::from(helper.hear("made"));
    let shown = format!("the folder {}", folder.display());
    let is_left = || {
        let (left, kept) = leftovers();
        let things = left.iter().flat_map(|one| &one.things);
        let is_kept = kept.iter().any(|one| one.what == shown && one.why.contains("works with it"));
        (things.filter(|thing| thing.to_string() == shown).count(), is_kept)
    };
    assert_eq!(is_left(), (0, true));

    kill_process(Pid::from_child(&helper.process), Signal::KILL).unwrap();
    helper.process.wait().unwrap();
    // Whoever cleans up at the same time goes by the same register, or has been quicker.
    while folder.exists() {
        for one in leftovers().0 {
            for thing in one.things.iter().filter(|thing| thing.to_string() == shown) {
                thing.remove().unwrap();
            }
        }
    }
    assert_eq!(is_left(), (0, false));
}
