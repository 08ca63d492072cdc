//! Several processes as one worker.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use helper_process::LONG;
use kvdyno_environment::process::{Exit, WorkerCommand};
use kvdyno_environment::worker_processes::{Account, WorkerProcesses};

mod helper_process;

fn sh(script: &str) -> WorkerCommand {
    let mut command = WorkerCommand::new("/bin/sh").unwrap();
    command.args(["-c", script]).stdin(Stdio::null());
    command
}

/// Waits for the end of all; who ended how, in the order in which they did.
fn finish(processes: &mut WorkerProcesses) -> (Vec<(usize, Exit)>, Account) {
    let (start, mut ended) = (Instant::now(), Vec::new());
    while start.elapsed() < LONG {
        processes.wait_event(Duration::from_millis(200)).unwrap();
        ended.extend(processes.reap().unwrap());
        if let Some(account) = processes.account() {
            return (ended, account);
        }
    }
    panic!("the processes does not end");
}

#[test]
fn each_is_told_of_once_and_the_account_waits_for_the_last() {
    let mut processes = WorkerProcesses::start(vec![sh("exit 3"), sh("sleep 0.3"), sh("kill -9 $$")]).unwrap();
    assert_eq!(processes.pids().len(), 3);
    assert_eq!(processes.account(), None);
    let (mut ended, account) = finish(&mut processes);
    ended.sort_by_key(|(number, _)| *number);
    let killed = Exit::Signal { number: 9, name: "SIGKILL".to_owned() };
    assert_eq!(ended, [(0, Exit::Code(3)), (1, Exit::Code(0)), (2, killed)]);
    assert!((0.3..LONG.as_secs_f64()).contains(&account.os.wall_s), "{account:?}");
    assert_eq!(processes.reap().unwrap(), []);
    assert_eq!(processes.account(), Some(account), "it does not change any more");
}

/// By the processor's own clock, however many others want it: a shell that works until it has used a fifth of a second.
const A_FIFTH: &str =
    "while read -r stat </proc/self/stat; set -- ${stat##*) }; [ $((${12} + ${13})) -lt 20 ]; do :; done";

#[test]
fn costs_are_summed_and_the_wall_clock_is_not() {
    let alone = finish(&mut WorkerProcesses::start(vec![sh(A_FIFTH)]).unwrap()).1.os;
    let together = finish(&mut WorkerProcesses::start(vec![sh(A_FIFTH), sh(A_FIFTH), sh(A_FIFTH)]).unwrap()).1.os;
    assert!((0.2..0.3).contains(&(alone.user_s + alone.sys_s)), "{alone:?}");
    assert!((0.6..0.9).contains(&(together.user_s + together.sys_s)), "{together:?}");
    assert!(together.minor_faults > 2 * alone.minor_faults, "{together:?} beside {alone:?}");
    assert!(together.peak_rss_kib > 2 * alone.peak_rss_kib, "{together:?} beside {alone:?}");
    let cpu_pct = 100.0 * (together.user_s + together.sys_s) / together.wall_s;
    assert!((cpu_pct - together.cpu_pct as f64).abs() < 2.0, "{together:?}");
}

#[test]
fn what_they_share_counts_once() {
    // Their memory is looked at each tenth of a second while both are there.
    let two = finish(&mut WorkerProcesses::start(vec![sh("exec sleep 2"), sh("exec sleep 2")]).unwrap()).1.os;
    let together = two.peak_pss_kib.unwrap();
    assert!(together < two.peak_rss_kib && together >= two.peak_rss_kib / 2, "{two:?}");
    let one = finish(&mut WorkerProcesses::start(vec![sh("exec sleep 0.1")]).unwrap()).1.os;
    assert_eq!(one.peak_pss_kib, None);
}

#[test]
fn they_can_be_ended_together() {
    let mut processes = WorkerProcesses::start(vec![sh("exec sleep 1000"), sh("exec sleep 1000")]).unwrap();
    processes.kill().unwrap();
    assert_eq!(finish(&mut processes).0.len(), 2);
}

#[test]
fn none_outlives_its_owner() {
    let processes = WorkerProcesses::start(vec![sh("exec sleep 1000"), sh("exec sleep 1000")]).unwrap();
    let folders: Vec<String> = processes.pids().iter().map(|pid| format!("/proc/{pid}")).collect();
    assert!(folders.iter().all(|folder| Path::new(folder).exists()));
    drop(processes);
    assert!(!folders.iter().any(|folder| Path::new(folder).exists()), "killed and reaped");
}

#[test]
fn one_that_cannot_be_started_ends_the_others() {
    let commands = vec![sh("exec sleep 1000"), WorkerCommand::new("/no/such/program").unwrap()];
    assert_eq!(WorkerProcesses::start(commands).unwrap_err().kind(), std::io::ErrorKind::NotFound);
}
