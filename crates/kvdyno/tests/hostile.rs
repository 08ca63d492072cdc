//! Engines that do something to their process or to the lab, beside one that is sound: its trials are as without them,
//! each of theirs has its reason, and nothing of them is left.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::support::hostile::{Case, MISLED, Together, all_as_expected, four, only_they_suffer};
use crate::support::{Comparison, HANG, Lab, RunningKvdyno, SmallFilesystem, eventually, same_but_for_audit};
use kvdyno_results::FailureKind::{EngineError, Hung, Implausible, LabError};
use rustix::process::{Pid, Signal, getpgid, kill_process};

const READ_RANDOM: &str = "[[run]]\nworkload = 'readrandom'\noperations = 3000\nwarmup = '0s'\nreaders = [1]";

// ---- crash, exit, hang and error in each call

fn of_a_load() -> Vec<Together> {
    let mut of_sessions = four("session-close");
    // The end of a session answers nothing.
    of_sessions[3].fails = &[];
    of_sessions[3].words = "";
    let cases = ["open", "session", "write", "close"].into_iter().flat_map(four).chain(of_sessions);
    vec![Together::of(cases, READ_RANDOM)]
}

#[test]
fn in_the_calls_of_a_load() {
    only_they_suffer(of_a_load());
}

fn of_reads() -> Vec<Together> {
    let multi = READ_RANDOM.replace("readrandom", "multireadrandom");
    vec![Together::of(four("get"), READ_RANDOM), Together::of(four("multi-get"), &multi)]
}

#[test]
fn in_the_calls_of_reads() {
    only_they_suffer(of_reads());
}

fn of_scans() -> Vec<Together> {
    let forward = ["cursor", "seek", "next"].into_iter().flat_map(four);
    let (seq, reverse) = ["readseq", "readreverse"].map(|name| READ_RANDOM.replace("readrandom", name)).into();
    vec![Together::of(forward, &seq), Together::of(four("previous"), &reverse)]
}

#[test]
fn in_the_calls_of_scans() {
    only_they_suffer(of_scans());
}

/// Gets do not seek: only what fills the engine's cache before them does.
fn of_filled_caches() -> Vec<Together> {
    let cases = ["cursor", "seek"].into_iter().flat_map(four);
    vec![Together::of(cases, &format!("{READ_RANDOM}\n[environment]\ncache_state = 'filled'"))]
}

#[test]
fn in_the_calls_that_fill_the_cache() {
    only_they_suffer(of_filled_caches());
}

fn of_writes_and_afterwards() -> Vec<Together> {
    let mut of_statistics = four("statistics");
    // They are the engine's own, and no figure depends on them.
    (of_statistics[3].fails, of_statistics[3].words) = (&[], "");
    let cases = ["put", "flush"].into_iter().flat_map(four).chain(of_statistics);
    vec![Together::of(cases, &READ_RANDOM.replace("readrandom", "overwriteandwait"))]
}

#[test]
fn in_the_calls_of_writes_and_afterwards() {
    only_they_suffer(of_writes_and_afterwards());
}

/// SQLite can do all that the newer calls ask for.
fn of_the_newer_calls() -> Vec<Together> {
    let mix = |mix: &str, more: &str| {
        format!("[[run]]\nworkload = 'mix'\nmix = '{mix}'\noperations = 3000\nwarmup = '0s'\nreaders = [1]\n{more}")
    };
    let beside = |sound, hooks: &[&'static str], workload: &str| {
        let mut cases: Vec<Case> = hooks.iter().copied().flat_map(four).collect();
        // They are the engine's own, and no figure depends on them.
        for case in cases.iter_mut().filter(|case| case.hook == "counters" && case.does == "error") {
            (case.fails, case.words) = (&[], "");
        }
        Together { sound, ..Together::of(cases, workload) }
    };
    vec![
        beside("lmdb", &["remove"], &mix("delete 50, put 50", "")),
        beside("lmdb", &["counters"], READ_RANDOM),
        // Some of what was loaded is left, to be read back.
        beside("sqlite", &["delete-range"], &mix("insert 65, expire 0.5, get 34.5", "")),
        beside("sqlite", &["contains", "insert-if-absent"], &mix("contains 40, insert-if-absent 30, delete 30", "")),
        beside("sqlite", &["cursor-with"], &mix("range 100", "range_cursors = 'bounded'")),
        beside("lmdb", &["begin", "commit", "abort"], &READ_RANDOM.replace("readrandom", "transfer")),
        beside("lmdb", &["wait-idle"], &READ_RANDOM.replace("readrandom", "overwriteandwait")),
    ]
}

#[test]
fn in_the_newer_calls() {
    only_they_suffer(of_the_newer_calls());
}

// ---- measured beside each other

/// A short run that no number of operations ends.
const TIMED: &str = "[[run]]\nworkload = 'readrandom'\nduration = '300ms'\nwarmup = '0s'\nreaders = [1]";

/// Those of calls and those that do something to the lab, in a call of each kind of moment.
fn beside_each_other() -> Vec<Case> {
    let case = |hook, does, fails, words| Case { hook, does, after: 100 * u32::from(hook == "get"), fails, words };
    let deeds = [
        case("get", "zero-shared", MISLED, ""),
        case("get", "ones-shared", MISLED, ""),
        case("get", "random-shared", MISLED, ""),
        case("close", "ones-shared", &[Implausible], "in the trial's shared memory cannot be true"),
        case("get", "rename-folder", &[LabError], "the lab could not look at"),
        case("get", "join-lab", &[Hung], "nothing happened for"),
        case("get", "leave-child", &[], "was still there when the worker had ended: it was ended"),
        case("get", "close-descriptors", &[EngineError], "closing the database: Bad file descriptor"),
        case("get", "print", &[], ""),
    ];
    ["session", "get", "close"].into_iter().flat_map(four).chain(deeds).collect()
}

