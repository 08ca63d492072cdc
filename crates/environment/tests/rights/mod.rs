//! The rights of tests over the machine: what needs root is passed over without them, and named.

// Each test binary uses some of this.
#![allow(clippy::unwrap_used, dead_code)]

use std::env;
use std::fs::File;
use std::io::Write;
use std::thread;

/// Whether tests may mount filesystems. `KVDYNO_TEST_MOUNT` says so (`run`) or not (`skip`); else root may.
pub fn may_mount() -> bool {
    may("KVDYNO_TEST_MOUNT", "it mounts a filesystem")
}

/// Whether tests may mount, and make loop devices and control groups. `KVDYNO_TEST_ENVIRONMENT` says so (`run`) or not
/// (`skip`), as in a container that has none; else root may.
pub fn may_set_the_environment() -> bool {
    may("KVDYNO_TEST_ENVIRONMENT", "it mounts filesystems, or makes loop devices or control groups")
}

/// Whether tests may do what only root can, and give files away.
pub fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        pass_over("it needs root");
    }
    is_root
}

fn may(variable: &str, does: &str) -> bool {
    let said = env::var(variable).ok();
    let why = match said.as_deref() {
        Some("run") => return true,
        None if rustix::process::geteuid().is_root() => return true,
        None => format!("{does}, which needs root"),
        Some("skip") => format!("{does}, and {variable}=skip"),
        Some(other) => panic!("{variable}={other}: it can be run or skip"),
    };
    pass_over(&why);
    false
}

/// Records that the test of this thread was skipped: on standard error, and in a line of the file
/// `KVDYNO_TEST_PASSED_OVER`, for runners that do not show the output of tests that pass.
pub fn pass_over(why: &str) {
    // A runner that starts a process for each test says which it is; the thread has the name where there are many.
    let by_runner = || Some(format!("{} {}", env::var("NEXTEST_BINARY_ID").ok()?, env::var("NEXTEST_TEST_NAME").ok()?));
    let test = by_runner().or_else(|| thread::current().name().map(str::to_owned)).unwrap_or_default();
    let line = format!("passed over: {test}: {why}\n");
    eprint!("{line}");
    if let Some(list) = env::var_os("KVDYNO_TEST_PASSED_OVER") {
        let mut list = File::options().append(true).create(true).open(list).unwrap();
        list.write_all(line.as_bytes()).unwrap();
    }
}
