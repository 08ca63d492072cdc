//! Writes that were acknowledged and are not there, or older, fail the trials that wrote them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::support::{Comparison, Lab, Ran};
use kvdyno_results::{FailureKind, Phase, ReadBack, TrialOutcome, TrialResult};

/// Engines that answer as they should until they are asked anew: a fault, and each so-manieth write that it hits.
const LOSERS: [(&str, u64); 10] = [
    ("dropped-write", 1),
    ("dropped-write", 1000),
    ("private", 1),
    ("recalled", 1),
    ("lost-at-close", 1),
    ("forgotten-at-close", 1),
    ("older-at-close", 1),
    ("swapped-at-close", 1),
    ("torn-at-close", 1),
    ("short-at-close", 1),
];

const LOADS: [&str; 2] = ["fillseq", "fillrandom"];

const WRITERS_BESIDE_READERS: [&str; 3] = ["readwhilewriting", "fwdrangewhilewriting", "revrangewhilewriting"];
const WRITERS: [&str; 3] = ["overwrite", "overwritesome", "overwriteandwait"];

/// Runs in which every operation that writes has its turn. Some have several clients, which find what one keeps to
/// itself.
const NEWER_RUNS: [(&str, &str); 10] = [
    ("put", "workload = \"mix\"\nmix = \"get 50, put 50\"\nreaders = [1]"),
    ("insert", "workload = \"mix\"\nmix = \"insert 50, get 50\"\nreaders = [1]"),
    ("insert if absent", "workload = \"mix\"\nmix = \"insert-if-absent 50, delete 50\"\nreaders = [2]"),
    ("read-modify-write", "workload = \"mix\"\nmix = \"read-modify-write 100\"\nreaders = [1]"),
    ("delete", "workload = \"mix\"\nmix = \"delete 50, put 50\"\nreaders = [1]"),
    ("delete and little else", "workload = \"mix\"\nmix = \"delete 90, put 10\"\nreaders = [2]"),
    ("queue", "workload = \"mix\"\nmix = \"insert 50, take 50\"\nreaders = [1]"),
    ("take", "workload = \"mix\"\nmix = \"insert 10, take 90\"\nreaders = [1]"),
    ("expire", "workload = \"mix\"\nmix = \"insert 64, expire 2, get 34\"\nreaders = [2]"),
    ("transfer", "workload = \"transfer\"\nreaders = [1]"),
];

/// An engine that saves what was deleted loses nothing where nothing was.
const UNDELETING: (&str, u64) = ("undeleted-at-close", 1);

/// So many records that one in a thousand of them is several.
fn faulty() -> Comparison {
    Lab::new().compare(["faulty"]).with("records", 5000)
}

#[track_caller]
fn has_lost(ran: &Ran, trial: &str, fault: &str) {
    let result = ran.trial("faulty", trial).result;
    let TrialOutcome::Failed(failure) = &result.outcome else { panic!("{fault}: {trial} finished") };
    assert!(matches!(failure.kind, FailureKind::LostWrite | FailureKind::WrongAnswer), "{fault}: {trial}: {failure:?}");
}

#[test]
fn an_engine_that_loses_fails_in_every_load() {
    for (fault, every) in LOSERS {
        for load in LOADS {
            let ran = faulty().with("load", load).workload("readrandom").operations(10).fault(fault, every).run();
            ran.exits(1).is_whole();
            ran.trial("faulty", "load").failed("lost-write", "read back");
        }
    }
}

#[test]
fn an_engine_that_loses_fails_in_the_load_that_computes() {
    // Without the lengths that it forgot 3n+1 only takes longer: what is lost shows when it is asked for.
    for (fault, every) in LOSERS {
        let lab = Lab::new();
        let file = "name = \"3n1\"\nengines = [\"faulty\"]\nload.workload = \"3n1\"\ndata.records = 3000\n";
        let options = format!("[engine.faulty.options]\nfault = \"{fault}\"\nevery = {every}\n");
        lab.write("3n1.toml", &format!("{file}{options}"));
        let ran = lab.run(["run", "3n1.toml", "--out", "results"]);
        ran.exits(1).is_whole();
        has_lost(&ran, "load", fault);
    }
}

/// Each in a run of its own: what one loses may be the load's, and then no other is run.
#[track_caller]
fn lose(writers: &[&str], limited: impl Fn(Comparison) -> Comparison) {
    for (fault, every) in LOSERS {
        for writer in writers {
            // The load is spared: it writes no more than that.
            let spared = faulty().option("faulty.after=5000").fault(fault, every);
            let ran = limited(spared.workload(writer)).run();
            ran.exits(1).is_whole();
            has_lost(&ran, writer, fault);
        }
    }
}