fn in_slices() -> Vec<Together> {
    vec![Together { keys: ", design = 'slices'", ..Together::of(beside_each_other(), TIMED) }]
}

#[test]
fn in_slices_beside_a_sound_one() {
    only_they_suffer(in_slices());
}

/// A duet has two: each of them beside LMDB alone, those that do something while both work.
fn in_duets() -> Vec<Together> {
    let of_gets = beside_each_other().into_iter().filter(|case| case.hook == "get");
    of_gets.map(|case| Together { keys: ", design = 'duet'", ..Together::of([case], TIMED) }).collect()
}

#[test]
fn in_duets_with_a_sound_one() {
    only_they_suffer(in_duets());
}

/// Whatever an engine keeps outside its folder is given back by a process of its own: its failure is told.
fn of_cleaning_up(does: &[&str]) -> Together {
    let mut cases: Vec<Case> = four("destroy").into_iter().filter(|case| does.contains(&case.does)).collect();
    cases.iter_mut().for_each(|case| (case.fails, case.words) = (&[], ""));
    Together::of(cases, READ_RANDOM)
}

#[test]
fn in_the_call_that_cleans_up() {
    let ran = all_as_expected(vec![of_cleaning_up(&["crash", "exit", "error"])]).remove(0);
    ran.says("crash-destroy-0: what it keeps outside").says("signal 6");
    ran.says("error-destroy-0: what it keeps outside").says("injected by does=error");
}

/// In all of these calls, at the same time in as many labs.
#[test]
fn calls_that_never_return_are_ended() {
    let ones =
        [of_a_load(), of_reads(), of_scans(), of_filled_caches(), of_writes_and_afterwards(), of_the_newer_calls()];
    let beside_each_other = in_slices().into_iter().chain(in_duets());
    let others = beside_each_other.chain([of_what_is_its_own()]);
    let mut all: Vec<Together> = ones.into_iter().flatten().chain(others).flat_map(Together::that_hang).collect();
    assert_eq!(all.len(), 34, "calls and deeds");
    // It hangs when all trials are through, and spoils none.
    all.push(of_cleaning_up(&["hang"]));
    let ran = all_as_expected(all);
    ran.last().unwrap().says("hang-destroy-0: what it keeps outside").says(&format!("no end after {HANG}"));
}

// ---- the memory that it shares with the lab

#[test]
fn memory_shared_with_the_lab_is_not_believed() {
    let overwritten = ["zero-shared", "ones-shared", "random-shared"].into_iter();
    let cases = overwritten.flat_map(|does| {
        let case = |hook, after, fails| Case { hook, does, after, fails, words: "" };
        [case("get", 100, MISLED), case("statistics", 0, MISLED), case("close", 0, &[Implausible])]
    });
    only_they_suffer(vec![Together::of(cases, READ_RANDOM)]);
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
    let timed = READ_RANDOM.replace("operations = 3000", "duration = '100ms'");
    only_they_suffer(vec![Together::of([case], &timed)]);
}

// ---- its folder, the lab's processes, what it prints

fn of_what_is_its_own() -> Together {
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
    Together::of(cases, READ_RANDOM)
}

#[test]
fn its_own_folder_its_group_its_signals_its_descriptors_and_memory() {
    let ran = all_as_expected(of_what_is_its_own().that_return()).remove(0);
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
    // It saves nothing more of a trial before the storage is full: such files would make space for a failed result.
    let running = comparison.start().has_records(2).stopped();
    let filler = lab.path("results/filler");
    // To the last byte: a write that fails may have been a part.
    let full = (0..28).rev().map(|power| 1 << power).flat_map(|size: usize| std::iter::repeat_n(size, 3));
    let mut file = fs::File::create(&filler).unwrap();
    full.for_each(|size| drop(std::io::Write::write_all(&mut file, &vec![0; size])));
    let ran = running.continued().ends();
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
    let running = RunningKvdyno::start(lab.clone(), command);
    let sleeps = || {
        let line = |pid: &i32| fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        lab.processes().iter().any(|pid| line(pid).starts_with("sleep\0"))
    };
    eventually("a process in a session of its own", sleeps);
    running.killed();
    // By itself the process would be there for a quarter of an hour.
    lab.has_no_processes();
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
    let lab = Lab::new();
    let running = lab.compare(["faulty"]).workload("readrandom").milliseconds(600_000).start();
    let folder = |pid: &i32| fs::read_link(format!("/proc/{pid}/cwd")).ok();
    let is_its_own = |folder: PathBuf| folder.starts_with(lab.path("results/trials")) && folder.ends_with("work");
    let running = running.has_records(1);
    let worker = || lab.worker_pids().into_iter().find(|pid| folder(pid).is_some_and(is_its_own));
    eventually("a worker in a folder of its own", || worker().is_some());
    kill_process(Pid::from_raw(worker().unwrap()).unwrap(), Signal::KILL).unwrap();
    running.ends().exits(1).is_whole();
    let left =
        fs::read_dir(lab.path("results/trials")).unwrap().flatten().filter(|trial| trial.path().join("work").exists());
    assert_eq!(left.count(), 0);
}
