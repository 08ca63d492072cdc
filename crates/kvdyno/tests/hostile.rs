//! Engines that do something to their process or to the lab, beside one that is sound: its trials are as without them,
//! each of theirs has its reason, and nothing of them is left.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use kvdyno_results::{AnswerCounts, FailureKind, TrialOutcome};
use rustix::process::{Pid, getpgid};
use support::{Comparison, Lab, Ran, SmallFilesystem, eventually, same_but_for_audit};

/// A deed of an engine in a call, and what must come of it.
struct Case {
    hook: &'static str,
    does: &'static str,
    /// Calls before it.
    after: u32,
    /// The kinds of failure that are right; none: its trials finish.
    fails: &'static [FailureKind],
    /// Words of the reason, or of a note.
    words: &'static str,
}

use FailureKind::{Crashed, EngineError, Exited, Hung, Implausible, LabError};

/// A crash, an exit, a hang and an error in a call.
fn four(hook: &'static str) -> [Case; 4] {
    let case = |does, fails, words| Case { hook, does, after: 0, fails, words };
    [
        case("crash", &[Crashed], "signal 6 (SIGABRT)"),
        case("exit", &[Exited], "the process exited with code 0"),
        case("hang", &[Hung], "nothing happened for"),
        case("error", &[EngineError], "injected by does=error"),
    ]
}

impl Case {
    fn label(&self) -> String {
        format!("{}-{}-{}", self.does, self.hook, self.after)
    }
}

/// Runs `workload` on faulty engines and on LMDB.
fn run(lab: &Lab, cases: &[Case], workload: &str) -> Ran {
    run_beside("lmdb", lab, cases, "", workload)
}

/// The same beside a sound engine, with more keys of the lab.
fn run_beside(sound: &str, lab: &Lab, cases: &[Case], keys: &str, workload: &str) -> Ran {
    let setups: String = cases
        .iter()
        .map(|case| {
            let Case { hook, does, after, .. } = case;
            let options = format!(
                "hook = '{hook}', does = '{does}', after = {after}, fill_limit = '64MiB', transactions = true, \
                 concurrent = true"
            );
            format!("engine.{} = {{ engine = 'faulty', options = {{ {options} }} }}\n", case.label())
        })
        .collect();
    let names: Vec<String> = cases.iter().map(|case| format!("'{}'", case.label())).collect();
    lab.write(
        "experiment.toml",
        &format!(
            "engines = [{}, '{sound}']\ndata.records = 2000\n\
             lab = {{ hang_timeout = '1s', close_timeout = '3s'{keys} }}\n{setups}\n{workload}",
            names.join(", ")
        ),
    );
    lab.run(["run", "experiment.toml", "--out", "results"])
}

/// The engine has a load and a run that did all of its work, with right answers, and what was written is there.
#[track_caller]
fn is_as_alone(ran: &Ran, engine: &str) {
    let results = ran.results();
    let of_it: Vec<_> = results.iter().filter(|result| result.trial.engine == engine).collect();
    assert_eq!(of_it.len(), 2, "trials of {engine}");
    for result in of_it {
        let trial = result.trial.number;
        assert!(result.is_finished(), "trial {trial}: {:?}", result.outcome);
        let done: u64 = result.operations.iter().map(|one| one.operations).sum();
        let AnswerCounts { right, missing, errors, wrong, torn, stale, .. } = result.answers;
        assert!(done > 0 && right > 0, "trial {trial}: {done} operations, {right} right answers");
        assert_eq!([missing, errors, wrong, torn, stale], [0; 5], "trial {trial}");
        let writes = result.operations.iter().any(|one| one.writes());
        let audit = result.audit.as_ref();
        assert!(audit.is_some() || !writes, "trial {trial} wrote, and nothing was read back");
        for finding in audit.into_iter().flat_map(|audit| [&audit.session, &audit.process]) {
            let finding = finding.as_ref().unwrap_or_else(|| panic!("trial {trial} was not read back: {audit:?}"));
            assert!(finding.read > 0 && finding.failure("it").is_none(), "trial {trial}: {finding:?}");
        }
    }
}

