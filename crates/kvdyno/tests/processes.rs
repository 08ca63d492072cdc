//! Readers and writers that are processes of their own: they give what threads give, one that goes wrong ends the trial
//! with its reason, and nothing stays behind.

use std::fs;

use crate::support::{Comparison, HANG, Lab, Ran, RunningKvdyno, eventually};
use kvdyno_results::{ClientKind, OpKind, TrialResult};
use rustix::process::{Pid, Signal, kill_process};

fn processes<const N: usize>(engines: [&str; N]) -> Comparison {
    Lab::new().compare(engines).with("clients", "processes").with("load-clients", "processes").with("readers", 2)
}

/// Reads at random in two processes, with a fault of which each suffers one operation in a hundred.
fn faulty(fault: &str) -> Comparison {
    processes(["faulty"]).workload("readrandom").operations(5000).fault(fault, 100)
}

#[track_caller]
fn fails(comparison: Comparison, kind: &str, words: &str) -> Ran {
    let ran = comparison.run();
    ran.trial("faulty", "load").finished();
    ran.trial("faulty", ran.workload()).failed(kind, words);
    ran.exits(1).is_whole().reports_failures();
    ran
}

// ---- what they give

/// Two readers ask for the same keys, be they threads or processes, and get the same answers.
#[test]
fn they_give_what_threads_give() {
    let work = |clients: &str| {
        let lab = Lab::new()
            .compare(["lmdb", "bdb", "faulty"])
            .with("readers", 2)
            .with("clients", clients)
            .with("load-clients", clients);
        let ran = lab.workload("readrandom,readseq,readreverse").operations(3000).run();
        ran.is_clean();
        ran
    };
    let facts = |result: &TrialResult| {
        let done: Vec<_> = result.operations.iter().map(|o| (o.kind.word(), o.operations, o.records)).collect();
        (result.trial.number, result.answers.clone(), done, result.user_bytes_written)
    };
    let (threads, processes) = (work("threads").results(), work("processes").results());
    assert_eq!(threads.iter().map(facts).collect::<Vec<_>>(), processes.iter().map(facts).collect::<Vec<_>>());
    assert!(threads.iter().all(|result| result.trial.clients == ClientKind::Threads && result.trial.processes() == 1));
    assert!(processes.iter().all(|result| result.trial.clients == ClientKind::Processes));
}

/// Every read beside a writer is held against what that writer's process had acknowledged.
#[test]
fn what_a_writer_acknowledged_is_read_by_other_processes() {
    let engines = processes(["lmdb", "bdb", "bdb:snapshot", "faulty"]).workload("readwhilewriting,overwrite");
    let ran = engines.milliseconds(500).run();
    ran.is_clean();
    for result in ran.results().iter().filter(|result| result.trial.workload == "readwhilewriting") {
        assert!(result.reads_per_s() > 0.0 && result.writes_per_s() > 0.0, "{:?}", result.trial);
    }
}

#[test]
fn at_every_durability() {
    for level in ["process", "periodic", "commit"] {
        let ran = processes(["lmdb", "bdb", "faulty"]).workload("readwhilewriting").with("durability", level).run();
        ran.is_clean();
    }
}

#[test]
fn a_stale_value_is_told_whichever_process_wrote_the_newer_one() {
    // The writer comes to every record before the readers come to any.
    let ran = processes(["faulty"]).workload("readwhilewriting").operations(5000).with("records", 50);
    let ran = ran.option("faulty.writes_first=1000");
    fails(ran.fault("old-value", 100), "wrong-answer", "had been acknowledged");
}

#[test]
fn several_load() {
    let loading = processes(["lmdb", "bdb", "faulty"]).workload("readseq").operations(4000);
    let ran = loading.file("load.writers", 3).run();
    ran.is_clean();
    assert_eq!(ran.trial("lmdb", "load").result.trial.processes(), 3);
}

#[test]
fn operations_and_warm_up_are_common() {
    let ran = processes(["lmdb"]).workload("readwhilewriting").with("warmup", "100ms").operations(2000).run();
    ran.is_clean();
    let trial = ran.trial("lmdb", "readwhilewriting");
    assert_eq!(trial.result.operations.iter().find(|o| o.kind == OpKind::Get).unwrap().operations, 4000);
    assert_eq!(trial.result.window.as_ref().unwrap().warmup_seconds, 0.1);
}

/// Whatever is asked: one reader is one process, and so is the writer of a load.
#[test]
fn an_engine_without_threads_gets_processes() {
    let lab = Lab::new().compare(["faulty"]).with("readers", "1,3").option("faulty.single=true");
    let ran = lab.workload("readwhilewriting,readrandom,readseq").run();
    ran.is_clean();
    for result in ran.results() {
        let key = &result.trial;
        assert_eq!((key.clients, key.processes()), (ClientKind::Processes, key.readers + key.writers), "{key:?}");
    }
    assert_eq!(ran.trial("faulty", "load").result.trial.processes(), 1);
}

// ---- what is told of them

