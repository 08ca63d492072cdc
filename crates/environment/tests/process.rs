//! Real processes, started, accounted and ended.

// Helpers of tests are tests: a failure there is a failed test.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use helper_process::{LONG, is_dead, say, wait_until};
use kvdyno_environment::process::{Exit, Finished, WorkerProcess, spawn};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getpgid, getpgrp, getrlimit, kill_process, kill_process_group, setrlimit,
};

mod helper_process;

fn sh(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).stdin(Stdio::null());
    command
}

fn finish(worker: &mut WorkerProcess) -> Finished {
    let start = Instant::now();
    while start.elapsed() < LONG {
        if worker.wait_event(Duration::from_millis(200)).unwrap() {
            return worker.try_finish().unwrap().expect("it has ended");
        }
    }
    panic!("the worker does not end");
}

fn run(command: &mut Command) -> Finished {
    finish(&mut spawn(command).unwrap())
}

fn signal(number: i32, name: &str) -> Exit {
    Exit::Signal { number, name: name.to_owned() }
}

fn first_line(worker: &mut WorkerProcess) -> String {
    let mut line = String::new();
    BufReader::new(worker.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim().to_owned()
}

mod exits {
    use super::*;

    #[test]
    fn codes() {
        for code in [0, 1, 42, 255] {
            assert_eq!(run(&mut sh(&format!("exit {code}"))).exit, Exit::Code(code));
        }
        assert_eq!(Exit::Code(42).to_string(), "exit code 42");
    }

    #[test]
    fn signals_by_name() {
        for (number, name) in [(6, "SIGABRT"), (7, "SIGBUS"), (9, "SIGKILL"), (11, "SIGSEGV"), (15, "SIGTERM")] {
            assert_eq!(run(&mut sh(&format!("kill -{number} $$"))).exit, signal(number, name));
        }
        assert_eq!(signal(11, "SIGSEGV").to_string(), "signal 11 (SIGSEGV)");
        assert_eq!(run(&mut sh("kill -40 $$")).exit, signal(40, &format!("SIGRTMIN+{}", 40 - libc::SIGRTMIN())));
    }

    #[test]
    fn a_program_that_does_not_exist() {
        assert_eq!(spawn(&mut Command::new("/no/such/program")).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    }

    #[test]
    fn a_running_worker_has_not_finished() {
        let mut worker = spawn(sh("read line; exit 3").stdin(Stdio::piped())).unwrap();
        assert_eq!(worker.try_finish().unwrap(), None);
        assert!(!worker.wait_event(Duration::from_millis(1)).unwrap());
        drop(worker.stdin.take());
        let finished = finish(&mut worker);
        assert_eq!(finished.exit, Exit::Code(3));
        // Later calls say the same.
        assert!(worker.wait_event(Duration::ZERO).unwrap());
        assert_eq!(worker.try_finish().unwrap(), Some(finished));
        worker.kill().unwrap();
    }

    #[test]
    fn a_command_serves_twice() {
        let mut command = sh("exit 7");
        assert_eq!(run(&mut command).exit, Exit::Code(7));
        assert_eq!(run(&mut command).exit, Exit::Code(7));
    }
}

mod account {
    use super::*;

    const BURN: &str = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";

    #[test]
    fn cpu() {
        let os = run(&mut sh(BURN)).os;
        assert!(os.user_s > 0.02, "{os:?}");
        assert!(os.wall_s >= os.user_s, "{os:?}");
        assert!(os.cpu_pct > 0 && os.cpu_pct <= 110, "{os:?}");
        assert!(os.minor_faults > 0 && os.device.is_none(), "{os:?}");
    }

    #[test]
    fn of_children_that_were_waited_for() {
        let os = run(&mut sh(&format!("/bin/sh -c '{BURN}'; exit 0"))).os;
        assert!(os.user_s > 0.02, "{os:?}");
    }

    #[test]
    fn sleeping_costs_nothing_but_time() {
        let os = run(&mut sh("exec sleep 0.3")).os;
        assert!(os.wall_s >= 0.3 && os.ctx_voluntary > 0, "{os:?}");
        assert!(os.user_s + os.sys_s < os.wall_s, "{os:?}");
    }

    #[test]
    fn memory_that_was_touched() {
        let touch = |mib: &str| {
            let mut dd = Command::new("dd");
            dd.args(["if=/dev/zero", "of=/dev/null", "count=1", mib]).stderr(Stdio::null());
            run(&mut dd)
        };
        let (little, much) = (touch("bs=1M"), touch("bs=64M"));
        assert!((64 << 10..80 << 10).contains(&much.os.peak_rss_kib) && much.peak_rss_exact, "{much:?}");
        assert!(little.os.peak_rss_kib < 32 << 10, "{little:?}");
    }

    #[test]
    fn bytes_that_reach_the_disk() {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        if kvdyno_environment::storage::filesystem(folder.path()).device.is_none() {
            return;
        }
        let file = folder.path().join("file");
        let mut dd = Command::new("dd");
        dd.args(["if=/dev/zero", "bs=1M", "count=8", "conv=fsync"]).arg(format!("of={}", file.display()));
        let os = run(dd.stderr(Stdio::null())).os;
        assert!(os.write_bytes.unwrap() >= 8 << 20, "{os:?}");
        assert!(os.fs_out_ops >= (8 << 20) / 512, "{os:?}");
        let nothing = run(&mut sh("exit 0")).os;
        assert!(nothing.write_bytes.unwrap() < 1 << 20, "{nothing:?}");
    }
}

/// Linux counts the parent's memory as its child's peak. See [`spawn`].
mod below_a_big_parent {
    use super::*;

    const HELD_MB: usize = 500;

    /// A worker that lives until it was looked at, however late that is, and has begun its work by then.
    fn run_looked_at() -> Finished {
        let mut worker = spawn(sh("echo ready; read line").stdin(Stdio::piped()).stdout(Stdio::piped())).unwrap();
        assert_eq!(first_line(&mut worker), "ready");
        assert!(!worker.wait_event(Duration::ZERO).unwrap());
        drop(worker.stdin.take());
        finish(&mut worker)
    }

    #[test]
    #[ignore = "started by a test as a process of its own"]
    fn big_parent() {
        let Some(_) = helper_process::argument() else { return };
        let mut held = vec![0u8; HELD_MB << 20];
        held.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        std::hint::black_box(&mut held);

        let small = run_looked_at();
        say("small", format!("{} {}", small.os.peak_rss_kib, small.peak_rss_exact));
        let mut dd = Command::new("dd");
        dd.args(["if=/dev/zero", "of=/dev/null", "count=1", "bs=600M"]).stderr(Stdio::null());
        let large = run(&mut dd);
        say("large", format!("{} {}", large.os.peak_rss_kib, large.peak_rss_exact));
        std::hint::black_box(&mut held);

        drop(held);
        let after = run_looked_at();
        say("after", format!("{} {}", after.os.peak_rss_kib, after.peak_rss_exact));
    }

    #[test]
    fn a_workers_peak_is_its_own() {
        let mut helper = helper_process::start("below_a_big_parent::big_parent", "", |_| {});
        let mut heard = |word: &str| {
            let said = helper.hear(word);
            let (kib, exact) = said.split_once(' ').unwrap();
            (kib.parse::<u64>().unwrap(), exact == "true")
        };
        let (small, exact) = heard("small");
        assert!((100..32 << 10).contains(&small) && !exact, "{small} {exact}");
        let (large, exact) = heard("large");
        assert!((600 << 10..640 << 10).contains(&large) && exact, "{large} {exact}");
        // Memory that the parent freed does not count for the worker.
        let (after, _) = heard("after");
        assert!((100..32 << 10).contains(&after), "{after}");
    }
}

mod placement {
    use super::*;

    #[test]
    fn no_signal_is_blocked() {
        let set = |how, signals: &[i32]| {
            // SAFETY: the set is filled by `sigemptyset` before use, and the last pointer may be null.
            unsafe {
                let mut set = std::mem::zeroed();
                libc::sigemptyset(&mut set);
                signals.iter().for_each(|&signal| assert_eq!(libc::sigaddset(&mut set, signal), 0));
                assert_eq!(libc::pthread_sigmask(how, &set, std::ptr::null_mut()), 0);
            }
        };
        set(libc::SIG_BLOCK, &[libc::SIGTERM, libc::SIGUSR1]);
        let finished = run(&mut sh("kill -TERM $$; exit 0"));
        set(libc::SIG_UNBLOCK, &[libc::SIGTERM, libc::SIGUSR1]);
        assert_eq!(finished.exit, signal(15, "SIGTERM"));
    }

    #[test]
    fn core_dumps_are_off() {
        // The limit is raised as far as this process may.
        let mine = getrlimit(Resource::Core);
        setrlimit(Resource::Core, Rlimit { current: mine.maximum, ..mine }).unwrap();
        let mut worker = spawn(sh("cat /proc/self/limits").stdout(Stdio::piped())).unwrap();
        let mut limits = String::new();
        worker.stdout.take().unwrap().read_to_string(&mut limits).unwrap();
        let core = limits.lines().find_map(|line| line.strip_prefix("Max core file size")).unwrap();
        assert!(["0", "1"].contains(&core.split_whitespace().next().unwrap()), "{core}");
    }

    #[test]
    fn a_group_of_its_own() {
        let worker = spawn(&mut sh("exec sleep 1000")).unwrap();
        let pid = Pid::from_raw(worker.pid() as i32).unwrap();
        assert_eq!(getpgid(Some(pid)).unwrap(), pid);
        assert_ne!(getpgrp(), pid);
    }

    /// Asks for SIGINT, and says whether its worker survived it.
    #[test]
    #[ignore = "started by a test as a process of its own"]
    fn interrupted_parent() {
        let Some(_) = helper_process::argument() else { return };
        let interrupted = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(libc::SIGINT, Arc::clone(&interrupted)).unwrap();
        let mut worker = spawn(&mut sh("exec sleep 1000")).unwrap();
        say("ready", std::process::id());
        wait_until("interrupted", || interrupted.load(Ordering::Relaxed));
        say("ended", worker.wait_event(Duration::from_millis(500)).unwrap());
    }

    #[test]
    fn a_terminals_interrupt_does_not_reach_it() {
        // A terminal's interrupt goes to every process of the group in the foreground.
        let mut helper = helper_process::start("placement::interrupted_parent", "", |command| {
            command.process_group(0);
        });
        let group = Pid::from_raw(helper.hear("ready").parse().unwrap()).unwrap();
        kill_process_group(group, Signal::INT).unwrap();
        assert_eq!(helper.hear("ended"), "false");
    }
}

mod ends {
    use super::*;

    #[test]
    fn a_hung_worker_and_its_children() {
        let script = "trap '' TERM; sleep 1000 & echo $!; while :; do wait; done";
        let mut worker = spawn(sh(script).stdout(Stdio::piped())).unwrap();
        let child = first_line(&mut worker);
        assert!(!is_dead(&child));
        worker.kill().unwrap();
        assert_eq!(finish(&mut worker).exit, signal(9, "SIGKILL"));
        wait_until("the worker's child is dead", || is_dead(&child));
    }

    #[test]
    fn a_stopped_worker() {
        let mut worker = spawn(&mut sh("kill -STOP $$")).unwrap();
        wait_until("stopped", || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", worker.pid())).unwrap();
            stat.rsplit(')').next().unwrap().trim_start().starts_with('T')
        });
        assert_eq!(worker.try_finish().unwrap(), None);
        worker.kill().unwrap();
        assert_eq!(finish(&mut worker).exit, signal(9, "SIGKILL"));
    }

    #[test]
    fn children_that_the_worker_left_behind() {
        let mut worker = spawn(sh("sleep 1000 & echo $!; exit 5").stdout(Stdio::piped())).unwrap();
        let child = first_line(&mut worker);
        assert_eq!(finish(&mut worker).exit, Exit::Code(5));
        wait_until("the worker's child is dead", || is_dead(&child));
    }

    #[test]
    fn with_its_handle() {
        let worker = spawn(&mut sh("exec sleep 1000")).unwrap();
        let pid = worker.pid();
        assert!(Path::new(&format!("/proc/{pid}")).exists());
        drop(worker);
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "killed and reaped");
    }

    #[test]
    fn but_not_with_the_thread_that_started_it() {
        let mut worker = std::thread::spawn(|| spawn(&mut sh("sleep 0.3; exit 4")).unwrap()).join().unwrap();
        assert_eq!(finish(&mut worker).exit, Exit::Code(4));
    }

    /// In a session of its own: no signal to a group reaches it.
    const FAR_OFF: &str = "setsid sleep 1000 & echo $!";

    #[test]
    fn children_that_went_into_sessions_of_their_own_are_ended_and_counted() {
        let mut worker = spawn(sh(&format!("{FAR_OFF}; exit 5")).stdout(Stdio::piped())).unwrap();
        let child = first_line(&mut worker);
        let finished = finish(&mut worker);
        assert_eq!((finished.exit, finished.survivors), (Exit::Code(5), 1));
        assert!(is_dead(&child), "by the time the worker is said to have ended");
        assert_eq!(run(&mut sh("true & wait; exit 0")).survivors, 0);
    }

    #[test]
    fn children_of_a_worker_that_is_killed_wherever_they_are() {
        let mut worker = spawn(sh(&format!("{FAR_OFF}; sleep 1000")).stdout(Stdio::piped())).unwrap();
        let child = first_line(&mut worker);
        worker.kill().unwrap();
        assert_eq!(finish(&mut worker).exit, signal(9, "SIGKILL"));
        assert!(is_dead(&child));
    }

    #[test]
    #[ignore = "started by a test as a process of its own"]
    fn parent_of_many() {
        let Some(_) = helper_process::argument() else { return };
        let mut worker = spawn(sh(&format!("{FAR_OFF}; trap '' TERM; sleep 1000")).stdout(Stdio::piped())).unwrap();
        let child = first_line(&mut worker);
        say("child", child);
        say("worker", worker.pid());
        finish(&mut worker);
    }

    #[test]
    fn with_all_that_is_below_it_if_its_parent_is_killed() {
        let mut helper = helper_process::start("ends::parent_of_many", "", |_| {});
        let (child, worker) = (helper.hear("child"), helper.hear("worker"));
        kill_process(Pid::from_child(&helper.process), Signal::KILL).unwrap();
        wait_until("the worker and its child are dead", || is_dead(&worker) && is_dead(&child));
    }

    /// The keeper is what a worker has as its parent.
    #[test]
    fn a_worker_whose_keeper_was_stopped_or_killed() {
        let keeper = |worker: &WorkerProcess| {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", worker.pid())).unwrap();
            let parent = stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
            Pid::from_raw(parent).unwrap()
        };
        let mut worker = spawn(&mut sh("exec sleep 1000")).unwrap();
        kill_process(keeper(&worker), Signal::STOP).unwrap();
        worker.kill().unwrap();
        assert_eq!(finish(&mut worker).exit, signal(9, "SIGKILL"));
        let mut worker = spawn(&mut sh("exec sleep 1000")).unwrap();
        let pid = worker.pid().to_string();
        kill_process(keeper(&worker), Signal::KILL).unwrap();
        assert_eq!(finish(&mut worker).exit, signal(9, "SIGKILL"));
        wait_until("the worker is dead", || is_dead(&pid));
    }

    #[test]
    #[ignore = "started by a test as a process of its own"]
    fn parent() {
        let Some(_) = helper_process::argument() else { return };
        let mut worker = spawn(&mut sh("exec sleep 1000")).unwrap();
        say("worker", worker.pid());
        finish(&mut worker);
    }

    #[test]
    fn with_its_parent() {
        let mut helper = helper_process::start("ends::parent", "", |_| {});
        let worker = helper.hear("worker");
        assert!(!is_dead(&worker));
        let parent = Pid::from_child(&helper.process);
        kill_process(parent, Signal::KILL).unwrap();
        wait_until("the worker is dead", || is_dead(&worker));
    }
}