/// Holds the trials of each case against what must come of it.
#[track_caller]
fn all_as_expected(ran: &Ran, cases: &[Case]) {
    all_as_expected_beside("lmdb", ran, cases);
}

#[track_caller]
fn all_as_expected_beside(sound: &str, ran: &Ran, cases: &[Case]) {
    let fails = cases.iter().any(|case| !case.fails.is_empty());
    ran.exits(fails.into()).all_finished(sound).is_whole().lab.has_no_processes();
    is_as_alone(ran, sound);
    let results = ran.results();
    for case in cases {
        let of_it: Vec<_> = results.iter().filter(|result| result.trial.engine == case.label()).collect();
        let failed = of_it.iter().find_map(|result| match &result.outcome {
            TrialOutcome::Failed(failure) => Some(failure),
            TrialOutcome::Finished => None,
        });
        match failed {
            None => {
                assert!(case.fails.is_empty(), "{} did not fail", case.label());
                let notes: Vec<&String> = of_it.iter().flat_map(|result| &result.notes).collect();
                assert!(
                    case.words.is_empty() || notes.iter().any(|note| note.contains(case.words)),
                    "{}: {notes:?}",
                    case.label()
                );
            }
            Some(failure) => {
                assert!(case.fails.contains(&failure.kind), "{}: {:?}: {}", case.label(), failure.kind, failure.reason);
                assert!(failure.reason.contains(case.words), "{}: {}", case.label(), failure.reason);
            }
        }
    }
}

#[track_caller]
fn only_they_suffer(cases: impl IntoIterator<Item = Case>, workload: &str) {
    let cases: Vec<Case> = cases.into_iter().collect();
    let ran = run(&Lab::new(), &cases, workload);
    all_as_expected(&ran, &cases);
}

const READ_RANDOM: &str = "[[run]]\nworkload = 'readrandom'\noperations = 3000\nwarmup = '0s'\nreaders = [1]";

// ---- crash, exit, hang and error in each call

#[test]
fn in_the_calls_of_a_load() {
    let mut of_sessions = four("session-close");
    // The end of a session answers nothing.
    of_sessions[3].fails = &[];
    of_sessions[3].words = "";
    let cases = ["open", "session", "write", "close"].into_iter().flat_map(four).chain(of_sessions);
    only_they_suffer(cases, READ_RANDOM);
}

#[test]
fn in_the_calls_of_reads() {
    only_they_suffer(four("get"), READ_RANDOM);
    only_they_suffer(four("multi-get"), &READ_RANDOM.replace("readrandom", "multireadrandom"));
}

#[test]
fn in_the_calls_of_scans() {
    only_they_suffer(
        ["cursor", "seek", "next"].into_iter().flat_map(four),
        &READ_RANDOM.replace("readrandom", "readseq"),
    );
    only_they_suffer(four("previous"), &READ_RANDOM.replace("readrandom", "readreverse"));
}

#[test]
fn in_the_calls_of_writes_and_afterwards() {
    let mut of_statistics = four("statistics");
    // They are the engine's own, and no figure depends on them.
    (of_statistics[3].fails, of_statistics[3].words) = (&[], "");
    only_they_suffer(
        ["put", "flush"].into_iter().flat_map(four).chain(of_statistics),
        &READ_RANDOM.replace("readrandom", "overwriteandwait"),
    );
}