#[test]
fn the_account_is_the_sum_over_all_of_them() {
    let ran = processes(["lmdb"]).workload("readwhilewriting").milliseconds(1000).run();
    let trial = ran.trial("lmdb", "readwhilewriting");
    let (result, mut parts) = (&trial.result, Vec::new());
    for number in 1..=3 {
        let report: serde_json::Value = serde_json::from_str(&trial.file(&format!("worker-{number}.json"))).unwrap();
        parts.push(["user_s", "sys_s"].map(|figure| report["window"][figure].as_f64().unwrap()));
    }
    let window = result.window.as_ref().unwrap();
    let sum: f64 = parts.iter().map(|[user_s, _]| user_s).sum();
    assert!((window.user_s - sum).abs() < 1e-9, "{} is not the sum of {parts:?}", window.user_s);
    // The kernel tells user's and system's time apart by samples, and of little time may have none of either.
    assert!(parts.iter().all(|[user_s, sys_s]| user_s + sys_s > 0.0), "{parts:?}");
    assert!(result.os.user_s >= window.user_s && result.os.wall_s >= 1.0, "{:?}", result.os);
    let together = result.os.peak_pss_kib.unwrap();
    assert!(together < result.os.peak_rss_kib && together > result.os.peak_rss_kib / 3, "{:?}", result.os);
    assert_eq!(result.total_kib(), result.space.db_kib.max(together));
    assert_eq!(ran.trial("lmdb", "load").result.os.peak_pss_kib, None);
    let run = fs::read(ran.lab.path("results/report/run.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(run.as_slice());
    let heads = rows.headers().unwrap().clone();
    let row = rows.records().next().unwrap().unwrap();
    let field = |name: &str| &row[heads.iter().position(|head| head == name).unwrap()];
    assert_eq!((field("clients"), field("processes")), ("processes", "3"));
    assert_eq!(field("process_kib"), together.to_string());
    let tables = &ran.lab.run(["report", "results", "--tables", "all"]).stdout;
    assert!(tables.contains("shared pages counted once"), "{tables}");
}

/// Threads and processes of one engine are two cells, and each is named.
#[test]
fn threads_and_processes_side_by_side() {
    let lab = Lab::new();
    lab.write(
        "experiment.toml",
        r#"
        engines = ["lmdb"]
        data.records = 1000
        run = [
            { workload = "readrandom", readers = [2], operations = 3000, warmup = "0s" },
            { workload = "readrandom", readers = [2], operations = 3000, warmup = "0s", clients = "processes" },
        ]
        "#,
    );
    let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
    ran.is_clean();
    assert_eq!(ran.trials("lmdb", "readrandom").len(), 2);
    assert!(ran.stdout.lines().any(|line| line.starts_with("lmdb, processes ")), "{}", ran.stdout);
}

// ---- who cannot

#[test]
fn an_engine_that_processes_cannot_share() {
    let lab = Lab::new();
    let before = lab.tree();
    let ran = lab.run(["compare", "lmdb", "leveldb", "--clients", "processes"]);
    ran.exits(2).says("leveldb has no database that processes can share");
    lab.write("experiment.toml", "engines = [\"leveldb\"]\n[[run]]\nclients = \"processes\"\n");
    let ran = lab.run(["run", "experiment.toml"]);
    ran.exits(2).says("experiment.toml:3:11").says("leveldb has no database that processes can share");
    fs::remove_file(lab.path("experiment.toml")).unwrap();
    assert_eq!(lab.tree(), before);
}

#[test]
fn settings_that_processes_cannot_share() {
    let refused = |comparison: Comparison| {
        let ran = comparison.run();
        ran.exits(2);
        assert!(!ran.lab.path("results").exists());
        ran
    };
    refused(processes(["bdb"]).option("bdb.private=true")).says("bdb has no database that processes can share");
    refused(processes(["faulty"]).with("durability", "none")).says("durability: what processes share is the log");
}

// ---- one goes wrong

#[test]
fn one_crashes() {
    let ran = fails(faulty("segv-get"), "crashed", "signal 11 (SIGSEGV) while measuring, in process ");
    ran.trial("faulty", "readrandom").failed("crashed", " of 2, a reader");
}

#[test]
fn the_writer_crashes() {
    // The crash ends it.
    let writing = faulty("segv-put").workload("readwhilewriting").milliseconds(600_000).option("faulty.after=0");
    // Puts of the load are not hit: it has 2000, in its own process.
    fails(writing.fault("segv-put", 2001), "crashed", "in process 3 of 3, a writer");
}

#[test]
fn one_leaves_as_if_all_were_well() {
    fails(faulty("exit-get"), "exited", "the process exited with code 0 while measuring, in process");
}

#[test]
fn one_never_returns() {
    // The load, which does return, has to meet the limit too.
    fails(faulty("hang-get").file("lab.hang_timeout", HANG), "hung", "s while measuring");
}

#[test]
fn one_gets_errors() {
    fails(faulty("error-get"), "engine-error", "errors; the first: reading record");
}

#[test]
fn the_crashed_ones_database_is_loaded_again() {
    let ran = faulty("segv-get").workload("readrandom,readseq").run();
    ran.trial("faulty", "readrandom").failed("crashed", "SIGSEGV");
    ran.trial("faulty", "readseq").finished().notes("the database was loaded again before this trial");
}

/// A run that only its end from outside ends, once all its processes are at work.
fn at_work(engine: &str) -> RunningKvdyno {
    let long = processes([engine]).workload("readwhilewriting").milliseconds(600_000);
    long.start().has_records(1).has_three_at_work()
}

trait AtWork {
    /// Waits until three processes have used the processor since they came: none is in its beginnings only.
    fn has_three_at_work(self) -> Self;
}

impl AtWork for RunningKvdyno {
    fn has_three_at_work(self) -> Self {
        eventually("three processes at work", || {
            let pids = self.lab().worker_pids();
            pids.len() == 3 && pids.iter().all(|pid| cpu_ticks(*pid) >= AT_WORK_TICKS)
        });
        self
    }
}

/// Hundredths of a second: starting a process, with all its libraries, takes less.
const AT_WORK_TICKS: u64 = 5;

/// The processor time of a process, user's and system's; 0 if it has ended.
fn cpu_ticks(pid: i32) -> u64 {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return 0 };
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // The 14th and 15th, counted from 1 with the number and the name.
    fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

/// Process `which` of them, counted from 0, as its command line has it: numbers of processes need not rise.
fn send(running: &RunningKvdyno, which: usize, signal: Signal) {
    let is_it = |pid: &i32| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.contains(&format!("\0--process\0{which}\0"))
    };
    let pid = running.lab().worker_pids().into_iter().find(is_it).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

#[test]
fn one_is_killed() {
    for (which, engine) in [(0, "lmdb"), (1, "bdb"), (2, "lmdb")] {
        let running = at_work(engine);
        send(&running, which, Signal::KILL);
        let ran = running.ends();
        ran.trial(engine, "readwhilewriting").failed("crashed", "signal 9 (SIGKILL) while");
        ran.trial(engine, "readwhilewriting").failed("crashed", &format!("in process {} of 3", which + 1));
        ran.exits(1).is_whole().reports_failures();
    }
}

// ---- the parent goes

#[test]
fn all_die_with_the_parent_and_the_run_goes_on() {
    for engine in ["lmdb", "bdb", "faulty"] {
        // The resumed run takes as long, too.
        let short = processes([engine]).workload("readwhilewriting").milliseconds(3000);
        let killed = short.start().has_records(1).has_three_at_work().killed();
        killed.lab.has_no_workers();
        let resumed = killed.lab.resume();
        resumed.is_clean();
        resumed.trial(engine, "readwhilewriting").notes("the database was loaded again before this trial");
    }
}

#[test]
fn interrupted_they_close_their_databases() {
    for engine in ["lmdb", "bdb"] {
        let ended = at_work(engine).interrupted().ends();
        ended.exits(130);
        assert!(ended.lab.clients().is_empty());
        for log in 1..=3 {
            let folder = ended.lab.path("results/trials").join(format!("0002-{engine}-readwhilewriting-2r1w"));
            let report = fs::read_to_string(folder.join(format!("worker-{log}.json"))).unwrap();
            assert!(report.contains("\"failure\": null"), "{report}");
        }
    }
}

// ---- what an engine keeps outside its folder

/// The files in shared memory that the faulty engine left for databases of this lab.
fn left_outside(lab: &Lab) -> Vec<String> {
    let home = lab.path("").canonicalize().unwrap().to_string_lossy().replace('/', "-");
    let names = fs::read_dir("/dev/shm").unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| name.contains(home.trim_end_matches('-'))).collect()
}

#[test]
fn what_is_outside_the_folder_is_given_back() {
    let outside = |comparison: Comparison| comparison.option("faulty.outside=true").run();
    let ran = outside(processes(["faulty"]).workload("readrandom").operations(100));
    ran.is_clean();
    assert_eq!(left_outside(&ran.lab), [""; 0]);
    let crashed = outside(faulty("segv-get"));
    crashed.trial("faulty", "readrandom").failed("crashed", "SIGSEGV");
    assert_eq!(left_outside(&crashed.lab), [""; 0]);
    let kept = outside(processes(["faulty"]).workload("readrandom").operations(100).arguments(["--keep"]));
    assert_eq!(left_outside(&kept.lab).len(), 1, "a database that stays keeps what it has");
    fs::remove_file(format!("/dev/shm/{}", left_outside(&kept.lab)[0])).unwrap();
}

#[test]
fn what_is_outside_the_folder_is_given_back_after_a_kill() {
    let long = processes(["faulty"]).workload("readrandom").milliseconds(2000).option("faulty.outside=true");
    let running = long.start().has_records(1);
    eventually("two readers", || running.lab().worker_pids().len() == 2);
    let killed = running.killed();
    killed.lab.has_no_workers();
    assert_eq!(left_outside(&killed.lab).len(), 1);
    killed.lab.resume().is_clean();
    assert_eq!(left_outside(&killed.lab), [""; 0]);
}