#[test]
fn an_engine_that_loses_fails_in_every_workload_that_writes() {
    lose(&WRITERS, |writing| writing.operations(9000));
}

/// One batch is more than the load wrote, however long the readers take.
#[test]
fn an_engine_that_loses_fails_where_it_writes_beside_readers() {
    lose(&WRITERS_BESIDE_READERS, |writing| writing.operations(1000).with("batch", 6000));
}

/// A run of each of these engines on a database of its own, of which the load is spared.
fn losers_in(run: &str, faults: &[(&str, u64)]) -> Vec<TrialResult> {
    let names: Vec<String> = faults.iter().map(|(fault, every)| format!("\"{fault}-{every}\"")).collect();
    let mut text = format!("engines = [{}]\n[data]\nrecords = 5000\n[lab]\nrepeat = 1\n", names.join(", "));
    text += &format!("[[run]]\n{run}\noperations = 24000\nwarmup = \"0s\"\n");
    for (name, (fault, every)) in names.iter().zip(faults) {
        text += &format!(
            "[engine.{name}]\nengine = \"faulty\"\noptions = {{ fault = \"{fault}\", every = {every}, after = 5000, \
             transactions = true, concurrent = true }}\n"
        );
    }
    let lab = Lab::new();
    lab.write("experiment.toml", &text);
    let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
    ran.is_whole();
    ran.results().into_iter().filter(|result| result.trial.phase == Phase::Run).collect()
}

#[test]
fn an_engine_that_loses_fails_in_every_operation_that_writes() {
    // With one write in a thousand lost, a third of the runs that delete most would have nothing left to be found: what
    // was lost is mostly overwritten or deleted later. Of one in a hundred eleven losses stay, on average.
    let losers = LOSERS.map(|(fault, every)| (fault, every.min(100)));
    let faults: Vec<_> = losers.into_iter().chain([UNDELETING]).collect();
    let (next, surprises) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((name, run)) = NEWER_RUNS.get(next.fetch_add(1, Ordering::Relaxed)) {
            let results = losers_in(run, &faults);
            assert_eq!(results.len(), faults.len(), "{name}");
            for result in results {
                let is_undeleting = result.trial.engine.starts_with(UNDELETING.0);
                let loses = !is_undeleting || ["delete", "take", "expire"].iter().any(|of| run.contains(of));
                let as_it_is = match &result.outcome {
                    TrialOutcome::Failed(failure) => {
                        loses && matches!(failure.kind, FailureKind::LostWrite | FailureKind::WrongAnswer)
                    }
                    TrialOutcome::Finished => !loses,
                };
                if !as_it_is {
                    surprises.lock().unwrap().push(format!("{}, {name}: {:?}", result.trial.engine, result.outcome));
                }
            }
        }
    };
    thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let surprises = surprises.into_inner().unwrap();
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

/// An experiment on the engine `faulty`, beside others or alone, with a fault in the runs.
fn experiment(fault: &str, engines: &str, rest: &str) -> Lab {
    let lab = Lab::new();
    let text = format!(
        "engines = [{engines}]\n[engine.faulty]\noptions = {{ fault = \"{fault}\", every = 1, after = 5000 }}\n{rest}"
    );
    lab.write("experiment.toml", &text);
    lab
}

/// However a trial is measured, whoever its clients are, and wherever its database comes from: of one fault while it
/// works, one when it ends.
#[test]
fn an_engine_that_loses_fails_in_every_surrounding() {
    let records = "[data]\nrecords = 5000\n";
    let run = |more: &str| format!("[[run]]\nworkload = \"overwrite\"\nreaders = [1]\nwarmup = \"0s\"\n{more}");
    let long = run("duration = \"300ms\"\n");
    let counted = run("operations = 9000\n");
    let roles = "[[run]]\nworkload = \"mix\"\nreaders = [1]\noperations = 9000\nwarmup = \"0s\"\n\
                 [[run.role]]\nmix = \"put 100\"\n[[run.role]]\nmix = \"get 100\"\n";
    for (what, engines, rest) in [
        ("slices", "\"faulty\", \"lmdb\", \"leveldb\"", format!("{records}[lab]\ndesign = \"slices\"\n{long}")),
        ("duet", "\"faulty\", \"lmdb\"", format!("{records}[lab]\ndesign = \"duet\"\n{long}")),
        (
            "processes",
            "\"faulty\"",
            format!("{records}{}", run("operations = 9000\nclients = \"processes\"\n").replace("[1]", "[2]")),
        ),
        ("snapshot", "\"faulty\"", format!("{records}[lab]\ndatabase = \"snapshot\"\n{counted}")),
        ("role", "\"faulty\"", format!("{records}{roles}")),
        ("drawn sizes", "\"faulty\"", format!("{records}value_size = \"uniform 24 400\"\n{counted}")),
    ] {
        for fault in ["dropped-write", "short-at-close"] {
            let ran = experiment(fault, engines, &rest).run(["run", "experiment.toml", "--out", "results"]);
            ran.exits(1).is_whole();
            for result in ran.results() {
                let failed = matches!(&result.outcome, TrialOutcome::Failed(failure)
                    if matches!(failure.kind, FailureKind::LostWrite | FailureKind::WrongAnswer));
                let is_its = result.trial.engine == "faulty";
                // What the close of a run loses may be the load's.
                if !is_its || fault == "dropped-write" || result.trial.phase == Phase::Run {
                    let loses = is_its && result.trial.phase == Phase::Run;
                    assert_eq!(failed, loses, "{fault}, {what}: {:?} {:?}", result.trial, result.outcome);
                }
            }
        }
    }
}