/// SQLite can do all that the newer calls ask for.
#[test]
fn in_the_newer_calls() {
    let mix = |mix: &str, more: &str| {
        format!("[[run]]\nworkload = 'mix'\nmix = '{mix}'\noperations = 3000\nwarmup = '0s'\nreaders = [1]\n{more}")
    };
    let beside = |sound: &str, hooks: &[&'static str], workload: &str| {
        let mut cases: Vec<Case> = hooks.iter().copied().flat_map(four).collect();
        // They are the engine's own, and no figure depends on them.
        for case in cases.iter_mut().filter(|case| case.hook == "counters" && case.does == "error") {
            (case.fails, case.words) = (&[], "");
        }
        let ran = run_beside(sound, &Lab::new(), &cases, "", workload);
        all_as_expected_beside(sound, &ran, &cases);
    };
    beside("lmdb", &["remove"], &mix("delete 50, put 50", ""));
    beside("lmdb", &["counters"], READ_RANDOM);
    // Some of what was loaded is left, to be read back.
    beside("sqlite", &["delete-range"], &mix("insert 65, expire 0.5, get 34.5", ""));
    beside("sqlite", &["contains", "insert-if-absent"], &mix("contains 40, insert-if-absent 30, delete 30", ""));
    beside("sqlite", &["cursor-with"], &mix("range 100", "range_cursors = 'bounded'"));
    beside("lmdb", &["begin", "commit", "abort"], &READ_RANDOM.replace("readrandom", "transfer"));
    beside("lmdb", &["wait-idle"], &READ_RANDOM.replace("readrandom", "overwriteandwait"));
}

// ---- measured beside each other

/// A short run that no number of operations ends.
const TIMED: &str = "[[run]]\nworkload = 'readrandom'\nduration = '300ms'\nwarmup = '0s'\nreaders = [1]";

/// Those of calls and those that do something to the lab, in a call of each kind of moment.
fn beside_each_other() -> Vec<Case> {
    let case = |hook, does, fails, words| Case { hook, does, after: 100 * u32::from(hook == "get"), fails, words };
    let misled: &[_] = &[Implausible, Hung, Crashed, Exited, FailureKind::WrongAnswer, EngineError];
    let deeds = [
        case("get", "zero-shared", misled, ""),
        case("get", "ones-shared", misled, ""),
        case("get", "random-shared", misled, ""),
        case("close", "ones-shared", &[Implausible], "in the trial's shared memory cannot be true"),
        case("get", "rename-folder", &[LabError], "the lab could not look at"),
        case("get", "join-lab", &[Hung], "nothing happened for"),
        case("get", "leave-child", &[], "was still there when the worker had ended: it was ended"),
        case("get", "close-descriptors", &[EngineError], "closing the database: Bad file descriptor"),
        case("get", "print", &[], ""),
    ];
    ["session", "get", "close"].into_iter().flat_map(four).chain(deeds).collect()
}

#[test]
fn in_slices_beside_a_sound_one() {
    let cases = beside_each_other();
    let ran = run_beside("lmdb", &Lab::new(), &cases, ", design = 'slices'", TIMED);
    all_as_expected(&ran, &cases);
}

/// A duet has two: each of them beside LMDB alone, those that do something while both work.
#[test]
fn in_duets_with_a_sound_one() {
    for case in beside_each_other().into_iter().filter(|case| case.hook == "get") {
        let cases = [case];
        let ran = run_beside("lmdb", &Lab::new(), &cases, ", design = 'duet'", TIMED);
        all_as_expected(&ran, &cases);
    }
}

/// Whatever an engine keeps outside its folder is given back by a process of its own: its failure is told.
#[test]
fn in_the_call_that_cleans_up() {
    let mut cases = four("destroy");
    cases.iter_mut().for_each(|case| (case.fails, case.words) = (&[], ""));
    let ran = run(&Lab::new(), &cases, READ_RANDOM);
    all_as_expected(&ran, &cases);
    for (case, reason) in cases.iter().zip(["signal 6", "", "no end after 1s", "injected by does=error"]) {
        ran.says(&if reason.is_empty() { String::new() } else { format!("{}: what it keeps outside", case.label()) });
        ran.says(reason);
    }
}

// ---- the memory that it shares with the lab

#[test]
fn memory_shared_with_the_lab_is_not_believed() {
    let overwritten = ["zero-shared", "ones-shared", "random-shared"].into_iter();
    let cases = overwritten.flat_map(|does| {
        let case = |hook, after, fails| Case { hook, does, after, fails, words: "" };
        // Where the worker itself is misled, it ends too early, crashes or hangs.
        let misled: &[_] = &[Implausible, Hung, Crashed, Exited, FailureKind::WrongAnswer, EngineError];
        [case("get", 100, misled), case("statistics", 0, misled), case("close", 0, &[Implausible])]
    });
    only_they_suffer(cases, READ_RANDOM);
}

