//! Control groups as the kernel has them: what is frozen stands still, and all that was in one is in its account.

// Helpers of tests are tests: a failure there is a failed test.
#![allow(clippy::unwrap_used)]

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use kvdyno_environment::memory::{ControlGroup, GroupCpuAccount};
use kvdyno_environment::ownership::{Register, RunName};

mod rights;

/// Waits until an account is above `least`.
#[track_caller]
fn above(account: &GroupCpuAccount, least: Duration) {
    let since = Instant::now();
    while account.read().unwrap() <= least {
        assert!(since.elapsed() < Duration::from_secs(120), "{account:?} does not rise");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A process and its child, of which neither ends by itself.
#[test]
fn a_frozen_group_takes_no_time_and_its_children_have_theirs_in_its_account() {
    if !rights::may_set_the_environment() {
        return;
    }
    let register = Register::new(RunName::new().unwrap()).unwrap();
    let group = ControlGroup::of_trial(&register, 1).unwrap();
    let Some(account) = group.cpu_account().filter(|_| group.can_freeze()) else {
        rights::pass_over("no control group can be frozen and counts CPU time");
        return;
    };
    assert_eq!(account.read().unwrap(), Duration::ZERO);
    let mut command = Command::new("sh");
    command.args(["-c", "(while :; do :; done) & while :; do :; done"]);
    group.take_in(&mut command).unwrap();
    let mut process = command.spawn().unwrap();
    let mut before = Duration::ZERO;
    for _ in 0..3 {
        above(&account, before + Duration::from_millis(20));
        group.freeze(true).unwrap();
        group.until_frozen().unwrap();
        before = account.read().unwrap();
        thread::sleep(Duration::from_millis(30));
        assert_eq!(account.read().unwrap(), before, "it stands still");
        group.freeze(false).unwrap();
    }
    assert_eq!(group.end().unwrap(), 2);
    process.wait().unwrap();
    assert!(account.read().unwrap() >= before, "what has ended stays in the account");
}