/// A loss that the next trial meets is the fault of the one before.
#[test]
fn who_wrote_it_has_failed_and_not_only_who_missed_it() {
    // Each of so few is overwritten.
    let few = Lab::new().compare(["faulty"]).with("records", 200).option("faulty.after=200");
    let losing = few.workload("overwrite,readrandom").operations(9000);
    let ran = losing.fault("older-at-close", 1).run();
    ran.exits(1).is_whole();
    ran.trial("faulty", "load").finished();
    ran.trial("faulty", "overwrite").failed("lost-write", "a fresh process read back");
    assert!(ran.stderr.contains("trial 2 has failed: of "), "{}", ran.stderr);
}

#[test]
fn what_an_engine_leaves_behind_after_its_audit_is_ended_and_told() {
    let leaving = faulty().option("faulty.hook=open").option("faulty.does=leave-child");
    let ran = leaving.workload("overwrite").operations(1000).run();
    ran.is_whole().lab.has_no_processes();
    let notes = ran.trial("faulty", "overwrite").finished().result.notes.clone();
    let told = "a process that the engine had started was still there when the process that read it back had ended";
    assert!(notes.iter().any(|note| note.contains(told)), "{notes:?}");
    assert!(ran.trial("faulty", "load").result.notes.iter().all(|note| !note.contains("read it back")));
}

fn finding(result: &TrialResult) -> (ReadBack, ReadBack) {
    let audit = result.audit.clone().unwrap_or_else(|| panic!("{:?} was not audited", result.trial));
    (audit.session.unwrap_or_default(), audit.process.unwrap_or_default())
}

#[test]
fn what_a_sound_engine_wrote_is_read_back_twice() {
    let ran = Lab::new()
        .compare(["faulty", "lmdb", "rocksdb", "leveldb", "bdb", "wiredtiger"])
        .with("records", 20_000)
        .workload("overwrite,readrandom,readwhilewriting")
        .operations(9000)
        .run();
    ran.is_clean();
    for result in ran.results() {
        if result.user_bytes_written == 0 {
            assert_eq!(result.audit, None, "{:?}", result.trial);
            continue;
        }
        let (session, process) = finding(&result);
        assert!(session.read > 0 && session.seconds > 0.0, "{:?}: {session:?}", result.trial);
        assert_eq!(session.first, None, "{:?}", result.trial);
        assert_eq!(process.first, None, "{:?}", result.trial);
    }
    let load = ran.trial("lmdb", "load").result;
    assert_eq!(finding(&load).0.read, 6905);
}

#[test]
fn a_full_audit_reads_every_record() {
    let ran = faulty().with("records", 10_000).with("audit", "full").workload("readrandom").operations(10).run();
    ran.is_clean();
    let (session, process) = finding(&ran.trial("faulty", "load").result);
    assert_eq!((session.read, process.read), (10_000, 10_000));
}

#[test]
fn where_nothing_is_read_back_the_report_says_so() {
    let losing = faulty().with("audit", "off").workload("overwrite").operations(10).fault("dropped-write", 1);
    let ran = losing.run();
    ran.exits(0);
    assert!(ran.stdout.contains("was not read back by a fresh process: the audit is off"), "{}", ran.stdout);
}

#[test]
fn an_engine_that_keeps_nothing_by_its_own_word_is_not_asked() {
    let ran = Lab::with_null().compare(["null"]).with("records", 1000).workload("overwrite").operations(1000).run();
    ran.exits(0);
    assert!(!ran.stdout.contains("read back"), "{}", ran.stdout);
    assert!(ran.results().iter().all(|result| result.audit.as_ref().is_some_and(|audit| audit.volatile)));
}