/// Not even where nothing but shared memory says when a trial ends.
#[test]
fn a_trial_ends_by_the_labs_own_clock() {
    let case = Case {
        hook: "get",
        does: "ones-shared",
        after: 0,
        fails: &[Implausible],
        words: "in the trial's shared memory cannot be true",
    };
    only_they_suffer([case], &READ_RANDOM.replace("operations = 3000", "duration = '100ms'"));
}

// ---- its folder, the lab's processes, what it prints

#[test]
fn its_own_folder_its_group_its_signals_its_descriptors_and_memory() {
    let case = |hook, does, fails, words| Case { hook, does, after: 100 * u32::from(hook == "get"), fails, words };
    let cases = [
        case("get", "rename-folder", &[LabError], "the lab could not look at"),
        case("get", "remove-folder", &[LabError], "the lab could not look at"),
        case("get", "join-lab", &[Hung], "nothing happened for"),
        case("get", "block-signals", &[Hung], "nothing happened for"),
        case("open", "leave-child", &[], "was still there when the worker had ended: it was ended"),
        case("get", "leave-child", &[], "was still there when the worker had ended: it was ended"),
        case("get", "close-descriptors", &[EngineError], "closing the database: Bad file descriptor"),
        case("get", "print", &[], ""),
        case("get", "eat-memory", &[], ""),
    ];
    let ran = run(&Lab::new(), &cases, READ_RANDOM);
    all_as_expected(&ran, &cases);
    let log = ran.trial("print-get-100", "readrandom").file("worker.log");
    assert!(log.len() < 3 << 20 && log.contains("bytes that came here are not kept"), "{}", log.len());
}

/// `faulty` beside LMDB, with something that it does.
fn faulty(hook: &str, does: &str) -> Comparison {
    let comparison = Lab::new().compare(["faulty", "lmdb"]).workload("readrandom").operations(3000);
    comparison.option(&format!("faulty.hook={hook}")).option(&format!("faulty.does={does}"))
}

#[test]
fn a_gigabyte_that_is_printed_where_the_results_have_less_space() {
    let printing = faulty("get", "print").option("faulty.fill_limit=1GiB").file("lab.min_free", "64KiB");
    let Some(_small) = SmallFilesystem::mount(printing.lab(), "results") else { return };
    let ran = printing.run();
    ran.is_clean();
    let text = ran.trial("faulty", "readrandom").file("worker.log");
    assert!(text.len() < 3 << 20, "{}", text.len());
}

#[test]
fn where_nothing_can_be_saved_the_run_stops_and_goes_on_at_that_trial() {
    let comparison = Lab::new().compare(["lmdb"]).workload("readrandom").milliseconds(2000).with("readers", "1,2,3");
    let comparison = comparison.with("dir", "databases");
    let Some(_small) = SmallFilesystem::mount(comparison.lab(), "results") else { return };
    let lab = comparison.lab().clone();
    fs::create_dir(lab.path("databases")).unwrap();
    let running = comparison.start().has_records(2);
    let filler = lab.path("results/filler");
    // To the last byte: a write that fails may have been a part.
    let full = (0..28).rev().map(|power| 1 << power).flat_map(|size: usize| std::iter::repeat_n(size, 3));
    let mut file = fs::File::create(&filler).unwrap();
    full.for_each(|size| drop(std::io::Write::write_all(&mut file, &vec![0; size])));
    let ran = running.ends();
    ran.exits(1).says("No space left on device").says("results/trials/000");
    let before = lab.result_files();
    drop(file);
    fs::remove_file(&filler).unwrap();
    let resumed = lab.resume();
    resumed.exits(0);
    assert_eq!(resumed.results().len(), 4);
    let after = lab.result_files();
    assert!(
        before.iter().all(|(name, result)| same_but_for_audit(&after[name], result)),
        "what was saved is as it was"
    );
    lab.has_no_processes();
}

// ---- nothing is left

/// Kills `kvdyno` once something of it is there that has gone into a session of its own.
#[track_caller]
fn is_gone_after_a_kill(lab: &Lab, mut command: std::process::Command) {
    command.env("TMPDIR", lab.path("tmp"));
    fs::create_dir_all(lab.path("tmp")).unwrap();
    let running = support::RunningKvdyno::start(lab.clone(), command);
    let sleeps = || {
        let line = |pid: &i32| fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        lab.processes().iter().any(|pid| line(pid).starts_with("sleep\0"))
    };
    eventually("a process in a session of its own", sleeps);
    let since = Instant::now();
    running.killed();
    lab.has_no_processes();
    let took = since.elapsed();
    assert!(took < Duration::from_secs(1), "gone after {took:?} only");
}

#[test]
fn of_a_trial_after_a_kill() {
    let comparison = faulty("get", "leave-child").milliseconds(60_000);
    let lab = comparison.lab().clone();
    is_gone_after_a_kill(&lab, comparison.command());
}

#[test]
fn of_an_inspection_after_a_kill() {
    let comparison = faulty("settings", "leave-child-and-hang");
    let lab = comparison.lab().clone();
    is_gone_after_a_kill(&lab, comparison.command());
    assert_eq!(fs::read_dir(lab.path("tmp")).unwrap().count(), 0);
}

#[test]
fn of_a_check_after_a_kill() {
    let lab = Lab::new();
    let mut command = lab.kvdyno();
    command.args(["engines", "check", "faulty", "--only", "open-and-close", "--option", "hook=open"]);
    command.args(["--option", "does=leave-child-and-hang"]);
    is_gone_after_a_kill(&lab, command);
}

#[test]
fn of_an_installation_after_a_kill() {
    let lab = Lab::new();
    fs::create_dir_all(lab.path("bin")).unwrap();
    let client = lab.path("bin/npm");
    fs::write(&client, "#!/bin/sh\nPATH=/usr/bin:/bin\nsetsid --fork sleep 1000\nsleep 1001\n").unwrap();
    fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = lab.kvdyno();
    let path = format!("{}:/usr/bin:/bin", lab.path("bin").display());
    command.args(["engines", "install", "hyperleveldb"]).env("PATH", path).env("XDG_DATA_HOME", lab.path("data"));
    is_gone_after_a_kill(&lab, command);
    // Its unfinished work bears a token.
    let unfinished = || fs::read_dir(lab.path("data/kvdyno/engines")).unwrap().count();
    assert_eq!(unfinished(), 1);
    lab.run(["clean"]);
    assert_eq!(unfinished(), 0);
}

// ---- Ctrl-C, the current folder

#[test]
fn a_worker_in_the_labs_own_process_group_is_ended_by_ctrl_c() {
    let comparison = faulty("get", "join-lab");
    let lab = comparison.lab().clone();
    let running = comparison.start();
    let group = |pid: i32| getpgid(Pid::from_raw(pid)).ok();
    let lab_group = group(running.pid() as i32);
    eventually("a worker in the lab's group", || lab.worker_pids().into_iter().any(|pid| group(pid) == lab_group));
    running.interrupted().after(200).interrupted().ends().exits(130);
    lab.has_no_processes();
}

#[test]
fn a_workers_current_folder_is_its_trials_own_and_is_removed() {
    let comparison = faulty("get", "hang").file("lab.hang_timeout", "2s");
    let lab = comparison.lab().clone();
    let running = comparison.start();
    eventually("a worker", || {
        lab.worker_pids().into_iter().any(|pid| {
            let folder = fs::read_link(format!("/proc/{pid}/cwd"));
            folder.is_ok_and(|folder| folder.starts_with(lab.path("results/trials")) && folder.ends_with("work"))
        })
    });
    running.ends().exits(1).is_whole();
    let left =
        fs::read_dir(lab.path("results/trials")).unwrap().flatten().filter(|trial| trial.path().join("work").exists());
    assert_eq!(left.count(), 0);
}
